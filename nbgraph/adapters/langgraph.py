"""LangGraph's compiled graphs as drivers: their threads, forms, steps and forks.

The thread is the engine's own, in its checkpointer; what stands in its branches is read from there.
LangGraph moves a thread's head to whatever ran last, so each branch keeps the checkpoint it stands
at, and runs from there.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# What the engine says has no types.

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any
from weakref import WeakKeyDictionary

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from nbgraph.adapters.driver import AdaptedDriver
from nbgraph.adapters.engine import Answers, Happened, Leg, Moved, Told
from nbgraph.adapters.langgraph_events import Translation
from nbgraph.adapters.langgraph_history import follow, note_of, signed, stops_of
from nbgraph.adapters.langgraph_inside import NO_NODE, out_of_reach, pausing
from nbgraph.adapters.langgraph_questions import resumption, tools_of
from nbgraph.adapters.langgraph_shape import field_types, given_to, replaced_fields, shape_of
from nbgraph.adapters.langgraph_stream import Part, Stream
from nbgraph.adapters.langgraph_thread import BY, TAG, EngineThread
from nbgraph.adapters.log import BranchLog, ThreadLog, thread_log
from nbgraph.adapters.values import WholeValues, plain
from nbgraph.core.driver import Capability, Shape
from nbgraph.core.events import (
    AnswerRefused,
    AnswersGiven,
    BreakpointsSet,
    Event,
    Interrupt,
    TaskFinished,
)
from nbgraph.core.naming import login_name
from nbgraph.errors import ResumeError, StateUpdateError

try:
    from langgraph.errors import is_invalid_resume
except ImportError:  # before LangGraph checked answers

    def is_invalid_resume(error: BaseException) -> bool:  # noqa: ARG001 - as the engine's
        """Return False: it refuses no answer."""
        return False


__all__ = ["LangGraphEngine", "open_thread", "shape_of"]

_CAPABILITIES: Mapping[Capability, str | None] = {
    "step": None,
    "until": None,
    "stop": None,
    "pause": None,
    "edit": None,
    "skip": None,
    "breakpoints": None,
    "break_when": "LangGraph pauses at nodes, not on a condition",
    "fork": None,
}
_copies: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def open_thread(
    app: Any, thread_id: str, branch_id: str = "main", context: Any = None
) -> tuple[AdaptedDriver, str | None]:
    """Return the driver of a thread of a compiled graph, and what a person should know about it."""
    notice = None
    if app.checkpointer is None or isinstance(app.checkpointer, bool):
        notice = (
            "Compiled without a checkpointer: a copy of the graph runs with one in memory, and the "
            "thread is gone when the kernel stops."
        )
        if app not in _copies:
            _copies[app] = app.copy({"checkpointer": InMemorySaver()})
        app = _copies[app]
    elif isinstance(app.checkpointer, InMemorySaver):
        notice = "Kept in memory only: gone when the kernel stops."
    engine = LangGraphEngine(app, thread_id, context=context)
    return AdaptedDriver(engine, thread_log(app, thread_id, engine.folding), branch_id), notice


class LangGraphEngine:
    """One thread of a compiled LangGraph graph.

    Parameters
    ----------
    app : CompiledStateGraph or Pregel
        The graph, compiled with a checkpointer.
    thread_id : str
        Which thread.
    context : object, optional
        What nodes find as `runtime.context`.
    """

    name = "LangGraph"
    capabilities = _CAPABILITIES

    def __init__(self, app: Any, thread_id: str, *, context: Any = None) -> None:
        self.app = app
        self.shape: Shape = shape_of(app)
        self.folding = WholeValues(field_types(app), replaced_fields(app))
        self._thread = EngineThread(app, thread_id, self.shape.before)
        self._paths = frozenset(node.path for node in self.shape.nodes)
        self.out_of_reach = out_of_reach(app, [*self._paths])
        self._outer = {node.parent for node in self.shape.nodes if node.parent}
        self._tools = tools_of(app)
        self._context = context
        self._stream: Stream | None = None

    async def follow(self, log: ThreadLog, branch_id: str) -> None:  # noqa: ARG002 - all are read
        """Take up what the checkpointer has that is not known here."""
        await follow(self._thread, log, self._translation)

    async def keep(self, branch: BranchLog, events: Sequence[Event]) -> None:
        """Keep answers and breakpoints with the checkpoint that the branch stands at."""
        for event in events:
            if branch.place is not None and isinstance(event, AnswersGiven | BreakpointsSet):
                await self._thread.note(branch.place, note_of(event, branch))

    def _translation(self, branch: BranchLog) -> Translation:
        def is_here(question: Interrupt) -> bool:
            return branch.place_at(question.asked) == branch.place

        return Translation(
            self._thread.thread_id,
            self._tools,
            branch.position,
            branch.place,
            self._paths,
            is_here,
            self.folding.replacing,
            self._thread.keeps_all,
        )

    # --- runs ----------------------------------------------------------------------------------

    def stop(self) -> None:
        """Have the run pause when its superstep is finished."""
        if self._stream is not None:
            self._stream.stop()

    async def run(self, branch: BranchLog, leg: Leg) -> AsyncGenerator[Told, None]:
        """Run the graph from the checkpoint that the branch stands at."""
        translation = self._translation(branch)
        self._stream = Stream(self._thread, pausing(self.app, leg.before, leg.after))
        given = self._given(leg, branch, translation)
        try:
            parts = self._parts(self._stream, given, branch, leg)
            async with aclosing(_told(parts, translation)) as happening:
                async for told in happening:
                    yield told
        except Exception as error:
            yield await self._missed(translation)
            if not leg.answers or not is_invalid_resume(error):
                raise
            yield Told(_refused(leg.answers, error), translation.place)
        else:
            yield await self._missed(translation)
            yield await self._held(branch, translation, leg)
        finally:
            self._stream = None

    async def _missed(self, translation: Translation) -> Told:
        """Return what the last checkpoint says, which not every LangGraph tells of a run's end."""
        if not translation.is_open or (head := await self._thread.head()) is None:
            return Told(())
        snapshot = await self._thread.snapshot(head)
        source = (snapshot.metadata or {}).get("source", "loop")
        events = translation.checkpoint(head, source, snapshot.values, snapshot.tasks)
        return Told(events, translation.place)

    def _parts(
        self, stream: Stream, given: Any, branch: BranchLog, leg: Leg
    ) -> AsyncGenerator[list[Part], None]:
        known = {} if self._context is None else {"context": self._context}
        return stream.parts(
            given,
            branch.place,
            metadata={TAG: branch.id, **stops_of(branch.position)},
            interrupt_before=self._own(leg.before, self.app.interrupt_before_nodes),
            interrupt_after=self._own(leg.after, self.app.interrupt_after_nodes),
            **known,
        )

    def _own(self, paths: Sequence[str], compiled: Sequence[str]) -> list[str]:
        """Return those of the nodes that are the graph's own."""
        return [path for path in paths if path in self.app.nodes] or (NO_NODE if compiled else [])

    def _given(self, leg: Leg, branch: BranchLog, translation: Translation) -> Any:
        """Return what the engine is given: an input, answers by the ids of interrupts, or None."""
        if leg.given is not None:
            translation.given = plain(leg.given)
            return given_to(self.app, leg.given)
        if not leg.answers:
            return None
        translation.answered(leg.answers)
        [*answers] = leg.answers.values()
        alone = len(answers) == len(branch.position.pending) + 1 == 1
        if alone and not self._thread.keeps_all and resumption(answers[0]) not in (None, {}):
            # Questions of a graph that keeps nothing have other ids each time.
            return Command(resume=resumption(answers[0]))
        return Command(resume={each: resumption(asked) for each, asked in leg.answers.items()})

    async def _held(self, branch: BranchLog, translation: Translation, leg: Leg) -> Told:
        """Return which sub-graphs stand at a breakpoint of their own after a run."""
        position = branch.position
        nested = any(task.node in self._outer for task in position.unfinished)
        if not nested or position.pending or branch.place is None:
            return Told(())
        snapshot = await self._thread.snapshot(branch.place)
        return Told(translation.held(snapshot.tasks, leg.before), translation.place)

    # --- changes -------------------------------------------------------------------------------

    def _signs(self, branch: BranchLog, by: str | None) -> dict[str, str]:
        return {TAG: branch.id, **({BY: by} if by else {})}

    async def edited(self, branch: BranchLog, update: Mapping[str, Any], by: str | None) -> Moved:
        """Write an update through the graph's reducers."""
        signs = self._signs(branch, by)
        node = _last_node(branch)
        place = await self._thread.edited(branch.place, update, node, signs=signs)
        return await self._moved(branch, place, by)

    async def _moved(self, branch: BranchLog, place: str, by: str | None) -> Moved:
        """Return that a branch stands at another checkpoint, where all its tasks run again."""
        snapshot = await self._thread.snapshot(place)
        events = self._translation(branch).again(place, snapshot.values, snapshot.tasks)
        return Moved(place, [signed(event, by) for event in events], asks_again=True)

    async def copied(
        self, origin: BranchLog, at: int, forked: BranchLog, update: Mapping[str, Any] | None
    ) -> Moved:
        """Copy the checkpoint that a branch stood at."""
        place = origin.place_at(at)
        if place is None:
            raise StateUpdateError(f"LangGraph keeps nothing of event {at} of {origin.id!r}")
        by = login_name()
        copied = await self._thread.copied(place, self._signs(forked, None))
        if update is not None:
            signs = self._signs(forked, by)
            copied = await self._thread.edited(copied, update, _last_node(origin), signs=signs)
        return await self._moved(forked, copied, by)

    async def skipped(self, branch: BranchLog, task_id: str, value: Mapping[str, Any]) -> Moved:
        """Write a value in the name of a task, which is then over."""
        tasks = {task.task_id: task for task in branch.position.tasks}
        if len(tasks) > 1:
            raise ResumeError(
                "LangGraph skips a task only where it is the only one of its superstep; here are "
                f"{', '.join(map(repr, tasks))}"
            )
        node = tasks[task_id].node
        signs = self._signs(branch, None)
        place = await self._thread.edited(branch.place, value, node, signs=signs, keeps_next=False)
        snapshot = await self._thread.snapshot(place)
        moved = self._translation(branch).checkpoint(place, "loop", snapshot.values, snapshot.tasks)
        skipped = TaskFinished(task_id=task_id, node=node, update=plain(value), attempts=0)
        rest = [event for event in moved if not isinstance(event, TaskFinished)]
        return Moved(place, [skipped, *rest])


def _last_node(branch: BranchLog) -> str | None:
    """Return the node that ran last, in whose name an edit is written."""
    finished = (event for event in reversed(branch.events) if isinstance(event, TaskFinished))
    return next((event.node for event in finished), None)


def _refused(answers: Answers, error: BaseException) -> list[Event]:
    """Return that LangGraph's own judge refused answers."""
    found = [question for questions in answers.values() for question, _ in questions]
    problems = {"": str(error)}
    return [AnswerRefused(key=question.key, problems=problems) for question in found]


async def _told(
    parts: AsyncGenerator[list[Part], None], translation: Translation
) -> AsyncGenerator[Told, None]:
    async with aclosing(parts) as happening:
        async for said in happening:
            for told in _at_each_place(said, translation):
                yield told


def _at_each_place(said: Sequence[Part], translation: Translation) -> Iterator[Told]:
    """Return what parts say, together as long as the engine stands at the same checkpoint."""
    over = {part.data["id"] for part in said if _is_report(part)}
    place, events = translation.place, list[Happened]()
    for part in said:
        found = _translated(translation, part, over)
        if translation.place != place:
            yield Told(events, place)
            place, events = translation.place, []
        events.extend(found)
    yield Told(events, place)


def _is_report(part: Part) -> bool:
    return part.kind == "tasks" and "result" in part.data


def _translated(translation: Translation, part: Part, over: set[str]) -> Sequence[Happened]:
    """Return what a part says; of a task that is over by now it is not shown that it began."""
    inside, kind, data, at = part
    match kind:
        case "checkpoints":
            if inside:
                return ()
            place = data["config"]["configurable"]["checkpoint_id"]
            source = data["metadata"]["source"]
            return translation.checkpoint(place, source, data["values"], data["tasks"])
        case "tasks":
            if "result" in data:
                return translation.reported(data, inside, at)
            began = translation.started(data, inside, at)
            return () if data["id"] in over else began
        case "custom":
            who, said = data
            return translation.emitted(who, kind, plain(said), at, inside)
        case "token":
            who, token = data
            return translation.emitted(who, kind, _text(token), at, inside)
        case _:
            return ()


def _text(token: Any) -> str:
    """Return a token's text: some models say blocks of content."""
    if isinstance(token, str):
        return token
    blocks = token if isinstance(token, list) else ()
    return "".join(str(each.get("text", "")) for each in blocks if isinstance(each, dict))
