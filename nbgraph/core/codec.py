"""Events as JSON text and back: what every store keeps of a commit."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from nbgraph.core.blob import Packed, Packing
from nbgraph.core.events import Event, TaskInterrupted
from nbgraph.errors import DamagedStoreError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["decode_events", "encode_events", "stamp", "stamped", "written_events"]


@functools.cache
def _adapter() -> TypeAdapter[list[Event]]:
    from pydantic import TypeAdapter

    return TypeAdapter(list[Annotated[Event, Field(discriminator="type")]])


def encode_events(events: Sequence[Event]) -> Packed:
    """Return a commit's events as one JSON text, without sequence and branch, and their blobs.

    A store keeps those two in its own key, so that they exist once.
    """
    packing = Packing()
    return packing.packed(written_events(events, packing))


def written_events(events: Sequence[Event], packing: Packing) -> bytes:
    """Return a commit's events as one JSON text; their blobs are taken by `packing`."""
    texts: list[bytes] = []
    for event in events:
        # exclude_defaults keeps rows small but drops the tag too, which is a default: put it back.
        # `created_at` has no fixed default, so the text is never `{}`.
        write = event.__pydantic_serializer__.to_json
        text = write(event, exclude_defaults=True, context=packing)
        texts.append(_opening(type(event)) + text[1:])
    return b"[%b]" % b",".join(texts)


@functools.cache
def _opening(kind: type[Event]) -> bytes:
    return b'{"type":"%b",' % kind.model_fields["type"].default.encode()


def decode_events(packed: Packed, *, branch_id: str, first: int, where: str) -> list[Event]:
    """Return the events of one stored commit; `first` is the sequence of its first event.

    Raises
    ------
    DamagedStoreError
        If the text is not what `encode_events` wrote; `where` names the row.
    """
    try:
        if packed.blobs:
            events = _adapter().validate_python(packed.value())
        else:
            events = _adapter().validate_json(packed.body)
    except (ValueError, LookupError, TypeError) as error:
        raise DamagedStoreError(where, str(error).splitlines()[0]) from error
    stamp(events, branch_id=branch_id, first=first)
    return events


def stamped(event: Event, *, branch_id: str, sequence: int) -> Event:
    """Return the event with its place in a log."""
    placed = copy.copy(event)
    stamp((placed,), branch_id=branch_id, first=sequence)
    return placed


def stamp(events: Iterable[Event], *, branch_id: str, first: int) -> None:
    """Give events that nobody else has seen their places in a log, from `first` on.

    Questions know theirs too.
    """
    for sequence, event in enumerate(events, first):
        values: dict[str, Any] = event.__dict__  # type: ignore[assignment] - frozen from here on
        values["branch_id"], values["sequence"] = branch_id, sequence
        if type(event) is TaskInterrupted:
            asked = {"asked": sequence, "created_at": event.created_at}
            values["interrupts"] = tuple(item.model_copy(update=asked) for item in event.interrupts)
