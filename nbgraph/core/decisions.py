"""What is asked about a tool call, what is decided, and the digest that binds the two."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from nbgraph.core.answers import ADVISORY
from nbgraph.core.interrupts import PAYLOADS

__all__ = [
    "ACTIONS",
    "Action",
    "MatchedRule",
    "ToolDecision",
    "ToolInterrupt",
    "approval_id",
    "arguments_digest",
    "call_hash",
    "decided",
    "decision_schema",
    "edited_arguments",
    "escaped",
]

Action = Literal["approve", "edit", "deny", "respond"]
"""What can be decided about a tool call."""
ACTIONS: tuple[Action, ...] = get_args(Action)


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class MatchedRule(_Record):
    """The rule that had a call asked for.

    Attributes
    ----------
    tool : str
        The tool it names; `"*"` is every tool.
    condition : str
        In words: `"amount > 100"`, or `"every call"`.
    fields : tuple of str
        The arguments the condition looks at.
    problem : str or None
        Why the condition could not be checked, which counts as a match.
    """

    tool: str
    condition: str
    fields: tuple[str, ...] = ()
    problem: str | None = None


class ToolInterrupt(_Record):
    """A tool call that waits for a decision: the payload of an approval.

    Attributes
    ----------
    kind : "tool_interrupt"
        Tells this payload from any other.
    tool_name, tool_call_id : str
        Which call of which tool.
    arguments : dict
        The proposed arguments, as JSON: exactly these run if the call is approved.
    description : str
        The tool's own, written by the graph's author.
    input_schema : dict
        JSON Schema of the tool's arguments.
    rule : MatchedRule
        Why it is asked.
    allowed : tuple of str
        Which of approve, edit, deny and respond may be decided.
    destructive : bool
        Whether the tool is marked as one whose effect cannot be undone.
    call_hash : str
        Digest of the call: tool, schema, arguments, thread and call id.
    """

    kind: Literal["tool_interrupt"] = "tool_interrupt"
    tool_name: str
    tool_call_id: str
    arguments: dict[str, Any]
    description: str = ""
    input_schema: dict[str, Any] = Field(default_factory=dict[str, Any])
    rule: MatchedRule | None = None
    allowed: tuple[Action, ...] = ACTIONS
    destructive: bool = False
    call_hash: str = ""


def _as_payload(payload: Any) -> ToolInterrupt | None:
    try:
        return ToolInterrupt.model_validate(payload)
    except ValidationError:  # somebody else's payload that calls itself so
        return None


PAYLOADS["tool_interrupt"] = _as_payload


class ToolDecision(_Record):
    """What a person decides about a tool call.

    Attributes
    ----------
    action : "approve", "edit", "deny" or "respond"
        Run it, run it with other arguments, do not run it, or answer the model in its place.
    arguments : dict, optional
        For an edit: what changes. They are merged into the proposed ones.
    replace : bool
        For an edit: `arguments` stand instead of the proposed ones, so that some can be left out.
    message : str, optional
        The reason for a denial, which the model reads; for a response, what the model reads.
    call_hash : str, optional
        The digest that was shown. Another call than the one that was shown does not run.
    """

    action: Action
    arguments: dict[str, Any] | None = None
    replace: bool = False
    message: str | None = None
    call_hash: str | None = None

    @model_validator(mode="after")
    def _check_parts(self) -> ToolDecision:
        if self.action == "edit" and self.arguments is None:
            raise ValueError("an edit needs arguments")
        if self.action == "respond" and self.message is None:
            raise ValueError("a response needs a message")
        if self.action != "edit" and (self.arguments is not None or self.replace):
            raise ValueError("only an edit takes arguments and replace")
        return self


def call_hash(
    tool_name: str,
    arguments: Mapping[str, Any],
    *,
    shown: Mapping[str, Any],
    thread_id: str,
    tool_call_id: str,
) -> str:
    """Return the digest of a call: the same for the same call, and for no other one.

    Parameters
    ----------
    tool_name, tool_call_id, thread_id : str
        Which call of which tool, where.
    arguments : JSON object
        What the tool is called with.
    shown : JSON object
        What else the person reads of the tool: its description and schema.
    """
    parts = [tool_name, arguments, shown, thread_id, tool_call_id]
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def arguments_digest(tool_name: str, arguments: Mapping[str, Any]) -> str:
    """Return a short digest of what a tool is called with: part of what its results go by."""
    text = json.dumps([tool_name, arguments], sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def approval_id(tool_call_id: str | None) -> str:
    """Return the id of the interrupt that asks about a call.

    Characters other than ASCII letters, digits, `_` and `-` are written as `.` and two hex digits a
    UTF-8 byte, so that different calls have different ids.

    Raises
    ------
    ValueError
        If the call has no id to tell it from others.
    """
    if not tool_call_id:
        raise ValueError("A tool call without an id cannot be asked about; the model must give one")
    return "approve_" + escaped(tool_call_id)


def escaped(tool_call_id: str) -> str:
    """Return a call's id as part of an interrupt's id."""
    return "".join(map(_escaped_character, tool_call_id))


def _escaped_character(character: str) -> str:
    if character.isascii() and (character.isalnum() or character in "_-"):
        return character
    return "".join(f".{byte:02x}" for byte in character.encode(errors="surrogatepass"))


def decided(answer: Any, allowed: Sequence[Action] = ACTIONS) -> ToolDecision:
    """Return an answer as a decision; whatever is no decision denies, and says so.

    Parameters
    ----------
    answer : JSON or ToolDecision
        True approves, False denies, a dict has the fields of `ToolDecision`.
    allowed : sequence of str
        A decision for anything else denies. A denial is always possible.
    """
    match answer:
        case True:
            decision = ToolDecision(action="approve")
        case False:
            decision = ToolDecision(action="deny")
        case ToolDecision():
            decision = answer
        case _:
            decision = _read(answer)
    if decision.action not in (*allowed, "deny"):
        return ToolDecision(
            action="deny", message=f"The decision {decision.action!r} is not allowed for this call"
        )
    return decision


def _read(answer: Any) -> ToolDecision:
    try:
        return ToolDecision.model_validate(answer)
    except ValidationError:
        return ToolDecision(
            action="deny", message="The answer to the approval could not be read as a decision"
        )


def edited_arguments(proposed: Mapping[str, Any], decision: ToolDecision) -> dict[str, Any]:
    """Return the arguments a call runs with by a decision."""
    if decision.arguments is None:
        return dict(proposed)
    return {**({} if decision.replace else proposed), **decision.arguments}


def decision_schema(input_schema: Mapping[str, Any], allowed: Sequence[Action]) -> dict[str, Any]:
    """Return the JSON Schema of a decision, one branch an action, with the tool's own arguments.

    It is advice to whoever shows a form. In code any other answer is taken, and denies.
    """
    arguments = dict(input_schema)
    definitions = arguments.pop("$defs", None)
    parts = {
        "approve": {},
        "edit": {
            "arguments": _changed(arguments),
            "replace": {"type": "boolean", "default": False},
        },
        "deny": {"message": {"type": "string", "title": "Reason"}},
        "respond": {"message": {"type": "string", "title": "Answer for the tool"}},
    }
    needed = {"edit": ["arguments"], "respond": ["message"]}
    branches = [
        {
            "title": action.capitalize(),
            "type": "object",
            "properties": {
                "action": {"const": action},
                **parts[action],
                "call_hash": {"type": "string"},
            },
            "required": ["action", *needed.get(action, [])],
            "additionalProperties": False,
        }
        for action in allowed
    ]
    document: dict[str, Any] = {"title": "ToolDecision", ADVISORY: True, "oneOf": branches}
    return document | ({"$defs": definitions} if definitions else {})


def _changed(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema of some of the arguments: those that an edit changes."""
    return {key: value for key, value in arguments.items() if key != "required"}
