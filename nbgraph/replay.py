"""A thread as code: what runs it again with the same input and answers, and tests where that ends.

What comes from the thread stands there as Python literals. Secrets are covered.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nbgraph.core.events import (
    AnswersGiven,
    Event,
    RunFailed,
    RunStarted,
    StateEdited,
    TaskFailed,
    TaskFinished,
    TaskInterrupted,
    TaskSpec,
)
from nbgraph.core.lapses import ASK_AGAIN, DISMISS
from nbgraph.covering import call_secrets, covered, covered_answer
from nbgraph.forms import MASK, inputs_of, read, replaced, secret_places
from nbgraph.moments import Moment, moments
from nbgraph.session import Session

__all__ = ["as_test", "opened", "stepped"]

_OPENED = """

session = open_session(graph, store=InMemoryStateStore())


def to(number):
    \"\"\"Go on until so many supersteps are finished, or a question waits.\"\"\"
    while session.snapshot.step < number and session.snapshot.position.tasks:
        if session.pending:
            break
        session.step().result()"""
_NAMES = ("ASK_AGAIN", "DISMISS", "Replace", "Send")


def opened(lines: Iterable[str]) -> str:
    """Return what the lines of `stepped` need before them; the graph has the name `graph`."""
    written = "\n".join(lines)
    used = [name for name in _NAMES if re.search(rf"\b{name}\b", written)]
    names = sorted([*used, "InMemoryStateStore", "open_session"])
    first = "from contextlib import suppress\n\n" if "with suppress(" in written else ""
    return f"{first}from nbgraph import {', '.join(names)}{_OPENED}"


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
        lines[-1:] = _raising(lines[-1].rpartition("\n    ")[2], failure.error.type)
    ran = [[bar.task_id for bar in step.tasks] for step in snapshot.supersteps]
    return "\n".join([
        opened(lines),
        "",
        "",
        *lines,
        "ran = [[task.task_id for task in step.tasks] for step in session.snapshot.supersteps]",
        f"assert ran == {ran!r}",
        f"assert session.status == {snapshot.status!r}",
        *_asserted(session.state, call_secrets(session.history())),
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
        yield from stepped(session, part, moment)
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


def _asserted(state: Mapping[str, Any], secrets: Collection[str]) -> Iterator[str]:
    for name, value in state.items():
        if covered(value, secrets) != value:
            continue
        written = repr(value)
        if len(written) <= _LONGEST and "'id': " not in written and _is_literal(written, value):
            yield f"assert session.state[{name!r}] == {written}"


def _is_literal(written: str, value: Any) -> bool:
    try:
        return ast.literal_eval(written) == value
    except ValueError:  # not a number, or without end
        return False


_LONGEST = 2_000


def stepped(session: Session, events: Sequence[Event], moment: Moment) -> Iterator[str]:
    """Yield the lines that do what events tell, up to a step; they stand after `opened`.

    What failed and was gone on with may fail again; a task that was skipped does not run.
    """
    if events:
        yield from _Part(session, _kept(events), moment).lines()


@dataclass(slots=True)
class _Part:
    """The events up to a step; `ran` are the tasks that lines run so far, None after an answer."""

    session: Session
    events: Sequence[Event]
    moment: Moment
    ran: set[str] | None = field(default_factory=set[str])

    @property
    def to(self) -> str:
        return f"to({self.moment.number + self.moment.now})"

    @property
    def skips(self) -> Sequence[TaskFinished]:
        return [
            each for each in self.events if isinstance(each, TaskFinished) and not each.attempts
        ]

    def lines(self) -> Iterator[str]:
        planned = next((event for event in reversed(self.events) if _plans(event)), None)
        if planned is None:
            yield from self._skips()
        for at, event in enumerate(self.events):
            match event:
                case RunStarted():
                    yield from _started(self.session, event)
                case StateEdited() if not _is_whole(event):
                    yield from self._so_far(at)
                    yield _edited(event)
                case AnswersGiven():
                    yield from self._so_far(at)
                    yield from self._answers(event, fails=_failed(self.events[at:]))
                case _:
                    pass
            if event is planned:
                yield from self._skips()
        yield from self._so_far(len(self.events)) if self.moment.now else [self.to]

    def _skips(self) -> Iterator[str]:
        if self.skips:
            yield f"to({self.moment.number + self.moment.now - 1})"
        for each in self.skips:
            yield f"session.skip({each.task_id!r}, {_update(each.update, each.replaced)})"

    def _answers(self, event: AnswersGiven, *, fails: bool) -> Iterator[str]:
        waiting = self.session.at(event.sequence - 1).pending
        skipped = {each.task_id for each in self.skips}
        answers = {
            key: _LAPSES[event.lapsed[key]]
            if key in event.lapsed
            else covered_answer(waiting[key], answer)
            for key, answer in event.answers.items()
            if waiting[key].task_id not in skipped
        }
        if answers:
            self.ran = None
            yield from _noted(answers)
            line = f"session.resume({answers!r}, break_when=lambda state: True).result()"
            yield _forgiven(line) if fails else line

    def _so_far(self, upto: int) -> Iterator[str]:
        """Yield the lines that run what had run of a superstep when so many events had happened."""
        reports = [each for each in self.events[:upto] if isinstance(each, _REPORTS)]
        fails = {each.task_id: isinstance(each, TaskFailed) for each in reports}
        if not fails or (self.ran is None and upto < len(self.events)):
            return
        planned = self.session.at(self.events[upto - 1].sequence).position.tasks
        whole = {task.task_id for task in planned} == fails.keys()
        if self.ran is None or (whole and not any(fails.values())):
            yield from [self.to] if whole else []
            return
        skipped = {each.task_id for each in self.skips}
        for task_id in sorted(fails, key=lambda each: fails[each]):  # who fails is the last
            if task_id not in {*self.ran, *skipped}:
                self.ran.add(task_id)
                line = f"session.step({task_id!r}).result()"
                yield _forgiven(line) if fails[task_id] else line


def _kept(events: Sequence[Event]) -> Sequence[Event]:
    """Return the events without those of supersteps that were dropped: nothing is left of them."""
    last = max((at for at, event in enumerate(events) if _plans(event)), default=0)
    writes = RunStarted | StateEdited
    return [each for at, each in enumerate(events) if at >= last or isinstance(each, writes)]


def _plans(event: Event) -> bool:
    """Return whether a person's event says what runs next."""
    return isinstance(event, RunStarted) or (
        isinstance(event, StateEdited) and event.tasks is not None
    )


def _is_whole(event: StateEdited) -> bool:
    """Return whether an engine that merges by itself told its whole values."""
    return event.by is None and {*event.update} == {*event.replaced}


def _failed(events: Iterable[Event]) -> bool:
    return any(isinstance(each, RunFailed) for each in events)


def _forgiven(line: str) -> str:
    return f"with suppress(Exception):  # the thread failed here, and went on\n    {line}"


def _started(session: Session, event: RunStarted) -> Iterator[str]:
    shown = _masked(session.driver.shape.input_schema, event.input)
    yield from _noted(shown)
    written = repr(shown) if event.sequence == 1 else _update(shown, event.replaced)
    yield f"session.start({written}, break_when=lambda state: True).result()"


def _edited(event: StateEdited) -> str:
    goto = "" if event.tasks is None else f", goto={_targets(event.tasks)}"
    return f"session.edit({_update(event.update, event.replaced)}{goto})"


def _targets(tasks: Iterable[TaskSpec]) -> str:
    """Return where an edit leads, as code."""
    targets = (
        repr(task.node)
        if task.payload is None
        else f"Send(graph.structure.nodes[{task.node!r}], {task.payload!r})"
        for task in tasks
    )
    return f"[{', '.join(targets)}]"


_LAPSES = {"dismissed": DISMISS, "expired": DISMISS, "again": ASK_AGAIN}
_REPORTS = TaskFinished | TaskFailed | TaskInterrupted


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
