from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbgraph.core.driver import EdgeShape, NodeShape, Shape
from nbgraph.drawing import address, cut, layout, reveal, svg
from nbgraph.drawing.mermaid import mermaid
from nbgraph.drawing.static import picture
from nbgraph.errors import DrawingError

from .shapes import HOSTILE, chain, nested, refund, tree

NAMESPACE = "{http://www.w3.org/2000/svg}"
ALLOWED = {
    "svg": {"class", "viewBox", "width", "height"},
    "g": {
        "class",
        "transform",
        "data-node",
        "data-cluster",
        "data-edge",
        "data-source",
        "data-target",
        "data-kind",
    },
    "path": {"d"},
    "polygon": {"points"},
    "text": {"class", "text-anchor", "x", "y"},
    "title": set[str](),
}


@pytest.fixture
def layouts(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Record, for each layout, whether it was a small one."""
    made: list[bool] = []
    real = layout.lay_out

    def recorded(source: str, *, small: bool) -> str:
        made.append(small)
        return real(source, small=small)

    monkeypatch.setattr(import_module("nbgraph.drawing.svg"), "lay_out", recorded)
    return made


def names_in(text: str) -> list[str]:
    root = ElementTree.fromstring(text)
    return [e.text or "" for e in root.iter(f"{NAMESPACE}text") if e.get("class") == "nbgraph-name"]


def check_allowed(text: str) -> None:
    for element in ElementTree.fromstring(text).iter():
        tag = element.tag.removeprefix(NAMESPACE)
        assert set(element.attrib) <= ALLOWED[tag]


def test_every_hostile_name_comes_out_as_visible_text():
    text = svg(chain(*HOSTILE))
    assert names_in(text) == [cut(reveal(name)) for name in HOSTILE]
    check_allowed(text)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_may_stand_anywhere(name: str):
    shape = Shape(
        name,
        (NodeShape(name, name, name), NodeShape("b", "b")),
        (EdgeShape(name, "b", "branch", name), EdgeShape("b", "__end__")),
        {},
    )
    text = svg(shape)
    check_allowed(text)
    group = ElementTree.fromstring(text).find(f".//{NAMESPACE}g[@data-edge='0']")
    assert group is not None
    assert group.findtext(f"{NAMESPACE}text") == cut(reveal(name))
    assert group.get("data-source") == address(name)


@settings(max_examples=60)
@given(st.lists(st.text(st.characters(), max_size=50), min_size=1, max_size=8))
def test_any_name_reads_back(labels: list[str]):
    text = svg(chain(*labels))
    assert names_in(text) == [cut(reveal(label)) for label in labels]
    check_allowed(text)


def test_nodes_and_edges_say_what_they_stand_for():
    root = ElementTree.fromstring(svg(refund()))
    nodes = [g.get("data-node") for g in root.iter(f"{NAMESPACE}g") if g.get("data-node")]
    edges = [
        (g.get("data-source"), g.get("data-target"), g.get("data-kind"), g.get("class"))
        for g in root.iter(f"{NAMESPACE}g")
        if g.get("data-edge")
    ]
    assert nodes == ["__start__", "ask", "pay", "deny", "__end__"]
    assert edges == [
        ("__start__", "ask", "edge", "edge"),
        ("ask", "pay", "branch", "edge"),
        ("ask", "deny", "branch", "edge"),
        ("deny", "ask", "goto", "edge nbgraph-goto"),
        ("pay", "__end__", "edge", "edge"),
    ]


def test_parallel_edges_and_loops_are_all_drawn():
    edges = (
        EdgeShape("a", "b", "branch", "x"),
        EdgeShape("a", "b", "branch", "y"),
        EdgeShape("a", "a", "goto"),
    )
    text = svg(Shape("g", (NodeShape("a", "a"), NodeShape("b", "b")), edges, {}))
    assert [f'data-edge="{i}"' in text for i in range(3)] == [True] * 3


def test_an_end_that_is_no_node_is_drawn_under_its_path():
    shape = Shape("g", (NodeShape("a", "a"),), (EdgeShape("a", "elsewhere"),), {})
    assert names_in(svg(shape)) == ["a", "elsewhere"]


def test_many_empty_names_do_not_crash_the_process():
    for count in range(1, 30):
        assert names_in(svg(chain(*[""] * count))) == [""] * count


def test_a_graph_without_nodes_is_an_empty_picture():
    assert names_in(svg(Shape("empty", (), (), {}))) == []


def test_a_shape_is_laid_out_once_whatever_its_schema(layouts: list[bool]):
    shape = chain("once", "only")
    assert svg(shape) == svg(replace(shape, input_schema={"type": "object"}))
    assert layouts == [True]


def test_a_large_graph_is_laid_out_in_a_child(layouts: list[bool]):
    assert len(names_in(svg(tree(100)))) == 100
    assert layouts == [False]


def test_a_layout_that_takes_too_long_is_a_drawing_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(layout, "TIME_LIMIT", 0.01)
    with pytest.raises(DrawingError, match=r"took longer than 0\.01 s"):
        svg(tree(101))


def test_without_the_wheel_dot_on_the_path_draws(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []

    def which(command: str) -> str:
        asked.append(command)
        return sys.executable

    monkeypatch.setattr(layout, "find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", which)
    with pytest.raises(DrawingError, match="could not draw the graph"):
        svg(chain("python is no dot"))
    assert asked == ["dot"]


def test_without_any_graphviz_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(layout, "find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", lambda command: None)
    with pytest.raises(DrawingError, match="install pygraphviz"):
        svg(chain("nothing to draw with"))


def test_a_source_that_is_no_dot_is_a_drawing_error():
    with pytest.raises(DrawingError):
        layout.lay_out("this is not dot", small=False)


def test_only_font_warnings_are_kept_from_stderr(capfd: pytest.CaptureFixture[str]):
    with layout._without_font_warnings():
        os.write(2, b"Fontconfig warning: nobody can help this\nError: a real one\n")
    assert capfd.readouterr().err == "Error: a real one\n"


def test_a_first_drawing_writes_nothing_to_stderr():
    program = (
        "from nbgraph.core.driver import NodeShape, Shape\n"
        "from nbgraph.drawing import svg\n"
        "svg(Shape('g', (NodeShape('a', 'a'),), (), {}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stderr == b""


def test_a_sub_graph_stands_in_a_box_of_its_own_with_the_address_of_its_node():
    root = ElementTree.fromstring(svg(nested()))
    boxes = [group for group in root.iter() if group.get("class") == "nbgraph-cluster"]
    assert [box.get("data-cluster") for box in boxes] == ["refund", "refund/deep"]
    assert {name for box in boxes for part in box for name in part.attrib} == {"d"}
    assert len([group for group in root.iter() if group.get("class") == "node"]) == 4
    assert picture(nested()).count("data-cluster") == 2
    assert mermaid(nested()).count("subgraph") == 2
