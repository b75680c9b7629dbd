"""Of several who answer one question at once exactly one wins, and its answer takes effect once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from nbgraph import Resume, SQLiteStateStore
from nbgraph.errors import AlreadyAnsweredError, ResumeError, StaleAnswerError
from tests.reliability.processes import count, process, report
from tests.reliability.program import answer_rounds, answered, asking, effects

LOST = {"AlreadyAnsweredError", "ConcurrentRunError", "ClaimLostError"}


def paused(path: Path, outside: Path, names: Sequence[str]) -> None:
    async def begin() -> None:
        store = SQLiteStateStore(path)
        graph = asking(store, outside)
        await asyncio.gather(*(graph.ainvoke({}, thread_id=name) for name in names))
        await store.aclose()

    asyncio.run(begin())


def wrong(outcomes: Sequence[str], said: Sequence[str], name: str) -> str:
    """Return what is wrong with a race whose effects are `said`."""
    won = [one for one in outcomes if one.startswith("won ")]
    if len(won) != 1 or not LOST.issuperset(set(outcomes) - set(won)):
        return f"{name}: {outcomes}"
    if said != [won[0].removeprefix("won ")]:
        return f"{name}: {outcomes} but {said}"
    return ""


def judged(rounds: dict[str, Sequence[str]], outside: Path) -> list[str]:
    said: dict[str, list[str]] = {name: [] for name in rounds}
    for line in effects(outside):
        name, _, answer = line.partition("=")
        said[name].append(answer)
    return [bad for name, all_ in rounds.items() if (bad := wrong(all_, said[name], name))]


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("processes", "each", "nightly"), [(2, 150, 300), (8, 25, 50)])
def test_of_processes_that_answer_at_once_one_wins(
    tmp_path: Path, processes: int, each: int, nightly: int
) -> None:
    path, outside = tmp_path / "t.db", tmp_path / "effects"
    names = [f"t{number}" for number in range(count(each, nightly))]
    paused(path, outside, names)
    rounds: dict[str, Sequence[str]] = {}
    with ExitStack() as stack:
        made = [process(answer_rounds, path, outside, f"p{n}") for n in range(processes)]
        ends = [stack.enter_context(one)[1] for one in made]
        assert [end.recv() for end in ends] == ["ready"] * processes
        for name in names:
            for end in ends:
                end.send(name)
            rounds[name] = [end.recv() for end in ends]
        for end in ends:
            end.send("")
    report(f"answers of {processes} processes", len(names), judged(rounds, outside), 0)


@pytest.mark.timeout(3600)
def test_of_threads_that_answer_at_once_one_wins(tmp_path: Path) -> None:
    path, outside = tmp_path / "t.db", tmp_path / "effects"
    names = [f"t{number}" for number in range(count(150, 300))]
    paused(path, outside, names)
    store = SQLiteStateStore(path)

    def one(name: str, who: str) -> str:
        return asyncio.run(answered(store, outside, name, who))

    with ThreadPoolExecutor(4) as pool:
        rounds = {name: list(pool.map(one, [name] * 4, ["a", "b", "c", "d"])) for name in names}
    store.close()
    report("answers of 4 threads", len(names), judged(rounds, outside), 0)


@pytest.mark.timeout(3600)
def test_of_tasks_that_answer_at_once_one_wins(tmp_path: Path) -> None:
    path, outside = tmp_path / "t.db", tmp_path / "effects"
    names = [f"t{number}" for number in range(count(150, 300))]
    paused(path, outside, names)

    async def race() -> dict[str, Sequence[str]]:
        store = SQLiteStateStore(path)
        rounds = {
            name: await asyncio.gather(*(answered(store, outside, name, who) for who in "abcd"))
            for name in names
        }
        await store.aclose()
        return rounds

    report("answers of 4 tasks", len(names), judged(asyncio.run(race()), outside), 0)


def test_an_answer_to_an_asking_that_is_over_is_refused_and_changes_nothing(
    tmp_path: Path,
) -> None:
    path, outside, runs = tmp_path / "t.db", tmp_path / "effects", 200

    async def scenario() -> list[str]:
        store = SQLiteStateStore(path, durability="fast")
        graph, failed = asking(store, outside), []
        for number in range(runs):
            thread = f"t{number % 10}"
            await graph.ainvoke({}, thread_id=thread)
            (asked,) = [one.asked for one in (await graph.pending(thread)).values()]
            late = Resume(answers={"ask:go": "late"}, asked={"ask:go": asked - 1 - number % 3})
            before = await store.events(thread)
            try:
                await graph.ainvoke(resume=late, thread_id=thread)
            except (StaleAnswerError, AlreadyAnsweredError):
                pass
            except ResumeError as error:
                failed.append(f"run {number}: {error!r}")
            else:
                failed.append(f"run {number}: it was taken")
            if await store.events(thread) != before:
                failed.append(f"run {number}: something was recorded")
            good = Resume(answers={"ask:go": str(number)}, asked={"ask:go": asked})
            await graph.ainvoke(resume=good, thread_id=thread)
        await store.aclose()
        return failed

    failed = asyncio.run(scenario())
    said = [line.partition("=")[2] for line in effects(outside)]
    if said != [str(number) for number in range(runs)]:
        failed.append(f"effects are {said}")
    report("stale answers", runs, failed, 0)
