"""What a session costs over an engine's own stream: CPU time of the same run, side by side.

python benchmarks/adapters.py [--steps 200] [--repeat 5]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

from nbgraph import open_session


class State(TypedDict):
    n: int
    text: str


def counted(steps: int):
    builder = StateGraph(State)
    builder.add_node("count", lambda state: {"n": state["n"] + 1, "text": "x" * 200})
    builder.add_edge(START, "count")
    builder.add_conditional_edges(
        "count", lambda state: "count" if state["n"] < steps else END, ["count", END]
    )
    return builder.compile(checkpointer=InMemorySaver())


def streamed(steps: int, *modes: str) -> None:
    config = {"configurable": {"thread_id": "t"}, "recursion_limit": steps + 10}
    given = {"n": 0, "text": ""}
    chosen = {"stream_mode": list(modes), "version": "v2"} if modes else {}
    for _ in counted(steps).stream(given, config, durability="sync", **chosen):
        pass


def told(steps: int) -> None:
    """The engine alone, when it tells what a panel shows: tasks and checkpoints."""
    streamed(steps, "tasks", "checkpoints", "custom")


def driven(steps: int) -> None:
    app = counted(steps).with_config({"recursion_limit": steps + 10})
    session = open_session(app, thread_id="t")
    session.start({"n": 0, "text": ""}).result()
    session.close()


def cpu(function: Callable[[int], None], steps: int) -> float:
    before = time.process_time()
    function(steps)
    return time.process_time() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    works = {"stream": streamed, "stream of tasks and checkpoints": told, "session": driven}
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(options.repeat):
        for name, work in works.items():
            times[name].append(cpu(work, options.steps))
    best = {name: min(found) for name, found in times.items()}
    for name, seconds in best.items():
        print(f"{name:32} {seconds * 1000:8.1f} ms, {seconds / options.steps * 1e6:6.0f} us a step")
    for name in list(works)[:-1]:
        print(f"session / {name}: {best['session'] / best[name]:.2f}")


if __name__ == "__main__":
    main()
