"""Which questions of an inbox are picked for one answer: all of them are of one kind."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from nbgraph.waiting import Address, Question

__all__ = ["Picks"]


class Picks:
    """Questions that one answer is given to.

    Attributes
    ----------
    by_address : dict of Address to Question
        Those that are picked, in the order in which they were.
    """

    def __init__(self) -> None:
        self.by_address: dict[Address, Question] = {}

    def __iter__(self) -> Iterator[Question]:
        return iter(self.by_address.values())

    def turn(self, questions: Iterable[Question]) -> None:
        """Pick questions, or leave out those that are picked; one of another kind is not added."""
        for question in questions:
            if self.by_address.pop(question.address, None) is None:
                self._add(question)

    def _add(self, question: Question) -> None:
        kinds = {each.kind for each in self.by_address.values()}
        if kinds <= {question.kind}:
            self.by_address[question.address] = question

    def turn_alike(self, first: Question, shown: Sequence[Question]) -> None:
        """Pick all that are shown and like one; where they are picked already, leave them out."""
        alike = [each for each in shown if each.kind == first.kind]
        left = [each for each in alike if each.address not in self.by_address]
        self.turn(left or alike)

    def keep(self, shown: Collection[Address]) -> None:
        """Leave out what is not shown any more."""
        self.by_address = {at: each for at, each in self.by_address.items() if at in shown}

    def drop(self, address: Address) -> None:
        """Leave one out."""
        self.by_address.pop(address, None)

    def clear(self) -> None:
        """Pick none."""
        self.by_address.clear()

    def share_of(self, count: int) -> str:
        """Return whether `none`, `some` or `all` of so many are picked."""
        picked = len(self.by_address)
        return "none" if not picked else "all" if picked == count else "some"
