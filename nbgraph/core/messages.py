"""Chat messages as part of a state, and the reducer that keeps a list of them.

A message is known by its `id`. One without gets an id when its update is checked, before that is
recorded, so that the state computed from the record is the same every time.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field

from nbgraph.core.reducers import SPECIAL, Special
from nbgraph.core.values import same
from nbgraph.errors import GraphConfigError, GraphExecutionError, StateUpdateError

__all__ = [
    "AIMessage",
    "HumanMessage",
    "Message",
    "RemoveMessage",
    "SystemMessage",
    "ToolCall",
    "ToolMessage",
    "add_messages",
]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class _Message(_Record):
    id: str | None = None
    """Addresses the message in its list; given when it is written, if it has none."""

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> _Message:
        # A node's own copy of the state holds every message: what cannot change is shared.
        return self if type(self) in _TEXT_ONLY else super().__deepcopy__(memo)


class SystemMessage(_Message):
    """What a chat model is told about its part."""

    type: Literal["system"] = "system"
    content: str
    """What it is told."""


class HumanMessage(_Message):
    """What a person said."""

    type: Literal["human"] = "human"
    content: str
    """What was said."""


class ToolCall(_Record):
    """A call of a tool that a chat model asks for."""

    id: str | None = None
    """What the model calls it by."""
    name: str
    """The tool's name."""
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])
    """By name; empty where they could not be read."""
    arguments_error: str | None = None
    """Why they could not be read, where the model wrote no JSON object."""


class AIMessage(_Message):
    """What a chat model said, and the tools it asks for."""

    type: Literal["ai"] = "ai"
    content: str | None = None
    """What it said."""
    tool_calls: tuple[ToolCall, ...] = ()
    """What it asks for."""
    refusal: str | None = None
    """Why it would not answer."""
    finish_reason: str | None = None
    """Why it ended, in the provider's words."""
    usage: dict[str, Any] | None = None
    """The tokens it took, as `ChatResponse` has them."""


class ToolMessage(_Message):
    """What a tool returned, and the arguments it ran with."""

    type: Literal["tool"] = "tool"
    content: str
    """What the model reads."""
    name: str
    """The tool's name."""
    tool_call_id: str | None = None
    """The call that this answers."""
    arguments: dict[str, Any] | None = None
    """What the tool ran with; None where it did not run, or failed."""


class RemoveMessage(_Record):
    """Takes the message `id` out of the list; part of an update, never of a state."""

    type: Literal["remove"] = "remove"
    id: str


Message = Annotated[
    SystemMessage | HumanMessage | AIMessage | ToolMessage, Field(discriminator="type")
]
"""Any message; `type` tells which."""
_TEXT_ONLY = frozenset((SystemMessage, HumanMessage))


def add_messages(current: Any, update: Any) -> Any:
    """Return the list with the update's messages in it.

    A message with the id of one in the list stands in its place, a `RemoveMessage` takes one out,
    any other is put at the end.

    Parameters
    ----------
    current : list of messages or None
        What the field holds; None before its first value.
    update : list of messages
        What a node writes; one without an id is given one.

    Raises
    ------
    StateUpdateError
        If the update is no list of messages, has an id twice, or removes one that is not there.
    """
    places: dict[Any, Any] = {
        message.id or index: message for index, message in enumerate(current or ())
    }
    for message in _identified(update, "add_messages"):
        if not isinstance(message, RemoveMessage):
            places[message.id] = message
        elif places.pop(message.id, None) is None:
            raise StateUpdateError(
                f"RemoveMessage names {message.id!r}, which is no message of the list"
            )
    return list(places.values())


def _identified(messages: Any, where: str) -> list[Any]:
    """Return an update with an id for each of its messages; the given ones stay as they are.

    Raises
    ------
    StateUpdateError
        If it is no list of messages, or has an id twice.
    """
    if not isinstance(messages, list) or not all(map(_is_entry, cast("list[Any]", messages))):
        raise StateUpdateError(f"{where} takes a list of messages, got {messages!r}")
    checked = [_with_id(message) for message in cast("list[Any]", messages)]
    seen: set[str] = set()
    for message in checked:
        if message.id in seen:
            raise StateUpdateError(f"{where} has the message {message.id!r} twice in one update")
        seen.add(message.id)
    return checked


def _is_entry(item: Any) -> bool:
    return isinstance(item, _Message | RemoveMessage)


def _with_id(message: Any) -> Any:
    return message if message.id else message.model_copy(update={"id": uuid4().hex})


def _delta_type(field: str, annotation: Any) -> Any:
    """Return the type of an update of a field of messages.

    Raises
    ------
    GraphConfigError
        If the field's type is no list of message classes.
    """
    parts = get_args(annotation)
    if get_origin(annotation) is not list or not all(map(_is_message_class, _members(parts[0]))):
        raise GraphConfigError(
            f"Field {field!r} has the reducer add_messages and the type {annotation!r}; it must be "
            "a list of message classes, such as list[Message] from nbgraph.chat"
        )
    return list[parts[0] | RemoveMessage]


def _members(item: Any) -> Sequence[Any]:
    origin, parts = get_origin(item), get_args(item)
    if origin is Annotated:
        return _members(parts[0])
    if origin in (Union, types.UnionType):
        return [member for part in parts for member in _members(part)]
    return [item]


def _is_message_class(item: Any) -> bool:
    return isinstance(item, type) and issubclass(item, _Message)


def _difference(field: str, before: Iterable[Any] | None, after: Iterable[Any]) -> list[Any]:
    """Return the update that leads from one list to the other: removed, changed and added messages.

    Raises
    ------
    GraphExecutionError
        If messages changed places, or were put between others.
    """
    known: Mapping[str, Any] = {message.id: message for message in before or ()}
    following = list(after)
    left = {message.id for message in following}
    kept = [name for name in known if name in left]
    if [message.id for message in following[: len(kept)]] != kept:
        raise GraphExecutionError(
            f"The messages of field {field!r} changed places, which add_messages cannot repeat; "
            "return a dict with the update, or Replace(messages)"
        )
    removed = [RemoveMessage(id=name) for name in known if name not in left]
    changed = [
        message
        for message in following
        if message.id not in known or not same(known[message.id], message)
    ]
    return [*removed, *changed]


SPECIAL[add_messages] = Special(_delta_type, _identified, _difference)
