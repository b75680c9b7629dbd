"""The page of names: each public name with the first line of its help. A script writes it.

`python -m tests.docs.reference` writes `docs/reference.md`; a test holds the page to it.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import nbgraph

__all__ = ["GROUPS", "PAGE", "page"]

PAGE = Path(__file__).parents[2] / "docs" / "reference.md"

HEAD = """# Names

Every public name, with the first line of its help. `help(name)` has the rest: what it takes, what
it returns, and what it raises. The names of the first part are imported from `nbgraph`.
"""

GROUPS = {
    "A graph": "Graph node Node START END Command Send when branch join subgraph",
    "State": "BaseState add add_messages merge_dict replace Replace RemoveMessage",
    "Asking and answering": "interrupt Interrupt Resume DISMISS ASK_AGAIN GraphInterrupt "
    "UnnamedInterruptWarning",
    "Running": "NodeContext GraphResult StreamEvent Retry Timeout NodeCache Effect Middleware "
    "RunOutcome Executor ThreadExecutor InlineExecutor FuturesExecutor",
    "Stores": "InMemoryStateStore SQLiteStateStore PostgresStateStore FilesystemStateStore",
    "Agents": "build_react_agent run_agent AgentState model_node tool_runner tool Tool ToolContext "
    "call_tool ScriptedChat OpenAIChat from_langchain ModelMiddlewareContext",
    "In front of a person": "draw Drawing Panel play Form ToolCard Timeline compare Inbox UNSET",
    "Without a front end": "open_session Session",
}
"""The names of `nbgraph`, as a reader looks for them."""

MODULES = {
    "nbgraph.middleware": "Approvals, limits, and what hooks are given",
    "nbgraph.chat": "Messages, and what a chat model is",
    "nbgraph.state": "What is kept of threads",
    "nbgraph.errors": "Errors",
    "nbgraph.testing.driver": "Testing: an engine that plays what it is told",
    "nbgraph.testing.drivers": "Testing: the contract of an engine",
    "nbgraph.testing.stores": "Testing: the contract of a state store",
    "nbgraph.testing.executors": "Testing: the contract of an executor",
    "nbgraph.testing.spoofs": "Testing: texts that look like another text",
}

METHODS = ("Graph", "Session", "Panel", "Timeline", "Form", "NodeContext", "Middleware")
"""Classes whose methods a user calls by name, or writes."""
INNER = {
    "Form": {"enable", "for_start", "for_update", "name_submit", "tick"},
    "Graph": {"check_position", "show_in_cell", "clock"},
    "NodeContext": {"again", "record_once"},
}
"""Methods that other parts of nbgraph call, and users do not."""

VALUES = {
    "START": "Where a turn begins: `START >> a` in a flow.",
    "END": "Where a turn ends: `a >> END` in a flow, or what a node returns.",
    "UNSET": "What stands for an answer while a needed part of it is missing; it is not None.",
    "DISMISS": "In the place of an answer: none will come; a default counts, if there is one.",
    "ASK_AGAIN": "In the place of an answer: the node runs again, and asks anew.",
    "FilesystemStateStore": "`SQLiteStateStore` by another name.",
    "Message": "Any message; its `type` tells which.",
    "Number": "What conditions compare with.",
    "Reducer": "A function of the current value and an update that returns the next value.",
    "SPOOFS": "Such texts, each with the one it passes for.",
}
"""What is said of a value, which has no help of its own."""


def page() -> str:
    """Return the page."""
    return "\n".join([HEAD, *_groups(), *_modules(), *_methods()])


def _groups() -> Iterator[str]:
    for heading, names in GROUPS.items():
        yield f"## {heading}\n"
        yield _table((name, _said(getattr(nbgraph, name), name)) for name in names.split())


def _modules() -> Iterator[str]:
    yield "## Modules\n"
    yield (
        "Names that stand in the first part as well are left out here. `nbgraph.stores` has the "
        "state stores,\nand `nbgraph.exceptions` the errors, under the names of another library's "
        "import paths.\n"
    )
    for module_name, about in MODULES.items():
        module = importlib.import_module(module_name)
        names = [name for name in module.__all__ if name not in nbgraph.__all__]
        yield f"### {module_name}\n\n{about}.\n"
        yield _table((name, _said(getattr(module, name), name)) for name in names)


def _methods() -> Iterator[str]:
    yield "## Methods\n"
    yield "`graph.sync.<method>` is the sync twin of each async method of a graph.\n"
    for name in METHODS:
        yield f"### {name}\n"
        yield _table(_members(getattr(nbgraph, name), INNER.get(name, set())))


def _members(owner: type, inner: set[str]) -> Iterator[tuple[str, str]]:
    known = dict.fromkeys(
        name
        for each in owner.__mro__
        if each.__module__.startswith("nbgraph")
        for name, value in vars(each).items()
        if inspect.isfunction(value) or isinstance(value, property | classmethod)
    )
    for name in known:
        if not name.startswith("_") and name not in inner:
            yield name, _said(inspect.getattr_static(owner, name), name)


def _said(value: Any, name: str) -> str:
    text = VALUES.get(name) or inspect.getdoc(value) or ""
    return " ".join(text.split("\n\n")[0].split())


def _table(rows: Iterable[tuple[str, str]]) -> str:
    lines = [f"| `{name}` | {said.replace('|', chr(92) + '|')} |" for name, said in rows]
    return "\n".join(["| name | is |", "|---|---|", *lines, ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
