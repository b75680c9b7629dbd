"""Questions without an id: a warning where an answer may go to another question than was shown."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from nbgraph import Graph, Resume, UnnamedInterruptWarning, interrupt, node
from tests.core.graphs import Trail, chain

ITEMS: list[str] = []


def asked_again(graph: Graph, *answers: Any) -> Any:
    """Answer what a thread asks, one after the other, and return the last result."""
    result = graph.invoke({}, thread_id="t")
    for answer in answers:
        result = graph.invoke(resume=Resume(answer), thread_id="t")
    return result


def test_a_loop_of_questions_without_ids_is_warned_of_where_it_asks() -> None:
    @node
    def each(state: Trail) -> dict[str, Any]:
        return {"log": [interrupt(f"{item}?") for item in ("a", "b")]}

    with pytest.warns(UnnamedInterruptWarning, match="'each' asks in a loop without an id") as seen:
        result = asked_again(chain(each), 1)
    assert list(result.interrupts) == ["each:1"]
    assert [each.filename for each in seen] == [__file__]


def test_a_loop_in_a_function_of_the_node_is_a_loop_and_async_ones_are_too() -> None:
    def asks(item: str) -> Any:
        return interrupt(f"{item}?")

    @node
    async def each(state: Trail) -> dict[str, Any]:
        return {"log": [asks(item) for item in ("a", "b")]}

    with pytest.warns(UnnamedInterruptWarning, match="in a loop"):
        asked_again(chain(each), 1)


def test_questions_in_a_row_are_no_loop_even_through_one_function() -> None:
    def asks(text: str) -> Any:
        return interrupt(text)

    @node
    def two(state: Trail) -> dict[str, Any]:
        first = asks("a?")
        second = asks("b?")
        return {"log": [first, second]}

    assert asked_again(chain(two), "1", "2").state.log == ["1", "2"]


def test_a_loop_whose_questions_have_ids_is_safe_however_it_runs_again() -> None:
    ITEMS[:] = ["a", "b"]

    @node
    def each(state: Trail) -> dict[str, Any]:
        return {"log": [f"{item} {interrupt(f'{item}?', id=item)}" for item in ITEMS]}

    graph = chain(each)
    graph.invoke({}, thread_id="t")
    ITEMS[:] = ["b", "a"]
    result = graph.invoke(resume=Resume("first"), thread_id="t")
    assert list(result.interrupts) == ["each:b"]
    assert graph.invoke(resume=Resume("x"), thread_id="t").state.log == ["b x", "a first"]


@pytest.mark.parametrize("ways", [{"message": "{}?"}, {"payload": "{}"}])
def test_an_answer_that_goes_to_another_question_than_was_shown_is_warned_of(ways: Any) -> None:
    ITEMS[:] = ["a"]

    @node
    def ask(state: Trail) -> dict[str, Any]:
        return {"log": [interrupt(**{key: text.format(ITEMS[0]) for key, text in ways.items()})]}

    graph = chain(ask)
    graph.invoke({}, thread_id="t")
    ITEMS[:] = ["b"]
    with pytest.warns(UnnamedInterruptWarning, match=r"'ask:0' is 'b.*was given to 'a") as seen:
        assert graph.invoke(resume=Resume("yes"), thread_id="t").state.log == ["yes"]
    assert [each.filename for each in seen] == [__file__]


def test_what_is_shown_beside_the_same_message_may_change() -> None:
    ITEMS[:] = ["a"]

    @node
    def ask(state: Trail) -> dict[str, Any]:
        return {"log": [interrupt(ITEMS[0], message="Send it?")]}

    graph = chain(ask)
    graph.invoke({}, thread_id="t")
    ITEMS[:] = ["b"]
    assert graph.invoke(resume=Resume("yes"), thread_id="t").state.log == ["yes"]


def test_a_process_that_takes_warnings_for_errors_has_one_and_the_answer_stays() -> None:
    @node
    def each(state: Trail) -> dict[str, Any]:
        return {"log": [interrupt(f"{item}?") for item in ("a", "b")]}

    graph = chain(each)
    graph.invoke({}, thread_id="t")
    with pytest.raises(UnnamedInterruptWarning):
        graph.invoke(resume=Resume("1"), thread_id="t")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnnamedInterruptWarning)
        asked = graph.invoke(None, thread_id="t")
        assert list(asked.interrupts) == ["each:1"]
        assert graph.invoke(resume=Resume("2"), thread_id="t").state.log == ["1", "2"]
