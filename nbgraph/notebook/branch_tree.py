"""The branches of a thread on the page: a tree of one line each, whose names can be pressed."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets

from nbgraph.branching import Limb, drawn, limbs
from nbgraph.core.loop import run_sync
from nbgraph.notebook.labels import visible
from nbgraph.notebook.marks import show_mark
from nbgraph.notebook.parts import button, classed, grid, mark, set_class, text
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.session import Session

__all__ = ["BranchTree"]


class BranchTree(ipywidgets.VBox):
    """A thread's branches: where each was forked, how far it went, and how it stands.

    Parameters
    ----------
    chosen : function
        Takes the branch whose name a person pressed.
    """

    def __init__(self, chosen: Callable[[str], object]) -> None:
        self._chosen = chosen
        self._drawn: object = None
        super().__init__()
        classed(self, "nbgraph-section", "nbgraph-limbs")
        self.layout.display = "none"

    def show(self, session: Session, *here: str) -> None:
        """Show the branches of a session's thread, if it has several; those `here` are marked."""
        tree = run_sync(limbs(session.driver))
        if (tree, here) == self._drawn:
            return
        self._drawn = tree, here
        self.layout.display = None if len(tree) > 1 else "none"
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


def _line(drawing: str, kind: str) -> ipywidgets.Label:
    return text(drawing, "nbgraph-limb", kind)
