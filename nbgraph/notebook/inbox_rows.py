"""The rows of an inbox on the page: a table that says what was clicked, and decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import traitlets

from nbgraph.notebook.greeted import Greeted, module

__all__ = ["Row", "Rows"]

Heard = Callable[[str, str], object]
"""Is told what was asked for (`pick`, `open`, `all`, `close`), and of which row."""


@dataclass(frozen=True, slots=True)
class Row:
    """What a row shows; its texts are data with nothing hidden in them.

    Attributes
    ----------
    id : str
        Which row it is; ours, no data.
    who, where : str
        The thread, and below it graph, node and branch.
    asks, detail : str
        What is asked, and below it about what.
    is_code : bool
        Whether what is asked is a name.
    why, mark : str
        In a chip: what kind of question it is, and its mark if it has one.
    age, since : str
        How long it has waited, and below it more about that.
    act : str
        What its button says.
    is_picked, is_open : bool
        Whether it is picked for an answer to several, and shown below its row.
    held : str
        Why it cannot be picked; empty if it can.
    problem : str
        Why its answer was not recorded.
    is_group : bool
        It is a heading of the rows below it, which are alike.
    """

    id: str
    who: str = ""
    where: str = ""
    asks: str = ""
    detail: str = ""
    is_code: bool = False
    why: str = ""
    mark: str = ""
    age: str = ""
    since: str = ""
    act: str = "Open"
    is_picked: bool = False
    is_open: bool = False
    held: str = ""
    problem: str = ""
    is_group: bool = False


class Rows(Greeted):
    """A table of rows; a change travels as one message.

    Parameters
    ----------
    heard : callable
        Is told what a person asks for.
    label : str
        What the table is, for who hears it; without it the table has no heading.
    """

    _esm = module("inbox.js")
    rows = traitlets.List().tag(sync=True)
    label = traitlets.Unicode().tag(sync=True)
    picks = traitlets.Unicode("none").tag(sync=True)

    def __init__(self, heard: Heard, label: str = "") -> None:
        super().__init__(label=label)
        self._heard = heard
        self.add_class("nbgraph-inbox-rows")

    def show(self, rows: Sequence[Row], *, picks: str = "none") -> None:
        """Show these rows; `picks` says whether `none`, `some` or `all` of them are picked."""
        with self.hold_sync():
            self.rows = [asdict(row) for row in rows]
            self.picks = picks

    def focus_row(self, row_id: str) -> None:
        """Move the focus to a row."""
        self.send({"kind": "focus", "row": row_id})

    def _receive(self, widget: object, content: Mapping[str, Any], buffers: object) -> None:
        super()._receive(widget, content, buffers)
        kind, row = content.get("kind"), content.get("row", "")
        if kind in ("pick", "open", "all", "close") and isinstance(row, str):
            self._heard(str(kind), row)

    def _answer_hello(self) -> None:
        self.send({"kind": "here", "full": True})
