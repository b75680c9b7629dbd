"""The branches of a thread on the page: a tree of one line each, whose names can be pressed."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets

from nbgraph.branching import Limb, drawn, limbs
from nbgraph.core.loop import run_sync
from nbgraph.notebook.labels import visible
from nbgraph.notebook.lean import Column, button, grid, set_hidden
from nbgraph.notebook.lean import said as text
from nbgraph.notebook.marks import show_mark
from nbgraph.notebook.parts import mark, set_class
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.state_table import Differences
from nbgraph.session import Session

__all__ = ["BranchTree", "Branching"]


class BranchTree(Column):
    """A thread's branches: where each was forked, how far it went, and how it stands.

    Parameters
    ----------
    chosen : function
        Takes the branch whose name a person pressed.
    """

    def __init__(self, chosen: Callable[[str], object]) -> None:
        self._chosen = chosen
        self._drawn: object = None
        super().__init__((), "nbgraph-section", "nbgraph-limbs", hidden=True)

    def show(self, session: Session, *here: str) -> None:
        """Show the branches of a session's thread, if it has several; those `here` are marked."""
        tree = run_sync(limbs(session.driver))
        if (tree, here) == self._drawn:
            return
        self._drawn = tree, here
        set_hidden(self, hidden=len(tree) < 2)
        gone = self.children
        self.children = (self._made(tree, here),) if len(tree) > 1 else ()
        for each in gone:
            each.close()
        serve_while_busy(self)

    def _made(self, tree: tuple[Limb, ...], here: tuple[str, ...]) -> ipywidgets.Widget:
        head, *lines = drawn(tree)
        cells = [text("Branches", "nbgraph-h3"), _line(head, "hd"), text(""), text("")]
        for limb, line in zip(tree, lines, strict=True):
            name = button(visible(limb.name), lambda name=limb.name: self._chosen(name), "link")
            set_class(name, "here", on=limb.name in here)
            sign = mark(limb.mark)
            show_mark(sign, limb.mark)
            cells += [name, _line(line, limb.mark), sign, text(limb.told, "nbgraph-2nd")]
        return grid(cells, "nbgraph-limb-grid")


class Branching(Column):
    """The tree of a panel's thread, and how two of its branches differ; made for the second one.

    Parameters
    ----------
    chosen : function
        Takes the branch whose name a person pressed.
    """

    def __init__(self, chosen: Callable[[str], object]) -> None:
        self._chosen = chosen
        self._parts: tuple[BranchTree, Differences] | None = None
        super().__init__((), "nbgraph-slot")

    def show(self, session: Session, other: Session | None, *, running: bool) -> None:
        """Show the branches, and how one differs from the one it was begun at, if there is one."""
        if self._parts is None:
            self._parts = BranchTree(self._chosen), Differences()
            self.children = self._parts
        tree, comparison = self._parts
        if not running:
            tree.show(session, session.branch_id)
        comparison.show(session, other)


def _line(drawing: str, kind: str) -> ipywidgets.Label:
    return text(drawing, "nbgraph-limb", kind)
