"""The node that asks a chat model."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import uuid4

from pydantic import BaseModel, ValidationError

from nbgraph.agents.chat import (
    Chat,
    ChatRequest,
    ChatResponse,
    ToolDefinition,
    assembled,
    kept_arguments,
    whole_text,
)
from nbgraph.agents.contexts import ModelMiddlewareContext
from nbgraph.agents.history import check_history, repaired
from nbgraph.agents.tools import Tool
from nbgraph.core.context import NodeContext
from nbgraph.core.messages import AIMessage, Message, SystemMessage, ToolCall, add_messages
from nbgraph.core.middleware import hooks_of, passed_on
from nbgraph.core.node import Node, node
from nbgraph.core.schema import StateSchema
from nbgraph.errors import GraphConfigError, ModelProviderError, StructuredOutputError

__all__ = ["StructuredOutputEvent", "checked_tools", "field_of", "model_node"]


@dataclass(frozen=True, slots=True)
class StructuredOutputEvent:
    """Emitted where an answer does not fit the output schema and `on_invalid="emit"`."""

    schema_name: str
    message: str
    raw_content: str | None


@dataclass(frozen=True, slots=True)
class _Model:
    """What a model node is declared with."""

    chat: Chat
    system_prompt: str | None
    tools: tuple[Tool, ...]
    tool_choice: str | None
    streams: bool
    repairs: bool
    output_schema: type[BaseModel] | None
    on_invalid: Literal["raise", "emit"]
    messages_field: str
    tool_calls_field: str
    final_text_field: str
    final_output_field: str

    def request(self, state: Any) -> ChatRequest:
        messages: list[Message] = list(field_of(state, self.messages_field) or ())
        if self.repairs:
            messages = repaired(messages)
        else:
            check_history(messages)
        if self.system_prompt is not None:
            messages = [SystemMessage(content=self.system_prompt), *messages]
        return ChatRequest(
            messages=messages,
            tools=[definition(each) for each in self.tools],
            tool_choice=self.tool_choice,
            output_schema=self.output_schema,
        )

    async def answer(self, request: ChatRequest, ctx: NodeContext) -> ChatResponse:
        if not self.streams:
            return await self.chat.complete(request)
        chunks: list[Any] = []
        async for chunk in self.chat.stream(request):
            ctx.emit_token(chunk)
            chunks.append(chunk)
        return assembled(chunks)

    def update(self, response: ChatResponse, ctx: NodeContext) -> dict[str, Any]:
        calls = _identified(response.tool_calls)
        content = None if response.content is None else whole_text(response.content)
        message = AIMessage(
            content=content,
            tool_calls=calls,
            refusal=None if response.refusal is None else whole_text(response.refusal),
            finish_reason=response.finish_reason,
            usage=response.usage,
        )
        ends = not calls and response.refusal is None
        update: dict[str, Any] = {
            self.messages_field: [message],
            self.tool_calls_field: list(calls),
            self.final_text_field: (content or "") if ends else None,
        }
        if self.output_schema is not None:
            update[self.final_output_field] = self.output(response, ctx) if ends else None
        return update

    def output(self, response: ChatResponse, ctx: NodeContext) -> BaseModel | None:
        schema = self.output_schema
        if schema is None:
            return None
        try:
            return schema.model_validate_json(response.content or "")
        except ValidationError as error:
            problem = "; ".join(
                f"{'.'.join(map(str, each['loc'])) or 'answer'}: {each['msg']}"
                for each in error.errors(include_url=False)
            )
            if self.on_invalid == "raise":
                raise StructuredOutputError(schema.__name__, problem, response.content) from error
            ctx.emit(StructuredOutputEvent(schema.__name__, problem, response.content))
            return None


def model_node(  # noqa: PLR0913 - the documented options of the node
    name: str,
    *,
    chat: Chat,
    system_prompt: str | None = None,
    tools: Iterable[Tool] = (),
    tool_choice: str | None = None,
    stream: bool = False,
    repair_history: bool = False,
    output_schema: type[BaseModel] | None = None,
    on_invalid: Literal["raise", "emit"] = "raise",
    messages_field: str = "messages",
    tool_calls_field: str = "tool_calls",
    final_text_field: str = "final_text",
    final_output_field: str = "final_output",
) -> Node:
    """Return a node that sends the conversation to a chat model and writes what it answers.

    Parameters
    ----------
    name : str
        The node's name.
    chat : Chat
        The model.
    system_prompt : str, optional
        Sent before the conversation; it is not stored.
    tools : list of Tool
        All that the model may ask for.
    tool_choice : str, optional
        `"auto"`, `"required"`, `"none"`, or the name of a tool.
    stream : bool
        Ask for the answer piece by piece, and show the pieces as `"tokens"`.
    repair_history : bool
        Send a repaired copy of a conversation in which calls and results do not match.
    output_schema : type, optional
        A pydantic model that the final answer is parsed into.
    on_invalid : "raise" or "emit"
        What happens to a final answer that does not fit: an error, or a `StructuredOutputEvent`
        among the custom events and None in the state.
    messages_field, tool_calls_field, final_text_field, final_output_field : str
        The fields it reads and writes. The last one is written with `output_schema` only.

    Returns
    -------
    Node

    Raises
    ------
    GraphConfigError
        If an option cannot be used. When it runs, also if the state lacks one of the fields, or
        its messages are not merged by `add_messages`.
    """
    if on_invalid not in ("raise", "emit"):
        raise GraphConfigError(f"on_invalid is 'raise' or 'emit', got {on_invalid!r}")
    listed = checked_tools(tools)
    _check_choice(tool_choice, listed)
    model = _Model(
        chat=chat,
        system_prompt=system_prompt,
        tools=listed,
        tool_choice=tool_choice,
        streams=stream,
        repairs=repair_history,
        output_schema=output_schema,
        on_invalid=on_invalid,
        messages_field=messages_field,
        tool_calls_field=tool_calls_field,
        final_text_field=final_text_field,
        final_output_field=final_output_field,
    )
    written = [tool_calls_field, final_text_field]
    if output_schema is not None:
        written.append(final_output_field)

    async def handler(state: Any, ctx: NodeContext) -> dict[str, Any]:
        check_fields(ctx.state_schema, messages_field, tuple(written))
        response = await _asked(model, model.request(state), ctx)
        return model.update(response, ctx)

    handler.__doc__ = f"Ask {getattr(chat, 'model', 'the chat model')}."
    return node(name=name)(handler)


async def _asked(model: _Model, request: ChatRequest, ctx: NodeContext) -> ChatResponse:
    """Return the response to a request, with middleware around it."""
    where = ModelMiddlewareContext(
        graph_name=ctx.graph_name,
        node_name=ctx.node,
        run_id=ctx.run_id,
        thread_id=ctx.thread_id,
        step=ctx.step,
        task_id=ctx.task_id,
        root_run_id=ctx.root_run_id,
        model=model.chat.model,
        request=request,
    )
    sent = await passed_on(
        hooks_of(ctx.middleware, "before_model"),
        request,
        seen=lambda value: replace(where, request=value),
        read=lambda value: _of_kind(value, ChatRequest, "before_model"),
    )
    response = await model.answer(sent, ctx)
    return await passed_on(
        hooks_of(ctx.middleware, "after_model"),
        _of_kind(response, ChatResponse, f"the chat model {model.chat.model!r}"),
        seen=lambda value: replace(where, request=sent, response=value),
        read=lambda value: _of_kind(value, ChatResponse, "after_model"),
    )


def _of_kind(value: Any, kind: type[Any], who: str) -> Any:
    if not isinstance(value, kind):
        raise ModelProviderError(f"{who} gave {type(value).__name__}, not a {kind.__name__}")
    return value


def _identified(calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    """Return calls that can be kept, with an id each and none twice: results go by it."""
    seen: set[str] = set()
    named: list[ToolCall] = []
    for call in calls:
        call_id = call.id if call.id and call.id not in seen else f"call_{uuid4().hex}"
        arguments, problem = kept_arguments(call.arguments)
        changes = {
            "id": call_id,
            "arguments": arguments,
            "arguments_error": call.arguments_error or problem,
        }
        seen.add(call_id)
        named.append(call.model_copy(update=changes))
    return tuple(named)


def definition(tool: Tool) -> ToolDefinition:
    """Return a tool as it is offered to a model."""
    return ToolDefinition(
        name=tool.name, description=tool.description, input_schema=tool.input_schema()
    )


def field_of(state: Any, name: str) -> Any:
    """Return a field of a state, which is a model or a dict; None where it is not set."""
    return state.get(name) if isinstance(state, dict) else getattr(state, name, None)  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]


def checked_tools(tools: Iterable[Any]) -> tuple[Tool, ...]:
    """Return tools as a tuple.

    Raises
    ------
    GraphConfigError
        If one is no `Tool`, or two have one name.
    """
    listed = tuple(tools)
    for each in listed:
        if not isinstance(each, Tool):
            raise GraphConfigError(f"tools lists functions made with @tool, got {each!r}")
    names = [each.name for each in listed]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise GraphConfigError(f"The tool {twice[0]!r} is listed twice")
    return listed


def _check_choice(choice: str | None, tools: Sequence[Tool]) -> None:
    known = ("auto", "required", "none", *(each.name for each in tools))
    if choice is not None and choice not in known:
        raise GraphConfigError(f"tool_choice={choice!r} is none of {', '.join(map(repr, known))}")


@functools.lru_cache(maxsize=64)
def check_fields(state_schema: Any, messages_field: str, written: tuple[str, ...]) -> None:
    """Refuse a state that cannot hold a conversation.

    Raises
    ------
    GraphConfigError
        If a field is not declared, or the messages are not merged by `add_messages`.
    """
    schema = StateSchema(state_schema)
    missing = [name for name in (messages_field, *written) if name not in schema.fields]
    if missing and not schema.is_open:
        raise GraphConfigError(
            f"The state has no field {', '.join(map(repr, missing))}, which the node writes"
        )
    if schema.is_open or schema.fields[messages_field].reducer is not add_messages:
        raise GraphConfigError(
            f"The field {messages_field!r} must be Annotated[list[Message], add_messages]"
        )
