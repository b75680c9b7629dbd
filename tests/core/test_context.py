"""What a node finds in its context, and the import paths of nodestep."""

from __future__ import annotations

from typing import Any

import pytest

import nbgraph
import nbgraph.chat
import nbgraph.errors
import nbgraph.exceptions
import nbgraph.state
from nbgraph import InMemoryStateStore, NodeContext, Resume, interrupt, node
from nbgraph.errors import StateUpdateError, UnknownThreadError
from nbgraph.state import StateSnapshot
from tests.core.graphs import Trail, asker, chain, stop


def test_a_node_finds_where_it_runs() -> None:
    found: list[NodeContext] = []
    store = InMemoryStateStore()
    look = node(name="look")(lambda state: None)

    @node
    def see(state: Trail, ctx: NodeContext) -> None:
        found.append(ctx)

    chain(look, see, state_store=store, name="here").invoke({}, thread_id="t")
    [ctx] = found
    assert (ctx.graph_name, ctx.node, ctx.task_id, ctx.thread_id, ctx.branch_id, ctx.step) == (
        "here",
        "see",
        "see",
        "t",
        "main",
        1,
    )
    assert ctx.run_id
    assert ctx.root_run_id == ctx.run_id
    assert ctx.state_store is store
    assert ctx.state_schema is Trail
    assert ctx.stream_modes == frozenset()
    assert ctx.resume_values == {}


def test_a_node_finds_the_answers_it_was_given_and_cannot_change_them() -> None:
    found: list[dict[str, Any]] = []

    @node
    def ask(state: Trail, ctx: NodeContext) -> None:
        found.append(dict(ctx.resume_values))
        with pytest.raises(TypeError):
            ctx.resume_values["ask:ok"] = "mine"  # type: ignore[index]
        for answer in ctx.resume_values.values():
            answer.append("mine")
        found.append(interrupt(id="ok"))

    graph = chain(ask)
    graph.invoke({}, thread_id="t")
    graph.invoke(resume=Resume([1]), thread_id="t")
    assert found == [{}, {"ask:ok": [1, "mine"]}, [1]]


def test_get_state_gives_the_state_as_nodes_have_it_and_the_event_it_stands_after() -> None:
    graph = chain(stop("a"), asker("ask"))
    graph.invoke({"count": 3}, thread_id="t")
    assert graph.sync.get_state("t") == StateSnapshot(Trail(log=["a"], count=3), 5)
    assert graph.sync.get_state("t", at=1) == StateSnapshot(Trail(count=3), 1)
    graph.sync.get_state("t").value.log.append("mine")
    assert graph.sync.load("t")["log"] == ["a"]


def test_get_state_reads_a_branch() -> None:
    graph = chain(stop("a"), asker("ask"))
    graph.invoke({}, thread_id="t")
    graph.sync.fork("t", name="b", update={"count": 9})
    assert graph.sync.get_state("t", branch_id="b") == StateSnapshot(Trail(log=["a"], count=9), 7)
    assert graph.sync.get_state("t").value.count == 0


def test_get_state_of_what_is_not_there_says_so() -> None:
    graph = chain(stop("a"))
    with pytest.raises(UnknownThreadError):
        graph.sync.get_state("t")
    graph.invoke({}, thread_id="t")
    with pytest.raises(StateUpdateError, match="no event 99"):
        graph.sync.get_state("t", at=99)


def test_nodesteps_import_paths_lead_to_the_same_things() -> None:
    assert nbgraph.exceptions.__all__ == nbgraph.errors.__all__
    for name in nbgraph.errors.__all__:
        assert getattr(nbgraph.exceptions, name) is getattr(nbgraph.errors, name)
    for module in (nbgraph.chat, nbgraph.state):
        shared = set(module.__all__) & set(nbgraph.__all__)
        assert {name for name in shared if getattr(module, name) is not getattr(nbgraph, name)} == (
            set()
        )
    assert nbgraph.add_messages is nbgraph.chat.add_messages
