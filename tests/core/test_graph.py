"""Running a graph: results, supersteps, failures, limits, loops and threads."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from contextlib import aclosing
from typing import Annotated, Any, TypedDict

import pytest
from pydantic import Field

from nbgraph import (
    END,
    START,
    BaseState,
    Command,
    Graph,
    InMemoryStateStore,
    NodeContext,
    Resume,
    Send,
    add,
    node,
)
from nbgraph.core.events import RunFailed, TaskFailed, TaskFinished
from nbgraph.errors import (
    ConcurrentRunError,
    ContextNotProvidedError,
    GraphConfigError,
    GraphExecutionError,
    GraphTimeoutError,
    InvalidUpdateError,
    NodeTimeoutError,
    ResumeError,
    RunLimitExceededError,
    StateStoreError,
    StateUpdateError,
    UnknownThreadError,
)
from tests.core.graphs import Trail, chain, failing, fan, history, stop, types


def test_a_run_returns_the_state_and_where_the_thread_stands() -> None:
    graph = chain(stop("a"), stop("b"))
    result = graph.invoke({"count": 3}, thread_id="t")
    assert result.state == Trail(log=["a", "b"], count=3)
    assert result.data == {"log": ["a", "b"], "count": 3}
    assert (result.status, result.step, result.thread_id) == ("completed", 2, "t")
    assert result.checkpoint_id == history(graph)[-1].id
    assert result.interrupts == {}


def test_a_graph_without_a_store_runs_and_records_nothing() -> None:
    graph = Graph(Trail).flow(START >> stop("a") >> END)
    result = graph.invoke({})
    assert result.state.log == ["a"]
    assert result.checkpoint_id is None


def test_ainvoke_and_invoke_record_the_same_events() -> None:
    one, two = chain(stop("a"), stop("b")), chain(stop("a"), stop("b"))
    one.invoke({}, thread_id="t")
    asyncio.run(two.ainvoke({}, thread_id="t"))
    assert types(one) == types(two)


def test_a_superstep_of_one_task_is_one_commit() -> None:
    commits: list[int] = []

    class Counting(InMemoryStateStore):
        async def append(self, *args: Any, **options: Any) -> int:
            commits.append(len(args[2]))
            return await super().append(*args, **options)

    chain(stop("a"), stop("b"), state_store=Counting()).invoke({}, thread_id="t")
    assert commits == [1, 2, 3]


def test_updates_apply_in_task_order_whoever_ends_first() -> None:
    first_ended = asyncio.Event()

    @node
    async def slow(state: Trail) -> dict[str, Any]:
        await first_ended.wait()
        return {"log": ["slow"]}

    @node
    async def quick(state: Trail) -> dict[str, Any]:
        first_ended.set()
        return {"log": ["quick"]}

    result = asyncio.run(fan(slow, quick).ainvoke({}, thread_id="t"))
    assert result.state.log == ["slow", "quick"]


def test_two_tasks_that_write_one_plain_field_are_named_and_nothing_is_merged() -> None:
    one = node(name="one")(lambda state: {"count": 1, "log": ["one"]})
    two = node(name="two")(lambda state: {"count": 2})
    graph = fan(one, two)
    with pytest.raises(InvalidUpdateError, match="'count' was written by 'one', 'two'") as caught:
        graph.invoke({}, thread_id="t")
    assert (caught.value.field, caught.value.nodes) == ("count", ("one", "two"))
    assert graph.sync.load("t") == {"log": [], "count": 0}


def test_several_sends_of_one_node_may_write_one_field_and_the_last_stands() -> None:
    work = node(name="work")(lambda state: {"log": [str(state.count)], "count": state.count})

    @node(goto=[work])
    def spread(state: Trail) -> Command:
        return Command(goto=[Send(work, {"count": n}) for n in (7, 8, 9)])

    graph = Graph(Trail, state_store=InMemoryStateStore()).flow(START >> spread, work >> END)
    result = graph.invoke({}, thread_id="t")
    assert result.state == Trail(log=["7", "8", "9"], count=9)
    ids = [event.task_id for event in history(graph) if isinstance(event, TaskFinished)]
    assert sorted(ids) == ["spread", "work", "work[1]", "work[2]"]


def test_a_send_lays_its_payload_over_the_state_for_its_task_alone() -> None:
    seen: list[Any] = []

    @node
    def work(state: Trail) -> None:
        seen.append((state.count, state.log))

    @node(goto=[work])
    def spread(state: Trail) -> Command:
        return Command(update={"count": 1}, goto=[Send(work, {"log": ["own"]}), work])

    graph = Graph(Trail).flow(START >> spread, work >> END)
    result = graph.invoke({})
    assert sorted(seen) == [(1, []), (1, ["own"])]
    assert result.state == Trail(count=1)


def test_a_command_replaces_the_edges_and_an_empty_goto_leads_nowhere() -> None:
    end = stop("end")

    @node(goto=[end])
    def choose(state: Trail) -> Command:
        return Command(update={"log": ["choose"]}, goto=[] if state.count else None)

    graph = Graph(Trail).flow(START >> choose >> end >> END)
    assert graph.invoke({"count": 1}).state.log == ["choose"]
    assert graph.invoke({"count": 0}).state.log == ["choose", "end"]


def test_a_node_that_leads_where_it_does_not_declare_fails_and_is_named() -> None:
    other, hidden = stop("other"), stop("hidden")

    @node(goto=[other])
    def choose(state: Trail) -> Command:
        return Command(goto=hidden)

    graph = Graph(Trail).flow(START >> choose, other >> END)
    with pytest.raises(GraphExecutionError, match="'choose' leads to <node 'hidden'>"):
        graph.invoke({})


def test_another_node_of_a_declared_name_is_not_that_node() -> None:
    other, twin = stop("other"), stop("other")

    @node(goto=[other])
    def choose(state: Trail) -> Command:
        return Command(goto=twin)

    graph = Graph(Trail).flow(START >> choose, other >> END)
    with pytest.raises(GraphExecutionError, match="does not declare"):
        graph.invoke({})


def test_a_node_may_end_a_turn_by_returning_end() -> None:
    @node(goto=[END])
    def choose(state: Trail) -> Any:
        return END

    graph = Graph(Trail).flow(START >> choose >> stop("never") >> END)
    assert graph.invoke({}).state.log == []


def test_a_node_may_change_the_state_in_place_and_return_it() -> None:
    @node
    def work(state: Trail) -> Trail:
        state.log.append("work")
        state.count += 1
        return state

    graph = chain(stop("a"), work)
    assert graph.invoke({}, thread_id="t").state == Trail(log=["a", "work"], count=1)
    update = next(e.update for e in history(graph) if getattr(e, "task_id", "") == "work")
    assert update == {"log": ["work"], "count": 1}


def test_a_node_that_changes_the_state_and_returns_something_else_fails() -> None:
    @node
    def work(state: Trail) -> dict[str, Any]:
        state.log.append("lost")
        return {"count": 1}

    with pytest.raises(GraphExecutionError, match="changed 'log' in place"):
        Graph(Trail).flow(START >> work >> END).invoke({})


def test_what_a_node_does_to_its_state_is_seen_by_no_other_task() -> None:
    seen: list[Any] = []

    @node
    def vandal(state: Trail) -> Trail:
        state.log.append("vandal")
        return state

    watcher = node(name="watcher")(lambda state: seen.append(list(state.log)))
    asyncio.run(fan(vandal, watcher).ainvoke({"log": ["in"]}, thread_id="t"))
    assert seen == [["in"]]


def test_a_typed_dict_is_a_state() -> None:
    class Sum(TypedDict, total=False):
        items: Annotated[list[int], add]
        total: int

    @node
    def total(state: Sum) -> Sum:
        return {"total": sum(state["items"])}

    graph = Graph(Sum).flow(START >> total >> END)
    assert graph.invoke({"items": [1, 2]}).state == {"items": [1, 2], "total": 3}


def test_a_dict_is_a_state_with_any_key() -> None:
    work = node(name="work")(lambda state: {"twice": state["once"] * 2})
    assert Graph(dict).flow(START >> work >> END).invoke({"once": 2}).state["twice"] == 4


@pytest.mark.parametrize("returned", [5, "text", [1], object()])
def test_what_no_node_may_return_is_a_type_error_that_says_what_may(returned: Any) -> None:
    work = node(name="work")(lambda state: returned)
    with pytest.raises(TypeError, match="return a dict of fields"):
        Graph(Trail).flow(START >> work >> END).invoke({})


def test_a_failed_node_is_recorded_and_raised_as_it_was() -> None:
    error = LookupError("no such customer")
    graph = chain(stop("a"), failing("b", error))
    with pytest.raises(LookupError) as caught:
        graph.invoke({}, thread_id="t")
    assert caught.value is error
    *_, task, run = history(graph)
    assert isinstance(task, TaskFailed)
    assert isinstance(run, RunFailed)
    assert (task.error.type, task.error.message) == ("LookupError", "no such customer")
    assert "LookupError" in task.error.traceback
    assert graph.sync.position("t").status == "failed"


def test_after_a_failure_only_the_unfinished_tasks_run_again() -> None:
    graph = fan(stop("a"), failing("b", ValueError("once")))
    with pytest.raises(ValueError, match="once"):
        graph.invoke({}, thread_id="t")
    runs_of_a = types(graph).count("task_finished")
    result = graph.invoke(None, thread_id="t")
    assert result.state.log == ["a", "b"]
    assert runs_of_a <= 1
    assert types(graph).count("task_finished") == 2


def test_a_failure_cancels_the_tasks_beside_it() -> None:
    cancelled: list[str] = []

    @node
    async def waits(state: Trail) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append("waits")

    with pytest.raises(ValueError, match="now"):
        asyncio.run(fan(waits, failing("b", ValueError("now"))).ainvoke({}, thread_id="t"))
    assert cancelled == ["waits"]


def test_new_input_on_a_failed_thread_starts_a_turn() -> None:
    graph = chain(stop("a"), failing("b", ValueError("once")))
    with pytest.raises(ValueError, match="once"):
        graph.invoke({}, thread_id="t")
    assert graph.invoke({}, thread_id="t").state.log == ["a", "a", "b"]


def test_a_failed_router_leaves_the_superstep_merged_and_is_asked_again_after_an_edit() -> None:
    from nbgraph import branch

    first, second = stop("first"), stop("second")
    graph = Graph(Trail, state_store=InMemoryStateStore()).flow(
        START >> first, first >> branch(lambda state: state.count, {1: second}), second >> END
    )
    with pytest.raises(GraphExecutionError, match="returned 0; it knows 1"):
        graph.invoke({}, thread_id="t")
    assert graph.sync.load("t")["log"] == ["first"]
    graph.sync.update_state("t", {"count": 1})
    assert graph.invoke(None, thread_id="t").state.log == ["first", "second"]


def test_max_steps_ends_the_call_and_the_thread_can_be_continued() -> None:
    graph = chain(stop("a"), stop("b"), stop("c"), max_steps=2)
    with pytest.raises(RunLimitExceededError, match="max_steps=2"):
        graph.invoke({}, thread_id="t")
    assert graph.sync.load("t")["log"] == ["a", "b"]
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b", "c"]


def test_max_steps_is_enough_for_a_run_of_that_length() -> None:
    assert chain(stop("a"), stop("b"), max_steps=2).invoke({}, thread_id="t").step == 2


def test_a_node_that_takes_too_long_fails_by_name() -> None:
    @node(timeout=0.01)
    async def sleepy(state: Trail) -> None:
        await asyncio.Event().wait()

    graph = chain(sleepy)
    with pytest.raises(NodeTimeoutError) as caught:
        graph.invoke({}, thread_id="t")
    assert (caught.value.node_name, caught.value.timeout) == ("sleepy", 0.01)
    assert types(graph)[-2:] == ["task_failed", "run_failed"]


def test_a_sync_node_that_takes_too_long_fails_and_its_late_result_is_dropped() -> None:
    release = threading.Event()

    def sleepy(state: Trail) -> dict[str, Any]:
        release.wait()
        return {"log": ["late"]}

    graph = chain(node(timeout=0.01)(sleepy))
    with pytest.raises(NodeTimeoutError):
        graph.invoke({}, thread_id="t")
    before = history(graph)
    release.set()
    unhurried = chain(node(sleepy), state_store=graph.state_store)
    assert unhurried.invoke(None, thread_id="t").state.log == ["late"]
    assert history(graph)[: len(before)] == before


def test_a_timeout_that_a_node_raises_itself_is_its_own_error() -> None:
    @node(timeout=60)
    async def impatient(state: Trail) -> None:
        raise TimeoutError("the server is slow")

    with pytest.raises(TimeoutError, match="the server is slow"):
        chain(impatient).invoke({}, thread_id="t")


def test_supersteps_that_take_too_long_together_end_the_run() -> None:
    @node
    async def sleepy(state: Trail) -> None:
        loop, real = asyncio.get_running_loop(), asyncio.get_running_loop().time
        loop.time = lambda: real() + 7200  # type: ignore[method-assign] - this loop's own clock
        await asyncio.Event().wait()

    graph = chain(stop("a"), sleepy, timeout=3600)
    with pytest.raises(GraphTimeoutError) as caught:
        asyncio.run(graph.ainvoke({}, thread_id="t"))
    assert caught.value.timeout == 3600
    assert graph.sync.load("t")["log"] == ["a"]
    assert graph.sync.position("t").next == ("sleepy",)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("is_async", [True, False])
def test_a_base_exception_of_a_node_is_recorded_and_raised_at_the_caller_only(
    kind: type[BaseException], is_async: bool
) -> None:
    def run(state: Trail) -> None:
        raise kind("out")

    async def arun(state: Trail) -> None:
        raise kind("out")

    graph = chain(node(name="bad")(arun if is_async else run))
    with pytest.raises(kind):
        graph.invoke({}, thread_id="t")
    assert types(graph) == ["run_started", "task_failed", "run_failed"]
    assert chain(stop("a")).invoke({}, thread_id="t").status == "completed"


@pytest.mark.parametrize("is_async", [True, False])
def test_a_stop_iteration_of_a_node_is_recorded_and_raised_as_a_runtime_error(
    is_async: bool,
) -> None:
    def run(state: Trail) -> None:
        raise StopIteration(7)

    async def arun(state: Trail) -> None:
        raise StopIteration(7)

    graph = chain(node(name="bad")(arun if is_async else run))
    with pytest.raises(RuntimeError, match="StopIteration"):
        graph.invoke({}, thread_id="t")
    assert types(graph)[-1] == "run_failed"


@pytest.mark.parametrize("is_async", [True, False])
def test_a_cancelled_error_of_a_node_is_a_failure_and_cancels_nobody_else(is_async: bool) -> None:
    def run(state: Trail) -> None:
        raise asyncio.CancelledError

    async def arun(state: Trail) -> None:
        raise asyncio.CancelledError

    graph = chain(node(name="bad")(arun if is_async else run))
    with pytest.raises(GraphExecutionError, match="'bad' raised CancelledError"):
        graph.invoke({}, thread_id="t")
    assert types(graph) == ["run_started", "task_failed", "run_failed"]


def test_an_error_that_cannot_be_printed_is_recorded_all_the_same() -> None:
    class Rude(Exception):
        def __str__(self) -> str:
            raise ValueError("no")

    graph = chain(failing("bad", Rude()))
    with pytest.raises(Rude):
        graph.invoke({}, thread_id="t")
    assert history(graph)[-1].error.message == "<no message: its __str__ raised ValueError>"


def test_cancelling_ainvoke_cancels_its_nodes_and_leaves_a_thread_that_goes_on() -> None:
    async def scenario() -> Any:
        begun, ended, blocked = asyncio.Event(), asyncio.Event(), [True]

        @node
        async def waits(state: Trail) -> dict[str, Any]:
            begun.set()
            try:
                if blocked:
                    await asyncio.Event().wait()
            finally:
                ended.set()
            return {"log": ["waits"]}

        graph = chain(stop("a"), waits)
        task = asyncio.create_task(graph.ainvoke({}, thread_id="t"))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended.is_set()
        position = await graph.position("t")
        assert (position.status, position.next) == ("stopped", ("waits",))
        blocked.clear()
        return await graph.ainvoke(None, thread_id="t")

    assert asyncio.run(scenario()).state.log == ["a", "waits"]


def test_closing_an_async_stream_in_lockstep_ends_the_run_where_it_is() -> None:
    async def scenario() -> None:
        graph = chain(stop("a"), stop("b"))
        async with aclosing(graph.astream({}, thread_id="t", lockstep=True)) as happening:
            async for event in happening:
                if getattr(event, "type", "") == "task_finished":
                    break
        position = await graph.position("t")
        assert (position.status, position.next) == ("stopped", ("b",))
        assert (await graph.ainvoke(None, thread_id="t")).state.log == ["a", "b"]

    asyncio.run(scenario())


def test_leaving_a_sync_stream_in_lockstep_ends_the_run_where_it_is() -> None:
    graph = chain(stop("a"), stop("b"))
    for event in graph.stream({}, thread_id="t", lockstep=True):
        if getattr(event, "type", "") == "task_finished":
            break
    assert graph.sync.position("t").next == ("b",)
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b"]


def test_stream_yields_what_is_recorded_in_order_and_raises_after_the_failure() -> None:
    graph = chain(stop("a"), failing("b", ValueError("no")))
    seen: list[Any] = []
    with pytest.raises(ValueError, match="no"):
        seen.extend(graph.stream({}, thread_id="t"))
    assert [event.id for event in seen if hasattr(event, "id")] == [e.id for e in history(graph)]


def test_what_a_node_emits_is_streamed_and_not_stored() -> None:
    @node
    def talks(state: Trail, ctx: NodeContext) -> None:
        ctx.emit({"half": "done"})

    graph = chain(talks)
    said = [event.data for event in graph.stream({}, thread_id="t") if hasattr(event, "data")]
    assert said == [{"half": "done"}]
    assert "half" not in str(history(graph))


def test_invoke_works_inside_a_running_loop() -> None:
    async def cell() -> Any:
        return chain(stop("a")).invoke({}, thread_id="t")

    assert asyncio.run(cell()).status == "completed"


def test_stream_works_inside_a_running_loop() -> None:
    async def cell() -> list[Any]:
        return list(chain(stop("a")).stream({}, thread_id="t"))

    assert asyncio.run(cell())


def test_a_sync_node_may_invoke_another_graph() -> None:
    inner = Graph(Trail).flow(START >> stop("inner") >> END)
    outer = node(name="outer")(lambda state: {"log": inner.invoke({}).state.log})
    assert chain(outer).invoke({}, thread_id="t").state.log == ["inner"]


def test_many_sync_nodes_may_each_invoke_a_graph_of_sync_nodes() -> None:
    inner = Graph(Trail).flow(START >> stop("inner") >> END)

    def run(state: Trail) -> dict[str, Any]:
        return {"log": inner.invoke({}).state.log}

    nodes = [node(name=f"outer{n}")(run) for n in range(80)]
    assert fan(*nodes).invoke({}, thread_id="t").state.log == ["inner"] * 80


def test_an_async_node_that_invokes_is_told_to_await() -> None:
    inner = Graph(Trail).flow(START >> stop("inner") >> END)

    @node
    async def outer(state: Trail) -> None:
        inner.invoke({})

    with pytest.raises(RuntimeError, match="await the async method"):
        chain(outer).invoke({}, thread_id="t")


def test_an_async_node_that_streams_is_told_to_await() -> None:
    inner = Graph(Trail).flow(START >> stop("inner") >> END)

    @node
    async def outer(state: Trail) -> None:
        list(inner.stream({}))

    with pytest.raises(RuntimeError, match="await the async method"):
        chain(outer).invoke({}, thread_id="t")


def test_sync_and_async_nodes_see_the_callers_context_variables() -> None:
    user: contextvars.ContextVar[str] = contextvars.ContextVar("user")
    user.set("ada")
    reads = node(name="reads")(lambda state: {"log": [user.get()]})

    @node
    async def areads(state: Trail) -> dict[str, Any]:
        return {"log": [user.get()]}

    assert chain(reads, areads).invoke({}, thread_id="t").state.log == ["ada", "ada"]


def test_sync_nodes_run_side_by_side() -> None:
    both = threading.Barrier(2, timeout=60)

    def meets(state: Trail) -> dict[str, Any]:
        both.wait()
        return {"log": ["met"]}

    graph = fan(node(name="a")(meets), node(name="b")(meets))
    assert graph.invoke({}, thread_id="t").state.log == ["met", "met"]


def test_a_context_reaches_nodes_and_is_never_stored() -> None:
    @node
    def reads(state: Trail, ctx: NodeContext) -> dict[str, Any]:
        return {"log": [ctx.context["name"]]}

    graph = chain(reads)
    context = {"name": "ada", "password": "tell-nobody"}
    assert graph.invoke({}, thread_id="t", context=context).state.log == ["ada"]
    assert "tell-nobody" not in repr(history(graph))
    assert "tell-nobody" not in str(vars(graph.state_store))


def test_a_context_that_was_not_passed_is_missed_by_name() -> None:
    @node
    def reads(state: Trail, ctx: NodeContext) -> None:
        ctx.context  # noqa: B018

    with pytest.raises(ContextNotProvidedError, match=r"'reads' reads ctx\.context"):
        chain(reads).invoke({}, thread_id="t")


def test_none_is_a_context() -> None:
    @node
    def reads(state: Trail, ctx: NodeContext) -> dict[str, Any]:
        return {"log": [repr(ctx.context)]}

    assert chain(reads).invoke({}, thread_id="t", context=None).state.log == ["None"]


def test_the_context_says_where_a_task_runs() -> None:
    seen: list[NodeContext] = []

    @node(name="here")
    def looks(state: Trail, *, where: NodeContext) -> None:
        seen.append(where)

    chain(stop("a"), looks, name="desk").invoke({}, thread_id="t")
    [ctx] = seen
    assert (ctx.graph_name, ctx.node, ctx.task_id, ctx.step) == ("desk", "here", "here", 1)
    assert (ctx.thread_id, ctx.branch_id) == ("t", "main")


def test_a_run_that_another_run_overtakes_is_refused_and_records_nothing_more() -> None:
    async def scenario() -> None:
        begun, go_on = asyncio.Event(), asyncio.Event()

        @node
        async def waits(state: Trail) -> dict[str, Any]:
            begun.set()
            await go_on.wait()
            return {"log": ["waits"]}

        graph = chain(waits)
        slow = asyncio.create_task(graph.ainvoke({}, thread_id="t"))
        await begun.wait()
        await graph.update_state("t", {"count": 5})
        before = await graph.history("t")
        go_on.set()
        with pytest.raises(ConcurrentRunError, match="another run or person wrote"):
            await slow
        assert await graph.history("t") == before

    asyncio.run(scenario())


def test_a_thread_that_is_run_twice_by_one_handle_is_refused_the_second_time() -> None:
    from nbgraph.core.requests import Start

    async def scenario() -> None:
        thread = chain(stop("a")).thread("t")
        async with aclosing(thread.send(Start({}))) as first:
            await anext(first)
            with pytest.raises(ResumeError, match="is running"):
                await anext(thread.send(Start({})))

    asyncio.run(scenario())


# --- refused calls -------------------------------------------------------------------------


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"thread_id": "t", "initial_state": None}, ResumeError, "has finished"),
    ({"thread_id": "t", "initial_state": {"nope": 1}}, StateUpdateError, "names the field 'nope'"),
    ({"thread_id": "t", "initial_state": {"count": "x"}}, StateUpdateError, "field 'count'"),
    ({"thread_id": "t", "initial_state": {"log": "x"}}, StateUpdateError, "field 'log'"),
    ({"thread_id": "t", "initial_state": [1]}, StateUpdateError, "must be a dict of fields"),
    ({"initial_state": {}}, GraphConfigError, "needs a thread_id"),
    ({"thread_id": "t", "resume": "yes"}, TypeError, "resume takes a Resume"),
    ({"thread_id": "t", "initial_state": {}, "branch_id": "b"}, UnknownThreadError, "branch 'b'"),
    (
        {"thread_id": "t", "initial_state": {}, "interrupt_before": ["x"]},
        ResumeError,
        "no node 'x'",
    ),
    (
        {"thread_id": "t", "initial_state": {"nope": 1}, "interrupt_after": ["a"]},
        StateUpdateError,
        "nope",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_a_refused_call_leaves_the_thread_as_it_was(
    call: dict[str, Any], error: type[Exception], message: str
) -> None:
    graph = chain(stop("a"))
    graph.invoke({}, thread_id="t")
    before = history(graph)
    with pytest.raises(error, match=message):
        graph.invoke(**call)
    assert history(graph) == before


@pytest.mark.parametrize("given", [{"nope": 1}, {"count": "x"}])
def test_a_refused_first_call_makes_no_thread(given: dict[str, Any]) -> None:
    graph = chain(stop("a"))
    with pytest.raises(StateUpdateError):
        graph.invoke(given, thread_id="t", interrupt_before=["a"])
    assert not graph.sync.exists("t")


def test_a_call_that_continues_a_new_thread_is_refused() -> None:
    graph = chain(stop("a"))
    for resume in (None, Resume(1)):
        with pytest.raises(UnknownThreadError, match="'t' is not in the state store"):
            graph.invoke(None, thread_id="t", resume=resume)
        with pytest.raises(UnknownThreadError, match="'t' is not in the state store"):
            list(graph.stream(None, thread_id="t", resume=resume))
    assert not graph.sync.exists("t")


@pytest.mark.parametrize(
    "options", [{"initial_state": None}, {"initial_state": {}, "branch_id": "b"}]
)
def test_without_a_store_a_call_takes_an_input_on_main(options: dict[str, Any]) -> None:
    graph = Graph(Trail).flow(START >> stop("a") >> END)
    with pytest.raises(GraphConfigError, match="pass state_store="):
        graph.invoke(**options)


def test_a_missing_required_field_is_named() -> None:
    class Needs(BaseState):
        who: str
        what: str = "tea"

    graph = Graph(Needs).flow(START >> node(name="n")(lambda state: None) >> END)
    with pytest.raises(StateUpdateError, match="for 'who'"):
        graph.invoke({})


def test_a_node_whose_update_cannot_be_kept_fails_with_the_path() -> None:
    class Loose(BaseState):
        value: Any = None

    bad = node(name="bad")(lambda state: {"value": {"deep": [1, {2, 3}]}})
    with pytest.raises(StateStoreError, match="/deep/1"):
        Graph(Loose).flow(START >> bad >> END).invoke({})


@pytest.mark.parametrize(
    ("options", "message"),
    [({"name": " "}, "name"), ({"max_steps": 0}, "max_steps"), ({"timeout": 0}, "timeout")],
)
def test_a_bad_option_of_a_graph_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphConfigError, match=message):
        Graph(Trail, **options)


def test_a_graph_that_lost_a_node_names_it_when_a_thread_waits_there() -> None:
    store = InMemoryStateStore()
    old = chain(stop("a"), stop("b"), state_store=store, interrupt_before=["b"])
    old.invoke({}, thread_id="t")
    young = chain(stop("a"), state_store=store)
    before = history(young)
    with pytest.raises(ResumeError, match="waits in 'b'"):
        young.invoke(None, thread_id="t")
    assert history(young) == before


def test_fields_with_defaults_may_be_added_to_a_stored_thread() -> None:
    store = InMemoryStateStore()
    chain(stop("a"), state_store=store).invoke({}, thread_id="t")

    class Longer(Trail):
        fresh: list[int] = Field(default_factory=lambda: [1])

    show = node(name="a")(lambda state: {"log": [str(state.fresh)]})
    graph = Graph(Longer, state_store=store).flow(START >> show >> END)
    assert graph.invoke({}, thread_id="t").state.log == ["a", "[1]"]
