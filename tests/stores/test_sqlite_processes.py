"""Several processes on one file, and processes that are killed."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from nbgraph.stores import SQLiteStateStore
from nbgraph.testing._store_log import append, last_read, notes

WRITER = Path(__file__).with_name("writer.py")


def writer(path: Path, task: str, argument: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(WRITER), str(path), task, argument]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )


def test_of_two_processes_that_append_at_one_place_exactly_one_wins(tmp_path: Path) -> None:
    path, rounds = tmp_path / "threads.db", 100
    with writer(path, "race", "a") as one, writer(path, "race", "b") as two:
        replies = [[racer.stdout.readline() for racer in (one, two)]]
        for place in range(rounds):
            for racer in (one, two):
                racer.stdin.write(f"{place}\n")
                racer.stdin.flush()
            replies.append([racer.stdout.readline() for racer in (one, two)])
        one.stdin.close()
        two.stdin.close()
    assert replies[0] == ["ready\n", "ready\n"]
    assert [sorted(reply) for reply in replies[1:]] == [["lost\n", "won\n"]] * rounds
    events = asyncio.run(last_read(SQLiteStateStore(path)))
    assert [event.value for event in events] == list(range(1, rounds + 1))


def test_what_a_killed_writer_was_told_is_there_and_nothing_is_torn(tmp_path: Path) -> None:
    path, head, chance = tmp_path / "threads.db", 0, random.Random(7)
    for _ in range(12):
        with writer(path, "write", str(head)) as process:
            told = [process.stdout.readline() for _ in range(chance.randint(1, 80))]
            process.kill()
            told += process.stdout.read().splitlines(keepends=True)
        acknowledged = int([line for line in told if line.endswith("\n")][-1])
        with sqlite3.connect(path) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()
        events = asyncio.run(last_read(SQLiteStateStore(path)))
        head = len(events)
        assert events == notes(head)
        assert head >= acknowledged
        assert head % 3 == 0


def test_a_full_disk_is_an_error_that_tears_nothing_and_passes(tmp_path: Path) -> None:
    path, limit = tmp_path / "threads.db", 200_000
    with writer(path, "fill", str(limit)) as process:
        error, kept, seen = process.stdout.readline().split()
        later = process.stdout.readline().strip()
    assert (error, kept) == ("StateStoreError", seen)
    assert int(later) == int(kept) + 3
    assert len(asyncio.run(last_read(SQLiteStateStore(path)))) == int(later)


def test_a_store_opened_before_a_fork_is_refused_in_the_child(tmp_path: Path) -> None:
    path = tmp_path / "threads.db"
    with writer(path, "fork", "") as process:
        replies = process.stdout.read().splitlines()
    assert replies == ["refused", "kept"]
    assert asyncio.run(last_read(SQLiteStateStore(path))) == notes(1)


def test_a_store_can_be_made_by_several_at_once(tmp_path: Path) -> None:
    path, makers = tmp_path / "made" / "threads.db", 8
    barrier = threading.Barrier(makers)

    def make(name: str) -> None:
        barrier.wait(timeout=60)
        store = SQLiteStateStore(path)
        asyncio.run(append(store, notes(1), thread_id=name))
        store.close()

    with ThreadPoolExecutor(makers) as pool:
        list(pool.map(make, "abcdefgh"))
    store = SQLiteStateStore(path)
    assert sorted(one.thread_id for one in asyncio.run(store.threads())) == list("abcdefgh")
    store.close()
