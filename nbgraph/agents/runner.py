"""The node that runs the tools a chat model asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from nbgraph.agents.calling import Called, called_from
from nbgraph.agents.chat import whole_text
from nbgraph.agents.history import asked_in_turn
from nbgraph.agents.model import check_fields, checked_tools, field_of
from nbgraph.agents.responding import Responded
from nbgraph.agents.tools import Tool
from nbgraph.core.asking import GraphInterrupt
from nbgraph.core.context import NodeContext
from nbgraph.core.decisions import arguments_digest, escaped
from nbgraph.core.messages import AIMessage, ToolCall, ToolMessage
from nbgraph.core.node import Node, node
from nbgraph.errors import (
    ContextNotProvidedError,
    GraphConfigError,
    ToolDeniedError,
    ToolExecutionError,
    ToolGroupExecutionError,
)

__all__ = ["ToolErrorPolicy", "tool_runner"]

ToolErrorPolicy = Literal["raise", "return"] | Callable[[Exception], str]
"""What a failing tool leads to: an error of the run, or a text for the model."""


def tool_runner(
    name: str,
    *,
    tools: Iterable[Tool],
    tool_errors: ToolErrorPolicy = "raise",
    messages_field: str = "messages",
    tool_calls_field: str = "tool_calls",
) -> Node:
    """Return a node that runs the tool calls of the state, together, and appends their results.

    A call whose result is recorded never runs again: not after a pause for another one, and not
    after a crash.

    Parameters
    ----------
    name : str
        The node's name.
    tools : list of Tool
        All that can be called.
    tool_errors : "raise", "return" or function
        What a tool that raises leads to: the error fails the run, or the model reads
        `"Tool error: <type>: <message>"`, or what the function makes of the error. A call that
        names no tool, or whose arguments do not fit, is the model's mistake: the model always reads
        about it. So is a denied call.
    messages_field, tool_calls_field : str
        The fields it reads and writes.

    Returns
    -------
    Node

    Raises
    ------
    GraphConfigError
        If an option cannot be used.
    """
    if tool_errors not in ("raise", "return") and not callable(tool_errors):
        raise GraphConfigError(
            f"tool_errors is 'raise', 'return' or a function of the error, got {tool_errors!r}"
        )
    known = {each.name: each for each in checked_tools(tools)}

    async def handler(state: Any, ctx: NodeContext) -> dict[str, Any]:
        check_fields(ctx.state_schema, messages_field, (tool_calls_field,))
        calls: Sequence[ToolCall] = field_of(state, tool_calls_field) or ()
        messages = field_of(state, messages_field) or ()
        runner = _Runner(known, tool_errors, state, ctx, _asked_before(messages))
        return {messages_field: await runner.results(calls), tool_calls_field: []}

    handler.__doc__ = "Run the tools the model asked for."
    return node(name=name)(handler)


def _asked_before(messages: Sequence[Any]) -> list[str]:
    """Return the tools asked for in this turn before the message whose calls are at hand."""
    asked = next(
        (index for index in range(len(messages) - 1, -1, -1) if _asks(messages[index])),
        len(messages),
    )
    return asked_in_turn(messages[:asked])


def _asks(message: Any) -> bool:
    return isinstance(message, AIMessage) and bool(message.tool_calls)


@dataclass(frozen=True, slots=True)
class _Runner:
    """The calls of one run of the node."""

    tools: Mapping[str, Tool]
    policy: ToolErrorPolicy
    state: Any
    ctx: NodeContext
    before: Sequence[str]

    async def results(self, calls: Sequence[ToolCall]) -> list[ToolMessage]:
        """Return a message for each call, in order, once all of them have ended."""
        one_of_several = len(calls) > 1
        outcomes = await asyncio.gather(
            *(
                self._outcome(call, tuple(item.name for item in calls[:index]), one_of_several)
                for index, call in enumerate(calls)
            )
        )
        _raise_first(outcomes)
        return [item for item in outcomes if isinstance(item, ToolMessage)]

    async def _outcome(
        self, call: ToolCall, ahead: tuple[str, ...], one_of_several: bool
    ) -> ToolMessage | BaseException:
        """Return how a call ended, so that the others end as well."""
        try:
            if not one_of_several:
                return await self._message(call, ahead)

            async def run() -> dict[str, Any]:
                message = await self._message(call, ahead)
                return message.model_dump(mode="json")

            return ToolMessage.model_validate(await self.ctx.once(_key(call), run))
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - raised by _raise_first when all have ended
            return error

    async def _message(self, call: ToolCall, ahead: tuple[str, ...]) -> ToolMessage:
        arguments: Mapping[str, Any] | None = None
        try:
            called = self._called(call, ahead)
            result = await called.run(call.arguments)
            content, arguments = called.tool.written(result.value), result.arguments
        except Responded as answer:
            content = answer.text
        except ToolDeniedError as denial:
            content = str(denial)
        except _Mistake as mistake:
            content = self._told(mistake.error) if callable(self.policy) else _text(mistake.error)
        except Exception as error:
            if self.policy == "raise" or isinstance(error, _ALWAYS_RAISED):
                raise
            content = self._told(error)
        return ToolMessage(
            content=whole_text(content),
            name=call.name,
            tool_call_id=call.id,
            arguments=None if arguments is None else dict(arguments),
        )

    def _called(self, call: ToolCall, ahead: tuple[str, ...]) -> Called:
        """Return a call that can be made.

        Raises
        ------
        _Mistake
            If it cannot: the model reads why.
        """
        tool = self.tools.get(call.name)
        if tool is None:
            known = ", ".join(map(repr, self.tools)) or "none"
            problem = f"there is no such tool; the tools are {known}"
            raise _Mistake(ToolExecutionError(call.name, call.arguments, problem))
        if call.arguments_error is not None:
            problem = f"the arguments could not be read, {call.arguments_error}"
            raise _Mistake(ToolExecutionError(call.name, call.arguments, problem))
        try:
            tool.read(call.arguments)
        except ToolExecutionError as error:
            raise _Mistake(error) from error
        where = called_from(tool, self.ctx, call.id, self.state)
        return Called(tool, replace(where, asked_before=(*self.before, *ahead)), self.ctx)

    def _told(self, error: Exception) -> str:
        if callable(self.policy):
            return str(self.policy(error))
        return _text(error)


_ALWAYS_RAISED = (ContextNotProvidedError, GraphConfigError)


class _Mistake(Exception):
    """A call that cannot be made as the model wrote it."""

    def __init__(self, error: ToolExecutionError) -> None:
        self.error = error
        super().__init__(str(error))


def _text(error: Exception) -> str:
    return f"Tool error: {type(error).__name__}: {error}"


def _key(call: ToolCall) -> str:
    """Return what a call's result is recorded under: another call has another one."""
    return f"result_{escaped(call.id or '')}_{arguments_digest(call.name, call.arguments)}"


def _raise_first(outcomes: Sequence[ToolMessage | BaseException]) -> None:
    """Raise what must be: first what ends the process, then errors, then all questions together."""
    raised = [item for item in outcomes if isinstance(item, BaseException)]
    pauses = [item for item in raised if isinstance(item, GraphInterrupt)]
    errors = [item for item in raised if isinstance(item, Exception)]
    for item in raised:
        if not isinstance(item, GraphInterrupt | Exception):
            raise item
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ToolGroupExecutionError(errors)
    if len(pauses) == 1:
        raise pauses[0]
    if pauses:
        raise BaseExceptionGroup("tool calls that ask", pauses)
