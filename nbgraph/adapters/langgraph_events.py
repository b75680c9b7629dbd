"""What LangGraph says while it runs, and what its checkpoints keep, as events of a branch.

One translation serves both: a run's stream and a thread's history are the same checkpoints and
tasks, told while they happen or afterwards.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# What the engine says has no types.

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from nbgraph.adapters.engine import call_of
from nbgraph.adapters.errors import error_of
from nbgraph.adapters.langgraph_inside import NOWHERE, asking_inside, names_of, paused_inside
from nbgraph.adapters.langgraph_questions import Asked, open_calls, questions
from nbgraph.adapters.values import plain
from nbgraph.core.events import (
    Event,
    Interrupt,
    RunStarted,
    StateEdited,
    SuperstepFinished,
    TaskFailed,
    TaskFinished,
    TaskInterrupted,
    TaskSpec,
    made,
)
from nbgraph.core.live import ChildEvent, LiveEvent, TaskEmitted, TaskStarted
from nbgraph.core.position import Position

__all__ = ["Translation"]

Json = Any
_START = "__start__"
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
    paths : set of str
        The nodes that are drawn, those in sub-graphs included.
    is_here : callable
        Whether a question was asked at that checkpoint: one from before an edit is asked again.
    replacing : set of str
        Fields without a reducer: what a task wrote is their new value.
    knows_inside : bool
        Whether the engine keeps which node of a sub-graph asks: a key must not change.
    """

    def __init__(
        self,
        thread_id: str,
        tools: Mapping[str, Any],
        position: Position,
        place: str | None = None,
        paths: frozenset[str] = frozenset(),
        is_here: Callable[[Interrupt], bool] = lambda _: True,
        replacing: frozenset[str] = frozenset(),
        knows_inside: bool = True,
    ) -> None:
        self.place = place
        self._paths = paths
        self._held = {task_id for task_id, child in position.children.items() if child.next}
        self._replacing = replacing
        self._knows_inside = knows_inside
        self._wrote: dict[str, Any] = {}
        self._told: dict[str, Json] = {}
        self.given: Json = None
        self.tasks: tuple[TaskSpec, ...] = position.tasks
        self.asking: dict[str, set[str]] = {}
        self._thread_id = thread_id
        self._tools = tools
        self._values: dict[str, Any] = {}
        self._known: dict[str, Json] = dict(position.state)
        self._ids: dict[str, TaskSpec] = {}
        self._done: set[str] = set(position.finished)
        self._started: dict[str, float] = {}
        self._inner: dict[str, str] = {}
        self._turn = False
        self._reports = bool(position.finished or position.answered)
        given = [item.interrupt for item in position.answered.values()]
        here = [each for each in (*given, *position.pending.values()) if is_here(each)]
        asked = {(each.task_id, each.node, call_of(each.key)) for each in here}
        self._counts = Counter((task_id, node) for task_id, node, _ in asked)
        for question in position.pending.values():
            if is_here(question):
                self.asking.setdefault(question.task_id, set()).add(question.id)

    @property
    def is_open(self) -> bool:
        """Whether what follows is not known: of tasks that have all reported, or of an input."""
        done = bool(self.tasks) and all(task.task_id in self._done for task in self.tasks)
        return done or self._turn

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
            if any(_of(task, "name") == _START for task in tasks):
                return []  # what follows is planned when the input is taken up
        if self._turn:
            return self._begun(values, tasks)
        if source == "loop":
            return self._stepped(values, tasks)
        asks = any(self.asking.values())  # not any more, after a change by somebody else
        return [*self._written(values), *self._replanned(tasks, again=asks)]

    def again(self, place: str, values: Mapping[str, Any], tasks: Sequence[Any]) -> list[Event]:
        """Return what a checkpoint says that was written in place of the one at hand.

        It has the same tasks, and nothing of what they reported: all of them run again.
        """
        self.place = place
        again = self._replanned(tasks, again=self._reports)
        return [*again, *self._written(values, everything=bool(again))]

    def _begun(self, values: Mapping[str, Any], tasks: Sequence[Any]) -> list[Event]:
        self._turn = False
        self._plan(tasks)
        given, self.given = self.given, None
        if not isinstance(given, dict):
            given = {} if given is None else {"input": given}
        started = RunStarted(input=given, tasks=self.tasks)
        return [started, *self._written(values, everything=True, whole=True)]

    def _stepped(self, values: Mapping[str, Any], tasks: Sequence[Any]) -> list[Event]:
        # A task whose result came from the engine's cache, or is not in a thread's history.
        missed = [task for task in self.tasks if task.task_id not in self._done]
        finished = [TaskFinished(task_id=task.task_id, node=task.node) for task in missed]
        told = self._told.copy()
        self._plan(tasks)
        written = self._written(values)
        late = any(name in told for event in written for name in event.update)
        stepped = made(SuperstepFinished, next=self.tasks)
        return [*finished, stepped, *written] if late else [*finished, *written, stepped]

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

    def noted(self, question: Interrupt) -> None:
        """Take up a question that was asked and answered at the checkpoint at hand."""
        self._counts[question.task_id, question.node] += 1
        self.asking.setdefault(question.task_id, set()).add(question.id)

    def answered(self, ids: Iterable[str]) -> None:
        """Take up that questions with these ids of the engine have their answers."""
        for task_id in list(self.asking):
            self.asking[task_id] -= set(ids)
            if not self.asking[task_id]:
                del self.asking[task_id]

    def _plan(self, tasks: Sequence[Any]) -> None:
        """Take up the tasks of the next superstep: `w`, `w[1]`, `w[2]` for three of one node."""
        seen: dict[str, int] = {}
        planned: list[TaskSpec] = []
        self._ids.clear()
        for task in tasks:
            name = _of(task, "name")
            number = seen.get(name, 0)
            seen[name] = number + 1
            spec = made(TaskSpec, task_id=f"{name}[{number}]" if number else name, node=name)
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

    def _written(
        self, values: Any, *, everything: bool = False, whole: bool = False
    ) -> list[StateEdited]:
        """Return the fields that are others now, whole: the engine has merged them.

        Of a field that a task replaced, the task's report has told.
        """
        changed: dict[str, Json] = {}
        if not isinstance(values, Mapping):  # what a function returned
            values = {} if values is None else {"result": values}
        for name, value in values.items():
            same = name in self._values and self._values[name] is value
            if same and not everything and name not in self._wrote:
                continue
            told = name in self._told
            shown = self._told[name] if told and self._wrote[name] is value else plain(value)
            known = self._told if told else self._known
            if everything or name not in known or known[name] != shown:
                changed[name] = shown
            self._known[name] = shown
        self._wrote.clear()
        self._told.clear()
        self._values = dict(values)
        if not (changed or whole):
            return []
        return [made(StateEdited, update=changed, replaced=tuple(changed), replace=whole)]

    # --- tasks ---------------------------------------------------------------------------------

    def started(
        self, report: Mapping[str, Any], inside: Sequence[str], at: float
    ) -> list[_Happened]:
        """Return that a task began; one that only waits on is none."""
        if inside:
            self._started[report["id"]] = at
            return self._inside(inside, TaskStarted(report["name"], report["name"], at))
        spec = self._spec(report["name"], report["id"])
        if spec.task_id in self._done or spec not in self.tasks:
            return []
        self._started[spec.task_id] = at
        if spec.task_id in self.asking:
            return []
        return [TaskStarted(spec.task_id, spec.node, at)]

    def reported(
        self, report: Mapping[str, Any], inside: Sequence[str] = (), at: float = 0.0
    ) -> list[_Happened]:
        """Return what a task reports: a result, a question, or an error."""
        asked = tuple(report["interrupts"] or ())
        if inside:
            return self._reported_inside(report, asked, inside, at)
        spec, error = self._spec(report["name"], report["id"]), report["error"]
        if spec.task_id in self._done or spec not in self.tasks:
            return []  # the second: a call of a function's own, which is part of its task
        if error is not None:
            return [TaskFailed(task_id=spec.task_id, node=spec.node, error=error_of(error))]
        if asked:
            return self._asked(spec, asked)
        return [self._finished(spec, report["result"], at)]

    def _finished(self, spec: TaskSpec, result: Any, at: float) -> TaskFinished:
        self._done.add(spec.task_id)
        self.asking.pop(spec.task_id, None)
        began = self._started.pop(spec.task_id, None)
        shown = plain(result)
        update = shown if isinstance(shown, dict) else {}
        for name, value in update.items():
            self._wrote[name] = result[name]
            if name in self._replacing:
                self._told[name] = value
        return made(
            TaskFinished,
            task_id=spec.task_id,
            node=spec.node,
            update=update,
            started=began or 0.0,
            duration=0.0 if began is None else max(0.0, at - began),
        )

    def _asked(self, spec: TaskSpec, asked: Sequence[Any]) -> list[_Happened]:
        """Return new questions. The engine repeats those that wait each time it is resumed."""
        known = self.asking.setdefault(spec.task_id, set())
        new = [each for each in asked if str(_of(each, "id")) not in known]
        if not new:
            return []
        known.update(str(_of(each, "id")) for each in new)
        found = tuple(question for each in new for question in self._questions(spec, each))
        child = NOWHERE if spec.task_id in self._held else None
        return [
            TaskInterrupted(task_id=spec.task_id, node=spec.node, interrupts=found, child=child)
        ]

    def _questions(self, spec: TaskSpec, interrupt: Any) -> Iterator[Interrupt]:
        inner = self._inner.get(str(_of(interrupt, "id")), "")
        node = f"{spec.node}/{inner}" if inner else spec.node
        count = self._counts[spec.task_id, node]
        self._counts[spec.task_id, node] += 1
        calls = open_calls(self._known)
        place = Asked(self._thread_id, spec.task_id, node, inner, count, calls)
        return questions(interrupt, place, self._tools)

    def _spec(self, name: str, engine_id: Any) -> TaskSpec:
        return self._ids.get(str(engine_id)) or TaskSpec(task_id=name, node=name)

    # --- inside sub-graphs ---------------------------------------------------------------------

    def learn_inner(self, task: Any) -> None:
        """Take up which nodes inside a task ask, from the engine's snapshot of its sub-graph."""
        self._inner.update(asking_inside(task))

    def _reported_inside(
        self, report: Mapping[str, Any], asked: Sequence[Any], inside: Sequence[str], at: float
    ) -> list[_Happened]:
        name, error = report["name"], report["error"]
        began = self._started.pop(str(report["id"]), at)
        inner = "/".join((*names_of(inside)[1:], name))
        for each in asked if self._knows_inside else ():
            self._inner.setdefault(str(_of(each, "id")), inner)
        if error is not None:
            failed = TaskFailed(task_id=name, node=name, error=error_of(error))
            return self._inside(inside, failed)
        if asked:
            waits = tuple(Interrupt(key=inner, id=inner, node=name, task_id=name) for _ in asked)
            stopped = TaskInterrupted(task_id=name, node=name, interrupts=waits)
            return self._inside(inside, stopped)
        took = max(0.0, at - began)
        over = TaskFinished(task_id=name, node=name, started=began, duration=took)
        return self._inside(inside, over)

    def _inside(self, inside: Sequence[str], happened: Any) -> list[_Happened]:
        """Return what happened in a sub-graph that is drawn; of another one nothing is shown."""
        path = "/".join(names_of(inside))
        if f"{path}/{happened.node}" not in self._paths:
            return []
        root = self._ids.get(inside[0].partition(":")[2])
        task = "/".join((root.task_id if root else names_of(inside)[0], *names_of(inside)[1:]))
        return [ChildEvent(path, task, happened)]

    def held(self, tasks: Sequence[Any], before: Iterable[str]) -> list[Event]:
        """Return which sub-graphs of these tasks stand at a breakpoint of their own, and where."""
        found: list[Event] = []
        for task in tasks:
            spec, child = self._spec(task.name, task.id), paused_inside(task, before)
            if child is None or task.interrupts or spec.task_id in self._done:
                continue
            found.append(
                TaskInterrupted(task_id=spec.task_id, node=spec.node, interrupts=(), child=child)
            )
        return found

    # --- what is only shown --------------------------------------------------------------------

    def emitted(
        self, who: str, kind: Any, data: Any, at: float, inside: Sequence[str]
    ) -> list[_Happened]:
        """Return something a task said while it ran: `who` is its node and the engine's id.

        What a graph says that is not drawn is shown at the node that called it.
        """
        *outer, last = (*inside, who)
        while outer and "/".join(names_of((*outer, last))) not in self._paths:
            *outer, last = outer
        name, _, task_id = last.rpartition(":")
        spec = self._ids.get(task_id) or self._only_running(name or task_id)
        node, task = (name, name) if outer else (spec.node, spec.task_id)
        said = TaskEmitted(task, node, kind, data, at)
        return self._inside(outer, said) if outer else [said]

    def _only_running(self, name: str) -> TaskSpec:
        """Return the task that runs, if just one does: a thread does not know who started it."""
        running = [task for task in self.tasks if task.task_id in self._started]
        if not name and len({task.node for task in running}) == 1:
            return running[0]
        return TaskSpec(task_id=name, node=name)


def _of(record: Any, name: str) -> Any:
    """Return a part of what the engine says as a dict in a stream, as an object in history."""
    if isinstance(record, dict):
        return record.get(name)
    return getattr(record, name, None)
