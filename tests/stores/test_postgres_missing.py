"""What is said where there is no server, or no psycopg."""

from __future__ import annotations

import subprocess
import sys

import pytest

from nbgraph.errors import StateStoreError
from nbgraph.stores import PostgresStateStore


@pytest.mark.parametrize("url", ["postgresql://ada:secret@127.0.0.1:1/db", "secret=nonsense"])
def test_an_error_shows_no_password(url: str) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(StateStoreError) as raised:
        PostgresStateStore(url)
    assert "secret" not in str(raised.value)


def test_without_psycopg_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from nbgraph import PostgresStateStore\n"
        "try: PostgresStateStore('postgresql://')\n"
        "except ImportError as error: print(error)"
    )
    command = [sys.executable, "-c", code]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.startswith("'psycopg' is not installed;")
    assert said.endswith('".[postgres]"\n')
