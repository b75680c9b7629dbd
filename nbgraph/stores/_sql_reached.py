"""Where the runs of this process left their branches, as long as nobody else writes to the file."""

from __future__ import annotations

import threading
from collections import OrderedDict
from operator import attrgetter
from typing import TypeAlias

from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.reached import Reached
from nbgraph.stores._sql_database import Database
from nbgraph.stores._sql_rows import Branch, Cursor, RawRow, found_branch

__all__ = ["Left", "LeftBranches"]

_MOST = 16
"""How many positions are kept at most, since states can be large: those of the last runs."""

_ROW = attrgetter(*Branch.__dataclass_fields__)

_Names: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Left:
    """A branch as a commit left it: its row, and the position that the commit leads to.

    `others` and `own` count what was written to the database by others and by this process. If
    nobody else has written since, rows that are not read are as they were written.
    """

    row: RawRow
    others: int
    own: int
    reached: Reached

    def branch(self, cursor: Cursor, database: Database) -> Branch | None:
        """Return the row of the branch if the branch is as it was left, inside a transaction.

        Raises
        ------
        UnknownThreadError
            If the branch is gone.
        DamagedStoreError
            If its row is not what was written.
        """
        written = database.written(cursor)
        if written is None or written[0] != self.others:
            return None
        left = Branch(*self.row)
        if written[1] == self.own:
            return left
        branch = found_branch(cursor, left.thread, left.name)
        return branch if branch.chain == left.chain else None


class LeftBranches:
    """The branches as the last runs left them; each is taken by whoever goes on with it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._left: OrderedDict[_Names, Left] = OrderedDict()
        self._lock = threading.Lock()  # a commit in one thread notes what another one takes

    def note(self, cursor: Cursor, branch: Branch, reached: Reached) -> None:
        """Note where a commit leads, inside its transaction; whether that ends well shows later."""
        written = self._database.written(cursor)
        if written is None:
            return
        names = branch.thread, branch.name
        left = Left(_ROW(branch), *written, reached)
        with self._lock:
            self._left[names] = left
            self._left.move_to_end(names)
            if len(self._left) > _MOST:
                self._left.popitem(last=False)

    def take(self, names: _Names) -> Left | None:
        """Return what was noted of a branch, once."""
        with self._lock:
            return self._left.pop(names, None)

    def forget(self, thread_id: str | None = None) -> None:
        """Hold no position of a thread any more, or none at all."""
        with self._lock:
            for names in list(self._left):
                if thread_id in (None, names[0]):
                    del self._left[names]
