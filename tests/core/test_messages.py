"""Chat messages in a state, and the reducer that keeps them."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from nbgraph import (
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    RemoveMessage,
    Replace,
    add_messages,
    node,
)
from nbgraph.chat import (
    AIMessage,
    HumanMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
)
from nbgraph.errors import GraphConfigError, GraphExecutionError, StateUpdateError
from tests.core.graphs import history

ALL = (
    SystemMessage(id="s", content="Be brief"),
    HumanMessage(id="h", content="2 + 2?"),
    AIMessage(id="a", tool_calls=(ToolCall(id="c", name="sum", arguments={"of": [2, 2]}),)),
    ToolMessage(id="t", name="sum", tool_call_id="c", content="4"),
)


class Talk(BaseState):
    messages: Annotated[list[Message], add_messages] = Field(default_factory=list)


def talk(update: Any, **options: Any) -> Graph:
    """Return a graph whose only node returns `update`, or what it makes of the state."""
    said = node(name="say")(lambda state: update(state) if callable(update) else update)
    store = InMemoryStateStore()
    return Graph(Talk, state_store=store, **options).flow(START >> said >> END)


def contents(messages: Any) -> list[Any]:
    return [message.content for message in messages]


def test_a_message_without_a_place_is_put_at_the_end() -> None:
    assert add_messages([ALL[0]], [ALL[1]]) == [ALL[0], ALL[1]]


def test_a_message_with_a_known_id_stands_in_its_place() -> None:
    other = HumanMessage(id="s", content="Be kind")
    assert add_messages([ALL[0], ALL[1]], [other]) == [other, ALL[1]]


def test_a_message_is_removed_by_its_id() -> None:
    assert add_messages([ALL[0], ALL[1]], [RemoveMessage(id="s")]) == [ALL[1]]


def test_the_reducer_changes_neither_list_nor_message() -> None:
    current, given = [ALL[0]], [HumanMessage(content="hi")]
    assert add_messages(current, given)[1].id
    assert (current, given) == ([ALL[0]], [HumanMessage(content="hi")])


def test_no_current_value_counts_as_an_empty_list() -> None:
    assert add_messages(None, [ALL[0]]) == [ALL[0]]


@pytest.mark.parametrize(
    ("update", "told"),
    [
        (ALL[0], "takes a list of messages"),
        (["hi"], "takes a list of messages"),
        ([ALL[0], ALL[0]], "'s' twice"),
        ([RemoveMessage(id="gone")], "'gone', which is no message of the list"),
    ],
)
def test_an_update_that_is_not_clear_is_refused(update: Any, told: str) -> None:
    with pytest.raises(StateUpdateError, match=told):
        add_messages([], update)


def test_an_id_is_given_once_and_every_reading_finds_the_same() -> None:
    graph = talk({"messages": [AIMessage(content="hello")]})
    result = graph.invoke({"messages": [HumanMessage(content="hi")]}, thread_id="t")
    ids = [message.id for message in result.state.messages]
    assert all(ids)
    assert len(set(ids)) == 2
    for _ in range(2):
        kept = graph.sync.get_state("t").value.messages
        assert [message.id for message in kept] == ids
    [finished] = [event for event in history(graph) if event.type == "task_finished"]
    assert finished.update["messages"][0]["id"] == ids[1]


def test_messages_given_by_default_or_past_the_reducer_have_ids_too() -> None:
    class Greeted(BaseState):
        messages: Annotated[list[Message], add_messages] = Field(
            default_factory=lambda: [SystemMessage(content="Be brief")]
        )

    say = node(name="say")(lambda state: {"messages": Replace([HumanMessage(content="new")])})
    graph = Graph(Greeted, state_store=InMemoryStateStore()).flow(START >> say >> END)
    final = graph.invoke({}, thread_id="t").state.messages
    first = graph.sync.get_state("t", at=1).value.messages
    assert [contents(first), contents(final)] == [["Be brief"], ["new"]]
    assert first[0].id
    assert final[0].id


def test_every_class_comes_back_as_it_was_written() -> None:
    graph = talk({"messages": list(ALL)})
    assert graph.invoke({}, thread_id="t").state.messages == list(ALL)
    assert graph.sync.get_state("t").value.messages == list(ALL)


def test_a_message_may_be_written_as_json() -> None:
    graph = talk({"messages": [{"type": "human", "id": "h", "content": "hi"}]})
    state = graph.invoke({}, thread_id="t").state
    assert state.messages == [HumanMessage(id="h", content="hi")]


def test_an_update_that_names_an_id_twice_is_refused_and_nothing_is_recorded() -> None:
    graph = talk({})
    graph.invoke({}, thread_id="t")
    before = history(graph)
    twice = {"messages": [HumanMessage(id="x", content="a"), HumanMessage(id="x", content="b")]}
    with pytest.raises(StateUpdateError, match="'x' twice"):
        graph.sync.update_state("t", twice)
    with pytest.raises(StateUpdateError, match="'gone', which is no message"):
        graph.sync.update_state("t", {"messages": [RemoveMessage(id="gone")]})
    assert history(graph) == before


def test_a_node_that_removes_an_unknown_message_fails() -> None:
    graph = talk({"messages": [RemoveMessage(id="gone")]})
    with pytest.raises(StateUpdateError, match="'gone'"):
        graph.invoke({}, thread_id="t")


def test_two_tasks_of_one_superstep_may_both_write() -> None:
    left = node(name="left")(lambda state: {"messages": [AIMessage(content="l")]})
    right = node(name="right")(lambda state: {"messages": [AIMessage(content="r")]})
    graph = Graph(Talk).flow(START >> [left, right], left >> END, right >> END)
    assert contents(graph.invoke({}).state.messages) == ["l", "r"]


def changed(state: Talk) -> Talk:
    del state.messages[0]
    state.messages[0] = HumanMessage(id="h", content="3 + 3?")
    state.messages.append(AIMessage(content="6"))
    return state


def test_a_list_changed_in_place_becomes_an_update() -> None:
    graph = talk(changed)
    state = graph.invoke({"messages": [ALL[0], ALL[1]]}, thread_id="t").state
    assert contents(state.messages) == ["3 + 3?", "6"]
    [finished] = [event for event in history(graph) if event.type == "task_finished"]
    assert [item["type"] for item in finished.update["messages"]] == ["remove", "human", "ai"]


def test_messages_that_changed_places_cannot_be_repeated() -> None:
    def turn(state: Talk) -> Talk:
        state.messages.reverse()
        return state

    with pytest.raises(GraphExecutionError, match="changed places"):
        talk(turn).invoke({"messages": [ALL[0], ALL[1]]}, thread_id="t")


def test_a_node_cannot_change_a_message_that_others_hold() -> None:
    def edit(state: Talk) -> None:
        state.messages[0].tool_calls[0].arguments["of"].append(5)

    with pytest.raises(GraphExecutionError, match="in place"):
        talk(edit).invoke({"messages": [ALL[2]]}, thread_id="t")
    assert ALL[2].tool_calls[0].arguments == {"of": [2, 2]}


@pytest.mark.parametrize(
    "kind", [list[str], list[Message | str], list, dict[str, Message], Message, list[RemoveMessage]]
)
def test_the_reducer_wants_a_list_of_message_classes(kind: Any) -> None:
    state = type(
        "State", (BaseState,), {"__annotations__": {"said": Annotated[kind, add_messages]}}
    )
    with pytest.raises(GraphConfigError, match=r"'said' .* list of message classes"):
        Graph(state)


@pytest.mark.parametrize("kind", [list[HumanMessage], list[HumanMessage | AIMessage]])
def test_some_of_the_classes_do_as_well(kind: Any) -> None:
    state = type(
        "State", (BaseState,), {"__annotations__": {"said": Annotated[kind, add_messages]}}
    )
    say = node(name="say")(lambda state: {"said": [HumanMessage(id="h", content="hi")]})
    graph = Graph(state).flow(START >> say >> END)
    assert graph.invoke({"said": []}).data["said"] == [
        {"id": "h", "type": "human", "content": "hi"}
    ]


def test_a_class_that_the_field_does_not_list_is_refused() -> None:
    class Only(BaseState):
        said: Annotated[list[HumanMessage], add_messages]

    graph = Graph(Only).flow(START >> node(name="say")(lambda state: None) >> END)
    with pytest.raises(StateUpdateError, match="'said' does not fit"):
        graph.invoke({"said": [AIMessage(content="hi")]})
