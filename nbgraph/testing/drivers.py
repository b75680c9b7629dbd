"""The contract of a driver as tests: subclass `DriverConformance` and say how to make yours.

The graph behind a driver under test runs three nodes in a row. `first` writes `{"log": ["first"]}`,
`ask` asks for an int, under the key `ask:ok` unless the suite names another, and writes it to the
log as text, `last` writes `{"log": ["last"]}`; the state has one list, `log`.

>>> class TestMyDriver(DriverConformance):
...     def make_driver(self):
...         return MyDriver(my_graph())
...
...     def make_failing_driver(self):
...         return MyDriver(my_failing_graph())
"""

# ruff: noqa: D102 - a test's name is the sentence of the contract

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Mapping
from contextlib import aclosing
from types import MappingProxyType
from typing import Any

import pytest

from nbgraph.core.driver import Capability, Driver
from nbgraph.core.events import AnswersGiven, Event, Forked, RunFailed
from nbgraph.core.fold import fold
from nbgraph.core.live import LiveEvent, TaskStarted
from nbgraph.core.position import Position
from nbgraph.core.requests import (
    Continue,
    Edit,
    Fork,
    Request,
    Resume,
    SetBreakpoints,
    Skip,
    Start,
    Stop,
)
from nbgraph.errors import (
    AlreadyAnsweredError,
    NbgraphError,
    ResumeError,
    StaleAnswerError,
    UnsupportedByEngineError,
)

__all__ = ["DriverConformance"]

_Scenario = Callable[[Any, Driver], Coroutine[Any, Any, None]]


def _with_driver(scenario: _Scenario) -> Callable[[Any], None]:
    @functools.wraps(scenario)
    def run(self: Any) -> None:
        async def whole() -> None:
            driver = self.make_driver()
            await scenario(self, driver)
            await driver.close()

        asyncio.run(whole())

    del run.__wrapped__  # pytest would ask for a fixture named driver
    return run


async def _sent(driver: Driver, request: Request) -> list[Event | LiveEvent]:
    async with aclosing(driver.send(request)) as happening:
        return [event async for event in happening]


def _stored(events: list[Event | LiveEvent]) -> list[Event]:
    return [event for event in events if not isinstance(event, LiveEvent)]


async def _position(driver: Driver) -> Position:
    return fold(await driver.events(), driver.folding)


async def _refused(driver: Driver, request: Request, error: type[NbgraphError]) -> None:
    before = list(await driver.events())
    with pytest.raises(error):
        await _sent(driver, request)
    assert list(await driver.events()) == before


_ASKING: Mapping[Capability, Request] = {
    "step": Continue(steps=1),
    "until": Continue(until="ask"),
    "breakpoints": SetBreakpoints(before=("ask",)),
    "edit": Edit({}),
    "skip": Skip("ask"),
    "fork": Fork(name="other"),
    "stop": Stop(),
    "pause": Stop(gently=True),
}


async def _can(driver: Driver, *capabilities: Capability) -> bool:
    """Return whether a driver can do all of these; what it cannot do it has to refuse."""
    missing = [each for each in capabilities if driver.capabilities.get(each, "") is not None]
    for capability in capabilities:
        if capability in missing:
            await _refused(driver, _ASKING[capability], UnsupportedByEngineError)
    return not missing


class DriverConformance:
    """What every driver does. A subclass says how one is made.

    `key` is the question's key, for an engine that does not let a node name its questions; `input`
    is what a start is given.
    """

    key = "ask:ok"
    input: Mapping[str, Any] = MappingProxyType({})

    def make_driver(self) -> Driver:
        """Return a driver of a new thread of the graph that the module describes."""
        raise NotImplementedError

    def make_failing_driver(self) -> Driver:
        """Return a driver of a new thread whose first node raises."""
        raise NotImplementedError

    def hold(self) -> None:
        """Have the first node wait for `release`, where an engine runs ahead of who reads."""

    def release(self) -> None:
        """Let the first node go on."""

    # What happens is recorded, then shown.

    @_with_driver
    async def test_a_new_thread_has_no_events_and_one_branch(self, driver: Driver) -> None:
        assert list(await driver.events()) == []
        assert await driver.branches() == ("main",)
        assert driver.branch_id == "main"

    @_with_driver
    async def test_the_shape_has_the_nodes(self, driver: Driver) -> None:
        assert [node.path for node in driver.shape.nodes] == ["first", "ask", "last"]

    @_with_driver
    async def test_a_start_runs_to_the_question(self, driver: Driver) -> None:
        events = _stored(await _sent(driver, Start(self.input)))
        assert (events[0].type, events[-1].type) == ("run_started", "run_paused")
        position = await _position(driver)
        assert position.status == "interrupted"
        assert list(position.pending) == [self.key]
        assert driver.folding.to_json(position.state)["log"] == ["first"]

    @_with_driver
    async def test_every_stored_event_is_recorded_when_it_is_yielded(self, driver: Driver) -> None:
        async with aclosing(driver.send(Start(self.input))) as happening:
            async for event in happening:
                if not isinstance(event, LiveEvent):
                    recorded = await driver.events(after=event.sequence - 1)
                    assert recorded[0].id == event.id

    @_with_driver
    async def test_the_log_is_dense_and_is_what_was_yielded(self, driver: Driver) -> None:
        events = _stored(await _sent(driver, Start(self.input)))
        events += _stored(await _sent(driver, Resume(5)))
        assert list(await driver.events()) == events
        assert [event.sequence for event in events] == list(range(1, len(events) + 1))
        assert list(await driver.events(after=3)) == events[3:]

    @_with_driver
    async def test_an_answer_goes_on_to_the_end(self, driver: Driver) -> None:
        await _sent(driver, Start(self.input))
        pending = (await _position(driver)).pending[self.key]
        events = await _sent(driver, Resume(5, by="ada"))
        given = next(event for event in events if isinstance(event, AnswersGiven))
        assert (given.answers, given.by) == ({self.key: 5}, "ada")
        assert given.asked == {self.key: pending.asked}
        position = await _position(driver)
        assert position.status == "completed"
        assert driver.folding.to_json(position.state)["log"] == ["first", "5", "last"]

    def test_a_node_that_fails_is_the_last_event_and_no_exception(self) -> None:
        async def scenario() -> None:
            driver = self.make_failing_driver()
            last = (await _sent(driver, Start(self.input)))[-1]
            assert isinstance(last, RunFailed)
            assert (await _position(driver)).status == "failed"
            await driver.close()

        asyncio.run(scenario())

    # A request that does not fit records nothing.

    @_with_driver
    async def test_a_new_thread_cannot_be_continued_or_answered(self, driver: Driver) -> None:
        await _refused(driver, Continue(), ResumeError)
        await _refused(driver, Resume(1), ResumeError)

    @_with_driver
    async def test_a_paused_thread_takes_only_a_fitting_answer(self, driver: Driver) -> None:
        await _sent(driver, Start(self.input))
        await _refused(driver, Start(self.input), ResumeError)
        await _refused(driver, Continue(), ResumeError)
        await _refused(driver, Resume(answers={"other:ok": 1}), ResumeError)
        await _refused(driver, Resume("no number"), ResumeError)

    @_with_driver
    async def test_a_finished_thread_cannot_be_continued_or_answered(self, driver: Driver) -> None:
        await _sent(driver, Start(self.input))
        await _sent(driver, Resume(5))
        await _refused(driver, Continue(), ResumeError)
        await _refused(driver, Resume(5), ResumeError)

    @_with_driver
    async def test_an_answer_to_another_asking_is_stale(self, driver: Driver) -> None:
        await _sent(driver, Start(self.input))
        stale = Resume(answers={self.key: 5}, asked={self.key: 999})
        await _refused(driver, stale, StaleAnswerError)

    @_with_driver
    async def test_a_second_answer_is_told_of_the_first(self, driver: Driver) -> None:
        await _sent(driver, Start(self.input))
        asked = (await _position(driver)).pending[self.key].asked
        answer = Resume(answers={self.key: 5}, asked={self.key: asked}, by="ada")
        await _sent(driver, answer)
        await _refused(driver, answer, AlreadyAnsweredError)

    # What an engine may be able to do.

    @_with_driver
    async def test_every_capability_is_none_or_a_reason(self, driver: Driver) -> None:
        assert all(reason is None or reason for reason in driver.capabilities.values())

    @_with_driver
    async def test_a_stop_without_a_run_yields_and_records_nothing(self, driver: Driver) -> None:
        assert await _sent(driver, Stop()) == []
        assert list(await driver.events()) == []
        await _sent(driver, Start(self.input))
        assert (await _position(driver)).pending

    @_with_driver
    async def test_a_stopped_run_can_be_continued(self, driver: Driver) -> None:
        if not await _can(driver, "stop"):
            return
        self.hold()
        async with aclosing(driver.send(Start(self.input))) as happening:
            async for event in happening:
                if isinstance(event, TaskStarted):
                    assert await _sent(driver, Stop()) == []
                    self.release()
        position = await _position(driver)
        assert (await driver.events())[-1].type == "run_stopped"
        assert (position.status, bool(position.tasks)) == ("stopped", True)
        await _sent(driver, Continue())
        assert list((await _position(driver)).pending) == [self.key]

    @_with_driver
    async def test_an_edit_changes_the_state(self, driver: Driver) -> None:
        if not await _can(driver, "edit"):
            return
        await _sent(driver, Start(self.input))
        [event, *_] = _stored(await _sent(driver, Edit({"log": ["edit"]}, by="ada")))
        assert event.type == "state_edited"
        position = await _position(driver)
        assert "edit" in driver.folding.to_json(position.state)["log"]
        assert list(position.pending) == [self.key]  # asked again, where the engine must
        await _sent(driver, Resume(5))
        assert (await _position(driver)).status == "completed"

    @_with_driver
    async def test_a_task_that_waits_is_not_skipped(self, driver: Driver) -> None:
        if not await _can(driver, "skip"):
            return
        await _sent(driver, Start(self.input))
        await _refused(driver, Skip("ask"), ResumeError)
        await _refused(driver, Skip("nothing"), ResumeError)

    @_with_driver
    async def test_a_step_runs_one_superstep(self, driver: Driver) -> None:
        if not await _can(driver, "step", "breakpoints"):
            return
        await _sent(driver, SetBreakpoints(before=("first",)))
        await _sent(driver, Start(self.input))
        await _sent(driver, Continue(steps=1))
        position = await _position(driver)
        assert (position.status, position.next) == ("interrupted", ("ask",))

    @_with_driver
    async def test_until_stops_before_a_node(self, driver: Driver) -> None:
        if not await _can(driver, "until", "breakpoints"):
            return
        await _sent(driver, SetBreakpoints(before=("first",)))
        await _sent(driver, Start(self.input))
        await _sent(driver, Continue(until="ask"))
        assert (await _position(driver)).next == ("ask",)

    @_with_driver
    async def test_a_breakpoint_pauses_once(self, driver: Driver) -> None:
        if not await _can(driver, "breakpoints"):
            return
        await _sent(driver, SetBreakpoints(before=("last",)))
        await _sent(driver, Start(self.input))
        await _sent(driver, Resume(5))
        position = await _position(driver)
        assert (position.status, position.next) == ("interrupted", ("last",))
        await _sent(driver, Continue())
        assert (await _position(driver)).status == "completed"

    @_with_driver
    async def test_a_fork_is_a_branch_that_leaves_its_origin_alone(self, driver: Driver) -> None:
        if not await _can(driver, "fork"):
            return
        await _sent(driver, Start(self.input))
        before = list(await driver.events())
        forked = _stored(await _sent(driver, Fork(name="other")))
        assert isinstance(forked[0], Forked)
        assert await driver.branches() == ("main", "other")
        other = driver.on("other")
        assert (other.branch_id, other.thread_id) == ("other", driver.thread_id)
        await _sent(other, Resume(7))
        assert driver.folding.to_json((await _position(other)).state)["log"] == [
            "first",
            "7",
            "last",
        ]
        assert list(await driver.events()) == before
        assert [event.sequence for event in await other.events()] == list(
            range(1, len(await other.events()) + 1)
        )
        await other.close()

    @_with_driver
    async def test_a_fork_at_no_event_is_refused(self, driver: Driver) -> None:
        if not await _can(driver, "fork"):
            return
        await _sent(driver, Start(self.input))
        await _refused(driver, Fork(at=999, name="x"), NbgraphError)
        assert await driver.branches() == ("main",)

    @_with_driver
    async def test_a_driver_can_be_closed_twice(self, driver: Driver) -> None:
        await driver.close()
