from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ipywidgets
import pytest

from nbgraph.core.driver import EdgeShape, NodeShape, Shape
from nbgraph.drawing import address
from nbgraph.drawing.static import LIGHT
from nbgraph.errors import DrawingError
from nbgraph.notebook import style
from nbgraph.notebook.graph_view import GraphView
from nbgraph.notebook.keys import Keys
from nbgraph.notebook.routing import serve_while_busy

STATIC = Path(style.__file__).parent / "static"


def chain(count: int) -> Shape:
    nodes = tuple(NodeShape(f"n{i}", f"node {i}") for i in range(count))
    edges = tuple(EdgeShape(f"n{i}", f"n{i + 1}") for i in range(count - 1))
    return Shape("chain", nodes, edges, {})


@pytest.fixture(autouse=True)
def no_widget_is_left() -> Iterator[None]:
    yield
    ipywidgets.Widget.close_all()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Keys]:
    """Record the widgets of this test: panels of others may still tick."""
    widgets: list[Keys] = []
    begin = Keys.__init__

    def begun(self: Keys, *arguments: Any, **options: Any) -> None:
        widgets.append(self)
        begin(self, *arguments, **options)

    monkeypatch.setattr(Keys, "__init__", begun)
    return widgets


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, made: list[Keys]) -> list[dict[str, Any]]:
    """Record the custom messages of every widget of the test."""
    messages: list[dict[str, Any]] = []

    def send(self: Keys, content: dict[str, Any], buffers: object = None) -> None:
        if any(self is each for each in made):
            messages.append(content)

    monkeypatch.setattr(Keys, "send", send)
    return messages


@pytest.fixture
def states(monkeypatch: pytest.MonkeyPatch, made: list[Keys]) -> list[object]:
    """Record the state that every graph view of the test pushes."""
    pushed: list[object] = []

    def send_state(self: GraphView, key: object = None) -> None:
        if any(self is each for each in made):
            pushed.append(key)

    monkeypatch.setattr(GraphView, "send_state", send_state)
    return pushed


def hear(widget: Keys, **content: object) -> None:
    widget._handle_custom_msg(content, [])


def test_only_what_changed_is_sent(sent: list[dict[str, Any]]):
    view = GraphView(chain(3))
    view.show({"n0": "running"}, {"n0": "1 s"})
    view.show({"n0": "done", "n1": "running"}, {"n0": "2 s"}, {("n0", "n1")})
    assert sent == [
        {"kind": "status", "nodes": {"n0": ("running", "1 s", "")}},
        {
            "kind": "status",
            "nodes": {"n0": ("done", "2 s", ""), "n1": ("running", "", "")},
            "edges": {"0": "taken"},
        },
    ]


def test_nothing_is_sent_when_nothing_changed(sent: list[dict[str, Any]]):
    view = GraphView(chain(3))
    view.show({"n0": "done"}, heading="Superstep 1")
    sent.clear()
    view.show({"n0": "done"}, heading="Superstep 1")
    assert sent == []


def test_what_is_gone_goes_back_to_idle(sent: list[dict[str, Any]]):
    view = GraphView(chain(2))
    view.show(
        {"n0": "done"}, {}, {("n0", "n1")}, breakpoints={"n1": "before"}, heading="Superstep 1"
    )
    sent.clear()
    view.show({})
    assert sent == [
        {
            "kind": "status",
            "nodes": {"n0": ("idle", "", ""), "n1": ("idle", "", "")},
            "edges": {"0": None},
            "heading": "",
        }
    ]


def test_one_change_among_500_nodes_is_a_short_message(
    sent: list[dict[str, Any]], states: list[object]
):
    view = GraphView(chain(500))
    assert view.drawn.wait(60)
    marks: dict[str, Any] = {f"n{i}": "done" for i in range(400)}
    view.show(marks, dict.fromkeys(marks, "0.8 s"))
    states.clear()
    view.show({**marks, "n400": "running"}, dict.fromkeys(marks, "0.8 s"), {("n399", "n400")})
    assert len(json.dumps(sent[-1])) < 150
    assert states == []


def test_a_page_that_says_hello_gets_the_status_as_a_whole(sent: list[dict[str, Any]]):
    view = GraphView(chain(2))
    view.show({"n0": "waiting"}, heading="Superstep 1", note="1 task")
    sent.clear()
    hear(view, kind="hello")
    assert view.greeted.is_set()
    assert sent == [
        {
            "kind": "status",
            "full": True,
            "drawn": len(view.svg),
            "nodes": {"n0": ("waiting", "", "")},
            "edges": {},
            "heading": "Superstep 1",
            "note": "1 task",
        }
    ]


def test_a_page_that_lacks_the_drawing_gets_it_again(sent: list[dict[str, Any]], states: list[Any]):
    view = GraphView(chain(2))
    states.clear()
    hear(view, kind="hello", lacks=True)
    assert [sorted(keys) for keys in states] == [["folds", "label", "listed", "svg"]]
    assert sent[-1]["full"]


def test_a_page_that_restores_the_widget_finds_the_status_in_its_state():
    view = GraphView(chain(2))
    view.show({"n0": "waiting"})
    status = {"nodes": {"n0": ("waiting", "", "")}, "edges": {}, "heading": "", "note": ""}
    assert view.get_state()["status"] == status


def test_an_edge_of_a_skipped_node_is_skipped_unless_it_was_taken(sent: list[dict[str, Any]]):
    view = GraphView(chain(3))
    view.show({"n1": "skipped"}, {}, {("n0", "n1")})
    assert sent[-1]["edges"] == {"0": "taken", "1": "skipped"}


def test_a_selected_node_is_called_back_with_its_path():
    name = "a\x00b"
    view = GraphView(Shape("g", (NodeShape(name, name),), (), {}))
    selected: list[str] = []
    paused: list[tuple[str, str]] = []
    view.on_select(selected.append)
    view.on_breakpoint(lambda path, side: paused.append((path, side)))
    hear(view, kind="select", node=address(name))
    hear(view, kind="select", node="not a node")
    hear(view, kind="breakpoint", node=address(name), side="after")
    hear(view, kind="breakpoint", node=address(name), side="beside")
    assert (selected, paused) == ([name], [(name, "after")])


def test_lines_are_cut_and_hidden_characters_shown(sent: list[dict[str, Any]]):
    view = GraphView(chain(1))
    view.show({}, {"n0": "\u202e" + "x" * 100})
    assert sent[-1]["nodes"] == {"n0": ("idle", f"⟨U+202E⟩{'x' * 24}… +76", "")}


def test_a_layout_that_fails_leaves_its_reason(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("nbgraph.drawing.layout.find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", lambda command: None)
    view = GraphView(Shape("undrawn", (NodeShape("only", "only"),), (), {}))
    view.show({"only": "done"})
    assert view.svg == ""
    assert view.label.startswith("No picture of the graph: No Graphviz found")


def test_a_form_alone_can_move_the_focus_and_speak(sent: list[dict[str, Any]]):
    keys = Keys()
    keys.focus_on("nbgraph-form")
    keys.say("Saved")
    hear(keys, kind="hello")
    assert sent == [
        {"kind": "focus", "to": "nbgraph-form"},
        {"kind": "say", "text": "Saved"},
        {"kind": "status", "full": True},
    ]


def test_many_views_share_one_style_sheet():
    Keys()
    first = style._made[-1]
    GraphView(chain(1))
    assert style._made == [first]


def test_a_style_sheet_that_was_closed_is_made_again():
    Keys()
    first = style._made[-1]
    first.close()
    Keys()
    assert style._made[-1] is not first


def test_serving_while_busy_reaches_every_child_and_says_whether_it_can():
    class Comm:
        comm_id = "0"

        def _reply_subshell_for(self, data: object, default: object) -> object:
            return "the shell that published last"

    inner, old = ipywidgets.Label(), ipywidgets.Label()
    box = ipywidgets.HBox([inner])
    for widget in (inner, box):
        widget.comm.__class__ = type("NewComm", (Comm, type(widget.comm)), {})
    assert serve_while_busy(box)
    assert inner.comm._reply_subshell_for({}, "asked") == "asked"
    assert not serve_while_busy(old)


def test_the_picture_uses_the_light_theme_of_the_style_sheet():
    sheet = (STATIC / "nbgraph.css").read_text()
    light = sheet[: sheet.index("body[")]
    found = re.findall(r"--nbgraph-([\w-]+): (?:var\([^,]+, )?(#\w+)", light)
    tokens = {name: value for name, value in found if name in LIGHT}
    assert tokens.items() <= LIGHT.items()
    assert LIGHT.keys() - tokens.keys() == {"ink", "ink-2"}


SHEETS = ("nbgraph.css", "form.css", "panel.css", "graph_view.css")


def test_only_the_tokens_name_colours():
    sheets = "".join((STATIC / name).read_text() for name in SHEETS)
    parts = re.sub(r"url\('[^']*'\)", "", sheets[sheets.index("/* ground */") :])
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b|rgba?\(", parts.replace("#000 ", "")) == []  # a mask


def nested() -> Shape:
    nodes = (
        NodeShape("a", "a"),
        NodeShape("sub", "sub"),
        NodeShape("sub/x", "x", parent="sub"),
        NodeShape("sub/deep", "deep", parent="sub"),
        NodeShape("sub/deep/y", "y", parent="sub/deep"),
    )
    edges = (
        EdgeShape("a", "sub"),
        EdgeShape("sub", "sub/x"),
        EdgeShape("sub/x", "sub/deep"),
        EdgeShape("sub/deep", "sub/deep/y"),
    )
    return Shape("nested", nodes, edges, {})


def drawn_nodes(view: GraphView) -> list[str]:
    return re.findall(r'data-node="([^"]*)"', view.svg)


def test_a_sub_graph_is_folded_to_its_node_and_unfolded():
    view = GraphView(nested())
    assert view.folds == {"sub": False, "sub/deep": False}
    hear(view, kind="fold", node="sub")
    assert (drawn_nodes(view), view.folds) == (["a", "sub"], {"sub": True})
    hear(view, kind="fold", node="sub")
    hear(view, kind="fold", node="sub/deep")
    assert drawn_nodes(view) == ["a", "sub", "sub/x", "sub/deep"]
    assert view.folded == {"sub/deep"}


def test_what_is_folded_is_told_nothing_and_is_up_to_date_when_unfolded(sent: list[Any]):
    view = GraphView(nested())
    view.fold("sub")
    view.show({"sub": "running", "sub/x": "done"}, {}, {("a", "sub"), ("sub", "sub/x")})
    assert sent[-1]["nodes"] == {"sub": ("running", "", "")}
    assert sent[-1]["edges"] == {"0": "taken"}
    view.fold("sub")
    status = view.get_state()["status"]
    assert status["nodes"] == {"sub": ("running", "", ""), "sub/x": ("done", "", "")}
    assert status["edges"] == {"0": "taken", "1": "taken"}


def test_a_page_that_is_there_is_told_all_when_the_drawing_changes(sent: list[Any]):
    view = GraphView(nested())
    hear(view, kind="hello")
    sent.clear()
    view.fold("sub")
    assert [message["full"] for message in sent] == [True]


def test_a_node_that_is_no_sub_graph_cannot_be_folded():
    view = GraphView(nested())
    hear(view, kind="fold", node="a")
    assert view.folded == frozenset()


def test_sub_graphs_of_a_large_graph_are_folded_at_first():
    inner = tuple(NodeShape(f"sub/{i}", str(i), parent="sub") for i in range(80))
    view = GraphView(Shape("large", (NodeShape("sub", "sub"), *inner), (), {}))
    assert view.drawn.wait(60)
    assert (drawn_nodes(view), view.folds) == (["sub"], {"sub": True})


def test_a_large_graph_is_laid_out_beside_who_made_the_view(monkeypatch: pytest.MonkeyPatch):
    go_on, where = threading.Event(), []

    def lay_out(source: str, *, small: bool) -> str:
        where.append((threading.current_thread().name, small))
        go_on.wait(60)
        raise DrawingError("too dense")

    monkeypatch.setattr(sys.modules["nbgraph.drawing.svg"], "lay_out", lay_out)
    view = GraphView(Shape("slow", chain(300).nodes, chain(300).edges[:7], {}))
    view.show({"n3": "done"})
    assert (view.svg, view.label) == ("", "Drawing 300 nodes …")
    go_on.set()
    assert view.drawn.wait(60)
    assert where == [("nbgraph-layout", False)]
    assert view.label == "No picture of the graph: too dense"
    assert view.listed[3] == ["n3", "node 3"]
    assert view.get_state()["status"]["nodes"] == {"n3": ("done", "", "")}
