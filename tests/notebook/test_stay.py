"""What stays of a widget in a notebook, and when it is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nbgraph.notebook.left import Stay


@dataclass(frozen=True)
class Look:
    """What there is to see of a thread."""

    status: str
    running: bool = False
    pending: tuple[str, ...] = ()


@dataclass
class Moving:
    """A thread that has gone on whenever it is looked at; at the end it stays."""

    looks: list[Look]

    @property
    def snapshot(self) -> Look:
        return self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]


@dataclass
class Place:
    """A cell that shows the widget."""

    kept: Sequence[Any] = ()
    stays: str = ""
    left: list[str] = field(default_factory=list)

    def keep(self, bundle: Mapping[str, Any], snapshots: Sequence[Any]) -> None:
        self.kept, self.stays = snapshots, snapshots[0].status

    def leave(self) -> None:
        self.left.append(self.stays)


def test_a_widget_whose_thread_ends_meanwhile_is_left_by_the_next_cell_as_it_ended() -> None:
    new, running, ended = Look("new"), Look("running", running=True), Look("completed")
    thread, place = Moving([new, running, ended]), Place()
    stay = Stay(lambda: None, dict, lambda: [thread], lambda: False)
    stay.begin()
    stay._places = [place]
    stay.ran()
    assert (place.stays, place.left) == ("running", [])
    stay.ran()
    assert place.left == ["completed"]
