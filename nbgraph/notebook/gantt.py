"""When what ran, drawn: one row a task, a bar for each stretch of work, of waiting, of failing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets
from ipywidgets.widgets.widget_button import ButtonStyle

from nbgraph import words
from nbgraph.axis import Axis, axis
from nbgraph.notebook.labels import set_text, visible
from nbgraph.notebook.lean import Column, grid, row, set_hidden
from nbgraph.notebook.lean import said as text
from nbgraph.notebook.marks import show_mark
from nbgraph.notebook.parts import classed, mark, set_class, set_classes
from nbgraph.notebook.routing import serve_while_busy
from nbgraph.notebook.shared import shared
from nbgraph.timetable import Person, Span, TaskRow

__all__ = ["Gantt", "person_words"]

_SHOWN = 24
"""How many rows stand on the page, around the chosen one; the rest is counted."""
_KINDS = ("work", "wait", "fail", "running")
_SIGNS = {"work": "", "wait": "◆", "fail": "✕", "running": ""}


class Gantt(Column):
    """The rows of a timetable; a press on a bar chooses its superstep."""

    def __init__(self, chosen: Callable[[int], object]) -> None:
        self._chosen = chosen
        self._rows: list[_Row] = []
        self._ticks = row([], "hd", "lane", "ticks")
        self._heads = (text("#  task", "hd"), self._ticks, text("time", "hd", "dur"))
        self._grid = grid(self._heads, "nbgraph-gantt")
        self._hidden = text("", "nbgraph-2nd", "nbgraph-small")
        super().__init__([self._grid, self._hidden])

    @staticmethod
    def legend() -> ipywidgets.Widget:
        """Return what says what the bars mean."""
        kinds = [("work", "work"), ("wait", "waiting for a person"), ("fail", "failed try")]
        parts = [(text("", "swatch", kind), text(words)) for kind, words in kinds]
        return row([part for pair in parts for part in pair], "nbgraph-bars", "nbgraph-2nd")

    def show(self, rows: Sequence[TaskRow], selected: int | None, *, compact: bool) -> None:
        """Draw rows, those of one superstep as selected; what stands there is used again."""
        shown, before, after = _around(rows, selected)
        line = axis(shown, compact=compact)
        self._show_ticks(line)
        while len(self._rows) < len(shown):
            self._rows.append(_Row(self._chosen))
        number = 0
        for place, each in zip(self._rows, shown, strict=False):
            place.show(each, line, first=each.step != number, selected=each.step == selected)
            number = each.step
        cells = [cell for place in self._rows[: len(shown)] for cell in place.cells]
        children = (*self._heads, *cells)
        if self._grid.children != children:
            self._grid.children = children
        hidden = [
            f"{count} {word}" for count, word in ((before, "earlier"), (after, "later")) if count
        ]
        set_text(self._hidden, f"{' and '.join(hidden)} tasks not shown" if hidden else "")
        set_hidden(self._hidden, hidden=not hidden)

    def _show_ticks(self, line: Axis | None) -> None:
        ticks = line.ticks if line is not None else []
        if [each.value for each in self._ticks.children] == [said for _, said in ticks]:
            return
        ends = [*(place for place, _ in ticks[1:]), 1.0]
        labels: list[Any] = []
        for (place, said), end in zip(ticks, ends, strict=True):
            tick = text(said, "tick")
            tick.layout = ipywidgets.Layout(width=_percent(end - place), flex="none")
            labels.append(tick)
        self._ticks.children = tuple(labels)


class _Row:
    """Three cells: what ran, its bars, how long it took."""

    def __init__(self, chosen: Callable[[int], object]) -> None:
        self._chosen = chosen
        self._step = 0
        self._number, self._mark, self._name = text("", "stepno"), mark("idle"), text("")
        self._lane = row([], "lane")
        self._time = text("", "dur")
        self._bars: list[ipywidgets.Button] = []
        self.cells: tuple[Any, ...] = (
            row([self._number, self._mark, self._name], "task"),
            self._lane,
            self._time,
        )

    def show(self, task: TaskRow, line: Axis | None, *, first: bool, selected: bool) -> None:
        self._step = task.step
        set_text(self._number, str(task.step) if first else "")
        show_mark(self._mark, task.mark)
        tries = f"{task.tries} tries" if task.tries > 1 else ""
        set_text(self._name, "  ".join(filter(None, [task.task_id, tries, task.how])))
        seconds = task.seconds
        goes_on = " …" if task.mark in ("running", "waiting") else ""
        set_text(self._time, "" if seconds is None else f"{words.duration(seconds)}{goes_on}")
        for cell in self.cells:
            set_class(cell, "sel", on=selected)
        if line is not None:
            self._draw(task, line)

    def _draw(self, task: TaskRow, line: Axis) -> None:
        while len(self._bars) < len(task.spans):
            self._bars.append(self._bar())
        at = 0.0
        for bar, span in zip(self._bars, task.spans, strict=False):
            begin, end = max(line.place(span.begin), at), line.place(span.end)
            _place(bar, begin - at, max(end - begin, 0.0))
            at = max(end, begin)
            _dress(bar, span, task)
        shown = tuple(self._bars[: len(task.spans)])
        if self._lane.children != shown:
            self._lane.children = shown
            serve_while_busy(self._lane)

    def _bar(self) -> ipywidgets.Button:
        bar = ipywidgets.Button(style=shared(ButtonStyle), layout=ipywidgets.Layout())
        bar.on_click(lambda _: self._chosen(self._step))
        return classed(bar, "bar")


def _place(bar: ipywidgets.Button, margin: float, width: float) -> None:
    layout: Any = bar.layout
    wanted = _percent(margin), _percent(width)
    if (layout.margin, layout.width) != (f"0 0 0 {wanted[0]}", wanted[1]):
        with layout.hold_sync():
            layout.margin, layout.width = f"0 0 0 {wanted[0]}", wanted[1]


def _dress(bar: ipywidgets.Button, span: Span, task: TaskRow) -> None:
    answered = any(p.what == "answered" and span.begin < p.at <= span.end for p in task.people)
    kinds = {name: name == span.kind for name in _KINDS}
    set_classes(bar, {**kinds, "answered": span.kind == "wait" and answered})
    sign, tip = _SIGNS[span.kind], visible(_tip(span, task))
    if (bar.description, bar.tooltip) != (sign, tip):
        with bar.hold_sync():
            bar.description, bar.tooltip = sign, tip


def _tip(span: Span, task: TaskRow) -> str:
    long = words.duration(span.end - span.begin)
    match span.kind:
        case "wait":
            people = [
                person_words(each) for each in task.people if span.begin <= each.at <= span.end
            ]
            return f"waiting for a person, {long}: {', '.join(people)}"
        case "fail":
            return f"failed after {long}, at {words.clock(span.end)}"
        case "running":
            return f"runs since {words.clock(span.begin)}"
        case _:
            return f"worked {long}, from {words.clock(span.begin)}"


def person_words(person: Person) -> str:
    """Return what happened between a task and a person: `answered by ops 12:04:31: “In time.”`."""
    told = _told(person)
    return f"{told}: “{person.comment}”" if person.comment else told


def _told(person: Person) -> str:
    at = words.clock(person.at)
    match person.what:
        case "asked":
            return f"asked {at}"
        case "refused":
            return f"answer did not count {at}"
        case "expired":
            return f"nobody answered in time {at}"
        case "dismissed":
            return f"dismissed by {person.by or 'somebody'} {at}"
        case "again":
            return f"asked again by {person.by or 'somebody'} {at}"
        case _:
            return f"answered by {person.by or 'somebody'} {at}"


def _around(rows: Sequence[TaskRow], selected: int | None) -> tuple[Sequence[TaskRow], int, int]:
    """Return the rows that stand on the page, and how many are before and after them."""
    steps = [row.step for row in rows]
    last = max((at for at, step in enumerate(steps) if step == selected), default=len(rows) - 1)
    end = min(len(rows), max(last + _SHOWN // 3, _SHOWN))
    begin = max(0, end - _SHOWN)
    return rows[begin:end], begin, len(rows) - end


def _percent(part: float) -> str:
    return f"{part * 100:.3f}%"
