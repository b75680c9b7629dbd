"""Middleware: which hook is called when, with what, and what it may put in its place."""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing, suppress
from typing import Any, Literal, TypedDict

import pytest

import nbgraph
from nbgraph import (
    END,
    START,
    Command,
    Graph,
    Middleware,
    NodeContext,
    Replace,
    Resume,
    RunOutcome,
    Send,
    interrupt,
    node,
)
from nbgraph.core.events import RunFailed, RunFinished, TaskInterrupted
from nbgraph.core.live import TaskStarted
from nbgraph.errors import (
    AnswerError,
    GraphExecutionError,
    GraphTimeoutError,
    ResumeError,
    RunLimitExceededError,
    StateUpdateError,
)
from nbgraph.middleware import GraphMiddlewareContext, NodeMiddlewareContext, Replacement
from tests.core.graphs import Trail, asker, chain, failing, fan, history, stop, types

HOOKS = ("before_graph", "before_node", "after_node", "after_graph", "on_run_end")


def watcher(name: str, seen: list[str], *, is_async: bool = False) -> Middleware:
    """Return middleware that writes down which of its hooks were called."""

    def noting(hook: str) -> Any:
        def note(self: Any, *args: Any) -> None:
            seen.append(f"{hook} {name}")

        async def anote(self: Any, *args: Any) -> None:
            await asyncio.sleep(0)
            note(self)

        return anote if is_async else note

    hooks = (*HOOKS, "on_error", "on_interrupt")
    return type("Watcher", (Middleware,), {hook: noting(hook) for hook in hooks})()


class Ends(Middleware):
    """Keeps how runs ended."""

    def __init__(self) -> None:
        self.outcomes: list[RunOutcome] = []

    def on_run_end(self, ctx: GraphMiddlewareContext, outcome: RunOutcome) -> None:
        self.outcomes.append(outcome)


# --- declaring ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["after_tools", "before_run", "on_start"])
def test_a_method_named_as_a_hook_that_is_none_is_refused_when_the_class_is_made(name: str) -> None:
    with pytest.raises(TypeError, match=rf"Wrong.{name} is named as a hook.*before_graph"):
        type("Wrong", (Middleware,), {name: lambda self, ctx: None})


def test_a_private_method_and_an_attribute_are_no_hooks() -> None:
    type("Fine", (Middleware,), {"_on_start": lambda self: None, "on_start": 3})


@pytest.mark.parametrize("given", [object(), Middleware, None])
def test_something_else_than_middleware_is_a_type_error(given: Any) -> None:
    with pytest.raises(TypeError, match="Middleware instances"):
        Graph(Trail, middleware=[given])


def test_middleware_without_hooks_changes_nothing() -> None:
    assert chain(stop("a"), middleware=[Middleware()]).invoke({}, thread_id="t").state.log == ["a"]
    assert Middleware().tools() == ()


def test_the_public_module_gives_the_same_classes() -> None:
    from nbgraph import middleware

    assert (middleware.Middleware, middleware.RunOutcome) == (
        nbgraph.Middleware,
        nbgraph.RunOutcome,
    )


# --- order and returns ----------------------------------------------------------------------


@pytest.mark.parametrize("is_async", [False, True])
def test_before_hooks_run_in_list_order_and_after_hooks_in_reverse(is_async: bool) -> None:
    seen: list[str] = []
    both = [watcher("1", seen, is_async=is_async), watcher("2", seen, is_async=is_async)]
    chain(stop("a"), middleware=both).invoke({}, thread_id="t")
    assert seen == [
        "before_graph 1",
        "before_graph 2",
        "before_node 1",
        "before_node 2",
        "after_node 2",
        "after_node 1",
        "after_graph 2",
        "after_graph 1",
        "on_run_end 2",
        "on_run_end 1",
    ]


def test_on_error_and_on_interrupt_are_asked_in_list_order() -> None:
    seen: list[str] = []
    both = [watcher("1", seen), watcher("2", seen)]
    chain(asker("a"), middleware=both).invoke({}, thread_id="t")
    with pytest.raises(ValueError, match="x"):
        chain(failing("a", ValueError("x")), middleware=both).invoke({}, thread_id="t")
    asked = [each for each in seen if each.startswith(("on_error", "on_interrupt"))]
    assert asked == ["on_interrupt 1", "on_interrupt 2", "on_error 1", "on_error 2"]


@pytest.mark.parametrize("hook", ["before_node", "after_node"])
def test_a_replacing_hook_that_returns_anything_else_fails_its_node(hook: str) -> None:
    wrong = type("Wrong", (Middleware,), {hook: lambda self, ctx: {"log": []}})()
    with pytest.raises(TypeError, match=r"return ctx.replace\(value\) or None"):
        chain(stop("a"), middleware=[wrong]).invoke({}, thread_id="t")


@pytest.mark.parametrize("hook", ["before_graph", "after_graph", "on_run_end"])
@pytest.mark.parametrize(
    ("returned", "kind"), [(Replacement(1), GraphExecutionError), ("x", TypeError)]
)
def test_a_graph_hook_returns_nothing(hook: str, returned: Any, kind: type[Exception]) -> None:
    wrong = type("Wrong", (Middleware,), {hook: lambda self, *args: returned})()
    with pytest.raises(kind, match="return None"):
        chain(stop("a"), middleware=[wrong]).invoke({}, thread_id="t")


# --- nodes ----------------------------------------------------------------------------------


class Doubled(Middleware):
    def before_node(self, ctx: NodeMiddlewareContext) -> Replacement:
        return ctx.replace(ctx.state.model_copy(update={"count": ctx.state.count * 2}))


@node
def counts(state: Trail) -> dict[str, Any]:
    return {"log": [f"{state.count}"]}


def test_before_node_changes_what_the_node_is_given_and_not_what_is_stored() -> None:
    graph = chain(counts, middleware=[Doubled(), Doubled()])
    result = graph.invoke({"count": 3}, thread_id="t")
    assert result.state == Trail(log=["12"], count=3)


def test_a_node_that_returns_a_replaced_state_writes_what_it_changed_itself() -> None:
    @node
    def marks(state: Trail) -> Trail:
        state.log.append(str(state.count))
        return state

    result = chain(marks, middleware=[Doubled()]).invoke({"count": 3}, thread_id="t")
    assert result.state == Trail(log=["6"], count=3)


def test_before_node_of_a_dict_state_takes_a_dict() -> None:
    class Small(TypedDict, total=False):
        count: int

    class More(Middleware):
        def before_node(self, ctx: NodeMiddlewareContext) -> Replacement:
            return ctx.replace({**ctx.state, "count": 5})

    adds = node(name="adds")(lambda state: {"count": state["count"] + 1})
    graph = Graph(Small, middleware=[More()]).flow(START >> adds >> END)
    assert graph.invoke({"count": 1}).data == {"count": 6}


@pytest.mark.parametrize("state", [{"count": 1}, 3])
def test_a_replaced_state_of_another_type_fails_the_node(state: Any) -> None:
    class Wrong(Middleware):
        def before_node(self, ctx: NodeMiddlewareContext) -> Replacement:
            return ctx.replace(state)

    with pytest.raises(TypeError, match="a state is a Trail"):
        chain(counts, middleware=[Wrong()]).invoke({}, thread_id="t")


def test_changing_the_state_a_hook_sees_changes_nothing() -> None:
    class Spills(Middleware):
        def before_node(self, ctx: NodeMiddlewareContext) -> None:
            ctx.state.log.append("spilt")
            ctx.stored_state.log.append("spilt")

    assert chain(stop("a"), middleware=[Spills()]).invoke({}, thread_id="t").state.log == ["a"]


def test_after_node_sees_the_fields_the_node_writes_and_may_have_others_written() -> None:
    seen: list[Any] = []

    class Shouts(Middleware):
        def after_node(self, ctx: NodeMiddlewareContext) -> Replacement:
            seen.append(ctx.state)
            return ctx.replace({"log": [each.upper() for each in ctx.state["log"]]})

    graph = chain(stop("a"), middleware=[Shouts()])
    assert graph.invoke({}, thread_id="t").state.log == ["A"]
    assert seen == [{"log": ["a"]}]


def test_after_node_keeps_where_the_node_leads_and_what_goes_past_a_reducer() -> None:
    b, c = stop("b"), stop("c")
    seen: list[Any] = []

    @node(goto=[b, c])
    def a(state: Trail) -> Command:
        return Command(update={"log": Replace(["only"])}, goto=c)

    class Looks(Middleware):
        def after_node(self, ctx: NodeMiddlewareContext) -> Replacement:
            seen.append(ctx.state)
            return ctx.replace(ctx.state)

    graph = Graph(Trail, middleware=[Looks()]).flow(START >> a, b >> END, c >> END)
    assert graph.invoke({"log": ["old"]}).state.log == ["only", "c"]
    assert seen == [{"log": Replace(["only"])}, {"log": ["c"]}]


def test_fields_that_after_node_gives_are_checked_as_a_nodes_are() -> None:
    class Wrong(Middleware):
        def after_node(self, ctx: NodeMiddlewareContext) -> Replacement:
            return ctx.replace({"count": "many"})

    with pytest.raises(StateUpdateError, match="after_node of 'a', field 'count'"):
        chain(stop("a"), middleware=[Wrong()]).invoke({}, thread_id="t")


def test_a_node_hook_knows_where_it_is() -> None:
    seen: list[NodeMiddlewareContext] = []

    class Looks(Middleware):
        def before_node(self, ctx: NodeMiddlewareContext) -> None:
            ctx.scratch["from before"] = ctx.task_id
            seen.append(ctx)

        def after_node(self, ctx: NodeMiddlewareContext) -> None:
            assert ctx.scratch == {"from before": ctx.task_id}

    @node(goto=[counts])
    def spread(state: Trail) -> Command:
        return Command(goto=[Send(counts, {"count": 1}), Send(counts, {"count": 2})])

    graph = Graph(Trail, name="where", middleware=[Looks()]).flow(START >> spread, counts >> END)
    graph.invoke({})
    facts = [(each.step, each.task_id, each.superstep_size, each.state.count) for each in seen]
    assert facts == [(0, "spread", 1, 0), (1, "counts", 2, 1), (1, "counts[1]", 2, 2)]
    last = seen[-1]
    assert (last.graph_name, last.node_name, last.state_schema) == ("where", "counts", Trail)
    assert last.stored_state == Trail()
    assert last.run_id == last.root_run_id == seen[0].run_id


def test_a_node_finds_the_graphs_middleware_in_its_context() -> None:
    found: list[Any] = []

    @node
    def looks(state: Trail, ctx: NodeContext) -> None:
        found.append(ctx.middleware)

    own = Middleware()
    chain(looks, middleware=[own]).invoke({}, thread_id="t")
    assert found == [(own,)]


# --- errors ---------------------------------------------------------------------------------


def recovering(*returned: Any) -> Middleware:
    """Return middleware that has something to return in the place of an error."""
    waiting = list(returned)
    return type("Recovers", (Middleware,), {"on_error": lambda *_: waiting.pop(0)})()


@pytest.mark.parametrize(
    ("returned", "log"),
    [
        ({"log": ["instead"]}, ["instead", "after"]),
        (Replacement({"log": ["instead"]}), ["instead", "after"]),
        (Command(update={"log": ["led"]}, goto=END), ["led"]),
        (END, []),
    ],
    ids=["fields", "replacement", "command", "end"],
)
def test_on_error_may_return_what_a_node_may(returned: Any, log: list[str]) -> None:
    @node(goto=[END])
    def breaks(state: Trail) -> None:
        raise ValueError("broken")

    after = stop("after")
    graph = Graph(Trail, middleware=[recovering(returned)]).flow(
        START >> breaks, breaks >> after >> END
    )
    assert graph.invoke({}).state.log == log


def test_the_first_substitute_wins_and_none_passes_on() -> None:
    graph = chain(
        failing("a", ValueError("x")),
        middleware=[recovering(None), recovering({"log": ["second"]}), recovering()],
    )
    assert graph.invoke({}, thread_id="t").state.log == ["second"]


def test_on_error_may_change_and_return_the_state_it_sees() -> None:
    class Marks(Middleware):
        def on_error(self, ctx: NodeMiddlewareContext, error: Exception) -> Any:
            ctx.state.log.append(f"{error}")
            return ctx.state

    graph = chain(failing("a", ValueError("x")), middleware=[Marks()])
    assert graph.invoke({"log": ["old"]}, thread_id="t").state.log == ["old", "x"]


def test_after_node_is_not_called_for_a_node_that_raised() -> None:
    seen: list[str] = []
    chain(
        failing("a", ValueError("x")),
        middleware=[recovering({"log": ["instead"]}), watcher("1", seen)],
    ).invoke({}, thread_id="t")
    assert "after_node 1" not in seen


def test_an_interrupt_is_no_error() -> None:
    graph = chain(asker("ask"), middleware=[recovering()])
    assert list(graph.invoke({}, thread_id="t").interrupts) == ["ask:ok"]


def test_a_return_that_does_not_fit_is_an_error_too() -> None:
    wrong = node(name="wrong")(lambda state: {"count": "many"})
    graph = chain(wrong, middleware=[recovering({"count": 1})])
    assert graph.invoke({}, thread_id="t").state.count == 1


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_the_end_of_the_process_is_not_shown_to_on_error(kind: type[BaseException]) -> None:
    with pytest.raises(kind):
        chain(failing("a", kind()), middleware=[recovering()]).invoke({}, thread_id="t")


# --- interrupts -----------------------------------------------------------------------------


def answering(*answers: Any, is_async: bool = False) -> Any:
    """Return middleware that answers with these, and keeps what it was asked."""

    class Answers(Middleware):
        def __init__(self) -> None:
            self.waiting = list(answers)
            self.asked: list[Any] = []

    def on_interrupt(self: Any, ctx: NodeMiddlewareContext, payload: Any) -> Any:
        self.asked.append(payload)
        return self.waiting.pop(0) if self.waiting else None

    async def aon_interrupt(self: Any, ctx: NodeMiddlewareContext, payload: Any) -> Any:
        await asyncio.sleep(0)
        return on_interrupt(self, ctx, payload)

    hook = aon_interrupt if is_async else on_interrupt
    return type("Answering", (Answers,), {"on_interrupt": hook})()


def asking(is_async: bool, runs: list[str] | None = None) -> Any:
    """Return a node that asks twice."""

    def run(state: Trail) -> dict[str, Any]:
        if runs is not None:
            runs.append("run")
        return {"log": [interrupt("one", id="one"), interrupt("two", id="two")]}

    async def arun(state: Trail) -> dict[str, Any]:
        return run(state)

    return node(name="asks")(arun if is_async else run)


@pytest.mark.parametrize("node_is_async", [False, True], ids=["sync node", "async node"])
@pytest.mark.parametrize("hook_is_async", [False, True], ids=["sync hook", "async hook"])
class TestAnswering:
    def test_an_answered_interrupt_pauses_nothing_and_needs_no_store(
        self, node_is_async: bool, hook_is_async: bool
    ) -> None:
        hook = answering("a", "b", is_async=hook_is_async)
        graph = Graph(Trail, middleware=[hook]).flow(START >> asking(node_is_async) >> END)
        assert graph.invoke({}).state.log == ["a", "b"]
        assert hook.asked == ["one", "two"]

    def test_an_answer_is_remembered_for_its_task_over_a_pause(
        self, node_is_async: bool, hook_is_async: bool
    ) -> None:
        hook = answering("a", is_async=hook_is_async)
        graph = chain(asking(node_is_async), middleware=[hook])
        assert list(graph.invoke({}, thread_id="t").interrupts) == ["asks:two"]
        [asked] = [each for each in history(graph) if isinstance(each, TaskInterrupted)]
        assert asked.answers == {"asks:one": "a"}
        assert hook.asked == ["one", "two"]
        done = graph.invoke(None, thread_id="t", resume=Resume("b"))
        assert done.state.log == ["a", "b"]
        assert hook.asked == ["one", "two"]

    def test_the_first_answer_wins_and_none_passes_on(
        self, node_is_async: bool, hook_is_async: bool
    ) -> None:
        silent, speaks = answering(), answering("a", "b", is_async=hook_is_async)
        never = answering("c")
        graph = chain(asking(node_is_async), middleware=[silent, speaks, never])
        assert graph.invoke({}, thread_id="t").state.log == ["a", "b"]
        assert (silent.asked, never.asked) == (["one", "two"], [])

    def test_an_answer_that_does_not_fit_its_schema_fails_the_task(
        self, node_is_async: bool, hook_is_async: bool
    ) -> None:
        def run(state: Trail) -> dict[str, Any]:
            return {"count": interrupt(id="n", response_schema=int)}

        async def arun(state: Trail) -> dict[str, Any]:
            return run(state)

        asks = node(name="asks")(arun if node_is_async else run)
        graph = chain(asks, middleware=[answering("many", 3, is_async=hook_is_async)])
        with pytest.raises(AnswerError):
            graph.invoke({}, thread_id="t")
        assert graph.invoke(None, thread_id="t").state.count == 3


@pytest.mark.parametrize("hook_is_async", [False, True])
def test_a_remembered_answer_that_the_question_refuses_by_then_is_asked_of_a_person(
    hook_is_async: bool,
) -> None:
    kinds: list[Any] = [int, Literal["x"]]

    @node
    async def asks(state: Trail) -> dict[str, Any]:
        first = interrupt(id="one", response_schema=kinds[0])
        return {"log": [first, interrupt(id="two")]}

    graph = chain(asks, middleware=[answering(3, is_async=hook_is_async)])
    assert list(graph.invoke({}, thread_id="t").interrupts) == ["asks:two"]
    kinds.pop(0)
    asked = graph.invoke(None, thread_id="t", resume=Resume("b"))
    assert list(asked.interrupts) == ["asks:one"]
    assert graph.invoke(None, thread_id="t", resume=Resume("x")).state.log == ["x", "b"]


def test_a_task_of_a_later_superstep_is_asked_anew() -> None:
    from nbgraph import when

    hook = answering("a", "b", "c")
    asks = asker("ask")
    graph = Graph(Trail, middleware=[hook]).flow(
        START >> asks, asks >> when(lambda state: len(state.log) < 3, asks)
    )
    assert graph.invoke({}).state.log == ["ask: 'a'", "ask: 'b'", "ask: 'c'"]


def test_only_an_async_node_with_an_async_hook_runs_again_for_an_answer() -> None:
    runs: list[str] = []
    for node_is_async, hook_is_async in [(False, False), (False, True), (True, False)]:
        hook = answering("a", "b", is_async=hook_is_async)
        chain(asking(node_is_async, runs), middleware=[hook]).invoke({}, thread_id="t")
    assert len(runs) == 3
    hook = answering("a", "b", is_async=True)
    chain(asking(True, runs), middleware=[hook]).invoke({}, thread_id="t")
    assert len(runs) == 6


def test_an_answer_is_json_and_returned_as_the_questions_type() -> None:
    seen: list[Any] = []

    def run(state: Trail) -> None:
        seen.append(interrupt(id="plain"))
        seen.append(interrupt(id="typed", response_schema=tuple[int, int]))

    graph = chain(node(name="asks")(run), middleware=[answering((1, 2), (3, 4))])
    graph.invoke({}, thread_id="t")
    assert seen == [[1, 2], (3, 4)]


def test_a_hook_sees_the_whole_question() -> None:
    seen: list[Any] = []

    class Looks(Middleware):
        def on_interrupt(self, ctx: NodeMiddlewareContext, payload: Any) -> str:
            assert ctx.interrupt is not None
            seen.append((ctx.interrupt.message, ctx.interrupt.response_schema, ctx.state.count))
            return "yes"

    asks = asker("ask", message="Sure?", response_schema=Literal["yes", "no"])
    chain(asks, middleware=[Looks()]).invoke({"count": 2}, thread_id="t")
    [(message, schema, count)] = seen
    assert (message, schema["enum"], count) == ("Sure?", ["yes", "no"], 2)


def test_questions_that_end_an_async_node_together_are_answered_together() -> None:
    async def ask(name: str) -> Any:
        return interrupt(name, id=name)

    @node
    async def both(state: Trail) -> dict[str, Any]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(ask(name)) for name in ("one", "two")]
        return {"log": [task.result() for task in tasks]}

    graph = chain(both, middleware=[answering("a", "b", is_async=True)])
    assert graph.invoke({}, thread_id="t").state.log == ["a", "b"]
    graph = chain(both, middleware=[answering("a", is_async=True)])
    paused = graph.invoke({}, thread_id="t")
    assert list(paused.interrupts) == ["both:two"]
    assert graph.invoke(None, thread_id="t", resume=Resume("b")).state.log == ["a", "b"]


def test_a_stopped_run_lets_go_of_a_worker_that_waits_for_an_answer() -> None:
    released = threading.Event()

    class Never(Middleware):
        async def on_interrupt(self, ctx: NodeMiddlewareContext, payload: Any) -> None:
            asking.set()
            await asyncio.Event().wait()

    @node
    def asks(state: Trail) -> None:
        try:
            interrupt(id="q")
        finally:
            released.set()

    async def main() -> None:
        await _cancelled(chain(asks, middleware=[Never()]), asking)
        assert await asyncio.to_thread(released.wait, 10)

    asking = asyncio.Event()
    asyncio.run(main())


def test_several_tasks_wait_for_async_answers_at_once() -> None:
    hook = answering(*"abcd", is_async=True)
    graph = fan(*(asker(name) for name in "wxyz"), middleware=[hook])
    assert graph.invoke({}, thread_id="t").status == "completed"


# --- the graph's hooks ----------------------------------------------------------------------


def test_graph_hooks_see_the_state_and_whether_the_run_goes_on() -> None:
    seen: list[Any] = []

    class Looks(Middleware):
        def before_graph(self, ctx: GraphMiddlewareContext) -> None:
            seen.append(("before", ctx.state.log, ctx.resuming))

        def after_graph(self, ctx: GraphMiddlewareContext) -> None:
            seen.append(("after", ctx.state.log, ctx.resuming))

        def on_run_end(self, ctx: GraphMiddlewareContext, outcome: RunOutcome) -> None:
            seen.append((outcome.status, ctx.state.log, ctx.resuming))

    graph = chain(stop("a"), asker("ask"), middleware=[Looks()])
    graph.invoke({"log": ["input"]}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume("x"))
    paused, done = ["input", "a"], ["input", "a", "ask: 'x'"]
    assert seen == [
        ("before", ["input"], False),
        ("paused", paused, False),
        ("before", paused, True),
        ("after", done, True),
        ("completed", done, True),
    ]


def test_a_completed_run_ends_once() -> None:
    ends = Ends()
    chain(stop("a"), stop("b"), middleware=[ends]).invoke({}, thread_id="t")
    assert ends.outcomes == [RunOutcome("completed")]


def test_a_paused_run_ends_with_its_questions() -> None:
    ends = Ends()
    graph = chain(asker("ask"), middleware=[ends])
    paused = graph.invoke({}, thread_id="t")
    assert ends.outcomes == [RunOutcome("paused", interrupts=paused.interrupts)]


def test_a_run_that_pauses_at_a_breakpoint_ends_without_questions() -> None:
    ends = Ends()
    chain(stop("a"), middleware=[ends], interrupt_before=["a"]).invoke({}, thread_id="t")
    assert ends.outcomes == [RunOutcome("paused")]


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt()])
def test_a_failed_run_ends_with_its_error(error: BaseException) -> None:
    ends = Ends()
    with pytest.raises(type(error)):
        chain(failing("a", error), middleware=[ends]).invoke({}, thread_id="t")
    assert ends.outcomes == [RunOutcome("failed", error=error)]


def test_a_run_over_its_limits_ends_failed() -> None:
    ends = Ends()
    with pytest.raises(RunLimitExceededError):
        chain(stop("a"), stop("b"), middleware=[ends], max_steps=1).invoke({}, thread_id="t")

    @node
    async def forever(state: Trail) -> None:
        await asyncio.Event().wait()

    with pytest.raises(GraphTimeoutError):
        chain(forever, middleware=[ends], timeout=0.01).invoke({}, thread_id="t")
    assert [each.status for each in ends.outcomes] == ["failed", "failed"]


async def _cancelled(graph: Graph, running: asyncio.Event) -> None:
    run = asyncio.create_task(graph.ainvoke({}, thread_id="t"))
    await running.wait()
    run.cancel()
    with suppress(asyncio.CancelledError):
        await run


def test_a_cancelled_run_ends_cancelled_after_its_tasks_did() -> None:
    seen: list[Any] = []

    class Late(Ends):
        async def on_run_end(self, ctx: GraphMiddlewareContext, outcome: RunOutcome) -> None:
            await asyncio.sleep(0)
            seen.append(outcome)

    async def main() -> None:
        running = asyncio.Event()

        @node
        async def waits(state: Trail) -> None:
            running.set()
            try:
                await asyncio.Event().wait()
            finally:
                seen.append("task")

        await _cancelled(chain(waits, middleware=[Late()]), running)

    asyncio.run(main())
    assert seen == ["task", RunOutcome("cancelled")]


def test_a_run_whose_stream_is_closed_ends_cancelled() -> None:
    ends = Ends()
    graph = chain(stop("a"), stop("b"), middleware=[ends])

    async def main() -> None:
        async with aclosing(graph.astream({}, thread_id="t")) as events:
            async for event in events:
                if isinstance(event, TaskStarted):
                    break

    asyncio.run(main())
    assert ends.outcomes == [RunOutcome("cancelled")]


def test_a_stream_closed_at_its_last_event_has_ended_as_the_event_says() -> None:
    ends = Ends()
    graph = chain(stop("a"), middleware=[ends])
    for event in graph.stream({}, thread_id="t"):
        if isinstance(event, RunFinished):
            break
    assert ends.outcomes == [RunOutcome("completed")]


def test_a_refused_call_calls_no_hook() -> None:
    seen: list[str] = []
    graph = chain(asker("ask"), middleware=[watcher("1", seen)])
    graph.invoke({}, thread_id="t")
    seen.clear()
    with pytest.raises(ResumeError):
        graph.invoke({}, thread_id="t")
    assert seen == []


class Refuses(Middleware):
    def before_graph(self, ctx: GraphMiddlewareContext) -> None:
        raise ValueError("not today")


def test_only_middleware_whose_before_graph_ran_sees_the_end() -> None:
    seen: list[str] = []
    first, last = watcher("first", seen), watcher("last", seen)
    graph = chain(stop("a"), middleware=[first, Refuses(), last])
    with pytest.raises(ValueError, match="not today"):
        graph.invoke({}, thread_id="t")
    assert seen == ["before_graph first", "on_run_end first"]


def test_a_before_graph_that_raises_fails_the_run_and_leaves_it_to_be_continued() -> None:
    graph = chain(stop("a"), middleware=[refuses := Refuses()])
    with pytest.raises(ValueError, match="not today"):
        graph.invoke({}, thread_id="t")
    assert types(graph) == ["run_started", "run_failed"]
    graph.middleware = tuple(each for each in graph.middleware if each is not refuses)
    assert graph.invoke(None, thread_id="t").state.log == ["a"]


def test_an_after_graph_that_raises_reaches_the_caller_and_the_run_is_recorded() -> None:
    class Breaks(Ends):
        def after_graph(self, ctx: GraphMiddlewareContext) -> None:
            raise ValueError("after")

    graph = chain(stop("a"), middleware=[ends := Breaks()])
    with pytest.raises(ValueError, match="after"):
        graph.invoke({}, thread_id="t")
    assert types(graph)[-1] == "run_finished"
    assert [each.status for each in ends.outcomes] == ["failed"]


def ending(error: BaseException) -> Middleware:
    """Return middleware whose `on_run_end` raises."""

    def on_run_end(self: Any, ctx: Any, outcome: Any) -> None:
        raise error

    return type("Ending", (Middleware,), {"on_run_end": on_run_end})()


def keep(graph: Graph, seen: list[Any]) -> None:
    """Run a graph and keep what is streamed, also if an error comes after it."""
    for event in graph.stream({}, thread_id="t"):
        seen.append(event)


def test_every_on_run_end_runs_and_what_one_raises_reaches_the_caller() -> None:
    ends = Ends()
    graph = chain(
        stop("a"), middleware=[ends, ending(ValueError("one")), ending(ValueError("two"))]
    )
    with pytest.raises(ValueError, match="two") as caught:
        graph.invoke({}, thread_id="t")
    assert caught.value.__notes__ == ["on_run_end raised ValueError: one"]
    assert ends.outcomes == [RunOutcome("completed")]


def test_what_an_on_run_end_raises_is_a_note_on_the_error_of_a_failed_run() -> None:
    ends = Ends()
    graph = chain(failing("a", OSError("real")), middleware=[ends, ending(ValueError("late"))])
    with pytest.raises(OSError, match="real") as caught:
        graph.invoke({}, thread_id="t")
    assert caught.value.__notes__ == [
        "In node 'a'",
        "on_run_end raised ValueError: late",
    ]
    assert [each.error for each in ends.outcomes] == [caught.value]


def test_a_cancellation_from_an_on_run_end_comes_before_the_runs_error() -> None:
    ends = Ends()
    graph = chain(
        failing("a", OSError("real")), middleware=[ends, ending(asyncio.CancelledError())]
    )
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(graph.ainvoke({}, thread_id="t"))
    assert [each.status for each in ends.outcomes] == ["failed"]


def test_all_events_of_a_run_are_seen_before_what_an_on_run_end_raises() -> None:
    seen: list[Any] = []
    graph = chain(stop("a"), middleware=[ending(ValueError("late"))])
    with pytest.raises(ValueError, match="late"):
        keep(graph, seen)
    assert [event for event in seen if not isinstance(event, TaskStarted)] == history(graph)


def test_a_failed_run_shows_its_error_with_the_notes() -> None:
    graph = chain(failing("a", OSError("real")), middleware=[ending(ValueError("late"))])
    seen: list[Any] = []
    with pytest.raises(OSError, match="real"):
        keep(graph, seen)
    assert isinstance(seen[-1], RunFailed)
    assert seen[-1].exception is not None
    assert seen[-1].exception.__notes__ == [
        "In node 'a'",
        "on_run_end raised ValueError: late",
    ]


def test_a_run_without_a_store_has_its_hooks_too() -> None:
    ends = Ends()
    Graph(Trail, middleware=[ends]).flow(START >> stop("a") >> END).invoke({})
    assert ends.outcomes == [RunOutcome("completed")]
