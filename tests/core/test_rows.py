"""Statements of the API that nbgraph is compatible with which no other room has a test for."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest
from pydantic import Field

import nbgraph
from nbgraph import (
    END,
    START,
    BaseState,
    Command,
    Graph,
    InMemoryStateStore,
    Middleware,
    Replace,
    Resume,
    Send,
    interrupt,
    join,
    node,
    open_session,
    subgraph,
    when,
)
from nbgraph import errors as all_errors
from nbgraph.core.events import RunFinished, TaskFailed
from nbgraph.errors import (
    GraphConfigError,
    ResumeError,
    StateUpdateError,
    UnknownThreadError,
    UnsupportedByEngineError,
)
from nbgraph.testing.driver import FakeDriver
from tests.core.graphs import Trail, asker, chain, fan, history, stop, types

seen: list[Any] = []


def kept(current: Any, update: Any) -> Any:
    seen.append(current)
    return [*(current or ()), *update]


class Notes(TypedDict, total=False):
    notes: Annotated[list[int], kept]


# --- state ----------------------------------------------------------------------------------------


def test_a_reducer_of_the_standard_library_is_a_reducer() -> None:
    class Sum(BaseState):
        total: Annotated[int, operator.add] = 0
        log: Annotated[list[str], operator.add] = Field(default_factory=list)

    both = node(name="both")(lambda state: {"total": 2, "log": ["x"]})
    graph = Graph(Sum).flow(START >> both >> END)
    assert graph.invoke({"total": 1, "log": ["0"]}).state == Sum(total=3, log=["0", "x"])


def test_the_first_write_of_a_field_gives_its_reducer_no_current_value() -> None:
    seen.clear()
    write = node(name="write")(lambda state: {"notes": [1]})
    assert Graph(Notes).flow(START >> write >> END).invoke({}).state == {"notes": [1]}
    assert seen == [None]


@pytest.mark.parametrize("way", ["update", "command", "input", "edit"])
def test_replace_goes_past_a_reducer_wherever_an_update_is_written(way: str) -> None:
    new = {"log": Replace(["new"])}
    write = node(name="write")(
        lambda state: {"update": new, "command": Command(update=new)}.get(way)
    )
    graph = chain(stop("a"), write)
    graph.invoke({}, thread_id="t")
    if way == "input":
        graph.invoke(new, thread_id="t", interrupt_before=["a"])
    if way == "edit":
        graph.sync.update_state("t", new)
    assert graph.sync.load("t")["log"] == ["new"]


def test_a_send_payload_has_no_replace() -> None:
    a = stop("a")
    send = node(name="send", goto=[a])(lambda state: Send(a, {"log": Replace([])}))
    graph = Graph(Trail).flow(START >> send, a >> END)
    with pytest.raises(StateUpdateError, match="Replace has no place in it"):
        graph.invoke({})


def test_a_type_that_is_not_found_is_named_with_what_to_do() -> None:
    Local = int  # noqa: N806 - a type

    class Hidden(TypedDict):
        number: Local  # type: ignore[valid-type]

    with pytest.raises(GraphConfigError, match="'Local' is not defined; define both at the top"):
        Graph(Hidden)


# --- running --------------------------------------------------------------------------------------


def test_a_node_named_twice_in_one_goto_runs_once() -> None:
    a = stop("a")
    lead = node(name="lead", goto=[a])(lambda state: Command(goto=[a, "a", a]))
    graph = Graph(Trail).flow(START >> lead, a >> END)
    assert graph.invoke({}).state.log == ["a"]


def test_the_first_error_in_task_order_is_raised_and_told_of_the_others() -> None:
    @node
    async def first(state: Trail) -> None:
        raise ValueError("one")

    @node
    async def second(state: Trail) -> None:
        raise KeyError("two")

    graph = fan(first, second)
    with pytest.raises(ValueError, match="one") as caught:
        graph.invoke({}, thread_id="t")
    assert caught.value.__notes__ == [
        "In node 'first'",
        "Task 'second' failed too, with KeyError: 'two'",
    ]
    failed = [event.task_id for event in history(graph) if isinstance(event, TaskFailed)]
    assert failed == ["first", "second"]


def test_steps_are_counted_from_nought_in_each_call() -> None:
    graph = chain(stop("a"), stop("b"))
    assert graph.invoke({}, thread_id="t").step == 2
    assert graph.invoke({}, thread_id="t", interrupt_after=["a"]).step == 1
    assert graph.invoke(None, thread_id="t").step == 1


def test_a_join_waits_over_a_pause_a_failure_and_a_fork() -> None:
    fails = [ValueError("once")]

    @node
    def shaky(state: Trail) -> dict[str, Any]:
        if fails:
            raise fails.pop()
        return {"log": ["shaky"]}

    short, ask, last = stop("short"), asker("ask"), stop("last")
    graph = Graph(Trail, state_store=InMemoryStateStore())
    graph.flow(START >> [short, ask], ask >> shaky, join(short, shaky) >> last, last >> END)
    graph.invoke({}, thread_id="t")
    with pytest.raises(ValueError, match="once"):
        graph.invoke(resume=Resume(1), thread_id="t")
    graph.sync.fork("t", name="other")
    for branch_id in ("main", "other"):
        done = graph.invoke(None, thread_id="t", branch_id=branch_id)
        assert done.state.log == ["short", "ask: 1", "shaky", "last"]


def test_a_join_that_still_waits_at_the_end_is_named() -> None:
    a, b, c = stop("a"), stop("b"), stop("c")
    lead = node(name="lead", goto=[a, b])(lambda state: Command(goto=[a]))
    graph = Graph(Trail, state_store=InMemoryStateStore())
    graph.flow(START >> lead, join(a, b) >> c, c >> END)
    graph.invoke({}, thread_id="t")
    [end] = [event for event in history(graph) if isinstance(event, RunFinished)]
    assert end.open_joins == tuple(graph.structure.joins)


# --- threads --------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [{}, {"resume": Resume(1)}])
@pytest.mark.parametrize("branch_id", ["main", "other"])
def test_a_call_without_input_on_what_is_not_there_is_an_unknown_thread(
    given: Any, branch_id: str
) -> None:
    graph = chain(asker("a"))
    if branch_id == "other":
        graph.invoke({}, thread_id="t")
    before = types(graph)
    with pytest.raises(UnknownThreadError) as caught:
        graph.invoke(None, thread_id="t", branch_id=branch_id, **given)
    assert (caught.value.thread_id, caught.value.branch_id) == ("t", branch_id)
    assert types(graph) == before


def test_an_event_is_named_by_its_sequence_or_its_id() -> None:
    graph = chain(stop("a"), stop("b"))
    graph.invoke({}, thread_id="t")
    event = history(graph)[2]
    assert (event.sequence, event.id) == (3, "main:3")
    sync = graph.sync
    assert sync.load("t", at=event.id) == sync.load("t", at=3) == {"log": ["a"], "count": 0}
    assert sync.get_state("t", at=event.id) == sync.get_state("t", at=3)
    assert sync.position("t", at=event.id) == sync.position("t", at=3)
    sync.fork("t", from_=event.id, name="x")
    assert sync.position("t", branch_id="x").next == ("b",)
    assert sync.load("t", branch_id="x", at="main:3")["log"] == ["a"]
    assert sync.load("t", branch_id="x", at="x:4")["log"] == ["a"]


@pytest.mark.parametrize("at", ["main:99", "x:3", "3", ""])
def test_an_id_of_no_event_of_the_branch_is_refused(at: str) -> None:
    graph = chain(stop("a"))
    graph.invoke({}, thread_id="t")
    with pytest.raises(StateUpdateError, match="has no event"):
        graph.sync.load("t", at=at)
    with pytest.raises(StateUpdateError, match="has no event"):
        graph.sync.fork("t", from_=at)
    with pytest.raises(UnknownThreadError):
        graph.sync.load("u", at=at)
    assert graph.sync.branches("t") == []


def test_editing_a_paused_thread_shows_the_resumed_node_the_edited_value() -> None:
    @node
    def ask(state: Trail) -> dict[str, Any]:
        return {"log": [f"{interrupt(id='ok')} {state.count}"]}

    graph = chain(ask)
    graph.invoke({"count": 1}, thread_id="t")
    graph.sync.update_state("t", {"count": 2})
    assert list(graph.sync.pending("t")) == ["ask:ok"]
    assert graph.invoke(resume=Resume("yes"), thread_id="t").state.log == ["yes 2"]


def test_a_fork_at_a_pause_is_answered_differently_and_both_stand() -> None:
    graph = chain(asker("ask"))
    graph.invoke({}, thread_id="t")
    graph.sync.fork("t", name="no")
    for branch_id, answer in (("main", "yes"), ("no", "no")):
        graph.invoke(resume=Resume(answer), thread_id="t", branch_id=branch_id)
    difference = graph.sync.compare("t", "main", "no")
    assert [(each.path, each.first, each.second) for each in difference.differences] == [
        ("/log", ["ask: 'yes'"], ["ask: 'no'"])
    ]


# --- a session breaks where a predicate says ----------------------------------------------------


def full(state: Any) -> bool:
    return len(state.log) in (1, 2)


def test_a_sessions_calls_take_a_predicate_that_holds_for_that_call() -> None:
    graph = chain(stop("a"), stop("b"), stop("c"), asker("d"), stop("e"))
    session = open_session(graph, "t")
    session.start({}, break_when=full).result()
    assert (session.status, session.next) == ("interrupted", ("b",))
    session.proceed(break_when=full).result()
    assert session.next == ("c",)
    session.proceed().result()
    assert list(session.pending) == ["d:ok"]
    session.resume({"d:ok": 1}, break_when=lambda state: len(state.log) == 4).result()
    assert (session.status, session.next) == ("interrupted", ("e",))


def test_an_engine_that_cannot_break_there_says_so_and_nothing_runs() -> None:
    driver = FakeDriver(capabilities={"break_when": "it has no supersteps"})
    session = open_session_of(driver)
    with pytest.raises(UnsupportedByEngineError):
        session.start({}, break_when=full)
    assert session.history() == []


def open_session_of(driver: Any) -> Any:
    return nbgraph.Session(driver)


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", all_errors.__all__)
def test_every_error_is_found_at_the_top_too(name: str) -> None:
    assert getattr(nbgraph, name) is getattr(all_errors, name)


def test_a_node_says_what_it_is_called_and_what_it_does() -> None:
    @node(label="Weigh it", description="Puts it on the scale", metadata={"colour": "red"})
    def weigh(state: Trail) -> None:
        """Read the scale."""

    @node
    def pack(state: Trail) -> None:
        """Pack it.

        In paper.
        """

    inner = chain(stop("x"), state_store=None)
    sub = subgraph("sub", inner, share=["log"], label="Send it", description="With the post")
    shapes = {each.path: each for each in chain(weigh, pack, sub).shape.nodes}
    assert {path: (each.label, each.description) for path, each in shapes.items()} == {
        "weigh": ("Weigh it", "Puts it on the scale"),
        "pack": ("pack", "Pack it."),
        "sub": ("Send it", "With the post"),
        "sub/x": ("x", None),
    }
    assert weigh.metadata == {"colour": "red"}


# --- refused without a trace --------------------------------------------------------------------


class Quiet(Middleware):
    """Says whether it was asked anything."""

    def __init__(self) -> None:
        self.asked = 0

    def before_graph(self, ctx: Any) -> None:
        self.asked += 1


@pytest.mark.parametrize(
    "call",
    [
        {"resume": Resume(answers={"nobody:ok": 1})},
        {"resume": Resume(answers={"a:ok": 1})},
        {"initial_state": {"count": 5}},
        {"initial_state": None},
        {"resume": Resume(answers={"a:ok": 1, "b:ok": 2}, asked={"a:ok": 99})},
    ],
)
def test_a_refused_call_on_a_paused_thread_asks_no_middleware_and_records_nothing(
    call: Any,
) -> None:
    quiet = Quiet()
    graph = fan(asker("a"), asker("b"), middleware=[quiet])
    graph.invoke({}, thread_id="t")
    before = history(graph)
    with pytest.raises(ResumeError):
        graph.invoke(thread_id="t", **call)
    assert history(graph) == before
    assert quiet.asked == 1


def test_a_flow_with_a_branch_into_itself_ends_when_the_predicate_says() -> None:
    count = node(name="count")(lambda state: {"count": state.count + 1})
    graph = Graph(Trail, max_steps=5)
    graph.flow(START >> count, count >> when(lambda state: state.count < 3, count))
    assert graph.invoke({}).state.count == 3


def test_a_graph_that_asks_without_a_store_says_what_to_pass() -> None:
    graph = chain(asker("a"), state_store=None)
    with pytest.raises(nbgraph.GraphExecutionError, match="pass state_store="):
        graph.invoke({})
    with pytest.raises(GraphConfigError, match="needs a thread_id"):
        chain(asker("a")).invoke({})
