"""What nodes print and log is heard task by task; others' text goes where it went before."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest

from nbgraph import InMemoryStateStore, node
from nbgraph.core import prints
from nbgraph.core.live import ChildEvent, Logged, TaskEmitted
from nbgraph.core.loop import run_sync
from nbgraph.core.requests import Start
from nbgraph.core.thread import Thread
from tests.core.graphs import Trail, chain, fan


def said(graph: Any, *, listen: bool = True) -> tuple[list[tuple[str, str, Any]], list[Any]]:
    """Return what tasks of a run said, and what the run itself did."""
    own: list[Any] = []

    async def run() -> list[tuple[str, str, Any]]:
        thread = Thread(graph, InMemoryStateStore(), "t")
        found: list[tuple[str, str, Any]] = []
        async with aclosing(thread.send(Start({}))) as happening:
            async for event in happening:
                inner = event.event if isinstance(event, ChildEvent) else event
                if isinstance(inner, TaskEmitted):
                    found.append((inner.task_id, inner.kind, inner.data))
        return found

    async def heard() -> list[tuple[str, str, Any]]:
        with prints.listening(lambda kind, data: own.append((kind, data))):
            return await run()

    return run_sync(heard() if listen else run()), own


def printing(name: str, act: Callable[[], object], *, is_async: bool = False) -> Any:
    def run(state: Trail) -> dict[str, Any]:
        act()
        return {"log": [name]}

    async def run_async(state: Trail) -> dict[str, Any]:
        act()
        return {"log": [name]}

    return node(name=name)(run_async if is_async else run)


@pytest.mark.parametrize("is_async", [False, True])
def test_a_nodes_lines_are_said_under_its_name_and_printed_nowhere(capsys, is_async):
    found, _ = said(chain(printing("a", lambda: print("one\ntwo"), is_async=is_async)))
    assert found == [("a", "print", "one"), ("a", "print", "two")]
    assert capsys.readouterr().out == ""


def test_nobody_is_heard_where_nobody_listens(capsys):
    found, _ = said(chain(printing("a", lambda: print("one"))), listen=False)
    assert (found, capsys.readouterr().out) == ([], "one\n")


def test_a_line_that_is_not_ended_is_said_when_the_task_ends():
    found, _ = said(chain(printing("a", lambda: print("half", end=""))))
    assert found == [("a", "print", "half")]


def test_a_line_that_is_written_over_is_said_as_it_ends():
    found, _ = said(chain(printing("a", lambda: print("10 %\r50 %\r100 %"))))
    assert found == [("a", "print", "100 %")]


def test_tasks_that_run_side_by_side_do_not_mix():
    both = threading.Barrier(2)

    def twice(name: str) -> Callable[[], None]:
        def act() -> None:
            for number in range(3):
                sys.stdout.write(f"{name} ")
                both.wait(60)
                sys.stdout.write(f"{number}\n")

        return act

    found, _ = said(fan(printing("a", twice("a")), printing("b", twice("b"))))
    assert [text for task, _, text in found if task == "a"] == ["a 0", "a 1", "a 2"]
    assert [text for task, _, text in found if task == "b"] == ["b 0", "b 1", "b 2"]


def test_others_print_and_log_undisturbed_while_a_run_is_listened_to(capsys):
    entered, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        entered.set()
        go_on.wait(60)

    def beside() -> None:
        entered.wait(60)
        print("from outside")
        logging.getLogger("outside").warning("a warning from outside")
        go_on.set()

    other = threading.Thread(target=beside)
    other.start()
    found, _ = said(chain(printing("a", wait)))
    other.join()
    shown = capsys.readouterr()
    assert (found, shown.out) == ([], "from outside\n")


def test_log_records_are_said_with_level_and_logger():
    def act() -> None:
        logging.getLogger("shop").warning("out of %s", "lamps")
        logging.getLogger("shop").error("gone")

    found, _ = said(chain(printing("a", act)))
    assert [data for _, _, data in found] == [
        Logged("WARNING", "shop", "out of lamps", grave=False),
        Logged("ERROR", "shop", "gone", grave=True),
    ]


def test_a_record_whose_arguments_do_not_fit_does_not_end_the_node(capsys):
    found, _ = said(chain(printing("a", lambda: logging.getLogger("x").warning("%d", "no"))))
    assert all("Traceback" not in str(data) or kind == "print" for _, kind, data in found)


def test_what_a_node_prints_last_is_said_before_the_run_ends():
    async def slow(state: Trail) -> dict[str, Any]:
        await asyncio.sleep(0)
        print("the last word")
        return {}

    found, _ = said(chain(node(name="slow")(slow)))
    assert found == [("slow", "print", "the last word")]


def test_the_streams_are_put_back_when_nobody_listens_any_more():
    before = sys.stdout, sys.stderr, list(logging.getLogger().handlers)
    said(chain(printing("a", lambda: print("x"))))
    assert (sys.stdout, sys.stderr, list(logging.getLogger().handlers)) == before


def test_a_stream_in_place_answers_as_the_one_behind():
    asked: list[Any] = []
    encoding = sys.stdout.encoding
    said(chain(printing("a", lambda: asked.append((sys.stdout.encoding, sys.stdout.writable())))))
    assert asked == [(encoding, True)]


def test_a_stream_that_print_still_holds_outlives_its_run():
    streams: list[Any] = []
    for _ in range(2):
        with prints.listening(lambda kind, data: None):
            streams.append(weakref.ref(sys.stdout))
    assert sys.stdout is not streams[0]()
    assert streams[0]() is streams[1]() is not None
