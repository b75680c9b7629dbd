"""A state store in one SQLite file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nbgraph.errors import StateStoreError
from nbgraph.stores._sql_store import SqlStateStore
from nbgraph.stores._sqlite_file import SQLiteFile
from nbgraph.stores._sqlite_open import Durability

if TYPE_CHECKING:
    import os

__all__ = ["SQLiteStateStore"]


class SQLiteStateStore(SqlStateStore):
    """Keeps threads in one SQLite file, for several event loops, threads and processes.

    Parameters
    ----------
    path : str or path
        The file; it is made where there is none, readable by its owner only, and so is its folder.
        `~` is the home folder. Put it on a local disk: on a network one it is kept without a
        write-ahead log, which is slower, and as safe as the locks of that file system are.
    durability : {"full", "fast"}
        `"full"` keeps every recorded event through a power cut, `"fast"` through a killed process
        only: the last events before a power cut may be gone. Neither ever tears a commit.
    busy_timeout : float
        How long to wait, in seconds, while another process writes. The event loop goes on.

    Raises
    ------
    StateStoreError
        If the file cannot be made or opened, is no nbgraph store, or is one of a later nbgraph.
    DamagedStoreError
        If the lists of branches and questions in it cannot be trusted.
    StoreBusyError
        If another process held the file for longer than `busy_timeout`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        durability: Durability = "full",
        busy_timeout: float = 30.0,
    ) -> None:
        self._file = SQLiteFile(_absolute(path), durability=durability, wait=busy_timeout)
        super().__init__(self._file)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._file.path)!r})"


def _absolute(path: str | os.PathLike[str]) -> Path:
    if str(path) in {"", ":memory:"}:
        raise StateStoreError(f"{str(path)!r} names no file; use InMemoryStateStore()")
    return Path(path).expanduser().absolute()
