"""What stays of a thread as text: deterministic, without times, ids of ours or addresses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from nbgraph.core.events import Interrupt
from nbgraph.core.position import Answered
from nbgraph.drawing import reveal
from nbgraph.forms import MASK, inputs_of, read, replaced, secret_places
from nbgraph.session import Session
from nbgraph.snapshot import Mark, Snapshot, Superstep, TaskBar

__all__ = ["transcript", "without_secrets"]

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
    head = (
        f"{session.driver.shape.name}, thread {session.thread_id}, branch {session.branch_id}: "
        f"{snapshot.status}, {steps} superstep{'' if steps == 1 else 's'}"
    )
    return _revealed("\n".join([head, *_lines(snapshot)]))


def _revealed(text: str) -> str:
    """Return text with characters that would hide something made visible; line ends stay."""
    return "\n".join(map(reveal, text.split("\n")))


def _lines(snapshot: Snapshot) -> Iterator[str]:
    for step in snapshot.supersteps:
        width = max(len(bar.task_id) for bar in step.tasks)
        for index, bar in enumerate(step.tasks):
            number = str(step.number) if index == 0 else ""
            yield f"{number:>3}  {bar.task_id:<{width}}  {_WORDS[bar.mark]}"
            yield from _asked_lines(snapshot, step, bar)
    if snapshot.error:
        yield f"failed with {snapshot.error}"


def _asked_lines(snapshot: Snapshot, step: Superstep, bar: TaskBar) -> Iterator[str]:
    for record in snapshot.records:
        if record.interrupt.task_id == bar.task_id and record.step == step.number:
            yield f"       asked {record.interrupt.key}: {_question(record.interrupt)}"
            yield f"       answered {_brief(without_secrets(record))}"
            if record.comment:
                yield f"       said {_brief(record.comment)}"
    for question in snapshot.pending.values():
        if question.task_id == bar.task_id and step is snapshot.supersteps[-1]:
            yield f"       asks {question.key}: {_question(question)}"


def without_secrets(record: Answered) -> Any:
    """Return an answer with what its schema calls a secret covered."""
    schema = record.interrupt.response_schema
    if schema is None:
        return record.answer
    field = read(schema)
    places = secret_places(field, inputs_of(field, record.answer))
    return replaced(record.answer, dict.fromkeys(places, lambda _: MASK))


def _question(interrupt: Interrupt) -> str:
    return interrupt.message or _brief(interrupt.payload)


def _brief(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 300 else f"{shown[:300]}… ({len(shown):,} characters)"
