"""What a superstep and an import cost, as counts that do not depend on the machine."""

from __future__ import annotations

import asyncio
import math
import subprocess
import sys
from itertools import pairwise
from types import FrameType
from typing import Any

import pytest

from nbgraph import START, BaseState, Graph, InMemoryStateStore, node, when


class Count(BaseState):
    count: int = 0
    goal: int = 0


@node
async def tick(state: Count) -> dict[str, Any]:
    return {"count": state.count + 1}


def more(state: Count) -> bool:
    return state.count < state.goal


def calls_of_a_superstep(store: InMemoryStateStore | None) -> int:
    """Return how many calls, built-in ones too, lie between two calls of the same node."""
    graph = Graph(Count).flow(START >> tick, tick >> when(more, tick))
    thread_id = None if store is None else "t"
    made, at_node = 0, list[int]()

    def count(frame: FrameType, event: str, _: Any) -> None:
        nonlocal made
        if event in ("call", "c_call"):
            made += 1
            if event == "call" and frame.f_code.co_name == "tick":
                at_node.append(made)

    async def counted() -> None:
        await graph.ainvoke({"goal": 3}, thread_id=thread_id, state_store=store)  # builds models
        sys.setprofile(count)
        try:
            await graph.ainvoke({"goal": 20}, thread_id=thread_id, state_store=store)
        finally:
            sys.setprofile(None)

    asyncio.run(counted())
    between = [after - before for before, after in pairwise(at_node)]
    return sorted(between)[len(between) // 2]


@pytest.mark.parametrize(("stored", "most"), [(False, 126), (True, 168)])
def test_a_superstep_is_so_many_calls(
    monkeypatch: pytest.MonkeyPatch, stored: bool, most: int
) -> None:
    monkeypatch.setattr("nbgraph.core.run._BREATH", math.inf)  # no turn of the loop between
    assert calls_of_a_superstep(InMemoryStateStore() if stored else None) <= most


def test_import_loads_so_many_modules_and_compiles_none_of_their_classes() -> None:
    code = (
        "import sys, nbgraph\n"
        "ours = [m for n, m in sys.modules.items() if n.partition('.')[0] == 'nbgraph']\n"
        "kinds = {k for m in ours for k in vars(m).values() if isinstance(k, type)}\n"
        "made = [k.__name__ for k in kinds if '__dataclass_fields__' in vars(k)\n"
        "        and getattr(vars(k).get('__init__'), '__qualname__', '').endswith('__init__')\n"
        "        and vars(k)['__init__'].__code__.co_filename == '<string>']\n"
        "print(len(ours)); print(made)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    modules, made = found.stdout.splitlines()
    assert int(modules) <= 90
    assert made == "[]"
