"""What stays of a decision about a tool call: who decided what, and what ran."""

from __future__ import annotations

from typing import Any

import ipywidgets

from nbgraph import words
from nbgraph.core.decisions import ToolInterrupt
from nbgraph.core.questions import Answered
from nbgraph.notebook.card_zones import call_spans
from nbgraph.notebook.parts import column, mark, row, text
from nbgraph.notebook.spans import Flow, code
from nbgraph.tool_calls import Outcome, outcome

__all__ = ["decision_record"]


def decision_record(call: ToolInterrupt, record: Answered) -> ipywidgets.VBox:
    """Return a decision for reading: `send_refund denied by desk-2 at 12:04:31, after 2 min`."""
    found = outcome(call, record.answer)
    said = f"{found.words} by {record.by or 'somebody'} at {words.clock(record.at)}"
    if asked := record.interrupt.created_at:
        said += f", after {words.duration(max(0.0, record.at - asked))}"
    name = Flow(code(call.tool_name, "nbgraph-strong"), "nbgraph-tool")
    head = row([mark(found.mark), name, text(said)], "nbgraph-head")
    classes = ("nbgraph-record", *(("denied",) if found.mark == "failed" else ()))
    comment = [text(f"Comment: {record.comment}", "nbgraph-text")] if record.comment else []
    return column([head, *_parts(call, found), *comment], *classes)


def _parts(call: ToolInterrupt, found: Outcome) -> list[Any]:
    parts: list[Any] = [Flow(call_spans(call, found.changed), "nbgraph-code")]
    if found.message:
        ran = found.arguments is not None
        what = "Reason" if found.mark == "failed" else "Note" if ran else "Answer"
        parts.append(text(f"{what}: {found.message}", "nbgraph-text"))
    if found.arguments is None:
        parts.append(text("Did not run.", "nbgraph-2nd"))
    return parts
