"""Which questions an inbox shows: a search, five choices, and whether alike ones stand together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets

from nbgraph.drawing import cut, reveal
from nbgraph.notebook.parts import button, classed, row, spacer
from nbgraph.waiting import Order, Survey, Wanted
from nbgraph.words import duration

__all__ = ["Filters"]

_AGES: Mapping[str, float] = {"any age": 0, "10 min": 600, "1 h": 3_600, "1 day": 86_400}
_VIEWS = ("Waiting", "Answered")
_ORDERS: Mapping[str, Order] = {
    "oldest first": "oldest",
    "newest first": "newest",
    "due first": "due",
}
_NAME_LIMIT = 40


class _Choice:
    """One of the names that there are, or all of them."""

    def __init__(self, all_of: str, css_class: str, changed: Callable[[], object]) -> None:
        self._all_of = all_of
        self._names: tuple[str, ...] = ()
        self._changed = changed
        self.box: Any = classed(ipywidgets.Dropdown(options=(f"all {all_of} (0)",)), css_class)
        self.box.index = 0
        self._observe(on=True)

    @property
    def name(self) -> str | None:
        """What is chosen; None for all."""
        return self._names[self.box.index - 1] if self.box.index else None

    def choose(self, name: str | None) -> None:
        """Choose a name, or all, without telling."""
        self._observe(on=False)
        if name is not None and name not in self._names:
            self._offer((*self._names, name), {})
        self.box.index = 0 if name is None else self._names.index(name) + 1
        self._observe(on=True)

    def offer(self, counts: Mapping[str, int]) -> None:
        """Offer these names, each with how many there are; what is chosen stays."""
        chosen = self.name
        names: tuple[str, ...] = tuple(sorted({*counts, *filter(None, [chosen])}))
        self._observe(on=False)
        self._offer(names, counts)
        self.box.index = 0 if chosen is None else names.index(chosen) + 1
        self._observe(on=True)

    def _offer(self, names: tuple[str, ...], counts: Mapping[str, int]) -> None:
        said = [f"{cut(reveal(name), _NAME_LIMIT)} ({counts.get(name, 0)})" for name in names]
        options = (f"all {self._all_of} ({len(counts)})", *said)
        self._names = names
        if options != tuple(self.box.options):
            self.box.options = options

    def _observe(self, *, on: bool) -> None:
        (self.box.observe if on else self.box.unobserve)(self._told, names="index")

    def _told(self, _: object) -> None:
        if self.box.index is not None:
            self._changed()


class Filters:
    """The controls above the rows.

    Parameters
    ----------
    changed : callable
        Is called when a person has chosen otherwise.

    Attributes
    ----------
    box : widget
        What stands on the page.
    """

    def __init__(self, changed: Callable[[], object]) -> None:
        self._changed, self._quiet = changed, False
        hint = "Search thread, message, value"
        self._text: Any = ipywidgets.Text(placeholder=hint, continuous_update=False)
        self._graph = _Choice("graphs", "nbgraph-by-graph", self._told)
        self._node = _Choice("nodes", "nbgraph-by-node", self._told)
        self._tool = _Choice("tools", "nbgraph-by-tool", self._told)
        self._ages = dict(_AGES)
        self._age: Any = ipywidgets.Dropdown(options=tuple(self._ages))
        self._order: Any = ipywidgets.Dropdown(options=tuple(_ORDERS))
        self._view: Any = ipywidgets.RadioButtons(options=_VIEWS, value=_VIEWS[0])
        self._alike: Any = ipywidgets.Checkbox(
            value=False, description="Group the same", indent=False
        )
        classed(self._text, "nbgraph-find")
        classed(self._age, "nbgraph-by-age")
        classed(self._order, "nbgraph-by-order")
        classed(self._view, "nbgraph-choice", "nbgraph-tabs")
        for widget, name in ((self._text, "value"), (self._alike, "value"), (self._view, "index")):
            widget.observe(self._told, names=name)
        for widget in (self._age, self._order):
            widget.observe(self._told, names="index")
        self._clear = button("", self.clear, "link", "nbgraph-clear-filters")
        boxes = [self._text, self._graph.box, self._node.box, self._tool.box, self._age]
        more = [self._order, self._view, self._alike, spacer(), self._clear]
        self.box: ipywidgets.HBox = row([*boxes, *more], "nbgraph-filters", "nbgraph-row")
        self._say()

    def _told(self, _: object = None) -> None:
        if not self._quiet:
            self._changed()

    @property
    def wanted(self) -> Wanted:
        """Which questions are wanted."""
        older = tuple(self._ages.values())[self._age.index or 0]
        names = self._graph.name, self._node.name, self._tool.name
        order = tuple(_ORDERS.values())[self._order.index or 0]
        return Wanted(self._text.value, *names, older, order)

    @wanted.setter
    def wanted(self, wanted: Wanted) -> None:
        self._quiet = True
        self._text.value = wanted.text
        self._graph.choose(wanted.graph)
        self._node.choose(wanted.node)
        self._tool.choose(wanted.tool)
        self._choose_age(wanted.older)
        self._order.index = tuple(_ORDERS.values()).index(wanted.order)
        self._quiet = False
        self._changed()

    def _choose_age(self, older: float) -> None:
        if older not in self._ages.values():
            self._ages[duration(older)] = older
            self._age.options = tuple(self._ages)
        self._age.index = tuple(self._ages.values()).index(older)

    @property
    def is_grouped(self) -> bool:
        """Whether questions that are alike stand together."""
        return self._alike.value

    @is_grouped.setter
    def is_grouped(self, grouped: bool) -> None:
        self._alike.value = grouped

    @property
    def shows_answered(self) -> bool:
        """Whether what was answered is shown instead."""
        return self._view.index == 1

    @shows_answered.setter
    def shows_answered(self, shows: bool) -> None:
        self._view.index = int(shows)

    def clear(self) -> None:
        """Want all of them, in the order that is chosen."""
        self.wanted = Wanted(order=self.wanted.order)

    def offer(self, survey: Survey) -> None:
        """Offer what there is to choose from."""
        self._graph.offer(survey.graphs)
        self._node.offer(survey.nodes)
        self._tool.offer(survey.tools)
        self._tool.box.layout.display = None if survey.tools or self._tool.name else "none"
        self._say()

    def _say(self) -> None:
        count = self.wanted.count
        self._clear.description = f"Clear {count} filter{'' if count == 1 else 's'}"
        self._clear.layout.display = None if count else "none"
