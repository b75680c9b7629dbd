"""A position as JSON and back, so that a long log need not be folded from its beginning.

A snapshot is a cache: it is made only if the position comes back equal from it, and read only by
whoever has the same codec, the same types of fields and the same names for what the record calls
otherwise. Reducers do not count: what a snapshot holds was computed by those of its time, and stays
so when their code changes.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Any

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, from_json, to_json

from nbgraph.core.codec import decode_events, encode_events
from nbgraph.core.events import ChildPlace, Event, Interrupt, TaskSpec
from nbgraph.core.migration import Migration
from nbgraph.core.position import Answered, Position
from nbgraph.core.schema import StateSchema
from nbgraph.core.store import PositionSnapshot
from nbgraph.errors import NbgraphError

__all__ = ["fingerprint", "position_of", "snapshot_of"]

_CODEC = 1
"""To be raised when the text changes its meaning."""

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def fingerprint(schema: StateSchema, migration: Migration | None = None) -> str:
    """Return what names the codec, the types of a state's fields, and the names exchanged."""
    types = [(name, _ADDRESS.sub("", repr(field.type))) for name, field in schema.fields.items()]
    text = repr((schema.is_open, sorted(types)))
    if migration:
        text += repr((sorted(migration.nodes.items()), sorted(migration.fields.items(), key=str)))
    return f"{_CODEC}:{blake2b(text.encode(), digest_size=8).hexdigest()}"


def snapshot_of(
    position: Position, schema: StateSchema, migration: Migration | None = None
) -> PositionSnapshot | None:
    """Return a position as a snapshot, or None if it would not come back as it is."""
    try:
        body = to_json({**_plain(position), "state": schema.kept(position.state)})
    except (NbgraphError, PydanticSerializationError):
        return None
    return PositionSnapshot(position.sequence, fingerprint(schema, migration), body)


def position_of(
    snapshot: PositionSnapshot, schema: StateSchema, migration: Migration | None = None
) -> Position | None:
    """Return a snapshot's position, or None if only the events can tell it."""
    if snapshot.fingerprint != fingerprint(schema, migration):
        return None
    try:
        return _read(snapshot.sequence, from_json(snapshot.body), schema)
    except (NbgraphError, ValidationError, ValueError, KeyError, TypeError):
        return None


def _plain(position: Position) -> dict[str, Any]:
    return {
        "step": position.step,
        "tasks": [_dumped(task) for task in position.tasks],
        "finished": {key: _event_out(event) for key, event in position.finished.items()},
        "failed": {key: _event_out(event) for key, event in position.failed.items()},
        "began": sorted(position.began),
        "pending": {key: _dumped(asked) for key, asked in position.pending.items()},
        "answered": {key: _answered_out(given) for key, given in position.answered.items()},
        "caches": position.caches,
        "once": position.once,
        "hooked": position.hooked,
        "children": {key: _dumped(place) for key, place in position.children.items()},
        "planned": position.planned,
        "joins": position.joins,
        "before": position.before,
        "after": position.after,
        "merged": position.merged,
        "paused": position.paused,
        "failure": position.failure and _event_out(position.failure),
    }


def _read(sequence: int, kept: dict[str, Any], schema: StateSchema) -> Position:
    return Position(
        sequence=sequence,
        step=kept["step"],
        state=schema.revived(kept["state"]),
        tasks=tuple(map(TaskSpec.model_validate, kept["tasks"])),
        finished={key: _event_in(event) for key, event in kept["finished"].items()},
        failed={key: _event_in(event) for key, event in kept["failed"].items()},
        began=frozenset(kept["began"]),
        pending={key: Interrupt.model_validate(one) for key, one in kept["pending"].items()},
        answered={key: _answered_in(given) for key, given in kept["answered"].items()},
        caches=kept["caches"],
        once=kept["once"],
        hooked=kept["hooked"],
        children={key: ChildPlace.model_validate(one) for key, one in kept["children"].items()},
        planned=kept["planned"],
        joins={key: tuple(sources) for key, sources in kept["joins"].items()},
        before=_names(kept["before"]),
        after=_names(kept["after"]),
        merged=kept["merged"],
        paused=kept["paused"],
        failure=kept["failure"] and _event_in(kept["failure"]),
    )


def _dumped(record: TaskSpec | Interrupt | ChildPlace) -> dict[str, Any]:
    return record.model_dump(exclude_defaults=True)


def _event_out(event: Event) -> list[Any]:
    return [event.branch_id, event.sequence, from_json(encode_events([event]))]


def _event_in(kept: list[Any]) -> Any:
    branch_id, sequence, events = kept
    text = to_json(events).decode()
    return decode_events(text, branch_id=branch_id, first=sequence, where="snapshot")[0]


def _answered_out(given: Answered) -> list[Any]:
    who = [given.by, given.at, given.sequence, given.step, given.branch_id]
    return [_dumped(given.interrupt), given.answer, *who]


def _answered_in(kept: list[Any]) -> Answered:
    interrupt, *rest = kept
    return Answered(Interrupt.model_validate(interrupt), *rest)


def _names(kept: list[str] | None) -> tuple[str, ...] | None:
    return None if kept is None else tuple(kept)
