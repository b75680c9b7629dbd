"""The timeline without a front end: every step can be looked at, compared and forked from."""

from __future__ import annotations

from typing import Annotated, Any

import ipywidgets
import pytest
from pydantic import Field

from nbgraph import (
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    Panel,
    Timeline,
    add,
    interrupt,
    node,
    open_session,
)
from nbgraph.notebook.state_view import Tree
from nbgraph.notebook.value_view import ValueView, own_view
from nbgraph.session import Session


class Desk(BaseState):
    order: str = ""
    by: str | None = None
    notes: Annotated[list[str], add] = Field(default_factory=list)


@node
def intake(state: Desk) -> dict:
    return {"order": "A-1042", "notes": ["in $5 and $6"]}


@node
def confirm(state: Desk) -> dict:
    return {"by": interrupt(id="who", message="Who?", response_schema=str), "notes": ["asked"]}


def desk() -> Graph:
    return Graph(Desk, name="desk", state_store=InMemoryStateStore()).flow(
        START >> intake >> confirm >> END
    )


def paused() -> Session:
    session = open_session(desk(), "t")
    session.start({}).result()
    return session


def finished() -> Session:
    session = paused()
    session.resume({"confirm:who": "ops"}, by="Front Desk").result()
    return session


def steps_shown(timeline: Timeline) -> str:
    (where,) = (each for each in found(timeline, "nbgraph-slider"))
    return texts(where)


def test_the_slider_moves_the_state_the_difference_and_the_drawing():
    timeline = Timeline(finished())
    (slider,) = (each for each in _within(timeline) if isinstance(each, ipywidgets.IntSlider))
    assert (timeline.step, slider.value) == (2, 2)
    slider.value = 1
    assert timeline.step == 1
    assert timeline.state == {"order": "A-1042", "by": None, "notes": ["in $5 and $6"]}
    assert timeline.snapshot.marks == {"intake": "done", "confirm": "idle"}
    assert [each.difference.path for each in timeline.changes] == ["/order", "/notes"]
    assert "after 1 of 2" in steps_shown(timeline)
    shown = " ".join(texts(part) for part in found(timeline, "nbgraph-diff"))
    assert "add, by intake" in shown


def test_it_follows_a_run_and_stays_where_a_person_looks():
    session = paused()
    following, staying = Timeline(session), Timeline(session)
    staying.step = 1
    session.resume({"confirm:who": "ops"}).result()
    assert len(following.steps) == len(staying.steps) == 3
    assert (following.step, staying.step) == (2, 1)
    assert following.state["by"] == "ops"


def test_a_row_shows_who_was_asked_and_who_answered():
    timeline = Timeline(finished())
    bars = [each.tooltip for each in found(timeline, "bar")]
    (wait,) = (tip for tip in bars if tip.startswith("waiting for a person"))
    assert "answered by Front Desk" in wait
    assert "answered by Front Desk" in texts(timeline)


def test_a_press_on_a_bar_chooses_its_superstep():
    timeline = Timeline(finished())
    bar = next(each for each in found(timeline, "bar"))
    bar.click()
    assert timeline.step == 1


def test_a_step_is_compared_with_any_other_and_with_a_branch():
    session = finished()
    other = session.fork(at=3, name="other", update={"order": "B-7"})
    timeline = Timeline(session)
    (choice,) = found(timeline, "nbgraph-with")
    names = [name for _, name in choice.options]
    assert names == ["the step before", "start", "after 1", "after 2", "branch other"]
    choice.value = "start"
    assert {each.difference.path for each in timeline.changes} == {"/order", "/by", "/notes"}
    choice.value = "branch other"
    assert [each.words for each in timeline.changes] == ["", "", ""]
    assert other.state["order"] == "B-7"


def test_a_fork_from_a_step_edits_the_state_there_and_leaves_the_thread():
    session = finished()
    before = session.history()
    timeline = Timeline(session)
    timeline.step = 1
    form = timeline.fork()
    assert form.form.value["order"] == "A-1042"
    form.form.value = {**form.form.value, "order": "B-7", "notes": ["edited"]}
    assert form.form.submit()
    assert timeline.branch is not None
    assert timeline.branch.state == {
        "order": "B-7",
        "by": None,
        "notes": ["in $5 and $6", "edited"],
    }
    assert timeline.branch.next == ("confirm",)
    assert timeline.session is timeline.branch
    assert session.history() == before


def test_a_fork_that_is_refused_says_why_and_starts_no_branch():
    class Small(BaseState):
        count: Annotated[int, Field(le=3)] = 0

    @node
    def one(state: Small) -> dict:
        return {"count": 1}

    graph = Graph(Small, state_store=InMemoryStateStore()).flow(START >> one >> END)
    session = open_session(graph, "t")
    session.start({}).result()
    timeline = Timeline(session)
    form = timeline.fork()
    form.form.value = {"count": 9}
    assert not form.form.submit()
    assert timeline.branch is None
    assert graph.sync.branches("t") == []


def test_in_a_panel_a_box_of_the_strip_opens_its_step_and_back_to_now_closes_it():
    session = finished()
    panel = Panel(session)
    (past,) = found(panel, "nbgraph-past")
    assert past.children == ()
    panel._timeline._strip.boxes.choose(1)
    assert "State: start → after 1" in texts(past)
    (back,) = (b for b in _within(past) if getattr(b, "description", "") == "Back to now")
    back.click()
    assert past.children == ()


def test_a_fork_from_a_step_of_a_panel_is_shown_there():
    panel = Panel(finished())
    panel._timeline._strip.boxes.choose(1)
    (button,) = found(panel, "nbgraph-fork-here")
    button.click()
    (form,) = found(panel, "nbgraph-state-form")
    assert form.form.submit()
    assert panel.session.branch_id != "main"
    assert panel.session.next == ("confirm",)


def test_a_long_value_is_folded_until_it_is_shown():
    view = ValueView("long " * 100)
    assert len(texts(view)) < 200
    (link,) = (each for each in _within(view) if isinstance(each, ipywidgets.Button))
    link.click()
    assert "long " * 100 in texts(view)


def test_a_tree_opens_what_is_in_it():
    tree = Tree({"a": {"b": [1, {"c": "deep"}]}, "n": 1})
    (fold,) = found(tree, "nbgraph-fold")
    assert "deep" not in texts(tree).split("▸")[0]
    fold.click()
    assert len(found(tree, "nbgraph-fold")) == 2


def test_a_frame_shows_itself_and_what_stands_in_it_is_never_markup():
    pandas = pytest.importorskip("pandas")
    view = own_view(pandas.DataFrame({"<b>x</b>": ["<script>alert(1)</script>", "$x$"]}))
    assert view is not None
    (output,) = (each for each in _within(view) if isinstance(each, ipywidgets.Output))
    html = output.outputs[0]["data"]["text/html"]
    assert "<script" not in html
    assert "<b>" not in html
    assert html.startswith('<div class="mathjax_ignore">')


def test_a_picture_shows_itself_made_small():
    pillow = pytest.importorskip("PIL.Image")
    view = own_view(pillow.new("CMYK", (2000, 1000)))
    assert view is not None
    (shown,) = (each for each in _within(view) if isinstance(each, ipywidgets.Image))
    assert bytes(shown.value).startswith(b"\x89PNG")
    assert len(shown.value) < 20_000
    assert own_view({"a": 1}) is None


def test_many_tasks_show_those_around_the_chosen_step():
    session = open_session(_chain(60), "t")
    session.start({}).result()
    timeline = Timeline(session)
    assert len(found(timeline, "task")) == 24
    assert "36 earlier tasks not shown" in texts(timeline)
    timeline.step = 1
    assert "36 later tasks not shown" in texts(timeline)


def _chain(length: int) -> Graph:
    def made(number: int) -> Any:
        def step(state: Desk) -> dict:
            return {"notes": [str(number)]}

        step.__name__ = f"step_{number}"
        return node(step)

    path: Any = START
    for number in range(length):
        path = path >> made(number)
    return Graph(Desk, max_steps=100, state_store=InMemoryStateStore()).flow(path >> END)


def _within(widget: Any) -> list[Any]:
    children = list(getattr(widget, "children", ()))
    return children + [each for child in children for each in _within(child)]


def found(widget: Any, css_class: str) -> list[Any]:
    return [
        each
        for each in (widget, *_within(widget))
        if css_class in getattr(each, "_dom_classes", ())
    ]


def texts(widget: Any) -> str:
    own = [str(getattr(widget, name, "")) for name in ("value", "description")]
    return " ".join([*own, *map(texts, getattr(widget, "children", ()))])
