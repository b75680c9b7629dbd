"""What began in a superstep's tasks, must happen at most once, and has no result: a fold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

__all__ = ["Began", "ended", "outcome_id", "outcome_key", "paused", "started"]

Began = Mapping[str, tuple[str | None, ...]]
"""By task, the keys of `ctx.once` that began without a result; None for the node itself."""


def outcome_id(key: str | None) -> str:
    """Return the id of the question how an effect ended; no id that `interrupt` takes is like it.

    `key` is that of a `ctx.once`, and None for a node.
    """
    return "outcome?" if key is None else f"{key}/outcome?"


def outcome_key(task_id: str, key: str | None) -> str:
    """Return the key of the question how an effect of a task ended."""
    return f"{task_id}:{outcome_id(key)}"


def started(began: Began, task_id: str, key: str | None) -> Began:
    """Return what has no result after one more start."""
    return {**began, task_id: (*ended(began, task_id, key).get(task_id, ()), key)}


def ended(began: Began, task_id: str, key: str | None) -> Began:
    """Return what has no result after one of them has."""
    if key not in began.get(task_id, ()):
        return began
    return {**began, task_id: tuple(one for one in began[task_id] if one != key)}


def paused(
    began: Began, task_id: str, asked: Collection[str], by_asking: Iterable[str] = ()
) -> Began:
    """Return what has no result after a task asked questions with these keys.

    A node that asks has come to a known end, unless it is asked how it ended; so have the keys
    of `ctx.once` whose functions ended by asking.
    """
    for key in by_asking:
        began = ended(began, task_id, key)
    return began if outcome_key(task_id, None) in asked else ended(began, task_id, None)
