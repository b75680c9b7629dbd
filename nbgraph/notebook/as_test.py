"""A thread as a test, to be copied into a cell."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets

from nbgraph.notebook.labels import set_text
from nbgraph.notebook.lean import button, row
from nbgraph.notebook.lean import said as text
from nbgraph.notebook.parts import classed
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.replay import as_test
from nbgraph.session import Session

__all__ = ["AsTest"]


class AsTest(ipywidgets.VBox):
    """The code of a test, and a button that copies it; nothing until it is asked for.

    Parameters
    ----------
    session : function
        Returns the session whose thread is tested.

    Attributes
    ----------
    switch : Button
        Shows the code, and takes it away.
    """

    def __init__(self, session: Callable[[], Session]) -> None:
        self._session = session
        self.switch = button("Copy as test", self._toggle, "nbgraph-as-test", "quiet")
        self._code = text("", "nbgraph-text", "nbgraph-code", "nbgraph-mono")
        copy = button("Copy", lambda: None, "nbgraph-copy-text", "quiet", icon="copy")
        said = text("Paste it into a cell below the graph, which it calls graph.", "nbgraph-2nd")
        super().__init__([row([copy, said], "nbgraph-row"), self._code])
        classed(self, "nbgraph-section", "nbgraph-copied")
        self.layout.display = "none"

    def _toggle(self) -> None:
        if self.layout.display is None:
            self.layout.display = "none"
            return
        set_text(self._code, as_test(self._session()))
        self.layout.display = None
        serve_while_busy(self)
