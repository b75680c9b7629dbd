"""A process that writes to a store and says on its output what was acknowledged."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys

from nbgraph.errors import ConcurrentRunError, StateStoreError
from nbgraph.stores import SQLiteStateStore
from nbgraph.testing._store_log import append, notes


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


async def race(store: SQLiteStateStore, name: str) -> None:
    """For each place read from the input, try to append there."""
    say("ready")
    for line in sys.stdin:
        try:
            await append(store, notes(1, after=int(line), text=name))
        except ConcurrentRunError:
            say("lost")
        else:
            say("won")


async def write(store: SQLiteStateStore, after: str) -> None:
    """Append commits of three events until somebody kills the process."""
    head = int(after)
    while True:
        await append(store, notes(3, after=head))
        head += 3
        say(head)


async def fill(store: SQLiteStateStore, limit: str) -> None:
    """Append until no file may grow any more, then once more when it may again."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), most))
    head = 0
    try:
        while True:
            await append(store, notes(3, after=head))
            head += 3
    except StateStoreError as error:
        say(type(error).__name__, head, len(await store.events("t")))
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    await append(store, notes(3, after=head))
    say(len(await store.events("t")))


def fork(store: SQLiteStateStore) -> None:
    """Append in a forked child, which is refused, then in the parent."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        asyncio.run(append(store, notes(1)))
        say("kept")
        return
    try:
        asyncio.run(append(store, notes(1)))
    except StateStoreError as error:
        say("refused" if "open it again here" in str(error) else error)
    os._exit(0)


if __name__ == "__main__":
    path, task, argument = sys.argv[1:]
    opened = SQLiteStateStore(path)
    if task == "fork":
        fork(opened)
    else:
        asyncio.run({"race": race, "write": write, "fill": fill}[task](opened, argument))
