"""The branches of a thread as a small tree: where each was forked, and how far it went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbgraph import words
from nbgraph.core.driver import Driver
from nbgraph.core.events import Event, Forked
from nbgraph.core.fold import fold
from nbgraph.moments import moments
from nbgraph.snapshot import Mark, Snapshot

__all__ = ["Limb", "drawn", "limbs", "same_up_to", "unlike"]

_SYMBOLS: Mapping[Mark, str] = {
    "idle": "○",
    "running": "▷",
    "done": "●",
    "waiting": "◆",
    "failed": "✕",
    "skipped": "⊘",
}
_COLUMNS = 16
"""How many supersteps a tree shows; of more, only those at which something begins or ends."""
_MOST = 12
"""How many branches a tree shows, main and the newest ones."""


@dataclass(frozen=True, slots=True)
class Limb:
    """A branch: forked after superstep `forked` of `parent`, it has finished `steps` supersteps.

    `more` is whether one is planned and not finished. `mark` and `status` say how it stands.
    """

    name: str
    parent: str | None
    forked: int
    steps: int
    more: bool
    mark: Mark
    status: str

    @property
    def end(self) -> int:
        """The last superstep that is drawn."""
        return self.steps + self.more

    @property
    def told(self) -> str:
        """Return it in words: `Finished, 6 supersteps, forked after 3`."""
        count = f"{self.steps} superstep{'' if self.steps == 1 else 's'}"
        begin = "" if self.parent is None else f", forked after {self.forked}"
        return f"{self.status}, {count}{begin}"


async def limbs(driver: Driver) -> tuple[Limb, ...]:
    """Return a thread's branches, each followed by those that were forked from it."""
    names = await driver.branches()
    found: dict[str, Limb] = {}
    for name in (*names[:1], *names[1:][-_MOST + 1 :]):
        own = driver if name == driver.branch_id else driver.on(name)
        found[name] = _limb(name, await own.events(), own)
    return tuple(_ordered(found))


def _limb(name: str, events: Sequence[Event], driver: Driver) -> Limb:
    position = fold(events, driver.folding)
    snapshot = Snapshot(position)
    fork = next((each for each in reversed(events) if isinstance(each, Forked)), None)
    before = events[: fork.parent_sequence] if fork is not None else ()
    return Limb(
        name,
        parent=None if fork is None else fork.parent_branch_id,
        forked=moments(before)[-1].number if before else 0,
        steps=position.step,
        more=bool(position.tasks) and not position.merged,
        mark=words.status_mark(snapshot),
        status=words.status(snapshot),
    )


def _ordered(found: Mapping[str, Limb]) -> Iterator[Limb]:
    """Yield branches so that what was forked later comes first: no line crosses another."""

    def below(parent: str) -> Iterator[Limb]:
        forked = [limb for limb in found.values() if limb.parent == parent]
        for limb in sorted(forked, key=lambda each: -each.forked):
            yield limb
            yield from below(limb.name)

    for limb in found.values():
        if limb.parent not in found:
            yield limb
            yield from below(limb.name)


def drawn(tree: Sequence[Limb]) -> tuple[str, ...]:
    """Return a line for each branch, `●───●───●`, and one above with the numbers of supersteps."""
    columns = _columns(tree)
    head = "".join(f"{number or '':<4}" for number in columns)
    return (head.rstrip(), *(_line(tree, at, columns) for at in range(len(tree))))


def _columns(tree: Sequence[Limb]) -> list[int]:
    last = max((limb.end for limb in tree), default=0)
    forks = [limb for limb in tree if limb.parent is not None]
    first = 0 if any(limb.forked == 0 for limb in forks) else 1
    if last - first < _COLUMNS:
        return [*range(first, last + 1)]
    kept = {first, *(limb.end for limb in tree)}
    kept |= {number for limb in forks for number in (limb.forked, limb.forked + 1)}
    return sorted(kept)


def _line(tree: Sequence[Limb], at: int, columns: Sequence[int]) -> str:
    parts: list[str] = []
    limb = tree[at]
    for number, following in zip(columns, [*columns[1:], None], strict=True):
        on = following is not None and following <= limb.end and _begins(limb) <= number
        gap = following is not None and following > number + 1
        way = ("┄┄┄" if gap else "───") if on else "   "
        parts.append(f"{_symbol(tree, at, number)}{way}")
    return "".join(parts).rstrip()


def _begins(limb: Limb) -> int:
    return 0 if limb.parent is None else limb.forked


def _symbol(tree: Sequence[Limb], at: int, number: int) -> str:
    limb = tree[at]
    passing = any(_passes(tree, at, later, number) for later in range(at + 1, len(tree)))
    if limb.parent is not None and number <= limb.forked:
        if number == limb.forked:
            return "├" if passing else "└"
        return "│" if passing else " "
    if number > limb.end:
        return " "
    if number == 0:
        return "○"
    return _SYMBOLS[limb.mark] if number == limb.end and limb.more else _SYMBOLS["done"]


def _passes(tree: Sequence[Limb], at: int, later: int, number: int) -> bool:
    """Return whether the line of a later branch goes down through a column of this row."""
    limb = tree[later]
    above = next((row for row, each in enumerate(tree) if each.name == limb.parent), len(tree))
    return limb.forked == number and above < at


# --- two branches -----------------------------------------------------------------------------


def same_up_to(first: Sequence[Event], second: Sequence[Event]) -> int:
    """Return after how many supersteps two branches of a thread went different ways."""
    shared = [a for a, b in zip(first, second, strict=False) if a == b]
    return moments(shared)[-1].number if shared else 0


def unlike(first: Snapshot, second: Snapshot) -> frozenset[str]:
    """Return the nodes that stand differently in two snapshots, or wrote something else."""
    return frozenset(
        path
        for path in first.marks.keys() | second.marks.keys()
        if _stands(first, path) != _stands(second, path)
    )


def _stands(snapshot: Snapshot, path: str) -> tuple[Any, ...]:
    mark = snapshot.marks.get(path, "idle")
    report = snapshot.reports.get(path) if mark != "idle" else None
    answers = [each.answer for each in snapshot.records if each.interrupt.node == path]
    return mark, getattr(report, "update", None), answers
