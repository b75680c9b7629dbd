"""What importing the library loads."""

from __future__ import annotations

import subprocess
import sys

_LAZY = (
    "ipywidgets IPython anywidget traitlets graphviz pygraphviz sqlite3 tenacity jsonschema "
    "pydantic.networks"
)


def test_importing_nbgraph_loads_nothing_that_a_graph_does_not_need() -> None:
    code = f"import sys, nbgraph; print([n for n in {_LAZY.split()!r} if n in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert found.stdout == "[]\n"


def test_running_a_graph_loads_no_more() -> None:
    code = (
        "import sys; from nbgraph import START, END, Graph, InMemoryStateStore, interrupt, node\n"
        "ask = node(name='ask')(lambda state: interrupt(response_schema=bool))\n"
        "graph = Graph(dict, state_store=InMemoryStateStore()).flow(START >> ask >> END)\n"
        "print(graph.invoke({}, thread_id='t').status)\n"
        f"print([name for name in {_LAZY.split()!r} if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert found.stdout.splitlines() == ["interrupted", "[]"]
