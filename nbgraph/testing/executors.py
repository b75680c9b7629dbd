"""The contract of an executor as tests: subclass `ExecutorConformance` and say how to make yours.

>>> class TestMyExecutor(ExecutorConformance):
...     def make_executor(self):
...         return MyExecutor(my_engine)
"""

# ruff: noqa: D102 - a test's name is the sentence of the contract

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from contextlib import aclosing, closing
from typing import Any

import pytest

from nbgraph.core.events import Event, TaskFailed, TaskFinished
from nbgraph.core.executor import Executor
from nbgraph.core.graph import Graph
from nbgraph.core.live import LiveEvent, TaskEmitted
from nbgraph.core.node import Node
from nbgraph.core.requests import Resume, Start, Stop
from nbgraph.core.subgraph import subgraph
from nbgraph.errors import NodeFailedError, NodeTimeoutError, StateUpdateError
from nbgraph.stores.memory import InMemoryStateStore
from nbgraph.testing import _executor_nodes as nodes

__all__ = ["ExecutorConformance"]

T = "t"


class ExecutorConformance:
    """What every executor does. A subclass says how one is made."""

    def make_executor(self) -> Executor:
        """Return an executor."""
        raise NotImplementedError

    def graph(self, *listed: Node, **options: Any) -> Graph:
        """Return a graph of the `listed` nodes in a row, run by the executor, with `options`."""
        return nodes.graph_of(*listed, **self._options(options))

    def _options(self, options: dict[str, Any]) -> dict[str, Any]:
        store = InMemoryStateStore()
        return {"state_store": store, "executor": self.make_executor(), **options}

    # Outcomes are values.

    @pytest.mark.parametrize("count", [1, 2, 30, 300])
    def test_every_task_is_reported_once_and_merged_in_the_order_of_tasks(self, count: int) -> None:
        graph = nodes.fanned(**self._options({}))
        result = graph.invoke({"number": count}, thread_id=T)
        ids = ["later", *(f"later[{each}]" for each in range(1, count))]
        expected = [f"{name} {each}" for each, name in enumerate(ids)]
        assert result.state.log == expected
        finished = [each.task_id for each in recorded(graph, TaskFinished)]
        assert sorted(finished) == sorted(["spread", *ids])

    def test_a_sync_and_an_async_node_write_what_they_return(self) -> None:
        graph = self.graph(nodes.plain, nodes.later)
        assert graph.invoke({"number": 7}, thread_id=T).state.log == ["plain 7", "later 7"]

    def test_a_state_that_a_node_changes_in_place_becomes_an_update(self) -> None:
        result = self.graph(nodes.changed).invoke({"number": 1}, thread_id=T)
        assert result.data == {"log": ["changed"], "number": 2}

    def test_an_update_that_does_not_fit_is_the_task_s_error(self) -> None:
        with pytest.raises((StateUpdateError, NodeFailedError), match="number"):
            self.graph(nodes.refused).invoke({}, thread_id=T)

    def test_a_node_knows_where_it_runs_and_finds_the_context(self) -> None:
        result = self.graph(nodes.plain, nodes.shown).invoke({}, thread_id=T, context="desk 4")
        assert result.state.log[-1] == "desk 4 tally t shown 1"

    def test_an_executor_of_the_call_stands_in_for_the_graph_s(self) -> None:
        graph = nodes.graph_of(nodes.plain, state_store=InMemoryStateStore())
        result = graph.invoke({"number": 3}, thread_id=T, executor=self.make_executor())
        assert result.state.log == ["plain 3"]

    # An interrupt is a value.

    def test_a_question_pauses_and_its_answer_is_found_when_the_node_runs_again(self) -> None:
        graph = self.graph(nodes.ask)
        paused = graph.invoke({"number": 5}, thread_id=T)
        [question] = paused.interrupts.values()
        assert (question.key, question.payload, question.message) == (
            "ask:ok",
            {"number": 5},
            "Go?",
        )
        assert question.response_schema == {"type": "boolean"}
        done = graph.invoke(resume=Resume(True), thread_id=T)
        assert done.state.log == ["answered True"]

    def test_an_answer_comes_back_as_its_type(self) -> None:
        graph = self.graph(nodes.price)
        graph.invoke({}, thread_id=T)
        done = graph.invoke(resume=Resume({"cents": 250}), thread_id=T)
        assert done.state.log == ["Price 250"]

    def test_a_finished_task_does_not_run_again_when_its_sibling_is_answered(self) -> None:
        graph = nodes.side_by_side(nodes.told, nodes.ask, **self._options({}))
        first = list(graph.stream({}, thread_id=T))
        assert {*words(first)} == {"ask runs", "two", "{'told': 1}"}
        again = list(graph.stream(thread_id=T, resume=Resume(False)))
        assert words(again) == ["ask runs"]
        assert graph.sync.load(T)["log"] == ["told", "answered False", "plain 0"]

    def test_what_a_node_keeps_outlives_a_pause(self) -> None:
        graph = self.graph(nodes.kept)
        graph.invoke({}, thread_id=T)
        done = graph.invoke(resume=Resume("go"), thread_id=T)
        assert done.state.log == ["first 1, runs 2"]

    def test_what_an_async_node_keeps_outlives_a_pause(self) -> None:
        graph = self.graph(nodes.kept_async)
        graph.invoke({}, thread_id=T)
        done = graph.invoke(resume=Resume("go"), thread_id=T)
        assert done.state.log == ["first 1, cached 2"]

    # An error is a value.

    def test_what_a_node_raises_is_raised_by_the_call_and_recorded(self) -> None:
        graph = self.graph(nodes.wrong)
        with pytest.raises(ValueError, match="no luck") as caught:
            graph.invoke({"number": 9}, thread_id=T)
        assert caught.value.args == ("no luck", 9)
        [event] = recorded(graph, TaskFailed)
        assert (event.error.type, "no luck" in event.error.message) == ("ValueError", True)
        assert 'raise ValueError("no luck"' in event.error.traceback

    def test_an_error_that_cannot_travel_is_told_by_its_name_and_message(self) -> None:
        with pytest.raises((nodes.OddError, NodeFailedError), match="1 and 2"):
            self.graph(nodes.odd).invoke({}, thread_id=T)

    def test_a_node_that_would_end_the_process_ends_the_run(self) -> None:
        graph = self.graph(nodes.leave)
        with pytest.raises(SystemExit):
            graph.invoke({}, thread_id=T)
        [event] = recorded(graph, TaskFailed)
        assert event.error.type == "SystemExit"
        assert graph.sync.position(T).status == "failed"

    def test_after_a_failure_only_unfinished_tasks_run(self) -> None:
        graph = nodes.side_by_side(nodes.told, nodes.wrong, **self._options({}))
        for _ in range(3):
            with pytest.raises(ValueError, match="no luck"):
                graph.invoke({} if not graph.sync.exists(T) else None, thread_id=T)
        finished = [each.task_id for each in recorded(graph, TaskFinished)]
        assert len(recorded(graph, TaskFailed)) == 3
        assert finished in ([], ["told"])

    def test_an_async_node_that_takes_too_long_is_a_timeout(self) -> None:
        with pytest.raises(NodeTimeoutError, match="slow"):
            self.graph(nodes.slow).invoke({}, thread_id=T)

    # A task's key is the same for every run of it.

    def test_a_task_that_runs_again_after_a_pause_has_the_key_it_had(self) -> None:
        graph = self.graph(nodes.kept)
        keys = words(list(graph.stream({}, thread_id=T)))
        again = words(list(graph.stream(thread_id=T, resume=Resume("go"))))
        assert len(keys) == 1
        assert keys == again

    def test_attempts_are_counted_shown_and_have_one_key(self) -> None:
        graph = self.graph(nodes.flaky)
        events = list(graph.stream({}, thread_id=T))
        tries = [each.data.number for each in emitted(events) if each.kind == "attempt"]
        assert tries == [1, 2]
        assert graph.sync.load(T)["log"] == ["attempt 3"]
        keys = [each.data for each in emitted(events) if each.kind == "custom"]
        assert (len(keys), len({*keys})) == (3, 1)
        [event] = recorded(graph, TaskFinished)
        assert event.attempts == 3

    # What a node says is shown.

    def test_what_a_node_says_is_shown_in_order_and_before_its_outcome(self) -> None:
        events = list(self.graph(nodes.told).stream({}, thread_id=T))
        shown = [type(each).__name__ for each in events]
        assert shown.index("TaskFinished") > max(
            at for at, each in enumerate(events) if isinstance(each, TaskEmitted)
        )
        assert [(each.kind, each.data) for each in emitted(events)] == [
            ("custom", {"told": 1}),
            ("token", "two"),
        ]

    def test_what_a_node_says_is_shown_while_it_runs_where_the_executor_can(self) -> None:
        if not self._can("events"):
            return
        assert "waits" in words(self._left())

    # Leaving a run.

    def test_a_run_that_is_left_can_be_continued(self) -> None:
        graph = self.graph(nodes.plain, nodes.ask)
        with closing(graph.stream({}, thread_id=T, lockstep=True)) as events:
            for event in events:
                if isinstance(event, TaskFinished):
                    break
        assert graph.sync.position(T).status == "stopped"
        assert list(graph.invoke(thread_id=T).interrupts) == ["ask:ok"]

    def test_a_node_that_waits_is_cancelled_where_the_executor_can(self) -> None:
        if not self._can("cancel", "events"):
            return
        assert words(asyncio.run(self._stopped())) == ["waits", "cancelled"]

    async def _stopped(self) -> list[Event | LiveEvent]:
        """Return what is seen of a node that waits, and is stopped when it says so."""
        thread, seen = self.graph(nodes.forever).thread(T), list[Event | LiveEvent]()
        async with aclosing(thread.send(Start({}))) as events:
            async for event in events:
                seen.append(event)
                if words([event]) == ["waits"]:
                    await anext(thread.send(Stop()), None)
        return seen

    def _left(self) -> list[Event | LiveEvent]:
        """Return what is seen of a node that waits, until it says so; then the run is left."""
        seen: list[Event | LiveEvent] = []
        with closing(self.graph(nodes.forever).stream({}, thread_id=T, lockstep=True)) as events:
            for event in events:
                seen.append(event)
                if isinstance(event, TaskEmitted):
                    return seen
        return seen

    def _can(self, *capabilities: Any) -> bool:
        """Return whether the executor claims to be able to do all of these."""
        return set(capabilities) <= set(self.make_executor().capabilities)

    # What stands around a node.

    def test_middleware_shows_replaces_and_answers(self) -> None:
        graph = self.graph(nodes.ask, middleware=[nodes.Around()])
        result = graph.invoke({"number": 2}, thread_id=T)
        assert result.state.log == ["ask: answered True"]

    def test_a_sub_graph_s_nodes_run_there_too(self) -> None:
        inner = subgraph("inner", nodes.graph_of(nodes.plain, nodes.ask), share=["log", "number"])
        graph = self.graph(inner, nodes.plain)
        assert list(graph.invoke({"number": 1}, thread_id=T).interrupts) == ["inner/ask:ok"]
        done = graph.invoke(resume=Resume(True), thread_id=T)
        assert done.state.log == ["plain 1", "answered True", "plain 1"]


def recorded(graph: Graph, kind: type[Any]) -> list[Any]:
    """Return the recorded events of one type."""
    return [each for each in graph.sync.history(T) if isinstance(each, kind)]


def emitted(events: Iterable[Event | LiveEvent]) -> Iterator[TaskEmitted]:
    """Return what nodes said."""
    return (each for each in events if isinstance(each, TaskEmitted))


def words(events: Iterable[Event | LiveEvent]) -> list[str]:
    """Return what nodes said, as text."""
    return [re.sub(r"\s+", " ", str(each.data)) for each in emitted(events)]
