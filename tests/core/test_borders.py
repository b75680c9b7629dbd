"""What goes into a graph and comes out, how far it may go, and nodes with others in their place."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

import pytest
from pydantic import BaseModel, Field

from nbgraph import (
    END,
    START,
    BaseState,
    Command,
    Graph,
    InMemoryStateStore,
    NodeCache,
    NodeContext,
    Replace,
    Resume,
    Retry,
    RunLimitExceededError,
    Send,
    add,
    interrupt,
    join,
    node,
    open_session,
    subgraph,
    when,
)
from nbgraph.errors import GraphConfigError, StateUpdateError
from tests.core.graphs import Trail, chain, fan, history, stop, types


class Whole(BaseState):
    question: str = ""
    tone: str = "plain"
    notes: Annotated[list[str], add] = Field(default_factory=list)
    answer: str = ""


class Asked(BaseModel):
    question: str = Field(min_length=2)
    tone: str = "kind"


class Told(BaseModel):
    answer: str = ""
    notes: list[str] = Field(default_factory=list)


def reply(**options: Any) -> Graph:
    @node
    def answer(state: Whole) -> dict[str, Any]:
        return {"answer": f"{state.question}! ({state.tone})", "notes": ["answered"]}

    given = {"input_schema": Asked, "output_schema": Told, "state_store": InMemoryStateStore()}
    return Graph(Whole, **{**given, **options}).flow(START >> answer >> END)


# --- schemas of input and output -----------------------------------------------------------------


def test_an_input_names_its_own_fields_and_a_result_shows_its_own() -> None:
    graph = reply()
    result = graph.invoke({"question": "why"}, thread_id="t")
    assert result.state == Told(answer="why! (kind)", notes=["answered"])
    assert result.data == {"answer": "why! (kind)", "notes": ["answered"]}
    assert graph.sync.load("t") == {
        "question": "why",
        "tone": "kind",
        "notes": ["answered"],
        "answer": "why! (kind)",
    }
    assert isinstance(graph.sync.get_state("t").value, Whole)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"question": "why", "notes": []}, "names the field 'notes'"),
        ({"tone": "rude"}, "needs a value for 'question'"),
        ({"question": "w"}, "question"),
        ({"question": 3}, "question"),
        (Whole(question="why"), "input is a Whole; pass a dict of fields, or the input type"),
    ],
)
def test_an_input_of_another_shape_is_refused_and_makes_no_thread(given: Any, said: str) -> None:
    graph = reply()
    with pytest.raises(StateUpdateError, match=said):
        graph.invoke(given, thread_id="t")
    assert history(graph) == []


def test_every_turn_has_its_own_input_and_what_is_left_out_has_its_default() -> None:
    graph = reply()
    graph.invoke(Asked(question="why", tone="dry"), thread_id="t")
    assert graph.sync.load("t")["answer"] == "why! (dry)"
    result = graph.invoke({"question": "how"}, thread_id="t")
    assert result.data == {"answer": "how! (kind)", "notes": ["answered", "answered"]}


def test_an_input_goes_through_the_states_reducers_and_may_go_past_them() -> None:
    class In(TypedDict, total=False):
        notes: list[str]

    graph = reply(input_schema=In, output_schema=None)
    graph.invoke({"notes": ["one"]}, thread_id="t")
    assert graph.invoke({"notes": ["two"]}, thread_id="t").state.notes == [
        "one",
        "answered",
        "two",
        "answered",
    ]
    last = graph.invoke({"notes": Replace(["new"])}, thread_id="t")
    assert last.state.notes == ["new", "answered"]


def test_the_start_form_and_the_last_event_of_a_stream_have_them_too() -> None:
    graph = reply()
    assert set(graph.shape.input_schema["properties"]) == {"question", "tone"}
    [end] = list(graph.stream({"question": "why"}, thread_id="t", stream_mode=[]))
    assert end.data.state == {"answer": "why! (kind)", "notes": ["answered"]}
    session = open_session(graph, "u")
    done = session.start({"question": "why"}).result()
    assert done.state == Told(answer="why! (kind)", notes=["answered"])


def test_a_paused_result_shows_the_output_too() -> None:
    @node
    def ask(state: Whole) -> dict[str, Any]:
        return {"answer": interrupt(state.question)}

    graph = Graph(Whole, output_schema=Told, state_store=InMemoryStateStore())
    graph.flow(START >> ask >> END)
    assert graph.invoke({}, thread_id="t").state == Told()
    assert graph.invoke(resume=Resume("so"), thread_id="t").state == Told(answer="so")


@pytest.mark.parametrize("option", ["input_schema", "output_schema"])
@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (Trail, "has 'log', 'count', which the state has not"),
        (dict, "has any field, which the state has not"),
        (int, "A state schema is a pydantic model"),
    ],
)
def test_what_is_no_part_of_the_state_is_refused(option: str, bad: Any, said: str) -> None:
    with pytest.raises(GraphConfigError, match=said):
        Graph(Whole, **{option: bad})


def test_a_state_of_any_key_may_have_an_input_with_some() -> None:
    class In(TypedDict):
        count: int

    read = node(name="read")(lambda state: {"seen": state["count"]})
    graph = Graph(dict, input_schema=In).flow(START >> read >> END)
    assert graph.invoke({"count": 2}).state == {"count": 2, "seen": 2}
    with pytest.raises(StateUpdateError, match="names the field 'other'"):
        graph.invoke({"count": 2, "other": 1})


def test_a_sub_graph_takes_what_its_parent_shares() -> None:
    inner = reply(state_store=None)
    graph = Graph(Whole).flow(START >> subgraph("sub", inner, share=["question", "answer"]) >> END)
    assert graph.invoke({"question": "why"}).state.answer == "why! (plain)"


# --- how far a thread may go ---------------------------------------------------------------------


def test_a_thread_runs_so_many_supersteps_over_all_its_calls() -> None:
    graph = chain(stop("a"), stop("b"), max_thread_steps=3)
    graph.invoke({}, thread_id="t")
    with pytest.raises(RunLimitExceededError, match="start another thread") as caught:
        graph.invoke({}, thread_id="t")
    assert (caught.value.limit_name, caught.value.limit_value) == ("max_thread_steps", 3)
    assert graph.sync.load("t")["log"] == ["a", "b", "a"]
    before = types(graph)
    with pytest.raises(RunLimitExceededError):
        graph.invoke(None, thread_id="t")
    assert types(graph) == [*before, "run_failed"]
    assert graph.invoke({}, thread_id="u").state.log == ["a", "b"]
    with pytest.raises(GraphConfigError, match="max_thread_steps is 1 or more"):
        Graph(Trail, max_thread_steps=0)


def test_a_node_knows_how_many_supersteps_may_follow_its_own() -> None:
    left: list[int] = []

    @node
    def count(state: Trail, ctx: NodeContext) -> dict[str, Any]:
        left.append(ctx.remaining_steps)
        return {"count": state.count + 1}

    @node
    def last(state: Trail, ctx: NodeContext) -> None:
        left.append(ctx.remaining_steps)

    options = {"max_steps": 3, "max_thread_steps": 5, "state_store": InMemoryStateStore()}
    graph = Graph(Trail, **options).flow(
        START >> count,
        count >> when(lambda state: state.count < 2, count, otherwise=last),
        last >> END,
    )
    graph.invoke({}, thread_id="t")
    assert left == [2, 1, 0]
    with pytest.raises(RunLimitExceededError):
        graph.invoke({"count": 0}, thread_id="t")
    assert left == [2, 1, 0, 1, 0]


# --- others in the place of nodes ----------------------------------------------------------------


def test_a_stand_in_runs_in_the_place_of_a_node_and_the_graph_is_unchanged() -> None:
    graph = chain(stop("a"), stop("b"))
    tested = graph.override({"b": lambda state: {"log": ["stand-in"]}})
    assert tested.invoke({}, thread_id="t").state.log == ["a", "stand-in"]
    assert graph.invoke({}, thread_id="u").state.log == ["a", "b"]
    assert (tested.name, tested.state_store) == (graph.name, graph.state_store)
    assert tested.shape == graph.shape


def test_a_stand_in_leads_where_the_node_may_lead_and_has_its_retry() -> None:
    fails = [OSError("once")]
    a, b = stop("a"), stop("b")

    @node(goto=[a, b], retry=Retry(attempts=2), label="Lead")
    def lead(state: Trail) -> Command:
        """Choose the way."""
        raise AssertionError("must not run")

    def stand_in(state: Trail, ctx: NodeContext) -> Command:
        if fails:
            raise fails.pop()
        return Command(update={"log": [f"attempt {ctx.attempt}"]}, goto=[Send(b), a])

    graph = Graph(Trail).flow(START >> lead, a >> END, b >> END).override({"lead": stand_in})
    assert graph.invoke({}).state.log == ["attempt 2", "b", "a"]
    [shape] = [each for each in graph.shape.nodes if each.path == "lead"]
    assert (shape.label, shape.description) == ("Lead", "Choose the way.")


def test_a_dry_run_has_one_stand_in_for_all_other_nodes() -> None:
    def effect(state: Trail) -> None:
        raise AssertionError("must not run")

    pay, ship, told = (node(name=name)(effect) for name in ("pay", "ship", "told"))
    check = node(name="check")(lambda state: {"count": 5})
    graph = Graph(Trail).flow(
        START >> check,
        check >> when(lambda state: state.count > 3, pay, otherwise=told),
        pay >> ship,
        join(pay, ship) >> told,
        told >> END,
    )
    dry = graph.override({"check": check}, others=lambda state: {"log": ["-"]})
    assert dry.invoke({}).state == Trail(log=["-", "-", "-"], count=5)


def test_a_sub_graph_is_stood_in_for_as_a_whole_and_a_cache_is_left_out() -> None:
    inner = Graph(Trail, name="inner").flow(START >> stop("x") >> END)
    cached = node(name="cached", cache=NodeCache())(lambda state: {"log": ["real"]})
    graph = chain(subgraph("sub", inner, share=["log"]), cached)
    graph.invoke({}, thread_id="t")
    assert graph.shape.nodes  # the shape of the graph itself has been asked for
    tested = graph.override({
        "sub": lambda state: {"log": ["sub"]},
        "cached": lambda state: {"log": ["stub"]},
    })
    assert tested.invoke({}, thread_id="u").state.log == ["sub", "stub"]
    assert [each.path for each in tested.shape.nodes] == ["sub", "cached"]


def test_a_node_may_stand_in_and_what_is_none_is_refused() -> None:
    graph = fan(stop("a"), stop("b"))
    assert graph.override({"a": stop("other")}).invoke({}, thread_id="t").state.log == [
        "other",
        "b",
    ]
    with pytest.raises(GraphConfigError, match="no node 'x' to override; nodes are 'a', 'b'"):
        graph.override({"x": lambda state: None})
    with pytest.raises(TypeError, match="must take the state"):
        graph.override({"a": lambda: None})
