"""What careless and hostile nodes do: each is told what is wrong, and the thread stays usable."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from nbgraph import (
    END,
    START,
    Graph,
    InMemoryStateStore,
    Middleware,
    Node,
    NodeContext,
    Resume,
    Send,
    branch,
    interrupt,
    node,
    when,
)
from nbgraph.errors import GraphConfigError, GraphExecutionError
from tests.core.graphs import Trail, chain, history, stop


def named(function: Any, name: str = "a", **options: Any) -> Node:
    """Return a node of a function under a name."""
    return node(name=name, **options)(function)


def answered(graph: Graph, *answers: Any) -> Any:
    """Run a graph and answer what it asks, one after the other; return the last result."""
    result = graph.invoke({}, thread_id="t")
    for answer in answers:
        assert len(result.interrupts) == 1
        result = graph.invoke(resume=Resume(answer), thread_id="t")
    return result


# --- what may be a node ---------------------------------------------------------------------------


def add_to(more: int, state: Trail) -> dict[str, Any]:
    """Add something."""
    return {"count": state.count + more}


async def add_later(more: int, state: Trail) -> dict[str, Any]:
    await asyncio.sleep(0)
    return {"count": state.count + more}


class Adds:
    """Adds what it was made with."""

    def __init__(self, more: int) -> None:
        self.more = more

    def __call__(self, state: Trail, ctx: NodeContext) -> dict[str, Any]:
        assert ctx.node == "a"
        return {"count": state.count + self.more}


class AddsLater(Adds):
    """Adds it on the loop."""

    async def __call__(self, state: Trail, *, ctx: NodeContext) -> dict[str, Any]:  # pyright: ignore[reportIncompatibleMethodOverride]
        await asyncio.sleep(0)
        return super().__call__(state, ctx)


@pytest.mark.parametrize(
    "callable_",
    [functools.partial(add_to, 3), functools.partial(add_later, 3), Adds(3), AddsLater(3)],
    ids=["partial", "async partial", "object", "async object"],
)
def test_a_partial_or_an_object_that_can_be_called_is_a_node(callable_: Any) -> None:
    assert chain(named(callable_)).invoke({"count": 1}, thread_id="t").state.count == 4


def test_it_is_described_by_what_it_calls() -> None:
    assert named(functools.partial(add_to, 3)).description == "Add something."
    assert named(Adds(3)).description == "Adds what it was made with."


@pytest.mark.parametrize("callable_", [functools.partial(add_to, 3), Adds(3)])
def test_it_needs_a_name(callable_: Any) -> None:
    with pytest.raises(TypeError, match=r"has no name of its own; pass node\(name="):
        node(callable_)


@pytest.mark.parametrize("wrong", [Adds, int, 3, "a", None.__class__])
def test_a_class_and_a_value_are_no_nodes(wrong: Any) -> None:
    with pytest.raises(TypeError, match="function or an object that can be called"):
        named(wrong)


def test_a_function_that_yields_is_refused_where_the_node_is_made() -> None:
    def some(state: Trail) -> Any:
        yield {"count": 1}

    async def later(state: Trail) -> Any:
        yield {"count": 1}

    for wrong in (some, later, functools.partial(later)):
        with pytest.raises(TypeError, match=r"yields, and a node returns.*ctx\.emit"):
            named(wrong)


def test_a_sync_wrapper_of_an_async_node_is_told_to_be_async() -> None:
    async def wrapped(state: Trail) -> dict[str, Any]:
        return {"count": 1}

    wrapper = named(lambda state: wrapped(state))
    with pytest.raises(TypeError, match=r"a coroutine that nobody awaits.*`async def`"):
        chain(wrapper).invoke({}, thread_id="t")


def test_several_sends_are_told_to_stand_in_a_command() -> None:
    work = stop("work")
    lead = named(lambda state: [Send(work), Send(work)], "lead", goto=[work])
    graph = Graph(Trail).flow(START >> lead, work >> END)
    with pytest.raises(TypeError, match=r"several of Send; return Command\(goto="):
        graph.invoke({})


def test_one_name_is_a_list_of_one() -> None:
    lead = named(lambda state: None, "lead", goto="work")
    graph = Graph(Trail).flow(START >> lead >> END, stop("work") >> END)
    assert graph.invoke({}).state == Trail()


# --- where a node asks ----------------------------------------------------------------------------


def swallowing(how: str) -> Any:
    def ask(state: Trail) -> Any:
        if how == "suppress":
            with contextlib.suppress(BaseException):
                interrupt("Pay?", id="pay")
        elif how == "bare":
            try:
                interrupt("Pay?", id="pay")
            except:  # noqa: E722 - what is tested
                return {"log": ["paid"]}
        else:
            try:
                interrupt("Pay?", id="pay")
            finally:
                return {"log": ["paid"]}  # noqa: B012 - what is tested
        return {"log": ["paid"]}

    async def ask_async(state: Trail) -> Any:
        return ask(state)

    async def gathers(state: Trail) -> Any:
        asked = [asyncio.to_thread(interrupt, "Pay?", id=id) for id in ("pay", "tip")]
        await asyncio.gather(*asked, return_exceptions=True)
        return {"log": ["paid"]}

    return {"async": ask_async, "gather": gathers}.get(how, ask)


@pytest.mark.parametrize("how", ["suppress", "bare", "finally", "async", "gather"])
def test_a_node_that_catches_its_pause_and_goes_on_fails_and_writes_nothing(how: str) -> None:
    graph = chain(named(swallowing(how)), stop("next"))
    with pytest.raises(GraphExecutionError, match=r"asked 'a:pay'.* and went on without an answer"):
        graph.invoke({}, thread_id="t")
    assert graph.sync.load("t") == {"log": [], "count": 0}
    assert graph.sync.position("t").status == "failed"


def test_a_pause_may_be_caught_to_tidy_up_and_raised_again() -> None:
    tidied: list[str] = []

    @node
    def ask(state: Trail) -> dict[str, Any]:
        try:
            return {"log": [interrupt("Pay?", id="pay")]}
        except BaseException:
            tidied.append("up")
            raise

    assert answered(chain(ask), "yes").state.log == ["yes"]
    assert tidied == ["up"]


def test_questions_in_except_and_finally_are_all_asked() -> None:
    @node
    def ask(state: Trail) -> dict[str, Any]:
        try:
            raise ValueError
        except ValueError:
            first = interrupt("in except", id="e")
        finally:
            last = interrupt("in finally", id="f")
        return {"log": [first, last]}

    assert answered(chain(ask), "finally", "except").state.log == ["except", "finally"]


@pytest.mark.parametrize("group", [True, False], ids=["task group", "gather"])
def test_questions_of_tasks_that_a_node_starts_are_asked(group: bool) -> None:
    async def one(name: str) -> str:
        return str(interrupt(f"{name}?", id=name))

    @node
    async def ask(state: Trail) -> dict[str, Any]:
        if not group:
            return {"log": list(await asyncio.gather(one("x"), one("y")))}
        async with asyncio.TaskGroup() as tasks:
            begun = [tasks.create_task(one(name)) for name in "xy"]
        return {"log": [each.result() for each in begun]}

    graph = chain(ask)
    asked = graph.invoke({}, thread_id="t").interrupts
    assert list(asked) == (["ask:x", "ask:y"] if group else ["ask:x"])
    done = graph.invoke(resume=Resume(answers=dict.fromkeys(asked, 1)), thread_id="t")
    if not group:
        done = graph.invoke(resume=Resume(1), thread_id="t")
    assert done.state.log == ["1", "1"]


def test_a_thread_asks_only_with_its_nodes_context() -> None:
    @node
    async def ask(state: Trail) -> dict[str, Any]:
        return {"log": [await asyncio.to_thread(interrupt, "?", id="q")]}

    assert answered(chain(ask), "yes").state.log == ["yes"]

    @node
    def asks_in_a_pool(state: Trail) -> dict[str, Any]:
        with ThreadPoolExecutor(1) as pool:
            return {"log": [pool.submit(interrupt, "?", id="q").result()]}

    with pytest.raises(RuntimeError, match=r"asyncio\.to_thread has it"):
        chain(asks_in_a_pool).invoke({}, thread_id="t")


def test_nobody_asks_where_a_way_is_chosen_or_values_are_merged() -> None:
    graph = chain(stop("a"), break_when=lambda state: interrupt("?", id="q"))
    with pytest.raises(RuntimeError, match="not in its flow's functions"):
        graph.invoke({}, thread_id="t")


@pytest.mark.parametrize("hook", ["before_node", "after_node", "on_error"])
@pytest.mark.parametrize("is_async", [True, False])
def test_a_hook_around_a_node_may_ask_too(hook: str, is_async: bool) -> None:
    said: list[Any] = []

    def asks(self: Any, ctx: Any, *error: Any) -> Any:
        said.append(interrupt(f"in {hook}", id="hook"))
        return {"log": ["instead"]} if error else None

    async def asks_async(self: Any, ctx: Any, *error: Any) -> Any:
        return asks(self, ctx, *error)

    @node
    def run(state: Trail) -> dict[str, Any]:
        if hook == "on_error":
            raise ValueError
        return {"log": [interrupt("in the node", id="node")]}

    asker = type("Asker", (Middleware,), {hook: asks_async if is_async else asks})()
    graph = chain(run, middleware=[asker])
    result = graph.invoke({}, thread_id="t")
    keys = list(result.interrupts)
    while result.interrupts:
        result = graph.invoke(resume=Resume(keys[-1]), thread_id="t")
        keys += result.interrupts
    assert sorted(keys) == sorted(["run:hook", *(["run:node"] if hook != "on_error" else [])])
    assert set(said) == {"run:hook"}
    assert result.state.log == (["instead"] if hook == "on_error" else ["run:node"])


# --- what a node keeps and breaks -----------------------------------------------------------------


class Odd(BaseException):
    """No `Exception`."""


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize(
    "error",
    [
        Odd("x"),
        KeyboardInterrupt(),
        SystemExit(3),
        GeneratorExit(),
        MemoryError(),
        RecursionError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_a_node_raises_is_recorded_and_the_thread_goes_on(
    error: BaseException, is_async: bool
) -> None:
    errors = [error]

    def run(state: Trail) -> dict[str, Any]:
        if errors:
            raise errors.pop()
        return {"log": ["a"]}

    async def arun(state: Trail) -> dict[str, Any]:
        return run(state)

    graph = chain(named(arun if is_async else run))
    with pytest.raises(type(error)):
        graph.invoke({}, thread_id="t")
    failed = next(event for event in history(graph) if event.type == "task_failed")
    assert failed.error.type == type(error).__name__
    assert graph.invoke(None, thread_id="t").state.log == ["a"]


@pytest.mark.parametrize("where", ["router", "predicate"])
@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), Odd("x")], ids=repr)
def test_what_ends_a_process_in_the_flow_reaches_the_caller_and_no_other_run(
    where: str, error: BaseException
) -> None:
    errors = [error]

    def chosen(state: Any) -> bool:
        if errors:
            raise errors.pop()
        return False

    a = stop("a")
    graph = Graph(Trail, state_store=InMemoryStateStore())
    graph.flow(START >> a, a >> (when(chosen, a) if where == "router" else END))
    options: Any = {} if where == "router" else {"break_when": chosen}
    with pytest.raises(type(error)):
        graph.invoke({}, thread_id="t", **options)
    assert chain(stop("b")).invoke({}, thread_id="t").state.log == ["b"]
    given = None if graph.sync.exists("t") else {}
    assert graph.invoke(given, thread_id="t").state.log == ["a"]


def test_a_context_that_outlives_its_run_says_so() -> None:
    kept: list[NodeContext] = []

    @node
    def keeps(state: Trail, ctx: NodeContext) -> None:
        kept.append(ctx)

    chain(keeps).invoke({}, thread_id="t")
    kept[0].emit("nobody hears it")
    with pytest.raises(RuntimeError, match="The run of task 'keeps' is over"):
        kept[0].once("late", lambda: 1)


def test_a_graph_runs_in_a_node_of_another_by_hand() -> None:
    inner = chain(named(lambda state: {"log": [interrupt("?", id="q")]}))

    @node
    def outer(state: Trail) -> dict[str, Any]:
        return {"log": [inner.invoke({}, thread_id="inner").status]}

    @node
    async def outer_async(state: Trail) -> dict[str, Any]:
        with pytest.raises(RuntimeError, match="await the async method"):
            inner.invoke({}, thread_id="other")
        return {"log": [(await inner.ainvoke({}, thread_id="third")).status]}

    done = chain(outer, outer_async).invoke({}, thread_id="t")
    assert done.state.log == ["interrupted", "interrupted"]


def test_a_run_that_is_left_while_a_sync_node_works_goes_on_with_it() -> None:
    gate = threading.Event()

    @node
    def waits(state: Trail) -> dict[str, Any]:
        gate.wait()
        return {"log": ["waits"]}

    graph = chain(waits, stop("b"))
    stream = graph.stream({}, thread_id="t")
    next(stream)
    stream.close()
    gate.set()
    assert graph.sync.position("t").next == ("waits",)
    assert graph.invoke(None, thread_id="t").state.log == ["waits", "b"]


@pytest.mark.parametrize("wrong", [3, "router", None])
def test_a_way_is_chosen_by_a_function(wrong: Any) -> None:
    async def later(state: Trail) -> bool:
        return True

    for router in (wrong, later):
        with pytest.raises(GraphConfigError, match="function of the state that is not async"):
            when(router, stop("a"))
        with pytest.raises(GraphConfigError, match="function of the state that is not async"):
            branch(router, {True: stop("a")})
