"""The tools that a person allows until the kernel stops: a list, from which each can be taken."""

from __future__ import annotations

import ipywidgets

from nbgraph import excerpts
from nbgraph.core.decisions import ToolInterrupt
from nbgraph.core.hidden import reveal
from nbgraph.core.json_values import Json
from nbgraph.drawing import cut
from nbgraph.literals import literal
from nbgraph.notebook.lean import Row, button, row, set_hidden
from nbgraph.notebook.lean import said as text
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.tool_card import ToolCard
from nbgraph.tool_calls import findings_of

__all__ = ["Allowed", "needs_a_look"]


def needs_a_look(call: ToolInterrupt) -> bool:
    """Return whether a person must look at a call alone: it is long or destructive, or hides."""
    is_long = any(map(_is_long, call.arguments.values()))
    return is_long or call.destructive or bool(findings_of(call.arguments))


def _is_long(value: Json) -> bool:
    start = value[: excerpts.PAGE] if isinstance(value, str) else value
    return excerpts.is_long(literal(start))


class Allowed(Row):
    """The tools whose calls a panel approves by itself.

    They are kept in the kernel's memory only, and for one branch. A call is asked about all the
    same where its arguments hide something, or are so long that they have to be opened, and where
    its tool is marked destructive.
    """

    def __init__(self) -> None:
        super().__init__((), "nbgraph-allowed", "nbgraph-note", hidden=True)
        self._names: list[str] = []

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that are allowed."""
        return tuple(self._names)

    def add(self, tool: str) -> None:
        """Allow a tool from now on."""
        if tool not in self._names:
            self._names.append(tool)
        self._show()

    def revoke(self, tool: str) -> None:
        """Ask about a tool's calls again."""
        self._names.remove(tool)
        self._show()

    def covers(self, card: ToolCard) -> bool:
        """Return whether a call is approved without being asked about."""
        call = card.call
        is_plain = not (needs_a_look(call) or card.is_edited)
        return call.tool_name in self._names and "approve" in call.allowed and is_plain

    def _show(self) -> None:
        gone, self.children = self.children, tuple(self._parts())
        for each in gone:
            each.close()
        set_hidden(self, hidden=not self._names)
        serve_while_busy(self)

    def _parts(self) -> list[ipywidgets.Widget]:
        parts: list[ipywidgets.Widget] = [text("Allowed here until the kernel stops:")]
        for name in self._names:
            label = f"{cut(reveal(name))}: ask again"
            revoke = button(label, lambda name=name: self.revoke(name), "nbgraph-revoke")
            parts.append(row([revoke]))
        return parts
