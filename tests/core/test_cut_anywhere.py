"""Every event leaves a position that can be resumed: random graphs, cut after every event."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings

from nbgraph import Graph, InMemoryStateStore, Resume
from nbgraph.core.codec import decode_events, encode_events
from nbgraph.core.events import (
    AnswersGiven,
    Event,
    OnceRecorded,
    TaskBegan,
    TaskFinished,
    TaskInterrupted,
)
from nbgraph.core.fold import fold
from nbgraph.core.position import Position
from nbgraph.core.requests import Continue, Request, Start
from nbgraph.core.starts import outcome_key
from nbgraph.core.store import BranchSummary
from nbgraph.core.thread import Thread
from tests.core.programs import Program, Stamp, World, answer_to, build, programs

pytestmark = pytest.mark.filterwarnings("ignore::nbgraph.UnnamedInterruptWarning")
"""Drawn programs ask in loops, with ids and without: what runs again asks the same."""

_NIGHTLY = bool(os.environ.get("NBGRAPH_NIGHTLY"))
_SETTINGS = settings(
    max_examples=80 if _NIGHTLY else 25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
_ENOUGH = 300
"""More calls than any drawn program needs to end."""


def _request(program: Program, position: Position) -> Request:
    if position.status == "new" or position.status == "completed":
        return Start({})
    if not position.pending:
        return Continue()
    keys = sorted(position.pending)
    chosen = keys[:1] if program.one_by_one else keys
    answers = {key: answer_to(position.pending[key]) for key in chosen}
    return Resume(answers=answers, partial=True)


def _complete(program: Program, events: Sequence[Event], position: Position) -> bool:
    started = sum(event.type == "run_started" for event in events)
    return position.status == "completed" and started == program.turns


async def _finished(program: Program, thread: Thread) -> Position:
    """Do what the script says until all turns are over, and return where the thread stands."""
    for _ in range(_ENOUGH):
        events = await thread.events()
        position = fold(events, thread.folding)
        if _complete(program, events, position):
            return position
        async with aclosing(thread.send(_request(program, position))) as happening:
            async for _ in happening:
                pass
    raise AssertionError("the program does not end")


class _Journal(InMemoryStateStore):
    """Knows in which order the events of all threads, sub-graphs' included, were kept."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[str, Event, BranchSummary]] = []

    async def append(
        self,
        thread_id: str,
        branch_id: str,
        events: Sequence[Event],
        *,
        expected: int,
        summary: BranchSummary,
        **options: Any,
    ) -> int:
        names = (thread_id, branch_id)
        epoch = await super().append(*names, events, expected=expected, summary=summary, **options)
        self.kept += [(thread_id, event, summary) for event in events]
        return epoch

    async def cut(self, at: int) -> tuple[_Journal, dict[str, list[Event]]]:
        """Return a store that ends after the first `at` events, and its logs by thread."""
        store, logs = _Journal(), dict[str, list[Event]]()
        for thread_id, event, summary in self.kept[:at]:
            log = logs.setdefault(thread_id, [])
            await store.append(thread_id, "main", [event], expected=len(log), summary=summary)
            log.append(event)
        return store, logs

    def logs(self) -> dict[str, list[Event]]:
        """Return the logs by thread."""
        logs = dict[str, list[Event]]()
        for thread_id, event, _ in self.kept:
            logs.setdefault(thread_id, []).append(event)
        return logs


def _places(count: int) -> range:
    """Return the events to cut at: all of them, or every few where sub-graphs made many.

    All of them at night, however many there are.
    """
    stride = 1 if count < 40 or _NIGHTLY else count // 12
    return range(1 + count % stride, count + 1, stride)


def _stamps(logs: Mapping[str, Sequence[Event]], graph: Graph, kind: Any) -> set[Stamp]:
    """Return the tasks that have an event of this kind; every thread's state is of one type."""
    found = set[Stamp]()
    for thread_id, events in logs.items():
        position = Position()
        for event in events:
            if isinstance(event, kind):
                found.add((thread_id, event.task_id, len(position.state["log"])))
            position = fold([event], graph.schema, position)
    return found


Address = tuple[Stamp, str | None]
"""An effect that happens at most once: a task, and the key of a `ctx.once` in it, or None."""


def _starts(logs: Mapping[str, Sequence[Event]], graph: Graph) -> Counter[Address]:
    """Return how often each effect was started, and check that none was on no one's word."""
    counts = Counter[Address]()
    for thread_id, events in logs.items():
        position, free = Position(), dict[Address, bool]()
        for event in events:
            size = len(position.state.get("log", ()))
            match event:
                case TaskBegan(task_id=task_id, key=key):
                    address = ((thread_id, task_id, size), key)
                    assert free.get(address, True), f"{address} was repeated: {events}"
                    counts[address] += 1
                    free[address] = False
                case AnswersGiven(answers=answers):
                    free |= {one: True for one in free if outcome_key(one[0][1], one[1]) in answers}
                case TaskInterrupted(task_id=task_id, interrupts=asked):
                    address = ((thread_id, task_id, size), None)
                    free[address] = outcome_key(task_id, None) not in {one.key for one in asked}
            position = fold([event], graph.schema, position)
    return counts


def _outcome(position: Position) -> Any:
    return position.state, position.step, position.status


@pytest.mark.timeout(0 if _NIGHTLY else 600)  # at night as long as it takes
@given(programs())
@_SETTINGS
def test_a_log_cut_after_any_event_goes_on_to_the_same_end(program: Program) -> None:
    asyncio.run(_check_cuts(program))


async def _check_cuts(program: Program) -> None:
    graph = build(program, World())
    journal = _Journal()
    whole = _outcome(await _finished(program, graph.thread("t", state_store=journal)))
    _starts(journal.logs(), graph)
    for at in _places(len(journal.kept)):
        store, kept = await journal.cut(at)
        again = World()
        cut = build(program, again)
        thread_id, event, _ = journal.kept[at - 1]
        note(f"cut after {at}: {event.type} of {thread_id}")
        here = cut.thread("t", state_store=store)
        assert _outcome(await _finished(program, here)) == whole
        assert not _stamps(kept, cut, TaskFinished) & set(again.ran)
        assert not _stamps(kept, cut, OnceRecorded) & set(again.once)
        began_here = _starts(store.logs(), cut) - _starts(kept, cut)
        assert Counter(again.paid) <= began_here


@given(programs())
@_SETTINGS
def test_a_branch_forked_at_any_event_goes_on_to_the_same_end(program: Program) -> None:
    asyncio.run(_check_forks(program))


async def _check_forks(program: Program) -> None:
    world = World()
    graph = build(program, world)
    store = InMemoryStateStore()
    thread = graph.thread("t", state_store=store)
    whole = _outcome(await _finished(program, thread))
    events = await thread.events()
    for at in _places(len(events)):
        world.ran.clear()
        branch_id = (await graph.fork("t", from_=at, name=f"at-{at}", state_store=store)).id
        branch = graph.thread("t", branch_id=branch_id, state_store=store)
        assert _outcome(await _finished(program, branch)) == whole
        assert not _stamps({"t": events[:at]}, graph, TaskFinished) & set(world.ran)
    assert await thread.events() == events


@given(programs())
@_SETTINGS
def test_every_position_is_the_fold_of_the_events_before_it_and_json_changes_nothing(
    program: Program,
) -> None:
    asyncio.run(_check_folds(program))


async def _check_folds(program: Program) -> None:
    graph = build(program, World())
    thread = graph.thread("t", state_store=InMemoryStateStore())
    live: list[Event] = []
    last = await _finished(program, thread)
    live = list(await thread.events())
    body = encode_events(live)
    read = decode_events(body, branch_id="main", first=1, where="test")
    assert read == live
    for at in range(1, len(live) + 1):
        position = fold(live[:at], graph.schema)
        assert await thread.position(at=at) == position
        assert fold(read[:at], graph.schema) == position
    assert last == position
