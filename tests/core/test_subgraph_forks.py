"""Time travel into a sub-graph, and its thread after a crash."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import pytest

from nbgraph import Graph, InMemoryStateStore, Resume, SQLiteStateStore, node, subgraph
from nbgraph.core.events import Event, TaskInterrupted
from nbgraph.core.live import ChildEvent
from nbgraph.core.requests import Continue, Start, Stop
from nbgraph.errors import GraphExecutionError, StateStoreError
from tests.core.graphs import Trail, asker, chain, failing, history, stop
from tests.core.test_subgraph import asking_again, counted, shared


def read(graph: Graph, thread_id: str, branch_id: str = "main") -> Sequence[Event]:
    """Return a child's log."""
    assert graph.state_store is not None
    return asyncio.run(graph.state_store.events(thread_id, branch_id))


def asked_twice(seen: list[str], **options: Any) -> Graph:
    """Return a graph whose sub-graph asks, does something, and asks again."""
    nodes = (counted("a", seen), asker("one"), counted("b", seen), asker("two"))
    return chain(shared("sub", *nodes, **options), stop("end"))


def finished(graph: Graph) -> None:
    graph.invoke({}, thread_id="t")
    graph.invoke(resume=Resume(1), thread_id="t")
    graph.invoke(resume=Resume(2), thread_id="t")


def pauses(graph: Graph) -> list[int]:
    """Return the events at which the root asked."""
    return [event.sequence for event in history(graph) if isinstance(event, TaskInterrupted)]


@pytest.mark.parametrize("kind", ["fresh", "stable"])
@pytest.mark.parametrize("offset", [0, 1])
def test_a_fork_inside_the_childs_run_forks_the_child_and_can_be_answered_differently(
    kind: str, offset: int
) -> None:
    seen: list[str] = []
    graph = asked_twice(seen, child_thread=kind)
    finished(graph)
    child = "t:sub:1" if kind == "fresh" else "t:sub"
    before, before_child = history(graph), read(graph, child)
    seen.clear()
    graph.sync.fork("t", from_=pauses(graph)[1] + offset, name="f")
    question = graph.sync.pending("t", branch_id="f")["sub/two:ok"]
    assert question.asked == pauses(graph)[1]
    result = graph.invoke(resume=Resume("other"), thread_id="t", branch_id="f")
    assert result.state.log == ["a", "one: 1", "b", "two: 'other'", "end"]
    assert seen == []
    assert history(graph) == before
    assert read(graph, child) == before_child
    assert read(graph, child, "f") != before_child


def test_a_fork_at_an_earlier_pause_runs_what_follows_it_again_and_asks_again() -> None:
    seen: list[str] = []
    graph = asked_twice(seen)
    finished(graph)
    before, before_child = history(graph), read(graph, "t:sub:1")
    seen.clear()
    graph.sync.fork("t", from_=pauses(graph)[0], name="f")
    result = graph.invoke(resume=Resume("x"), thread_id="t", branch_id="f")
    assert list(result.interrupts) == ["sub/two:ok"]
    result = graph.invoke(resume=Resume("y"), thread_id="t", branch_id="f")
    assert result.state.log == ["a", "one: 'x'", "b", "two: 'y'", "end"]
    assert seen == ["b"]
    assert (history(graph), read(graph, "t:sub:1")) == (before, before_child)


def test_a_fork_before_the_child_began_gives_the_branch_a_child_of_its_own() -> None:
    seen: list[str] = []
    graph = asked_twice(seen)
    finished(graph)
    before, before_child = history(graph), read(graph, "t:sub:1")
    graph.sync.fork("t", from_=1, name="f", update={"log": ["edited"]})
    result = graph.invoke(None, thread_id="t", branch_id="f")
    assert list(result.interrupts) == ["sub/one:ok"]
    graph.invoke(resume=Resume("x"), thread_id="t", branch_id="f")
    result = graph.invoke(resume=Resume("y"), thread_id="t", branch_id="f")
    assert result.state.log == ["edited", "a", "one: 'x'", "b", "two: 'y'", "end"]
    assert (history(graph), read(graph, "t:sub:1")) == (before, before_child)
    assert len(read(graph, "t:sub:f:1")) == len(before_child)


def test_forks_of_forks_and_children_of_children_stand_apart() -> None:
    seen: list[str] = []
    nodes = (counted("a", seen), asker("one"), asker("two"))
    graph = chain(shared("outer", stop("x"), shared("sub", *nodes)))
    finished(graph)
    before = history(graph)
    seen.clear()
    graph.sync.fork("t", from_=pauses(graph)[0], name="f")
    graph.invoke(resume=Resume("f1"), thread_id="t", branch_id="f")
    graph.sync.fork("t", branch_id="f", name="g")
    graph.sync.fork("t", branch_id="f", from_=pauses(graph)[0], name="h")
    results = {
        name: graph.invoke(resume=Resume(name), thread_id="t", branch_id=name) for name in "gf"
    }
    assert results["g"].state.log == ["x", "a", "one: 'f1'", "two: 'g'"]
    assert results["f"].state.log == ["x", "a", "one: 'f1'", "two: 'f'"]
    graph.invoke(resume=Resume("h1"), thread_id="t", branch_id="h")
    last = graph.invoke(resume=Resume("h2"), thread_id="t", branch_id="h")
    assert last.state.log == ["x", "a", "one: 'h1'", "two: 'h2'"]
    assert (seen, history(graph)) == ([], before)


def test_a_fork_after_the_child_failed_goes_on_with_what_it_had_finished() -> None:
    seen: list[str] = []
    graph = chain(shared("sub", counted("a", seen), failing("b", ValueError("no"))))
    with pytest.raises(ValueError, match="no"):
        graph.invoke({}, thread_id="t")
    before = read(graph, "t:sub:1")
    graph.sync.fork("t", name="f")
    assert graph.invoke(None, thread_id="t", branch_id="f").state.log == ["a", "b"]
    assert seen == ["a"]
    assert read(graph, "t:sub:1") == before
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b"]
    assert seen == ["a"]


def test_a_fork_at_a_breakpoint_inside_a_child_goes_on_from_it() -> None:
    graph = chain(shared("sub", stop("a"), stop("b")), interrupt_before=["sub/b"])
    graph.invoke({}, thread_id="t")
    graph.sync.fork("t", name="f")
    assert graph.invoke(None, thread_id="t", branch_id="f").state.log == ["a", "b"]
    assert graph.sync.position("t").next == ("sub/b",)
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b"]


def test_a_stable_child_refuses_to_start_on_a_forked_branch() -> None:
    graph = chain(stop("a"), shared("sub", stop("b"), child_thread="stable"))
    graph.invoke({}, thread_id="t")
    before = read(graph, "t:sub")
    graph.sync.fork("t", from_=3, name="f")
    with pytest.raises(GraphExecutionError, match="forked branch 'f'"):
        graph.invoke(None, thread_id="t", branch_id="f")
    assert read(graph, "t:sub") == before
    assert asyncio.run(cast("Any", graph.state_store).branches("t:sub")) == []


def test_forks_of_children_are_hidden_and_deleted_with_their_root(tmp_path: Any) -> None:
    store = SQLiteStateStore(tmp_path / "threads.db")
    graph = chain(shared("outer", shared("sub", asker("ask"))), state_store=store)
    graph.invoke({}, thread_id="t")
    graph.sync.fork("t", name="f")
    assert graph.invoke(resume=Resume(1), thread_id="t", branch_id="f").state.log == ["ask: 1"]
    assert [record.thread_id for record in asyncio.run(store.threads())] == ["t"]
    pending = asyncio.run(store.pending())
    assert [(record.thread_id, record.branch_id) for record in pending] == [("t", "main")]
    asyncio.run(store.delete("t"))
    for name in ("t", "t:outer:1", "t:outer:1:sub:1"):
        assert not graph.sync.exists(name)
    store.close()


# --- after a crash --------------------------------------------------------------------------


class Failing(InMemoryStateStore):
    """Keeps nothing more of the root once it stands at event `last`, as if it had crashed there."""

    last: int | None = None

    async def append(self, thread_id: str, *args: Any, **options: Any) -> int:
        if thread_id == "t" and options["expected"] == self.last:
            raise StateStoreError("crashed")
        return await super().append(thread_id, *args, **options)


def crash(graph: Graph, last: int, **call: Any) -> None:
    """Make a call of which the root keeps nothing after event `last`, and its child everything."""
    store = cast("Failing", graph.state_store)
    store.last = last
    with pytest.raises(StateStoreError, match="crashed"):
        graph.invoke(thread_id="t", **call)
    store.last = None
    assert history(graph)[-1].sequence == last
    assert graph.sync.position("t").status == "stopped"


def test_a_question_that_the_root_could_not_record_is_asked_by_its_next_run() -> None:
    seen: list[str] = []
    sub = shared("sub", counted("a", seen), asker("ask"))
    graph = chain(sub, state_store=Failing())
    crash(graph, 1, initial_state={})
    assert list(graph.invoke(None, thread_id="t").interrupts) == ["sub/ask:ok"]
    assert graph.invoke(resume=Resume(1), thread_id="t").state.log == ["a", "ask: 1"]
    assert seen == ["a"]


def test_an_answer_does_not_answer_a_later_asking_that_the_root_never_showed() -> None:
    graph = chain(subgraph("sub", asking_again(), share=["log"]), state_store=Failing())
    graph.invoke({}, thread_id="t")
    crash(graph, 4, resume=Resume("first"))
    assert list(graph.invoke(None, thread_id="t").interrupts) == ["sub/ask:ok"]
    state = graph.invoke(resume=Resume("second"), thread_id="t").state
    assert state.log == ["first", "second"]


@pytest.mark.parametrize("kind", ["fresh", "stable"])
def test_a_child_that_finished_before_the_root_could_record_it_does_not_run_again(
    kind: str,
) -> None:
    seen: list[str] = []
    graph = chain(shared("sub", counted("a", seen), child_thread=kind), state_store=Failing())
    graph.invoke({}, thread_id="t")
    last = history(graph)[-1].sequence
    crash(graph, last + (2 if kind == "stable" else 1), initial_state={})
    assert seen == ["a", "a"]
    assert graph.invoke(None, thread_id="t").state.log == ["a", "a"]
    assert seen == ["a", "a"]


def test_a_breakpoint_that_the_root_could_not_record_is_shown_before_it_is_passed() -> None:
    sub = shared("sub", stop("a"), stop("b"))
    graph = chain(sub, interrupt_before=["sub/b"], state_store=Failing())
    crash(graph, 1, initial_state={})
    assert graph.invoke(None, thread_id="t").status == "interrupted"
    assert graph.sync.position("t").next == ("sub/b",)
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b"]


def test_a_run_stopped_inside_a_child_goes_on_with_what_the_child_had_not_finished() -> None:
    seen: list[str] = []
    asyncio.run(_stopped_inside(seen))
    assert seen == ["a"]


async def _stopped_inside(seen: list[str]) -> None:
    waits = [asyncio.Event()]

    async def hang(state: Trail) -> dict[str, Any]:
        if waits:
            await waits.pop().wait()
        return {"log": ["b"]}

    thread = chain(shared("sub", counted("a", seen), node(name="b")(hang))).thread("t")
    async for event in thread.send(Start({})):
        if isinstance(event, ChildEvent) and getattr(event.event, "node", None) == "b":
            async for _ in thread.send(Stop()):
                pass
    assert (await thread.position()).status == "stopped"
    async for _ in thread.send(Continue()):
        pass
    assert thread.known.state["log"] == ["a", "b"]
