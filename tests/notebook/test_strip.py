"""The strip of supersteps on the page: one widget, and one message for all that changes."""

from __future__ import annotations

from typing import Any

from nbgraph.boxes import Box
from nbgraph.notebook.strip import Boxes


def made() -> tuple[Boxes, list[Any], list[int]]:
    sent: list[Any] = []
    chosen: list[int] = []
    shown = Boxes(chosen.append)
    shown.send = lambda content, buffers=None: sent.append(content)  # type: ignore[method-assign]
    return shown, sent, chosen


ONE = Box(1, "1", (("done", "intake 12 ms"),), "done")
TWO = Box(2, "2, now", (("waiting", "ask"), ("idle", "<b>$x$</b>")), "now waiting")


def test_a_change_is_one_message_with_the_boxes_that_changed_the_newest_first():
    shown, sent, _ = made()
    shown.show((ONE, TWO), None)
    later = Box(2, "2, now", (("waiting", "ask 2 min"),), "now waiting")
    shown.show((ONE, later), None)
    assert [(each["order"], [box[0] for box in each["changed"]]) for each in sent] == [
        ([2, 1], [2, 1]),
        ([2, 1], [2]),
    ]
    assert sent[1]["changed"] == [[2, "2, now", [["waiting", "ask 2 min"]], "now waiting"]]


def test_what_has_not_changed_is_not_sent_and_a_choice_is():
    shown, sent, _ = made()
    shown.show((ONE, TWO), None)
    shown.show((ONE, TWO), None)
    shown.show((ONE, TWO), 1)
    assert [(each["changed"] == [], each["selected"]) for each in sent] == [(False, 0), (True, 1)]


def test_a_page_that_comes_is_told_all_of_it():
    shown, sent, _ = made()
    shown.show((ONE, TWO), 2)
    shown._receive(shown, {"kind": "hello"}, [])
    assert sent[-1]["full"]
    assert [box[0] for box in sent[-1]["changed"]] == [2, 1]
    assert [box[0] for box in shown.get_state()["boxes"]] == [2, 1]
    assert shown.shown == ((1, "1", ("intake 12 ms",)), (2, "2, now", ("ask", "<b>$x$</b>")))


def test_a_press_is_heard_only_for_a_box_that_is_there():
    shown, _, chosen = made()
    shown.show((ONE,), None)
    for content in (
        {"kind": "choose", "number": 1},
        {"kind": "choose", "number": 7},
        {"kind": "x"},
    ):
        shown._receive(shown, content, [])
    assert chosen == [1]
