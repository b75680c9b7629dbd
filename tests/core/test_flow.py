"""Writing a flow: what is an item, and every problem of a flow in one error."""

from __future__ import annotations

from typing import Any

import pytest

from nbgraph import (
    END,
    START,
    Command,
    Graph,
    InMemoryStateStore,
    Node,
    NodeContext,
    Send,
    branch,
    join,
    node,
    when,
)
from nbgraph.core.driver import EdgeShape
from nbgraph.core.events import RunFinished
from nbgraph.errors import GraphConfigError, GraphExecutionError
from tests.core.graphs import Trail, history, stop


def ran(graph: Graph, **given: Any) -> list[str]:
    return graph.invoke(given).state.log


def test_a_flow_may_be_written_in_a_row() -> None:
    assert ran(Graph(Trail).flow(START >> stop("a") >> stop("b") >> END)) == ["a", "b"]


def test_a_list_leads_to_all_its_nodes() -> None:
    a, b, c = stop("a"), stop("b"), stop("c")
    assert ran(Graph(Trail).flow(START >> a >> [b, c], b >> END, c >> END)) == ["a", "b", "c"]


def test_a_node_that_two_ways_lead_to_at_once_runs_once() -> None:
    a, b, c = stop("a"), stop("b"), stop("c")
    graph = Graph(Trail).flow(START >> [a, b], a >> c, b >> c, c >> END)
    assert ran(graph) == ["a", "b", "c"]


def test_when_leads_by_a_bool_and_otherwise_to_end() -> None:
    a, b = stop("a"), stop("b")
    graph = Graph(Trail).flow(START >> a, a >> when(lambda state: state.count > 0, b), b >> END)
    assert ran(graph, count=1) == ["a", "b"]
    assert ran(graph, count=0) == ["a"]


def test_a_predicate_that_returns_no_bool_fails_by_name() -> None:
    a, b = stop("a"), stop("b")
    graph = Graph(Trail).flow(START >> a, a >> when(lambda state: state.count, b), b >> END)  # type: ignore[arg-type,return-value]
    with pytest.raises(GraphExecutionError, match="predicate after 'a' must return a bool, got 1"):
        ran(graph, count=1)


def test_branch_leads_by_what_its_router_returns() -> None:
    a, b, c = stop("a"), stop("b"), stop("c")
    choice = branch(lambda state: "xy"[state.count], {"x": b, "y": c, "z": END})
    graph = Graph(Trail).flow(START >> a, a >> choice, b >> END, c >> END)
    assert (ran(graph, count=0), ran(graph, count=1)) == (["a", "b"], ["a", "c"])


def test_a_router_that_returns_what_its_branch_does_not_know_fails_by_name() -> None:
    a, b = stop("a"), stop("b")
    graph = Graph(Trail).flow(START >> a, a >> branch(lambda state: "z", {"x": b}), b >> END)
    with pytest.raises(GraphExecutionError, match="after 'a' returned 'z'; it knows 'x'"):
        ran(graph)


def test_what_a_router_does_to_its_state_changes_nothing() -> None:
    def vandal(state: Trail) -> bool:
        state.log.append("vandal")
        return False

    a, b = stop("a"), stop("b")
    assert ran(Graph(Trail).flow(START >> a, a >> when(vandal, b), b >> END)) == ["a"]


def test_a_join_waits_for_all_its_sources_whatever_the_length_of_the_ways() -> None:
    a, b, c, d, e = map(stop, "abcde")
    graph = Graph(Trail).flow(START >> [a, b], b >> c >> d, join(a, d) >> e, e >> END)
    assert ran(graph) == ["a", "b", "c", "d", "e"]


def test_a_source_that_arrives_twice_counts_once() -> None:
    a, b, c, d = map(stop, "abcd")
    graph = Graph(Trail).flow(
        START >> [a, b],
        a >> when(lambda state: state.log.count("a") < 2, a),
        b >> c,
        join(a, c) >> d,
        d >> END,
    )
    assert ran(graph).count("d") == 1


def test_a_new_turn_starts_with_empty_joins() -> None:
    a, b, c = map(stop, "abc")
    graph = Graph(Trail, state_store=InMemoryStateStore()).flow(
        START >> a, a >> when(lambda state: state.count == 1, b), join(a, b) >> c, c >> END
    )
    graph.invoke({"count": 0}, thread_id="t")
    last = history(graph)[-1]
    assert isinstance(last, RunFinished)
    assert last.open_joins == ("a+b",)
    assert graph.invoke({}, thread_id="t").state.log == ["a", "a"]
    assert graph.invoke({"count": 1}, thread_id="t").state.log == ["a", "a", "a", "b", "c"]


def test_the_shape_has_every_way_there_is() -> None:
    a, b, c = stop("a"), node(name="b", label="Bee")(lambda state: None), stop("c")
    d = node(name="d", goto=[a, END])(lambda state: Command(goto=END))
    graph = Graph(Trail, name="shape").flow(
        START >> a, a >> branch(lambda state: 1, {1: b, 2: c}), join(b, c) >> d
    )
    shape = graph.shape
    assert [(each.path, each.label) for each in shape.nodes] == [
        ("a", "a"),
        ("b", "Bee"),
        ("c", "c"),
        ("d", "d"),
    ]
    assert shape.edges == (
        EdgeShape("__start__", "a"),
        EdgeShape("a", "b", "branch", "1"),
        EdgeShape("a", "c", "branch", "2"),
        EdgeShape("d", "a", "goto"),
        EdgeShape("d", "__end__", "goto"),
        EdgeShape("b", "d"),
        EdgeShape("c", "d"),
    )
    assert shape.input_schema["properties"]["count"]["type"] == "integer"


def test_every_problem_of_a_flow_is_in_one_error() -> None:
    a, b, c = stop("a"), node(name="b", goto=["nowhere"])(lambda state: None), stop("c")
    twin = stop("a")
    with pytest.raises(GraphConfigError) as caught:
        Graph(Trail).flow(START >> a, a >> END, a >> b, c >> twin)
    text = str(caught.value)
    for problem in (
        "'a' has two transitions",
        "two nodes are named 'a'",
        "'b' declares goto 'nowhere', which is no node",
        "'c' cannot be reached",
    ):
        assert problem in text


def test_a_node_that_leads_nowhere_is_named_with_what_to_add() -> None:
    with pytest.raises(GraphConfigError, match="'a' leads nowhere; add `a >> END`"):
        Graph(Trail).flow(START >> stop("a"))


@pytest.mark.parametrize(
    "items",
    [
        lambda a, b: [a >> b, b >> END],
        lambda a, b: [START >> a, START >> b, a >> END, b >> END],
        lambda a, b: [START >> END],
    ],
    ids=["no START", "two STARTs", "START to END"],
)
def test_a_flow_has_exactly_one_start(items: Any) -> None:
    with pytest.raises(GraphConfigError, match="exactly one START"):
        Graph(Trail).flow(*items(stop("a"), stop("b")))


def test_a_flow_needs_items_and_is_written_once() -> None:
    with pytest.raises(GraphConfigError, match="needs items"):
        Graph(Trail).flow()
    graph = Graph(Trail).flow(START >> stop("a") >> END)
    with pytest.raises(GraphConfigError, match="has its flow already"):
        graph.flow(START >> stop("b") >> END)


def test_a_graph_without_a_flow_says_what_to_call() -> None:
    with pytest.raises(GraphConfigError, match=r"call \.flow"):
        Graph(Trail).invoke({})


@pytest.mark.parametrize(
    "write",
    [
        lambda a: a >> [],
        lambda a: a >> "b",
        lambda a: a >> (lambda state: None),
        lambda a: START >> START,
        lambda a: START >> when(lambda state: True, a),
        lambda a: a >> [a, a] >> a,
        lambda a: a >> END >> a,
        lambda a: branch(lambda state: 1, {}),
        lambda a: branch(lambda state: 1, {1: "a"}),
        lambda a: when(lambda state: True, "a"),
        lambda a: join(a),
        lambda a: join(a, a),
        lambda a: join(a, END),
        lambda a: Graph(Trail).flow(START >> a >> END, "b"),
    ],
)
def test_what_is_no_way_is_refused_where_it_is_written(write: Any) -> None:
    with pytest.raises((GraphConfigError, TypeError)):
        write(stop("a"))


def test_a_node_is_named_after_its_function_and_calls_it() -> None:
    @node
    def double(number: Any) -> Any:
        """Return twice the number.

        More of it.
        """
        return number * 2

    assert (double.name, double(4)) == ("double", 8)
    assert double.description == "Return twice the number."
    assert repr(double) == "<node 'double'>"


class _Callable:
    def __call__(self, state: Any) -> None:
        return None


def _two(state: Any, other: Any) -> None: ...
def _none() -> None: ...
def _star(*states: Any) -> None: ...
def _keyword(*, state: Any) -> None: ...
def _three(state: Any, ctx: NodeContext, more: Any) -> None: ...


@pytest.mark.parametrize(
    "function", [_Callable(), _two, _none, _star, _keyword, _three, lambda state: None, len, "a"]
)
def test_what_no_node_can_be_made_of_is_a_type_error(function: Any) -> None:
    with pytest.raises(TypeError):
        node(function)


@pytest.mark.parametrize(
    "options",
    [
        {"name": " "},
        {"name": 5},
        {"name": "__end__"},
        {"name": "a[1]"},
        {"timeout": 0},
        {"timeout": -1},
        {"goto": []},
        {"goto": [5]},
    ],
)
def test_a_bad_option_of_a_node_is_a_type_error(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        node(**options)(lambda state: None) if "name" in options else node(name="a", **options)(
            lambda state: None
        )


def test_a_send_takes_a_node() -> None:
    with pytest.raises(TypeError, match="Send takes a node"):
        Send("a")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ['"quoted"', "<b>x</b>", "A::B", "back\\", "$x$", "עברית", "a/b"])
def test_a_nodes_name_is_any_text(name: str) -> None:
    assert ran(Graph(Trail).flow(START >> stop(name) >> END)) == [name]


def test_a_bound_method_is_a_node() -> None:
    class Desk:
        def work(self, state: Trail) -> dict[str, Any]:
            return {"log": [type(self).__name__]}

    made = node(Desk().work)
    assert isinstance(made, Node)
    assert ran(Graph(Trail).flow(START >> made >> END)) == ["Desk"]
