"""What the store suite writes, and how it looks at a store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from nbgraph.core.codec import stamped
from nbgraph.core.events import (
    AnswerRefused,
    AnswersGiven,
    BreakpointsSet,
    ErrorInfo,
    Event,
    Forked,
    Interrupt,
    OnceRecorded,
    Route,
    RunFailed,
    RunFinished,
    RunPaused,
    RunStarted,
    RunStopped,
    StateEdited,
    SuperstepFinished,
    TaskBegan,
    TaskFailed,
    TaskFinished,
    TaskInterrupted,
    TaskSpec,
)
from nbgraph.core.store import BranchRecord, BranchSummary, StateStore

__all__ = [
    "ODD_IDS",
    "append",
    "fork_at",
    "in_threads",
    "last_read",
    "notes",
    "one_of_each",
    "question",
    "refused",
    "seen",
    "summary",
    "telling_question",
    "with_store",
]

_Error = TypeVar("_Error", bound=Exception)

ODD_IDS = (
    "",
    " ",
    "main",
    "a\x00b",
    "a\x00",
    "a",
    "A",
    "'; DROP TABLE branches; --",
    '" OR ""="',
    "%",
    "_",
    "*",
    "?1",
    ":thread",
    "../../etc/passwd",
    "C:\\CON",
    "line\nbreak\r\t\x1b[31m",
    "caf\u00e9",
    "cafe\u0301",
    "\u202egnp.exe",
    "\ufeff\u200b",
    "\U0001f9ea",
    "1",
    "01",
    "1.0",
    "NULL",
    "x" * 10_000,
)
"""Ids that some store or other takes for something else than text."""


def notes(count: int, *, after: int = 0, branch_id: str = "main", text: str = "") -> list[Event]:
    """Return `count` small events that follow event `after` of a branch."""
    return [
        OnceRecorded(
            sequence=sequence,
            branch_id=branch_id,
            created_at=float(sequence),
            task_id="t",
            key=f"{text}{sequence}",
            value=sequence,
        )
        for sequence in range(after + 1, after + count + 1)
    ]


def one_of_each() -> list[Event]:
    """Return one event of every stored type, stamped from 1 on `main`, no field at its default."""
    task = TaskSpec(task_id="t1", node="ask", payload={"deep": [{"n": None}]})
    error = ErrorInfo(type="ValueError", message="no \u2028 luck", traceback="File 'a\x00b'\n")
    odd = {"int": 2**70, "float": 0.1, "tiny": 5e-324, "text": "\x00\U0001f9ea</script>", "": ""}
    events: list[Event] = [
        RunStarted(input=odd, replaced=("int",), tasks=(task,)),
        TaskBegan(task_id="t1", node="ask"),
        TaskBegan(task_id="t1", node="ask", key="k"),
        OnceRecorded(task_id="t1", key="k", value=[odd]),
        TaskInterrupted(
            task_id="t1", node="ask", interrupts=(telling_question(),) * 2, cache={"c": 1}
        ),
        AnswersGiven(answers={"t1:0": {"ok": True}}, asked={"t1:0": 4}, by="ada", comment="ok"),
        AnswerRefused(key="t1:0", problems={"": "too short"}),
        TaskFailed(task_id="t1", node="ask", error=error, attempts=3),
        TaskFinished(
            task_id="t1",
            node="ask",
            update=odd,
            replaced=("text",),
            routes=(Route(node="b", payload={"n": 1}), Route(node="END")),
            cache={"c": 2},
            started=1.25,
            duration=0.5,
            attempts=2,
        ),
        SuperstepFinished(next=(task,), joins={"d": ("b", "c")}),
        SuperstepFinished(next=None),
        StateEdited(update=odd, replaced=("int",), replace=True, by="ada"),
        BreakpointsSet(before=("*",), after=("ask",)),
        Forked(parent_branch_id="main", parent_sequence=3),
        RunPaused(reason="before"),
        RunStopped(),
        RunFinished(open_joins=("d",)),
        RunFailed(error=error, node="ask"),
    ]
    return [
        stamped(event, branch_id="main", sequence=sequence)
        for sequence, event in enumerate(events, 1)
    ]


def telling_question() -> Interrupt:
    """Return a question with no field at its default."""
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
    return Interrupt(
        key="t1:0",
        id="0",
        node="ask",
        task_id="t1",
        payload=[1, 2.5, "three", None, True, {}],
        message="Ship it?",
        reason="approval",
        response_schema=schema,
        tool_call_id="call",
        asked=4,
        created_at=3.5,
        problems={"/ok": "is missing"},
    )


def question(key: str, *, asked: int, created_at: float = 1.0) -> Interrupt:
    """Return a pending question."""
    return Interrupt(key=key, id="0", node="ask", task_id="t", asked=asked, created_at=created_at)


def summary(step: int = 1, *pending: Interrupt) -> BranchSummary:
    """Return a summary that fits its questions."""
    return BranchSummary("graph", "interrupted" if pending else "completed", step, pending)


def fork_at(sequence: int, branch_id: str, *, parent: str = "main") -> BranchRecord:
    """Return the record of a fork of thread `t`."""
    return BranchRecord("t", branch_id, parent, sequence, created_at=float(sequence))


async def append(
    store: StateStore,
    events: Sequence[Event],
    *pending: Interrupt,
    thread_id: str = "t",
    branch_id: str = "main",
) -> None:
    """Append events where their stamps say."""
    expected = events[0].sequence - 1
    described = summary(expected, *pending)
    await store.append(thread_id, branch_id, events, expected=expected, summary=described)


async def refused(call: Awaitable[object], error: type[_Error]) -> _Error:
    """Return the error that a call raises, which it must.

    Raises
    ------
    AssertionError
        If it raises nothing.
    """
    try:
        await call
    except error as raised:
        return raised
    raise AssertionError(f"{error.__name__} was not raised")


async def seen(store: StateStore) -> dict[str, Any]:
    """Return everything a store shows: for a test that nothing changed."""
    threads = await store.threads()
    branches = [one for thread in threads for one in await store.branches(thread.thread_id)]
    mains = [(thread.thread_id, "main") for thread in threads]
    logs = [*mains, *((one.thread_id, one.id) for one in branches)]
    return {
        "threads": list(threads),
        "branches": branches,
        "pending": list(await store.pending()),
        "events": {log: list(await store.events(*log)) for log in logs},
    }


def with_store(
    test: Callable[[Any, StateStore], Coroutine[Any, Any, None]],
) -> Callable[[Any, Path], None]:
    """Make a test of a store one of pytest: it makes the store, runs the loop, and closes."""

    # Not functools.wraps: pytest would follow it and ask for a fixture named `store`.
    def run(self: Any, tmp_path: Path) -> None:
        async def scenario() -> None:
            store: StateStore = self.make_store(tmp_path)
            try:
                await test(self, store)
            finally:
                await store.aclose()

        asyncio.run(scenario())

    run.__name__, run.__qualname__, run.__doc__ = test.__name__, test.__qualname__, test.__doc__
    return run


async def last_read(store: StateStore) -> Sequence[object]:
    """Return the events of thread `t`, and close the store."""
    events = await store.events("t")
    await store.aclose()
    return events


def in_threads(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Return what the calls return, each made in a thread of its own."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(call) for call in calls]]
