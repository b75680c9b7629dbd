"""Where tests find a PostgreSQL server, and an empty store on it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import pytest

URL = os.environ.get("NBGRAPH_TEST_PG", "")


def require_postgres() -> None:
    """Skip the module that says so, once and with the reason, where no server is named."""
    if not URL:
        reason = "NBGRAPH_TEST_PG names no PostgreSQL server; .ci/run starts one"
        pytest.skip(reason, allow_module_level=True)


@contextmanager
def fresh_schema() -> Iterator[str]:
    """Return the name of a schema that is dropped at the end."""
    import psycopg
    from psycopg import sql

    name = f"test_{uuid4().hex}"
    try:
        yield name
    finally:
        with psycopg.connect(URL, autocommit=True) as connection:
            drop = sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(name))
            connection.execute(drop)
