"""What stays of a thread as text: deterministic, without times, ids of ours or addresses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from nbgraph.core.events import Interrupt
from nbgraph.core.position import Answered
from nbgraph.covering import covered_answer, covered_arguments
from nbgraph.drawing import reveal
from nbgraph.session import Session
from nbgraph.snapshot import Mark, Snapshot, Superstep, TaskBar
from nbgraph.tool_calls import asked_call

__all__ = ["answer_shown", "paragraph", "transcript"]

_WORDS: Mapping[Mark, str] = {
    "idle": "not yet",
    "running": "running",
    "done": "done",
    "waiting": "waiting for an answer",
    "failed": "failed",
    "skipped": "skipped",
}


def transcript(session: Session) -> str:
    """Return a session's thread as text: status, a line for each task, questions and answers."""
    snapshot = session.snapshot
    steps = snapshot.step
    names = (session.driver.shape.name, session.thread_id, session.branch_id)
    graph, thread, branch = map(reveal, names)
    head = (
        f"{graph}, thread {thread}, branch {branch}: "
        f"{snapshot.status}, {steps} superstep{'' if steps == 1 else 's'}"
    )
    return "\n".join([head, *_lines(snapshot)])


def paragraph(text: str) -> str:
    """Return a text of several lines with a bar before the later ones: it can pose as no other.

    Characters that would hide something are made visible.
    """
    return _LATER.join(map(reveal, text.split("\n")))


_LATER = "\n         | "


def _lines(snapshot: Snapshot) -> Iterator[str]:
    for step in snapshot.supersteps:
        names = [reveal(bar.task_id) for bar in step.tasks]
        width = max(map(len, names))
        for index, (bar, name) in enumerate(zip(step.tasks, names, strict=True)):
            number = str(step.number) if index == 0 else ""
            yield f"{number:>3}  {name:<{width}}  {_WORDS[bar.mark]}"
            yield from _asked_lines(snapshot, step, bar)
    if snapshot.error:
        yield f"failed with {paragraph(snapshot.error)}"


def _asked_lines(snapshot: Snapshot, step: Superstep, bar: TaskBar) -> Iterator[str]:
    for record in snapshot.records:
        if record.interrupt.task_id == bar.task_id and record.step == step.number:
            yield f"       asked {_question(record.interrupt)}"
            yield f"       {_how_ended(record)}"
            if record.comment:
                yield f"       said {_brief(record.comment)}"
    for question in snapshot.pending.values():
        if question.task_id == bar.task_id and step is snapshot.supersteps[-1]:
            yield f"       asks {_question(question)}"


def _how_ended(record: Answered) -> str:
    if record.lapsed is None:
        return f"answered {_brief(answer_shown(record))}"
    if not record.counts:
        return f"{record.lapsed}, without an answer"
    return f"{record.lapsed}, so that its default counts: {_brief(answer_shown(record))}"


def answer_shown(record: Answered) -> Any:
    """Return an answer as it reads later: its secrets covered, a decision without its digest.

    The digest binds a decision to the call that was looked at; it says nothing to a reader.
    """
    answer = covered_answer(record.interrupt, record.answer)
    if record.interrupt.reason != "tool_approval" or not isinstance(answer, dict):
        return answer
    given = cast("dict[str, Any]", answer)
    return {name: each for name, each in given.items() if name != "call_hash"}


def _question(interrupt: Interrupt) -> str:
    return f"{reveal(interrupt.key)}: {paragraph(interrupt.message or _brief(_payload(interrupt)))}"


def _payload(interrupt: Interrupt) -> Any:
    """Return what stands beside a question, without what a tool calls secrets."""
    call, payload = asked_call(interrupt), interrupt.payload
    if call is None or not isinstance(payload, dict):
        return payload
    told: dict[str, Any] = {**payload, "arguments": covered_arguments(call)}
    return told


def _brief(value: Any) -> str:
    shown = reveal(json.dumps(value, ensure_ascii=False))
    return shown if len(shown) <= 300 else f"{shown[:300]}… ({len(shown):,} characters)"
