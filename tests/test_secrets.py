"""Secrets are in no file, event, log, traceback, drawing, widget or saved notebook."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import os
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, quote_plus

import ipywidgets
import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from pydantic import BaseModel, Field, SecretBytes, SecretStr

from nbgraph import (
    END,
    START,
    BaseState,
    Command,
    Graph,
    InMemoryStateStore,
    NodeContext,
    Panel,
    PostgresStateStore,
    Resume,
    Retry,
    Send,
    SQLiteStateStore,
    add,
    draw,
    interrupt,
    node,
    subgraph,
)
from nbgraph.core.store import StateStore
from nbgraph.errors import NbgraphError
from nbgraph.notebook.display import static_bundle
from nbgraph.notebook.parts import within
from nbgraph.transcript import transcript
from tests.stores.postgres import URL, fresh_schema

SHAPES = (
    "sk-live-{}",
    'quo"ted {}',
    "p@ss/w+rd={}&x",
    "ünïcode {} ☃",
    "<b>{}</b>",
    "back\\slash\\{}",
)
SECRETS = [SHAPES[at % len(SHAPES)].format(f"q7z{at:02d}x9k") for at in range(30)]


def forms(secret: str) -> Iterator[bytes]:
    """Yield how a secret may be written: plain, in JSON, in a URL, and as base64 in any place."""
    plain = secret.encode()
    yield plain
    yield json.dumps(secret)[1:-1].encode()
    yield quote(secret, safe="").encode()
    yield quote_plus(secret).encode()
    yield plain.hex().encode()
    for before in range(3):
        whole = base64.b64encode(b"." * before + plain)
        # The characters at both ends depend on what stands beside it.
        yield whole[4 if before else 0 : -4]


FORMS = [(secret, form) for secret in SECRETS for form in forms(secret)]


def found_in(name: str, content: str | bytes) -> list[str]:
    """Return the secrets that stand in something."""
    seen = content if isinstance(content, bytes) else content.encode(errors="surrogatepass")
    return [f"{secret!r} as {form!r} in {name}" for secret, form in FORMS if form in seen]


def test_the_search_finds_each_form_of_each_secret() -> None:
    for secret, form in FORMS:
        assert found_in("x", b"before " + form + b" after")
        assert found_in("x", json.dumps({"key": secret}))
        assert found_in("x", base64.b64encode(f'{{"key": "{secret}"}}'.encode()))
    assert not found_in("x", "q7z")


@dataclass
class Keys:
    """What a call passes as its context."""

    token: SecretStr
    raw: SecretBytes
    plain: str
    more: dict[str, list[str]]


def keys() -> Keys:
    one, two, three, *rest = SECRETS
    return Keys(SecretStr(one), SecretBytes(two.encode()), three, {"rest": rest})


class Held(BaseModel):
    inner: SecretStr


class Trail(BaseState):
    log: Annotated[list[Any], add] = Field(default_factory=list)
    number: int = 0


def used(ctx: NodeContext) -> str:
    """Use all secrets, and return something made of them that tells nothing."""
    held: Keys = ctx.context
    local = [held.token.get_secret_value(), held.raw.get_secret_value().decode(), held.plain]
    return f"{len(''.join([*local, *held.more['rest']]))} letters"


def bench(store: StateStore | None) -> Graph:
    """Return a graph whose nodes use the context in every way a node has."""

    @node
    def sync(state: Trail, ctx: NodeContext) -> dict[str, Any]:
        ctx.emit({"held": ctx.context.token, "said": used(ctx)})
        ctx.cache["said"] = used(ctx)
        return {"log": [ctx.once("used", lambda: used(ctx), effect="once")]}

    @node
    async def asynchronous(state: Trail, ctx: NodeContext) -> dict[str, Any]:
        return {"log": [used(ctx), repr(ctx), interrupt({"said": used(ctx)}, id="go")]}

    @node(effect="once")
    async def inside(state: Trail, ctx: NodeContext) -> dict[str, Any]:
        return {"log": [used(ctx), repr(ctx)]}

    @node
    def fails(state: Trail, ctx: NodeContext) -> dict[str, Any]:
        token = ctx.context.token.get_secret_value()
        if state.number < 3:
            raise KeyError(f"nothing for a token of {len(token)} letters: {ctx.context.token}")
        return {"log": [used(ctx)]}

    inner = Graph(Trail, name="inner").flow(START >> inside >> END)
    child = subgraph("child", inner, share=["log"])
    graph = Graph(Trail, name="bench", state_store=store)
    return graph.flow(
        START >> sync, sync >> asynchronous, asynchronous >> child, child >> fails, fails >> END
    )


async def worked(graph: Graph) -> list[tuple[str, str | bytes]]:
    """Run the graph to its end, and return what was told on the way."""
    told: list[tuple[str, str | bytes]] = []
    given = {"thread_id": "t", "context": keys()}
    async for event in graph.astream({}, **given):
        told.append(("events", repr(event)))
    modes = ["updates", "values", "custom", "tokens"]
    try:
        async for event in graph.astream(resume=Resume("yes"), stream_mode=modes, **given):
            told.append(("stream", repr(event)))
    except KeyError:
        told.append(("traceback", traceback.format_exc()))
    await graph.update_state("t", {"number": 3})
    done = await graph.ainvoke(None, **given)
    assert done.status == "completed"
    told += [("result", repr(done)), ("history", repr(await graph.history("t")))]
    told += [("position", repr(await graph.position("t"))), ("graph", repr(graph))]
    return told


def files(folder: Path) -> list[tuple[str, bytes]]:
    return [(path.name, path.read_bytes()) for path in folder.rglob("*") if path.is_file()]


def hits(told: Sequence[tuple[str, str | bytes]]) -> list[str]:
    assert len(told) > 3
    return [hit for name, content in told for hit in found_in(name, content)]


def test_a_context_is_in_no_file_event_stream_or_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)

    async def scenario() -> list[tuple[str, str | bytes]]:
        asyncio.get_running_loop().set_debug(True)
        store = SQLiteStateStore(tmp_path / "t.db")
        told = await worked(bench(store))
        told += files(tmp_path)
        told += [("export", "\n".join(await store.export_thread("t")))]
        await store.aclose()
        return told

    told = asyncio.run(scenario())
    assert {"t.db", "t.db-wal"} <= {name for name, _ in told}
    written = capfd.readouterr()
    told += [("log", caplog.text), ("output", written.out), ("errors", written.err)]
    assert hits(told + files(tmp_path)) == []


@pytest.mark.skipif(not URL, reason="NBGRAPH_TEST_PG names no PostgreSQL server")
def test_a_context_is_in_no_table_of_a_server() -> None:
    import psycopg
    from psycopg import sql

    with fresh_schema() as schema:

        async def scenario() -> list[tuple[str, str | bytes]]:
            store = PostgresStateStore(URL, schema=schema)
            told = await worked(bench(store))
            told.append(("export", "\n".join(await store.export_thread("t"))))
            await store.aclose()
            return told

        told = asyncio.run(scenario())
        with psycopg.connect(URL) as connection:
            find = "SELECT table_name FROM information_schema.tables WHERE table_schema = %s"
            tables = [name for (name,) in connection.execute(find, (schema,))]
            assert len(tables) > 3
            for name in tables:
                rows = sql.SQL("SELECT * FROM {}").format(sql.Identifier(schema, name))
                values = [one for row in connection.execute(rows) for one in row]
                told += [(name, one if isinstance(one, bytes) else str(one)) for one in values]
        assert hits(told) == []


def test_a_context_is_in_no_drawing_widget_or_transcript() -> None:
    graph = bench(InMemoryStateStore())
    panel = Panel(graph, thread_id="t", context=keys())
    session = panel.session
    try:
        session.start({}).result(60)
        session.resume({"asynchronous:go": "yes"}).result(60)
    except KeyError:
        pass
    assert session.status == "failed"
    drawing, shown = draw(graph), [panel, *within(panel)]
    assert len(shown) > 10
    told: list[tuple[str, str | bytes]] = [
        ("svg", drawing.svg),
        ("dot", drawing.dot.source),
        ("mermaid", drawing.mermaid),
        ("widgets", json.dumps(ipywidgets.Widget.get_manager_state(widgets=shown), default=repr)),
        ("static", json.dumps(static_bundle(session))),
        ("transcript", transcript(session)),
        ("snapshot", repr(session.snapshot)),
        ("session", f"{session!r} {vars(session).keys()}"),
        ("panel", repr(panel)),
    ]
    assert hits(told) == []
    panel.close()
    session.close()


def test_a_context_is_in_no_saved_notebook(tmp_path: Path) -> None:
    source = """
import json, os, sys
sys.path.insert(0, os.environ["NBGRAPH_ROOT"])
from tests.test_secrets import bench
from tests.test_secrets import keys as held
from nbgraph import InMemoryStateStore, Panel, play
graph = bench(InMemoryStateStore())
graph
"""
    cells = [
        source,
        "answers = {'asynchronous:go': 'yes'}\n"
        "play(graph, {'number': 3}, context=held(), answers=answers).result()",
        "Panel(graph, thread_id='p', input={'number': 3}, context=held(), answers=answers)",
        "play(graph, {}, context=held(), answers=answers).result()",
    ]
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    root = str(Path(__file__).parents[1])
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
        timeout=120,
        allow_errors=True,
        store_widget_state=True,
    )
    client.execute(env={**os.environ, "NBGRAPH_ROOT": root, "NBGRAPH_UNATTENDED": "1"})
    path = tmp_path / "saved.ipynb"
    nbformat.write(notebook, path)
    kinds = [[output.output_type for output in cell.outputs] for cell in notebook.cells]
    assert "error" not in kinds[0] + kinds[1] + kinds[2]
    assert "error" in kinds[3]
    assert found_in("saved.ipynb", path.read_bytes()) == []


@pytest.mark.parametrize("secret", SECRETS[:6])
def test_a_secret_in_an_error_is_masked_where_that_is_recorded(secret: str, tmp_path: Path) -> None:
    @node(retry=Retry(attempts=2))
    def fails(state: Any, ctx: NodeContext) -> None:
        said = ctx.context.token.get_secret_value()
        raise ConnectionError(f"no answer from /pay?key={said}") from ValueError(said)

    async def scenario() -> list[tuple[str, str | bytes]]:
        store = SQLiteStateStore(tmp_path / "t.db")
        graph = Graph(dict, name="pays", state_store=store).flow(START >> fails >> END)
        context = Keys(SecretStr(secret), SecretBytes(b"other"), "x", {})
        told: list[tuple[str, str | bytes]] = []

        async def watched() -> None:
            async for event in graph.astream({}, thread_id="t", context=context):
                told.append(("event", repr(event)))

        with pytest.raises(ConnectionError) as caught:
            await watched()
        assert secret in str(caught.value)  # the error itself is the caller's own
        assert any("no answer from /pay?key=****" in text for _, text in told)
        told += files(tmp_path)
        await store.aclose()
        return told

    assert hits(asyncio.run(scenario())) == []


PLACES = ["input", "update", "payload", "answer", "once", "cache", "send", "edit", "fork"]


def keeping(place: str, secret: Any, store: StateStore) -> Graph:
    """Return a graph in which a node gives a secret away at some place."""

    @node(goto=["last"])
    def first(state: Any, ctx: NodeContext) -> Any:
        match place:
            case "update":
                return {"token": secret}
            case "payload":
                interrupt({"token": secret})
            case "answer":
                interrupt(id="go")
            case "once":
                ctx.once("token", lambda: secret)
            case "cache":
                ctx.cache["token"] = secret
            case "send":
                return Command(goto=Send(last, {"token": secret}))
            case _:
                return None
        return None

    @node
    def last(state: Any) -> None:
        return None

    graph = Graph(dict, name="keeping", state_store=store)
    return graph.flow(START >> first >> last >> END)


async def kept(place: str, secret: Any, folder: Path) -> list[tuple[str, str | bytes]]:
    """Give a secret away at a place, and return what is left of it and what was said."""
    store = SQLiteStateStore(folder / "t.db")
    graph, told = keeping(place, secret, store), [("before", ""), ("a", ""), ("b", "")]
    try:
        await graph.ainvoke({"token": secret} if place == "input" else {}, thread_id="t")
        match place:
            case "answer":
                await graph.ainvoke(resume=Resume(secret), thread_id="t")
            case "edit":
                await graph.update_state("t", {"token": secret})
            case "fork":
                await graph.fork("t", from_=1, update={"token": secret})
    except NbgraphError:
        told.append(("error", traceback.format_exc()))
    except ValueError:
        told.append(("error", traceback.format_exc()))
    else:
        pytest.fail(f"a secret was taken as {place}")
    told += files(folder)
    await store.aclose()
    return [*told, *files(folder)]


@pytest.mark.parametrize("place", PLACES)
def test_a_secret_is_refused_wherever_it_would_be_recorded(place: str, tmp_path: Path) -> None:
    of_this_place = SECRETS[3 * PLACES.index(place) :][:3]
    for number, secret in enumerate(of_this_place):
        folder = tmp_path / str(number)
        folder.mkdir()
        given = [SecretStr(secret), {"deep": [SecretStr(secret)]}, Held(inner=SecretStr(secret))]
        assert hits(asyncio.run(kept(place, given[number % 3], folder))) == []


@pytest.mark.parametrize(
    "schema",
    [
        SecretStr,
        SecretBytes | None,
        Held,
        list[Held],
    ],
)
def test_a_question_does_not_ask_for_a_secret(schema: Any) -> None:
    @node
    def ask(state: Any) -> None:
        interrupt(id="key", response_schema=schema)

    graph = Graph(dict, name="asks", state_store=InMemoryStateStore()).flow(START >> ask >> END)
    with pytest.raises(NbgraphError, match="would hold a secret"):
        graph.invoke({}, thread_id="t")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"key": {"type": "string", "writeOnly": True}}},
        Annotated[str, Field(json_schema_extra={"writeOnly": True, "format": "password"})],
    ],
)
def test_a_text_that_is_only_called_write_only_may_be_asked_for(schema: Any) -> None:
    @node
    def ask(state: Any) -> None:
        interrupt(id="key", response_schema=schema)

    graph = Graph(dict, name="asks", state_store=InMemoryStateStore()).flow(START >> ask >> END)
    assert list(graph.invoke({}, thread_id="t").interrupts) == ["ask:key"]
