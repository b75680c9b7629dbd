"""`%nbgraph`: draw a graph, open a panel, list what is in a store, in one line."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from IPython.core.error import UsageError

from nbgraph import words
from nbgraph.core.graph import Graph
from nbgraph.core.loop import run_sync
from nbgraph.drawing import reveal
from nbgraph.notebook.display import draw, in_kernel, unattended
from nbgraph.notebook.inbox import Inbox
from nbgraph.notebook.panel import Panel
from nbgraph.session import Session

__all__ = ["register"]

_USAGE = """%nbgraph draw GRAPH              its picture
%nbgraph panel GRAPH [THREAD]    a panel, on a thread that is there or a new one
%nbgraph threads STORE           the threads of a store, the one written last first
%nbgraph inbox STORE             the questions that wait in it, to be answered
GRAPH is the name of a graph or session; STORE that of a store or of a graph that has one, or the \
path of a SQLite file."""
_MOST = 100


def register(shell: Any) -> None:
    """Make `%nbgraph` known to a shell, as `%load_ext nbgraph` does."""
    shell.register_magic_function(lambda line: _run(shell, line), "line", "nbgraph")


def _run(shell: Any, line: str) -> Any:
    try:
        name, *rest = shlex.split(line) or ["help"]
    except ValueError as error:
        raise UsageError(f"{line!r} has {str(error).lower()}") from error
    command = _COMMANDS.get(name)
    if command is None or not rest:
        needs = f"{name!r} needs a name:" if command else f"{line!r} is not a command:"
        said = "" if name == "help" else f"{needs}\n"
        raise UsageError(f"{said}{_USAGE}")
    return command(shell, rest)


def _draw(shell: Any, given: Sequence[str]) -> Any:
    return draw(_named(shell, given[0]))


def _panel(shell: Any, given: Sequence[str]) -> Any:
    thread_id = given[1] if len(given) > 1 else None
    return Panel(_named(shell, given[0]), thread_id)


def _threads(shell: Any, given: Sequence[str]) -> None:
    store = _store(shell, given[0])
    found = _read(store.threads(limit=_MOST))
    rows = [(each.thread_id, each.graph, each.status, f"step {each.step}") for each in found]
    _show(rows, "no threads")


def _inbox(shell: Any, given: Sequence[str]) -> Inbox | None:
    store = _store(shell, given[0])
    if in_kernel() and not unattended():
        return Inbox(store, _graph_behind(shell, given[0]))
    now = time.time()
    rows = [
        (
            each.thread_id,
            each.branch_id,
            each.interrupt.key,
            f"for {words.duration(max(0.0, now - each.interrupt.created_at))}",
            each.interrupt.message or "",
        )
        for each in _read(store.pending(limit=_MOST))
    ]
    _show(rows, "nothing waits")
    return None


_COMMANDS: Mapping[str, Callable[[Any, Sequence[str]], Any]] = {
    "draw": _draw,
    "panel": _panel,
    "threads": _threads,
    "inbox": _inbox,
}


def _read(rows: Awaitable[Sequence[Any]]) -> Sequence[Any]:
    async def awaited() -> Sequence[Any]:
        return await rows

    return run_sync(awaited())


def _named(shell: Any, name: str) -> Any:
    """Return what a name stands for; an attribute of it may be meant, as in `desk.graph`."""
    first, *attributes = name.split(".")
    if first not in shell.user_ns:
        raise UsageError(f"There is no {name!r} here; run the cell that makes it first")
    found = shell.user_ns[first]
    for attribute in attributes:
        found = getattr(found, attribute)
    return found


def _store(shell: Any, name: str) -> Any:
    if name.split(".")[0] not in shell.user_ns and Path(name).is_file():
        from nbgraph.stores.sqlite import SQLiteStateStore

        return SQLiteStateStore(name)
    if name.split(".")[0] not in shell.user_ns:
        raise UsageError(f"There is no file {name!r}, and no store or graph of that name here")
    found = _named(shell, name)
    if isinstance(found, Session):
        found = getattr(found.driver, "store", None)
    store = found.state_store if isinstance(found, Graph) else found
    if not hasattr(store, "pending"):
        raise UsageError(f"{name!r} is no store, and has none")
    return store


def _graph_behind(shell: Any, name: str) -> Graph | None:
    """Return the graph, or that of the session, that a store was named by."""
    found = _named(shell, name) if name.split(".")[0] in shell.user_ns else None
    if isinstance(found, Session):
        found = getattr(found.driver, "graph", None)
    return found if isinstance(found, Graph) else None


def _show(rows: Sequence[Sequence[str]], nothing: str) -> None:
    """Show rows of text as columns."""
    shown = [[reveal(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in shown
    ]
    sys.stdout.write(("\n".join(lines) or nothing) + "\n")
