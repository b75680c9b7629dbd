"""Questions about tool calls, and finding what a card of one shows."""

from __future__ import annotations

from typing import Any

from form_parts import named, visible
from pydantic import create_model

from nbgraph import Interrupt
from nbgraph.core.answers import publish
from nbgraph.core.hidden import is_hidden
from nbgraph.notebook.spans import Flow
from nbgraph.notebook.tool_card import ToolCard

HASH = "9f3c20e1" * 8
REFUND = {
    "type": "object",
    "properties": {
        "order_id": {"type": "string"},
        "amount": {"type": "number", "exclusiveMinimum": 0},
        "currency": {"enum": ["EUR", "USD", "GBP"]},
        "notify": {"type": "boolean", "default": False},
        "memo": {"type": "string"},
    },
    "required": ["order_id", "amount", "currency"],
    "additionalProperties": False,
}
PROPOSED = {"order_id": "A-1042", "amount": 180, "currency": "EUR", "notify": False}
LONG = "Refund for the desk lamp. " * 40


def asked(arguments: Any = None, schema: Any = None, *, n: int = 1, **more: Any) -> Interrupt:
    """Return a question about a call of `send_refund`."""
    payload = {
        "kind": "tool_interrupt",
        "tool_name": "send_refund",
        "tool_call_id": f"c_{n}",
        "arguments": PROPOSED if arguments is None else arguments,
        "description": "Pays money back to the customer.",
        "input_schema": REFUND if schema is None else schema,
        "rule": {"tool": "send_refund", "condition": "amount > 100", "fields": ["amount"]},
        "call_hash": HASH,
        **more,
    }
    key = f"act:approve_c_{n}"
    return Interrupt(key=key, id=f"approve_c_{n}", node="act", task_id="act", payload=payload)


def card_of(*args: Any, **more: Any) -> tuple[ToolCard, list[Any]]:
    """Return a card, and what it sends."""
    card, sent = ToolCard(asked(*args, **more)), []
    card.on_submit(sent.append)
    return card, sent


def schema_of(**fields: Any) -> Any:
    """Return the schema of a tool whose arguments have these types."""
    return publish(
        create_model("Arguments", **{name: (kind, ...) for name, kind in fields.items()})
    )


def read_in(widget: Any) -> str:
    """Return what can be read on the page, in its order."""
    found = []
    for each in visible(widget):
        if type(each).__name__ == "Label":
            found.append(each.value)
        elif getattr(each, "description", "") and type(each).__name__ != "Text":
            found.append(each.description)
    return " ".join(" ".join(found).split())


def exactly(card: Any) -> str:
    """Return the call in the zone of what runs."""
    (zone,) = [each for each in named(card, "nbgraph-zone") if "call" in each._dom_classes]
    (flow,) = [each for each in named(zone, "nbgraph-code") if isinstance(each, Flow)]
    return flow.text


def zone(card: Any, kind: str) -> Any:
    """Return one of the three zones."""
    (found,) = [each for each in named(card, "nbgraph-zone") if kind in each._dom_classes]
    return found


def button(card: Any, name: str) -> Any:
    """Return a button on the page by its class."""
    (found,) = [each for each in named(card, f"nbgraph-{name}") if hasattr(each, "click")]
    return found


def is_held(card: Any, name: str = "approve") -> bool:
    """Return whether a button cannot act now."""
    return "nbgraph-held" in button(card, name)._dom_classes


def unseen(text: str) -> str:
    """Return the characters of a text that cannot be seen."""
    return "".join(each for each in text if is_hidden(each) and each not in "\n\t")
