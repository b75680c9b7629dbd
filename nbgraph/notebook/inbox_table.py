"""What the rows of an inbox say, and the table that stays of it without a kernel."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from nbgraph import clocks
from nbgraph.core.hidden import reveal
from nbgraph.core.questions import Answered
from nbgraph.covering import covered_answer
from nbgraph.drawing import cut
from nbgraph.forms import value_words
from nbgraph.notebook.inbox_rows import Row
from nbgraph.notebook.inbox_words import due, how_it_ended
from nbgraph.one_line import in_a_line
from nbgraph.tool_calls import asked_call, outcome
from nbgraph.waiting import Address, Page, Question, Survey

__all__ = ["Told", "answered_rows", "static_table", "waiting_rows"]

_REASONS = {
    "tool_approval": "tool approval",
    "outcome_unknown": "outcome unknown",
    "input_required": "question",
}
_NAME_LIMIT, _ANSWER_LIMIT, _REASON_LIMIT, _PROBLEM_LIMIT = 80, 160, 16, 400
_KEPT = 50
"""How many rows stay in a saved notebook."""


@dataclass(frozen=True, slots=True)
class Told:
    """What an inbox knows of its questions beside the questions.

    Attributes
    ----------
    id : callable
        Returns the id of a question's row.
    picked : container of Address
        Which are picked.
    problems : dict of Address to str
        Why answers were not recorded.
    opened : Question or None
        Which is open.
    now : float
        The time.
    """

    id: Callable[[Address], str]
    picked: Mapping[Address, Question]
    problems: Mapping[Address, str]
    opened: Question | None
    now: float


def waiting_rows(questions: Sequence[Question], told: Told, *, grouped: bool) -> list[Row]:
    """Return the rows of questions that wait; grouped, those that are alike below a heading."""
    if not grouped:
        return [_waiting(each, told) for each in questions]
    kinds: dict[str, list[Question]] = {}
    for each in questions:
        kinds.setdefault(each.kind, []).append(each)
    rows: list[Row] = []
    for alike in kinds.values():
        rows += [_heading(alike, told), *(_waiting(each, told) for each in alike)]
    return rows


def _heading(alike: Sequence[Question], told: Told) -> Row:
    first = alike[0]
    name = first.tool or f"{first.record.graph} / {first.record.interrupt.node}"
    return Row(
        f"{told.id(first.address)}-group",
        asks=f"{cut(reveal(name), _NAME_LIMIT)} × {len(alike)}",
        act="",
        is_picked=all(each.address in told.picked for each in alike),
        held=_why_not(first, told.picked),
        is_group=True,
    )


def _waiting(question: Question, told: Told) -> Row:
    record, address = question.record, question.address
    asked = record.interrupt
    return Row(
        told.id(address),
        who=cut(reveal(record.thread_id), _NAME_LIMIT),
        where=_where(question),
        asks=question.asks,
        detail=question.detail,
        is_code=question.tool is not None,
        why=_reason(asked.reason),
        age=clocks.age(max(0.0, told.now - asked.created_at)),
        since=due(question, told.now),
        is_picked=address in told.picked,
        is_open=question == told.opened,
        act="Close" if question == told.opened else "Open",
        held=_why_not(question, told.picked),
        problem=in_a_line(told.problems.get(address, ""), _PROBLEM_LIMIT),
    )


def _reason(reason: str) -> str:
    return _REASONS.get(reason) or cut(reveal(reason), _REASON_LIMIT)


def _where(question: Question) -> str:
    record = question.record
    branch = "" if record.branch_id == "main" else f" · branch {record.branch_id}"
    return cut(reveal(f"{record.graph} / {record.interrupt.node}{branch}"), _NAME_LIMIT)


def _why_not(question: Question, picked: Mapping[Address, Question]) -> str:
    kinds = {each.kind for each in picked.values()}
    return "" if kinds <= {question.kind} else "Another kind of question than those picked"


def answered_rows(answered: dict[Address, Answered], told: Told) -> list[Row]:
    """Return the rows of what was answered, the newest first."""
    return [_answered(address, answered[address], told) for address in reversed(answered)]


def _answered(address: Address, record: Answered, told: Told) -> Row:
    thread_id, branch_id, _, _ = address
    asked, call = record.interrupt, asked_call(record.interrupt)
    said, mark = how_it_ended(record), "done" if record.lapsed is None else "skipped"
    if call is not None and record.lapsed is None:
        found = outcome(call, record.answer)
        said, mark = found.words, found.mark
    branch = "" if branch_id == "main" else f" · branch {branch_id}"
    return Row(
        told.id(address),
        who=cut(reveal(thread_id), _NAME_LIMIT),
        where=cut(reveal(f"{asked.node}{branch}"), _NAME_LIMIT),
        asks=cut(reveal(call.tool_name if call else asked.message or asked.key), _ANSWER_LIMIT),
        is_code=call is not None,
        detail="" if call else _answer(record),
        why=said,
        mark=mark,
        age=clocks.clock(record.at),
        since=f"by {cut(reveal(record.by or 'somebody'), 24)}",
        act="",
        held="It is answered",
    )


def _answer(record: Answered) -> str:
    shown = value_words(covered_answer(record.interrupt, record.answer))
    return cut(reveal(shown), _ANSWER_LIMIT)


# --- without a kernel -----------------------------------------------------------------------------


def static_table(page: Page, survey: Survey) -> dict[str, str]:
    """Return what stays of an inbox in a saved notebook, by mime type; no times are in it."""
    shown = page.questions[:_KEPT]
    left = "" if len(shown) == survey.count and survey.is_all else f", {len(shown)} of them below"
    head = f"Inbox: {survey.waiting}{left if shown else ''}"
    rows = [_cells(question) for question in shown]
    return {"text/html": _html(head, rows), "text/plain": _text(head, rows)}


_HEADS = ("thread", "graph / node", "asks", "about")


def _cells(question: Question) -> tuple[str, ...]:
    thread = cut(reveal(question.record.thread_id), _NAME_LIMIT)
    return thread, _where(question), question.asks, question.detail


def _text(head: str, rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return head
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join([head, *(f"  {line}" for line in lines)])


def _html(head: str, rows: Iterable[Sequence[str]]) -> str:
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    if not body:
        return f"<p>{html.escape(head)}</p>"
    heads = "".join(f'<th style="text-align:left">{each}</th>' for each in _HEADS)
    return (
        f"<p>{html.escape(head)}</p><table><thead><tr>{heads}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def _cell(text: str) -> str:
    # in <pre> nothing is read as mathematics
    shown = f"<bdi>{html.escape(text)}</bdi>"
    style = "margin:0;font:inherit;text-align:left;white-space:pre-wrap"
    return f'<td><pre style="{style}">{shown}</pre></td>'
