"""Faults that drawings of graphs were reported to have, each with an input that shows it."""

from __future__ import annotations

import random
import re
from xml.etree import ElementTree

import ipywidgets
import pytest

from nbgraph import END, START, BaseState, Graph, InMemoryStateStore, Panel, node
from nbgraph.core.driver import EdgeShape, NodeShape, Shape
from nbgraph.drawing import Drawing, layout, svg
from nbgraph.errors import DrawingError
from nbgraph.notebook.graph_view import GraphView

from .shapes import chain, tree

SVG = "{http://www.w3.org/2000/svg}"


def names_in(text: str) -> list[str]:
    texts = ElementTree.fromstring(text).iter(f"{SVG}text")
    return [each.text or "" for each in texts if each.get("class") == "nbgraph-name"]


def groups(text: str, kind: str) -> list[ElementTree.Element]:
    return [each for each in ElementTree.fromstring(text).iter(f"{SVG}g")
            if kind in (each.get("class") or "").split()]  # fmt: skip


class Count(BaseState):
    steps: int = 0


@node
def work(state: Count) -> dict[str, int]:
    return {"steps": state.steps + 1}


def counting() -> Graph:
    return Graph(Count, name="c", state_store=InMemoryStateStore()).flow(START >> work >> END)


def test_without_graphviz_a_run_works_and_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Report G51."""
    monkeypatch.setattr(layout, "find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", lambda command: None)
    shape = chain("no picture of this one")
    shown = Drawing(shape)._repr_mimebundle_()
    assert list(shown) == ["text/plain"]
    last = shown["text/plain"].splitlines()[-1]
    assert "install pygraphviz" in last
    assert "Traceback" not in shown["text/plain"]
    assert "install pygraphviz" in GraphView(shape).label
    assert counting().invoke({}, thread_id="t").state.steps == 1


def test_backslashes_and_quotes_are_drawn_as_typed() -> None:
    """Report G52."""
    labels = ["C:\\", 'say "hi"', "\\", "\\\\", 'a\\"b', "\\N"]
    assert names_in(svg(chain(*labels))) == labels


def test_a_colon_is_part_of_a_name_and_no_port() -> None:
    """Report G53."""
    nodes = tuple(NodeShape(path, path) for path in ("agent::plan", "'B::C'", "A", "A:n"))
    edges = (EdgeShape("agent::plan", "'B::C'"), EdgeShape("A:n", "A"))
    text = svg(Shape("ports", nodes, edges, {}))
    assert sorted(names_in(text)) == sorted(each.path for each in nodes)
    assert len(groups(text, "edge")) == 2


def test_angle_brackets_are_text() -> None:
    """Report G54."""
    labels = ["<lambda>", "<lambda> <map>", "<b>x</b>", "<", ">", "<>", "<<B>x</B>>"]
    text = svg(chain(*labels))
    assert names_in(text) == labels
    assert len(groups(text, "edge")) == len(labels) + 1


def test_text_of_any_script_is_whole_and_has_room() -> None:
    """Report G55."""
    labels = ["承認", "Проверка", "محمد", "✅", "e\u0301", "처리 중인 환불 요청"]
    text = svg(chain(*labels))
    assert names_in(text) == labels
    for group in groups(text, "node"):
        outline = group.find(f"{SVG}path")
        assert outline is not None
        inner = re.match(r"M[-\d.]+,[-\d.]+h([\d.]+)", outline.get("d") or "")
        if inner is None:  # where the graph begins and ends
            continue
        name = group.findtext(f"{SVG}text") or ""
        wide = sum(13.0 if ord(letter) > 0x2E80 else 6.0 for letter in name)
        assert float(inner[1]) + 24 >= 0.8 * wide


def test_a_picture_stands_on_a_ground_of_its_own_and_marks_differ_in_shape() -> None:
    """Report G56, in a saved file."""
    marks = ("running", "done", "waiting", "failed")
    text = Drawing(chain(*marks)).svg
    plate = ElementTree.fromstring(text)[0]
    assert plate.get("fill") == "#fff"
    assert not re.search(r"var\(|<style", text)


def test_a_huge_graph_is_given_up_after_a_while_and_the_process_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Report G57."""
    monkeypatch.setattr(layout, "TIME_LIMIT", 0.2)
    throw = random.Random(1)
    nodes = tuple(NodeShape(f"n{at}", f"n{at}") for at in range(2_000))
    edges = tuple(
        EdgeShape(f"n{throw.randrange(2_000)}", f"n{throw.randrange(2_000)}") for _ in range(3_000)
    )
    shape = Shape("huge", nodes, edges, {})
    with pytest.raises(DrawingError, match=r"took longer than 0\.2 s"):
        svg(shape)
    view = GraphView(shape)
    view.drawn.wait()
    assert view.svg == ""
    assert "took longer" in view.label
    view.show({"n1": "done"}, {})


def test_no_id_stands_twice_on_a_page_as_there_is_none() -> None:
    """Report G58."""
    page = "".join(svg(shape) for shape in (chain("a", "b"), chain("a", "b"), tree(9)))
    assert re.search(r"\bid=", page) is None
    assert "url(#" not in page


def test_many_steps_send_few_and_small_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Report G59."""
    labels = [f"n{at}" for at in range(30)]
    view = GraphView(chain(*labels))
    sent: list[str] = []
    monkeypatch.setattr(view, "send", lambda content, *_: sent.append(repr(content)))
    for step in range(500):
        marks = {f"path{at}": "done" for at in range(step % 30)}
        view.show({**marks, f"path{step % 30}": "running"}, {})  # type: ignore[arg-type]
    assert len(sent) <= 500
    assert max(map(len, sent)) <= 2_000
    assert not any("<svg" in each for each in sent)


def test_a_panel_that_ran_keeps_one_picture() -> None:
    panel = Panel(counting(), "t", {})
    panel.session.settle()
    found: list[ipywidgets.Widget] = []

    def walk(widget: ipywidgets.Widget) -> None:
        found.append(widget)
        for child in getattr(widget, "children", ()):
            walk(child)

    walk(panel)
    assert len([each for each in found if isinstance(each, GraphView)]) == 1
