"""The inbox without a front end: what it reads, shows and records."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from form_parts import named, words
from inbox_parts import (
    Counted,
    Drafted,
    Quiet,
    answer_elsewhere,
    answers_in,
    loans,
    press,
    refunds,
    rows,
    status_of,
    until,
    until_kept,
)

from nbgraph import (
    END,
    START,
    Form,
    Graph,
    Inbox,
    InMemoryStateStore,
    SQLiteStateStore,
    ToolCard,
    interrupt,
    node,
)
from nbgraph.errors import GraphConfigError
from nbgraph.waiting import Wanted


@pytest.fixture
def store() -> InMemoryStateStore:
    return InMemoryStateStore()


def who(inbox: Inbox) -> list[str]:
    return [row["who"] for row in rows(inbox)]


def said(inbox: Inbox) -> str:
    return " ".join(words(inbox))


# --- what it shows --------------------------------------------------------------------------------


def test_it_shows_what_waits_over_all_threads_and_branches_the_oldest_first(store):
    graph = loans(store, "a", "b")
    graph.sync.fork("loan-a", name="again")
    refunds(store, 180.0)
    inbox = Inbox(store)
    shown = [
        (row["who"], row["where"], row["asks"], row["detail"], row["why"]) for row in rows(inbox)
    ]
    asks = "Is the income statement complete?"
    assert shown == [
        ("loan-a", "loans / review · branch again", asks, "name: a", "question"),
        ("loan-a", "loans / review", asks, "name: a", "question"),
        ("loan-b", "loans / review", asks, "name: b", "question"),
        ("r-1", "agent / act", "send_refund", 'order_id="A-1", amount=180.0',
         "tool approval"),
    ]  # fmt: skip
    assert "4 waiting" in said(inbox)


def test_an_empty_store_says_so_and_what_comes_is_shown(store):
    inbox = Inbox(store)
    assert rows(inbox) == []
    assert "Nothing waits for anybody." in said(inbox)
    loans(store, "a")
    until(inbox, lambda: who(inbox) == ["loan-a"])
    assert "Nothing waits" not in said(inbox)


def test_a_page_is_read_and_never_more_than_two_hundred_rows_are_shown(monkeypatch):
    store = Counted()
    loans(store, *map(str, range(60)))
    monkeypatch.setattr("nbgraph.following._MOST", 50)
    inbox = Inbox(store)
    assert (len(rows(inbox)), store.read) == (25, 60 + 26)
    named(inbox, "nbgraph-more")[0].click()
    assert len(rows(inbox)) == 50
    named(inbox, "nbgraph-more")[0].click()
    assert who(inbox) == [f"loan-{n}" for n in range(50, 60)]
    named(inbox, "nbgraph-first")[0].click()
    assert who(inbox) == [f"loan-{n}" for n in range(25)]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted(text="NAME: B"), ["loan-b"]),
        (Wanted(tool="send_refund"), ["r-1"]),
        (Wanted(graph="loans"), ["loan-a", "loan-b"]),
        (Wanted(node="act"), ["r-1"]),
        (Wanted(older=90.0), []),
    ],
    ids=str,
)
def test_filters_leave_out_what_they_do_not_admit_and_are_cleared(store, wanted, found):
    loans(store, "a", "b")
    refunds(store, 1.0)
    inbox = Inbox(store)
    inbox.wanted = wanted
    assert (who(inbox), inbox.wanted) == (found, wanted)
    assert ("No question passes the filter." in said(inbox)) == (not found)
    (clear,) = named(inbox, "nbgraph-clear-filters")
    assert clear.description == "Clear 1 filter"
    clear.click()
    assert who(inbox) == ["loan-a", "loan-b", "r-1"]


def test_the_choices_are_those_there_are_and_the_chosen_one_stays(store):
    loans(store, "a")
    loans(store, "z", graph_name="other")
    inbox = Inbox(store)
    (graphs,) = named(inbox, "nbgraph-by-graph")
    assert graphs.options == ("all graphs (2)", "loans (1)", "other (1)")
    graphs.index = 2
    assert who(inbox) == ["loan-z"]
    (question,) = inbox.questions
    answer_elsewhere(store, question, {"complete": True})
    until(inbox, lambda: not rows(inbox))
    inbox.refresh()
    assert (graphs.options[2], inbox.wanted.graph) == ("other (0)", "other")


def test_alike_questions_stand_together_under_a_heading_that_picks_them(store):
    loans(store, "a")
    refunds(store, 1.0, 2.0)
    loans(store, "b")
    inbox = Inbox(store)
    inbox.group()
    assert [row["who"] or row["asks"] for row in rows(inbox)] == [
        "loans / review × 2", "loan-a", "loan-b", "send_refund × 2", "r-1", "r-2",
    ]  # fmt: skip
    press(inbox, "pick", rows(inbox)[3])
    assert [each.record.thread_id for each in inbox.picked] == ["r-1", "r-2"]
    assert rows(inbox)[3]["is_picked"]
    press(inbox, "pick", rows(inbox)[3])
    assert inbox.picked == ()


# --- one question ---------------------------------------------------------------------------------


def test_a_question_opens_below_its_row_as_its_form_and_its_answer_is_recorded(store):
    loans(store, "a", "b", "c")
    inbox = Inbox(store)
    press(inbox, "open", rows(inbox)[1])
    form = inbox.opened
    assert isinstance(form, Form)
    assert [row["who"] for row in inbox._face.rows.rows] == ["loan-a", "loan-b"]
    assert [row["who"] for row in inbox._face.rest.rows] == ["loan-c"]
    assert "loans is not known here" in said(inbox)
    form.value = {"complete": True, "remark": "x" * 21}
    assert (form.submit(), form.errors) == (False, {"/remark": "20 letters or fewer"})
    form.value = {"complete": True, "remark": None}
    assert form.submit()
    until(inbox, lambda: who(inbox) == ["loan-a", "loan-c"])
    assert answers_in(store, "loan-b") == [{"review:income": {"complete": True, "remark": None}}]
    assert status_of(store)["loan-b"] == "stopped"
    assert inbox.opened is None
    assert len(named(inbox, "nbgraph-record")) == 1


def test_threads_of_a_known_graph_go_on_in_the_background_and_ask_again(store):
    graph = loans(store, "a")
    inbox = Inbox(store, apps=graph)
    form = inbox.look_at(inbox.questions[0])
    assert "After your answer, loans goes on in the background." in said(inbox)
    form.value = {"complete": True}
    form.submit()
    until_kept(store, lambda: status_of(store)["loan-a"] == "completed")


def test_a_tool_call_opens_as_its_card_and_runs_as_it_was_shown(store):
    (agent,) = refunds(store, 180.0)
    inbox = Inbox(store, apps=agent.graph)
    card = inbox.look_at(inbox.questions[0])
    assert isinstance(card, ToolCard)
    assert not named(card, "nbgraph-allow")
    assert card.edit({"amount": 90.0})
    until_kept(store, lambda: status_of(store)["r-1"] == "completed")
    assert agent.ran == [("send_refund", ("A-1", 90.0, False))]
    inbox.refresh()
    assert [record.answer["action"] for record in inbox.records] == ["edit"]


def test_an_open_question_that_is_answered_elsewhere_turns_into_its_record(store):
    loans(store, "a", "b")
    inbox = Inbox(store)
    question = inbox.questions[0]
    form = inbox.look_at(question)
    answer_elsewhere(store, question, {"complete": False})
    until(inbox, lambda: who(inbox) == ["loan-b"])
    assert inbox.opened is None
    assert "loan-a: answered by desk-2 at " in said(inbox)
    assert "answered by desk-2 at " in " ".join(words(named(inbox, "nbgraph-record")[0]))
    form.value = {"complete": True}
    assert form.submit() is False
    assert len(answers_in(store, "loan-a")) == 1


def test_an_answer_that_comes_second_is_told_who_was_first():
    store = Quiet()
    loans(store, "a")
    inbox = Inbox(store)
    question = inbox.questions[0]
    form = inbox.look_at(question)
    form.value = {"complete": True}
    answer_elsewhere(store, question, {"complete": False})
    assert form.submit() is False
    until(inbox, lambda: "loan-a: answered by desk-2 at " in said(inbox))
    assert "answered by desk-2" in " ".join(words(named(inbox, "nbgraph-record")[0]))
    assert len(answers_in(store, "loan-a")) == 1


def test_a_question_whose_thread_is_deleted_while_it_is_open_says_so(store):
    loans(store, "a")
    inbox = Inbox(store)
    inbox.look_at(inbox.questions[0])
    asyncio.run(store.delete("loan-a"))
    until(inbox, lambda: not rows(inbox))
    assert "Its thread is gone from the store." in said(inbox)
    inbox.shut()
    assert not named(inbox, "nbgraph-opened")


def test_what_is_half_filled_in_is_there_again():
    store = Drafted()
    loans(store, "a")
    inbox = Inbox(store)
    form = inbox.look_at(inbox.questions[0])
    form.value = {"complete": True, "remark": "half"}
    assert store.kept.wait(60)
    inbox.shut()
    again = Inbox(store)
    form = again.look_at(again.questions[0])
    assert form.value == {"complete": True, "remark": "half"}


def test_another_question_is_opened_in_place_of_the_one_that_is(store):
    loans(store, "a", "b")
    inbox = Inbox(store)
    press(inbox, "open", rows(inbox)[0])
    first = inbox.opened
    press(inbox, "open", rows(inbox)[1])
    assert [row["act"] for row in rows(inbox)] == ["Open", "Close"]
    assert first.comm is None
    press(inbox, "open", rows(inbox)[1])
    assert (inbox.opened, [row["act"] for row in rows(inbox)]) == (None, ["Open", "Open"])
    press(inbox, "open", rows(inbox)[0])
    press(inbox, "close")
    assert inbox.opened is None


# --- several at once ------------------------------------------------------------------------------


def test_calls_of_one_tool_are_approved_together_and_each_runs_once(store):
    agents = refunds(store, 180.0, 42.5, 12.0)
    inbox = Inbox(store, apps=agents[0].graph)
    for row in rows(inbox)[:2]:
        press(inbox, "pick", row)
    listed = said(inbox)
    assert "Decide 2 calls of send_refund" in listed
    assert 'r-2  send_refund(order_id="A-2", amount=42.5)' in listed
    named(inbox, "nbgraph-approve-all")[0].click()
    until(inbox, lambda: who(inbox) == ["r-3"])
    ids = [inbox_answer["act:approve_c_1"] for inbox_answer in answers_in(store, "r-1")]
    assert [answer["action"] for answer in ids] == ["approve"]
    assert all(len(answer["call_hash"]) == 64 for answer in ids)
    assert inbox.picked == ()
    assert inbox.approve() is False
    assert [len(answers_in(store, f"r-{n}")) for n in (1, 2, 3)] == [1, 1, 0]


def test_calls_are_denied_together_with_one_reason(store):
    refunds(store, 1.0, 2.0)
    inbox = Inbox(store)
    press(inbox, "all")
    assert inbox.deny("Ask for a photo first.")
    until(inbox, lambda: not rows(inbox))
    for number in (1, 2):
        ((answer,),) = [list(each.values()) for each in answers_in(store, f"r-{number}")]
        assert (answer["action"], answer["message"]) == ("deny", "Ask for a photo first.")


def test_one_form_answers_several_and_of_a_late_one_it_is_said_who_was_first():
    store = Quiet()
    loans(store, "a", "b", "c")
    inbox = Inbox(store)
    late = inbox.questions[1]
    inbox.pick(*inbox.questions)
    answer_elsewhere(store, late, {"complete": False})
    assert inbox.answer({"complete": True, "remark": None}) is False
    assert "2 of 3 answers recorded. loan-b: 'desk-2' answered" in said(inbox)
    assert [len(answers_in(store, f"loan-{name}")) for name in "abc"] == [1, 1, 1]
    assert answers_in(store, "loan-b") == [{"review:income": {"complete": False}}]


def test_a_bad_answer_to_one_of_several_stays_at_its_row_and_can_be_given_again(store):
    loans(store, "a", "b")
    inbox = Inbox(store)
    inbox.pick(*inbox.questions)
    first, second = inbox.questions
    found = inbox._give({first: {"complete": True}, second: {"complete": "?"}})
    assert list(found) == [second.address]
    (row,) = rows(inbox)
    assert (row["who"], row["is_picked"]) == ("loan-b", True)
    assert "does not fit" in row["problem"]
    assert "1 of 2 answers recorded. loan-b: The answer to" in said(inbox)
    assert inbox.answer({"complete": True, "remark": None})
    until(inbox, lambda: not rows(inbox))
    assert inbox.problems == {}


def test_only_questions_of_one_kind_are_picked(store):
    loans(store, "a")
    refunds(store, 1.0)
    inbox = Inbox(store)
    press(inbox, "pick", rows(inbox)[1])
    assert [row["held"] for row in rows(inbox)] == [
        "Another kind of question than those picked",
        "",
    ]
    press(inbox, "pick", rows(inbox)[0])
    assert [each.record.thread_id for each in inbox.picked] == ["r-1"]


def held(inbox: Inbox) -> str:
    press(inbox, "all")
    assert inbox.approve() is False
    return inbox._together.held


def test_what_has_to_be_looked_at_alone_is_not_approved_together(store):
    refunds(store, 1.0, 2.0, order_id="A\u200b1")
    inbox = Inbox(store)
    assert (
        held(inbox) == "Part of r-1 and 1 more is hidden, covered or long: open it to approve it."
    )
    assert "nbgraph-held" in named(inbox, "nbgraph-approve-all")[0]._dom_classes
    assert answers_in(store, "r-1") == []


def test_more_than_ten_are_approved_only_with_their_number_typed(store):
    refunds(store, *(float(n) for n in range(1, 12)))
    inbox = Inbox(store)
    assert held(inbox) == "To approve, type 11 in the field above."
    assert inbox.approve(count=10) is False
    assert inbox.approve(count=11)
    until(inbox, lambda: not rows(inbox))


# --- what goes wrong ------------------------------------------------------------------------------


def test_a_run_that_fails_in_the_background_is_told(store):
    @node
    def breaks(state: dict) -> dict:
        interrupt(id="a", response_schema=bool)
        raise ValueError("no ink")

    graph = Graph(dict, name="papers", state_store=store).flow(START >> breaks >> END)
    graph.invoke({}, thread_id="t")
    inbox = Inbox(store, apps=graph)
    form = inbox.look_at(inbox.questions[0])
    form.value = True
    form.submit()
    until(inbox, lambda: "t failed: ValueError: no ink" in said(inbox))
    assert status_of(store)["t"] == "failed"


def test_a_store_that_cannot_be_read_is_said_and_what_was_read_stays(tmp_path):
    store = SQLiteStateStore(tmp_path / "t.db")
    loans(store, "a")
    inbox = Inbox(store)
    form = inbox.look_at(inbox.questions[0])
    store.close()
    inbox.refresh()
    assert "The store could not be read: " in said(inbox)
    assert who(inbox) == ["loan-a"]
    form.value = {"complete": True}
    assert form.submit() is False
    assert "The answer was not recorded: " in said(inbox)


def test_it_takes_a_store_and_graphs(store):
    graph = loans(store)
    with pytest.raises(GraphConfigError, match="got Graph; of a graph pass"):
        Inbox(graph)  # type: ignore[arg-type] - what is tested
    with pytest.raises(GraphConfigError, match="apps lists graphs of nbgraph, got object"):
        Inbox(store, apps=[object()])  # type: ignore[list-item] - what is tested


def test_a_closed_inbox_does_not_follow_the_store(store):
    inbox = Inbox(store)
    inbox.close()
    loans(store, "a")
    inbox._painter.now()
    assert inbox.questions == ()


# --- answered -------------------------------------------------------------------------------------


def test_what_was_answered_here_and_elsewhere_is_listed_with_who_and_when(store):
    loans(store, "a")
    refunds(store, 180.0)
    inbox = Inbox(store)
    first, second = inbox.questions
    answer_elsewhere(store, first, {"complete": True, "remark": "fine"})
    inbox.look_at(second).deny("No photo.")
    until(inbox, lambda: len(inbox.records) == 2)
    inbox._face.filters.shows_answered = True
    found: list[Any] = sorted((row["who"], row["why"], row["mark"]) for row in rows(inbox))
    assert found == [("loan-a", "answered", "done"), ("r-1", "denied", "failed")]
    assert {row["since"] for row in rows(inbox)} > {"by desk-2"}
    assert all(row["held"] for row in rows(inbox))


# --- without a kernel -----------------------------------------------------------------------------


def test_a_table_stays_in_a_saved_notebook(store, monkeypatch):
    loans(store, "<b>$x$</b>")
    refunds(store, 180.0)
    monkeypatch.setenv("NBGRAPH_UNATTENDED", "1")
    bundle = Inbox(store)._repr_mimebundle_()
    assert list(bundle) == ["text/html", "text/plain"]
    assert bundle["text/plain"] == (
        "Inbox: 2 waiting\n"
        "  loan-<b>$x$</b>  loans / review  Is the income statement complete?  name: <b>$x$</b>\n"
        "  r-1              agent / act     send_refund                      "
        '  order_id="A-1", amount=180.0'
    )
    assert "<b>" not in bundle["text/html"]
    assert "<bdi>loan-&lt;b&gt;$x$&lt;/b&gt;</bdi></pre>" in bundle["text/html"]
    assert Inbox(InMemoryStateStore())._repr_mimebundle_()["text/plain"] == "Inbox: 0 waiting"


def test_with_a_front_end_it_is_a_widget_and_the_table_stands_beside_it(store):
    loans(store, "a")
    inbox = Inbox(store)
    assert "application/vnd.jupyter.widget-view+json" in inbox._repr_mimebundle_()
    assert inbox._still()["text/plain"].startswith("Inbox: 1 waiting\n  loan-a")
