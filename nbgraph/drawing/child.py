"""Lay out a DOT source with pygraphviz's libraries; as a script, from stdin to stdout.

It imports nothing of nbgraph. As a script it runs without site-packages and takes pygraphviz's
folder as its argument, so that nothing but the libraries' own module is loaded: a start takes a
third of the time.
"""

from __future__ import annotations

import sys
from os.path import dirname
from typing import IO, Any

__all__ = ["laid_out"]


def laid_out(graphviz: Any, source: IO[bytes]) -> bytes:
    """Return Graphviz's `json0` of a DOT source in an open file, by pygraphviz's low-level module.

    Raises
    ------
    ValueError
        If it is not DOT, or cannot be laid out.
    """
    graph = graphviz.agread(source, None)
    context = graphviz.gvContextWithBuiltins()
    try:
        if graphviz.gvLayout(context, graph, b"dot"):
            raise ValueError("the layout failed")
        failed, drawn = graphviz.gvRenderData(context, graph, b"json0")
        graphviz.gvFreeLayout(context, graph)
        if failed:
            raise ValueError("the layout could not be told")
        return drawn
    finally:
        graphviz.gvFreeContext(context)
        graphviz.agclose(graph)


def _graphviz(folder: str) -> Any:
    sys.path[:0] = [folder, dirname(folder)]
    try:
        import graphviz  # pygraphviz/graphviz.py without the package around it
    except ImportError:  # its package has to say where the libraries are
        del sys.path[0]
        from pygraphviz import graphviz
    return graphviz


if __name__ == "__main__":
    sys.stdout.buffer.write(laid_out(_graphviz(sys.argv[1]), sys.stdin.buffer))
