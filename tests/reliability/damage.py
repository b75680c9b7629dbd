"""Files that are damaged, and what is read of them."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

from nbgraph.errors import StateStoreError
from tests.reliability.processes import in_memory
from tests.reliability.runs import open_store
from tests.reliability.walks import walk

SEED = 20_252


def damaged(number: int, content: bytes, log: bytes, expected: list[str]) -> str:
    """Read a damaged file; return "error", "same", or what it was silently read as.

    Every fourth time the damage is in the write-ahead log, where it may cut off the last events:
    SQLite takes a log that breaks off for one whose last writes did not happen.
    """
    chance = random.Random(f"{SEED} {number}")
    torn = number % 4 == 3
    hurt = _hurt(log if torn else content, chance, cut=number % 10 == 9)
    with in_memory() as folder:
        path = folder / "t.db"
        path.write_bytes(content if torn else hurt)
        Path(f"{path}-wal").write_bytes(hurt if torn else log)
        try:
            found = asyncio.run(_read(path))
        except StateStoreError:
            return "error"
    if found == expected or (torn and found == expected[: len(found)]):
        return "same"
    return f"run {number}: {found}"


def _hurt(content: bytes, chance: random.Random, *, cut: bool) -> bytes:
    """Return a file with some bytes overwritten, or cut off."""
    if cut:
        return content[: chance.randrange(len(content))]
    size = chance.choice([1, 8, 64])
    place = chance.randrange(len(content) - size)
    return content[:place] + chance.randbytes(size) + content[place + size :]


async def _read(path: Path) -> list[str]:
    store = open_store(path)
    try:
        graph = walk("interrupt", store, [])
        return (await graph.load("t"))["log"] if await graph.exists("t") else []
    finally:
        await store.aclose()
