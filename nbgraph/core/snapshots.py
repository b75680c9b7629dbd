"""A position as JSON and back, so that a long log need not be folded from its beginning.

A snapshot is a cache: it is made only if the position comes back equal from it, and read only by
whoever has the same codec, the same types of fields and the same names for what the record calls
otherwise. Reducers do not count: what a snapshot holds was computed by those of its time, and stays
so when their code changes.
"""

from __future__ import annotations

import re
from functools import partial
from hashlib import blake2b
from typing import Any

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, from_json, to_json

from nbgraph.core.blob import Packed, Packing
from nbgraph.core.codec import decode_events, written_events
from nbgraph.core.events import ChildPlace, Event, Interrupt, TaskSpec
from nbgraph.core.migration import Migration
from nbgraph.core.position import Answered, Position
from nbgraph.core.schema import StateSchema
from nbgraph.core.store import PositionSnapshot
from nbgraph.errors import NbgraphError

__all__ = ["fingerprint", "position_of", "snapshot_of"]

_CODEC = 2
"""To be raised when the text changes its meaning."""

_ADDRESS = r" at 0x[0-9a-fA-F]+"


def fingerprint(schema: StateSchema, migration: Migration | None = None) -> str:
    """Return what names the codec, the types of a state's fields, and the names exchanged."""
    types = [
        (name, re.sub(_ADDRESS, "", repr(field.type))) for name, field in schema.fields.items()
    ]
    text = repr((schema.is_open, sorted(types)))
    if migration:
        text += repr((sorted(migration.nodes.items()), sorted(migration.fields.items(), key=str)))
    return f"{_CODEC}:{blake2b(text.encode(), digest_size=8).hexdigest()}"


def snapshot_of(
    position: Position, schema: StateSchema, migration: Migration | None = None
) -> PositionSnapshot | None:
    """Return a position as a snapshot, or None if it would not come back as it is."""
    try:
        packing = Packing()
        whole = {**_plain(position, packing), "state": schema.kept(position.state)}
        packed = packing.packed(to_json(whole, context=packing))
    except (NbgraphError, PydanticSerializationError):
        return None
    named = fingerprint(schema, migration)
    return PositionSnapshot(position.sequence, named, packed.body, packed.blobs)


def position_of(
    snapshot: PositionSnapshot, schema: StateSchema, migration: Migration | None = None
) -> Position | None:
    """Return a snapshot's position, or None if only the events can tell it."""
    if snapshot.fingerprint != fingerprint(schema, migration):
        return None
    try:
        whole = Packed(snapshot.body, snapshot.blobs).value()
        return _read(snapshot.sequence, whole, schema)
    except (NbgraphError, ValidationError, ValueError, LookupError, TypeError):
        return None


def _plain(position: Position, packing: Packing) -> dict[str, Any]:
    dumped, event_out = partial(_dumped, packing), partial(_event_out, packing)
    return {
        "step": position.step,
        "tasks": [dumped(task) for task in position.tasks],
        "finished": {key: event_out(event) for key, event in position.finished.items()},
        "failed": {key: event_out(event) for key, event in position.failed.items()},
        "began": position.began,
        "pending": {key: dumped(asked) for key, asked in position.pending.items()},
        "answered": {
            key: _answered_out(packing, given) for key, given in position.answered.items()
        },
        "caches": position.caches,
        "once": position.once,
        "hooked": position.hooked,
        "children": {key: dumped(place) for key, place in position.children.items()},
        "planned": position.planned,
        "planned_at": position.planned_at,
        "joins": position.joins,
        "before": position.before,
        "after": position.after,
        "merged": position.merged,
        "paused": position.paused,
        "failure": position.failure and event_out(position.failure),
    }


def _read(sequence: int, kept: dict[str, Any], schema: StateSchema) -> Position:
    return Position(
        sequence=sequence,
        step=kept["step"],
        state=schema.revived(kept["state"]),
        tasks=tuple(map(TaskSpec.model_validate, kept["tasks"])),
        finished={key: _event_in(event) for key, event in kept["finished"].items()},
        failed={key: _event_in(event) for key, event in kept["failed"].items()},
        began={key: tuple(keys) for key, keys in kept["began"].items()},
        pending={key: Interrupt.model_validate(one) for key, one in kept["pending"].items()},
        answered={key: _answered_in(given) for key, given in kept["answered"].items()},
        caches=kept["caches"],
        once=kept["once"],
        hooked=kept["hooked"],
        children={key: ChildPlace.model_validate(one) for key, one in kept["children"].items()},
        planned=kept["planned"],
        planned_at=kept["planned_at"],
        joins={key: tuple(sources) for key, sources in kept["joins"].items()},
        before=_names(kept["before"]),
        after=_names(kept["after"]),
        merged=kept["merged"],
        paused=kept["paused"],
        failure=kept["failure"] and _event_in(kept["failure"]),
    )


def _dumped(packing: Packing, record: TaskSpec | Interrupt | ChildPlace) -> dict[str, Any]:
    return record.model_dump(exclude_defaults=True, context=packing)


def _event_out(packing: Packing, event: Event) -> list[Any]:
    return [event.branch_id, event.sequence, from_json(written_events([event], packing))]


def _event_in(kept: list[Any]) -> Any:
    branch_id, sequence, events = kept
    packing = Packing()
    packed = packing.packed(to_json(events, context=packing))
    return decode_events(packed, branch_id=branch_id, first=sequence, where="snapshot")[0]


def _answered_out(packing: Packing, given: Answered) -> list[Any]:
    who = [given.by, given.at, given.sequence, given.step, given.branch_id, given.lapsed]
    said = [] if given.comment is None else [given.comment]
    return [_dumped(packing, given.interrupt), given.answer, *who, *said]


def _answered_in(kept: list[Any]) -> Answered:
    interrupt, *rest = kept
    return Answered(Interrupt.model_validate(interrupt), *rest)


def _names(kept: list[str] | None) -> tuple[str, ...] | None:
    return None if kept is None else tuple(kept)
