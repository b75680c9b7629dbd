"""Lay out a DOT source with pygraphviz's libraries; as a script, from stdin to stdout.

It imports nothing of nbgraph, so that the script starts fast.
"""

from __future__ import annotations

import sys

__all__ = ["laid_out"]


def laid_out(source: str) -> str:
    """Return the SVG of a DOT source."""
    import pygraphviz  # loaded when first needed

    graph = pygraphviz.AGraph(string=source)
    try:
        drawn: bytes = graph.draw(format="svg", prog="dot")  # pyright: ignore[reportAssignmentType]  # None only with a path
        return drawn.decode()
    finally:
        graph.close()


if __name__ == "__main__":
    sys.stdout.buffer.write(laid_out(sys.stdin.buffer.read().decode()).encode())
