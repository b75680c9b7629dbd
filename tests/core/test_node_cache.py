"""`@node(cache=NodeCache())`: a node does not run again for the same input."""

from __future__ import annotations

from typing import Any

import pytest

from nbgraph import (
    END,
    START,
    Command,
    Graph,
    InMemoryStateStore,
    Middleware,
    NodeCache,
    Resume,
    Send,
    interrupt,
    node,
)
from nbgraph.core.events import TaskFinished
from tests.core.graphs import Trail, chain, history


class Clock:
    """Shows what it is told."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def counted(cache: NodeCache, calls: list[Any], **options: Any) -> Any:
    @node(name="weigh", cache=cache, **options)
    def weigh(state: Trail) -> dict[str, Any]:
        calls.append(state.count)
        return {"log": [f"{state.count} kg"]}

    return weigh


def test_a_result_is_given_again_for_the_same_state_and_the_event_says_so() -> None:
    calls: list[Any] = []
    graph = chain(counted(NodeCache(), calls))
    for thread_id in ("t", "u"):
        assert graph.invoke({"count": 2}, thread_id=thread_id).state.log == ["2 kg"]
    graph.invoke({"count": 3}, thread_id="v")
    assert calls == [2, 3]
    told = [
        event.cached
        for thread_id in ("t", "u", "v")
        for event in history(graph, thread_id)
        if isinstance(event, TaskFinished)
    ]
    assert told == [False, True, False]


def test_a_key_says_what_the_result_depends_on() -> None:
    calls: list[Any] = []
    graph = chain(counted(NodeCache(key=lambda state: state.count % 2), calls))
    logs = [graph.invoke({"count": count}, thread_id=str(count)).state.log for count in (1, 2, 3)]
    assert logs == [["1 kg"], ["2 kg"], ["1 kg"]]
    assert calls == [1, 2]


def test_a_result_counts_for_its_time_to_live() -> None:
    calls: list[Any] = []
    clock = Clock()
    graph = chain(counted(NodeCache(ttl=10, clock=clock), calls))
    for clock.now in (0, 9.9, 10, 19, 20):
        graph.invoke({}, thread_id=str(clock.now))
    assert len(calls) == 3


def test_the_results_used_longest_ago_go_first() -> None:
    calls: list[Any] = []
    cache = NodeCache(limit=2)
    graph = Graph(Trail).flow(START >> counted(cache, calls) >> END)
    for count in (1, 2, 1, 3, 1, 2):
        graph.invoke({"count": count})
    assert (calls, len(cache)) == ([1, 2, 3, 2], 2)


def test_a_cache_is_cleared_by_node_or_whole() -> None:
    calls: list[Any] = []
    cache = NodeCache()
    other = node(name="other", cache=cache)(lambda state: {"log": ["other"]})
    graph = Graph(Trail).flow(START >> counted(cache, calls) >> other >> END)
    graph.invoke({})
    assert len(cache) == 2
    cache.clear("weigh")
    assert len(cache) == 1
    graph.invoke({})
    cache.clear()
    assert len(cache) == 0
    assert len(calls) == 2


def test_a_node_that_is_written_otherwise_is_another_one() -> None:
    cache = NodeCache()

    def one(state: Trail) -> dict[str, Any]:
        return {"log": ["one"]}

    def two(state: Trail) -> dict[str, Any]:
        return {"log": ["two"]}

    logs = [
        Graph(Trail).flow(START >> node(name="a", cache=cache)(each) >> END).invoke({}).state.log
        for each in (one, two, one)
    ]
    assert logs == [["one"], ["two"], ["one"]]
    assert len(cache) == 2


def test_a_sends_payload_and_what_middleware_gives_are_part_of_the_input() -> None:
    calls: list[Any] = []
    weigh = counted(NodeCache(), calls)
    split = node(name="split", goto=[weigh])(
        lambda state: Command(goto=[Send(weigh, {"count": count}) for count in (1, 2, 1)])
    )
    graph = Graph(Trail).flow(START >> split, weigh >> END)
    assert sorted(graph.invoke({}).state.log) == ["1 kg", "1 kg", "2 kg"]
    assert graph.invoke({}).state.log == ["1 kg", "2 kg", "1 kg"]
    assert set(calls) == {1, 2}

    class Ten(Middleware):
        def before_node(self, ctx: Any) -> Any:
            return ctx.replace(ctx.state.model_copy(update={"count": 10}))

    graph = Graph(Trail, middleware=[Ten()]).flow(START >> weigh >> END)
    assert graph.invoke({"count": 1}).state.log == ["10 kg"]
    assert graph.invoke({"count": 2}).state.log == ["10 kg"]
    assert calls.count(10) == 1


def test_routes_are_kept_too() -> None:
    a, b = node(name="a")(lambda state: {"log": ["a"]}), node(name="b")(lambda state: None)
    calls: list[int] = []

    @node(goto=[a, b], cache=NodeCache())
    def lead(state: Trail) -> Command:
        calls.append(1)
        return Command(goto=a)

    graph = Graph(Trail).flow(START >> lead, a >> END, b >> END)
    assert [graph.invoke({}).state.log for _ in range(2)] == [["a"], ["a"]]
    assert calls == [1]


def test_what_rests_on_an_answer_or_stood_in_for_an_error_is_not_kept() -> None:
    cache = NodeCache()

    @node(cache=cache)
    def ask(state: Trail) -> dict[str, Any]:
        return {"log": [interrupt("?")]}

    graph = chain(ask)
    for thread_id, answer in (("t", "yes"), ("u", "no")):
        assert graph.invoke({}, thread_id=thread_id).status == "interrupted"
        assert graph.invoke(resume=Resume(answer), thread_id=thread_id).state.log == [answer]

    @node(cache=cache, on_error=lambda state, error: {"log": ["instead"]})
    def fail(state: Trail) -> None:
        raise ValueError

    chain(fail).invoke({}, thread_id="t")
    assert len(cache) == 0


def test_what_a_reader_does_to_a_result_changes_no_later_one() -> None:
    keep = node(name="keep", cache=NodeCache())(lambda state: {"log": ["kept"]})

    @node
    def spoil(state: Trail) -> dict[str, Any]:
        state.log.append("spoilt")
        return {"log": list(state.log[-1:])} if state.count else state

    graph = chain(keep, spoil, state_store=InMemoryStateStore())
    assert graph.invoke({}, thread_id="t").state.log == ["kept", "spoilt"]
    assert graph.invoke({}, thread_id="u").state.log == ["kept", "spoilt"]


@pytest.mark.parametrize("bad", [{"ttl": 0}, {"ttl": -1}, {"limit": 0}])
def test_a_cache_that_keeps_nothing_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"above 0|1 or more"):
        NodeCache(**bad)


def test_a_key_that_is_no_json_fails_the_node_and_something_else_is_no_cache() -> None:
    graph = chain(counted(NodeCache(key=lambda state: object()), []))
    with pytest.raises(ValueError, match="key of a NodeCache"):
        graph.invoke({}, thread_id="t")
    with pytest.raises(TypeError, match="cache takes a NodeCache"):
        counted({}, [])  # type: ignore[arg-type] - what a user may pass
