"""What stays of questions and runs: answered records and the result."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets

from nbgraph import words
from nbgraph.core.position import Answered
from nbgraph.forms import answer_rows, read, value_words
from nbgraph.notebook.lean import button, column, grid, row
from nbgraph.notebook.lean import said as text
from nbgraph.notebook.parts import mark
from nbgraph.notebook.tool_record import decision_record
from nbgraph.tool_calls import asked_call

__all__ = ["record_card", "result_card", "table"]

_RESULT_LIMIT = 4_000


def table(rows: list[tuple[str, str]]) -> ipywidgets.GridBox:
    """Return rows of name and value."""
    return grid([text(part) for pair in rows for part in pair], "nbgraph-table")


def record_card(
    record: Answered, again: Callable[[], object] | None, other: Answered | None = None
) -> ipywidgets.VBox:
    """Return what was answered, by whom and when; `again` answers the question differently.

    With the answer of another branch, rows that are not the same there are marked.
    """
    asked = record.interrupt
    call = asked_call(asked)
    if call is not None and record.lapsed is None:
        made = decision_record(call, record)
        made.children = (*made.children, *_again(again))
        return made
    sign = mark("done" if record.lapsed is None else "skipped")
    told = text(words.how_answered(record))
    head = row([sign, text(asked.node, "nbgraph-strong"), told], "nbgraph-head")
    parts: list[ipywidgets.Widget] = [head]
    if asked.message:
        parts.append(text(asked.message, "nbgraph-text"))
    if record.lapsed is not None and not asked.has_default:
        return column([*parts, *_again(again)], "nbgraph-record")
    rows, there = _answer_rows(record), dict(_answer_rows(other)) if other else {}
    marked = [
        (f"≠ {name}" if other and there.get(name) != value else name, value) for name, value in rows
    ]
    parts.append(table([*marked, *([("comment", record.comment)] if record.comment else [])]))
    return column([*parts, *_again(again)], "nbgraph-record")


def _again(again: Callable[[], object] | None) -> list[ipywidgets.Widget]:
    if again is None:
        return []
    return [row([button("Answer differently", again, "nbgraph-again", "quiet")])]


def _answer_rows(record: Answered) -> list[tuple[str, str]]:
    schema = record.interrupt.response_schema
    if schema is None:
        return [("answer", value_words(record.answer))]
    return answer_rows(read(schema), record.answer)


def result_card(state: Mapping[str, Any]) -> ipywidgets.VBox:
    """Return the state at the end of a run, as JSON."""
    shown = json.dumps(state, indent=1, ensure_ascii=False)
    if len(shown) > _RESULT_LIMIT:
        more = f"\n… {len(shown) - _RESULT_LIMIT:,} more characters"
        shown = shown[:_RESULT_LIMIT] + more
    parts = [text("Result", "nbgraph-h3"), text(shown, "nbgraph-text", "nbgraph-code")]
    return column(parts, "nbgraph-result")
