"""The native driver and the fake one keep the same contract; a session drives either."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import pytest
from pydantic import Field

from nbgraph import END, START, BaseState, Graph, InMemoryStateStore, add, interrupt, node
from nbgraph.core.driver import Driver
from nbgraph.core.events import ErrorInfo as Info
from nbgraph.core.events import (
    Event,
    Interrupt,
    RunFailed,
    RunFinished,
    RunPaused,
    RunStarted,
    SuperstepFinished,
    TaskFailed,
    TaskFinished,
    TaskInterrupted,
    TaskSpec,
)
from nbgraph.core.live import LiveEvent, TaskStarted
from nbgraph.errors import NodeFailedError, UnsupportedByEngineError
from nbgraph.session import Session
from nbgraph.testing.driver import FakeDriver
from nbgraph.testing.drivers import DriverConformance


class Line(BaseState):
    log: Annotated[list[str], add] = Field(default_factory=list)


def native() -> Driver:
    first = node(name="first")(lambda state: {"log": ["first"]})
    ask = node(name="ask")(lambda state: {"log": [str(interrupt(id="ok", response_schema=int))]})
    last = node(name="last")(lambda state: {"log": ["last"]})
    graph = Graph(Line).flow(START >> first >> ask >> last >> END)
    return graph.thread("t", state_store=InMemoryStateStore())


def failing_native() -> Driver:
    def fail(state: Line) -> None:
        raise ValueError("no")

    graph = Graph(Line).flow(START >> node(name="first")(fail) >> END)
    return graph.thread("t", state_store=InMemoryStateStore())


FIRST, ASK, LAST = (TaskSpec(task_id=name, node=name) for name in ("first", "ask", "last"))


def begun(name: str) -> LiveEvent:
    return TaskStarted(name, name, 0.0)


def wrote(name: str, *log: str) -> Event:
    return TaskFinished(task_id=name, node=name, update={"log": list(log)})


def turns(answer: str = "5") -> list[Sequence[Event | LiveEvent]]:
    """Return what the fake plays: values are whole, since a dict has no reducers."""
    question = Interrupt(
        key="ask:ok", id="ok", node="ask", task_id="ask", response_schema={"type": "integer"}
    )
    return [
        [
            RunStarted(tasks=(FIRST,)),
            begun("first"),
            wrote("first", "first"),
            SuperstepFinished(next=(ASK,)),
            begun("ask"),
            TaskInterrupted(task_id="ask", node="ask", interrupts=(question,)),
            RunPaused(reason="interrupt"),
        ],
        [
            begun("ask"),
            wrote("ask", "first", answer),
            SuperstepFinished(next=(LAST,)),
            begun("last"),
            wrote("last", "first", answer, "last"),
            SuperstepFinished(next=()),
            RunFinished(),
        ],
    ]


class Scripted(FakeDriver):
    """A fake whose other branches are answered with 7."""

    def on(self, branch_id: str) -> FakeDriver:
        other = super().on(branch_id)
        other._branch.turns[:] = turns("7")[-1:]
        return other


class TestNativeDriver(DriverConformance):
    def make_driver(self) -> Driver:
        return native()

    def make_failing_driver(self) -> Driver:
        return failing_native()


class TestFakeDriver(DriverConformance):
    def make_driver(self) -> Driver:
        return Scripted(turns())

    def make_failing_driver(self) -> Driver:
        error = Info(type="ValueError", message="no")
        failed = TaskFailed(task_id="first", node="first", error=error)
        return FakeDriver([[RunStarted(tasks=(FIRST,)), failed, RunFailed(error=error)]])


@pytest.mark.parametrize("make", [native, lambda: FakeDriver(turns())], ids=["native", "fake"])
def test_a_session_drives_any_driver(make: Any) -> None:
    session = Session(make())
    assert session.start({}).result().status == "interrupted"
    assert (session.marks["ask"], session.status) == ("waiting", "interrupted")
    result = session.resume({"ask:ok": 5}).result()
    assert (result.status, result.data["log"]) == ("completed", ["first", "5", "last"])
    assert session.marks == {"first": "done", "ask": "done", "last": "done"}
    session.close()


def test_what_an_engine_cannot_do_is_an_error_that_names_both() -> None:
    session = Session(FakeDriver(turns()))
    for call in (session.step, session.pause, lambda: session.run_until("ask")):
        with pytest.raises(UnsupportedByEngineError, match="fake cannot carry out"):
            call()


def test_a_failure_without_an_exception_at_hand_is_raised_as_its_record() -> None:
    session = Session(TestFakeDriver().make_failing_driver())
    with pytest.raises(NodeFailedError, match="ValueError: no"):
        session.start({}).result()
    assert session.error == "ValueError: no"


def test_a_fake_driver_keeps_the_requests_it_was_sent() -> None:
    driver = FakeDriver(turns())
    Session(driver).start({"log": ["in"]}).result()
    [request] = driver.requests
    assert request.input == {"log": ["in"]}  # type: ignore[union-attr]
