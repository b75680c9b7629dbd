"""The questions that wait in a store, as a list shows them: read a page at a time, filtered, told.

Nothing is kept here: every page is read from `store.pending()` again.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from nbgraph.core.decisions import ToolInterrupt
from nbgraph.core.events import AnswersGiven
from nbgraph.core.lapses import is_expired
from nbgraph.core.questions import Answered
from nbgraph.core.store import PendingRecord, StateStore
from nbgraph.covering import covered_arguments
from nbgraph.one_line import arguments, brief, in_a_line
from nbgraph.tool_calls import asked_call

__all__ = [
    "Address",
    "Order",
    "Page",
    "Question",
    "Survey",
    "Wanted",
    "answer_to",
    "look",
    "survey",
]

Address = tuple[str, str, str, int]
"""Which question: thread, branch, key, and the event that asked."""

Order = Literal["oldest", "newest", "due"]
"""Which questions come first."""

_STEP = 200
"""How many questions are read at a time where a filter looks through them."""
_MOST = 2_000
"""How many questions one look through them reads."""
_COUNTED = 1_000
"""How many questions are counted exactly; more are `1,000+`."""
_BRIEF = 160


@dataclass(frozen=True, eq=False)
class Question:
    """A question that waits, and what a list tells of it."""

    record: PendingRecord

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Question) and self.address == other.address

    def __hash__(self) -> int:
        return hash(self.address)

    @property
    def address(self) -> Address:
        """Which question it is; asked again it is another one."""
        asked = self.record.interrupt
        return self.record.thread_id, self.record.branch_id, asked.key, asked.asked

    @cached_property
    def call(self) -> ToolInterrupt | None:
        """The tool call it is about; None if it is about something else."""
        return asked_call(self.record.interrupt)

    @property
    def tool(self) -> str | None:
        """The tool whose call it is about."""
        return self.call.tool_name if self.call else None

    @cached_property
    def kind(self) -> str:
        """What questions that can be answered together have in common."""
        asked, call = self.record.interrupt, self.call
        if call is not None:
            parts: list[Any] = ["tool", call.tool_name, call.input_schema, call.allowed]
        else:
            name = asked.key.rpartition(":")[2]
            parts = ["form", self.record.graph, asked.node, name, asked.response_schema]
        return json.dumps(parts, sort_keys=True)

    @cached_property
    def asks(self) -> str:
        """What is asked, in a line."""
        if self.tool is not None:
            return in_a_line(self.tool, _BRIEF)
        asked = self.record.interrupt
        return in_a_line(asked.message or brief(asked.payload, 2 * _BRIEF), _BRIEF)

    @cached_property
    def detail(self) -> str:
        """What it is asked about, in a line; empty if there is nothing to add."""
        asked = self.record.interrupt
        if self.call is not None:
            return in_a_line(arguments(self.call, 2 * _BRIEF), _BRIEF)
        return in_a_line(brief(asked.payload, 2 * _BRIEF), _BRIEF) if asked.message else ""

    def is_overdue(self, now: float) -> bool:
        """Whether its time is over: no answer counts any more."""
        return is_expired(self.record.interrupt, now)

    @cached_property
    def searched(self) -> str:
        """All that a search looks at; what a tool calls a secret is not found."""
        record, asked = self.record, self.record.interrupt
        names = (record.thread_id, record.branch_id, record.graph, asked.node, asked.key)
        said = (asked.message or "", brief(asked.payload if self.call is None else None))
        if self.call is None:
            return "\n".join((*names, *said)).casefold()
        called = self.call.tool_name, brief(covered_arguments(self.call))
        return "\n".join((*names, *said, *called)).casefold()


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which questions are wanted.

    Attributes
    ----------
    text : str
        Is found in ids, message, payload or arguments, in any case.
    graph, node, tool : str or None
        Whose questions; None for all.
    older : float
        How many seconds they have waited at least.
    order : "oldest", "newest" or "due"
        Which come first: those that have waited longest or shortest, or whose time is over first.
    """

    text: str = ""
    graph: str | None = None
    node: str | None = None
    tool: str | None = None
    older: float = 0.0
    order: Order = "oldest"

    def __bool__(self) -> bool:
        """Return whether not all are wanted."""
        return self.count > 0

    @property
    def count(self) -> int:
        """How many conditions there are."""
        return sum(map(bool, (self.text.strip(), self.graph, self.node, self.tool, self.older)))

    def admits(self, question: Question, now: float) -> bool:
        """Return whether a question is one of them."""
        record = question.record
        return (
            self.graph in (None, record.graph)
            and self.node in (None, record.interrupt.node)
            and now - record.interrupt.created_at >= self.older
            and (self.tool is None or self.tool == question.tool)
            and all(word in question.searched for word in self.text.casefold().split())
        )


def _due(question: Question) -> tuple[float, float]:
    asked = question.record.interrupt
    return math.inf if asked.expires_at is None else asked.expires_at, asked.created_at


_SORTED: Mapping[Order, Callable[[list[Question]], list[Question]]] = {
    "newest": lambda found: found[::-1],
    "due": lambda found: sorted(found, key=_due),
}


@dataclass(frozen=True, slots=True)
class Page:
    """Questions that follow one another, in the order that is wanted.

    Attributes
    ----------
    questions : tuple of Question
        What is shown.
    has_more : bool
        Whether there are more, or may be.
    looked : int
        How many were looked through for them.
    place : PendingRecord or None
        Where a later look goes on; None where they are sorted, which is done for the oldest ones.
    is_part : bool
        Whether there are later ones, which the order leaves out.
    """

    questions: tuple[Question, ...] = ()
    has_more: bool = False
    looked: int = 0
    place: PendingRecord | None = None
    is_part: bool = False


async def look(
    store: StateStore,
    wanted: Wanted,
    *,
    size: int,
    now: float,
    after: PendingRecord | None = None,
) -> Page:
    """Read a page of questions.

    A filter that few questions pass ends after 2,000; `Page.place` says where to go on. Another
    order than the oldest first is that of the 2,000 oldest.

    Parameters
    ----------
    store : StateStore
        What is read.
    wanted : Wanted
        Which questions.
    size : int
        How many at most.
    now : float
        The time, for their age.
    after : PendingRecord, optional
        The question after which to begin; by default the oldest is the first.
    """
    if wanted.order != "oldest":
        return await _sorted(store, wanted, size, now)
    found: list[Question] = []
    looked, place = 0, after
    step = _STEP if wanted else size + 1
    while looked < max(_MOST, step):
        records = await store.pending(limit=step, after=place)
        looked += len(records)
        found += [each for each in map(Question, records) if wanted.admits(each, now)]
        if len(found) > size:
            return Page(tuple(found[:size]), True, looked, found[size - 1].record)
        place = records[-1] if records else place
        if len(records) < step:
            return Page(tuple(found), False, looked, place)
    return Page(tuple(found), True, looked, place)


async def _sorted(store: StateStore, wanted: Wanted, size: int, now: float) -> Page:
    there = await store.pending(limit=_MOST + 1)
    records = there[:_MOST]
    found = [each for each in map(Question, records) if wanted.admits(each, now)]
    ordered = _SORTED[wanted.order](found)
    return Page(
        tuple(ordered[:size]), len(ordered) > size, len(records), is_part=len(there) > _MOST
    )


@dataclass(frozen=True, slots=True)
class Survey:
    """What there is to choose from: how many questions wait, of which graphs, nodes and tools."""

    count: int = 0
    is_all: bool = True
    oldest: float | None = None
    graphs: Counter[str] = field(default_factory=Counter[str])
    nodes: Counter[str] = field(default_factory=Counter[str])
    tools: Counter[str] = field(default_factory=Counter[str])

    @property
    def waiting(self) -> str:
        """How many wait: `23 waiting`, `1,000+ waiting`."""
        return f"{self.count:,}{'' if self.is_all else '+'} waiting"


async def survey(store: StateStore) -> Survey:
    """Return what waits in a store, of its 1,000 oldest questions."""
    records = await store.pending(limit=_COUNTED + 1)
    questions = [Question(record) for record in records[:_COUNTED]]
    return Survey(
        len(questions),
        len(records) <= _COUNTED,
        records[0].interrupt.created_at if records else None,
        Counter(each.record.graph for each in questions),
        Counter(each.record.interrupt.node for each in questions),
        Counter(each.tool for each in questions if each.tool),
    )


async def answer_to(store: StateStore, question: Question) -> Answered | None:
    """Return what was answered to a question; None while it waits.

    Raises
    ------
    UnknownThreadError
        If its thread or branch is gone.
    """
    thread_id, branch_id, key, asked = question.address
    for event in await store.events(thread_id, branch_id, after=asked):
        if isinstance(event, AnswersGiven) and event.asked.get(key) == asked:
            interrupt, answer = question.record.interrupt, event.answers[key]
            place = event.sequence, 0, event.branch_id
            lapsed = event.lapsed.get(key)
            told = (*place, lapsed, event.comment)
            return Answered(interrupt, answer, event.by, event.created_at, *told)
    return None
