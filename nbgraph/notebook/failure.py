"""What failed, and what a person can do about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Protocol

import ipywidgets

from nbgraph import words
from nbgraph.activity import brief
from nbgraph.core.events import ErrorInfo
from nbgraph.notebook.labels import visible
from nbgraph.notebook.parts import button, classed, column, mark, row, spacer, text
from nbgraph.notebook.state_form import StateForm
from nbgraph.session import Session
from nbgraph.snapshot import Snapshot

__all__ = ["FailureCard", "Ways", "failure_of"]

_RETRY, _EDIT, _SKIP = "Retry", "Edit state, then retry", "Skip with a value"
_FRAME = re.compile(r'  File "(.*)", line (\d+), in (.*)')
_MESSAGE_LIMIT, _TRACE_LIMIT = 2_000, 20_000
_NOTE = (
    "Retry runs it again. Skip with a value records your value as its update. Stop leaves the "
    "thread as it is: you can come back later."
)


class Ways(Protocol):
    """What a panel does about a failure."""

    def retry(self, update: Mapping[str, Any]) -> object:
        """Go on, after an edit of the state if there is one."""
        ...

    def skip(self, task_id: str, value: Mapping[str, Any]) -> object:
        """Count a failed task as finished with this update, and go on."""
        ...

    def retry_in_fork(self, update: Mapping[str, Any]) -> object:
        """Do it on a branch of its own."""
        ...


class FailureCard(ipywidgets.VBox):
    """A failure with its traceback and the ways out of it.

    Parameters
    ----------
    session : Session
        Whose thread failed.
    ways : Ways
        Does what a person chooses.
    """

    def __init__(self, session: Session, ways: Ways) -> None:
        self._session = session
        self._ways = ways
        snapshot = session.snapshot
        self._failed = next(iter(snapshot.position.failed.values()), None)
        self._who = self._failed.node if self._failed else "the run"
        self._form: StateForm | None = None
        options = (_RETRY, _EDIT, _SKIP) if self._failed else (_RETRY, _EDIT)
        self._choice: Any = classed(
            ipywidgets.RadioButtons(options=options, value=_RETRY),
            "nbgraph-choice",
            "nbgraph-tabs",
            "nbgraph-ways",
        )
        self._choice.observe(self._chosen, "value")
        self._body = column([])
        self._asks = column(
            [text("What should happen?", "nbgraph-strong"), self._choice, self._body],
            "nbgraph-asks",
        )
        again = button("Choose again", self._ask, "link", "nbgraph-choose")
        self._left = row([text("Left as it is.", "nbgraph-2nd"), again], "nbgraph-row")
        error = self._failed.error if self._failed else _error(snapshot)
        self._told = (_banner(snapshot, self._who, error), *_traces(error))
        self._note = text(_NOTE, "nbgraph-help")
        super().__init__([*self._told, self._asks, self._note])
        classed(self, "nbgraph-failure")
        self._show()

    def choose(self, way: str) -> StateForm | None:
        """Choose a way, as the buttons do; return its form, where it has one."""
        self._choice.value = way
        return self._form

    def _chosen(self, _: Mapping[str, Any]) -> None:
        self._show()

    def _show(self) -> None:
        if self._form is not None:
            self._form.close()
        way = self._choice.value
        self._form = None if way == _RETRY else self._made(edits=way == _EDIT)
        retry = button(f"Retry {visible(self._who)}", self._retry, "nbgraph-retry", "primary")
        fork = button("Try it in a fork instead", self._fork, "nbgraph-retry-fork", "quiet")
        stop = button("Stop the run", self._leave, "nbgraph-leave", "danger", icon="stop")
        parts = [self._form] if self._form else []
        actions = [*([] if self._form else [retry]), *([] if way == _SKIP else [fork])]
        self._body.children = (*parts, row([*actions, spacer(), stop], "nbgraph-actions"))

    def _made(self, *, edits: bool) -> StateForm:
        who = visible(self._who)

        def retries(count: int) -> str:
            many = f"{count} edit{'' if count == 1 else 's'}"
            return f"Retry {who} with {many}" if count else f"Retry {who}"

        if edits:
            return StateForm(self._session, self._ways.retry, retries)
        return StateForm(self._session, self._skip, lambda _: f"Skip {who}", filled=False)

    def _retry(self) -> None:
        self._ways.retry({})

    def _skip(self, value: Mapping[str, Any]) -> None:
        if self._failed is not None:
            self._ways.skip(self._failed.task_id, value)

    def _fork(self) -> None:
        self._ways.retry_in_fork(self._form.changes if self._form else {})

    def _leave(self) -> None:
        self.children = (*self._told, self._left)

    def _ask(self) -> None:
        self.children = (*self._told, self._asks, self._note)


def _error(snapshot: Snapshot) -> ErrorInfo:
    failure = snapshot.position.failure
    return failure.error if failure else ErrorInfo(type="", message="")


def _banner(snapshot: Snapshot, who: str, error: ErrorInfo) -> ipywidgets.Widget:
    said = brief(error.message or error.type, _MESSAGE_LIMIT)
    title = text(f"{who} failed: {said}", "nbgraph-strong", "nbgraph-text")
    told = column([title, text(_told(snapshot, error), "nbgraph-text")], "nbgraph-told")
    return row([mark("failed"), told], "nbgraph-banner", "failed")


def _told(snapshot: Snapshot, error: ErrorInfo) -> str:
    position = snapshot.position
    failed = next(iter(position.failed.values()), None)
    tries = f" in try {failed.attempts}" if failed and failed.attempts > 1 else ""
    at = failed.created_at if failed else position.failure.created_at if position.failure else 0.0
    kept = [task.node for task in position.tasks if task.task_id in position.finished]
    are = "is done and is kept: it does" if len(kept) == 1 else "are done and are kept: they do"
    done = f" {', '.join(kept)} {are} not run again." if kept else " What is recorded is kept."
    return f"{error.type}{tries}, {words.clock(at)}.{done}"


def _traces(error: ErrorInfo) -> list[ipywidgets.Widget]:
    """Return the line that raised, and folded the whole traceback."""
    traceback = _middle_cut(error.traceback.rstrip())
    lines = traceback.split("\n")
    frames = [at for at, line in enumerate(lines) if _FRAME.match(line)]
    if not frames:
        return []
    whole: Any = ipywidgets.Accordion(
        [text(traceback, "nbgraph-trace")],
        titles=(f"Full traceback ({len(frames)} frame{'' if len(frames) == 1 else 's'})",),
        selected_index=None,
    )
    classed(whole, "nbgraph-fold")
    return [text(_last_frame(lines, frames[-1]), "nbgraph-trace"), whole]


def _last_frame(lines: list[str], at: int) -> str:
    found = _FRAME.match(lines[at])
    path, number, name = found.groups() if found else ("", "", "")
    file = "a cell" if "ipykernel" in path else PurePath(path).name
    where = f"{file}, line {number}, in {name}"
    code = lines[at + 1] if at + 1 < len(lines) and lines[at + 1].startswith("    ") else ""
    return "\n".join(filter(None, [where, code, brief(lines[-1], _MESSAGE_LIMIT)]))


def _middle_cut(text: str) -> str:
    """Return a traceback without its middle, if it is long."""
    if len(text) <= _TRACE_LIMIT:
        return text
    left_out = len(text) - _TRACE_LIMIT
    head, tail = text[: _TRACE_LIMIT // 2], text[-_TRACE_LIMIT // 2 :]
    return f"{head}\n… {left_out:,} characters left out\n{tail}"


def failure_of(snapshot: Snapshot) -> tuple[Any, ...] | None:
    """Return what a card about a snapshot's failure is about; None while nothing failed."""
    position = snapshot.position
    if snapshot.running or not (position.failure or position.failed):
        return None
    last = position.failure.sequence if position.failure else 0
    return (last, *(item.sequence for item in position.failed.values()))
