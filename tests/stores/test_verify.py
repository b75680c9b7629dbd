"""What verifying finds, and what the command line says of it."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from nbgraph import cli
from nbgraph.core.blob import Blob
from nbgraph.core.events import ChildPlace, OnceRecorded, TaskInterrupted
from nbgraph.core.store import Damage
from nbgraph.stores import SQLiteStateStore
from nbgraph.stores._sql_rows import place_of
from nbgraph.testing._store_log import append, fork_at, notes, question, summary

LARGE = "large " * 20_000


async def fill(store: SQLiteStateStore) -> None:
    for after in range(0, 60, 3):
        await append(store, notes(3, after=after), question("t:0", asked=3))
    events = notes(2, after=30, branch_id="b")
    await store.fork(fork_at(30, "b"), events, summary=summary(2, question("t:1", asked=31)))
    large = OnceRecorded(sequence=1, task_id="t", key="k", value={"deep": [LARGE]})
    await append(store, [large], thread_id="large")
    await append(store, [large.model_copy(update={"sequence": 2})], thread_id="large")
    blob = Blob(kind="bytes", content=b"\xff" * 9, summary="9 bytes")
    value = OnceRecorded(sequence=3, task_id="t", key="k", value=[blob])
    await append(store, [value], thread_id="large")
    place = ChildPlace(thread_id="t:a:1", branch_id="main", sequence=2, parent_branch_id="main")
    held = TaskInterrupted(sequence=61, task_id="a", node="a", interrupts=(), child=place)
    await append(store, [held], question("t:0", asked=3))
    await store.append("t:a:1", "main", notes(2), expected=0, summary=replace(summary(), root="t"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    store = SQLiteStateStore(tmp_path / "threads.db")
    asyncio.run(fill(store))
    store.close()
    return tmp_path / "threads.db"


def verified(path: Path) -> list[Damage]:
    store = SQLiteStateStore(path)
    try:
        return list(asyncio.run(store.verify()))
    finally:
        store.close()


def alter(path: Path, statement: str, *values: object) -> None:
    with sqlite3.connect(path) as connection:
        assert connection.execute(statement, values).rowcount
    connection.close()


def test_a_sound_store_has_no_damage(path: Path) -> None:
    assert verified(path) == []


def test_a_large_value_is_stored_once_and_comes_back(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM blobs").fetchone() == (2,)
    connection.close()
    store = SQLiteStateStore(path)
    found = asyncio.run(store.events("large", upto=2))
    assert [event.value for event in found] == [{"deep": [LARGE]}] * 2
    asyncio.run(store.delete("large"))
    store.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM blobs").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM blob_uses").fetchone() == (0,)
    connection.close()


WRITTEN = "it is not what was written"
LARGE_VALUE = "a large value of it is missing, or is not what was written"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            f"UPDATE commits SET body = body || ' ' WHERE place = {place_of(1, 31)}",
            [Damage("t", "main", 31, WRITTEN)],
        ),
        (
            f"DELETE FROM commits WHERE place = {place_of(1, 28)}",
            [
                Damage("t", "main", 28, "it is missing"),
                Damage("t", "b", 31, "it was forked off another past than its parent has now"),
            ],
        ),
        (
            f"DELETE FROM commits WHERE place = {place_of(1, 58)}",
            [Damage("t", "main", 58, "it is missing")],
        ),
        (
            "UPDATE branches SET step = 9 WHERE name = 'b'",
            [Damage("t", "b", 32, "the row of the branch is not what was written")],
        ),
        (
            "DELETE FROM questions WHERE branch = 2",
            [Damage("t", "b", 32, "1 questions wait, 0 are there")],
        ),
        (
            f"DELETE FROM commits WHERE place = {place_of(1, 61)}",
            [Damage("t", "main", 61, "the log does not end there")],
        ),
        (
            "UPDATE questions SET created_at = 5 WHERE branch = 1",
            [Damage("t", "main", 3, "the question 't:0' is not what was written")],
        ),
        (
            "UPDATE questions SET body = replace(body, 't:0', 't:9') WHERE branch = 1",
            [Damage("t", "main", 3, "the question 't:0' is not what was written")],
        ),
        (
            "UPDATE questions SET branch = 77 WHERE branch = 2",
            [
                Damage("t", "b", 32, "1 questions wait, 0 are there"),
                Damage("", "", 0, "there are questions of a branch that is missing"),
            ],
        ),
        (
            "DELETE FROM blobs WHERE length(body) = 9",
            [Damage("large", "main", 3, LARGE_VALUE)],
        ),
        (
            "UPDATE blobs SET body = x'ffffffffffffffff00' WHERE length(body) = 9",
            [Damage("large", "main", 3, LARGE_VALUE)],
        ),
        (
            "DELETE FROM blob_uses WHERE hash IN (SELECT hash FROM blobs WHERE length(body) = 9)",
            [Damage("large", "main", 3, "a large value of it counts as not needed")],
        ),
        (
            "DELETE FROM children",
            [
                Damage(
                    "t",
                    "main",
                    61,
                    "the thread of its sub-graph, 't:a:1', does not belong to 't'",
                )
            ],
        ),
        (
            "UPDATE children SET thread = 'nobody'",
            [
                Damage(
                    "t",
                    "main",
                    61,
                    "the thread of its sub-graph, 't:a:1', does not belong to 't'",
                ),
                Damage("nobody", "main", 0, "the thread of a sub-graph is missing"),
            ],
        ),
        (
            "UPDATE children SET root = 'nobody'",
            [
                Damage(
                    "t",
                    "main",
                    61,
                    "the thread of its sub-graph, 't:a:1', does not belong to 't'",
                ),
                Damage("t:a:1", "main", 0, "it belongs to 'nobody', which is no thread to list"),
            ],
        ),
        (
            "UPDATE blobs SET body = x'41' WHERE length(body) > 9",
            [
                Damage(
                    "large",
                    "main",
                    1,
                    "a large value of it is missing, or is not what was written",
                )
            ],
        ),
        (
            "DELETE FROM branches WHERE name = 'b'",
            [
                Damage("", "", 0, "there are events of a branch that is missing"),
                Damage("", "", 0, "there are questions of a branch that is missing"),
            ],
        ),
    ],
)
def test_damage_is_told_with_its_place(path: Path, change: str, expected: list[Damage]) -> None:
    alter(path, change)
    assert verified(path) == expected


def test_a_past_rewritten_with_fitting_hashes_is_told_by_its_forks(path: Path) -> None:
    from nbgraph.stores._chain import link
    from nbgraph.stores._sql_rows import found_branch

    with sqlite3.connect(path) as connection:
        branch = found_branch(connection.cursor(), "t", "main")
        chain = branch.root
        listed = "SELECT place, count, body FROM commits WHERE place BETWEEN ? AND ? ORDER BY place"
        rows = connection.execute(listed, (place_of(1, 0), place_of(2, 0))).fetchall()
        for place, count, body in rows:
            changed = body.replace(b'"key":"5"', b'"key":"6"')
            chain = link(chain, place - place_of(1, 0), count, changed)
            update = "UPDATE commits SET body = ?, hash = ? WHERE place = ?"
            connection.execute(update, (changed, chain, place))
        made = branch.changed(chain=chain)
        seal = "UPDATE branches SET chain = ?, checksum = ? WHERE id = 1"
        connection.execute(seal, (made.chain, made.checksum))
    connection.close()
    problem = "it was forked off another past than its parent has now"
    assert verified(path) == [Damage("t", "b", 31, problem)]


# The command line.


def test_the_commands_say_what_is_in_a_store(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["verify", str(path)]) == 0
    assert capsys.readouterr().out == "2 threads, all as they were written\n"
    assert cli.main(["threads", str(path)]) == 0
    assert sorted(line.split()[-1] for line in capsys.readouterr().out.splitlines()) == [
        "large",
        "t",
    ]
    assert cli.main(["show", str(path), "t", "--branch", "b"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 32
    assert lines[-1].startswith("b:32  once_recorded  {'task_id': 't'")


def test_a_reader_that_has_enough_is_no_error(path: Path) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    code = f"from nbgraph.cli import main; raise SystemExit(main(['threads', {str(path)!r}]))"
    with open(writes, "wb") as pipe:
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=pipe, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")


def test_verify_ends_with_one_and_names_the_damage(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alter(path, f"UPDATE commits SET count = 2 WHERE place = {place_of(1, 4)}")
    assert cli.main(["verify", str(path)]) == 1
    assert capsys.readouterr().out == (
        "Thread 't', branch 'main', event 4: it is not what was written\n"
    )


def test_a_file_that_is_not_there_is_not_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("verify", "threads"):
        assert cli.main([command, str(tmp_path / "nothing.db")]) == 1
        assert "There is no state store" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_what_a_terminal_would_obey_is_shown(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = SQLiteStateStore(path)
    asyncio.run(append(store, notes(1), thread_id="a\x1b[2Jb\nc"))
    store.close()
    cli.main(["threads", str(path)])
    assert "a\\x1b[2Jb\\x0ac\n" in capsys.readouterr().out
