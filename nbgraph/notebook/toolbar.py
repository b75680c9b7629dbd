"""The panel's toolbar: what can be done now, and why the rest waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets

from nbgraph import words
from nbgraph.core.driver import NodeShape
from nbgraph.notebook.labels import visible
from nbgraph.notebook.lean import Column, button, is_hidden, menu, row, set_hidden
from nbgraph.notebook.lean import said as text
from nbgraph.notebook.marks import show_mark
from nbgraph.notebook.parts import mark, set_class, spacer
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.shared import slim
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
    _Tool("into", "", "level-down", "Run one superstep, in a sub-graph one of its own"),
    _Tool("continue", "Continue", "play", "Go on to the next pause"),
    _Tool("pause", "Pause", "pause", "Pause after this superstep"),
    _Tool("stop", "Stop", "stop", "Stop now; what is unfinished can be continued"),
    _Tool("fork", "Fork", "code-fork", "Try something else on a branch"),
    _Tool("edit", "", "pencil", "Change the state through its reducers"),
)
_GOING = ("step", "into", "continue", "until", "pause", "stop")
"""The tools for a turn that has not ended."""
_CLASSES = {"edit": "edit-state"}  # nbgraph-edit is a tool card's
_UNTIL, _UNTIL_NEXT = "Run until…", "Go on until a node is next"


class Toolbar(Column):
    """Buttons, chips and the line that says why a button waits.

    Parameters
    ----------
    session : Session
        Whose thread and branch the chips name.
    actions : mapping of name to function
        What each button does: start, step, into, continue, pause, stop, fork, edit.
    until : function
        Takes the node that a person wants to run to.
    switch : function
        Takes the branch a person chose.
    """

    def __init__(
        self,
        session: Session,
        actions: Mapping[str, Callable[[], object]],
        until: Callable[[str], object],
        switch: Callable[[str], object],
    ) -> None:
        self._session = session
        self._actions = actions
        self._switch = switch
        self._run_until = until
        snapshot, held = session.snapshot, self._held()
        self._until = _menu(session, held)
        self._until.observe(self._reached, "value")
        self._buttons = {item.name: self._button(item, held) for item in _TOOLS}
        which = words.status_mark(snapshot)
        self._mark = mark(which)
        self._holds = ""
        self._pauses = False
        self._status = text(words.status(snapshot))
        shown = [self._mark, self._status]
        self._chip = row(shown, "nbgraph-chip", "nbgraph-status", f"is-{which}")
        copy = button("", lambda: None, "only", "nbgraph-copy-text", icon="copy", tooltip="Copy")
        thread = [
            text("thread", "nbgraph-2nd", "nbgraph-hide-s"),
            text(session.thread_id, "nbgraph-mono"),
            copy,
        ]
        self._only = text(session.branch_id)
        self._menu: Any = None
        self._branch = row([self._only], "nbgraph-chip", "nbgraph-branches")
        chips = [row(thread, "nbgraph-chip"), self._branch, self._chip]
        tools = self._named()
        self._going = row([tools[name] for name in _GOING], "nbgraph-going")
        start, fork, edit = (tools[name] for name in ("start", "fork", "edit"))
        self._bar = row([start, self._going, fork, edit, spacer(), *chips], "nbgraph-toolbar")
        self._why = text(words.why(snapshot), "nbgraph-why")
        super().__init__([self._bar, self._why])

    def _button(self, tool: _Tool, held: Mapping[str, str]) -> ipywidgets.Button:
        is_gone = tool.name == "start" or (tool.name == "into" and not self._has_subgraphs)
        return button(
            tool.label,
            lambda: self._press(tool.name),
            f"nbgraph-{_CLASSES.get(tool.name, tool.name)}",
            *(() if tool.label else ("only",)),
            *_dress(tool.name, held),
            icon=tool.icon,
            tooltip=_tooltip(tool.name, held),
            hidden=is_gone,
        )

    def _press(self, name: str) -> None:
        why = self._held().get(name)
        if why is not None:
            self._why.value = why
        else:
            self._actions[name]()

    def _held(self) -> Mapping[str, str]:
        return words.held(self._session.snapshot, self._session.driver.capabilities)

    def _reached(self, change: Mapping[str, str]) -> None:
        if not change["new"]:
            return
        why = self._held().get("until")
        if why is not None:
            self._why.value = why
        else:
            self._run_until(change["new"])
        self._until.value = ""

    def _chosen(self, change: Mapping[str, str]) -> None:
        if change["new"]:
            self._switch(change["new"])

    def show(self, snapshot: Snapshot, branch_id: str, branches: tuple[str, ...]) -> None:
        """Show what can be done in a snapshot, its status, and the branches there are."""
        ended, again = snapshot.status == "completed", words.can_start_again(snapshot)
        set_hidden(self._going, hidden=ended)
        held = words.held(snapshot, self._session.driver.capabilities)
        for name, each in self._named().items():
            unseen = name in _GOING if ended else name == "start" and is_hidden(each) and not again
            if unseen or (name == "into" and not self._has_subgraphs):
                continue
            tooltip = _tooltip(name, held)
            with each.hold_sync():  # one message
                set_class(each, "nbgraph-held", on=name in held)
                if each.tooltip != tooltip:
                    each.tooltip = tooltip
                if name == "start":
                    set_hidden(each, hidden=not again)
        self._pauses = self._pauses and snapshot.running
        self._say_why(snapshot)
        self._status.value = words.status(snapshot)
        self._show_mark(words.status_mark(snapshot))
        self._show_branches(branch_id, branches)

    def _named(self) -> Mapping[str, Any]:
        return {**self._buttons, "until": self._until}

    @property
    def _has_subgraphs(self) -> bool:
        return any(node.parent is not None for node in self._session.driver.shape.nodes)

    def hold(self, node: str | None) -> None:
        """Say which async node holds the loop, so that nothing else runs; None when none does."""
        self._holds = "" if node is None else _HOLDS.format(visible(node))
        self._say_why(self._session.snapshot)

    def pausing(self) -> None:
        """Say that the run pauses when its superstep is finished, until it does."""
        self._pauses = self._session.snapshot.running
        self._say_why(self._session.snapshot)

    def _say_why(self, snapshot: Snapshot) -> None:
        pauses = _PAUSES if self._pauses else ""
        self._why.value = self._holds or pauses or words.why(snapshot)

    def _show_mark(self, name: str) -> None:
        show_mark(self._mark, name)
        show_mark(self._chip, name, "is-")

    def _show_branches(self, branch_id: str, branches: tuple[str, ...]) -> None:
        if len(branches) > 1 and self._menu is None:
            self._menu = menu(tooltip="Branch")
            self._menu.observe(self._chosen, "value")
            self._branch.children = (self._menu,)
            self._only.close()
            serve_while_busy(self._menu)
        if self._menu is None:
            return
        self._menu.unobserve(self._chosen, "value")
        options = tuple((visible(name), name) for name in branches)
        if self._menu.options != options:
            self._menu.options = options
        self._menu.value = branch_id
        self._menu.observe(self._chosen, "value")

    def say(self, sentence: str) -> None:
        """Show a sentence in the line under the buttons, until the next event."""
        self._why.value = visible(sentence)


_HOLDS = (
    "{} holds the loop: it is async and computes or sleeps without await, so nothing else runs. "
    "Make it a plain def, or await."
)
_PAUSES = "Pauses when this superstep is finished."


def _dress(name: str, held: Mapping[str, str]) -> tuple[str, ...]:
    return ("nbgraph-held",) if name in held else ()


def _menu(session: Session, held: Mapping[str, str]) -> Any:
    """Return the menu of the nodes that a run can go on to."""
    return slim(ipywidgets.Dropdown)(
        options=[(_UNTIL, ""), *_places(session.driver.shape.nodes)],
        value="",
        tooltip=_tooltip("until", held),
        _dom_classes=("nbgraph-until", *_dress("until", held)),
    )


def _places(
    nodes: Sequence[NodeShape], parent: str | None = None, before: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield what the menu says of each node, `sub / check` in a sub-graph, and its path."""
    for each in nodes:
        if each.parent == parent:
            name = f"{before}{visible(each.label)}"
            yield name, each.path
            yield from _places(nodes, each.path, f"{name} / ")


def _tooltip(name: str, held: Mapping[str, str]) -> str:
    """Return what a tool does; of one that is held, why."""
    does = next((tool.tooltip for tool in _TOOLS if tool.name == name), _UNTIL_NEXT)
    return held.get(name) or does
