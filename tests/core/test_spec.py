"""A graph as data."""

from __future__ import annotations

import json
import re

import pytest

from nbgraph import END, START, Graph, branch, join, node, when
from nbgraph.core.spec import (
    BranchSpec,
    EdgeSpec,
    GraphNodeSpec,
    GraphSpec,
    JoinSpec,
)
from nbgraph.errors import GraphConfigError
from tests.core.graph_as_data import both, draft, enough, judge, left, right, size
from tests.core.graphs import Trail, stop

HERE = "tests.core.graph_as_data"


def article() -> Graph:
    return Graph(Trail, name="article").flow(
        START >> draft, draft >> when(enough, judge, otherwise=END)
    )


def test_a_spec_names_all_by_import_path() -> None:
    assert article().to_spec() == GraphSpec(
        name="article",
        state_ref="tests.core.graphs:Trail",
        start="draft",
        nodes=(
            GraphNodeSpec("draft", f"{HERE}:draft"),
            GraphNodeSpec("judge", f"{HERE}:judge", goto=("draft", "END")),
        ),
        edges=(),
        branches=(BranchSpec("draft", f"{HERE}:enough", {"True": "judge", "False": "END"}),),
    )


def test_a_spec_has_several_starts_and_joins() -> None:
    graph = Graph(dict, name="fan").flow(START >> [left, right], join(left, right) >> both >> END)
    spec = graph.to_spec()
    assert (spec.version, spec.state_ref, spec.start) == (1, "builtins:dict", ("left", "right"))
    assert spec.edges == (EdgeSpec("both", "END"),)
    assert spec.joins == (JoinSpec(("left", "right"), "both"),)


def test_json_has_what_the_spec_has() -> None:
    kept = json.loads(article().to_json())
    assert list(kept) == [
        "version",
        "name",
        "state_ref",
        "start",
        "nodes",
        "edges",
        "branches",
        "joins",
    ]
    assert kept["nodes"][1] == {
        "name": "judge",
        "ref": f"{HERE}:judge",
        "kind": "node",
        "goto": ["draft", "END"],
    }
    assert kept["branches"][0]["mapping"] == {"True": "judge", "False": "END"}


def test_what_has_no_import_path_is_named_all_together() -> None:
    here = node(name="here")(lambda state: None)
    last = node(name="END")(lambda state: None)

    graph = Graph(Trail).flow(
        START >> here, here >> branch(lambda state: 1, {1: last, "1": END}), last >> END
    )
    with pytest.raises(GraphConfigError) as caught:
        graph.to_spec()
    assert str(caught.value).splitlines() == [
        "Graph 'graph' cannot be written as data:",
        "- node 'here' has no import path; define it in a module, or pass node(ref=...)",
        "- a node is named 'END', which stands for the end",
        "- node 'END' has no import path; define it in a module, or pass node(ref=...)",
        "- the router after 'here' has no import path; define it in a module, or pass "
        "branch(..., ref=...)",
        "- two answers of the router after 'here' look the same as text",
    ]


def test_a_ref_stands_for_an_import_path() -> None:
    here = node(name="here", ref="shop:pay")(lambda state: None)
    graph = Graph(Trail).flow(
        START >> here, here >> branch(lambda state: 1, {1: END, 2: END}, ref="shop:way")
    )
    spec = graph.to_spec()
    assert (spec.nodes[0].ref, spec.branches[0].router_ref) == ("shop:pay", "shop:way")


def test_a_state_type_of_a_function_has_no_import_path() -> None:
    class Local(Trail):
        pass

    graph = Graph(Local).flow(START >> draft >> END)
    with pytest.raises(GraphConfigError, match=r"the state type .*Local.* has no import path"):
        graph.to_json()


def test_a_graph_without_a_flow_is_no_data_yet() -> None:
    for call in ("to_spec", "to_json", "to_mermaid"):
        with pytest.raises(GraphConfigError, match="has no flow yet"):
            getattr(Graph(Trail), call)()


def test_mermaid_has_edges_labelled_branches_and_dashed_gotos() -> None:
    text = article().to_mermaid()
    assert text.startswith("flowchart TB\n")
    assert re.findall(r"\S+ -.->\S* \S+|\S+ -->\S* \S+", text) == [
        "start_ --> n0_",
        'n0_ -->|"True"| n1_',
        'n0_ -->|"False"| end_',
        "n1_ -.-> n0_",
        "n1_ -.-> end_",
    ]


def test_a_graph_tells_its_parts() -> None:
    last = stop("last")
    graph = Graph(Trail).flow(START >> draft, draft >> branch(size, {1: last}), last >> END)
    assert graph.nodes == {"draft": draft, "last": last}
    assert graph.edges == {"last": (END.name,)}
    assert list(graph.branch_edges) == ["draft"]
    assert graph.branch_edges["draft"].mapping == {1: last}
    assert graph.start_node == "draft"
    graph.nodes.clear()
    assert list(graph.nodes) == ["draft", "last"]
