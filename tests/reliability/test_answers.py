"""Of several who answer one question at once exactly one wins, and its answer takes effect once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import ExitStack

import pytest

from nbgraph import Resume
from nbgraph.errors import AlreadyAnsweredError, ResumeError, StaleAnswerError
from tests.reliability.processes import CORES, count, in_memory, on_both_cores, process, report
from tests.reliability.races import (
    answer_rounds,
    asking,
    judged,
    paused,
    task_races,
    thread_races,
)
from tests.reliability.runs import open_store
from tests.reliability.walks import effects


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("processes", "each", "nightly"), [(2, 300, 3000), (8, 50, 500)])
def test_of_processes_that_answer_at_once_one_wins(processes: int, each: int, nightly: int) -> None:
    names = [f"t{number}" for number in range(count(each, nightly))]
    rounds: dict[str, Sequence[str]] = {}
    with in_memory() as folder, ExitStack() as stack:
        path, outside = folder / "t.db", folder / "effects"
        paused(path, outside, names)
        made = [process(answer_rounds, path, outside, f"p{n}") for n in range(processes)]
        ends = [stack.enter_context(one)[1] for one in made]
        assert [end.recv() for end in ends] == ["ready"] * processes
        for name in names:
            for end in ends:
                end.send(name)
            rounds[name] = [end.recv() for end in ends]
        for end in ends:
            end.send("")
        report(f"answers of {processes} processes", judged(rounds, outside), 0)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("races", "who"), [(thread_races, "threads"), (task_races, "tasks")], ids=["threads", "tasks"]
)
def test_of_threads_or_tasks_that_answer_at_once_one_wins(
    races: Callable[[Sequence[str]], list[str]], who: str
) -> None:
    runs = count(300, 3000)
    shares = [[f"t{number}" for number in range(core, runs, CORES)] for core in range(CORES)]
    outcomes = [one for share in on_both_cores(races, shares) for one in share]
    assert len(outcomes) == runs
    report(f"answers of 4 {who}", outcomes, 0)


def stale(number: int) -> str:
    """Answer askings that are over, and then the one that is not; return what is wrong."""
    with in_memory() as folder:
        return asyncio.run(_stale(number, folder))


async def _stale(number: int, folder) -> str:
    store, outside = open_store(folder / "t.db", durability="fast"), folder / "effects"
    graph = asking(store, outside)
    wrong = ""
    for turn in range(10):
        await graph.ainvoke({}, thread_id="t")
        (asked,) = [one.asked for one in (await graph.pending("t")).values()]
        late = Resume(answers={"ask:go": "late"}, asked={"ask:go": asked - 1 - turn % 3})
        before = await store.events("t")
        try:
            await graph.ainvoke(resume=late, thread_id="t")
        except (StaleAnswerError, AlreadyAnsweredError):
            pass
        except ResumeError as error:
            wrong += f"run {number}, turn {turn}: {error!r}"
        else:
            wrong += f"run {number}, turn {turn}: it was taken"
        if await store.events("t") != before:
            wrong += f"run {number}, turn {turn}: something was recorded"
        good = Resume(answers={"ask:go": str(turn)}, asked={"ask:go": asked})
        await graph.ainvoke(resume=good, thread_id="t")
    await store.aclose()
    said = [line.partition("=")[2] for line in effects(outside)]
    return wrong if said == [str(turn) for turn in range(10)] else f"{wrong} effects {said}"


def test_an_answer_to_an_asking_that_is_over_is_refused_and_changes_nothing() -> None:
    outcomes = on_both_cores(stale, range(20))
    report("stale answers", [one for one in outcomes for _ in range(10)], 0)
