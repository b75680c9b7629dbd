"""What a failed run raises is read from the user's own line on, and names the node."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

import nbgraph
from nbgraph import END, START, Graph, InMemoryStateStore, node, open_session
from nbgraph.core.tracebacks import result_of_future

PACKAGE = Path(nbgraph.__file__).parent


@node
def divides(state: dict[str, int]) -> dict[str, Any]:
    return {"n": 1 // state["n"]}


@node
async def waits(state: dict[str, int]) -> dict[str, Any]:
    await asyncio.sleep(0)
    raise LookupError("nothing there")


def _graph(name: str = "g", *nodes: Any) -> Graph:
    return Graph(dict, name=name, state_store=InMemoryStateStore()).flow(START >> nodes[0] >> END)


def _invoked(graph: Graph) -> object:
    return graph.invoke({"n": 0}, thread_id="t")


def _awaited(graph: Graph) -> object:
    return asyncio.run(graph.ainvoke({"n": 0}, thread_id="t"))


def _in_a_session(graph: Graph) -> object:
    return open_session(graph, "t").start({"n": 0}).result()


@pytest.mark.parametrize("call", [_invoked, _awaited, _in_a_session])
@pytest.mark.parametrize(("asked", "kind"), [(divides, ZeroDivisionError), (waits, LookupError)])
def test_below_the_users_call_stands_the_users_line(
    call: Callable[[Graph], object], asked: Any, kind: type[Exception]
) -> None:
    with pytest.raises(kind) as caught:
        call(_graph("g", asked))
    frames = traceback.extract_tb(caught.value.__traceback__)
    between = [frame for frame in frames if Path(frame.filename).is_relative_to(PACKAGE)]
    assert frames[-1].name == asked.handler.__name__
    assert len(between) <= 3
    assert not [frame for frame in frames if "concurrent" in frame.filename]


def test_the_node_is_noted_and_the_message_stays() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        _invoked(_graph("g", divides))
    assert caught.value.__notes__ == ["In node 'divides'"]
    assert str(caught.value) == "integer division or modulo by zero"


def test_nodes_are_noted_from_the_inside_out() -> None:
    inner = Graph(dict, name="inner").flow(START >> divides >> END)

    @node
    async def calls(state: dict[str, int]) -> dict[str, Any]:
        await inner.ainvoke(state)
        return {}

    with pytest.raises(ZeroDivisionError) as caught:
        _invoked(_graph("outer", calls))
    assert caught.value.__notes__ == ["In node 'divides'", "In node 'calls'"]


def test_one_error_raised_twice_is_noted_once() -> None:
    always = KeyError("the same")

    @node
    def raises(state: dict[str, int]) -> dict[str, Any]:
        raise always

    graph = _graph("g", raises)
    for _ in range(2):
        with pytest.raises(KeyError):
            open_session(graph).start({"n": 0}).result()
    assert always.__notes__ == ["In node 'raises'"]


def test_an_error_that_takes_no_note_is_raised_all_the_same() -> None:
    class OddError(Exception):
        __notes__ = ()

    @node
    def raises(state: dict[str, int]) -> dict[str, Any]:
        raise OddError("odd")

    with pytest.raises(OddError, match="odd"):
        _invoked(_graph("g", raises))


def test_an_error_of_nobodys_own_line_keeps_its_whole_traceback() -> None:
    future: Future[None] = Future()
    future.set_exception(ValueError("no line"))
    with pytest.raises(ValueError, match="no line") as caught:
        result_of_future(future)
    assert traceback.extract_tb(caught.value.__traceback__)
