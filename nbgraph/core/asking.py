"""The task that runs: the answers it was given, what it has asked, and the pause that ends it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, NoReturn, cast

from nbgraph.core import answers
from nbgraph.core.events import ChildPlace, Interrupt
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.unnamed import Place, asked_from
from nbgraph.errors import GraphExecutionError

if TYPE_CHECKING:
    from nbgraph.core.node_hooks import Asker

__all__ = ["ChildPause", "Frame", "GraphInterrupt", "bind", "bound", "running", "unbind"]

_ID = r"[A-Za-z0-9_.-]+"


class GraphInterrupt(BaseException):
    """Raised by `interrupt` to end its task's run until there is an answer.

    It is a `BaseException`, so that a node's `except Exception` lets it through. `question` is what
    is asked; `problems` is not empty when an answer was there and the question's own type refused
    it.
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
_no_keys = cast("Callable[[], list[str]]", list)


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
    waits: list[str] = field(default_factory=_no_keys)
    """Keys of the questions that this run has no answer to, and so has to end for."""

    def of_call(self, name: str, tool_call_id: str | None) -> Frame:
        """Return the frame for a tool call of the task: its questions carry the call's name."""
        return replace(self, position=0, places=frozenset(), tool_call=(name, tool_call_id))

    def again(self) -> Frame:
        """Return the frame for another run of the task, with the answers it has by now."""
        return replace(self, used=set(), position=0, places=frozenset(), waits=[])

    def pause(self, question: Interrupt, problems: Mapping[str, str] | None = None) -> NoReturn:
        """End this run of the task, which has no answer to a question.

        Raises
        ------
        GraphInterrupt
            Always.
        """
        self.waits.append(question.key)
        raise GraphInterrupt(question, problems)

    def check_paused(self) -> None:
        """Refuse what a node returns after it asked something and caught the pause.

        Raises
        ------
        GraphExecutionError
            If it did.
        """
        if self.waits:
            raise GraphExecutionError(
                f"Node {self.node!r} asked {', '.join(map(repr, self.waits))} and went on without "
                "an answer: it caught GraphInterrupt, by a bare `except:` or `except "
                "BaseException:`; catch Exception, or raise the pause again"
            )

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
        elif not re.fullmatch(_ID, id):
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


_frame: ContextVar[Frame] = ContextVar("nbgraph_frame")
bind = _frame.set
"""Makes a frame the running task's until `unbind` is given what this returns."""
unbind = _frame.reset


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
