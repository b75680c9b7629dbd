"""LangGraph's graphs of functions, whose tasks run side by side and ask."""

import asyncio

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.types import interrupt

from nbgraph import open_session
from nbgraph.adapters.log import forget
from nbgraph.errors import AlreadyAnsweredError

ran = []


@pytest.fixture(autouse=True)
def nothing_has_run():
    ran.clear()


@task
def look_up(article):
    ran.append(article)
    return f"a {article}"


@task
def ask(question):
    return [question, interrupt({"question": question})]


@task
async def ask_later(question):
    return [question, interrupt({"question": question})]


def with_futures():
    @entrypoint(checkpointer=InMemorySaver())
    def flow(questions: list):
        found = look_up("lamp")
        asked = [ask(question) for question in questions]
        return [found.result(), *(each.result() for each in asked)]

    return flow


def with_gather():
    @entrypoint(checkpointer=InMemorySaver())
    async def flow(questions: list):
        tasks = [look_up("lamp"), *(ask_later(question) for question in questions)]
        return await asyncio.gather(*tasks)

    return flow


@pytest.mark.parametrize("make", [with_futures, with_gather])
def test_tasks_side_by_side_ask_one_after_the_other_and_each_gets_its_own_answer(make):
    app = make()
    session = open_session(app, thread_id="t")
    session.start(["How many?", "Which colour?", "When?"]).result()
    keys = []
    while session.pending:
        forget(app)  # as after a restart, before each answer
        session = open_session(app, thread_id="t")
        [(key, question)] = session.pending.items()
        keys.append(key)
        session.resume({key: f"as to {question.message}"}).result()
    assert keys == ["flow:0", "flow:1", "flow:2"]
    assert session.state["result"] == [
        "a lamp",
        ["How many?", "as to How many?"],
        ["Which colour?", "as to Which colour?"],
        ["When?", "as to When?"],
    ]
    assert ran == ["lamp"]


@pytest.mark.parametrize("make", [with_futures, with_gather])
def test_the_answer_to_one_task_is_stale_for_the_other(make):
    session = open_session(make(), thread_id="t")
    session.start(["A", "B"]).result()
    first = session.pending["flow:0"]
    session.resume({"flow:0": "a"}).result()
    with pytest.raises(AlreadyAnsweredError, match="flow:0"):
        session.resume({"flow:0": "b"}, asked={"flow:0": first.asked}).result()
    assert list(session.pending) == ["flow:1"]
    session.resume({"flow:1": "b"}).result()
    assert session.state["result"][1:] == [["A", "a"], ["B", "b"]]
