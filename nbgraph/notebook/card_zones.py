"""The three zones of a tool card: what the code says, what the model proposes, what runs.

Each has its own edge and fixed words. Text of the model stands in the second and the third, each
value in labels of its own, so that it cannot pass for words of the card.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import ipywidgets

from nbgraph.core.answers import Unset
from nbgraph.core.decisions import ToolInterrupt
from nbgraph.core.hidden import pieces, reveal
from nbgraph.core.json_values import Json
from nbgraph.covering import covered_arguments, covered_edit
from nbgraph.drawing import cut
from nbgraph.excerpts import counts, excerpt, is_long
from nbgraph.forms import MASK
from nbgraph.literals import literal
from nbgraph.notebook.parts import column, grid, mark, row, text
from nbgraph.notebook.spans import Flow, Span, code, spans, words
from nbgraph.tool_calls import Edit, why_asked

__all__ = ["call_spans", "call_zone", "model_zone", "system_zone"]

_MARK = "nbgraph-hidden-char"


def _zone(kind: str, title: str, about: Any, content: Iterable[Any]) -> ipywidgets.GridBox:
    said = [text(title, "nbgraph-h3")]
    heading = column([*said, about] if about is not None else said, "nbgraph-zone-name")
    inside = column(content, "nbgraph-zone-content")
    return grid([heading, inside], "nbgraph-zone", kind)


def system_zone(call: ToolInterrupt) -> ipywidgets.GridBox:
    """Return what the author of the graph says about a tool, and which rule asks."""
    said: list[Any] = [Flow(code(call.tool_name, "nbgraph-strong"), "nbgraph-tool")]
    if call.description:
        said.append(text(call.description, "nbgraph-text"))
    said.append(text(why_asked(call), "nbgraph-2nd", "nbgraph-small", "nbgraph-asked"))
    if call.destructive:
        warning = text("Marked destructive: what it does cannot be undone.", "nbgraph-strong")
        said.append(row([mark("failed"), warning], "nbgraph-marked"))
    return _zone("system", "From your code", None, said)


def model_zone(arguments: ipywidgets.Widget) -> ipywidgets.GridBox:
    """Return the zone of the arguments that the model proposes."""
    about = text("may be wrong or misleading: check each value", "nbgraph-small", "nbgraph-2nd")
    return _zone("model", "Proposed by the model", about, [arguments])


def call_zone(call: ToolInterrupt, shown: Flow) -> ipywidgets.GridBox:
    """Return the zone of the call as it will run, and what it is bound to."""
    bound = [*words("bound to call "), *code(cut(call.tool_call_id, 24))]
    if call.call_hash:
        digest = f"{call.call_hash[:4]} {call.call_hash[4:8]}"
        bound += [*words(", digest "), *code(digest)]
    about = Flow(bound, "nbgraph-small", "nbgraph-2nd")
    return _zone("call", "Exactly this runs", about, [shown])


def call_spans(call: ToolInterrupt, changed: Sequence[Edit]) -> list[Span]:
    """Return a call as Python, old and new where an argument is changed; secrets are covered."""
    edits = {edit.name: covered_edit(call, edit) for edit in changed}
    given = covered_arguments(call)
    names = list({**given, **edits})
    if not names:
        return words(f"{reveal(call.tool_name)}()")
    found = words(f"{reveal(call.tool_name)}(\n")
    for name in names:
        found += [*words("    "), *_name(name), *words("=")]
        found += _edited(edits[name]) if name in edits else _value(given[name])
        found += words("\n")
    return [*found, *words(")")]


def _name(name: str) -> list[Span]:
    return words(name) if name.isidentifier() and name.isascii() else spans(literal(name))


def _edited(edit: Edit) -> list[Span]:
    found: list[Span] = []
    if not isinstance(edit.old, Unset):
        found += [*_excerpt(edit.old, "nbgraph-del"), *words(" ")]
    if isinstance(edit.new, Unset):
        return [*found, *words("  # left out")]
    return [*found, *_excerpt(edit.new, "nbgraph-ins"), *words(f",{_comment(edit.new)}")]


def _value(value: Json) -> list[Span]:
    return [*_excerpt(value), *words(f",{_comment(value)}")]


def _excerpt(value: Json, *classes: str) -> list[Span]:
    shown = excerpt(literal(value, indent=4))
    found = spans(shown.head, *classes)
    if shown.left_out:
        found += [(f"{shown.left_out:,} more", (_MARK,)), *spans(shown.tail, *classes)]
    return found


def _comment(value: Json) -> str:
    if value == MASK:
        return "  # not shown"
    if isinstance(value, str) and is_long(pieces(value)):
        return f"  # {counts(value)}"
    return ""
