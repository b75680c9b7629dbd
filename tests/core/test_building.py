"""A flow that is added piece by piece is the flow that its items would be."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from nbgraph import END, START, Graph, InMemoryStateStore, Resume, branch, interrupt, join, node
from nbgraph.errors import GraphConfigError
from tests.core.graphs import Trail, asker, chain, stop


def log(name: str) -> Any:
    """Return a function that writes a name."""

    def run(state: Trail) -> dict[str, Any]:
        return {"log": [name]}

    run.__name__ = name
    return run


def by_count(state: Trail) -> str:
    return "big" if state.count > 1 else "small"


def named(state: Trail) -> Literal["b", "__end__"]:
    return "b" if state.count else "__end__"


def test_what_is_added_is_the_flow_that_its_items_would_be() -> None:
    a, b, c, d, e = (stop(name) for name in "abcde")
    added = (
        Graph(Trail)
        .add_node(a)
        .add_node(b)
        .add_node(c)
        .add_node(d)
        .add_node(e)
        .add_edge(START, "a")
        .add_edge("a", "b")
        .add_edge("a", "c")
        .add_edge(["b", "c"], "d")
        .add_conditional_edges("d", by_count, {"big": END, "small": "e"})
        .add_edge("e", END)
    )
    written = Graph(Trail).flow(
        START >> a,
        a >> [b, c],
        join(b, c) >> d,
        d >> branch(by_count, {"big": END, "small": e}),
        e >> END,
    )
    assert {*added.shape.nodes} == {*written.shape.nodes}
    assert {*added.shape.edges} == {*written.shape.edges}
    assert added.invoke({}).state == written.invoke({}).state == Trail(log=[*"abcde"])
    assert added.invoke({"count": 2}).state.log == [*"abcd"]


def test_a_function_is_added_under_its_name_or_another_with_the_options_of_a_node() -> None:
    graph = Graph(Trail).add_node(log("a")).add_node("b", log("x"), label="The B", timeout=30)
    graph.add_edge(START, "a").add_edge("a", "b").add_edge("b", END)
    assert [each.label for each in graph.shape.nodes] == ["a", "The B"]
    assert graph.invoke({}).state.log == ["a", "x"]


def test_a_router_may_list_its_names_or_be_annotated_with_them() -> None:
    for mapping in (None, ["b", END.name]):
        graph = Graph(Trail).add_node(log("a")).add_node(log("b")).add_edge(START, "a")
        graph.add_conditional_edges("a", named, mapping).add_edge("b", END)
        assert graph.invoke({}).state.log == ["a"]
        assert graph.invoke({"count": 1}).state.log == ["a", "b"]


def test_an_edge_takes_nodes_as_they_are_and_a_graph_may_ask() -> None:
    a, b = asker("a"), stop("b")
    graph = Graph(Trail, state_store=InMemoryStateStore(), interrupt_before=["b"])
    graph.add_node(a).add_node(b).add_edge(START, a).add_edge(a, b).add_edge(b, END)
    graph.invoke({}, thread_id="t")
    graph.invoke(resume=Resume(1), thread_id="t")
    assert graph.sync.position("t").next == ("b",)
    assert graph.invoke(None, thread_id="t").state.log == ["a: 1", "b"]


def test_every_problem_of_what_was_added_is_told_at_once_when_it_is_first_needed() -> None:
    graph = Graph(Trail).add_node(log("a")).add_node(log("lonely")).add_edge("a", "bee")
    graph.add_edge(START, "a")
    with pytest.raises(GraphConfigError) as caught:
        graph.invoke({})
    assert str(caught.value).splitlines()[1:] == [
        "- 'bee' is no node that was added; added are 'a', 'lonely'",
        "- 'lonely' cannot be reached; add_edge to it",
    ]
    graph.add_node(log("bee")).add_edge("bee", "lonely").add_edge("lonely", END)
    assert graph.invoke({}).state.log == ["a", "bee", "lonely"]


def test_a_flow_that_is_made_takes_no_more_and_one_is_either_written_or_added() -> None:
    a = stop("a")
    graph = Graph(Trail).add_node(a).add_edge(START, a).add_edge(a, END)
    with pytest.raises(GraphConfigError, match="not as both"):
        graph.flow(START >> a >> END)
    assert graph.flow() is graph
    for add in (
        lambda: graph.add_node(log("b")),
        lambda: graph.add_edge("a", "b"),
        lambda: graph.add_conditional_edges("a", named),
        lambda: chain(a).add_node(a),
    ):
        with pytest.raises(GraphConfigError, match="has its flow already"):
            add()


@pytest.mark.parametrize(
    ("add", "message"),
    [
        (lambda graph: graph.add_node(log("a")), "Two nodes are named 'a'"),
        (lambda graph: graph.add_edge("a", 3), "by name or as they are; got 3"),
        (lambda graph: graph.add_edge(["a"], "b"), "two or more nodes"),
        (lambda graph: graph.add_edge([START, "a"], "b"), "two or more nodes"),
        (lambda graph: graph.add_conditional_edges("a", by_count), "annotated with their names"),
        (
            lambda graph: graph.add_conditional_edges("a", named).add_conditional_edges("a", named),
            "'a' has a router already",
        ),
    ],
)
def test_what_cannot_be_added_is_refused_where_it_is_added(add: Any, message: str) -> None:
    graph = Graph(Trail).add_node(log("a")).add_edge(START, "a")
    with pytest.raises(GraphConfigError, match=message):
        add(graph)


def test_a_node_with_options_and_a_graph_as_a_node_say_what_to_do() -> None:
    with pytest.raises(TypeError, match="add it as it is"):
        Graph(Trail).add_node("b", stop("a"))
    with pytest.raises(TypeError, match="by subgraph"):
        Graph(Trail).add_node("b", chain(stop("a")))


def test_no_edge_leads_to_start_or_from_end() -> None:
    graph = Graph(Trail).add_node(log("a")).add_edge(START, "a").add_edge("a", START)
    with pytest.raises(GraphConfigError, match="no edge leads to START, and none from END"):
        graph.flow()


def test_a_node_that_only_goto_leads_to_is_reached() -> None:
    ask = node(name="ask", goto=["b"])(lambda state: interrupt("?", id="q") and None)
    graph = Graph(Trail, state_store=InMemoryStateStore())
    graph.add_node(ask).add_node(log("b")).add_edge(START, "ask").add_edge("ask", END)
    graph.add_edge("b", END)
    assert {edge.target for edge in graph.shape.edges if edge.kind == "goto"} == {"b"}
