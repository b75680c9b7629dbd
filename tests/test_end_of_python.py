"""When Python ends nothing of nbgraph runs: what runs then can crash the process."""

from __future__ import annotations

import subprocess
import sys

import pytest

_BEFORE = """
import atexit, sys, threading, time

said = []

def last():
    # called after what nbgraph registered: the last that is registered is called first
    print("still", [thread.name for thread in threading.enumerate() if "watcher" in thread.name])
    before = ticks[0]
    held.wait(0.2)
    print("ticked", ticks[0] - before)
    try:
        graph.sync.load("t")
    except RuntimeError as error:
        print(error)

atexit.register(last)

from nbgraph import END, START, BaseState, Graph, InMemoryStateStore, Inbox, Panel, node
from nbgraph.core.loop import loop

class Count(BaseState):
    n: int = 0

@node
async def add(state: Count) -> dict:
    return {"n": state.n + 1}

store = InMemoryStateStore()
graph = Graph(Count, name="count", state_store=store).flow(START >> add >> END)
ticks, held, begun = [0], threading.Event(), threading.Event()

def tick():
    ticks[0] += 1
    begun.set()
    loop().call_later(0.001, tick)
"""


def _ended(end: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", _BEFORE + end], capture_output=True, text=True, timeout=60
    )
    assert (done.stderr, done.returncode) == ("", 0)
    return done.stdout.splitlines()


_OPEN = """
Panel(graph, "t").start({}).result()
inbox = Inbox(store)
loop().call_soon_threadsafe(tick)
begun.wait()
"""
_RUNS = """
import asyncio
from nbgraph import open_session

@node
async def wait(state: Count) -> dict:
    begun.set()
    await asyncio.Event().wait()

graph = Graph(Count, name="count", state_store=store).flow(START >> wait >> END)
run = open_session(graph, "t").start({})
begun.wait()
"""
_STUCK = _RUNS.replace("async def wait", "def wait").replace(
    "await asyncio.Event().wait()", "held.wait()"
)


@pytest.mark.parametrize("end", [_OPEN, _RUNS, _STUCK], ids=["open", "a run", "a stuck node"])
def test_nothing_goes_on_and_nothing_is_said(end):
    still, ticked, refused = _ended(end)
    assert still == "still []"
    assert ticked == "ticked 0"
    assert refused == "Python is ending: nothing can be run any more. Run it before the end"


def test_a_function_that_is_registered_later_still_runs_a_graph():
    end = """
def write():
    print(graph.invoke({}, thread_id="t").state.n)

atexit.register(write)
"""
    assert _ended(end)[0] == "1"
