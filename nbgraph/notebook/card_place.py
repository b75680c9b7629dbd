"""Where a tool card stands: alone, or in a panel, there perhaps with others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from nbgraph.notebook.keys import Keys

__all__ = ["Deck", "Place"]


@dataclass(frozen=True, slots=True)
class Place:
    """What a panel gives its cards.

    Attributes
    ----------
    keys : Keys
        Moves the focus.
    thread_id : str
        Whose question it is.
    allow : callable or None
        Approves a card, and later calls of its tool; None where no tool can be allowed.
    lock : RLock
        Is held while cards are drawn or decided: never both at once.
    holding : callable
        Returns a context in which what is decided is pressed on the page, and can be taken back.
    """

    keys: Keys
    thread_id: str
    allow: Callable[[Any], object] | None
    lock: threading.RLock
    holding: Callable[[], AbstractContextManager[object]]


class Deck(Protocol):
    """Several cards whose decisions are sent together."""

    def decided(self, *, at_once: bool) -> bool:
        """Take note of a decision; with `at_once`, send all when none is missing.

        Return whether the decision stands.
        """
        ...

    def changed(self) -> None:
        """Take note that a card shows something else."""
        ...
