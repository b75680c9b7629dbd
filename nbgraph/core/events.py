"""What happened to a thread: the one vocabulary that is stored, streamed and shown.

Stored events are frozen pydantic models that keep JSON only; live events are dataclasses that are
shown and then gone. Everything else (state, pending questions, marks) is a fold over stored events.
"""

# Annotations are evaluated as they stand: pydantic compiles each one that is text, a hundred here
# and in `record.py`, which took 2 ms of `import nbgraph`.

import time
from typing import Literal, Self

from pydantic import Field, PrivateAttr

from nbgraph.core.record import ErrorInfo, Json, Record, Route, made

__all__ = [
    "AnswerRefused",
    "AnswersGiven",
    "BreakpointsSet",
    "ChildPlace",
    "ErrorInfo",
    "Event",
    "Forked",
    "Interrupt",
    "Lapsed",
    "OnceRecorded",
    "Route",
    "RunFailed",
    "RunFinished",
    "RunPaused",
    "RunStarted",
    "RunStopped",
    "StateEdited",
    "SuperstepFinished",
    "TaskBegan",
    "TaskFailed",
    "TaskFinished",
    "TaskInterrupted",
    "TaskSpec",
    "made",
]


Lapsed = Literal["dismissed", "expired", "again"]
"""Why a question ends without a person's answer."""


class Interrupt(Record):
    """A question a task asks before it can go on.

    Attributes
    ----------
    key : str
        Addresses the question: `"<task id>:<id>"`.
    id : str
        The id given to `interrupt()`, or the call's position in its task (`"0"`, `"1"`).
    node, task_id : str
        Who asks.
    payload : JSON
        What is shown beside the question.
    message : str or None
        The question in words.
    reason : str
        Why it is asked; `"input_required"` unless the node says otherwise.
    response_schema : dict or None
        JSON Schema (Draft 2020-12) of the answer.
    tool_call_id : str or None
        The tool call that asks, when one does.
    asked : int
        Sequence of the event that asked. The same key asked again has another `asked`.
    created_at : float
        When it was asked, in seconds since the epoch.
    expires_at : float or None
        Until when it waits, in seconds since the epoch; None for ever.
    default : JSON
        What counts if it is dismissed or expires, if `has_default` says that there is one.
    problems : dict of str to str
        Why an earlier answer did not count, by JSON Pointer; empty for a first asking.
    """

    key: str
    id: str
    node: str
    task_id: str
    payload: Json = None
    message: str | None = None
    reason: str = "input_required"
    response_schema: dict[str, Json] | None = None
    tool_call_id: str | None = None
    asked: int = 0
    created_at: float = 0.0
    expires_at: float | None = None
    default: Json = None
    has_default: bool = False
    problems: dict[str, str] = Field(default_factory=dict)


class TaskSpec(Record):
    """One node to run in a superstep; `payload` is laid over the state for this task only."""

    task_id: str
    node: str
    payload: dict[str, Json] | None = None


class ChildPlace(Record):
    """Where the thread of a task's sub-graph stood when the task reported.

    Attributes
    ----------
    thread_id, branch_id, sequence
        The last event of the sub-graph's thread that its parent knows of.
    parent_branch_id : str
        The parent's branch that the task ran on; another one forks the sub-graph's thread.
    paused : "before" or "after" or "until" or "step" or None
        On which side of a breakpoint inside it stands, that it has come to where it was to run to,
        or that it was stepped into.
    next : tuple of str
        Paths of the nodes that run next, when it stands so.
    """

    thread_id: str
    branch_id: str
    sequence: int
    parent_branch_id: str
    paused: Literal["before", "after", "until", "step"] | None = None
    next: tuple[str, ...] = ()


class _Event(Record):
    sequence: int = Field(default=0, exclude=True)
    """Number in the branch's history, dense from 1 along its ancestry."""
    branch_id: str = Field(default="main", exclude=True)
    """The branch whose log the event stands in."""
    created_at: float = Field(default_factory=time.time)
    """When it was recorded, in seconds since the epoch. Order rests on `sequence` alone."""
    node: str | None = None
    """The node the event is about, where it is about one."""

    @property
    def id(self) -> str:
        """The event's address in its thread, `"<branch>:<sequence>"`."""
        return f"{self.branch_id}:{self.sequence}"


class RunStarted(_Event):
    """A caller gave input: a turn begins with `tasks`. An unfinished turn before it is dropped."""

    type: Literal["run_started"] = "run_started"
    input: dict[str, Json] = Field(default_factory=dict)
    replaced: tuple[str, ...] = ()
    tasks: tuple[TaskSpec, ...]


class AnswersGiven(_Event):
    """Somebody answered pending questions; `asked` says which asking of each key.

    `lapsed` says of which ones nobody gave the answer, and why: they were dismissed, they expired,
    or are to be asked again. What stands for their answer is their default, or None. `comment` is
    what was said beside the answers.
    """

    type: Literal["answers_given"] = "answers_given"
    answers: dict[str, Json]
    asked: dict[str, int]
    by: str | None = None
    comment: str | None = None
    lapsed: dict[str, Lapsed] = Field(default_factory=dict[str, Lapsed])


class AnswerRefused(_Event):
    """The asking node's own type refused a recorded answer: the question is pending again."""

    type: Literal["answer_refused"] = "answer_refused"
    key: str
    problems: dict[str, str]


class TaskBegan(_Event):
    """What must happen at most once is about to: a task's node, or the `ctx.once` of a key in it.

    An answer about an earlier start of the same is used up by this one.
    """

    type: Literal["task_began"] = "task_began"
    task_id: str
    node: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] - frozen
    key: str | None = None


class OnceRecorded(_Event):
    """A result of `ctx.once(key, ...)` that a re-run of the task will not compute again."""

    type: Literal["once_recorded"] = "once_recorded"
    task_id: str
    key: str
    value: Json


class TaskFinished(_Event):
    """A node returned: what it wrote, where it leads, how long it took.

    `update` holds one JSON delta a field, applied through the field's reducer when the superstep
    finishes; fields in `replaced` go past their reducer. `routes` are targets the node chose itself
    (None: follow the edges). `attempts` is 0 for a task that a person skipped. `tries` say when
    each attempt began and ended, where there was more than one. A `cached` result is an earlier one
    of the node, which did not run; with an `error`, it is what stood in for it.
    """

    type: Literal["task_finished"] = "task_finished"
    task_id: str
    node: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] - frozen
    update: dict[str, Json] = Field(default_factory=dict)
    replaced: tuple[str, ...] = ()
    routes: tuple[Route, ...] | None = None
    cache: dict[str, Json] = Field(default_factory=dict)
    started: float = 0.0
    duration: float = 0.0
    attempts: int = 1
    tries: tuple[tuple[float, float], ...] = ()
    child: ChildPlace | None = None
    cached: bool = False
    error: ErrorInfo | None = None


class TaskInterrupted(_Event):
    """A node asked one or more questions; `cache` is what it kept for its next run.

    `answers` are those that middleware gave it so far, by key: its next run has them. `ended` are
    keys of `ctx.once` whose function asked: it came to a known end, and may begin again.
    Without a question, its sub-graph stands at a breakpoint, as `child` says.
    """

    type: Literal["task_interrupted"] = "task_interrupted"
    task_id: str
    node: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] - frozen
    interrupts: tuple[Interrupt, ...]
    cache: dict[str, Json] = Field(default_factory=dict)
    answers: dict[str, Json] = Field(default_factory=dict)
    ended: tuple[str, ...] = ()
    child: ChildPlace | None = None


class TaskFailed(_Event):
    """A node raised; `tries` are as in `TaskFinished`."""

    type: Literal["task_failed"] = "task_failed"
    task_id: str
    node: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] - frozen
    error: ErrorInfo
    attempts: int = 1
    tries: tuple[tuple[float, float], ...] = ()
    child: ChildPlace | None = None


class SuperstepFinished(_Event):
    """All tasks of a superstep finished: their updates apply, in task order.

    `next` are the tasks that follow; None means merged but not routed (a pause after a node), and
    a later `SuperstepFinished` of the same superstep routes. `joins` are the sources that arrived
    at joins still waiting, by join.
    """

    type: Literal["superstep_finished"] = "superstep_finished"
    next: tuple[TaskSpec, ...] | None
    joins: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class StateEdited(_Event):
    """Somebody changed the state: through the reducers, or whole (`replace=True`).

    With `tasks`, these run next instead of the current superstep, which is dropped.
    """

    type: Literal["state_edited"] = "state_edited"
    update: dict[str, Json]
    replaced: tuple[str, ...] = ()
    replace: bool = False
    by: str | None = None
    tasks: tuple[TaskSpec, ...] | None = None


class BreakpointsSet(_Event):
    """The branch pauses before and after these nodes from now on; None keeps what it had.

    `"*"` is every node; an empty list clears.
    """

    type: Literal["breakpoints_set"] = "breakpoints_set"
    before: tuple[str, ...] | None = None
    after: tuple[str, ...] | None = None


class Forked(_Event):
    """The branch starts here, from an event of another branch."""

    type: Literal["forked"] = "forked"
    parent_branch_id: str
    parent_sequence: int


class RunPaused(_Event):
    """The run ended before its end: it waits for answers, is at a breakpoint, or was asked to."""

    type: Literal["run_paused"] = "run_paused"
    reason: Literal["interrupt", "before", "after", "step", "until", "pause"]


class RunStopped(_Event):
    """The run was stopped; its unfinished tasks can be continued."""

    type: Literal["run_stopped"] = "run_stopped"


class RunFinished(_Event):
    """Nothing is left to run. `open_joins` names joins that still waited."""

    type: Literal["run_finished"] = "run_finished"
    open_joins: tuple[str, ...] = ()


class RunFailed(_Event):
    """The run ended with an error; the thread can be continued, edited or forked."""

    type: Literal["run_failed"] = "run_failed"
    error: ErrorInfo
    _exception: BaseException | None = PrivateAttr(default=None)

    @property
    def exception(self) -> BaseException | None:
        """The exception itself, in the process where it was raised; else None."""
        return self._exception

    def with_exception(self, exception: BaseException) -> Self:
        """Return the event with the live exception at hand."""
        self._exception = exception
        return self

    def __eq__(self, other: object) -> bool:  # the exception at hand is no part of the record
        return isinstance(other, RunFailed) and self.__dict__ == other.__dict__


Event = (
    RunStarted
    | AnswersGiven
    | AnswerRefused
    | TaskBegan
    | OnceRecorded
    | TaskFinished
    | TaskInterrupted
    | TaskFailed
    | SuperstepFinished
    | StateEdited
    | BreakpointsSet
    | Forked
    | RunPaused
    | RunStopped
    | RunFinished
    | RunFailed
)
"""Anything that can happen to a thread and is stored."""
