"""Loops at a node can be seen and told apart, and so can edges between the same two nodes."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from nbgraph.core.driver import EdgeShape, NodeShape, Shape
from nbgraph.drawing.geometry import PAD, Box, Geometry, Line
from nbgraph.drawing.svg import geometry

DIRECTIONS = ["TB", "LR"]


def looping(*labels: str | None) -> Shape:
    """Return a graph in which `ask` has a loop for each label; None is one without."""
    nodes = tuple(NodeShape(name, name) for name in ("ask", "beside", "pay"))
    ways = [("__start__", "ask"), ("__start__", "beside"), ("beside", "pay"), ("ask", "pay")]
    again = (EdgeShape("ask", "ask", "branch", label) for label in labels)
    return Shape("loops", nodes, (*again, *(EdgeShape(*way) for way in ways)), {})


def between(*ways: tuple[str, str]) -> Shape:
    return Shape("two", (NodeShape("a", "a"), NodeShape("b", "b")), _edges(ways), {})


def _edges(ways: tuple[tuple[str, str], ...]) -> tuple[EdgeShape, ...]:
    return tuple(EdgeShape(*way, "goto") for way in ways)


def numbers(text: str) -> list[tuple[float, float]]:
    found = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]
    return list(zip(found[::2], found[1::2], strict=True))


def along(line: Line) -> list[tuple[float, float]]:
    """Return points on the first bend of an edge."""
    p = numbers(line.path)[:4]
    found: list[tuple[float, float]] = []
    for t in (at / 20 for at in range(21)):
        weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
        x, y = (sum(w * each[axis] for w, each in zip(weights, p, strict=True)) for axis in (0, 1))
        found.append((x, y))
    return found


def out(box: Box, point: tuple[float, float], direction: str) -> float:
    """Return how far a point is from the side of a node at which its loops stand."""
    return point[0] - box.right if direction == "TB" else box.top - point[1]


def is_within(places: Geometry, points: list[tuple[float, float]]) -> bool:
    return all(
        -PAD <= x <= places.width + PAD and -places.height - PAD <= y <= PAD for x, y in points
    )


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("labels", [(None,), ("again",), (None, "again"), ("a", "b", None, None)])
def test_a_loop_goes_well_out_of_its_node_and_those_after_it_further(direction, labels):
    places = geometry(looping(*labels), direction=direction)
    box = places.nodes["n0"]
    lines = [places.edges[f"e{index}"] for index in range(len(labels))]
    reach = sorted(max(out(box, point, direction) for point in along(line)) for line in lines)
    assert reach[0] >= 18
    assert all(b - a >= 10 for a, b in pairwise(reach))
    assert all(is_within(places, along(line)) for line in lines)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_loops_head_touches_the_node_and_its_label_is_outside_of_it(direction):
    places = geometry(looping("again", "once more"), direction=direction)
    box, lines = places.nodes["n0"], [places.edges["e0"], places.edges["e1"]]
    for line in lines:
        _, tip, _ = numbers(line.head)
        assert abs(out(box, tip, direction)) < 0.1
        reach = max(out(box, point, direction) for point in along(line))
        assert out(box, line.label, direction) > reach + 4
    apart = [out(box, line.label, direction) for line in lines]
    assert abs(apart[0] - apart[1]) >= 12


@pytest.mark.parametrize("ways", [(("a", "b"),) * 2, (("a", "b"), ("b", "a")), (("a", "b"),) * 3])
def test_edges_between_the_same_two_nodes_do_not_lie_on_one_another(ways):
    places = geometry(between(*ways))
    middles = sorted(along(places.edges[f"e{index}"])[10][0] for index in range(len(ways)))
    assert all(b - a >= 10 for a, b in pairwise(middles))
