"""The panel without a front end: everything that a click does can be done in Python."""

from __future__ import annotations

import threading
from collections.abc import Callable

import ipywidgets
import pytest
from pydantic import BaseModel, Field

from nbgraph import (
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    Panel,
    Session,
    compare,
    interrupt,
    node,
    open_session,
    when,
)
from nbgraph.snapshot import Snapshot


class Refund(BaseState):
    amount: float = 0.0
    paid: float = 0.0
    letter: str = ""


class Decision(BaseModel):
    approve: bool = Field(title="Pay back")
    reason: str = Field(min_length=3, title="Reason")


@node
def price(state: Refund) -> dict:
    return {"amount": state.amount}


@node
def confirm(state: Refund) -> dict:
    answer = interrupt(id="decision", message="May we?", response_schema=Decision)
    return {"letter": answer.reason, "paid": state.amount if answer.approve else 0.0}


@node
def pay(state: Refund) -> dict:
    return {}


@node
def decline(state: Refund) -> dict:
    return {}


def desk(store: InMemoryStateStore | None = None) -> Graph:
    return Graph(Refund, name="desk", state_store=store or InMemoryStateStore()).flow(
        START >> price >> confirm,
        confirm >> when(lambda state: state.paid > 0, pay, otherwise=decline),
        pay >> END,
        decline >> END,
    )


KEY = "confirm:decision"
YES = {"approve": True, "reason": "broken"}
NO = {"approve": False, "reason": "used"}


def paused(store: InMemoryStateStore | None = None, thread_id: str = "t") -> Panel:
    panel = Panel(desk(store), thread_id, {"amount": 5})
    panel.session.settle()
    return panel


def answer(panel: Panel, value: dict) -> bool:
    form = panel.forms[KEY]
    form.value = value
    return form.submit()


def found(widget: ipywidgets.Widget, css_class: str) -> list[ipywidgets.Widget]:
    own = [widget] if css_class in getattr(widget, "_dom_classes", ()) else []
    children = getattr(widget, "children", ())
    return own + [each for child in children for each in found(child, css_class)]


def texts(widget: ipywidgets.Widget) -> str:
    own = [str(getattr(widget, name, "")) for name in ("value", "description")]
    return " ".join([*own, *map(texts, getattr(widget, "children", ()))])


def rows_of(widget: ipywidgets.Widget) -> list[str]:
    return [" ".join(texts(each).split()) for each in widget.children]


def press(panel: Panel, css_class: str) -> None:
    (button,) = found(panel, css_class)
    button.click()


def shown(panel: Panel) -> str:
    assert panel.forms is not None  # draws what is new
    return texts(panel)


def wait_for(panel: Panel, condition: Callable[[Snapshot], bool]) -> None:
    met = threading.Event()
    stop = panel.session.watch(lambda snapshot: met.set() if condition(snapshot) else None)
    assert met.wait(60)
    stop()


def test_a_new_thread_is_started_from_the_form_of_its_state():
    panel = Panel(desk(), "t")
    (form,) = found(panel, "nbgraph-form")
    form.value = {"amount": 12.5}
    assert form.submit()
    panel.session.settle()
    assert (list(panel.forms), panel.session.state["amount"]) == ([KEY], 12.5)


def test_a_pending_question_is_a_form_with_its_message_and_key():
    panel = paused()
    assert "May we?" in shown(panel)
    assert "Waiting for you" in shown(panel)
    assert found(panel, "nbgraph-key-confirm-decision") == [panel.forms[KEY]]


def test_a_good_answer_finishes_the_run_and_stays_as_a_record():
    panel = paused()
    assert answer(panel, YES)
    assert panel.session.settle().status == "completed"
    assert panel.forms == {}
    assert "Finished" in shown(panel)
    (record,) = found(panel, "nbgraph-record")
    assert "Pay back Yes Reason broken" in " ".join(texts(record).split())


def test_a_bad_answer_is_shown_at_its_field_and_changes_nothing():
    panel = paused()
    before = panel.session.history()
    assert not answer(panel, {"approve": True, "reason": "ok"})
    assert list(panel.forms[KEY].errors) == ["/reason"]
    assert panel.session.history() == before


def test_an_answer_is_sent_once_however_often_it_is_submitted():
    panel = paused()
    form = panel.forms[KEY]
    form.value = YES
    assert [form.submit(), form.submit()] == [True, False]
    panel.session.settle()
    assert [each.type for each in panel.session.history()].count("answers_given") == 1


def test_a_form_of_an_answered_question_says_who_was_first():
    store = InMemoryStateStore()
    first, second = paused(store), Panel(desk(store), "t")
    late = second.forms[KEY]
    answer(first, YES)
    first.session.settle()
    late.value = NO
    late.submit()
    with pytest.raises(Exception, match="answered 'confirm:decision' first"):
        second.session.settle()
    assert second.session.state["letter"] == "broken"
    assert second.forms == {}


def test_a_held_button_says_why_and_does_nothing():
    panel = paused()
    before = panel.session.history()
    press(panel, "nbgraph-step")
    (why,) = [each for each in found(panel, "nbgraph-why") if each.value]
    assert why.value == "Step waits for your answer"
    assert panel.session.history() == before


def test_fork_asks_the_same_question_on_a_branch_and_both_ends_are_compared():
    panel = paused()
    answer(panel, YES)
    panel.session.settle()
    press(panel, "nbgraph-fork")
    assert panel.session.branch_id != "main"
    assert list(panel.forms) == [KEY]
    answer(panel, NO)
    panel.session.settle()
    difference = texts(*found(panel, "nbgraph-diff")) if shown(panel) else ""
    assert all(part in difference for part in ("/paid", "5.0", "0.0", '"broken"', '"used"'))


def test_answer_differently_forks_before_the_answer_it_stands_at():
    panel = paused()
    answer(panel, YES)
    panel.session.settle()
    assert shown(panel)
    press(panel, "nbgraph-again")
    assert (panel.session.status, list(panel.forms)) == ("interrupted", [KEY])


def test_a_branch_is_chosen_in_the_toolbar():
    panel = paused()
    main = panel.session.branch_id
    forked = panel.fork(name="other").branch_id
    (chooser,) = found(panel, "nbgraph-branch")
    assert [value for _, value in chooser.options] == [main, forked]
    chooser.value = main
    assert panel.session.branch_id == main


def test_a_panel_made_again_on_the_store_shows_the_pending_form():
    store = InMemoryStateStore()
    paused(store)
    again = Panel(desk(store), "t")
    assert list(again.forms) == [KEY]
    answer(again, YES)
    assert again.session.settle().data["paid"] == 5.0


def test_a_failure_is_a_card_with_its_traceback_and_retry_goes_on():
    tries = []

    @node
    def shaky(state: Refund) -> dict:
        tries.append(1)
        if len(tries) == 1:
            raise TimeoutError("no reply in 0.5 s")
        return {"letter": "sent"}

    graph = Graph(Refund, state_store=InMemoryStateStore()).flow(START >> shaky >> END)
    panel = Panel(graph, "t", {"amount": 1})
    with pytest.raises(TimeoutError):
        panel.session.settle()
    (card,) = found(panel, "nbgraph-failure") if shown(panel) else ()
    assert "shaky failed: no reply in 0.5 s" in texts(card)
    assert "TimeoutError" in texts(card)
    assert "in shaky" in texts(card)
    press(panel, "nbgraph-retry")
    assert panel.session.settle().data["letter"] == "sent"


def test_start_again_shows_the_form_of_another_turn():
    panel = paused()
    answer(panel, YES)
    panel.session.settle()
    assert found(panel, "nbgraph-form") == [] if shown(panel) else False
    press(panel, "nbgraph-start")
    assert len(found(panel, "nbgraph-form")) == 1


def test_another_turn_before_the_end_of_one_is_asked_about_first():
    graph = Graph(
        Refund, name="desk", state_store=InMemoryStateStore(), interrupt_before=["pay"]
    ).flow(START >> price >> pay >> END)
    panel = Panel(graph, "t", {"amount": 1})
    panel.session.settle()
    assert "Start again" in shown(panel)
    assert "nbgraph-gone" not in found(panel, "nbgraph-start")[0]._dom_classes
    press(panel, "nbgraph-start")
    assert "This turn has not ended: pay would run next." in shown(panel)
    press(panel, "nbgraph-keep-turn")
    assert found(panel, "nbgraph-form") == []
    assert panel.session.snapshot.position.runnable
    press(panel, "nbgraph-start")
    (form,) = found(panel, "nbgraph-form")
    form.value = {"amount": 7}
    assert form.submit()
    panel.session.settle()
    assert panel.session.state["amount"] == 7
    assert "has not ended" not in shown(panel)


def test_going_on_with_a_turn_takes_the_question_about_another_one_away():
    graph = Graph(
        Refund, name="desk", state_store=InMemoryStateStore(), interrupt_before=["pay"]
    ).flow(START >> price >> pay >> END)
    panel = Panel(graph, "t", {"amount": 1})
    panel.session.settle()
    shown(panel)
    press(panel, "nbgraph-start")
    panel.session.proceed().result()
    assert "has not ended" not in shown(panel)
    assert found(panel, "nbgraph-form") == []


def test_a_graph_without_a_store_is_kept_in_memory_and_the_panel_says_so():
    graph = Graph(Refund, name="desk").flow(START >> price >> END)
    panel = Panel(graph, input={"amount": 1})
    assert panel.session.settle().status == "completed"
    assert "Kept in memory only" in shown(panel)


def test_a_closed_panel_lets_its_session_go_on():
    panel = paused()
    session = panel.session
    panel.close()
    session.resume({KEY: YES}).result()
    assert session.status == "completed"


def test_a_drawing_that_broke_off_is_drawn_again(monkeypatch):
    panel = paused()
    broken = ["the inspector"]
    show = panel._inspector.show

    def breaks(session: Session) -> None:
        if broken:
            raise LookupError(broken.pop())
        show(session)

    with panel._painter.lock:  # no other thread draws
        assert answer(panel, YES)
        panel.session.settle()
        monkeypatch.setattr(panel._inspector, "show", breaks)
        with pytest.raises(LookupError, match="the inspector"):
            panel._now()
        panel._now()
        assert panel._drawn is panel.session.snapshot


def test_pausing_ends_the_run_when_its_superstep_is_finished():
    entered, go_on = threading.Event(), threading.Event()

    @node
    def slow(state: Refund) -> dict:
        entered.set()
        go_on.wait(60)
        return {"letter": "slow"}

    graph = Graph(Refund, state_store=InMemoryStateStore()).flow(START >> slow >> price >> END)
    panel = Panel(graph, "t", {"amount": 1})
    assert entered.wait(60)
    assert "Running" in shown(panel)
    press(panel, "nbgraph-pause")
    assert "Pauses when this superstep is finished." in shown(panel)
    go_on.set()
    assert panel.session.settle().status == "interrupted"
    assert panel.session.next == ("price",)
    assert "Paused before price" in shown(panel)
    assert "Pauses when" not in shown(panel)


def test_compare_shows_two_sessions_and_how_their_states_differ():
    panel = paused()
    other = panel.session.fork(name="other")
    panel.session.resume({KEY: YES}).result()
    other.resume({KEY: NO}).result()
    both = compare(panel.session, other)
    assert [each.path for each in both.comparison.differences] == ["/paid", "/letter"]
    assert "main" in texts(both)
    assert "other" in texts(both)


def test_a_comparison_says_where_two_branches_part_and_marks_what_is_not_the_same():
    panel = paused()
    other = panel.session.fork(name="other")
    panel.session.resume({KEY: YES}).result()
    other.resume({KEY: NO}).result()
    both = compare(panel.session, other)
    said = texts(both)
    assert "≠ differs. The same up to superstep 1." in said
    assert all(part in said for part in ("≠ Pay back", "≠ Reason", "└───●───●"))
    nodes = both._sides[0]._graph.get_state()["status"]["nodes"]
    assert {name for name, state in nodes.items() if state[2]} == {"confirm", "pay", "decline"}


def test_a_comparison_shows_only_what_differs_or_all_paths():
    panel = paused()
    other = panel.session.fork(name="other")
    panel.session.resume({KEY: YES}).result()
    other.resume({KEY: NO}).result()
    both = compare(panel.session, other)
    (table,), (only,) = found(both, "nbgraph-diff"), found(both, "nbgraph-only-differing")
    assert (only.description, only.value) == ("Only what differs", True)
    differing = ["~ /paid 5.0 0.0", '~ /letter "broken" "used"']
    assert rows_of(table) == ["path main other", *differing]
    only.value = False
    assert rows_of(table) == ["path main other", "= /amount 5.0 the same", *differing]
    assert [each.model_id for each in found(both, "nbgraph-only-differing")] == [only.model_id]
    only.value = True
    assert rows_of(table) == ["path main other", *differing]


def test_a_fork_in_a_panel_shows_all_paths_on_request_and_keeps_to_it():
    panel = paused()
    panel.session.resume({KEY: YES}).result()
    panel.fork(name="other")
    assert shown(panel)
    (only,) = found(panel, "nbgraph-only-differing")
    only.value = False
    panel.session.resume({KEY: NO}).result()
    assert shown(panel)
    (table,) = found(panel, "nbgraph-diff")
    assert "= /amount 5.0 the same" in rows_of(table)


def test_any_two_branches_of_the_thread_are_compared():
    panel = paused()
    other = panel.session.fork(name="other")
    third = panel.session.fork(name="third")
    third.resume({KEY: NO}).result()
    both = compare(panel.session, other)
    first, second = found(both, "nbgraph-with")
    assert [name for _, name in first.options] == ["main", "other", "third"]
    second.value = "third"
    both._painter.now()
    assert [session.branch_id for session in both.sessions] == ["main", "third"]
    assert "/letter" in [each.path for each in both.comparison.differences]
    (name,) = [each for each in found(both, "link") if each.description == "other"]
    name.click()
    both._painter.now()
    assert [session.branch_id for session in both.sessions] == ["main", "other"]
    assert both.comparison.differences == ()


def test_the_branches_of_a_panel_are_a_tree_in_which_one_is_chosen():
    panel = paused()
    panel.fork(name="other")
    assert "└───◆" in shown(panel)
    (name,) = [each for each in found(panel, "link") if each.description == "main"]
    name.click()
    assert panel.session.branch_id == "main"


def test_a_session_can_be_shown_in_a_panel():
    session = open_session(desk(), "t")
    session.start({"amount": 5}).result()
    assert list(Panel(session).forms) == [KEY]
