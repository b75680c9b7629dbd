"""What an inbox has answered: what was recorded, why the rest was not, and what came of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from nbgraph.core.store import StateStore
from nbgraph.errors import NbgraphError
from nbgraph.notebook.inbox_words import failed
from nbgraph.replies import Apps, Replies, graphs_by_name
from nbgraph.waiting import Address, Question

__all__ = ["Answers", "Problems"]

Problems = Mapping[Address, NbgraphError]
"""Why answers were not recorded."""


class Answers:
    """Gives answers, and keeps the reasons why some were not recorded.

    Parameters
    ----------
    store : StateStore
        Whose threads are answered.
    apps : Graph, or several, or dict of str to Graph, or None
        Graphs whose threads go on after an answer.
    context : object
        What their nodes find as `ctx.context`.
    told : callable
        Is called when a thread that went on has failed; from the loop thread.

    Attributes
    ----------
    problems : dict of Address to str
        Why an answer was not recorded.
    """

    def __init__(
        self, store: StateStore, apps: Apps | None, context: Any, told: Callable[[], object]
    ) -> None:
        self._replies = Replies(store, graphs_by_name(apps), context, self._failed)
        self._told = told
        self._mine: set[Address] = set()
        self._failures: deque[str] = deque()
        self.problems: dict[Address, str] = {}

    def give(self, answers: Mapping[Question, Any], comment: str | None = None) -> Problems:
        """Record answers, with what is said beside them; return why some were not.

        Those stay with their problem.
        """
        given = {question.address for question in answers}
        self._mine |= given
        problems = self._replies.send(answers, comment)
        self._mine -= problems.keys()
        self.problems = {at: said for at, said in self.problems.items() if at not in given}
        self.problems |= {at: str(error) for at, error in problems.items()}
        return problems

    def is_mine(self, address: Address) -> bool:
        """Whether a question was answered here."""
        return address in self._mine

    def what_follows(self, question: Question, *, late: bool) -> str:
        """Return what an answer to a question leads to; `late` is one whose time is over."""
        graph = question.record.graph
        if self._replies.knows(graph):
            return f"{'Then' if late else 'After your answer,'} {graph} goes on in the background."
        return (
            f"{'That' if late else 'Your answer'} is only recorded: {graph} is not known here, and "
            "the thread goes on when somebody runs it, as a panel's Continue does."
        )

    def failures(self) -> list[str]:
        """Return what there is to say of threads that went on and failed, once."""
        return [self._failures.popleft() for _ in tuple(self._failures)]

    def settle(self) -> None:
        """Wait until the threads that go on pause or end."""
        self._replies.settle()

    def _failed(self, thread_id: str, error: BaseException) -> None:
        self._failures.append(failed(thread_id, error))
        self._told()
