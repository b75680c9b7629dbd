"""Connections to a PostgreSQL server: a few are kept open and lent to one transaction each."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, LiteralString, TypeAlias, TypeVar

from nbgraph.errors import IntegrationNotInstalledError, StateStoreError
from nbgraph.stores._postgres_tables import MIGRATIONS, SCHEMA_VERSION, TABLES
from nbgraph.stores._sql_database import Busy, patiently
from nbgraph.stores._sql_drafts import DRAFTS
from nbgraph.stores._sql_rows import Cursor

if TYPE_CHECKING:
    import psycopg

    Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

__all__ = ["PostgresServer"]

_Result = TypeVar("_Result")

_KEPT_OPEN = 8
"""How many connections wait for the next transaction."""

_BEGIN: dict[bool, LiteralString] = {
    True: "BEGIN",
    False: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
}
_IN_SCHEMA = "SELECT set_config('search_path', quote_ident(%s), false)"
_WAIT_FOR_LOCKS = "SELECT set_config('lock_timeout', %s, false)"
_LOCK_MAKERS = "SELECT pg_advisory_xact_lock(1851942770)"
_HAS_TABLES = "SELECT to_regclass('store') IS NOT NULL"
_HAS_DRAFTS = "SELECT to_regclass('drafts') IS NOT NULL"
_FIND_VERSION = "SELECT version FROM store"
_SET_VERSION = "UPDATE store SET version = %s"
_TELL = "SELECT pg_notify('nbgraph', %s)"
_LISTEN = "LISTEN nbgraph"

_BUSY = frozenset(("40001", "40P01", "55P03"))
"""SQLSTATEs of whoever lost against another transaction: it can try again."""


class PostgresServer:
    """Runs transactions on a server, for several threads at once.

    Raises
    ------
    IntegrationNotInstalledError
        If psycopg is missing.
    StateStoreError
        If the server cannot be used, or the store is one of a later nbgraph.
    """

    quick = False
    """An answer from a server is nothing that an event loop waits for."""

    def __init__(self, url: str, *, schema: str, wait: float) -> None:
        self._psycopg = _imported()
        self._url = url
        self._schema = schema
        self._wait = wait
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._close = weakref.finalize(self, _close_all, self._idle, self._process)
        self.name = self._shown()
        self.patiently(self._make)

    def _shown(self) -> str:
        """Return the address without what is secret in it."""
        try:
            found = self._psycopg.conninfo.conninfo_to_dict(self._url)
        except self._psycopg.Error as error:
            raise StateStoreError("The url of the state store is no PostgreSQL one") from error
        host = f"{found.get('host', '')}:{found.get('port', 5432)}"
        return f"postgresql://{host}/{found.get('dbname', '')}"

    def _make(self) -> None:
        from psycopg import sql

        create = sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(self._schema))
        with self._lent() as connection, self._transaction(connection, writes=True):
            connection.execute(_LOCK_MAKERS)
            if _one(connection, _HAS_TABLES):
                self._migrate(connection)
                if not _one(connection, _HAS_DRAFTS):
                    _execute(connection, DRAFTS)
                return
            connection.execute(create)
            _execute(connection, (*TABLES, *DRAFTS))

    def _migrate(self, connection: Connection) -> None:
        """Bring the tables to this schema, inside the transaction that found them.

        There is no copy to be made of a server's tables. What goes wrong undoes all of it.
        """
        version: int = _one(connection, _FIND_VERSION)
        self._require_known(version)
        for at in range(version, SCHEMA_VERSION):
            for statement in MIGRATIONS[at]:
                connection.execute(statement)
        if version != SCHEMA_VERSION:
            connection.execute(_SET_VERSION, (SCHEMA_VERSION,))

    def _require_known(self, version: int) -> None:
        if version > SCHEMA_VERSION:
            raise StateStoreError(
                f"The state store {self.name!r} has schema {version}, and this nbgraph reads "
                f"schemas up to {SCHEMA_VERSION}; update nbgraph"
            )
        if version not in (*MIGRATIONS, SCHEMA_VERSION):
            raise StateStoreError(
                f"The state store {self.name!r} has schema {version}, and this nbgraph brings "
                f"schemas from {min(MIGRATIONS)} on up to date"
            )

    def written(self, cursor: Cursor) -> None:
        """Return None: nothing tells whether others have written."""

    def attempt(self, work: Callable[[Cursor], _Result], *, writes: bool) -> _Result:
        """Do `work` in one transaction. Blocks.

        Raises
        ------
        Busy
            If the transaction lost against another one.
        StateStoreError
            If the server cannot be used. Nothing of the work was kept, unless the connection broke
            in the moment of the commit.
        """
        with self._lent() as connection, self._transaction(connection, writes=writes):
            result = work(_Cursor(connection.cursor()))
            if writes:
                connection.execute(_TELL, (self._schema,))
            return result

    @contextmanager
    def _lent(self) -> Generator[Connection, None, None]:
        """Lend a connection, and translate what goes wrong with it."""
        self._require_usable()
        try:
            connection = self._taken()
            try:
                yield connection
            finally:
                self._return(connection)
        except self._psycopg.Error as error:
            lost = error.sqlstate in _BUSY
            if lost or error.diag.constraint_name == "branches_by_name":
                raise Busy from error
            problem = str(error).partition("\n")[0]
            raise StateStoreError(
                f"The state store {self.name!r} cannot be used: {problem}"
            ) from error

    def _taken(self) -> Connection:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            try:
                connection.execute("SELECT 1")
            except self._psycopg.OperationalError:
                connection.close()  # the server ended it while it was idle
            else:
                return connection
        return self._connected()

    def _connected(self) -> Connection:
        connection = self._psycopg.connect(self._url, autocommit=True)
        connection.execute(_IN_SCHEMA, (self._schema,))
        connection.execute(_WAIT_FOR_LOCKS, (f"{max(1, int(self._wait * 1000))}ms",))
        return connection

    @contextmanager
    def _transaction(self, connection: Connection, *, writes: bool) -> Generator[None, None, None]:
        connection.execute(_BEGIN[writes])
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            if not connection.broken:
                connection.execute("ROLLBACK")
            raise

    def _return(self, connection: Connection) -> None:
        with self._lock:
            if self._close.alive and len(self._idle) < _KEPT_OPEN and not connection.broken:
                self._idle.append(connection)
                return
        connection.close()

    def _require_usable(self) -> None:
        if not self._close.alive:
            raise StateStoreError(f"The state store {self.name!r} is closed")
        if os.getpid() != self._process:
            raise StateStoreError(
                f"The state store {self.name!r} was opened before this process forked; open it "
                "again here"
            )

    def patiently(self, work: Callable[[], _Result]) -> _Result:
        """Call `work` again while it loses against other transactions. Blocks.

        Raises
        ------
        StoreBusyError
            If it did so all the time.
        """
        return patiently(work, name=self.name, wait=self._wait)

    def compact(self) -> None:
        """Do nothing: the server does this by itself."""

    def changes(self, stop: threading.Event, every: float) -> Iterator[None]:
        """Yield once when watching has begun, and then whenever somebody wrote. Blocks."""
        with closing(self._connected()) as connection:
            connection.execute(_LISTEN)
            yield
            while not stop.is_set():
                told = list(connection.notifies(timeout=every, stop_after=1))
                if any(one.payload == self._schema for one in told):
                    yield

    def close(self) -> None:
        """Close the connections; a second time is no error."""
        with self._lock:
            self._close()


class _Cursor:
    """Speaks SQL as it is written here, with `?`, to a cursor that wants `%s`.

    PostgreSQL's text cannot hold NUL, and ids may: it is written as two other characters.
    """

    def __init__(self, cursor: psycopg.Cursor[tuple[Any, ...]]) -> None:
        self._cursor = cursor

    @property
    def rowcount(self) -> int:
        return self._cursor.rowcount

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> _Cursor:
        text = _translated(sql)
        self._cursor.execute(text, tuple(map(_without_nul, parameters)))
        return self

    def executemany(self, sql: str, parameters: Sequence[Sequence[Any]], /) -> None:
        text = _translated(sql)
        self._cursor.executemany(text, [tuple(map(_without_nul, row)) for row in parameters])

    def fetchone(self) -> tuple[Any, ...] | None:
        row = self._cursor.fetchone()
        return None if row is None else tuple(map(_with_nul, row))

    def fetchall(self) -> list[tuple[Any, ...]]:
        return [tuple(map(_with_nul, row)) for row in self._cursor.fetchall()]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.fetchall())


_TRANSLATED: dict[str, Any] = {}


def _translated(sql: str) -> Any:
    text = _TRANSLATED.get(sql)
    if text is None:
        text = sql.replace("?", "%s").replace("/* FOR UPDATE */", "FOR UPDATE")
        _TRANSLATED[sql] = text
    return text


def _without_nul(value: Any) -> Any:
    if isinstance(value, str) and ("\x00" in value or "\x01" in value):
        return value.replace("\x01", "\x01\x03").replace("\x00", "\x01\x02")
    return value


def _with_nul(value: Any) -> Any:
    if isinstance(value, str) and "\x01" in value:
        return value.replace("\x01\x02", "\x00").replace("\x01\x03", "\x01")
    return value


def _execute(connection: Connection, statements: Iterable[Any]) -> None:
    for statement in statements:
        connection.execute(statement)


def _one(connection: Connection, statement: Any) -> Any:
    row = connection.execute(statement).fetchone()
    assert row is not None
    return row[0]


def _close_all(connections: list[Connection], process: int) -> None:
    # A forked child must not say goodbye on its parent's connections.
    for connection in connections if os.getpid() == process else ():
        connection.close()
    connections.clear()


def _imported() -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise IntegrationNotInstalledError("psycopg", "postgres") from error
    return psycopg
