"""What LangGraph says while it runs, and what its checkpoints keep, as events of a branch.

One translation serves both: a run's stream and a thread's history are the same checkpoints and
tasks, told while they happen or afterwards.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# What the engine says has no types.

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from nbgraph.adapters.errors import error_of
from nbgraph.adapters.langgraph_questions import Asked, questions
from nbgraph.adapters.values import plain
from nbgraph.core.events import (
    ChildEvent,
    Event,
    Interrupt,
    LiveEvent,
    RunStarted,
    StateEdited,
    SuperstepFinished,
    TaskEmitted,
    TaskFailed,
    TaskFinished,
    TaskInterrupted,
    TaskSpec,
    TaskStarted,
)
from nbgraph.core.position import Position

__all__ = ["Translation"]

Json = Any
_Happened = Event | LiveEvent


class Translation:
    """Turns checkpoints and task reports of one branch into events, in the order they come.

    Parameters
    ----------
    thread_id : str
        Whose branch it is.
    tools : mapping of str to tool
        The graph's tools, for the arguments of calls that wait.
    position : Position
        Where the branch stands before the first.
    place : str or None
        The checkpoint it stands at.
    """

    def __init__(
        self,
        thread_id: str,
        tools: Mapping[str, Any],
        position: Position,
        place: str | None = None,
        values: Mapping[str, Any] | None = None,
    ) -> None:
        self.place = place
        self.given: Json = None
        self.tasks: tuple[TaskSpec, ...] = position.tasks
        self.asking: dict[str, set[str]] = {}
        self._thread_id = thread_id
        self._tools = tools
        self._values: dict[str, Any] = dict(values or {})
        self._known: dict[str, Json] = dict(position.state)
        self._ids: dict[str, TaskSpec] = {}
        self._done: set[str] = set(position.finished)
        self._started: dict[str, float] = {}
        self._inner: dict[str, str] = {}
        self._turn = False
        self._reports = bool(position.finished or position.answered)
        given = [item.interrupt for item in position.answered.values()]
        asked = {
            (each.task_id, each.node, each.id) for each in (*given, *position.pending.values())
        }
        self._counts = Counter((task_id, node) for task_id, node, _ in asked)
        for question in position.pending.values():
            self.asking.setdefault(question.task_id, set()).add(question.id)

    # --- checkpoints ---------------------------------------------------------------------------

    def checkpoint(
        self, place: str, source: str, values: Mapping[str, Any], tasks: Sequence[Any]
    ) -> list[Event]:
        """Return what a checkpoint says: a turn began, a superstep is finished, or an edit."""
        if place == self.place:
            self._match(tasks)
            return []
        self.place = place
        if source == "input":
            self._turn = True
            return []
        if self._turn:
            return self._begun(values, tasks)
        if source == "loop":
            return self._stepped(values, tasks)
        return [*self._written(values), *self._replanned(tasks, again=False)]

    def again(self, place: str, values: Mapping[str, Any], tasks: Sequence[Any]) -> list[Event]:
        """Return what a checkpoint says that was written in place of the one at hand.

        It has the same tasks, and nothing of what they reported: all of them run again.
        """
        self.place = place
        return [*self._written(values), *self._replanned(tasks, again=self._reports)]

    def _begun(self, values: Mapping[str, Any], tasks: Sequence[Any]) -> list[Event]:
        self._turn = False
        self._plan(tasks)
        given, self.given = self.given, None
        started = RunStarted(input=given if isinstance(given, dict) else {}, tasks=self.tasks)
        return [started, *self._written(values, everything=True)]

    def _stepped(self, values: Mapping[str, Any], tasks: Sequence[Any]) -> list[Event]:
        # A task whose result came from the engine's cache, or is not in a thread's history.
        missed = [task for task in self.tasks if task.task_id not in self._done]
        finished = [TaskFinished(task_id=task.task_id, node=task.node) for task in missed]
        self._plan(tasks)
        return [*finished, *self._written(values), SuperstepFinished(next=self.tasks)]

    def _replanned(self, tasks: Sequence[Any], *, again: bool) -> list[Event]:
        """Return that a checkpoint leads to other tasks, or to these from the start, if it does."""
        names = Counter(_of(task, "name") for task in tasks)
        if names == Counter(task.node for task in self.tasks) and not again:
            self._match(tasks)
            self.asking.clear()
            self._counts.clear()
            return []
        left = [task for task in self.tasks if task.task_id not in self._done]
        dropped = [TaskFinished(task_id=task.task_id, node=task.node, attempts=0) for task in left]
        self._plan(tasks)
        return [*dropped, SuperstepFinished(next=self.tasks)]

    def answered(self, ids: Iterable[str]) -> None:
        """Take up that questions with these ids of the engine have their answers."""
        for task_id in list(self.asking):
            self.asking[task_id] -= set(ids)
            if not self.asking[task_id]:
                del self.asking[task_id]

    def _plan(self, tasks: Sequence[Any]) -> None:
        """Take up the tasks of the next superstep: `w`, `w[1]`, `w[2]` for three of one node."""
        seen: Counter[str] = Counter()
        planned: list[TaskSpec] = []
        self._ids.clear()
        for task in tasks:
            name = _of(task, "name")
            number = seen[name]
            seen[name] += 1
            spec = TaskSpec(task_id=f"{name}[{number}]" if number else name, node=name)
            planned.append(spec)
            self._ids[str(_of(task, "id"))] = spec
        self.tasks = tuple(planned)
        self._done.clear()
        self.asking.clear()
        self._counts.clear()
        self._inner.clear()

    def _match(self, tasks: Sequence[Any]) -> None:
        """Learn the engine's ids of tasks that are planned already."""
        free = list(self.tasks)
        for task in tasks:
            spec = next((each for each in free if each.node == _of(task, "name")), None)
            if spec is not None:
                free.remove(spec)
                self._ids[str(_of(task, "id"))] = spec

    def _written(self, values: Mapping[str, Any], *, everything: bool = False) -> list[Event]:
        """Return the fields that are others now, whole: the engine has merged them."""
        changed: dict[str, Json] = {}
        for name, value in values.items():
            if not everything and name in self._values and self._values[name] is value:
                continue
            shown = plain(value)
            if everything or name not in self._known or self._known[name] != shown:
                changed[name] = shown
        self._values = dict(values)
        self._known.update(changed)
        return [StateEdited(update=changed, replaced=tuple(changed))] if changed else []

    # --- tasks ---------------------------------------------------------------------------------

    def started(self, report: Mapping[str, Any], inside: Sequence[str] = ()) -> list[_Happened]:
        """Return that a task began; one that only waits on is none."""
        now = time.time()
        if inside:
            return self._inside(inside, lambda _: TaskStarted(report["name"], report["name"], now))
        spec = self._spec(report)
        if spec.task_id in self._done:
            return []
        self._started[spec.task_id] = now
        if spec.task_id in self.asking:
            return []
        return [TaskStarted(spec.task_id, spec.node, now)]

    def reported(self, report: Any, inside: Sequence[str] = ()) -> list[_Happened]:
        """Return what a task reports: a result, a question, or an error."""
        asked = tuple(_of(report, "interrupts") or ())
        if inside:
            return self._reported_inside(report, asked, inside)
        spec = self._spec(report)
        error = _of(report, "error")
        if spec.task_id in self._done:
            return []
        if error is not None:
            return [TaskFailed(task_id=spec.task_id, node=spec.node, error=error_of(error))]
        if asked:
            return self._asked(spec, asked)
        return [self._finished(spec, _of(report, "result"))]

    def _finished(self, spec: TaskSpec, result: Any) -> TaskFinished:
        self._done.add(spec.task_id)
        self.asking.pop(spec.task_id, None)
        began = self._started.pop(spec.task_id, None)
        shown = plain(result)
        return TaskFinished(
            task_id=spec.task_id,
            node=spec.node,
            update=shown if isinstance(shown, dict) else {},
            started=began or 0.0,
            duration=0.0 if began is None else max(0.0, time.time() - began),
        )

    def _asked(self, spec: TaskSpec, asked: Sequence[Any]) -> list[_Happened]:
        """Return new questions. The engine repeats those that wait each time it is resumed."""
        known = self.asking.setdefault(spec.task_id, set())
        new = [each for each in asked if str(_of(each, "id")) not in known]
        if not new:
            return []
        known.update(str(_of(each, "id")) for each in new)
        found = tuple(question for each in new for question in self._questions(spec, each))
        return [TaskInterrupted(task_id=spec.task_id, node=spec.node, interrupts=found)]

    def _questions(self, spec: TaskSpec, interrupt: Any) -> Iterator[Interrupt]:
        inner = self._inner.get(str(_of(interrupt, "id")))
        node = f"{spec.node}/{inner}" if inner else spec.node
        count = self._counts[spec.task_id, node]
        self._counts[spec.task_id, node] += 1
        place = Asked(self._thread_id, spec.task_id, node, count)
        return questions(interrupt, place, self._tools)

    def _spec(self, report: Any) -> TaskSpec:
        name = _of(report, "name")
        return self._ids.get(str(_of(report, "id"))) or TaskSpec(task_id=name, node=name)

    # --- inside sub-graphs ---------------------------------------------------------------------

    def learn_inner(self, task: Any, path: str = "") -> None:
        """Take up which nodes inside a task ask, from the engine's snapshot of its sub-graph."""
        for inner in getattr(_of(task, "state"), "tasks", ()):
            here = f"{path}/{inner.name}" if path else inner.name
            for interrupt in inner.interrupts:
                self._inner[str(interrupt.id)] = here
            self.learn_inner(inner, here)

    def _reported_inside(
        self, report: Any, asked: Sequence[Any], inside: Sequence[str]
    ) -> list[_Happened]:
        name = _of(report, "name")
        inner = "/".join((*_names(inside)[1:], name))
        for each in asked:
            self._inner.setdefault(str(_of(each, "id")), inner)
        error = _of(report, "error")
        if error is not None:
            failed = TaskFailed(task_id=name, node=name, error=error_of(error))
            return self._inside(inside, lambda _: failed)
        if asked:
            waits = tuple(Interrupt(key=inner, id=inner, node=name, task_id=name) for _ in asked)
            stopped = TaskInterrupted(task_id=name, node=name, interrupts=waits)
            return self._inside(inside, lambda _: stopped)
        return self._inside(inside, lambda _: TaskFinished(task_id=name, node=name))

    def _inside(self, inside: Sequence[str], event: Any) -> list[_Happened]:
        path = "/".join(_names(inside))
        root = self._ids.get(inside[0].partition(":")[2])
        task = "/".join((root.task_id if root else _names(inside)[0], *_names(inside)[1:]))
        return [ChildEvent(path, task, event(path))]

    @property
    def only_running(self) -> str:
        """The node that runs, if just one does: the engine does not say who said something."""
        running = {task.node for task in self.tasks if task.task_id in self._started}
        return running.pop() if len(running) == 1 else ""

    # --- what is only shown --------------------------------------------------------------------

    def emitted(
        self, node: str, kind: Any, data: Any, inside: Sequence[str] = ()
    ) -> list[_Happened]:
        """Return something a node said while it ran."""
        task = next((each.task_id for each in self.tasks if each.node == node), node)
        said = TaskEmitted(task, node, kind, data, time.time())
        return self._inside(inside, lambda _: said) if inside else [said]


def _names(namespace: Iterable[str]) -> tuple[str, ...]:
    return tuple(part.partition(":")[0] for part in namespace)


def _of(record: Any, name: str) -> Any:
    """Return a part of what the engine says as a dict in a stream, as an object in history."""
    if isinstance(record, Mapping):
        return record.get(name)
    return getattr(record, name, None)
