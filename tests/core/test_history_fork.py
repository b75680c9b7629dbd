"""History, time travel, edits, forks and comparing them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import SecretStr

from nbgraph import END, START, BaseState, Graph, InMemoryStateStore, Replace, Resume, node
from nbgraph.core.compare import Difference
from nbgraph.core.store import BranchRecord
from nbgraph.errors import (
    GraphConfigError,
    InvalidUpdateError,
    StateStoreError,
    StateUpdateError,
    UnknownThreadError,
)
from tests.core.graphs import Trail, asker, chain, failing, fan, history, stop


def test_history_is_dense_and_says_what_happened_when_and_where() -> None:
    graph = chain(stop("a"), asker("ask"))
    graph.invoke({}, thread_id="t")
    events = history(graph)
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    assert [event.id for event in events] == [f"main:{n}" for n in range(1, len(events) + 1)]
    assert [(event.type, event.node) for event in events] == [
        ("run_started", None),
        ("task_finished", "a"),
        ("superstep_finished", None),
        ("task_interrupted", "ask"),
        ("run_paused", None),
    ]
    times = [event.created_at for event in events]
    assert times == sorted(times)


def test_load_and_position_go_back_to_any_event() -> None:
    graph = chain(stop("a"), stop("b"))
    graph.invoke({}, thread_id="t")
    logs = [graph.sync.load("t", at=event.sequence)["log"] for event in history(graph)]
    assert logs == [[], [], ["a"], ["a"], ["a", "b"], ["a", "b"]]
    assert graph.sync.position("t", at=3).next == ("b",)


@pytest.mark.parametrize("at", [0, -1, 99])
def test_an_event_that_is_not_there_is_named(at: int) -> None:
    graph = chain(stop("a"))
    graph.invoke({}, thread_id="t")
    before = history(graph)
    for call in (graph.sync.load, graph.sync.position):
        with pytest.raises(StateUpdateError, match=f"no event {at}"):
            call("t", at=at)
    with pytest.raises(StateUpdateError, match=f"no event {at}"):
        graph.sync.fork("t", from_=at, name="b")
    assert history(graph) == before
    assert graph.sync.branches("t") == []


def test_a_thread_that_is_not_there_is_unknown() -> None:
    graph = chain(stop("a"))
    assert not graph.sync.exists("t")
    for name in ("history", "branches", "load", "position", "pending"):
        with pytest.raises(UnknownThreadError, match="'t' is not in the state store"):
            getattr(graph.sync, name)("t")
    with pytest.raises(UnknownThreadError):
        graph.sync.update_state("t", {"count": 1})
    with pytest.raises(UnknownThreadError):
        graph.sync.fork("t")
    assert not graph.sync.exists("t")


def test_thread_methods_without_a_store_say_what_to_pass() -> None:
    graph = Graph(Trail).flow(START >> stop("a") >> END)
    with pytest.raises(GraphConfigError, match="pass state_store="):
        graph.sync.history("t")


def test_the_sync_twin_has_every_async_method_and_no_other() -> None:
    graph = chain(stop("a"))
    assert {"history", "fork", "compare", "update_state", "ainvoke"} <= set(dir(graph.sync))
    for name in ("invoke", "flow", "_stored", "nothing"):
        with pytest.raises(AttributeError, match=f"no async method '{name}'"):
            getattr(graph.sync, name)


def test_the_sync_twin_works_inside_a_running_loop() -> None:
    import asyncio

    graph = chain(stop("a"))

    async def cell() -> Any:
        graph.sync.ainvoke({}, thread_id="t")
        return graph.sync.load("t")

    assert asyncio.run(cell()) == {"log": ["a"], "count": 0}


def test_a_fork_goes_its_own_way_and_leaves_its_origin_alone() -> None:
    graph = chain(asker("ask"), stop("b"))
    graph.invoke({}, thread_id="t")
    assert graph.sync.fork("t", name="no").id == "no"
    graph.invoke(None, thread_id="t", resume=Resume("yes"))
    main = history(graph)
    done = graph.invoke(None, thread_id="t", branch_id="no", resume=Resume("no"))
    assert done.state.log == ["ask: 'no'", "b"]
    assert done.checkpoint_id is not None
    assert done.checkpoint_id.startswith("no:")
    assert history(graph) == main
    assert graph.sync.load("t")["log"] == ["ask: 'yes'", "b"]


def test_a_forks_history_begins_with_its_ancestors_and_stays_dense() -> None:
    graph = chain(stop("a"), stop("b"))
    graph.invoke({}, thread_id="t")
    graph.sync.fork("t", from_=3, name="x")
    graph.invoke(None, thread_id="t", branch_id="x")
    events = history(graph, branch_id="x")
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    assert [event.branch_id for event in events] == ["main"] * 3 + ["x"] * (len(events) - 3)
    assert events[3].type == "forked"


def test_a_fork_without_a_name_is_given_one() -> None:
    graph = chain(stop("a"))
    graph.invoke({}, thread_id="t")
    name = graph.sync.fork("t").id
    [branch] = graph.sync.branches("t")
    assert isinstance(branch, BranchRecord)
    assert (branch.id, branch.parent_branch_id) == (name, "main")
    assert re.fullmatch(r"fork-[0-9a-f]+", name)


def test_a_fork_of_a_fork_knows_its_parent() -> None:
    graph = chain(stop("a"), stop("b"))
    graph.invoke({}, thread_id="t")
    graph.sync.fork("t", from_=3, name="x")
    graph.sync.fork("t", branch_id="x", name="y")
    assert graph.invoke(None, thread_id="t", branch_id="y").state.log == ["a", "b"]
    assert [b.parent_branch_id for b in graph.sync.branches("t")] == ["main", "x"]


def test_a_branch_of_a_taken_name_is_refused_and_nothing_changes() -> None:
    graph = chain(stop("a"))
    graph.invoke({}, thread_id="t")
    graph.sync.fork("t", name="x")
    before = (history(graph), history(graph, branch_id="x"), graph.sync.branches("t"))
    for name in ("x", "main"):
        with pytest.raises(StateStoreError):
            graph.sync.fork("t", name=name, from_=1)
    assert (history(graph), history(graph, branch_id="x"), graph.sync.branches("t")) == before


def test_a_fork_may_begin_with_an_edit() -> None:
    graph = chain(stop("a"), interrupt_before=["a"])
    graph.invoke({}, thread_id="t")
    graph.sync.fork("t", name="x", update={"count": 7})
    assert graph.sync.load("t", branch_id="x")["count"] == 7
    assert graph.sync.load("t")["count"] == 0


def test_a_fork_whose_edit_does_not_fit_is_not_made() -> None:
    graph = chain(stop("a"))
    graph.invoke({}, thread_id="t")
    with pytest.raises(StateUpdateError):
        graph.sync.fork("t", name="x", update={"count": "many"})
    assert graph.sync.branches("t") == []


def test_a_forks_questions_keep_their_keys_and_are_other_questions() -> None:
    graph = chain(asker("ask"))
    graph.invoke({}, thread_id="t")
    graph.sync.fork("t", name="x")
    assert graph.sync.pending("t") == graph.sync.pending("t", branch_id="x")
    graph.invoke(None, thread_id="t", branch_id="x", resume=Resume("x"))
    assert list(graph.sync.pending("t")) == ["ask:ok"]


def test_a_fork_before_the_pause_takes_an_input() -> None:
    graph = chain(stop("a"), asker("ask"))
    graph.invoke({}, thread_id="t")
    graph.sync.fork("t", from_=1, name="again")
    result = graph.invoke({"count": 5}, thread_id="t", branch_id="again")
    assert result.state == Trail(log=["a"], count=5)


def test_a_fork_remembers_its_origins_breakpoints() -> None:
    graph = chain(stop("a"), stop("b"))
    graph.invoke({}, thread_id="t", interrupt_before=["b"])
    graph.sync.fork("t", name="x")
    again = graph.invoke({}, thread_id="t", branch_id="x")
    assert again.status == "interrupted"


def test_an_edit_goes_through_the_reducers_and_says_which_event_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("JUPYTERHUB_USER", "ada")
    graph = chain(stop("a"))
    graph.invoke({}, thread_id="t")
    id = graph.sync.update_state("t", {"log": ["edit"], "count": 2})
    assert graph.sync.load("t") == {"log": ["a", "edit"], "count": 2}
    last = history(graph)[-1]
    assert (last.id, last.type, last.by) == (id, "state_edited", "ada")


def test_an_edit_may_replace_past_the_reducer() -> None:
    graph = chain(stop("a"))
    graph.invoke({}, thread_id="t")
    graph.sync.update_state("t", {"log": Replace(["only"])})
    assert graph.sync.load("t")["log"] == ["only"]


@pytest.mark.parametrize("values", [{"nope": 1}, {"count": "x"}, {"log": [1]}])
def test_an_edit_that_does_not_fit_changes_nothing(values: dict[str, Any]) -> None:
    graph = chain(stop("a"))
    graph.invoke({}, thread_id="t")
    before = history(graph)
    with pytest.raises(StateUpdateError):
        graph.sync.update_state("t", values)
    assert history(graph) == before


def test_an_edit_of_a_field_that_a_finished_sibling_wrote_is_refused() -> None:
    counts = node(name="counts")(lambda state: {"count": 1, "log": ["counts"]})
    graph = fan(counts, asker("ask"))
    graph.invoke({}, thread_id="t")
    before = history(graph)
    with pytest.raises(InvalidUpdateError, match="'count' was written by 'an edit', 'counts'"):
        graph.sync.update_state("t", {"count": 9})
    assert history(graph) == before
    graph.sync.update_state("t", {"log": ["edit"]})
    done = graph.invoke(None, thread_id="t", resume=Resume("x"))
    assert done.state == Trail(log=["edit", "counts", "ask: 'x'"], count=1)


def test_an_edit_can_make_a_thread_from_the_schemas_defaults() -> None:
    graph = chain(stop("a"))
    graph.sync.update_state("t", {"count": 3}, create=True)
    assert graph.sync.load("t") == {"log": [], "count": 3}
    assert graph.sync.position("t").status == "new"
    assert graph.invoke({}, thread_id="t").state == Trail(log=["a"], count=3)


def test_a_secret_is_refused_in_a_state() -> None:
    class Safe(BaseState):
        token: SecretStr | None = None

    graph = Graph(Safe, state_store=InMemoryStateStore())
    graph.flow(START >> node(name="n")(lambda state: None) >> END)
    with pytest.raises(StateStoreError, match="'token'") as caught:
        graph.invoke({"token": SecretStr("hush")}, thread_id="t")
    assert "hush" not in str(caught.value)
    assert not graph.sync.exists("t")


def test_two_branches_are_compared_by_path() -> None:
    graph = chain(asker("ask"))
    graph.invoke({"count": 1}, thread_id="t")
    graph.sync.fork("t", name="no")
    graph.invoke(None, thread_id="t", resume=Resume("yes"))
    graph.invoke(None, thread_id="t", branch_id="no", resume=Resume("no"))
    found = graph.sync.compare("t", "main", "no")
    assert found.differences == (Difference("/log", "~", ["ask: 'yes'"], ["ask: 'no'"]),)
    assert found.same == 1


def test_two_events_are_compared_by_their_ids() -> None:
    graph = chain(stop("a"), stop("b"))
    graph.invoke({}, thread_id="t")
    found = graph.sync.compare("t", "main:1", "main:3")
    assert found.differences == (Difference("/log", "~", [], ["a"]),)


def test_a_branch_whose_name_holds_a_colon_can_be_compared() -> None:
    graph = chain(stop("a"))
    graph.invoke({}, thread_id="t")
    graph.sync.fork("t", name="what:if")
    assert graph.sync.compare("t", "main", "what:if").differences == ()


def test_comparing_with_a_branch_that_is_not_there_is_an_error() -> None:
    graph = chain(stop("a"))
    graph.invoke({}, thread_id="t")
    with pytest.raises(UnknownThreadError, match="no branch 'x'"):
        graph.sync.compare("t", "main", "x")


def test_a_failed_thread_can_be_forked_before_its_failure() -> None:
    graph = chain(stop("a"), failing("b", ValueError("no")))
    with pytest.raises(ValueError, match="no"):
        graph.invoke({}, thread_id="t")
    graph.sync.fork("t", from_=3, name="x")
    assert graph.invoke(None, thread_id="t", branch_id="x").state.log == ["a", "b"]
    assert graph.sync.position("t").status == "failed"
