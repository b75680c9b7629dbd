"""What a store in memory tells of itself as a whole: size, damage, and threads as lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from nbgraph.core.store import BranchRecord, Damage, StoreSize
from nbgraph.errors import DamagedStoreError
from nbgraph.stores._chain import root_of
from nbgraph.stores._log import MAIN, Stretch, events_of
from nbgraph.stores._memory_rows import Branch, Threads, forked, hash_at, kept, rows_of
from nbgraph.stores._transfer import (
    KeptBranch,
    commits_in,
    lines_of,
    require_chain,
    require_no_thread,
)

__all__ = ["contents_of", "exported", "imported", "measured", "verified"]


def measured(threads: Threads) -> StoreSize:
    """Return what is held, in rows and bytes."""
    branches = list(_all(threads))
    rows = [row for one in branches for row in one.rows]
    contents = contents_of(threads)
    snapshots = [one.snapshot for one in branches if one.snapshot is not None]
    return StoreSize(
        threads=sum(branches[MAIN].hidden_under is None for branches in threads.values()),
        branches=len(branches),
        commits=len(rows),
        commit_bytes=sum(len(row.body) for row in rows),
        snapshot_bytes=sum(len(one.body) for one in snapshots),
        large_values=len(contents),
        large_value_bytes=sum(map(len, contents.values())),
    )


def _all(threads: Threads) -> Iterator[Branch]:
    return (one for branches in threads.values() for one in branches.values())


def verified(threads: Threads) -> list[Damage]:
    """Return the first thing in each branch that is not what was written."""
    return [damage for one in _all(threads) for damage in _of_branch(one)]


def _of_branch(branch: Branch) -> Iterator[Damage]:
    names, at = (branch.thread_id, branch.id), branch.parent_sequence
    parent = b"" if branch.parent is None else hash_at(branch.parent, at)
    if branch.root != root_of(*names, parent, at):
        yield Damage(*names, at + 1, "it was forked off another past than its parent has now")
        return
    due = at + 1
    try:
        for row in branch.rows:
            part = Stretch(branch.id, due - 1, due + row.count - 1)
            rows, before = rows_of(branch, part)
            events_of(branch.thread_id, part, rows, before)
            due += row.count
    except DamagedStoreError as error:
        yield Damage(*names, due, error.problem)


def exported(thread_id: str, threads: Threads) -> list[str]:
    """Return a thread, and those of its sub-graphs, as lines of JSON.

    Raises
    ------
    DamagedStoreError
        If a part of it is not what was written.
    """
    children = sorted(
        name for name, branches in threads.items() if branches[MAIN].hidden_under == thread_id
    )
    return [line for one in (thread_id, *children) for line in _lines(one, threads[one])]


def _lines(thread_id: str, branches: Mapping[str, Branch]) -> Iterator[str]:
    return lines_of(thread_id, branches[MAIN].hidden_under, map(_kept_branch, branches.values()))


def _kept_branch(branch: Branch) -> KeptBranch:
    own = Stretch(branch.id, branch.parent_sequence, branch.head)
    rows, before = rows_of(branch, own)
    events_of(branch.thread_id, own, rows, before)  # raises if it is not what was written
    parent = None if branch.parent is None else branch.parent.id
    summary = branch.summary
    return KeptBranch(
        BranchRecord(
            branch.thread_id, branch.id, parent or "", branch.parent_sequence, branch.created_at
        ),
        parent,
        branch.updated_at,
        (summary.graph, summary.status, summary.step),
        list(branch.questions.values()),
        rows,
        {name: content for row in rows for name, content in row.blobs.items()},
    )


def imported(lines: Iterable[str], threads: Threads) -> tuple[str, Threads]:
    """Return the id of a thread that was exported, and all threads with it and its sub-graphs'.

    Raises
    ------
    StateStoreError
        If a thread is there already, or the lines are no export.
    DamagedStoreError
        If a hash does not fit.
    """
    made: dict[str, dict[str, Branch]] = {}
    for one in commits_in(lines):
        commit, record = one.commit, one.record
        require_no_thread(commit.thread_id, exists=commit.thread_id in threads)
        branch = kept(made, commit) if record is None else forked(made, record, commit)
        require_chain(one, branch.hashed()[-1].hash)
    return next(iter(made)), {**threads, **made}


def contents_of(threads: Threads) -> dict[bytes, bytes]:
    """Return the large values that threads hold, by hash."""
    rows = (row for one in _all(threads) for row in one.rows)
    return {name: content for row in rows for name, content in row.blobs.items()}
