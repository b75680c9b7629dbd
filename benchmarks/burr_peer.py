"""The work of `runtime.py` done with burr, as far as it can do it.

burr keeps the whole state after each step, in SQLite by its own settings (rollback journal, synced
fully). It has no interrupt: a pause is a halt before the action that needs the answer, which then
comes as an input. It has no fan-out within a run that is a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from burr.core import ApplicationBuilder, action, expr
from burr.core.persistence import InMemoryPersister, SQLitePersister

Run = Callable[[], Coroutine[Any, Any, Any]]


def persister(keep: str, file: Path) -> Any:
    if keep == "nothing":
        return None
    if keep == "memory":
        return InMemoryPersister()
    kept = SQLitePersister(str(file), connect_kwargs={"check_same_thread": False})
    kept.initialize()
    return kept


def application(actions: dict[str, Any], ways: list[Any], kept: Any, given: dict[str, Any]) -> Any:
    builder = ApplicationBuilder().with_actions(**actions).with_transitions(*ways)
    builder = builder.with_state(**given).with_entrypoint(next(iter(actions)))
    builder = builder.with_identifiers(app_id=given.get("name", "t"))
    return (builder if kept is None else builder.with_state_persister(kept)).build()


def speaking(text: str | None) -> Any:
    @action(reads=["count", "messages"], writes=["count", "messages"])
    def tick(state: Any) -> Any:
        said = state if text is None else state.append(messages=text)
        return said.update(count=state["count"] + 1)

    return tick


@action(reads=["messages"], writes=["messages"])
def ask(state: Any, answer: str) -> Any:
    return state.append(messages=answer)


def steps(count: int, keep: str, file: Path, text: str | None = None) -> Run:
    """Return a run of `count` steps; `keep` is "nothing", "memory" or "SQLite"."""
    file.unlink(missing_ok=True)
    ways = [("tick", "ask", expr(f"count >= {count}")), ("tick", "tick")]
    given = {"count": 0, "messages": []}
    actions = {"tick": speaking(text), "ask": ask}
    app = application(actions, ways, persister(keep, file), given)

    async def run() -> None:
        app.run(halt_before=["ask"])

    return run


def threads(count: int) -> Run:
    kept = persister("memory", Path())
    ways = [("tick", "ask", expr("count >= 5")), ("tick", "tick")]

    async def run() -> None:
        for number in range(count):
            given = {"count": 0, "messages": [], "name": str(number)}
            app = application({"tick": speaking("x"), "ask": ask}, ways, kept, given)
            app.run(halt_before=["ask"])

    return run
