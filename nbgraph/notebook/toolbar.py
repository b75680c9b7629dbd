"""The panel's toolbar: what can be done now, and why the rest waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import ipywidgets

from nbgraph import words
from nbgraph.notebook.labels import visible
from nbgraph.notebook.parts import button, classed, mark, row, set_class, spacer, text
from nbgraph.session import Session
from nbgraph.snapshot import Snapshot

__all__ = ["Toolbar"]


@dataclass(frozen=True, slots=True)
class _Tool:
    name: str
    label: str
    icon: str
    tooltip: str


_TOOLS = (
    _Tool("start", "Start again", "play", "Begin another turn"),
    _Tool("step", "Step", "step-forward", "Run one superstep"),
    _Tool("continue", "Continue", "play", "Go on to the next pause"),
    _Tool("pause", "Pause", "pause", "Pause after this superstep"),
    _Tool("stop", "Stop", "stop", "Stop now; what is unfinished can be continued"),
    _Tool("fork", "Fork", "code-fork", "Try something else on a branch"),
)


class Toolbar(ipywidgets.VBox):
    """Buttons, chips and the line that says why a button waits.

    Parameters
    ----------
    session : Session
        Whose thread and branch the chips name.
    actions : mapping of name to function
        What each button does: step, continue, pause, stop, fork.
    switch : function
        Takes the branch a person chose.
    """

    def __init__(
        self,
        session: Session,
        actions: Mapping[str, Callable[[], object]],
        switch: Callable[[str], object],
    ) -> None:
        self._session = session
        self._actions = actions
        self._switch = switch
        self._buttons = {item.name: self._button(item) for item in _TOOLS}
        self._mark = mark("idle")
        self._status = text("")
        self._chip = row([self._mark, self._status], "nbgraph-chip", "nbgraph-status")
        self._thread = row(
            [
                text("thread", "nbgraph-2nd", "nbgraph-hide-s"),
                text(session.thread_id, "nbgraph-mono"),
            ],
            "nbgraph-chip",
        )
        self._only = text(session.branch_id, "nbgraph-chip", "nbgraph-hide-s")
        self._branch = classed(ipywidgets.Dropdown(tooltip="Branch"), "nbgraph-branch")
        self._branch.observe(self._chosen, "value")
        self._bar = row(
            [*self._buttons.values(), spacer(), self._thread, self._only, self._branch, self._chip],
            "nbgraph-toolbar",
        )
        self._why = text("", "nbgraph-why")
        super().__init__([self._bar, self._why])

    def _button(self, action: _Tool) -> ipywidgets.Button:
        return button(
            action.label,
            lambda: self._press(action.name),
            f"nbgraph-{action.name}",
            icon=action.icon,
            tooltip=action.tooltip,
        )

    def _press(self, name: str) -> None:
        held = words.held(self._session.snapshot)
        if name in held:
            self._why.value = held[name]
        else:
            self._actions[name]()

    def _chosen(self, change: Mapping[str, str]) -> None:
        if change["new"]:
            self._switch(change["new"])

    def show(self, snapshot: Snapshot, branch_id: str, branches: tuple[str, ...]) -> None:
        """Show what can be done in a snapshot, its status, and the branches there are."""
        ended = snapshot.status == "completed"
        for name, each in self._buttons.items():
            each.layout.display = None if name == "fork" or ended is (name == "start") else "none"
        held = words.held(snapshot)
        for name, each in self._buttons.items():
            set_class(each, "nbgraph-held", on=name in held)
            each.tooltip = held.get(name) or _tooltip(name)
        self._why.value = words.why(snapshot)
        self._status.value = words.status(snapshot)
        self._show_mark(words.status_mark(snapshot))
        self._show_branches(branch_id, branches)

    def _show_mark(self, name: str) -> None:
        for each in ("idle", "running", "done", "waiting", "failed"):
            set_class(self._mark, each, on=each == name)
            set_class(self._chip, f"is-{each}", on=each == name)

    def _show_branches(self, branch_id: str, branches: tuple[str, ...]) -> None:
        self._branch.layout.display = None if len(branches) > 1 else "none"
        self._only.layout.display = "none" if len(branches) > 1 else None
        self._branch.unobserve(self._chosen, "value")
        options = tuple((visible(name), name) for name in branches)
        if self._branch.options != options:
            self._branch.options = options
        self._branch.value = branch_id
        self._branch.observe(self._chosen, "value")

    def say(self, sentence: str) -> None:
        """Show a sentence in the line under the buttons, until the next event."""
        self._why.value = visible(sentence)


def _tooltip(name: str) -> str:
    return next(item.tooltip for item in _TOOLS if item.name == name)
