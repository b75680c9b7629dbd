"""`@node(timeout=...)`: how long a node may run, and how long it may say nothing."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from nbgraph import InlineExecutor, NodeContext, NodeTimeoutError, Retry, Timeout, node
from nbgraph.core.timeout import in_time
from tests.core.graphs import Trail, chain, stop


def test_a_silent_node_fails_by_name_and_the_error_says_that_it_was_silent() -> None:
    @node(timeout=Timeout(idle=0.01))
    async def wait(state: Trail) -> None:
        await asyncio.Event().wait()

    with pytest.raises(NodeTimeoutError) as caught:
        chain(wait).invoke({}, thread_id="t")
    error = caught.value
    assert (error.node_name, error.timeout, error.idle) == ("wait", 0.01, True)
    assert str(error) == ("Node 'wait' said nothing for longer than its idle timeout of 0.01 s")


def test_the_time_in_all_holds_beside_the_silence() -> None:
    @node(timeout=Timeout(run=0.02, idle=30))
    async def wait(state: Trail, ctx: NodeContext) -> None:
        while True:
            ctx.heartbeat()
            await asyncio.sleep(0)

    with pytest.raises(NodeTimeoutError, match=r"took longer than its timeout of 0\.02 s"):
        chain(wait).invoke({}, thread_id="t")


@pytest.mark.parametrize("sign", ["heartbeat", "emit", "emit_token", "once"])
def test_each_sign_of_life_gives_the_node_its_time_anew(sign: str) -> None:
    """A clock of the loop's own: no test waits for a real one."""

    @node(timeout=Timeout(idle=10))
    async def work(state: Trail, ctx: NodeContext) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        real = loop.time
        skipped = 0.0
        loop.time = lambda: real() + skipped  # type: ignore[method-assign] - for this node
        try:
            for at in range(4):
                skipped += 9  # 36 s in all, and never 10 of silence
                if sign == "once":

                    async def found(at: int = at) -> int:
                        return at

                    await ctx.once(str(at), found)
                else:
                    getattr(ctx, sign)(*(() if sign == "heartbeat" else ("...",)))
                await asyncio.sleep(0)
                await asyncio.sleep(0)
        finally:
            del loop.time  # type: ignore[attr-defined] - set above
        return {"count": 4}

    assert asyncio.run(chain(work).ainvoke({}, thread_id="t")).state.count == 4


def test_silence_after_a_sign_of_life_is_counted_from_there() -> None:
    @node(timeout=Timeout(idle=0.02))
    async def work(state: Trail, ctx: NodeContext) -> None:
        ctx.emit("begun")
        await asyncio.Event().wait()

    with pytest.raises(NodeTimeoutError, match="said nothing"):
        chain(work).invoke({}, thread_id="t")


def test_a_sync_node_says_that_it_lives_from_its_thread() -> None:
    on_loop = threading.Event()

    @node(timeout=Timeout(idle=60))
    def work(state: Trail, ctx: NodeContext) -> dict[str, Any]:
        ctx.heartbeat()
        ctx.port.loop.call_soon_threadsafe(on_loop.set)
        return {"count": int(on_loop.wait(60))}

    assert chain(work).invoke({}, thread_id="t").state.count == 1


def test_a_sign_of_life_after_the_end_is_no_error() -> None:
    kept: list[NodeContext] = []

    @node(timeout=Timeout(idle=60))
    def work(state: Trail, ctx: NodeContext) -> None:
        kept.append(ctx)

    asyncio.run(chain(work).ainvoke({}, thread_id="t"))
    kept[0].heartbeat()  # its loop has ended

    async def late() -> None:
        async with in_time("a", Timeout(idle=60)) as alive:
            pass
        alive()
        await asyncio.sleep(0)

    asyncio.run(late())


def test_a_heartbeat_that_nobody_counts_is_no_error() -> None:
    @node
    def work(state: Trail, ctx: NodeContext) -> dict[str, Any]:
        ctx.heartbeat()
        return {"count": 1}

    graph = chain(work, stop("b"), executor=InlineExecutor())
    assert graph.invoke({}, thread_id="t").state.count == 1


def test_each_attempt_has_its_own_silence() -> None:
    tries: list[int] = []

    @node(timeout=Timeout(idle=0.01), retry=Retry(attempts=2))
    async def work(state: Trail, ctx: NodeContext) -> dict[str, Any]:
        tries.append(ctx.attempt)
        if ctx.attempt == 1:
            await asyncio.Event().wait()
        return {"count": 1}

    assert chain(work).invoke({}, thread_id="t").state.count == 1
    assert tries == [1, 2]


def test_a_timeout_that_the_node_raises_itself_is_its_own_error() -> None:
    @node(timeout=Timeout(run=60, idle=60))
    async def work(state: Trail) -> None:
        raise TimeoutError("mine")

    with pytest.raises(TimeoutError, match="mine"):
        chain(work).invoke({}, thread_id="t")


@pytest.mark.parametrize("bad", [{}, {"run": 0}, {"idle": -1}, {"idle": "1"}, {"run": True}])
def test_a_timeout_is_a_number_of_seconds(bad: Any) -> None:
    with pytest.raises(TypeError):
        Timeout(**bad)


@pytest.mark.parametrize("bad", [0, -1, "1", True, {"idle": 1}])
def test_something_else_is_refused_where_the_node_is_made(bad: Any) -> None:
    with pytest.raises(TypeError, match="timeout is a number of seconds above 0, or a Timeout"):
        node(name="a", timeout=bad)(lambda state: None)
