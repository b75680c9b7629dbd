"""The form of a question that has an end: it counts down, and nobody answers it afterwards."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from form_parts import inputs, named, parts, words
from pydantic import BaseModel

from nbgraph import (
    DISMISS,
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    Interrupt,
    Panel,
    Resume,
    interrupt,
    node,
)
from nbgraph.core.answers import publish
from nbgraph.core.drafts import Draft
from nbgraph.notebook.form import Form
from nbgraph.notebook.keys import Keys
from nbgraph.notebook.toolbar import Toolbar
from nbgraph.snapshot import Snapshot

ENDS = 4_000_000_000.0


class Refund(BaseModel):
    approve: bool
    note: str = "as agreed"


class State(BaseState):
    answer: Any = None


class Heard(Keys):
    """Notes what a screen reader would say."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)


class Kept:
    """A place with a draft."""

    found = Draft({"note": "half"}, 0.0)

    def keep(self, value: Any, told: Any) -> None: ...

    def forget(self) -> None: ...


def question(**more: Any) -> Interrupt:
    ends: dict[str, Any] = {"expires_at": ENDS, "default": {"approve": False}, "has_default": True}
    return Interrupt(
        key="ask:sum", id="sum", node="ask", task_id="ask", created_at=ENDS - 3600,
        response_schema=publish(Refund), **{**ends, **more},
    )  # fmt: skip


def form_of(**options: Any) -> Form:
    return Form.for_interrupt(question(), **options)


def line(form: Form) -> Any:
    return next(each for each in parts(form) if "nbgraph-deadline" in classes(each))


def classes(widget: Any) -> tuple[str, ...]:
    return getattr(widget, "_dom_classes", ())


def is_locked(form: Form) -> bool:
    held = "nbgraph-held" in named(form, "nbgraph-submit")[0]._dom_classes
    return held and all(each.disabled for each in inputs(form, "Note"))


def test_a_question_that_waits_for_ever_says_nothing_of_an_end() -> None:
    form = Form.for_interrupt(question(expires_at=None))
    assert named(form, "nbgraph-deadline") == []
    assert not form.tick(ENDS + 9)
    assert not is_locked(form)


def test_it_changes_once_a_minute_and_each_second_only_in_the_last_one() -> None:
    form = form_of()
    form.tick(ENDS - 600)
    changes: list[str] = []
    line(form).observe(lambda change: changes.append(change["new"]), names="value")
    for left in range(599, 60, -1):
        form.tick(ENDS - left)
    assert [text.split(",")[0] for text in changes] == [
        f"Expires in {minutes} min" for minutes in range(9, 1, -1)
    ]
    changes.clear()
    for left in range(60, 0, -1):
        form.tick(ENDS - left)
    assert len(changes) == 60
    assert changes[-1].startswith("Expires in 1 s, at ")
    assert changes[-1].endswith("Then the default counts: Approve: No.")


def test_a_screen_reader_hears_it_when_the_last_minute_begins_and_when_it_ends() -> None:
    page = Heard()
    form = form_of(keys=page)
    for left in range(120, -5, -1):
        form.tick(ENDS - left)
    soon, over = page.said
    assert soon.startswith("Expires in 1 min")
    assert over.startswith("Expired at ")
    live = {"nbgraph-live", "nbgraph-status", "nbgraph-summary"}
    assert live.isdisjoint(line(form)._dom_classes)


def test_when_the_time_is_over_the_form_is_only_read() -> None:
    form = form_of()
    sent: list[Any] = []
    form.on_submit(sent.append)
    form.value = {"approve": True, "note": "half"}
    assert not form.tick(ENDS - 1)
    assert form.tick(ENDS)
    assert not form.tick(ENDS + 1)
    assert is_locked(form)
    assert named(form, "nbgraph-over")
    assert "Its time is over" in words(form)
    assert not [text for text in words(form) if text.startswith("After you submit")]
    assert form.submit() is False
    assert form.value == {"approve": True, "note": "half"}
    assert sent == []


@pytest.mark.parametrize("act", ["enable", "value", "switch", "example"])
def test_nothing_opens_it_again(act: str) -> None:
    form = form_of()
    form.tick(ENDS)
    match act:
        case "enable":
            form.enable()
        case "value":
            form.value = {"approve": True}
        case "switch":
            form._switch(as_json=True)
            form._switch(as_json=False)
        case _:
            form._fill_example()
    assert is_locked(form)
    assert form.submit() is False


def test_a_question_whose_time_was_over_before_stands_there_to_be_read() -> None:
    form = Form.for_interrupt(question(expires_at=1.0), draft=Kept())
    assert is_locked(form)
    assert any(text.startswith("Expired at ") for text in words(form))
    assert inputs(form, "Note")[0].value == "half"


def test_the_form_of_a_question_that_stands_alone_has_its_own_keys_and_style() -> None:
    form = form_of()
    assert "nbgraph" in form._dom_classes
    assert any(isinstance(each, Keys) for each in form.children)


# --- in a panel -------------------------------------------------------------------------------


def panel_of(expires: float, **more: Any) -> Panel:
    @node
    def ask(state: State) -> dict[str, Any]:
        return {"answer": interrupt("ok?", id="ok", response_schema=int, expires=expires, **more)}

    graph = Graph(State, state_store=InMemoryStateStore()).flow(START >> ask >> END)
    panel = Panel(graph, "t")
    panel.start({}).result()
    return panel


def button(panel: Panel, name: str) -> Any:
    (found,) = [each for each in parts(panel) if f"nbgraph-{name}" in classes(each)]
    return found


def is_held(panel: Panel, name: str) -> bool:
    return "nbgraph-held" in button(panel, name)._dom_classes


def test_a_panel_goes_on_without_an_answer_when_the_time_is_over() -> None:
    panel = panel_of(-1, default=5)
    form = panel.forms["ask:ok"]
    assert form.submit() is False
    assert not is_held(panel, "continue")
    assert "Expired, not answered" in words(panel)
    assert "Waiting for you" not in words(panel)
    assert "The time for ask:ok is over. Continue goes on without an answer." in words(panel)
    panel.session.proceed().result()
    assert panel.session.state["answer"] == 5
    assert panel.forms == {}
    assert not any("Yours was not sent" in text for text in words(panel))


def test_before_its_time_a_panel_waits_for_the_answer() -> None:
    panel = panel_of(3600, default=5)
    form = panel.forms["ask:ok"]
    assert is_held(panel, "continue")
    assert "Waiting for you" in words(panel)
    form.value = 7
    assert form.submit()
    panel.session.settle()
    assert panel.session.state["answer"] == 7


def test_a_panel_sees_by_itself_when_the_time_runs_out() -> None:
    panel = panel_of(0.5, default=5)
    form = panel.forms["ask:ok"]
    freed = threading.Event()
    button(panel, "continue").observe(lambda _: freed.set(), names="_dom_classes")
    if is_held(panel, "continue"):
        assert freed.wait(60)
    assert is_locked_question(form)


def test_time_that_runs_out_while_it_is_drawn_frees_the_buttons_too(monkeypatch: Any) -> None:
    clock, show = [1e9], Toolbar.show
    monkeypatch.setattr("time.time", lambda: clock[0])

    def shown(toolbar: Toolbar, snapshot: Snapshot, *more: Any) -> None:
        show(toolbar, snapshot, *more)
        if snapshot.pending:
            clock[0] = 1e9 + 3601  # before the form is made

    monkeypatch.setattr(Toolbar, "show", shown)
    panel = panel_of(3600, default=5)
    assert is_locked_question(panel.forms["ask:ok"])
    panel._tick()
    assert not is_held(panel, "continue")
    panel.close()


def is_locked_question(form: Form) -> bool:
    return bool(named(form, "nbgraph-over")) and form.submit() is False


def test_who_dismissed_a_question_is_told_where_it_stood() -> None:
    panel = panel_of(3600, default=5)
    assert set(panel.forms) == {"ask:ok"}
    panel.session.driver.graph.invoke(resume=Resume(DISMISS, by="ops"), thread_id="t")
    panel.session.reload()
    assert panel.forms == {}
    assert any(text.startswith("ops dismissed ask:ok at ") for text in words(panel))
