"""What a node says while it runs, as a person sees it: progress, text, lines of the log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from nbgraph.core.live import Attempt, Logged, TaskEmitted
from nbgraph.core.usage import is_number, tokens_of

__all__ = ["Activity", "LogLine", "Mark", "Usage", "active", "brief", "line", "used"]

Mark = Literal["idle", "running", "done", "waiting", "failed", "skipped"]
"""How a node stands, in one word."""

_TEXT_LIMIT = 20_000
_LINE_LIMIT = 500


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of the log: when, which node (`""`: the run itself), what, and how it is shown."""

    at: float
    node: str
    text: str
    mark: Mark = "idle"
    kind: Literal["event", "print", "log"] = "event"


@dataclass(frozen=True, slots=True)
class Activity:
    """What a running task has shown: how far it is (0 to 1, if it says so), a note, its text."""

    node: str
    share: float | None = None
    note: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that chat models read and wrote, as far as their messages tell."""

    read: int = 0
    written: int = 0


def active(old: Activity | None, node: str, said: TaskEmitted) -> Activity | None:
    """Return a task's activity after something it said; None where that changes nothing."""
    before = old or Activity(node)
    match said.kind:
        case "token":
            text = before.text + _piece(said.data)
            return replace(before, text=text[-_TEXT_LIMIT:])
        case "custom":
            share = _share(said.data)
            if share is None:
                return None
            return replace(before, share=share, note=_note(said.data) or before.note)
        case _:
            return None


def line(node: str, said: TaskEmitted) -> LogLine | None:
    """Return the line of the log for what a task said; None for progress and pieces of text."""
    match said.kind, said.data:
        case "attempt", Attempt(number=number, error=error):
            text = f"try {number} failed: {error.type}: {error.message}"
            return LogLine(said.at, node, text, "failed")
        case "print", text:
            return LogLine(said.at, node, brief(text), kind="print")
        case "log", Logged(level=level, logger=logger, message=message, grave=grave):
            text = brief(f"{level} {logger}: {message}")
            return LogLine(said.at, node, text, "failed" if grave else "idle", "log")
        case "held", seconds:
            text = f"held the loop for {seconds:.1f} s, so nothing else ran; await, or use def"
            return LogLine(said.at, node, text, "failed")
        case "custom", data if _share(data) is None:
            return LogLine(said.at, node, brief(data))
        case _:
            return None


def _share(data: Any) -> float | None:
    """Return how far a task says it is: `{"progress": 0.4}`, or `{"done": 3, "total": 8}`."""
    if not isinstance(data, Mapping):
        return None
    said = cast("Mapping[str, Any]", data)
    if "progress" in said:
        share: Any = said["progress"]
    elif "done" in said and "total" in said and is_number(said["total"]) and said["total"] > 0:
        share = said["done"] / said["total"] if is_number(said["done"]) else None
    else:
        return None
    return min(1.0, max(0.0, float(share))) if is_number(share) else None


def _note(said: Mapping[str, Any]) -> str:
    if "message" in said:
        return brief(said["message"])
    return f"{said['done']} of {said['total']}" if "total" in said else ""


def _piece(data: Any) -> str:
    """Return the text of a piece of an answer: a text, or what a chunk holds as one."""
    content = data if isinstance(data, str) else getattr(data, "content", None)
    return content if isinstance(content, str) else ""


def brief(data: Any, limit: int = _LINE_LIMIT) -> str:
    """Return a value as text: of a long one the beginning, and how long it is."""
    text = data if isinstance(data, str) else _repr(data)
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text):,} characters)"


def _repr(data: Any) -> str:
    try:
        return repr(data)
    except Exception as error:  # noqa: BLE001 - a node's own object, and any error of its own
        return f"<{type(data).__name__} whose repr raised {type(error).__name__}>"


def used(before: Usage, update: Mapping[str, Any]) -> Usage:
    """Return the usage after an update: what the messages in it say they cost."""
    read, written = before.read, before.written
    for usage in _usages(update):
        told = tokens_of(usage)
        read, written = read + told[0], written + told[1]
    return before if (read, written) == (before.read, before.written) else Usage(read, written)


def _usages(update: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for value in update.values():
        if not isinstance(value, list | dict):
            continue
        items = cast("list[Any]", value if isinstance(value, list) else [value])
        messages = (cast("dict[str, Any]", item) for item in items if isinstance(item, dict))
        usages: Iterator[Any] = (message.get("usage") for message in messages)
        yield from (usage for usage in usages if isinstance(usage, dict))
