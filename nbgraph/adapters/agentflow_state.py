"""AgentFlow's state: its values, inputs for it, and copies of it with changes."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingImports=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from injectq import InjectQ
from tenxgraph.core.graph import StateGraph
from tenxgraph.core.state import ExecutionStatus, Message

from nbgraph.adapters.values import plain
from nbgraph.errors import StateUpdateError

__all__ = ["changed", "is_shared", "messages_of", "stand_before", "values_of"]

_HIDDEN = frozenset({"execution_meta"})


def values_of(state: Any) -> dict[str, Any]:
    """Return a state's fields as JSON, without the engine's own."""
    return {
        name: plain(getattr(state, name))
        for name in type(state).model_fields
        if name not in _HIDDEN
    }


def messages_of(given: Any) -> dict[str, Any]:
    """Return an input as the engine takes it: texts as messages of the user."""
    values = dict(given)
    found = values.get("messages")
    if isinstance(found, list | tuple):
        values["messages"] = [
            Message.text_message(each) if isinstance(each, str) else each for each in found
        ]
    return values


def changed(state: Any, update: Mapping[str, Any]) -> Any:
    """Return a copy of a state with some fields changed, each checked by the state's model."""
    copy = state.model_copy(deep=True)
    unknown = [name for name in update if name not in type(state).model_fields]
    if unknown or "execution_meta" in update:
        raise StateUpdateError(
            f"AgentFlow's state has no field {', '.join(map(repr, unknown or ['execution_meta']))} "
            f"to edit; it has {', '.join(values_of(state))}"
        )
    try:
        whole = type(state).model_validate({**dict(copy), **update})
    except ValueError as error:
        raise StateUpdateError(f"The edit does not fit the state: {error}") from error
    for name in update:
        setattr(copy, name, getattr(whole, name))
    return copy


def stand_before(state: Any, node: str) -> None:
    """Have a state go on with a node as if it had paused before it."""
    meta = state.execution_meta
    meta.status = ExecutionStatus.INTERRUPTED_BEFORE
    meta.current_node = meta.interrupted_node = node
    meta.interrupt_data = None
    meta.interrupt_reason = None


def is_shared(graph: Any) -> bool:
    """Return whether other graphs resolve their checkpointer from this one's container."""
    container = graph._container
    if container is getattr(InjectQ, "_instance", None):
        return True
    return container.get(StateGraph) is not graph  # the last one that was built on it
