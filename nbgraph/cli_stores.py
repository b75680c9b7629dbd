"""The commands about state stores: `nbgraph verify`, `nbgraph threads`, `nbgraph show`."""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from nbgraph.core.events import Event
from nbgraph.errors import StateStoreError
from nbgraph.stores._sql_store import SqlStateStore

__all__ = ["add_commands"]

_LINE = 100


def add_commands(commands: Any) -> None:
    """Add the commands to an `argparse` parser of commands; each sets `run`, which does it."""
    verify = commands.add_parser("verify", help="check that a store holds what was written")
    threads = commands.add_parser("threads", help="list the threads in a store")
    show = commands.add_parser("show", help="list the events of a thread")
    for parser, work in ((verify, _verify), (threads, _threads), (show, _show)):
        parser.add_argument("store", metavar="STORE", help="a file, or postgresql://...")
        parser.set_defaults(run=_in_loop(work))
    show.add_argument("thread", metavar="THREAD")
    show.add_argument("--branch", default="main", metavar="NAME", help="default: main")


def _in_loop(
    work: Callable[[SqlStateStore, argparse.Namespace], Coroutine[Any, Any, int]],
) -> Callable[[argparse.Namespace], int]:
    async def opened(options: argparse.Namespace) -> int:
        async with _opened(options.store) as store:
            return await work(store, options)

    return lambda options: asyncio.run(opened(options))


@asynccontextmanager
async def _opened(address: str) -> AsyncGenerator[SqlStateStore]:
    store = _store(address)
    try:
        yield store
    finally:
        await store.aclose()


def _store(address: str) -> SqlStateStore:
    from nbgraph.stores import PostgresStateStore, SQLiteStateStore

    if address.startswith(("postgresql://", "postgres://")):
        return PostgresStateStore(address)
    if not Path(address).expanduser().is_file():
        raise StateStoreError(f"There is no state store {address!r}; pass its file")
    return SQLiteStateStore(address)


async def _verify(store: SqlStateStore, _: argparse.Namespace) -> int:
    damages = await store.verify()
    for damage in damages:
        print(_plain(str(damage)))
    if not damages:
        print(f"{len(await store.threads())} threads, all as they were written")
    return 1 if damages else 0


async def _threads(store: SqlStateStore, _: argparse.Namespace) -> int:
    for thread in await store.threads():
        at = time.strftime("%Y-%m-%d %H:%M", time.localtime(thread.updated_at))
        print(_plain(f"{at}  {thread.status:<11}  {thread.graph}  {thread.thread_id}"))
    return 0


async def _show(store: SqlStateStore, options: argparse.Namespace) -> int:
    for event in await store.events(options.thread, options.branch):
        print(_plain(_described(event)))
    return 0


def _described(event: Event) -> str:
    told = {"type", "node", "created_at"}
    fields = event.model_dump(mode="json", exclude=told, exclude_defaults=True)
    what = f"{event.type}({event.node})" if event.node else event.type
    line = f"{event.id}  {what}  {fields or ''}".rstrip()
    return line if len(line) <= _LINE else f"{line[: _LINE - 3]}..."


def _plain(text: str) -> str:
    """Return text as one line that a terminal cannot take for a command."""
    return "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in text)
