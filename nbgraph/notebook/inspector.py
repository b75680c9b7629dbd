"""One node, looked at: what it was given, wrote and said, its error, its code."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import ipywidgets

from nbgraph import words
from nbgraph.core.driver import NodeShape, TellsInside
from nbgraph.core.events import TaskFinished
from nbgraph.covering import call_secrets, covered_text
from nbgraph.inspection import Look, inspect_node
from nbgraph.notebook.labels import label, set_text, visible
from nbgraph.notebook.lean import button, column, row, set_hidden
from nbgraph.notebook.lean import said as text
from nbgraph.notebook.marks import show_mark
from nbgraph.notebook.parts import classed, mark, set_class, spacer
from nbgraph.notebook.shared import slim
from nbgraph.session import Session

__all__ = ["Inspector", "NodeActs"]

_LIMIT = 20_000
_SIDES = ("before", "after")


class NodeActs(Protocol):
    """What a panel does with a node."""

    def toggle_breakpoint(self, path: str, side: str) -> object:
        """Pause at this side of the node from now on, or no more."""
        ...

    def run_until(self, path: str) -> object:
        """Go on until the node is next."""
        ...

    def retry_from(self, path: str) -> object:
        """Run the node's newest superstep again, on a branch of its own."""
        ...

    def open_form(self, path: str) -> object:
        """Move the focus to what the node asks."""
        ...

    def lapse(self, path: str, how: str) -> object:
        """Let the node go on without an answer, or have it ask anew."""
        ...

    def step(self, path: str) -> object:
        """Run one task of the node, and no other."""
        ...


class Inspector(ipywidgets.VBox):
    """What a person sees of a node they chose; nothing until they choose one.

    Parameters
    ----------
    acts : NodeActs
        Does what its buttons say.
    """

    def __init__(self, acts: NodeActs) -> None:
        self._acts = acts
        self._path: str | None = None
        self._shown: object = None
        self._held: dict[str, str] = {}
        self._mark = mark("idle")
        self._name = text("", "nbgraph-strong", "nbgraph-mono")
        self._line = text("", "nbgraph-2nd")
        self._about = text("", "nbgraph-2nd", "nbgraph-text")
        self._why = text("", "nbgraph-2nd", "nbgraph-small")
        self._sides = {
            side: self._button(f"Pause {side}", "toggle_breakpoint", side) for side in _SIDES
        }
        self._until = self._button("Run until here", "run_until")
        self._retry = self._button("Retry from here", "retry_from")
        self._answer = self._button("Answer", "open_form")
        self._dismiss = self._button("Dismiss", "lapse", "dismiss")
        self._again = self._button("Ask again", "lapse", "again")
        self._step = self._button("Step this task", "step")
        self._again.tooltip = "The node runs from its first line and asks anew"
        close = button("", self.look_away, "only", "quiet", icon="times", tooltip="Close")
        head = row([self._mark, self._name, self._line, spacer(), close], "nbgraph-row")
        asks = [self._answer, self._dismiss, self._again]
        acting = [*asks, *self._sides.values(), self._step, self._until, self._retry]
        self._part: Any = classed(
            slim(ipywidgets.RadioButtons)(options=tuple(_PARTS), value="Update"),
            "nbgraph-choice",
            "nbgraph-tabs",
        )
        self._part.observe(self._chosen, "value")
        self._body = label("", "nbgraph-text", "nbgraph-code", "nbgraph-node-body")
        super().__init__([
            head,
            self._about,
            row(acting, "nbgraph-row", "nbgraph-node-acts"),
            self._why,
            self._part,
            column([self._body], "nbgraph-node-box"),
        ])
        classed(self, "nbgraph-section", "nbgraph-inspector")
        self.layout.display = "none"

    def _button(self, name: str, act: str, *more: str) -> ipywidgets.Button:
        def pressed() -> None:
            why = self._held.get(act, "")
            set_text(self._why, why)
            if not why and self._path is not None:
                getattr(self._acts, act)(self._path, *more)

        return button(name, pressed, f"nbgraph-node-{'-'.join([act, *more]).replace('_', '-')}")

    # --- which node, and which part of it ----------------------------------------------------

    @property
    def path(self) -> str | None:
        """The node that is looked at; None while none is."""
        return self._path

    @property
    def part(self) -> str:
        """Which part of it is shown: Input, Update, Output, Prints, Error or Source."""
        return self._part.value

    @part.setter
    def part(self, name: str) -> None:
        self._part.value = name

    @property
    def text(self) -> str:
        """What is shown of that part."""
        return self._body.value

    def look_at(self, session: Session, path: str) -> None:
        """Look at a node."""
        self._path, self._shown = path, None
        set_text(self._why, "")
        look = inspect_node(session, path)
        self._part.value = "Error" if look.error else self._part.value
        self.show(session)

    def look_away(self) -> None:
        """Look at none."""
        self._path = self._shown = None
        self.layout.display = "none"

    def _chosen(self, _: Mapping[str, Any]) -> None:
        shown, self._shown = self._shown, None
        if isinstance(shown, tuple):
            self.show(shown[0])

    # --- what it shows -----------------------------------------------------------------------

    def show(self, session: Session) -> None:
        """Bring what is shown up to date."""
        path = self._path
        if path is None:
            return
        look = inspect_node(session, path)
        self._show_head(look, _node(session, path))
        mark = look.snapshot.marks.get(path)
        about = (session, path, self.part, mark, look.report, look.superstep, tuple(look.said))
        if about == self._shown:
            return
        self._shown = about
        shown = covered_text(_PARTS[self.part](look), call_secrets(session.history()))
        if len(shown) > _LIMIT:
            shown = f"{shown[:_LIMIT]}\n… {len(shown) - _LIMIT:,} more characters"
        set_text(self._body, shown)
        self.layout.display = None

    def _show_head(self, look: Look, node: NodeShape | None) -> None:
        snapshot = look.snapshot
        which = snapshot.marks.get(look.path, "idle")
        show_mark(self._mark, which)
        set_text(self._name, look.path)
        set_text(self._line, words.lines(snapshot).get(look.path) or words.mark(which))
        set_text(self._about, (node.description if node else None) or "")
        stops = words.breakpoints(snapshot, look.session.driver.shape).get(look.path, "")
        for side, each in self._sides.items():
            on = side in stops
            _named(each, f"{'●' if on else '○'} Pause {side}")
            set_class(each, "nbgraph-on", on=on)
        for each in (self._answer, self._dismiss, self._again):
            set_hidden(each, hidden=which != "waiting")
        asked = [each for each in snapshot.pending.values() if each.node == look.path]
        has_default = all(each.has_default for each in asked)
        self._dismiss.tooltip = _DEFAULT if has_default else _NO_DEFAULT
        runnable = snapshot.position.runnable
        alone = len(snapshot.position.tasks) < 2
        set_hidden(self._step, hidden=alone or look.path not in {each.node for each in runnable})
        self._hold(self._step, "step", words.held_node(look, "step"))
        again = f"Retry {look.inner_of} from its start" if look.inner_of else "Retry from here"
        _named(self._retry, visible(again))
        self._hold(self._until, "run_until", words.held_node(look, "until"))
        self._hold(self._retry, "retry_from", words.held_node(look, "retry"))

    def _hold(self, each: Any, act: str, why: str) -> None:
        self._held[act] = why
        set_class(each, "nbgraph-held", on=bool(why))
        if each.tooltip != why:
            each.tooltip = why


_DEFAULT = "Nobody will answer: its default counts"
_NO_DEFAULT = "Nobody will answer: there is no default, so the node is told with an error"


def _node(session: Session, path: str) -> NodeShape | None:
    return next((node for node in session.driver.shape.nodes if node.path == path), None)


def _named(each: Any, description: str) -> None:
    if each.description != description:
        each.description = description


def _json(value: object, missing: str) -> str:
    return missing if value is None else json.dumps(value, indent=1, ensure_ascii=False)


def _input(look: Look) -> str:
    return _json(look.input(), _untold(look) or "It has not run yet.")


def _output(look: Look) -> str:
    return _json(look.output(), _untold(look) or _UNFINISHED)


def _untold(look: Look) -> str:
    """Return what is said of a node whose sub-graph the engine does not tell of."""
    tells = isinstance(look.session.driver, TellsInside)
    return _INNER if look.inner_of and not tells else ""


def _said(look: Look) -> str:
    lines = [f"{words.clock(line.at)}  {line.text}" for line in look.said]
    return "\n".join(lines) or "It has said nothing."


def _stood_in(look: Look) -> str:
    """Return an error that was handled, with what is said of it."""
    return (
        f"It failed, and its update was made instead by who handles errors:\n\n{look.handled}"
        if look.handled
        else ""
    )


def _tried(look: Look) -> str:
    """Return how often it failed before it went well."""
    match look.report:
        case TaskFinished(attempts=tries, error=None) if tries > 1:
            failed = "Its first try" if tries == 2 else f"Its first {tries - 1} tries"
            return f"{failed} failed, the next one went well. The log says why."
        case _:
            return ""


_INNER = "This engine does not tell what nodes in a sub-graph are given."
_UNFINISHED = "Nothing yet: the state changes when its superstep has finished."
_PARTS: Mapping[str, Callable[[Look], str]] = {
    "Input": _input,
    "Update": lambda look: _json(look.update, "It has not finished yet."),
    "Output": _output,
    "Prints": _said,
    "Error": lambda look: look.error or _stood_in(look) or _tried(look) or "It has not failed.",
    "Source": lambda look: look.source() or "Its code cannot be had.",
}
