"""The steps of a thread: which there are, what stood there, who wrote what, and when what ran."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import Field

from nbgraph import (
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    Retry,
    add,
    interrupt,
    join,
    node,
    open_session,
    subgraph,
)
from nbgraph.axis import axis
from nbgraph.core.events import TaskFinished
from nbgraph.errors import StateUpdateError
from nbgraph.moments import Moment, changes, moments, writers
from nbgraph.session import Session
from nbgraph.timetable import Span, TaskRow, timetable


class Desk(BaseState):
    order: str = ""
    by: str | None = None
    notes: Annotated[list[str], add] = Field(default_factory=list)


@node
def intake(state: Desk) -> dict:
    return {"order": "A-1042", "notes": ["in"]}


@node
def look_up(state: Desk) -> dict:
    return {"notes": ["found"]}


@node
def confirm(state: Desk) -> dict:
    return {"by": interrupt(id="who", message="Who?", response_schema=str), "notes": ["asked"]}


@node
def decide(state: Desk) -> dict:
    return {"order": ""}


def paused() -> Session:
    graph = Graph(Desk, name="desk", state_store=InMemoryStateStore()).flow(
        START >> intake >> [look_up, confirm], join(look_up, confirm) >> decide >> END
    )
    session = open_session(graph, "t")
    session.start({}).result()
    return session


def finished() -> Session:
    session = paused()
    session.resume({"confirm:who": "ops"}, by="Front Desk").result()
    return session


def test_the_steps_are_the_start_each_superstep_and_now_while_one_is_unfinished():
    session = paused()
    assert [each.name for each in moments(session.history())] == ["start", "after 1", "now"]
    assert moments(session.history())[-1] == Moment(1, len(session.history()), now=True)


def test_the_last_step_of_a_finished_thread_is_at_the_end_of_its_log():
    session = finished()
    found = moments(session.history())
    assert [each.number for each in found] == [0, 1, 2, 3]
    assert found[-1] == Moment(3, len(session.history()))


def test_a_new_thread_has_no_steps():
    assert moments([]) == ()


@pytest.mark.parametrize("turns", [1, 2])
def test_each_step_shows_what_there_was_to_see_then(turns):
    graph = Graph(Desk, state_store=InMemoryStateStore()).flow(START >> intake >> decide >> END)
    session = open_session(graph, "t")
    then = {0: session.snapshot}
    session.watch(lambda snapshot: then.setdefault(snapshot.position.sequence, snapshot))
    for _ in range(turns):
        session.start({}).result()
    for each in moments(session.history())[:-1]:
        seen = session.at(each.sequence)
        assert seen.position == then[each.sequence].position
        assert (seen.marks, seen.taken) == (then[each.sequence].marks, then[each.sequence].taken)
    assert session.at(len(session.history())).position == session.snapshot.position


def test_looking_at_a_step_changes_nothing():
    session = finished()
    before = session.snapshot, session.history()
    assert session.at(3).state["order"] == "A-1042"
    assert session.at(0).status == "new"
    assert (session.snapshot, session.history()) == before


@pytest.mark.parametrize("sequence", [-1, 13, 1000])
def test_an_event_that_is_not_there_is_refused_with_those_that_are(sequence):
    session = finished()
    assert len(session.history()) == 12
    with pytest.raises(StateUpdateError, match=rf"no event {sequence}; its events are 1 to 12"):
        session.at(sequence)


def test_a_step_before_a_sub_graph_ran_does_not_show_what_it_did_later():
    inner = Graph(Desk, name="inner").flow(START >> look_up >> END)
    outer = Graph(Desk, state_store=InMemoryStateStore()).flow(
        START >> intake >> subgraph("desk", inner, share=["notes"]) >> END
    )
    session = open_session(outer, "t")
    session.start({}).result()
    first, last = (session.at(each.sequence).marks for each in moments(session.history())[1:])
    assert (first["desk/look_up"], last["desk/look_up"]) == ("idle", "done")


def test_a_difference_names_who_wrote_a_path_in_the_order_of_tasks_and_the_reducer():
    session = finished()
    events, folding = session.history(), session.driver.folding
    _, before, after, _ = moments(events)
    states = [folding.to_json(session.at(each.sequence).state) for each in (before, after)]
    wrote = writers(events, before.sequence, after.sequence, folding)
    found, same = changes(*states, wrote)
    assert [(each.difference.path, each.words) for each in found] == [
        ("/by", "set by confirm"),
        ("/notes", "add, by look_up, confirm"),
    ]
    assert same == 1


def test_an_edit_and_an_input_are_writers_too():
    session = finished()
    session.edit({"by": "ops"})
    session.start({"order": "B-7"})
    session.settle()
    wrote = writers(session.history(), 12, 14, session.driver.folding)
    assert wrote["order"] == (("the input",), None)
    assert wrote["by"][0][0].endswith("who edited")


def test_the_timetable_has_a_row_for_each_task_with_its_work_and_its_wait():
    events = finished().history()
    rows = {row.task_id: row for row in timetable(events).rows}
    assert [(row.step, row.mark) for row in rows.values()] == [
        (step, "done") for step in (1, 2, 2, 3)
    ]
    asked = rows["confirm"]
    assert [span.kind for span in asked.spans] == ["work", "wait", "work"]
    assert [(each.what, each.by) for each in asked.people] == [
        ("asked", None),
        ("answered", "Front Desk"),
    ]
    again = next(e for e in events if isinstance(e, TaskFinished) and e.task_id == "confirm")
    last = asked.spans[-1]
    assert (last.begin, last.end) == (again.started, again.started + again.duration)


def test_a_wait_that_goes_on_is_drawn_up_to_now():
    events = paused().history()
    (row,) = (
        row
        for row in timetable(events, at=events[-1].created_at + 90).rows
        if row.mark == "waiting"
    )
    assert row.spans[-1].kind == "wait"
    assert row.spent("wait") == pytest.approx(90, abs=5)


def test_a_task_whose_second_question_waits_still_waits():
    @node
    def two(state: Desk) -> dict:
        return {"notes": [interrupt(id="a"), interrupt(id="b")]}

    graph = Graph(Desk, state_store=InMemoryStateStore()).flow(START >> two >> END)
    session = open_session(graph, "t")
    session.start({}).result()
    session.resume({"two:a": "x"}).result()
    assert [row.mark for row in timetable(session.history()).rows] == ["waiting"]


def test_tries_and_failures_are_told():
    tries: list[int] = []

    @node(retry=Retry(attempts=2, wait=0))
    def shaky(state: Desk) -> dict:
        tries.append(1)
        if len(tries) < 4:
            raise TimeoutError("no reply")
        return {}

    graph = Graph(Desk, state_store=InMemoryStateStore()).flow(START >> shaky >> END)
    session = open_session(graph, "t")
    with pytest.raises(TimeoutError):
        session.start({}).result()
    (row,) = timetable(session.history()).rows
    assert (row.mark, row.tries, [span.kind for span in row.spans]) == (
        "failed",
        2,
        ["fail", "fail"],
    )
    session.proceed().result()
    (row,) = timetable(session.history()).rows
    kinds = [span.kind for span in row.spans]
    assert (row.mark, row.tries, kinds) == ("done", 2, ["fail", "fail", "fail", "work"])
    times = [at for span in row.spans for at in (span.begin, span.end)]
    assert times == sorted(times)


def test_the_timetable_is_a_data_frame():
    pytest.importorskip("pandas")
    frame = timetable(finished().history()).to_frame()
    assert list(frame["task"]) == ["intake", "look_up", "confirm", "decide"]
    assert list(frame["by"]) == ["", "", "Front Desk", ""]
    assert frame.loc[2, "waited"] > 0
    assert str(frame["began"].dtype).endswith("UTC]")


def row(*spans: Span) -> TaskRow:
    return TaskRow(1, "a", "a", spans=spans)


def test_a_long_wait_is_cut_on_the_axis_and_work_is_drawn_to_scale():
    line = axis([row(Span("work", 0, 10), Span("wait", 10, 1000), Span("work", 1000, 1010))])
    assert line is not None
    first, cut, second = (
        line.place(b) - line.place(a) for a, b in ((0, 10), (10, 1000), (1000, 1010))
    )
    assert first == pytest.approx(second)
    assert cut == pytest.approx(first / 2)
    assert line.cuts == (1000,)
    assert [line.place(at) for at in (-5, 5000)] == [0, 1]


def test_a_full_axis_cuts_nothing():
    line = axis([row(Span("work", 0, 10), Span("wait", 10, 90))], compact=False)
    assert line is not None
    assert (line.place(10), line.cuts) == (pytest.approx(1 / 9), ())


def test_work_beside_a_wait_is_not_cut():
    line = axis([row(Span("wait", 0, 100)), row(Span("work", 0, 100))])
    assert line is not None
    assert line.cuts == ()


def test_there_is_no_axis_before_anything_ran():
    assert axis([row()]) is None
