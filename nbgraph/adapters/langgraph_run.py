"""One run of a LangGraph graph from where a branch stands, and how it ended."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# What the engine says has no types.

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal

from langgraph.errors import GraphDrained, is_invalid_resume
from langgraph.runtime import RunControl

from nbgraph.adapters.errors import error_of
from nbgraph.adapters.langgraph_events import Translation
from nbgraph.adapters.langgraph_history import TAG, Engine
from nbgraph.adapters.log import BranchLog
from nbgraph.adapters.values import plain
from nbgraph.core.events import (
    AnswerRefused,
    Event,
    Interrupt,
    LiveEvent,
    RunFailed,
    RunFinished,
    RunPaused,
    RunStopped,
)
from nbgraph.core.requests import Stop

__all__ = ["ALL", "Answers", "EngineRun"]

ALL = "*"
_NO_NODE = [""]
"""An empty list would have the engine take the one the graph was compiled with."""

Answers = Mapping[str, Sequence[tuple[Interrupt, Any]]]
"""Answered questions by the engine's id of their interrupt."""
_Happened = Event | LiveEvent


@dataclass(slots=True)
class EngineRun:
    """A run that goes on until the graph ends, asks, or pauses.

    Parameters
    ----------
    engine : Engine
        Where it runs.
    branch : BranchLog
        Where it is recorded; it begins where this stands.
    translation : Translation
        What makes events of what the engine says.
    before : tuple of str
        Nodes to pause before, beside the branch's own breakpoints; `"*"` is one superstep.
    reason : "step" or "until", optional
        Why it pauses there.
    answers : mapping, optional
        What it resumes with, to tell whose answer the engine refuses.
    """

    engine: Engine
    branch: BranchLog
    translation: Translation
    before: tuple[str, ...] = ()
    reason: Literal["step", "until"] | None = None
    answers: Answers | None = None
    _control: RunControl = field(default_factory=RunControl)
    _stopping: Stop | None = None

    def stop(self, request: Stop) -> None:
        """Ask it to end. LangGraph ends a run when its superstep is finished, not before."""
        self._stopping = request
        self._control.request_drain()

    async def events(self, given: Any, context: Any) -> AsyncGenerator[_Happened, None]:
        """Run with an input, a `Command` or None, and yield what happens."""
        ended: BaseException | None = None
        try:
            async with aclosing(self._told(given, context)) as happening:
                async for event in happening:
                    yield event
        except Exception as error:  # noqa: BLE001 - a node's own, or the engine's
            ended = error
        for event in self.branch.record(self._ending(ended), self.translation.place):
            yield event

    async def _told(self, given: Any, context: Any) -> AsyncGenerator[_Happened, None]:
        before, after = self._breakpoints()
        parts = self.engine.stream(
            given,
            self.branch.place,
            metadata={TAG: self.branch.id},
            context=context,
            control=self._control,
            interrupt_before=before,
            interrupt_after=after,
        )
        async with aclosing(parts) as happening:
            async for part in happening:
                for event in self._said(part):
                    yield event

    def _said(self, part: Mapping[str, Any]) -> Iterable[_Happened]:
        happened = _translated(self.translation, part)
        shown = [event for event in happened if isinstance(event, LiveEvent)]
        stored = [event for event in happened if not isinstance(event, LiveEvent)]
        return [*shown, *self.branch.record(stored, self.translation.place)]

    def _breakpoints(self) -> tuple[Any, Any]:
        """Return what the engine is to pause before and after; None is the graph's own list."""
        if self.before == (ALL,):
            return ALL, None
        position = self.branch.position
        named = position.before
        if self.before:
            own = self.engine.app.interrupt_before_nodes if named is None else named
            named = (*own, *self.before)
        return _list(named), _list(position.after)

    def _ending(self, error: BaseException | None) -> list[Event]:
        """Return how the run ended."""
        position, stopping = self.branch.position, self._stopping
        if isinstance(error, GraphDrained):
            gently = stopping is not None and stopping.gently
            return [RunPaused(reason="pause") if gently else RunStopped()]
        if error is not None and self.answers and is_invalid_resume(error):
            return [*_refused(self.answers, error), RunPaused(reason="interrupt")]
        if error is not None:
            return [RunFailed(error=error_of(error)).with_exception(error)]
        if position.pending:
            return [RunPaused(reason="interrupt")]
        if not position.tasks:
            return [RunFinished()]
        return [RunPaused(reason=self.reason or self._side())]

    def _side(self) -> Literal["before", "after"]:
        """Return on which side of a breakpoint the thread stands."""
        before = self.branch.position.before
        named = self.engine.app.interrupt_before_nodes if before is None else before
        nodes = {task.node for task in self.branch.position.tasks}
        return "before" if ALL in named or nodes & set(named) else "after"


def _list(names: Sequence[str] | None) -> Any:
    if names is None:
        return None
    return ALL if ALL in names else (list(names) or _NO_NODE)


def _refused(answers: Answers, error: BaseException) -> list[Event]:
    """Return that LangGraph's own judge refused answers."""
    found = [question for questions in answers.values() for question, _ in questions]
    problems = {"": str(error)}
    return [AnswerRefused(key=question.key, problems=problems) for question in found]


def _translated(translation: Translation, part: Mapping[str, Any]) -> Sequence[_Happened]:
    inside, data = part["ns"], part["data"]
    match part["type"]:
        case "checkpoints":
            if inside:
                return []
            place = data["config"]["configurable"]["checkpoint_id"]
            source = data["metadata"]["source"]
            return translation.checkpoint(place, source, data["values"], data["tasks"])
        case "tasks":
            begins = "result" not in data
            told = translation.started if begins else translation.reported
            return told(data, inside)
        case "custom":
            return translation.emitted(translation.only_running, "custom", plain(data), inside)
        case _:
            return []
