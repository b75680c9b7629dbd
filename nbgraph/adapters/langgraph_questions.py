"""LangGraph's interrupts as questions, and answers as what LangGraph resumes with.

An interrupt asks one question. That of LangChain's `HumanInTheLoopMiddleware` asks one about each
tool call, and is resumed when all of them are decided.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# What the engine says has no types.

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from nbgraph.adapters.langgraph_shape import subgraph_of
from nbgraph.adapters.values import plain
from nbgraph.core.answers import ADVISORY
from nbgraph.core.decisions import (
    ACTIONS,
    Action,
    ToolInterrupt,
    call_hash,
    decided,
    decision_schema,
    edited_arguments,
)
from nbgraph.core.events import Interrupt

__all__ = ["Asked", "open_calls", "questions", "resumption", "tools_of"]

_ACTIONS: Mapping[str, Action] = {
    "approve": "approve",
    "edit": "edit",
    "reject": "deny",
    "respond": "respond",
}
_MESSAGES = ("message", "question", "description", "instruction")


@dataclass(frozen=True, slots=True)
class Asked:
    """Where an interrupt stands: its task, the node that asks, and the how manyeth it is there.

    `inner` is the path of the node within the task's, for one in a sub-graph; `calls` are the tool
    calls that the last message asks for, which a batch does not name.
    """

    thread_id: str
    task_id: str
    node: str
    inner: str
    index: int
    calls: tuple[Mapping[str, Any], ...] = ()


def open_calls(state: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return the tool calls that the last message of a state asks for; it is all JSON."""
    for value in state.values():
        last = value[-1] if isinstance(value, list) and value else None
        calls = last.get("tool_calls") if isinstance(last, dict) else None
        if isinstance(calls, list) and calls:
            return tuple(call for call in calls if isinstance(call, dict))
    return ()


def tools_of(app: Any) -> dict[str, Any]:
    """Return the tools of a graph's tool nodes, and of its sub-graphs', by name."""
    found: dict[str, Any] = {}
    builder = getattr(app, "builder", None)
    for name, node in (builder.nodes if builder is not None else {}).items():
        found.update(getattr(node.runnable, "tools_by_name", None) or {})
        child = subgraph_of(app, name)
        if child is not None and child is not app:
            found.update(tools_of(child))
    return found


def questions(interrupt: Any, asked: Asked, tools: Mapping[str, Any]) -> Iterator[Interrupt]:
    """Return what an interrupt of the engine asks: one question, or one a tool call.

    The question's `id` is the engine's own, to resume it by. Its key is `"<task>:<index>"`, for one
    of several calls `"<task>:<index>/<call>"`.
    """
    value = interrupt["value"] if isinstance(interrupt, Mapping) else interrupt.value
    calls = _calls(value, _schema_of(interrupt), asked.calls)
    if calls is None:
        yield _question(interrupt, value, asked)
        return
    for number, call in enumerate(calls):
        key = f"{_place(asked)}/{number}" if _is_batch(value) else _place(asked)
        yield _approval(_id_of(interrupt), key, call, asked, tools)


def _id_of(interrupt: Any) -> str:
    return str(interrupt["id"] if isinstance(interrupt, Mapping) else interrupt.id)


def _schema_of(interrupt: Any) -> dict[str, Any] | None:
    schema: Any = (
        interrupt.get("response_schema")
        if isinstance(interrupt, Mapping)
        else getattr(interrupt, "response_schema", None)
    )
    return cast("dict[str, Any]", schema) if isinstance(schema, dict) else None


def _place(asked: Asked) -> str:
    path = f"{asked.task_id}/{asked.inner}" if asked.inner else asked.task_id
    return f"{path}:{asked.index}"


def _question(interrupt: Any, value: Any, asked: Asked) -> Interrupt:
    message, payload = _told(plain(value))
    return Interrupt(
        key=_place(asked),
        id=_id_of(interrupt),
        node=asked.node,
        task_id=asked.task_id,
        payload=payload,
        message=message,
        response_schema=_schema_of(interrupt),
    )


def _told(value: Any) -> tuple[str | None, Any]:
    """Return the question in words, and what is shown beside it, without those words."""
    if isinstance(value, str):
        return value, None
    if not isinstance(value, dict):
        return None, value
    for name in _MESSAGES:
        if isinstance(value.get(name), str) and value[name]:
            rest = {key: each for key, each in value.items() if key != name}
            return value[name], rest or None
    return None, value


# --- tool calls -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    arguments: dict[str, Any]
    description: str
    allowed: tuple[Action, ...]
    call_id: str = ""
    schema: dict[str, Any] | None = None


def _is_batch(value: Any) -> bool:
    return isinstance(value, Mapping) and "action_requests" in value


def _calls(
    value: Any, schema: Mapping[str, Any] | None, calls: Sequence[Mapping[str, Any]]
) -> list[_Call] | None:
    """Return the calls that HumanInTheLoopMiddleware asks about; None for any other value."""
    try:
        if _is_batch(value):
            return _batched(value["action_requests"], value["review_configs"], calls)
        if isinstance(value, Mapping) and value.get("type") == "tool_approval":
            return [_single(cast("Mapping[str, Any]", value), schema or {})]
    except (KeyError, TypeError, AttributeError):  # somebody else's value of that look
        return None
    return None


def _batched(
    requests: Sequence[Any], configs: Sequence[Any], calls: Sequence[Mapping[str, Any]]
) -> list[_Call]:
    reviews = {config["action_name"]: config for config in configs}
    free = list(calls)
    return [
        _Call(
            request["name"],
            dict(request["args"]),
            str(request.get("description") or ""),
            _allowed(reviews[request["name"]]["allowed_decisions"]),
            _call_id(request, free),
            reviews[request["name"]].get("args_schema"),
        )
        for request in requests
    ]


def _call_id(request: Any, free: list[Mapping[str, Any]]) -> str:
    """Return the id of the first call that is this one, and take it from those that are left."""
    arguments = plain(request["args"])
    for number, call in enumerate(free):
        if call.get("name") == request["name"] and call.get("args") == arguments:
            return str(free.pop(number).get("id") or "")
    return ""


def _single(value: Mapping[str, Any], schema: Mapping[str, Any]) -> _Call:
    named = list(_decision_types(schema))
    return _Call(
        value["name"],
        dict(value["args"]),
        str(value.get("description") or ""),
        _allowed(named) if named else ACTIONS,
        value["tool_call_id"],
    )


def _decision_types(schema: Mapping[str, Any]) -> Iterator[str]:
    """Return what a schema of LangChain's decisions has in its `type` fields."""
    for branch in (schema, *schema.get("$defs", {}).values()):
        kind = branch.get("properties", {}).get("type", {})
        yield from (kind["const"],) if "const" in kind else kind.get("enum", ())


def _allowed(decisions: Sequence[str]) -> tuple[Action, ...]:
    named = {_ACTIONS[name] for name in decisions if name in _ACTIONS}
    return tuple(action for action in ACTIONS if action in named)


def _approval(
    engine_id: str, key: str, call: _Call, asked: Asked, tools: Mapping[str, Any]
) -> Interrupt:
    arguments = plain(call.arguments)
    tool = tools.get(call.name)
    schema = call.schema or _arguments_schema(tool)
    described = str(getattr(tool, "description", "") or "")
    shown = {"description": described, "input_schema": schema}
    payload = ToolInterrupt(
        tool_name=call.name,
        tool_call_id=call.call_id or key,
        arguments=arguments,
        description=described,
        input_schema=schema,
        allowed=call.allowed,
        call_hash=call_hash(
            call.name,
            arguments,
            shown=shown,
            thread_id=asked.thread_id,
            tool_call_id=call.call_id or key,
        ),
    )
    return Interrupt(
        key=key,
        id=engine_id,
        node=asked.node,
        task_id=asked.task_id,
        payload=payload.model_dump(mode="json"),
        message=_asked_in_words(call),
        reason="tool_approval",
        response_schema=_judged(schema, call.allowed),
        tool_call_id=call.call_id or None,
    )


def _asked_in_words(call: _Call) -> str:
    """Return what the graph's author says of the call; the engine's own text repeats the call."""
    own = call.description and f"Tool: {call.name}\nArgs: " not in call.description
    return call.description if own else f"Run {call.name}?"


def _judged(schema: Mapping[str, Any], allowed: tuple[Action, ...]) -> dict[str, Any]:
    """Return the schema of an answer. Here one that is no decision is refused, and denies not."""
    document = decision_schema(schema, allowed)
    document.pop(ADVISORY, None)
    if {"approve", "deny"} <= set(allowed):
        document["oneOf"].append({"type": "boolean", "title": "Yes or no"})
    return document


def _arguments_schema(tool: Any) -> dict[str, Any]:
    """Return the JSON Schema of a LangChain tool's arguments; any object, where it has none."""
    schema = getattr(tool, "tool_call_schema", None)
    if isinstance(schema, dict):
        return cast("dict[str, Any]", schema)
    try:
        return schema.model_json_schema() if schema is not None else {"type": "object"}
    except Exception:  # noqa: BLE001 - a schema is the tool author's own code
        return {"type": "object"}


# --- answers --------------------------------------------------------------------------------


def resumption(asked: Sequence[tuple[Interrupt, Any]]) -> Any:
    """Return what LangGraph resumes one of its interrupts with.

    Parameters
    ----------
    asked : list of (Interrupt, JSON)
        The questions of the interrupt, in order, with their answers.
    """
    first, answer = asked[0]
    if first.reason != "tool_approval" or not _is_call(first.payload):
        return answer
    decisions = [_decision(question, given) for question, given in asked]
    return {"decisions": decisions} if "/" in first.key.rpartition(":")[2] else decisions[0]


def _is_call(payload: Any) -> bool:
    return isinstance(payload, dict) and payload.get("kind") == "tool_interrupt"


def _decision(question: Interrupt, answer: Any) -> dict[str, Any]:
    call = ToolInterrupt.model_validate(question.payload)
    decision = decided(answer, call.allowed)
    match decision.action:
        case "approve":
            return {"type": "approve"}
        case "edit":
            arguments = edited_arguments(call.arguments, decision)
            return {"type": "edit", "edited_action": {"name": call.tool_name, "args": arguments}}
        case "deny":
            said = {"message": decision.message} if decision.message else {}
            return {"type": "reject", **said}
        case "respond":
            return {"type": "respond", "message": decision.message or ""}
