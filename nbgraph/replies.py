"""Answers to questions of many threads: each is recorded, and known graphs go on.

What is answered is judged and recorded as `Resume` does it. A thread whose graph is not known here
stands with its answer recorded, until somebody who has the graph runs it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import Future, wait
from contextlib import aclosing
from typing import Any, cast

from nbgraph.core.events import RunFailed
from nbgraph.core.graph import Graph
from nbgraph.core.loop import run_sync, submit
from nbgraph.core.position import Position
from nbgraph.core.recording import record_answers
from nbgraph.core.requests import Continue, Resume
from nbgraph.core.store import StateStore
from nbgraph.drivers import driver_for
from nbgraph.errors import (
    AlreadyAnsweredError,
    AnswerError,
    ConcurrentRunError,
    GraphConfigError,
    NbgraphError,
    NodeFailedError,
    QuestionExpiredError,
    ResumeError,
    StaleAnswerError,
)
from nbgraph.waiting import Address, Question

__all__ = ["Apps", "Replies", "graphs_by_name"]

Apps = Graph | Mapping[str, Graph] | Iterable[Graph]
"""Graphs by their name, or some graphs that know their own."""

_Branch = tuple[str, str]
_TRIES = 3
_AT_ONCE = 8
"""How many threads go on at the same time."""


def graphs_by_name(apps: Apps | None) -> dict[str, Graph]:
    """Return graphs by the name under which a store lists their threads.

    Raises
    ------
    GraphConfigError
        If one is no `Graph`, or two have the same name.
    """
    if apps is None:
        return {}
    if isinstance(apps, Mapping):
        named = list(cast("Mapping[str, Graph]", apps).items())
    else:
        given = [apps] if isinstance(apps, Graph) else list(apps)
        named = [(getattr(each, "name", ""), each) for each in given]
    for name, graph in named:
        if not isinstance(graph, Graph):  # pyright: ignore[reportUnnecessaryIsInstance] - user's
            raise GraphConfigError(
                f"apps lists graphs of nbgraph, got {type(graph).__qualname__}; a graph of another "
                "engine keeps its threads itself, show one in a Panel"
            )
        if sum(name == other for other, _ in named) > 1:
            raise GraphConfigError(
                f"Two of the apps are named {name!r}; name one of them otherwise"
            )
    return dict(named)


class Replies:
    """Gives answers to the threads of a store.

    Parameters
    ----------
    store : StateStore
        Where the threads are.
    graphs : dict of str to Graph
        What runs a thread after its answer, by the graph's name.
    context : object
        What nodes find as `ctx.context`.
    failed : callable
        Is told a thread's id, and what ended its run with an error; from the loop thread.
    """

    def __init__(
        self,
        store: StateStore,
        graphs: Mapping[str, Graph],
        context: Any,
        failed: Callable[[str, BaseException], object],
    ) -> None:
        self._store, self._graphs, self._context = store, graphs, context
        self._failed = failed
        self._warned: set[Address] = set()
        self._few: asyncio.Semaphore | None = None
        self._runs: set[Future[None]] = set()

    def knows(self, graph: str) -> bool:
        """Return whether threads of a graph go on by themselves after an answer."""
        return graph in self._graphs

    def send(
        self, answers: Mapping[Question, Any], comment: str | None = None
    ) -> dict[Address, NbgraphError]:
        """Record answers, and return why some were not, by question; the others are.

        Each is given to the asking that was shown, and to no later one. `comment` is recorded
        beside them.
        """
        return run_sync(self._sent(answers, comment))

    def settle(self) -> None:
        """Wait until the threads that go on have come to their next pause or end."""
        while self._runs:
            wait(tuple(self._runs))

    async def _sent(
        self, answers: Mapping[Question, Any], comment: str | None
    ) -> dict[Address, NbgraphError]:
        branches: dict[_Branch, dict[Question, Any]] = {}
        for question, answer in answers.items():
            thread_id, branch_id, _, _ = question.address
            branches.setdefault((thread_id, branch_id), {})[question] = answer
        work = [self._to_branch(branch, given, comment) for branch, given in branches.items()]
        problems: dict[Address, NbgraphError] = {}
        for found in await asyncio.gather(*work):
            problems |= found
        return problems

    async def _to_branch(
        self, branch: _Branch, answers: dict[Question, Any], comment: str | None
    ) -> dict[Address, NbgraphError]:
        """Record what can be recorded of the answers to one branch, all of it in one event."""
        left = {question.record.interrupt.key: question for question in answers}
        problems: dict[Address, NbgraphError] = {}
        tries = _TRIES
        while left:
            given = {key: answers[question] for key, question in left.items()}
            asked = {key: question.record.interrupt.asked for key, question in left.items()}
            request = Resume(answers=given, partial=True, asked=asked, comment=comment)
            try:
                position = await self._recorded(branch, left, request)
            except (
                AnswerError,
                AlreadyAnsweredError,
                QuestionExpiredError,
                StaleAnswerError,
            ) as error:
                refused = left.pop(error.key)
                problems[refused.address] = error
                continue
            except ConcurrentRunError as error:
                tries -= 1
                if tries:
                    continue
                return problems | {each.address: error for each in left.values()}
            except NbgraphError as error:
                if isinstance(error, ResumeError):
                    self._warned |= {each.address for each in left.values()}
                return problems | {each.address: error for each in left.values()}
            self._go_on(branch, next(iter(left.values())).record.graph, position)
            break
        return problems

    def _recorded(
        self, branch: _Branch, questions: Mapping[str, Question], request: Resume
    ) -> Coroutine[Any, Any, Position]:
        return record_answers(
            self._store,
            *branch,
            request,
            graph=next(iter(questions.values())).record.graph,
            now=time.time(),
            take_over=all(each.address in self._warned for each in questions.values()),
        )

    def _go_on(self, branch: _Branch, graph: str, position: Position) -> None:
        app = self._graphs.get(graph)
        if app is not None and position.runnable:
            run = submit(self._run(branch, app))
            self._runs.add(run)
            run.add_done_callback(self._runs.discard)

    async def _run(self, branch: _Branch, app: Graph) -> None:
        """Run a thread to its next pause; what ends it with an error is told."""
        self._few = self._few or asyncio.Semaphore(_AT_ONCE)
        async with self._few:
            try:
                await self._continued(branch, app)
            except NbgraphError as error:
                self._failed(branch[0], error)

    async def _continued(self, branch: _Branch, app: Graph) -> None:
        driver, _ = driver_for(app, *branch, self._store, self._context)
        async with aclosing(driver.send(Continue())) as happening:
            async for event in happening:
                if isinstance(event, RunFailed):
                    error = event.error
                    known = NodeFailedError(branch[0], error.type, error.message)
                    self._failed(branch[0], event.exception or known)
