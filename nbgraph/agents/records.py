"""What was decided about tool calls: a fold over a thread's events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, cast, overload

from pydantic import ValidationError

from nbgraph.core.decisions import Action, ToolInterrupt, decided, edited_arguments
from nbgraph.core.events import (
    AnswerRefused,
    AnswersGiven,
    Event,
    Interrupt,
    OnceRecorded,
    TaskFinished,
    TaskInterrupted,
)
from nbgraph.errors import IntegrationNotInstalledError

if TYPE_CHECKING:
    import pandas

__all__ = ["Decision", "Decisions", "decisions_of"]


@dataclass(frozen=True, slots=True)
class Decision:
    """One asking about one tool call, and what came of it.

    Attributes
    ----------
    tool, tool_call_id, key, branch_id : str
        Which call, asked under which key, on which branch.
    decision : str
        `"pending"`, `"approve"`, `"edit"`, `"deny"`, `"respond"`, or `"refused"` for an answer that
        did not count and was asked for again, or `"void"` for a question another one took the place
        of before it was answered, or after an answer that did not fit the call any more.
    proposed : dict
        The arguments the model asked for.
    approved : dict or None
        Those that may run: what was edited is merged in. None if the call may not run.
    executed : dict or None
        Those it ran with, once that is recorded.
    reason : str or None
        What was said with the decision, else beside the answer that holds it.
    by : str or None
        Who decided.
    asked_at, decided_at : float, float or None
        When, in seconds since the epoch.
    call_hash : str
        The digest of the call that was shown.
    asked : int
        Sequence of the event that asked.
    """

    tool: str
    tool_call_id: str
    key: str
    branch_id: str
    decision: str
    proposed: dict[str, Any]
    approved: dict[str, Any] | None = None
    executed: dict[str, Any] | None = None
    reason: str | None = None
    by: str | None = None
    asked_at: float = 0.0
    decided_at: float | None = None
    call_hash: str = ""
    asked: int = 0


class Decisions(Sequence[Decision]):
    """All decisions of a branch, in the order in which they were asked for."""

    def __init__(self, rows: Iterable[Decision]) -> None:
        self._rows = tuple(rows)

    @overload
    def __getitem__(self, index: int) -> Decision: ...
    @overload
    def __getitem__(self, index: slice) -> Decisions: ...
    def __getitem__(self, index: int | slice) -> Decision | Decisions:
        """Return a row, or some of them."""
        found = self._rows[index]
        return found if isinstance(found, Decision) else Decisions(found)

    def __len__(self) -> int:
        return len(self._rows)

    def to_frame(self) -> pandas.DataFrame:
        """Return the rows as a pandas data frame; times are UTC.

        Raises
        ------
        IntegrationNotInstalledError
            Without pandas.
        """
        try:
            import pandas
        except ImportError as error:
            raise IntegrationNotInstalledError("pandas", "pandas") from error
        rows = [asdict(row) for row in self._rows]
        columns: dict[str, Any] = {
            name: [row[name] for row in rows] for name in Decision.__dataclass_fields__
        }
        for name in ("asked_at", "decided_at"):
            columns[name] = pandas.Series(
                [_time(at) for at in columns[name]], dtype="datetime64[ns, UTC]"
            )
        return pandas.DataFrame(columns)

    def __repr__(self) -> str:
        return f"<{len(self)} decisions>"


def _time(at: float | None) -> datetime | None:
    return None if at is None else datetime.fromtimestamp(at, UTC)


def decisions_of(events: Iterable[Event]) -> Decisions:
    """Return the decisions that the events of a branch tell of."""
    fold = _Fold()
    for event in events:
        fold.add(event)
    return Decisions(fold.rows)


@dataclass(slots=True)
class _Fold:
    """The rows so far, and the places of those that can still change."""

    rows: list[Decision] = field(default_factory=list[Decision])
    asked: dict[str, int] = field(default_factory=dict[str, int])
    allowed: dict[str, Sequence[Action]] = field(default_factory=dict[str, Sequence[Action]])

    def add(self, event: Event) -> None:
        match event:
            case TaskInterrupted(interrupts=questions):
                for question in questions:
                    self._ask(question, event)
            case AnswersGiven(answers=answers, lapsed=lapsed):
                for key, answer in answers.items():
                    if lapsed.get(key) != "again":
                        self._decide(key, False if key in lapsed else answer, event)
            case AnswerRefused(key=key, problems=problems):
                self._refuse(key, problems, event)
            case OnceRecorded(value=value):
                self._run([value])
            case TaskFinished(update=update):
                self._run(update.values())
            case _:
                pass

    def _ask(self, question: Interrupt, event: Event) -> None:
        call = _call_of(question)
        if call is None:
            return
        before = self.asked.get(question.key)
        if before is not None and self.rows[before].executed is None:
            self._void(before, call.tool_call_id)
        self.asked[question.key] = len(self.rows)
        self.allowed[question.key] = call.allowed
        self.rows.append(
            Decision(
                tool=call.tool_name,
                tool_call_id=call.tool_call_id,
                key=question.key,
                branch_id=event.branch_id,
                decision="pending",
                proposed=call.arguments,
                asked_at=event.created_at,
                call_hash=call.call_hash,
                asked=event.sequence,
            )
        )

    def _void(self, place: int, call_id: str) -> None:
        """Mark a row whose question is asked again, unless its call has run or may not."""
        row = self.rows[place]
        if row.decided_at is not None and row.tool_call_id != call_id:
            return  # another call under the same key: an engine's next turn
        if self.rows[place].decision in ("pending", "approve", "edit"):
            self.rows[place] = replace(self.rows[place], decision="void", approved=None)

    def _decide(self, key: str, answer: Any, event: AnswersGiven) -> None:
        place = self.asked.get(key)
        if place is None:
            return
        row = self.rows[place]
        decision = decided(answer, self.allowed[key])
        runs = decision.action in ("approve", "edit")
        self.rows[place] = replace(
            row,
            decision=decision.action,
            approved=edited_arguments(row.proposed, decision) if runs else None,
            reason=decision.message or event.comment,
            by=event.by,
            decided_at=event.created_at,
            branch_id=event.branch_id,
        )

    def _refuse(self, key: str, problems: Mapping[str, str], event: Event) -> None:
        place = self.asked.get(key)
        if place is None:
            return
        row = self.rows[place]
        why = "; ".join(f"{path or 'answer'}: {text}" for path, text in problems.items())
        self.rows[place] = replace(row, decision="refused", approved=None, reason=why)
        self.asked[key] = len(self.rows)
        self.rows.append(
            replace(
                row,
                decision="pending",
                approved=None,
                reason=None,
                by=None,
                decided_at=None,
                asked_at=event.created_at,
                asked=event.sequence,
            )
        )

    def _run(self, values: Iterable[Any]) -> None:
        for message in _tool_messages(values):
            for place in self.asked.values():
                row = self.rows[place]
                if row.tool_call_id == message.get("tool_call_id") and row.approved is not None:
                    ran = message.get("arguments", row.approved)
                    self.rows[place] = replace(row, executed=ran)


def _call_of(question: Interrupt) -> ToolInterrupt | None:
    payload = question.payload
    if not isinstance(payload, dict) or cast("Any", payload).get("kind") != "tool_interrupt":
        return None
    try:
        return ToolInterrupt.model_validate(payload)
    except ValidationError:
        return None


def _tool_messages(values: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the tool messages of calls that ran among values, which are JSON.

    LangChain's have no arguments: a call runs with those that were approved.
    """
    listed = (cast("list[Any]", one) if isinstance(one, list) else [one] for one in values)
    for item in chain.from_iterable(listed):
        message = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
        known = isinstance(message.get("arguments"), dict) or "additional_kwargs" in message
        if message.get("type") == "tool" and known:
            yield message
