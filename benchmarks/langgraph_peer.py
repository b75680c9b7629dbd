"""The work of `runtime.py` done with LangGraph, as its documentation does it.

State is a TypedDict with `operator.add`, checkpoints are written with durability="sync", and SQLite
is left at its own settings (WAL, synchronous FULL): what is measured beside it keeps as much.
"""

from __future__ import annotations

import operator
import sqlite3
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt

Run = Callable[[], Coroutine[Any, Any, Any]]


class Talk(TypedDict, total=False):
    messages: Annotated[list[str], operator.add]
    count: int
    goal: int


def saver(file: Path | None) -> Any:
    if file is None:
        return InMemorySaver()
    return SqliteSaver(sqlite3.connect(file, check_same_thread=False))


def invoked(app: Any, given: Any, thread: str | None, count: int = 10) -> None:
    """Run one call; with a thread, each superstep is kept before the next begins."""
    config = {"recursion_limit": count + 10, "configurable": {"thread_id": thread or "t"}}
    app.invoke(given, config, **({} if thread is None else {"durability": "sync"}))


def looping(text: str | None, checkpointer: Any) -> Any:
    def tick(state: Talk) -> dict[str, Any]:
        said = {} if text is None else {"messages": [text]}
        return {**said, "count": state["count"] + 1}

    flow = StateGraph(Talk)
    flow.add_node("tick", tick)
    flow.add_edge(START, "tick")
    more = lambda state: "tick" if state["count"] < state["goal"] else END  # noqa: E731
    flow.add_conditional_edges("tick", more, ["tick", END])
    return flow.compile(checkpointer=checkpointer)


def steps(count: int, keep: str, file: Path, text: str | None = None) -> Run:
    """Return a run of `count` supersteps; `keep` is "nothing", "memory" or "SQLite"."""
    file.unlink(missing_ok=True)
    kept = None if keep == "nothing" else saver(file if keep == "SQLite" else None)
    app = looping(text, kept)

    async def run() -> None:
        thread = None if kept is None else "t"
        invoked(app, {"count": 0, "goal": count, "messages": []}, thread, count)

    return run


def fan_out(count: int, *, is_async: bool) -> Run:
    async def work(state: Talk) -> dict[str, Any]:
        return {"messages": [str(state["count"])]}

    def sync_work(state: Talk) -> dict[str, Any]:
        return {"messages": [str(state["count"])]}

    def spread(_: Talk) -> list[Send]:
        return [Send("work", {"count": at}) for at in range(count)]

    flow = StateGraph(Talk)
    flow.add_node("work", work if is_async else sync_work)
    flow.add_conditional_edges(START, spread, ["work"])
    flow.add_edge("work", END)
    app = flow.compile()

    async def run() -> None:
        if is_async:
            await app.ainvoke({"messages": []})
        else:
            app.invoke({"messages": []})

    return run


def asking(checkpointer: Any) -> Any:
    def speak(state: Talk) -> dict[str, Any]:
        return {"messages": ["x"], "count": state["count"] + 1}

    def ask(_: Talk) -> dict[str, Any]:
        return {"messages": [str(interrupt({"question": "go on?"}))]}

    flow = StateGraph(Talk)
    flow.add_node("speak", speak)
    flow.add_node("ask", ask)
    further = lambda state: "speak" if state["count"] < state["goal"] else "ask"  # noqa: E731
    flow.add_conditional_edges(START, further, ["speak", "ask"])
    flow.add_conditional_edges("speak", further, ["speak", "ask"])
    flow.add_edge("ask", END)
    return flow.compile(checkpointer=checkpointer)


def turning(checkpointer: Any) -> Any:
    """Return an app whose turn asks if its input says so."""

    def begin(_: Talk) -> dict[str, Any]:
        return {}

    def ask(_: Talk) -> dict[str, Any]:
        return {"messages": [str(interrupt({"question": "go on?"}))]}

    flow = StateGraph(Talk)
    flow.add_node("begin", begin)
    flow.add_node("ask", ask)
    flow.add_edge(START, "begin")
    more = lambda state: "ask" if state["count"] < state["goal"] else END  # noqa: E731
    flow.add_conditional_edges("begin", more, ["ask", END])
    flow.add_edge("ask", END)
    return flow.compile(checkpointer=checkpointer)


def pause_and_resume(messages: list[str], file: Path) -> tuple[Run, Run, Run]:
    """Return a turn that gives the messages, one that asks, and the answer."""
    app = turning(saver(file))

    async def start() -> None:
        invoked(app, {"count": 0, "goal": 0, "messages": messages}, "t")

    async def pause() -> None:
        invoked(app, {"goal": 1}, "t")

    async def resume() -> None:
        invoked(app, Command(resume=True), "t")

    return start, pause, resume


def threads(count: int) -> Run:
    app = asking(saver(None))

    async def run() -> None:
        for number in range(count):
            invoked(app, {"count": 0, "goal": 5, "messages": []}, str(number))

    return run
