"""What the boxes of a timeline's strip say."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from nbgraph import (
    ASK_AGAIN,
    DISMISS,
    END,
    START,
    Command,
    Graph,
    InMemoryStateStore,
    NodeCache,
    Retry,
    Send,
    branch,
    interrupt,
    join,
    node,
    open_session,
    words,
)
from nbgraph.boxes import Box, boxes
from nbgraph.core.driver import Shape
from nbgraph.session import Session
from nbgraph.snapshot import Snapshot


def says(name: str) -> Any:
    @node(name=name)
    def write(state: dict) -> dict:
        return {name: 1}

    return write


@node
def ask(state: dict) -> dict:
    return {"answer": interrupt(id="it", message="What?", default="none")}


def session_of(*ways: Any, **options: Any) -> Session:
    return open_session(Graph(dict, state_store=InMemoryStateStore(), **options).flow(*ways), "t")


def shown(session: Session, now: float | None = None) -> tuple[Box, ...]:
    snapshot = session.snapshot
    return boxes(snapshot, session.driver.shape, now or snapshot.ended, most=40)


def without_times(found: tuple[Box, ...]) -> list[tuple[int, str, list[tuple[str, str]], str]]:
    return [
        (box.number, box.head, [(mark, said.split(" ")[0]) for mark, said in box.tasks], box.look)
        for box in found
    ]


def test_a_finished_thread_has_a_box_for_each_superstep_with_how_long_its_tasks_took():
    session = session_of(START >> says("a") >> says("b") >> END)
    session.start({}).result()
    (first, second) = shown(session)
    assert first.head == "1"
    assert first.look == second.look == "done"
    (task,) = first.tasks
    assert task[0] == "done"
    assert task[1].startswith("a ")
    assert task[1].endswith("ms")


def test_what_waits_stands_in_the_box_of_now_with_how_long_and_what_surely_follows_after_it():
    session = session_of(START >> ask >> says("pay") >> END, interrupt_before=["pay"])
    session.start({}).result()
    asked = session.pending["ask:it"].created_at
    assert shown(session, asked + 125) == (
        Box(1, "1, now", (("waiting", "ask 2 min"),), "now waiting"),
        Box(2, "2, next", (("break", "pay"),), "next ahead"),
    )
    assert shown(session, asked + 5)[0].tasks == (("waiting", "ask"),)
    session.resume({"ask:it": "x"}).result()
    assert without_times(shown(session)) == [
        (1, "1", [("done", "ask")], "done"),
        (2, "2, next", [("break", "pay")], "next"),
    ]


def test_what_a_router_or_a_node_or_a_join_decides_is_not_said_to_follow():
    @node(goto=["pay"])
    def jumps(state: dict) -> Command:
        interrupt(id="it")
        return Command(goto="pay")

    x, y = says("x"), says("y")
    routed = ask >> branch(lambda state: "x", {"x": x, "y": y}), x >> END, y >> END
    for each in ((START >> jumps, says("pay") >> END), (START >> ask, *routed)):
        session = session_of(*each)
        session.start({}).result()
        assert [box.look for box in shown(session)] == ["now waiting"]


def test_a_join_of_which_a_part_is_further_away_is_not_said_to_follow():
    first, slow = says("first"), says("slow")
    session = session_of(
        START >> [ask, first], first >> slow, join(ask, slow) >> says("end") >> END
    )
    session.start({}).result()
    assert [box.look for box in shown(session)] == ["now waiting"]


def test_a_node_that_another_may_jump_to_follows_all_the_same():
    @node(goto=["pay", END])
    def last(state: dict) -> Command:
        return Command(goto=END)

    session = session_of(START >> ask >> says("pay") >> last)
    session.start({}).result()
    assert [box.look for box in shown(session)] == ["now waiting", "next ahead"]


def test_a_join_whose_parts_are_all_here_follows():
    session = session_of(START >> [ask, b := says("b")], join(ask, b) >> says("end") >> END)
    session.start({}).result()
    assert [box.look for box in shown(session)] == ["now waiting", "next ahead"]


def test_while_it_runs_a_box_says_since_when():
    entered, go = threading.Event(), threading.Event()

    @node
    def works(state: dict) -> None:
        entered.set()
        go.wait(20)

    session = session_of(START >> works >> END)
    run = session.start({})
    assert entered.wait(20)
    (bar,) = session.snapshot.supersteps[-1].tasks
    assert bar.started is not None
    assert shown(session, bar.started + 65)[0] == Box(
        1, "1, now", (("running", "works 1 min 5 s"),), "now running"
    )
    go.set()
    run.result()


def test_a_failed_task_says_how_often_it_was_tried():
    @node(retry=Retry(attempts=3, wait=0))
    def risk(state: dict) -> None:
        raise ValueError("no")

    session = session_of(START >> risk >> END)
    with pytest.raises(ValueError, match="no"):
        session.start({}).result()
    (box,) = shown(session)
    assert box.tasks == (("failed", "risk 3 tries"),)
    assert box.look == "now failed"


def test_many_tasks_of_a_superstep_are_counted():
    @node(goto=["part"])
    def split(state: dict) -> Command:
        return Command(goto=[Send(part, {"n": n}) for n in range(30)])

    @node
    def part(state: dict) -> dict:
        if state["n"] == 7:
            raise ValueError("seven")
        return {}

    session = session_of(START >> split, part >> END)
    with pytest.raises(ValueError, match="seven"):
        session.start({"n": 0}).result()
    box = shown(session)[-1]
    ((mark, said),) = box.tasks
    assert mark == "failed"
    assert said.startswith("part ×30")


def test_a_thread_that_is_new_has_no_boxes():
    assert boxes(Snapshot(), Shape("g", (), (), {}), 0.0, most=40) == ()


# --- results that no node returned just now, in the words of the drawing and of the boxes ---------


def test_a_cached_result_says_so():
    @node(cache=NodeCache())
    def slow(state: dict) -> dict:
        return {"n": 1}

    graph = Graph(dict, state_store=InMemoryStateStore()).flow(START >> slow >> END)
    for thread in ("a", "b"):
        session = open_session(graph, thread)
        session.start({}).result()
    assert shown(session)[0].tasks == (("done", "slow cached"),)
    assert words.lines(session.snapshot)["slow"] == "cached"


def test_a_skip_and_a_lapse_say_so():
    session = session_of(START >> ask >> says("b") >> END)
    session.start({}, break_when=lambda state: True).result()
    session.skip("ask", {"answer": "x"})
    session.proceed().result()
    assert words.lines(session.snapshot)["ask"] == "skipped by hand"
    assert shown(session)[0].tasks == (("skipped", "ask skipped by hand"),)
    session = session_of(START >> ask >> says("b") >> END)
    session.start({}).result()
    session.resume({"ask:it": ASK_AGAIN}).result()
    (again,) = session.snapshot.records
    assert words.how_answered(again).startswith("to be asked again, by ")
    session.resume({"ask:it": DISMISS}, by="ops").result()
    assert words.lines(session.snapshot)["ask"] == "dismissed"
    record = session.snapshot.records[-1]
    clock = words.clock(record.at)
    assert words.how_answered(record) == f"dismissed by ops at {clock}; its default counts"
