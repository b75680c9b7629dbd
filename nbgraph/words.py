"""The words a person reads: statuses, durations, why a button waits. Pure, and one place."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Literal

from nbgraph.clocks import age, clock, duration
from nbgraph.core.driver import Capability, Shape
from nbgraph.core.lapses import overdue
from nbgraph.core.position import Answered
from nbgraph.drawing import WORDS
from nbgraph.inspection import Look
from nbgraph.snapshot import Mark, Progress, Snapshot, Superstep
from nbgraph.supersteps import how_ended

__all__ = [
    "breakpoints",
    "can_start_again",
    "clock",
    "duration",
    "heading",
    "held",
    "held_node",
    "how_answered",
    "late",
    "left_behind",
    "line",
    "lines",
    "mark",
    "note",
    "status",
    "status_mark",
    "waiting_for",
    "why",
]

_STATUS: Mapping[str, tuple[str, Mark]] = {
    "new": ("New", "idle"),
    "running": ("Running", "running"),
    "completed": ("Finished", "done"),
    "failed": ("Failed", "failed"),
    "stopped": ("Stopped", "idle"),
}


def status(snapshot: Snapshot) -> str:
    """Return the status in words: `Waiting for you`, `Paused before decide`."""
    if snapshot.status != "interrupted":
        return _STATUS[snapshot.status][0]
    if snapshot.pending:
        return "Expired, not answered" if _is_over(snapshot) else "Waiting for you"
    where = f" before {', '.join(snapshot.next)}" if snapshot.next else ""
    return f"Paused{where}"


def status_mark(snapshot: Snapshot) -> Mark:
    """Return the mark that goes with the status."""
    if snapshot.status == "interrupted":
        return "waiting" if snapshot.pending else "idle"
    return _STATUS[snapshot.status][1]


def held(
    snapshot: Snapshot, capabilities: Mapping[Capability, str | None] | None = None
) -> Mapping[str, str]:
    """Return why a button cannot act now, by button; a button that can is left out.

    `capabilities` are the engine's; what it cannot do at all is held with its reason. A question
    whose time is over holds nothing back.
    """
    reasons: dict[str, str] = {}
    going = _why_not_going(snapshot)
    if going:
        reasons |= {name: f"{word} {going}" for name, word in _GOING.items()}
    if snapshot.running:
        reasons |= {
            name: f"{word} waits for the end of this run" for name, word in _RESTING.items()
        }
    else:
        reasons |= {"pause": "Nothing is running", "stop": "Nothing is running"}
    if snapshot.pending:
        reasons["start"] = "Start waits for your answer"
    if not snapshot.position.sequence:
        reasons |= {"fork": "There is nothing to fork yet", "edit": "There is no state yet"}
    return {**reasons, **_beyond(capabilities or {})}


def held_node(look: Look, name: Literal["until", "retry", "step"]) -> str:
    """Return why a node's button cannot act now; empty if it can."""
    if name != "retry":
        return held(look.snapshot, look.session.driver.capabilities).get(name, "")
    if look.superstep is None:
        return "Retry from here needs a node that has run"
    return held(look.snapshot, look.session.driver.capabilities).get("fork", "")


def mark(name: Mark) -> str:
    """Return a mark in words."""
    return WORDS[name]


_GOING = {"step": "Step", "into": "Step into", "continue": "Continue", "until": "Run until"}
_RESTING = {"start": "Start", "fork": "Fork", "edit": "Edit state"}
_NEEDS: Mapping[str, Capability] = {
    "step": "step",
    "into": "step",
    "until": "until",
    "pause": "pause",
    "stop": "stop",
    "fork": "fork",
    "edit": "edit",
}


def _beyond(capabilities: Mapping[Capability, str | None]) -> Mapping[str, str]:
    """Return the buttons whose request the engine does not know, with what it says about it."""
    told = {name: capabilities.get(needed) for name, needed in _NEEDS.items()}
    return {name: f"Not with this engine: {reason}" for name, reason in told.items() if reason}


def _why_not_going(snapshot: Snapshot) -> str | None:
    position = snapshot.position
    if snapshot.running:
        return "waits for the end of this run"
    if position.pending and not (position.runnable or late(snapshot)):
        return "waits for your answer"
    if not position.tasks:
        return "needs a start" if snapshot.status == "new" else "has nothing left to run"
    return None


def can_start_again(snapshot: Snapshot) -> bool:
    """Return whether another turn can begin: none waits for an answer, and one has begun."""
    return snapshot.status != "new" and not (snapshot.running or snapshot.pending)


def left_behind(snapshot: Snapshot) -> str:
    """Return what another turn leaves unfinished; empty where the last one has ended."""
    if snapshot.status == "completed":
        return ""
    nodes = dict.fromkeys(task.node for task in snapshot.position.runnable)
    here = f": {', '.join(nodes)} would run next" if nodes else ""
    return f"This turn has not ended{here}. Another turn leaves it where it is, for good."


def late(snapshot: Snapshot) -> Mapping[str, object]:
    """Return the questions whose time is over, by key."""
    return overdue(snapshot.pending, time.time())


def _is_over(snapshot: Snapshot, node: str | None = None) -> bool:
    """Return whether the time is over of all that waits, or of all that a node asks."""
    asked = [key for key, each in snapshot.pending.items() if node in (None, each.node)]
    if not asked:
        return False
    over = late(snapshot)
    return all(key in over for key in asked)


def why(snapshot: Snapshot) -> str:
    """Return the line under the toolbar: why buttons wait, and what to do."""
    if snapshot.running:
        return ""
    over = late(snapshot)
    if over:
        return f"The time for {', '.join(over)} is over. Continue goes on without an answer."
    if snapshot.pending and not snapshot.position.runnable:
        return "Step and Continue wait for your answer. Or fork to try another one."
    match snapshot.status:
        case "new":
            return "Fill in what the graph starts with, then press Start."
        case "completed":
            return "This turn has finished. Start again, or fork to answer differently."
        case "failed":
            return "What is done is kept. Retry below, or Continue: what failed runs again."
        case "stopped" | "interrupted":
            return "Continue goes on to the next pause, Step runs one superstep."
        case _:
            return ""


def heading(snapshot: Snapshot) -> str:
    """Return what stands above the drawing: `Superstep 4`, `6 supersteps`."""
    if snapshot.position.tasks and not snapshot.position.merged:
        return f"Superstep {snapshot.step + 1}"
    return f"{snapshot.step} superstep{'' if snapshot.step == 1 else 's'}"


def note(snapshot: Snapshot, now: float | None = None) -> str:
    """Return what stands beside the heading: tasks, how long the turn has taken, tokens.

    `now` is given where the time that goes by is shown.
    """
    parts = [_tasks(snapshot), _elapsed(snapshot, now), _tokens(snapshot)]
    return " · ".join(filter(None, parts))


def _tasks(snapshot: Snapshot) -> str:
    count = len(snapshot.position.tasks)
    done, failed = len(snapshot.position.finished), len(snapshot.position.failed)
    if failed and count > 1:
        return f"{done} done, {failed} failed" if done else f"{count} tasks, {failed} failed"
    return f"{count} tasks" if count > 1 else ""


def _elapsed(snapshot: Snapshot, now: float | None) -> str:
    """Return how long the turn has taken, and how much of that it waited for a person."""
    goes_on = snapshot.running or bool(snapshot.pending)
    end = now if goes_on and now is not None else snapshot.ended
    took = end - snapshot.began
    if not snapshot.began or took < 1:
        return ""
    waits = [record.at - record.interrupt.created_at for record in snapshot.records]
    waited = sum(waits)
    of_it = f", of it {duration(waited)} waiting" if waited >= 1 and not goes_on else ""
    return duration(math.floor(took)) + of_it


def _tokens(snapshot: Snapshot) -> str:
    usage = snapshot.usage
    if not (usage.read or usage.written):
        return ""
    return f"{usage.read:,} tokens in, {usage.written:,} out"


def waiting_for(snapshot: Snapshot) -> str:
    """Return what stands where a question would, while there is none."""
    if snapshot.running:
        runs = "run" if len(snapshot.next) > 1 else "runs"
        return f"{', '.join(snapshot.next) or 'The graph'} {runs}."
    if snapshot.next:
        return f"Next: {', '.join(snapshot.next)}."
    return "Nothing waits for you."


def breakpoints(
    snapshot: Snapshot, shape: Shape
) -> Mapping[str, Literal["before", "after", "before and after"]]:
    """Return where the branch pauses, by node; `"*"` is every node, `"sub/*"` every one in `sub`.

    A branch that has set none pauses where its graph says, and a sub-graph always where its own
    graph says.
    """
    own = snapshot.position
    before = {*(shape.before if own.before is None else own.before), *shape.fixed_before}
    after = {*(shape.after if own.after is None else own.after), *shape.fixed_after}
    found: dict[str, Literal["before", "after", "before and after"]] = {}
    for node in shape.nodes if before or after else ():
        every = "*" if node.parent is None else f"{node.parent}/*"
        here = [not each.isdisjoint((every, node.path)) for each in (before, after)]
        if any(here):
            found[node.path] = "before and after" if all(here) else "before" if here[0] else "after"
    return found


def lines(snapshot: Snapshot, now: float | None = None) -> Mapping[str, str]:
    """Return each node's second line on the drawing, by path.

    With `now`, they say how long a node has been running or waiting.
    """
    asked: dict[str, float] = {}
    for question in snapshot.pending.values():
        since = min(asked.get(question.node, question.created_at), question.created_at)
        asked[question.node] = since
    answered = {record.interrupt.node: record for record in snapshot.records}
    step = snapshot.supersteps[-1] if snapshot.supersteps else None
    found: dict[str, str] = {}
    for path, mark in snapshot.marks.items():
        progress = snapshot.progress.get(path)
        if mark == "waiting" and now is not None and path in asked:
            text = "expired" if _is_over(snapshot, path) else _waits(now - asked[path])
        elif how := how_ended(snapshot.reports.get(path)) if mark in ("done", "skipped") else "":
            visits = progress.visits if progress else 1
            text = f"×{visits} · {how}" if visits > 1 else how
        elif mark == "done" and path in answered:
            text = answered[path].lapsed or "answered"
        else:
            text = line(mark, progress, now)
        many = step.count(path) if step is not None and mark in _OPEN else 0
        found[path] = _fanned(step, path, mark, text) if step is not None and many > 1 else text
    return found | dict.fromkeys(snapshot.joining, "not all arrived")


def _waits(seconds: float) -> str:
    return f"for {age(seconds)}" if seconds >= 60 else "just asked"


_OPEN = ("running", "waiting", "failed")


def _fanned(step: Superstep, path: str, mark: Mark, text: str) -> str:
    """Return the line of a node with several tasks in a superstep: `×8, 3 done`."""
    many, done = step.count(path), step.count(path, "done", "skipped")
    if mark == "running" or done:
        return f"×{many}, {done} done"
    return f"×{many} · {_SHORTER.get(text, text.removeprefix('for '))}"


_SHORTER = {"just asked": "asked", "waits for you": "waits"}


def how_answered(record: Answered) -> str:
    """Return who answered a question, when and after how long, or how it went without an answer."""
    who, at = record.by or "somebody", clock(record.at)
    match record.lapsed:
        case "expired":
            return f"expired at {at}: nobody answered in time{_default(record)}"
        case "dismissed":
            return f"dismissed by {who} at {at}{_default(record)}"
        case "again":
            return f"to be asked again, by {who} at {at}"
        case _:
            after = duration(max(0.0, record.at - record.interrupt.created_at))
            return f"answered by {who} at {at}, after {after}"


def _default(record: Answered) -> str:
    return "; its default counts" if record.interrupt.has_default else ""


def line(mark: Mark, progress: Progress | None, now: float | None = None) -> str:
    """Return the second line of a node with one task at a time."""
    tries = "" if progress is None else _tries(progress)
    if tries and mark in ("running", "failed"):
        return tries
    return " · ".join(part for part in (_line(mark, progress, now), tries) if part)


def _tries(progress: Progress) -> str:
    """Return how often a node was tried, if more than once: `2 of 3 tries`."""
    if progress.tries <= 1:
        return ""
    limit = "" if progress.limit is None else f"of {progress.limit} "
    return f"{progress.tries} {limit}tries"


def _line(mark: Mark, progress: Progress | None, now: float | None) -> str:
    match mark:
        case "waiting":
            return "waits for you"
        case "running" if now and progress and progress.since and now - progress.since >= 1:
            return duration(math.floor(now - progress.since))
        case "running":
            return "running"
        case "failed":
            return "failed"
        case "skipped":
            return "not chosen"
        case _ if progress is None or not progress.visits:
            return ""
        case _ if progress.visits > 1:
            return f"×{progress.visits} · {duration(progress.seconds)}"
        case _:
            return duration(progress.seconds)
