"""What stands in for a node that failed: a function of its own, or what a person says."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nbgraph import (
    END,
    START,
    Command,
    Graph,
    InMemoryStateStore,
    Middleware,
    NodeContext,
    Resume,
    Retry,
    StateUpdateError,
    interrupt,
    node,
)
from nbgraph.core.effects import NODE_FAILED
from nbgraph.core.events import AnswerRefused, ErrorInfo, RunFailed, TaskFailed, TaskFinished
from nbgraph.errors import GraphConfigError, ResumeError
from tests.core.graphs import Trail, asker, chain, failing, fan, history, stop


def finish(graph: Graph, name: str) -> TaskFinished:
    """Return the one result of a node."""
    events = [event for event in history(graph) if isinstance(event, TaskFinished)]
    [found] = [event for event in events if event.node == name]
    return found


# --- a function of the node's own ----------------------------------------------------------------


def test_a_nodes_own_function_gives_its_update_when_it_failed() -> None:
    seen: list[Any] = []

    def instead(state: Trail, error: Exception) -> dict[str, Any]:
        seen.append((state.count, error))
        return {"log": [f"instead of {error}"]}

    error = ValueError("no luck")

    @node(on_error=instead)
    def weigh(state: Trail) -> None:
        raise error

    graph = chain(weigh, stop("b"))
    assert graph.invoke({"count": 3}, thread_id="t").state.log == ["instead of no luck", "b"]
    assert seen == [(3, error)]
    found = finish(graph, "weigh")
    assert found.error is not None
    assert (found.error.type, found.error.message) == ("ValueError", "no luck")
    assert finish(graph, "b").error is None


def test_it_may_lead_where_the_node_may_lead_and_be_async() -> None:
    mend = stop("mend")

    async def instead(state: Trail, error: Exception) -> Command:
        return Command(update={"count": 7}, goto=mend)

    @node(goto=[mend, END], on_error=instead)
    async def weigh(state: Trail) -> Any:
        raise ValueError

    graph = Graph(Trail).flow(START >> weigh, mend >> END)
    assert graph.invoke({}).state == Trail(log=["mend"], count=7)


def test_it_is_called_after_the_last_attempt_and_before_middleware() -> None:
    seen: list[str] = []

    class Watch(Middleware):
        def on_error(self, ctx: Any, error: Exception) -> Any:
            seen.append(f"middleware: {error}")
            return {"log": ["from middleware"]}

    def instead(state: Trail, error: Exception) -> Any:
        seen.append(f"own: {error}")
        return None if state.count else {"log": ["own"]}

    weigh = failing("weigh", *(ValueError(str(at)) for at in range(4)))
    tried = node(name="weigh", retry=Retry(attempts=2), on_error=instead)(weigh.handler)
    graph = chain(tried, middleware=[Watch()])
    assert graph.invoke({}, thread_id="t").state.log == ["own"]
    assert finish(graph, "weigh").attempts == 2
    assert graph.invoke({"count": 1}, thread_id="u").state.log == ["from middleware"]
    assert seen == ["own: 1", "own: 3", "middleware: 3"]


def test_none_lets_the_error_be_and_what_it_raises_takes_its_place() -> None:
    def instead(state: Trail, error: Exception) -> None:
        if state.count:
            raise KeyError("worse") from error

    graph = chain(node(name="a", on_error=instead)(failing("a", ValueError("1")).handler))
    with pytest.raises(ValueError, match="1"):
        graph.invoke({}, thread_id="t")
    graph = chain(node(name="a", on_error=instead)(failing("a", ValueError("1")).handler))
    with pytest.raises(KeyError, match="worse"):
        graph.invoke({"count": 1}, thread_id="t")


def test_an_update_that_does_not_fit_fails_the_node() -> None:
    instead = lambda state, error: {"nothing": 1}  # noqa: E731 - the shortest handler
    graph = chain(node(name="a", on_error=instead)(failing("a", ValueError("1")).handler))
    with pytest.raises(StateUpdateError, match="node 'a' names the field 'nothing'"):
        graph.invoke({}, thread_id="t")


def test_a_pause_is_no_error_and_neither_is_the_end_of_the_process() -> None:
    calls: list[Exception] = []

    def instead(state: Trail, error: Exception) -> dict[str, Any]:
        calls.append(error)
        return {}

    ask = node(name="ask", on_error=instead)(asker("ask").handler)
    graph = chain(ask, node(name="b", on_error=instead)(failing("b", SystemExit(3)).handler))
    graph.invoke({}, thread_id="t")
    with pytest.raises(SystemExit):
        graph.invoke(resume=Resume(1), thread_id="t")
    assert calls == []


def test_it_may_ask_under_keys_of_its_own() -> None:
    def instead(state: Trail, error: Exception) -> dict[str, Any]:
        return {"log": [f"{error}: {interrupt('instead?')}"]}

    @node(on_error=instead)
    def weigh(state: Trail) -> None:
        raise ValueError(f"after {interrupt('first?')}")

    graph = chain(weigh)
    assert list(graph.invoke({}, thread_id="t").interrupts) == ["weigh:0"]
    asks = graph.invoke(resume=Resume("salt"), thread_id="t")
    assert list(asks.interrupts) == ["weigh:error/0"]
    done = graph.invoke(resume=Resume("sugar"), thread_id="t")
    assert done.state.log == ["after salt: sugar"]


# --- a person ------------------------------------------------------------------------------------


def asked(*errors: BaseException, **options: Any) -> Graph:
    shaky = node(name="shaky", on_error="ask")(failing("shaky", *errors).handler)
    return fan(shaky, stop("beside"), **options)


def test_a_node_that_failed_asks_and_its_siblings_finish() -> None:
    graph = asked(ValueError("no luck"))
    result = graph.invoke({}, thread_id="t")
    [(key, question)] = result.interrupts.items()
    assert (key, question.reason) == ("shaky:error?", NODE_FAILED)
    assert question.message == (
        "'shaky' failed with ValueError: no luck. Retry, skip, or set its result?"
    )
    assert question.payload["message"] == "no luck"
    assert "raise waiting.pop(0)" in question.payload["traceback"]
    assert finish(graph, "beside")
    assert not [event for event in history(graph) if isinstance(event, TaskFailed | RunFailed)]


@pytest.mark.parametrize(
    ("answer", "log"),
    [
        ({"decision": "retry"}, ["shaky", "beside"]),
        ({"decision": "skip"}, ["beside"]),
        ({"decision": "set result", "result": {"log": ["as told"]}}, ["as told", "beside"]),
    ],
)
def test_a_person_says_how_it_goes_on(answer: Any, log: list[str]) -> None:
    graph = asked(ValueError("no luck"))
    graph.invoke({}, thread_id="t")
    done = graph.invoke(resume=Resume(answer), thread_id="t")
    assert (done.status, done.state.log) == ("completed", log)


def test_a_retry_that_fails_too_is_asked_about_anew() -> None:
    graph = asked(ValueError("one"), ValueError("two"))
    first = graph.invoke({}, thread_id="t").interrupts["shaky:error?"]
    again = graph.invoke(resume=Resume({"decision": "retry"}), thread_id="t")
    second = again.interrupts["shaky:error?"]
    assert (first.payload["message"], second.payload["message"]) == ("one", "two")
    assert second.asked > first.asked
    done = graph.invoke(resume=Resume({"decision": "retry"}), thread_id="t")
    assert done.state.log == ["shaky", "beside"]


def test_an_edit_before_the_retry_is_what_the_node_sees() -> None:
    @node(on_error="ask")
    def weigh(state: Trail) -> dict[str, Any]:
        return {"log": [str(1 // state.count)]}

    graph = chain(weigh)
    graph.invoke({}, thread_id="t")
    graph.sync.update_state("t", {"count": 1})
    assert graph.invoke(resume=Resume({"decision": "retry"}), thread_id="t").state.log == ["1"]


def test_a_result_that_does_not_fit_the_state_is_refused_and_asked_again() -> None:
    graph = asked(ValueError("one"))
    graph.invoke({}, thread_id="t")
    bad = {"decision": "set result", "result": {"count": "many"}}
    again = graph.invoke(resume=Resume(bad), thread_id="t")
    assert list(again.interrupts["shaky:error?"].problems) == ["/result"]
    assert any(isinstance(event, AnswerRefused) for event in history(graph))
    with pytest.raises(ResumeError):
        graph.invoke(resume=Resume("later"), thread_id="t")
    done = graph.invoke(resume=Resume({"decision": "skip"}), thread_id="t")
    assert done.state.log == ["beside"]


def test_middleware_may_say_how_it_goes_on_and_then_nobody_is_asked() -> None:
    class Again(Middleware):
        async def on_interrupt(self, ctx: Any, payload: Any) -> Any:
            return {"decision": "retry"} if ctx.interrupt.reason == NODE_FAILED else None

    graph = asked(ValueError("one"), ValueError("two"), middleware=[Again()])
    assert graph.invoke({}, thread_id="t").state.log == ["shaky", "beside"]


def test_without_a_store_the_error_is_raised_as_it_is() -> None:
    shaky = node(name="shaky", on_error="ask")(failing("shaky", ValueError("one")).handler)
    with pytest.raises(ValueError, match="one"):
        Graph(Trail).flow(START >> shaky >> END).invoke({})


def test_in_a_sub_graph_its_parent_asks() -> None:
    from nbgraph import subgraph

    shaky = node(name="shaky", on_error="ask")(failing("shaky", ValueError("one")).handler)
    inner = Graph(Trail, name="inner").flow(START >> shaky >> END)
    graph = chain(subgraph("sub", inner, share=["log"]))
    assert list(graph.invoke({}, thread_id="t").interrupts) == ["sub/shaky:error?"]
    done = graph.invoke(resume=Resume({"decision": "retry"}), thread_id="t")
    assert done.state.log == ["shaky"]


def test_a_node_that_asks_and_fails_is_decided_about_after_its_answer() -> None:
    fails = [ValueError("one")]

    @node(on_error="ask")
    def pay(state: Trail) -> dict[str, Any]:
        amount = interrupt("how much?", response_schema=int)
        if fails:
            raise fails.pop()
        return {"count": amount}

    graph = chain(pay)
    graph.invoke({}, thread_id="t")
    failed = graph.invoke(resume=Resume(5), thread_id="t")
    assert list(failed.interrupts) == ["pay:error?"]
    done = graph.invoke(resume=Resume({"decision": "retry"}), thread_id="t")
    assert done.state.count == 5


@pytest.mark.parametrize("bad", ["retry", 3, True])
def test_something_else_is_refused_where_the_node_is_made(bad: Any) -> None:
    with pytest.raises(TypeError, match="on_error is a function of state and error, or 'ask'"):
        node(name="a", on_error=bad)(lambda state: None)


@pytest.mark.parametrize("option", [{"on_error": "ask"}, {"cache": "c"}])
def test_what_happens_once_has_nothing_that_stands_in(option: Any) -> None:
    from nbgraph import NodeCache

    given = {"cache": NodeCache()} if "cache" in option else option
    with pytest.raises(TypeError, match="leave"):
        node(name="a", effect="once", **given)(lambda state: None)


def test_what_stood_in_is_kept_by_a_file(tmp_path: Any) -> None:
    from nbgraph import SQLiteStateStore

    store = SQLiteStateStore(tmp_path / "t.db")
    instead = lambda state, error: {"log": ["instead"]}  # noqa: E731 - the shortest handler
    graph = chain(
        node(name="a", on_error=instead)(failing("a", ValueError("1")).handler), state_store=store
    )
    graph.invoke({}, thread_id="t")
    [found] = [
        event
        for event in asyncio.run(SQLiteStateStore(tmp_path / "t.db").events("t"))
        if isinstance(event, TaskFinished)
    ]
    assert isinstance(found.error, ErrorInfo)
    assert found.error.message == "1"


def test_ctx_is_the_nodes_and_the_handler_sees_no_change_of_it() -> None:
    @node(on_error=lambda state, error: {"count": state.count + 1})
    def spoil(state: Trail, ctx: NodeContext) -> Any:
        state.count = 99
        raise ValueError

    assert chain(spoil).invoke({"count": 1}, thread_id="t").state.count == 2


def test_a_store_is_needed_to_ask_only_when_it_fails() -> None:
    shaky = node(name="shaky", on_error="ask")(lambda state: {"count": 1})
    assert Graph(Trail).flow(START >> shaky >> END).invoke({}).state.count == 1
    with pytest.raises(GraphConfigError, match="needs a thread_id"):
        Graph(Trail, state_store=InMemoryStateStore()).flow(START >> shaky >> END).invoke({})
