"""Where no click reaches a kernel while a cell waits, questions are asked by `input()`."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from nbgraph import (
    END,
    START,
    Graph,
    InMemoryStateStore,
    ScriptedChat,
    build_react_agent,
    interrupt,
    node,
    open_session,
    tool,
)
from nbgraph.chat import ChatResponse, ToolCall
from nbgraph.middleware import InterruptRule, ToolInterruptMiddleware
from nbgraph.notebook import play as plays
from nbgraph.notebook.by_input import finish_by_input
from nbgraph.notebook.panel import Panel
from nbgraph.notebook.play import Play


class Typed:
    """A person: types these lines, and remembers what each was asked by."""

    def __init__(self, *lines: str | BaseException) -> None:
        self.lines: Iterator[str | BaseException] = iter(lines)
        self.asked: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.asked.append(prompt)
        line = next(self.lines)
        if isinstance(line, BaseException):
            raise line
        return line


class Visit(BaseModel):
    rooms: list[int]
    guide: bool = False


def asking(response_schema: Any = None, **question: Any) -> Graph:
    @node
    def ask(state: dict[str, Any]):
        answer = interrupt(id="q", response_schema=response_schema, **question)
        return {"answer": answer.model_dump() if isinstance(answer, BaseModel) else answer}

    return Graph(dict, state_store=InMemoryStateStore()).flow(START >> ask >> END)


def answered(graph: Graph, typed: Typed, unseen: Typed | None = None) -> Any:
    session = open_session(graph, thread_id="t")
    session.start({})
    return finish_by_input(session, typed, unseen).data["answer"]


@pytest.mark.parametrize(
    ("schema", "line", "answer", "prompt"),
    [
        (None, "by the river", "by the river", "text, or JSON: "),
        (None, '{"a": [1]}', {"a": [1]}, "text, or JSON: "),
        (str, "42", "42", "text: "),
        (int, "9007199254740993", 9007199254740993, "a number: "),
        (float, " 1.5 ", 1.5, "a number: "),
        (bool, "Yes", True, "yes or no: "),
        (bool, "n", False, "yes or no: "),
        (Literal["send", "hold"], "hold", "hold", "one of send, hold: "),
        (Literal[1, "1"], "1 (number)", 1, "one of 1 (number), 1 (text): "),
    ],
)
def test_what_is_typed_is_read_as_the_schema_says(schema, line, answer, prompt):
    typed = Typed(line)
    assert answered(asking(schema, message="Which?"), typed) == answer
    assert typed.asked == [prompt]


def test_an_answer_that_does_not_fit_is_told_and_asked_for_again(capsys):
    typed = Typed("many", '{"rooms": ["a"]}', '{"rooms": [3, 4], "guide": true}')
    found = answered(asking(Visit, message="Where to?", payload={"day": "Monday"}), typed)
    assert found == {"rooms": [3, 4], "guide": True}
    told = capsys.readouterr().out
    assert told.startswith('Where to?\n{\n "day": "Monday"\n}\n')
    assert "/rooms/0: Not a whole number" in told
    assert len(typed.asked) == 3


def test_what_would_hide_something_is_shown(capsys):
    answered(asking(str, message="Pay\u202e 1\x1b[31m", payload="\u200b"), Typed("x"))
    told = capsys.readouterr().out
    assert not {"\u202e", "\x1b", "\u200b"} & set(told)


def test_a_secret_is_typed_unseen():
    schema = {"type": "string", "format": "password"}
    seen, unseen = Typed(), Typed("swordfish")
    assert answered(asking(schema), seen, unseen) == "swordfish"
    assert (len(seen.asked), len(unseen.asked)) == (0, 1)


paid: list[float] = []


@tool
def pay(amount: float, memo: str = "") -> str:
    """Pay."""
    paid.append(amount)
    return "paid"


def agent() -> Graph:
    calls = [ToolCall(id="c1", name="pay", arguments={"amount": 12.5, "memo": "a\nb"})]
    return build_react_agent(
        ScriptedChat([ChatResponse(tool_calls=calls), "done"]),
        tools=[pay],
        middleware=[ToolInterruptMiddleware(rules=[InterruptRule(tool="*")])],
        state_store=InMemoryStateStore(),
    )


@pytest.mark.parametrize(
    ("lines", "runs", "said"),
    [
        (("", "yes"), [12.5], "paid"),
        (("y",), [], "denied: y"),
        (("too much",), [], "denied: too much"),
    ],
)
def test_a_tool_call_runs_on_a_whole_yes_only(lines, runs, said, capsys):
    paid.clear()
    session = open_session(agent(), thread_id="t")
    session.start({"messages": [{"type": "human", "content": "go"}]})
    result = finish_by_input(session, Typed(*lines))
    assert paid == runs
    assert said in result.data["messages"][2]["content"]
    assert 'pay(\n    amount=12.5,\n    memo="a\\nb",\n)' in capsys.readouterr().out


def test_a_breakpoint_waits_for_enter():
    graph = asking(str)
    session = open_session(graph, thread_id="t")
    session.breakpoints(before=["ask"])
    session.start({})
    typed = Typed("", "here")
    assert finish_by_input(session, typed).data["answer"] == "here"
    assert typed.asked == ["Paused before ask. Press Enter to go on. ", "text: "]


def test_an_answer_that_somebody_else_gave_first_is_told_and_it_goes_on(capsys):
    graph = asking(str)
    session = open_session(graph, thread_id="t")
    session.start({}).result()

    def late(prompt: str) -> str:
        other = open_session(graph, thread_id="t")
        other.resume({"ask:q": "first"}, by="ops").result()
        return "second"

    assert finish_by_input(session, late).data["answer"] == "first"
    assert "'ops' answered 'ask:q' first" in capsys.readouterr().out


def test_a_question_whose_time_is_over_ends_with_its_default(capsys, monkeypatch):
    later = [0.0]
    graph = asking(str, expires=60, default="nobody")
    monkeypatch.setattr(
        "nbgraph.core.graph.Graph.clock", staticmethod(lambda: time.time() + later[0])
    )
    session = open_session(graph, thread_id="t")
    session.start({}).result()

    def late(prompt: str) -> str:
        later[0] = 120
        return "too late"

    assert finish_by_input(session, late).data["answer"] == "nobody"
    assert "too late; continue" in capsys.readouterr().out


def test_an_interrupt_leaves_the_thread_paused():
    session = open_session(asking(str), thread_id="t")
    session.start({})
    with pytest.raises(KeyboardInterrupt):
        finish_by_input(session, Typed(KeyboardInterrupt()))
    assert (session.status, list(session.pending)) == ("interrupted", ["ask:q"])


def test_what_a_node_raises_comes_out():
    @node
    def fail(state: dict[str, Any]):
        raise ValueError("no luck")

    graph = Graph(dict, state_store=InMemoryStateStore()).flow(START >> fail >> END)
    session = open_session(graph, thread_id="t")
    session.start({})
    with pytest.raises(ValueError, match="no luck"):
        finish_by_input(session, Typed())


async def awaited(waits: Play) -> Any:
    return await waits


@pytest.mark.parametrize("way", ["result", "await"])
def test_play_asks_by_input_where_no_click_is_heard(way, monkeypatch):
    monkeypatch.setattr(plays, "_hears_clicks", lambda: False)
    monkeypatch.setattr("builtins.input", Typed("here"))
    session = open_session(asking(str, message="Where?"), thread_id="t")
    session.start({})
    waits = Play(session, None, None)
    found = waits.result() if way == "result" else asyncio.run(awaited(waits))
    assert (found.status, found.data["answer"]) == ("completed", "here")


@pytest.mark.parametrize("way", ["result", "await"])
def test_play_asks_by_input_where_no_page_shows_the_panel(way, monkeypatch):
    monkeypatch.setattr(plays, "_PATIENCE", 0.0)
    monkeypatch.setattr("builtins.input", Typed("here"))
    session = open_session(asking(str, message="Where?"), thread_id="t")
    waits = Play(session, Panel(session), None)
    session.start({})
    found = waits.result() if way == "result" else asyncio.run(awaited(waits))
    assert (found.status, found.data["answer"]) == ("completed", "here")


@pytest.mark.parametrize("way", ["result", "await"])
def test_play_waits_for_a_panel_that_a_page_has_shown(way, monkeypatch):
    looks = threading.Event()
    monkeypatch.setattr(plays, "_PATIENCE", 0.0)
    monkeypatch.setattr("builtins.input", Typed())  # nothing is typed
    session = open_session(asking(str, message="Where?"), thread_id="t")
    panel = Panel(session)
    panel._graph._receive(panel._graph, {"kind": "hello"}, [])
    assert panel.is_seen
    session.start({})
    session.settle()
    waits = Play(session, panel, None)
    unseen = waits._is_unseen

    def look() -> bool:
        looks.set()
        return unseen()

    monkeypatch.setattr(waits, "_is_unseen", look)
    person = threading.Thread(target=lambda: looks.wait(60) and session.resume({"ask:q": "there"}))
    person.start()
    found = waits.result() if way == "result" else asyncio.run(awaited(waits))
    person.join()
    assert found.data["answer"] == "there"


@pytest.mark.parametrize(
    ("kernel", "hears"),
    [
        (None, True),  # no kernel: nothing is waited for by clicks
        (SimpleNamespace(), False),  # ipykernel 6
        (SimpleNamespace(_supports_kernel_subshells=False), False),
        (SimpleNamespace(_supports_kernel_subshells=True), True),
    ],
)
def test_a_kernel_hears_clicks_meanwhile_if_it_has_subshells(kernel, hears, monkeypatch):
    monkeypatch.setattr(plays, "get_ipython", lambda: SimpleNamespace(kernel=kernel))
    assert plays._hears_clicks() is hears
