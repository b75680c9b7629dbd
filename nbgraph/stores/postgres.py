"""A state store on a PostgreSQL server, for several people and machines."""

from __future__ import annotations

from nbgraph.stores._postgres_server import PostgresServer
from nbgraph.stores._sql_store import SqlStateStore

__all__ = ["PostgresStateStore"]


class PostgresStateStore(SqlStateStore):
    """Keeps threads in a PostgreSQL database, for several event loops, processes and machines.

    Parameters
    ----------
    url : str
        Where the database is: `"postgresql://user@host:5432/name"`, as libpq understands it.
    schema : str
        The schema that holds the tables; it is made where there is none. Stores with different
        schemas do not see one another.
    busy_timeout : float
        How long to wait, in seconds, for others that write to the same threads.

    Raises
    ------
    IntegrationNotInstalledError
        If psycopg is missing.
    StateStoreError
        If the server cannot be used, or the store is one of a later nbgraph.
    """

    def __init__(self, url: str, *, schema: str = "nbgraph", busy_timeout: float = 30.0) -> None:
        self._server = PostgresServer(url, schema=schema, wait=busy_timeout)
        super().__init__(self._server)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._server.name!r})"
