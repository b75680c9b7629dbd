"""Effects that happen at most once, and what a person says where something has no known result.

The start of such an effect is recorded before its code runs. Whoever comes to it again, after a
crash, an error or a stop, and finds a start without a result, does not repeat it but asks.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nbgraph.core import answers
from nbgraph.core.asking import Frame
from nbgraph.core.events import ErrorInfo, Interrupt, TaskBegan
from nbgraph.core.interrupts import answer_to
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.starts import outcome_id, outcome_key
from nbgraph.errors import NbgraphError

if typing.TYPE_CHECKING:
    from nbgraph.core.context import Port

__all__ = [
    "NODE_FAILED",
    "OUTCOME_UNKNOWN",
    "Effect",
    "begin",
    "checked_effect",
    "decided",
    "how_it_failed",
    "outcome",
]

OUTCOME_UNKNOWN = "outcome_unknown"
"""The reason of a question about an effect that began and whose end is not recorded."""
NODE_FAILED = "node_failed"
"""The reason of a question about a node that failed and was declared with `on_error="ask"`."""
_FAILED = "error?"
"""The id of that question; no id that `interrupt` takes is like it."""


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect that happens at most once, and what a question about its outcome shows.

    Parameters
    ----------
    returns : type, optional
        What a result looks like, if a person sets one; by default whatever the function's return
        annotation says, and any JSON without one.
    payload : JSON or model, optional
        What is shown beside the question.
    message : str, optional
        The question in words, instead of the usual ones.
    tool_call_id : str, optional
        The tool call that is made.
    """

    returns: Any = None
    payload: Any = None
    message: str | None = None
    tool_call_id: str | None = None


def checked_effect(given: Any, function: Callable[..., Any]) -> Effect:
    """Return the effect of a function: as it is given, or as the function's annotation says.

    Raises
    ------
    ValueError
        If `given` is another word than `"once"`.
    """
    if not (given is None or given == "once" or isinstance(given, Effect)):
        raise ValueError(f"effect is 'once', an Effect or None, got {given!r}")
    effect = given if isinstance(given, Effect) else Effect()
    return effect if effect.returns is not None else replace(effect, returns=_returned(function))


def _returned(function: Callable[..., Any]) -> Any:
    try:
        return typing.get_type_hints(function, include_extras=True).get("return", Any)
    except (TypeError, NameError, AttributeError):
        return Any


async def begin(key: str | None, frame: Frame, port: Port) -> None:
    """Record that an effect is about to happen, once in a run; `key` is None for the node's body.

    Raises
    ------
    asyncio.CancelledError
        If the run ends first. The effect must not happen then.
    """
    if key not in frame.began:
        await port.record(TaskBegan(task_id=frame.task_id, node=frame.node, key=key))
        frame.began.add(key)


def outcome(
    key: str | None,
    effect: Effect,
    frame: Frame,
    *,
    read: Callable[[Any], Any] = lambda result: result,
) -> tuple[Any] | None:
    """Return what stands for the result of an effect, in a tuple; None if the effect is to happen.

    Parameters
    ----------
    key : str or None
        The key of a `ctx.once`; None for the node's body.
    effect : Effect
        What is asked about.
    frame : Frame
        The task that runs.
    read : function
        Makes a result of what a person set, or raises an `NbgraphError` that says what is wrong.

    Raises
    ------
    GraphInterrupt
        While it is not known how the effect ended, and nobody said what to do.
    """
    if key not in frame.began:
        return None
    question = _question(key, effect, frame)
    found = _said(question, effect.returns, frame, read)
    frame.began.discard(key)
    return found


def decided(question: Interrupt, frame: Frame, *, read: Callable[[Any], Any]) -> tuple[Any] | None:
    """Return what stands for the result of a node that failed, if somebody said so; else None."""
    if question.key not in frame.answers:
        return None
    return _said(question, dict[str, Any], frame, read)


def _said(
    question: Interrupt, returns: Any, frame: Frame, read: Callable[[Any], Any]
) -> tuple[Any] | None:
    """Return what was decided, and use the decision up."""
    answer_to(frame, question, _settlements(returns))
    given = frame.answers[question.key]
    try:
        found = _found(given, read)
    except NbgraphError as error:
        frame.pause(question, frame.refused(question.key, {"/result": str(error)}))
    frame.forget(question.key)
    return found


def _found(given: Any, read: Callable[[Any], Any]) -> tuple[Any] | None:
    match given["decision"]:
        case "retry":
            return None
        case "skip":
            return (None,)
        case _:
            return (read(given["result"]),)


def how_it_failed(frame: Frame, error: ErrorInfo | None = None) -> Interrupt:
    """Return the question how to go on with a node that failed with an error."""
    address = f"{frame.task_id}:{_FAILED}"
    kind = _settlements(dict[str, Any])
    answers.remember(frame.thread_id, address, kind)
    told = "" if error is None else f" with {error.type}: {error.message}"
    return Interrupt(
        key=address,
        id=_FAILED,
        node=frame.node,
        task_id=frame.task_id,
        payload=None if error is None else error.model_dump(),
        message=f"{frame.node!r} failed{told}. Retry, skip, or set its result?",
        reason=NODE_FAILED,
        response_schema=answers.publish(kind),
    )


def _question(key: str | None, effect: Effect, frame: Frame) -> Interrupt:
    name = frame.node if key is None else key
    address = outcome_key(frame.task_id, key)
    kind = _settlements(effect.returns)
    answers.remember(frame.thread_id, address, kind)
    return Interrupt(
        key=address,
        id=outcome_id(key),
        node=frame.node,
        task_id=frame.task_id,
        payload=answers.to_json(effect.payload, where=f"payload of {address!r}"),
        message=effect.message
        or f"{name!r} began, and its end is not recorded. Its outcome is unknown: retry, skip, or "
        "set its result?",
        reason=OUTCOME_UNKNOWN,
        response_schema=answers.publish(kind),
        tool_call_id=effect.tool_call_id,
    )


def _settlements(returns: Any) -> Any:
    from nbgraph.core.settlements import settlements  # where something has no known result

    return settlements(returns)
