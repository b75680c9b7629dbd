"""A thread as code: what runs it again with the same input and answers, and tests where that ends.

What comes from the thread stands there as Python literals. Secrets are covered.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from nbgraph.core.events import AnswersGiven, Event, RunStarted, StateEdited
from nbgraph.forms import MASK, inputs_of, read, replaced, secret_places
from nbgraph.moments import moments
from nbgraph.session import Session

__all__ = ["STEPPING", "as_test", "stepped"]

_OPENED = """from nbgraph import InMemoryStateStore, Replace, open_session

session = open_session(graph, store=InMemoryStateStore())"""

STEPPING = f"""{_OPENED}


def to(number):
    \"\"\"Go on until so many supersteps are finished, or a question waits.\"\"\"
    while session.snapshot.step < number and session.next and not session.pending:
        session.step().result()"""
"""What the lines of `stepped` need before them; the graph has the name `graph`."""


def as_test(session: Session) -> str:
    """Return a cell that runs a session's thread again in memory, and asserts where it ends.

    It needs the graph under the name `graph`, and prints nothing. It asserts the tasks of each
    superstep, the status, and the fields of the state that are short and have no ids in them: those
    are others in every run.
    """
    snapshot = session.snapshot
    lines = [*_together(_all_steps(session))]
    failure = snapshot.position.failure
    if failure is not None:  # the last line raises, as the node did
        lines[-1:] = _raising(lines[-1], failure.error.type)
    ran = [[bar.task_id for bar in step.tasks] for step in snapshot.supersteps]
    return "\n".join([
        STEPPING,
        "",
        "",
        *lines,
        "ran = [[task.task_id for task in step.tasks] for step in session.snapshot.supersteps]",
        f"assert ran == {ran!r}",
        f"assert session.status == {snapshot.status!r}",
        *_asserted(session.state),
    ])


def _raising(line: str, kind: str) -> list[str]:
    return [
        "failure = None",
        "try:",
        f"    {line}",
        "except Exception as error:",
        "    failure = type(error).__name__",
        f"assert failure == {kind!r}",
    ]


def _all_steps(session: Session) -> Iterator[str]:
    events, after = session.history(), 0
    for moment in moments(events):
        part = [event for event in events if after < event.sequence <= moment.sequence]
        yield from stepped(session, part, moment.number + moment.now)
        after = moment.sequence


def _together(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines, of several that go on to a superstep the last one."""
    waiting = ""
    for line in lines:
        if waiting and not line.startswith("to("):
            yield waiting
        waiting = line if line.startswith("to(") else ""
        if not waiting:
            yield line
    if waiting:
        yield waiting


def _asserted(state: Mapping[str, Any]) -> Iterator[str]:
    for name, value in state.items():
        written = repr(value)
        if len(written) <= _LONGEST and "'id': " not in written and _is_literal(written, value):
            yield f"assert session.state[{name!r}] == {written}"


def _is_literal(written: str, value: Any) -> bool:
    try:
        return ast.literal_eval(written) == value
    except ValueError:  # not a number, or without end
        return False


_LONGEST = 2_000


def stepped(session: Session, events: Sequence[Event], number: int) -> Iterator[str]:
    """Yield the lines that do what events tell, up to `number` supersteps; after `STEPPING`."""
    for event in events:
        match event:
            case RunStarted(input=given, replaced=past):
                shown = _masked(session.driver.shape.input_schema, given)
                yield from _noted(shown)
                written = repr(shown) if event.sequence == 1 else _update(shown, past)
                yield f"session.start({written}, break_when=lambda state: True).result()"
            case AnswersGiven():
                yield f"to({number})"
                yield from _answers(session, event)
            case StateEdited(update=update, replaced=past):
                yield f"session.edit({_update(update, past)})"
            case _:
                pass
    if number and events:
        yield f"to({number})"


def _answers(session: Session, event: AnswersGiven) -> Iterator[str]:
    waiting = session.at(event.sequence - 1).pending
    answers = {
        key: _masked(waiting[key].response_schema, answer) for key, answer in event.answers.items()
    }
    yield from _noted(answers)
    yield f"session.resume({answers!r}, break_when=lambda state: True).result()"


def _masked(schema: Mapping[str, Any] | None, value: Any) -> Any:
    if schema is None:
        return value
    field = read(schema)
    return replaced(
        value, dict.fromkeys(secret_places(field, inputs_of(field, value)), lambda _: MASK)
    )


def _noted(value: Any) -> Iterator[str]:
    if MASK in repr(value):
        yield f"# {MASK} stands for a secret, which is not written here: put it in"


def _update(update: Mapping[str, Any], past: Sequence[str]) -> str:
    pairs = (
        f"{name!r}: {f'Replace({value!r})' if name in past else repr(value)}"
        for name, value in update.items()
    )
    return f"{{{', '.join(pairs)}}}"
