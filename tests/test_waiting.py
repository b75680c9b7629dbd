"""The questions of a store as a list: pages, filters, counts, and answers to many at once."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from nbgraph import END, START, Graph, InMemoryStateStore, Resume, SQLiteStateStore, interrupt, node
from nbgraph.core.fold import fold
from nbgraph.errors import (
    AlreadyAnsweredError,
    AnswerError,
    GraphConfigError,
    ResumeError,
    StaleAnswerError,
    UnknownThreadError,
)
from nbgraph.replies import Replies, graphs_by_name
from nbgraph.waiting import Question, Wanted, answer_to, look, survey


@node
def sign(state: dict) -> dict:
    asked = interrupt(
        {"paper": state["paper"]},
        id="paper",
        message=f"Sign {state['paper']}?",
        response_schema=bool,
    )
    return {"signed": asked}


def desk(store: Any, *papers: str, name: str = "papers") -> Graph:
    graph = Graph(dict, name=name, state_store=store).flow(START >> sign >> END)
    for paper in papers:
        graph.invoke({"paper": paper}, thread_id=f"{name}-{paper}")
    return graph


class Counted(InMemoryStateStore):
    """Counts the questions it hands out."""

    read = 0

    async def pending(self, **given: Any) -> Any:
        found = await super().pending(**given)
        self.read += len(found)
        return found


def read(store: Any, wanted: Wanted | None = None, *, size: int = 25, **more: Any) -> Any:
    return asyncio.run(look(store, wanted or Wanted(), size=size, now=2e9, **more))


def threads(page: Any) -> list[str]:
    return [each.record.thread_id for each in page.questions]


def test_a_page_reads_one_question_more_than_it_shows_and_a_later_one_goes_on_after_it():
    store = Counted()
    desk(store, *map(str, range(30)))
    page = read(store, size=10)
    assert (len(page.questions), page.has_more, store.read) == (10, True, 11)
    rest = read(store, size=25, after=page.place)
    assert (threads(page) + threads(rest), rest.has_more) == (
        [f"papers-{n}" for n in range(30)],
        False,
    )


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted(text="LEASE"), ["papers-lease", "other-lease"]),
        (Wanted(text="sign voice"), ["papers-invoice"]),
        (Wanted(text="papers-l"), ["papers-lease"]),
        (Wanted(text="<b>"), []),
        (Wanted(graph="other"), ["other-lease"]),
        (Wanted(node="sign"), ["papers-lease", "papers-invoice", "other-lease"]),
        (Wanted(node="pay"), []),
        (Wanted(tool="pay"), []),
        (Wanted(older=1e12), []),
    ],
    ids=str,
)
def test_a_filter_admits(wanted, found):
    store = InMemoryStateStore()
    desk(store, "lease", "invoice")
    desk(store, "lease", name="other")
    assert threads(read(store, wanted)) == found


def test_a_filter_that_nothing_passes_gives_up_and_can_go_on(monkeypatch):
    monkeypatch.setattr("nbgraph.waiting._MOST", 4)
    monkeypatch.setattr("nbgraph.waiting._STEP", 2)
    store = Counted()
    desk(store, "a", "b", "c", "d", "e", "rare")
    page = read(store, Wanted(text="rare"))
    assert (page.questions, page.has_more, page.looked) == ((), True, 4)
    rest = read(store, Wanted(text="rare"), after=page.place)
    assert (threads(rest), rest.has_more) == (["papers-rare"], False)
    assert store.read == 6


def test_a_survey_counts_up_to_a_thousand(monkeypatch):
    store = InMemoryStateStore()
    assert asyncio.run(survey(store)).waiting == "0 waiting"
    desk(store, "lease", "invoice")
    desk(store, "lease", name="other")
    found = asyncio.run(survey(store))
    assert (found.waiting, dict(found.graphs)) == ("3 waiting", {"papers": 2, "other": 1})
    monkeypatch.setattr("nbgraph.waiting._COUNTED", 2)
    assert asyncio.run(survey(store)).waiting == "2+ waiting"


# --- answers --------------------------------------------------------------------------------------


class Told:
    """What failed in the background, and when."""

    def __init__(self) -> None:
        self.errors: list[tuple[str, BaseException]] = []
        self.came = threading.Event()

    def __call__(self, thread_id: str, error: BaseException) -> None:
        self.errors.append((thread_id, error))
        self.came.set()


def replies(store: Any, apps: Any = None) -> tuple[Replies, Told]:
    told = Told()
    return Replies(store, graphs_by_name(apps), None, told), told


def questions(store: Any) -> dict[str, Question]:
    return {each.record.thread_id: each for each in read(store).questions}


def answers_in(store: Any, thread_id: str) -> list[Any]:
    events = asyncio.run(store.events(thread_id))
    return [event.answers for event in events if event.type == "answers_given"]


def test_bad_and_late_answers_stay_with_their_error_and_the_others_are_recorded():
    store = InMemoryStateStore()
    desk(store, "lease", "invoice", "letter")
    asked = questions(store)
    sender, _ = replies(store)
    assert sender.send({asked["papers-invoice"]: False}) == {}
    found = sender.send({
        asked["papers-lease"]: True,
        asked["papers-invoice"]: True,
        asked["papers-letter"]: "perhaps",
    })
    kinds = {address[0]: type(error) for address, error in found.items()}
    assert kinds == {"papers-invoice": AlreadyAnsweredError, "papers-letter": AnswerError}
    assert {name: answers_in(store, name) for name in asked} == {
        "papers-lease": [{"sign:paper": True}],
        "papers-invoice": [{"sign:paper": False}],
        "papers-letter": [],
    }


def test_a_thread_of_a_known_graph_goes_on_and_another_waits_for_whoever_runs_it(tmp_path):
    store = SQLiteStateStore(tmp_path / "t.db")
    graph = desk(store, "lease")
    other = desk(store, "lease", name="other")
    asked = questions(store)
    sender, _ = replies(store, graph)
    assert (sender.knows("papers"), sender.knows("other")) == (True, False)
    done = threading.Event()

    def look_at() -> None:
        status = {each.thread_id: each.status for each in listed()}
        if status["papers-lease"] == "completed":
            done.set()

    def listed() -> Any:
        return asyncio.run(store.threads())

    stop = store.watch(look_at, every=0.01)
    assert sender.send(dict.fromkeys(asked.values(), True)) == {}
    assert done.wait(60)
    stop()
    status = {each.thread_id: each.status for each in listed()}
    assert status == {"papers-lease": "completed", "other-lease": "stopped"}
    assert other.invoke(None, thread_id="other-lease").data["signed"] is True
    store.close()


def test_two_questions_of_a_thread_are_recorded_together_and_a_bad_one_does_not_hold_the_other():
    @node
    def both(state: dict) -> dict:
        interrupt(id="a", response_schema=bool)
        return {}

    @node
    def other(state: dict) -> dict:
        interrupt(id="b", response_schema=bool)
        return {}

    store = InMemoryStateStore()
    graph = Graph(dict, name="two", state_store=store).flow(
        START >> [both, other], both >> END, other >> END
    )
    graph.invoke({}, thread_id="t")
    asked = {each.record.interrupt.key: each for each in read(store).questions}
    sender, _ = replies(store)
    (problem,) = sender.send({asked["both:a"]: True, asked["other:b"]: "?"}).values()
    assert isinstance(problem, AnswerError)
    assert answers_in(store, "t") == [{"both:a": True}]
    assert sender.send({asked["other:b"]: True}) == {}


def test_an_answer_to_an_older_asking_is_refused():
    @node
    def twice(state: dict) -> dict:
        return {"first": interrupt(id="a", response_schema=str)}

    store = InMemoryStateStore()
    graph = Graph(dict, name="two", state_store=store).flow(START >> twice, twice >> END)
    graph.invoke({}, thread_id="t")
    (old,) = read(store).questions
    graph.invoke(None, thread_id="t", resume=Resume("x"))
    graph.invoke({}, thread_id="t")
    sender, _ = replies(store)
    (problem,) = sender.send({old: "late"}).values()
    assert isinstance(problem, StaleAnswerError | AlreadyAnsweredError)
    assert len(answers_in(store, "t")) == 1


def test_what_ends_a_run_in_the_background_is_told():
    @node
    def breaks(state: dict) -> dict:
        interrupt(id="a", response_schema=bool)
        raise ValueError("no ink")

    store = InMemoryStateStore()
    graph = Graph(dict, name="papers", state_store=store).flow(START >> breaks >> END)
    graph.invoke({}, thread_id="t")
    sender, told = replies(store, [graph])
    assert sender.send(dict.fromkeys(read(store).questions, True)) == {}
    assert told.came.wait(60)
    ((thread_id, error),) = told.errors
    assert (thread_id, repr(error)) == ("t", "ValueError('no ink')")


def test_a_thread_that_may_be_running_is_taken_over_by_the_second_try():
    store = InMemoryStateStore()
    graph = desk(store, "lease")
    events = [e for e in asyncio.run(store.events("papers-lease")) if e.type != "run_paused"]
    other = InMemoryStateStore()
    summary = fold(events, graph.schema).summary("papers")
    asyncio.run(other.append("papers-lease", "main", events, expected=0, summary=summary))
    asked = dict.fromkeys(read(other).questions, True)
    sender, _ = replies(other)
    (problem,) = sender.send(asked).values()
    assert type(problem) is ResumeError
    assert sender.send(asked) == {}


def test_who_answered_is_found_and_a_deleted_thread_is_told():
    store = InMemoryStateStore()
    desk(store, "lease")
    (asked,) = read(store).questions
    assert asyncio.run(answer_to(store, asked)) is None
    replies(store)[0].send({asked: True})
    record = asyncio.run(answer_to(store, asked))
    assert record is not None
    assert (record.answer, record.interrupt) == (True, asked.record.interrupt)
    asyncio.run(store.delete("papers-lease"))
    with pytest.raises(UnknownThreadError):
        asyncio.run(answer_to(store, asked))


def test_apps_are_graphs_with_names_of_their_own():
    store = InMemoryStateStore()
    graph = desk(store)
    assert graphs_by_name(graph) == graphs_by_name([graph]) == {"papers": graph}
    assert graphs_by_name({"old name": graph}) == {"old name": graph}
    with pytest.raises(GraphConfigError, match="Two of the apps are named 'papers'"):
        graphs_by_name([graph, desk(store)])
    with pytest.raises(GraphConfigError, match="got int; a graph of another engine keeps"):
        graphs_by_name([3])  # type: ignore[list-item] - what is tested
