"""What stays of a thread in a saved notebook: short enough, with a picture if there is room."""

from __future__ import annotations

import base64
import json
import re

import pytest

from nbgraph import END, START, BaseState, Graph, InMemoryStateStore, node, open_session, subgraph
from nbgraph.core.node import Node
from nbgraph.notebook.display import static_bundle
from nbgraph.session import Session


class Count(BaseState):
    said: str = ""


def work(name: str, says: str = "") -> Node:
    @node(name=name)
    def run(state: Count) -> dict[str, str]:
        return {"said": says}

    return run


def line(count: int, *more: Node, name: str = "line", says: str = "") -> Graph:
    path = START
    for each in [*(work(f"{name} {number}", says) for number in range(count)), *more]:
        path = path >> each
    return Graph(Count, name=name, max_steps=500).flow(path >> END)


def finished(graph: Graph) -> Session:
    session = open_session(graph, "t", store=InMemoryStateStore())
    session.start({}).result()
    return session


def size(bundle: dict[str, str]) -> int:
    return len(json.dumps({"data": bundle, "metadata": {}}, ensure_ascii=False).encode())


def picture_in(bundle: dict[str, str]) -> str:
    (data,) = re.findall('src="data:image/svg[+]xml;base64,([^"]+)"', bundle["text/html"])
    return base64.b64decode(data).decode()


@pytest.mark.parametrize("says", ["", "処理中の払い戻し " * 400])
def test_a_hundred_nodes_are_kept_in_60_kilobytes(says: str):
    bundle = static_bundle(finished(line(100, says=says)))
    assert picture_in(bundle).count(">line ") == 100
    assert size(bundle) <= 60_000


def test_of_a_larger_graph_the_inside_of_its_sub_graphs_is_left_out():
    inner = [subgraph(f"part{at}", line(60, name="inner"), share=["said"]) for at in range(4)]
    bundle = static_bundle(finished(line(2, *inner)))
    assert ">part3<" in picture_in(bundle)
    assert "inner" not in picture_in(bundle)
    assert size(bundle) <= 60_000


def test_a_picture_that_is_too_large_is_left_out_and_that_is_said():
    bundle = static_bundle(finished(line(300)))
    assert "<img" not in bundle["text/html"]
    assert "too large to be kept" in bundle["text/html"]
    assert "line 299" in bundle["text/plain"]
    assert size(bundle) <= 60_000
