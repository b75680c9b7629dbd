"""`interrupt`: a node asks a person, and gets the answer when it runs again."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, NoReturn, cast

from nbgraph.core import answers
from nbgraph.core.events import ChildPlace, Interrupt
from nbgraph.core.lapses import Lapse, expiry
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.unnamed import Place, asked_from, warn_of_another_question
from nbgraph.core.values import fresh
from nbgraph.errors import AnswerError, GraphConfigError, GraphExecutionError, NoAnswerError

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from nbgraph.core.node_hooks import Asker

__all__ = [
    "NO_DEFAULT",
    "PAYLOADS",
    "ChildPause",
    "Frame",
    "GraphInterrupt",
    "Submitted",
    "answer_to",
    "as_asked",
    "ask",
    "bound",
    "interrupt",
    "running",
]

NO_DEFAULT: Any = object()
"""Stands for a default that was not given; None is one."""
_ID = re.compile(r"[A-Za-z0-9_.-]+")


class GraphInterrupt(BaseException):
    """Raised by `interrupt` to end its task's run until there is an answer.

    It is a `BaseException`, so that a node's `except Exception` lets it through. `problems` is not
    empty when an answer was there and the question's own type refused it.
    """

    def __init__(self, question: Interrupt, problems: Mapping[str, str] | None = None) -> None:
        self.question = question
        self.problems = dict(problems or {})
        super().__init__(f"waits for an answer to {question.key!r}")


class ChildPause(BaseException):
    """Ends the run of a task whose sub-graph pauses: for these questions, or at a breakpoint."""

    def __init__(self, questions: tuple[Interrupt, ...]) -> None:
        self.questions = questions
        super().__init__("the sub-graph pauses")


# A `set[str]()` takes five times as long as a `set()`, and each task has some.
_none = cast("Callable[[], set[Any]]", set)
_nothing = cast("Callable[[], dict[str, Any]]", dict)


@dataclass(slots=True)
class Frame:
    """The task that runs: who it is, the answers it was given, the ids it has used.

    `ask` gets an answer from middleware, or None; `hooked` are the answers middleware gave.
    `shown` are the questions behind the answers that were given on this branch. `child` is where
    the task's sub-graph stands, if it has one; `asker` answers its questions. `began` are the
    effects that began and have no result: keys of `ctx.once`, and None for the node itself; `ended`
    are the keys of those that asked, which is a known end. `tool_call` is the tool call that runs,
    if one does, as part of a question's key, and its id.
    """

    thread_id: str
    task_id: str
    node: str
    answers: dict[str, Any]
    used: set[str] = field(default_factory=_none)
    position: int = 0
    child: ChildPlace | None = None
    ask: Callable[[Interrupt], Any] | None = None
    asker: Asker | None = None
    hooked: dict[str, Any] = field(default_factory=_nothing)
    shown: dict[str, Interrupt] = field(default_factory=_nothing)
    began: set[str | None] = field(default_factory=_none)
    ended: set[str] = field(default_factory=_none)
    tool_call: tuple[str, str | None] | None = None
    places: frozenset[Place] = frozenset()
    """Where it asked without an id in this run."""

    def of_call(self, name: str, tool_call_id: str | None) -> Frame:
        """Return the frame for a tool call of the task: its questions carry the call's name."""
        return replace(self, position=0, places=frozenset(), tool_call=(name, tool_call_id))

    def again(self) -> Frame:
        """Return the frame for another run of the task, with the answers it has by now."""
        return replace(self, used=set(), position=0, places=frozenset())

    def take(self, question: Interrupt, answer: Any) -> bool:
        """Keep an answer that middleware gave, if it gave one.

        Raises
        ------
        AnswerError
            If it does not fit the question.
        """
        if answer is None:
            return False
        judged = answers.judge(question, answer, thread_id=self.thread_id)
        self.answers[question.key] = self.hooked[question.key] = judged
        self.shown[question.key] = question
        return True

    def forget(self, key: str) -> None:
        """Drop an answer that is used up."""
        del self.answers[key]
        self.hooked.pop(key, None)

    def refused(self, key: str, problems: Mapping[str, str]) -> Mapping[str, str]:
        """Return what is wrong with a recorded answer that the question refuses.

        One that middleware gave is dropped instead, and then nothing is wrong.
        """
        if key not in self.hooked:
            return problems
        self.forget(key)
        return {}

    def claim(self, id: str | None) -> str:
        """Return the id of the next question, once in a run."""
        if id is None:
            self.places = asked_from(self.places, self.node)
            id, self.position = str(self.position), self.position + 1
        elif not _ID.fullmatch(id):
            raise ValueError(f"An interrupt's id is made of letters, digits, _ . and -, got {id!r}")
        elif id.isdigit():
            raise ValueError(f"An id of digits only is a position; choose another than {id!r}")
        claimed = id if self.tool_call is None else f"{self.tool_call[0]}/{id}"
        if claimed in self.used:
            raise GraphExecutionError(
                f"Node {self.node!r} asked twice with the id {id!r} in one run; give each its own"
            )
        self.used.add(claimed)
        return claimed


PAYLOADS: dict[str, Callable[[Any], Any]] = {}
"""What reads a payload that says its `kind`, so that a result has it as the type it was asked with.

Set by whoever asks with such payloads.
"""


def as_asked(pending: Mapping[str, Interrupt]) -> dict[str, Interrupt]:
    """Return questions with their payloads as the types they were asked with, where known."""
    return {key: _with_payload(question) for key, question in pending.items()}


def _with_payload(question: Interrupt) -> Interrupt:
    payload = question.payload
    kind: Any = cast("Any", payload).get("kind") if isinstance(payload, dict) else None
    read = PAYLOADS.get(kind) if isinstance(kind, str) else None
    found = None if read is None else read(payload)
    return question if found is None else question.model_copy(update={"payload": found})


_frame: ContextVar[Frame] = ContextVar("nbgraph_frame")


@dataclass(slots=True)
class bound:  # noqa: N801 - used as a function; a generator would cost a task 1 us more
    """Makes `frame` the running task's for a block."""

    frame: Frame
    _token: Token[Frame] | None = None

    def __enter__(self) -> None:
        self._token = _frame.set(self.frame)

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _frame.reset(self._token)


def running() -> Frame | None:
    """Return the running task's frame; None outside of a task."""
    return _frame.get(None)


def interrupt(
    payload: Any = None,
    *,
    id: str | None = None,
    message: str | None = None,
    reason: str = "input_required",
    response_schema: Any = None,
    expires: float | timedelta | datetime | None = None,
    default: Any = NO_DEFAULT,
) -> Any:
    """Ask a person, and return the answer.

    The first call ends the task's run: the thread is paused, and `Resume` continues it. The node
    then runs again from its first line, and this call returns the answer.

    Parameters
    ----------
    payload : JSON or model, optional
        What is shown beside the question.
    id : str, optional
        Names the question within its task, of `A-Z a-z 0-9 _ . -` and not digits only. Without it,
        the question is known by the call's position; name it where calls may be skipped.
    message : str, optional
        The question in words.
    reason : str
        Why it is asked, for lists and filters.
    response_schema : type or dict, optional
        What an answer looks like: a pydantic model, TypedDict, dataclass, any annotation such as
        `bool` or `Literal["yes", "no"]`, or a JSON Schema dict. With a type, the answer is
        returned as that type.
    expires : float, timedelta or datetime, optional
        For how many seconds, or until when, it waits. Nobody wakes the thread then: an answer that
        comes later is refused, and whoever continues the thread goes on without one.
    default : JSON or model, optional
        What counts as the answer if the question expires or is dismissed.

    Returns
    -------
    Any
        The answer: of the schema's type, or JSON.

    Raises
    ------
    GraphInterrupt
        While there is no answer. It is a `BaseException`; let it through.
    NoAnswerError
        If the question expired or was dismissed, and there is no default.
    RuntimeError
        Outside a running node.
    ValueError
        If the id is malformed, or the payload cannot be kept as JSON.
    GraphConfigError
        If the response schema has no JSON Schema or asks for a secret, or the default does not fit
        it.
    GraphExecutionError
        If the id was used before in this run of the node.
    """
    frame = _running_frame()
    question = _question(frame, payload, id, message, reason, response_schema)
    if answers.asks_for_a_secret(response_schema, question.response_schema):
        raise GraphConfigError(
            f"The answer to {question.key!r} would hold a secret, and answers are recorded "
            "readable; pass the secret as context=, or ask which one to use"
        )
    if question.response_schema is not None:
        answers.remember(frame.thread_id, question.key, response_schema)
    if expires is not None or default is not NO_DEFAULT:
        question = _ending(question, expiry(expires), default, frame.thread_id)
    return answer_to(frame, question, response_schema)


def _ending(
    question: Interrupt, expires_at: float | None, default: Any, thread_id: str
) -> Interrupt:
    """Return a question that may end without an answer."""
    ends: dict[str, Any] = {"expires_at": expires_at}
    if default is not NO_DEFAULT:
        try:
            judged = answers.judge(question, default, thread_id=thread_id)
        except AnswerError as error:
            listed = "; ".join(f"{path or 'it'}: {text}" for path, text in error.problems.items())
            raise GraphConfigError(
                f"The default of {question.key!r} does not fit its response schema: {listed}"
            ) from error
        ends |= {"default": judged, "has_default": True}
    return question.model_copy(update=ends)


@dataclass(frozen=True, slots=True)
class Submitted:
    """An answer as it was given, with its question, for an asker that judges it itself."""

    question: Interrupt
    answer: Any
    _frame: Frame

    def refuse(self, problems: Mapping[str, str]) -> NoReturn:
        """Have the question pending again, with what was wrong with the answer.

        Raises
        ------
        GraphInterrupt
            Always.
        """
        raise GraphInterrupt(self.question, self._frame.refused(self.question.key, problems))


def ask(
    payload: Any,
    *,
    id: str,
    message: str,
    reason: str,
    response_schema: Any,
    tool_call_id: str | None,
    same: Callable[[Any], bool],
) -> Submitted:
    """Ask about something that must not change between question and answer.

    Parameters
    ----------
    payload, id, message, reason, response_schema
        As `interrupt` takes them.
    tool_call_id : str or None
        The tool call it is about.
    same : function
        Takes the payload that an answer was given to, and returns whether that answers this
        question. Otherwise, and on another branch than the answer's own, it is asked again.

    One that is dismissed is answered with False.
    """
    frame = _running_frame()
    asked = _question(frame, payload, id, message, reason, response_schema)
    question = asked.model_copy(update={"tool_call_id": tool_call_id})
    shown = frame.shown.get(question.key)
    if question.key in frame.answers and (shown is None or not same(shown.payload)):
        frame.forget(question.key)
    try:
        answer = answer_to(frame, question, None)
    except NoAnswerError:
        answer = False
    return Submitted(question, answer, frame)


def _running_frame() -> Frame:
    frame = _frame.get(None)
    if frame is None:
        raise RuntimeError("interrupt() works inside a node that a graph runs")
    return frame


def _question(
    frame: Frame, payload: Any, id: str | None, message: str | None, reason: str, schema: Any
) -> Interrupt:
    id = frame.claim(id)
    key = f"{frame.task_id}:{id}"
    return Interrupt(
        key=key,
        id=id,
        node=frame.node,
        task_id=frame.task_id,
        payload=answers.to_json(payload, where=f"payload of {key!r}"),
        message=message,
        reason=reason,
        response_schema=answers.publish(schema),
        tool_call_id=frame.tool_call[1] if frame.tool_call else None,
    )


def answer_to(frame: Frame, question: Interrupt, response_schema: Any) -> Any:
    """Return the answer to a task's question: of the schema's type, or JSON.

    Raises
    ------
    GraphInterrupt
        While there is none, or if the type refuses the one there is.
    NoAnswerError
        If the question ended without one, and has no default.
    """
    key = question.key
    if frame.answers.get(key) is Lapse.AGAIN:
        frame.forget(key)
    if key not in frame.answers and frame.ask is not None:
        frame.take(question, frame.ask(question))
    if key not in frame.answers:
        raise GraphInterrupt(question)
    warn_of_another_question(question, frame.shown.get(key))
    given = frame.answers[key]
    if isinstance(given, Lapse):
        given = _default(frame.shown.get(key, question), given)
    try:
        return answers.typed(response_schema, given, key)
    except AnswerError as error:
        raise GraphInterrupt(question, frame.refused(key, error.problems)) from error


def _default(question: Interrupt, lapse: Lapse) -> Any:
    if not question.has_default:
        raise NoAnswerError(question.key, lapse.value)
    return fresh(question.default)
