"""A painter draws what is wanted once, rests, and can be hurried."""

from __future__ import annotations

import threading

from nbgraph.notebook.painter import Painter


def test_what_is_wanted_while_it_draws_is_drawn_once_next():
    entered, go_on, twice = threading.Event(), threading.Event(), threading.Event()
    drawn: list[int] = []

    def draw() -> None:
        drawn.append(len(drawn))
        entered.set()
        go_on.wait(60)
        if len(drawn) == 2:
            twice.set()

    painter = Painter(draw, lambda: 0.0)
    painter.want()
    assert entered.wait(60)
    for _ in range(100):
        painter.want()
    go_on.set()
    assert twice.wait(60)
    painter.now()
    assert drawn == [0, 1, 2]


def test_a_hurried_wish_cuts_a_long_rest_short():
    first, second = threading.Event(), threading.Event()
    resting = threading.Event()

    def draw() -> None:
        (second if first.is_set() else first).set()

    def pause() -> float:
        resting.set()
        return 3_600.0

    painter = Painter(draw, pause)
    painter.want()
    assert first.wait(60)
    assert resting.wait(60)
    painter.want(hurry=True)
    assert second.wait(60)


def test_painters_that_share_a_lock_do_not_draw_at_once():
    lock = threading.RLock()
    painter = Painter(lambda: None, lock=lock)
    assert painter.lock is lock


def test_an_ended_painter_finishes_its_drawing_and_draws_no_more():
    entered, go_on = threading.Event(), threading.Event()
    drawn: list[str] = []

    def draw() -> None:
        entered.set()
        go_on.wait(60)
        drawn.append("a drawing")

    painter = Painter(draw)
    painter.want()
    assert entered.wait(60)
    go_on.set()
    painter.end()
    assert drawn == ["a drawing"]
    painter.now()
    assert drawn == ["a drawing"]


def test_what_is_over_before_its_time_is_drawn_once_and_a_hurried_wish_does_not_wait():
    waiting, drawn = threading.Event(), threading.Event()
    seen: list[str] = []
    stands = ["idle"]

    def draw() -> None:
        seen.append(stands[0])
        drawn.set()

    def before() -> float:
        waiting.set()
        return 3_600.0 if stands[0] == "runs" else 0.0

    painter = Painter(draw, lambda: 0.0, before=before)
    stands[0] = "runs"
    painter.want()
    assert waiting.wait(60)
    painter.want()
    stands[0] = "ended"
    painter.want(hurry=True)
    assert drawn.wait(60)
    assert seen == ["ended"]
