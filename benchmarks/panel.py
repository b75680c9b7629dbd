"""What a panel costs: bytes and messages to the page, the run beside it, the first drawing.

Run it from a checkout:

    PYTHONPATH=. python benchmarks/panel.py

No page is connected; messages are counted where they leave the widgets. What a page does with a
status change is measured in `tests/browser/test_panel.py`.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest import mock

from ipywidgets import Widget
from pygraphviz import AGraph

from nbgraph import (
    END,
    START,
    Command,
    Graph,
    InMemoryStateStore,
    NodeContext,
    Panel,
    node,
    open_session,
)
from nbgraph.core.driver import EdgeShape, NodeShape, Shape
from nbgraph.drawing import dot, is_small, svg
from nbgraph.notebook.graph_view import GraphView

DOT_PROGRAM = {10: 10.0, 100: 13.0, 500: 34.0, 1_000: 83.0}
"""Milliseconds that the program `dot` takes for so many nodes, measured with Graphviz 2.43."""


@contextmanager
def messages() -> Iterator[list[tuple[float, int]]]:
    """Record when each message leaves a widget, and how many characters of JSON it holds."""
    sent: list[tuple[float, int]] = []
    real_send = Widget._send

    def send(self: Widget, msg: Any, buffers: Any = None) -> None:
        sent.append((time.monotonic(), len(json.dumps(msg, default=str))))
        real_send(self, msg, buffers)

    real_open = Widget.open

    def open_(self: Widget) -> None:
        sent.append((time.monotonic(), 0))
        real_open(self)

    with mock.patch.object(Widget, "_send", send), mock.patch.object(Widget, "open", open_):
        yield sent


def loop_graph(steps: int, *, pause: float = 0.0, emits: bool = False) -> Graph:
    """Return a graph that runs one node again and again."""

    @node(goto=["again", END])
    def again(state: dict, ctx: NodeContext) -> Any:
        if pause:
            time.sleep(pause)
        if emits:
            print("step", state.get("n", 0))
            ctx.emit({"done": state.get("n", 0), "total": steps})
        number = state.get("n", 0) + 1
        return Command(update={"n": number}, goto="again" if number < steps else END)

    return Graph(dict, name="loop", state_store=InMemoryStateStore(), max_steps=steps + 1).flow(
        START >> again
    )


def chain(count: int, name: str = "node") -> Shape:
    """Return a shape of nodes in rows of ten, each of which leads to one of the next row."""
    nodes = tuple(NodeShape(f"n{i}", f"{name} {i}"[-12:]) for i in range(count))
    edges = tuple(EdgeShape(f"n{i}", f"n{i + 10}") for i in range(count - 10))
    return Shape("chain", nodes, edges, {})


def status_change() -> dict[str, float]:
    """Return what one change among 500 nodes sends, and takes in the kernel."""
    view = GraphView(chain(500))
    view.drawn.wait()
    marks: dict[str, Any] = {f"n{i}": "done" for i in range(400)}
    lines = dict.fromkeys(marks, "0.8 s")
    view.show(marks, lines)
    times: list[float] = []
    with messages() as sent:
        for number in range(400, 500):
            clock = time.perf_counter()
            marks = {**marks, f"n{number}": "running"}
            view.show(marks, lines, {(f"n{number - 10}", f"n{number}")})
            times.append(time.perf_counter() - clock)
    return {
        "largest, bytes": max(size for _, size in sent),
        "median, ms": 1_000 * statistics.median(times),
    }


def most_in_a_second(seconds: float = 6.0) -> dict[str, float]:
    """Return how many messages a panel sends while a graph steps, prints and emits all the time.

    Counted is what leaves any widget, a model that is made included, from the press on Start until
    the panel has shown the end. What the cell itself sends that makes the panel is `to be made`.
    """
    steps = int(seconds / 0.005)
    with messages() as sent:
        panel = Panel(loop_graph(steps, pause=0.005, emits=True), "t")
        made = len(sent)
        began = time.monotonic()
        panel.session.start({})
        panel.session.settle()
        ended = time.monotonic()
        while time.monotonic() < ended + 1.5:  # the last drawing, and its rest
            time.sleep(0.1)
    panel.close()
    times = [at - began for at, _ in sent[made:] if at < ended + 1.5]
    windows = [sum(start <= at < start + 1 for at in times) for start in times]
    return {
        "to be made": made,
        "seconds": ended - began,
        "mean a second": len(times) / (ended - began),
        "most in a second": max(windows, default=0),
        "in the first 2 s": sum(at < 2 for at in times),
    }


def run_beside(steps: int = 1_000, times: int = 7) -> dict[str, float]:
    """Return the CPU time of a run with a panel open, with a session alone, and with neither."""

    def alone() -> float:
        session = open_session(loop_graph(steps), "t")
        return timed(lambda: session.start({}).result())

    def shown() -> float:
        panel = Panel(loop_graph(steps), "t")
        spent = timed(lambda: panel.session.start({}).result())
        panel.close()
        return spent

    def bare() -> float:
        graph = loop_graph(steps)
        return timed(lambda: graph.invoke({}, thread_id="t"))

    for run in (alone, shown, bare):
        run()
    found = {
        "invoke": min(bare() for _ in range(times)),
        "session": min(alone() for _ in range(times)),
        "panel": min(shown() for _ in range(times)),
    }
    return {**found, "panel / invoke": found["panel"] / found["invoke"]}


def first_draw(count: int, times: int = 7) -> dict[str, float]:
    """Return the CPU time of a first drawing, and of what Graphviz's dot needs for an SVG of it."""
    own: list[float] = []
    dots: list[float] = []
    for number in range(times):
        shape = chain(count, f"{number} {os.getpid()}")
        source = dot(shape).source
        own.append(timed(lambda shape=shape: svg(shape)))
        dots.append(
            timed(lambda source=source: AGraph(string=source).draw(format="svg", prog="dot"))
        )
    return {
        "svg": 1_000 * min(own),
        "dot": 1_000 * min(dots),
        "ratio": min(own) / min(dots),
        "more, ms": 1_000 * (min(own) - min(dots)),
    }


def timed(act: Callable[[], object]) -> float:
    """Return the CPU seconds an action takes in this process and its children."""
    gc.collect()
    before = spent()
    act()
    return spent() - before


def spent() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def goals(rows: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, float, float]]:
    """Return what is promised: a name, the figure, and the most it may be."""
    change = rows["status change, 500 nodes"]
    yield "status change, bytes", change["largest, bytes"], 1_000
    yield "status change in the kernel, ms", change["median, ms"], 5
    yield "messages in a second", rows["messages, 5 ms a step"]["most in a second"], 30
    yield "run with a panel / without", rows["1,000 steps"]["panel / invoke"], 2
    for count, program in DOT_PROGRAM.items():
        draw = rows[f"first draw, {count}"]
        if is_small(chain(count)):
            yield f"first draw of {count} / the program dot", draw["svg"] / program, 1.15
        else:
            yield f"first draw of {count}, ms more than dot", draw["more, ms"], 60


def main() -> None:
    """Measure all of it, and print two tables: the figures, and how they stand to the goals."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.parse_args()
    rows: dict[str, dict[str, float]] = {"status change, 500 nodes": status_change()}
    rows["messages, 5 ms a step"] = most_in_a_second()
    rows["1,000 steps"] = run_beside()
    for count in DOT_PROGRAM:
        rows[f"first draw, {count}"] = first_draw(count)
    for name, values in rows.items():
        shown = ", ".join(f"{key} {value:.3g}" for key, value in values.items())
        sys.stdout.write(f"{name:>26}  {shown}\n")
    for name, figure, most in goals(rows):
        sys.stdout.write(
            f"{'' if figure <= most else 'MISSED ':>8}{name}: {figure:.3g}, goal {most}\n"
        )


if __name__ == "__main__":
    main()
