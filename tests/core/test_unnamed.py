"""Questions without an id: a warning where an answer may go to another question than was shown."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from nbgraph import Graph, Resume, UnnamedInterruptWarning, interrupt, node
from tests.core.graphs import Trail, chain

ITEMS: list[str] = []


@pytest.fixture(autouse=True)
def items() -> None:
    ITEMS[:] = ["a", "b"]


def asked_again(graph: Graph, *answers: Any) -> Any:
    """Answer what a thread asks, one after the other, and return the last result."""
    result = graph.invoke({}, thread_id="t")
    for answer in answers:
        result = graph.invoke(resume=Resume(answer), thread_id="t")
    return result


def test_a_loop_of_questions_without_ids_is_warned_of_where_it_asks() -> None:
    @node
    def each(state: Trail) -> dict[str, Any]:
        return {"log": [interrupt(f"{item}?") for item in ITEMS]}

    with pytest.warns(UnnamedInterruptWarning, match="'each' asks in a loop without an id") as seen:
        result = asked_again(chain(each), 1)
    assert list(result.interrupts) == ["each:1"]
    assert [each.filename for each in seen] == [__file__]


def test_a_loop_in_a_function_of_the_node_is_a_loop_and_async_ones_are_too() -> None:
    def asks(item: str) -> Any:
        return interrupt(f"{item}?")

    @node
    async def each(state: Trail) -> dict[str, Any]:
        return {"log": [asks(item) for item in ITEMS]}

    with pytest.warns(UnnamedInterruptWarning, match="in a loop"):
        asked_again(chain(each), 1)


def in_a_tuple() -> list[Any]:
    return [interrupt(f"{item}?") for item in ("a", "b")]


def in_a_list() -> list[Any]:
    said: list[Any] = []
    for item in ["a", "b"]:
        said.append(interrupt(f"{item}?"))
    return said


def in_numbers() -> list[Any]:
    said: list[Any] = []
    for number, item in enumerate(("a", "b")):
        for _ in range(1):
            said.append(interrupt(f"{item}?", message=str(number)))
    return said


def through_a_function() -> list[Any]:
    def asks(item: str) -> Any:
        return interrupt(f"{item}?")

    return [asks(item) for item in ("a", "b")]


async def awaited() -> list[Any]:
    async def asks(item: str) -> Any:
        return interrupt(f"{item}?")

    said: list[Any] = []
    for item in ("a", "b"):
        said.append(await asks(item))
    return said


CONSTANT = [in_a_tuple, in_a_list, in_numbers, through_a_function, awaited]


@pytest.mark.filterwarnings("error::nbgraph.UnnamedInterruptWarning")
@pytest.mark.parametrize("asks", CONSTANT)
def test_a_loop_over_constants_is_not_warned_of(asks: Any) -> None:
    @node(name="each")
    async def each(state: Trail) -> dict[str, Any]:
        said = asks()
        return {"log": said if isinstance(said, list) else await said}

    assert asked_again(chain(each), "1", "2").state.log == ["1", "2"]


def while_it_is_said() -> list[Any]:
    said: list[Any] = []
    while len(said) < 2:
        said.append(interrupt("more?"))
    return said


def over_a_set() -> list[Any]:
    return [interrupt(f"{item}?") for item in {"a", "b"}]


def within_a_loop_over_what_may_change() -> list[Any]:
    return [interrupt(f"{item}?") for _ in ITEMS for item in ("a",)]


@pytest.mark.parametrize("asks", [while_it_is_said, over_a_set, within_a_loop_over_what_may_change])
def test_a_loop_that_may_run_otherwise_the_next_time_is_warned_of(asks: Any) -> None:
    each = node(name="each")(lambda state: {"log": asks()})
    with pytest.warns(UnnamedInterruptWarning, match="in a loop"):
        asked_again(chain(each), 1)


def test_a_loop_whose_source_cannot_be_had_is_warned_of() -> None:
    known: dict[str, Any] = {"interrupt": interrupt}
    exec("def asks(): return [interrupt(item) for item in ('a', 'b')]", known)
    with pytest.warns(UnnamedInterruptWarning, match="in a loop"):
        asked_again(chain(node(name="each")(lambda state: {"log": known["asks"]()})), 1)


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
        return {"log": [interrupt(f"{item}?") for item in ITEMS]}

    graph = chain(each)
    graph.invoke({}, thread_id="t")
    with pytest.raises(UnnamedInterruptWarning):
        graph.invoke(resume=Resume("1"), thread_id="t")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnnamedInterruptWarning)
        asked = graph.invoke(None, thread_id="t")
        assert list(asked.interrupts) == ["each:1"]
        assert graph.invoke(resume=Resume("2"), thread_id="t").state.log == ["1", "2"]
