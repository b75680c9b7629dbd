"""Frames, arrays, pictures and bytes in a state: they come back as they were or are refused."""

from __future__ import annotations

import asyncio
import copy
import struct
import subprocess
import sys
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typing_extensions
from hypothesis import event, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as some_numpy
from hypothesis.extra import pandas as some_pandas
from PIL import Image
from pydantic import BaseModel, ConfigDict, Field

from nbgraph import (
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    SQLiteStateStore,
    add,
    interrupt,
    merge_dict,
    node,
)
from nbgraph.core import blob as blobs
from nbgraph.core.blob import Blob, blob_of, codec_for, revived
from nbgraph.core.frames import UNPACKED_LIMIT
from nbgraph.core.values import same
from nbgraph.errors import GraphConfigError, IntegrationNotInstalledError, StateStoreError
from tests.core.values_kept import FRAMES, KEPT, REFUSED, equal, of


@node
def nothing(state: Any) -> None:
    return None


def graph_of(state_type: Any, *nodes: Any, store: Any = None) -> Graph:
    graph = Graph(state_type, name="g", state_store=store or InMemoryStateStore())
    path = START
    for one in nodes or (nothing,):
        path = path >> one
    return graph.flow(path >> END)


def state_with(annotation: Any) -> tuple[Any, ...]:
    """Return a model and a TypedDict with a field of a type, and a state of any fields."""
    model = type("Model", (BaseState,), {"__annotations__": {"field": annotation}})
    return model, TypedDict("Typed", {"field": annotation}), dict  # type: ignore[operator, misc]


def read(graph: Graph) -> Any:
    return graph.sync.position("t").state["field"]


@pytest.mark.parametrize("name", KEPT)
def test_a_value_comes_back_equal_and_of_the_same_type_in_every_kind_of_state(name: str) -> None:
    value = KEPT[name]
    for state_type in state_with(type(value)):
        graph = graph_of(state_type)
        graph.invoke({"field": value}, thread_id="t")
        equal(read(graph), value)


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_not_come_back_is_refused_with_its_path(name: str) -> None:
    value, problem = REFUSED[name]
    for annotation in (Any, list[Any], dict[str, Any]):
        graph = graph_of(state_with(annotation)[0])
        given = {"list": [value], "dict": {"k": value}}.get(
            getattr(annotation, "__name__", ""), value
        )
        with pytest.raises(StateStoreError, match="field 'field'") as caught:
            graph.invoke({"field": given}, thread_id="t")
        assert problem in str(caught.value)
        assert not graph.sync.exists("t")


def test_a_refusal_names_the_place_within_the_field() -> None:
    graph = graph_of(dict)
    bad = np.array([None])
    with pytest.raises(StateStoreError, match=r"field 'field'/a/1 holds an array"):
        graph.invoke({"field": {"a": [1, bad]}}, thread_id="t")
    typed = graph_of(state_with(dict[str, list[np.ndarray]])[0])
    with pytest.raises(StateStoreError, match=r"field 'field'/a/0 holds an array"):
        typed.invoke({"field": {"a": [bad]}}, thread_id="t")


class Part(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    name: str
    frame: pd.DataFrame


@dataclass
class Pair:
    __pydantic_config__ = ConfigDict(arbitrary_types_allowed=True)
    frame: pd.DataFrame
    number: int


class Inner(typing_extensions.TypedDict):
    frame: pd.DataFrame


NESTED: list[tuple[Any, Any]] = [
    (list[pd.DataFrame], [FRAMES["days"], FRAMES["empty"]]),
    (dict[str, np.ndarray], {"x": np.arange(3), "y": np.zeros(0)}),
    (tuple[pd.Series, int], (pd.Series([1]), 2)),
    (pd.DataFrame | None, None),
    (pd.DataFrame | None, FRAMES["attrs"]),
    (npt.NDArray[np.float64], np.arange(2.0)),
    (Part, Part(name="p", frame=FRAMES["several levels"])),
    (list[Part], [Part(name="p", frame=FRAMES["nullable"])]),
    (Inner, {"frame": FRAMES["periods"]}),
    (Pair, Pair(FRAMES["several levels"], 3)),
    (Image.Image | str, Image.new("L", (2, 2))),
    (list[Any], [1, {"a": [np.arange(2), b"x"]}]),
]


@pytest.mark.parametrize(("annotation", "value"), NESTED, ids=[str(one) for one, _ in NESTED])
def test_values_within_values_come_back(annotation: Any, value: Any) -> None:
    graph = graph_of(state_with(annotation)[0])
    graph.invoke({"field": value}, thread_id="t")
    assert same(read(graph), value)


def test_a_dataclass_that_does_not_say_that_it_may_hold_a_frame_is_named() -> None:
    @dataclass
    class Pair:
        frame: pd.DataFrame
        number: int

    graph = graph_of(TypedDict("Typed", {"field": Pair}))  # type: ignore[operator, misc]
    with pytest.raises(GraphConfigError, match=r"'field'.*Pair.*arbitrary_types_allowed"):
        graph.invoke({"field": None}, thread_id="t")


def test_text_that_looks_like_what_stands_for_a_value_is_text() -> None:
    graph = graph_of(dict)
    blob = blob_of(b"x", "x")
    looks = [blob.shown(), {"kind": "bytes", "content": "x", "summary": ""}, None, "a:0", ":0"]
    graph.invoke({"field": [b"x", *looks]}, thread_id="t")
    assert read(graph) == [b"x", *looks]


class Work(BaseState):
    frame: pd.DataFrame = of(a=[1, 2])
    seen: Annotated[list[np.ndarray], add] = Field(default_factory=list)
    named: Annotated[dict[str, pd.Series], merge_dict] = Field(default_factory=dict)


def test_a_frame_changed_in_place_is_an_update_and_one_only_read_is_none() -> None:
    @node
    def change(state: Work) -> Work:
        state.frame.loc[0, "a"] = 9
        state.seen.append(np.arange(2))
        state.named["x"] = pd.Series([1])
        return state

    @node
    def look(state: Work) -> Work:
        assert state.frame["a"].sum() == 11
        assert len(state.seen) == len(state.named) == 1
        return state

    graph = graph_of(Work, change, look)
    result = graph.invoke({}, thread_id="t")
    equal(result.state.frame, of(a=[9, 2]))
    first, last = (one for one in graph.sync.history("t") if one.type == "task_finished")
    assert set(first.update) == {"frame", "seen", "named"}
    assert last.update == {}


@pytest.mark.parametrize("value", [KEPT["frame: attrs"], KEPT["array: floats"], KEPT["image: RGB"]])
def test_nobody_shares_a_value_with_the_state(value: Any) -> None:
    def spoil(one: Any) -> None:
        match one:
            case pd.DataFrame():
                one.loc[0, "a"] = 77
                one.attrs["source"]["rows"].append(77)
            case np.ndarray():
                one[0, 0] = 77
            case _:
                one.putpixel((0, 0), (7, 7, 7))

    kept: list[Any] = []

    @node
    def hand_over(state: Any) -> Any:
        return {"field": kept[0]}

    @node
    def read_only(state: Any) -> None:
        kept.append(state["field"])

    wanted, kept[:] = copy.deepcopy(value), [copy.deepcopy(value)]
    graph = graph_of(dict, hand_over, read_only)
    graph.invoke({}, thread_id="t")
    for one in kept:
        spoil(one)
    equal(read(graph), wanted)
    spoil(read(graph))
    equal(read(graph), wanted)


def test_what_people_are_shown_is_a_summary_and_no_bytes() -> None:
    frame = of(a=range(1000))
    graph = graph_of(Work)
    result = graph.invoke({"frame": frame, "seen": [np.zeros((2, 3))]}, thread_id="t")
    shown = result.data["frame"]
    assert (shown["type"], shown["summary"]) == ("dataframe", "1,000 rows, 1 columns")
    assert result.data["seen"][0]["summary"] == "float64, 2 x 3"
    events = [one.model_dump(mode="json") for one in graph.sync.history("t")]
    assert events[0]["input"]["frame"] == shown
    assert len(repr(graph.sync.history("t")[0])) < 1000
    updates = [one.data for one in graph.stream({}, thread_id="u", stream_mode="values")]
    assert updates[0]["frame"]["summary"] == "2 rows, 1 columns"


def test_two_values_of_one_shape_are_told_apart_by_their_digest() -> None:
    one, other = (blob_of(np.array([n]), "x").shown() for n in (1, 2))
    assert one["summary"] == other["summary"]
    assert one["digest"] != other["digest"]


def test_the_schema_of_an_input_tells_such_a_field_in_words() -> None:
    for state_type in state_with(pd.DataFrame)[:2]:
        schema = graph_of(state_type).schema.json_schema()
        described = schema["properties"]["field"]
        assert described["title"] == "DataFrame"
        assert "type" not in described
    assert "frame" in graph_of(Work).schema.json_schema()["properties"]


@pytest.mark.parametrize("value", [FRAMES["days"], np.arange(2), Image.new("L", (1, 1))])
def test_a_question_does_not_show_one(value: Any) -> None:
    @node
    def ask(state: Any) -> Any:
        return {"field": interrupt({"shown": value})}

    graph = graph_of(dict, ask)
    with pytest.raises(ValueError, match=r"payload.*/shown.*of type"):
        graph.invoke({}, thread_id="t")


def test_a_value_is_stored_once_however_often_it_is_written(tmp_path: Path) -> None:
    @node
    def again(state: Any) -> Any:
        return {"field": of(a=range(5000)), "n": state["n"] + 1}

    store = SQLiteStateStore(tmp_path / "s.db")
    graph = graph_of(dict, again, store=store)
    for _ in range(20):
        graph.invoke({"n": 0}, thread_id="t")
    size = asyncio.run(store.size())
    assert size.large_values == 1
    assert size.commit_bytes < 20_000
    store.close()


def test_a_long_thread_goes_on_from_a_snapshot_with_its_values(tmp_path: Path) -> None:
    class Long(BaseState):
        frame: pd.DataFrame
        log: Annotated[list[str], add] = Field(default_factory=list)

    @node
    def write(state: Long) -> Any:
        return {"log": ["x" * 500]}

    store = SQLiteStateStore(tmp_path / "s.db")
    graph = graph_of(Long, write, store=store)
    graph.invoke({"frame": FRAMES["days"]}, thread_id="t")
    for _ in range(60):
        graph.invoke({}, thread_id="t")
    store.close()
    again = SQLiteStateStore(tmp_path / "s.db")
    recalled = asyncio.run(again.recall("t"))
    assert recalled.snapshot is not None
    assert [blob.kind for _, blob in recalled.snapshot.blobs] == ["dataframe"]
    position = graph_of(Long, write, store=again).sync.position("t")
    equal(position.state["frame"], FRAMES["days"])
    assert len(position.state["log"]) == 61
    again.close()


# Packages that are not there.


@pytest.mark.parametrize(
    ("value", "module", "package", "extra"),
    [
        (FRAMES["empty"], "pyarrow.parquet", "pyarrow", "frames"),
        (np.arange(2), "numpy.lib.format", "numpy", "arrays"),
        (Image.new("L", (1, 1)), "PIL.Image", "pillow", "images"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    value: Any, module: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = blob_of(value, "x")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(IntegrationNotInstalledError, match=rf"{package}.*\[{extra}\]"):
        blob_of(value, "x")
    with pytest.raises(IntegrationNotInstalledError, match=rf"{package}.*\[{extra}\]"):
        revived(kept)


def test_the_runtime_imports_none_of_these_packages() -> None:
    code = (
        "import sys, nbgraph; from nbgraph import *\n"
        "writes = node(name='n')(lambda state: {'a': b'x'})\n"
        "g = Graph(dict, name='g').flow(START >> writes >> END)\n"
        "assert g.invoke({}).state == {'a': b'x'}\n"
        "sys.exit(', '.join({'pandas', 'numpy', 'PIL', 'pyarrow'} & set(sys.modules)) or 0)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (found.returncode, found.stderr) == (0, b"")


# Bytes of somebody else's.


def damaged(kept: Blob, content: bytes) -> Blob:
    return kept.model_copy(update={"content": content})


def test_a_picture_that_would_unpack_to_too_many_pixels_is_not_read() -> None:
    kept = blob_of(Image.new("L", (1, 1)), "x")
    size = struct.pack(">II", 50_000, 50_000)
    chunk = b"IHDR" + size + kept.content[24:29]
    bomb = kept.content[:12] + chunk + struct.pack(">I", zlib.crc32(chunk)) + kept.content[33:]
    with pytest.raises(StateStoreError, match="50000 x 50000 pixels"):
        revived(damaged(kept, bomb))


def test_pixels_that_do_not_fill_their_picture_are_not_read() -> None:
    kept = blob_of(KEPT["image: floats"], "x")
    assert kept.detail["mode"] == "F"
    for size in ([3, 2], [50_000, 50_000], [-3, -1], 3):
        bad = kept.model_copy(update={"detail": kept.detail | {"size": size}})
        with pytest.raises(StateStoreError, match="kept picture"):
            revived(bad)
    with pytest.raises(StateStoreError, match="kept picture cannot be read"):
        revived(kept.model_copy(update={"detail": kept.detail | {"mode": "NONE"}}))


def test_an_array_whose_header_promises_more_than_there_is_is_not_read() -> None:
    kept = blob_of(np.zeros(3), "x")
    for bad in (b"(3,)", b"(9,)"), (b"<f8", b"|O8"), (b"<f8", b"<f4"), (b"(3,)", b"(-3)"):
        content = kept.content.replace(*bad)
        assert content != kept.content
        with pytest.raises(StateStoreError, match="kept array cannot be read"):
            revived(damaged(kept, content))


def test_a_frame_that_would_unpack_to_too_many_cells_is_not_read() -> None:
    kept, file = blob_of(of(a=[1]), "x"), pa.BufferOutputStream()
    with pq.ParquetWriter(file, pa.schema([("a", pa.int8())])) as writer:
        table = pa.table({"a": pa.nulls(2**26, pa.int8())})
        for _ in range(3):
            writer.write_table(table)
    bomb = file.getvalue().to_pybytes()
    assert len(bomb) < 500_000
    with pytest.raises(StateStoreError, match="cells"):
        revived(damaged(kept, bomb))
    assert UNPACKED_LIMIT == 2**31


def test_no_changed_byte_of_what_a_frame_says_of_itself_ends_the_process() -> None:
    kept = blob_of(KEPT["frame: days"], "x")
    length = int.from_bytes(kept.content[-8:-4], "little")
    for at in range(len(kept.content) - 8 - length, len(kept.content)):
        changed = kept.content[:at] + b"\x4e" + kept.content[at + 1 :]
        with suppress(StateStoreError):
            assert isinstance(revived(damaged(kept, changed)), pd.DataFrame)


@pytest.mark.parametrize("name", ["frame: days", "array: floats", "image: RGB"])
@settings(max_examples=60)
@given(data=st.data())
def test_changed_bytes_are_a_typed_error_or_a_value(name: str, data: st.DataObject) -> None:
    kept = blob_of(KEPT[name], "x")
    at = data.draw(st.integers(0, len(kept.content) - 1))
    new = data.draw(st.binary(min_size=1, max_size=8))
    try:
        value = revived(damaged(kept, kept.content[:at] + new + kept.content[at + len(new) :]))
    except StateStoreError:
        return
    assert type(value) is type(KEPT[name])


def test_a_value_of_too_many_bytes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "CONTENT_LIMIT", 100)
    with pytest.raises(StateStoreError, match=r"field 'field' holds a bytes of 101 bytes"):
        graph_of(dict).invoke({"field": b"x" * 101}, thread_id="t")


# Any value.

CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(),
    st.decimals(),
    st.dates(),
    st.datetimes(timezones=st.none() | st.timezones()),
    st.lists(st.integers(), max_size=2),
)

COLUMNS = st.lists(
    st.one_of(
        st.builds(
            some_pandas.column,
            dtype=st.sampled_from(["int8", "uint64", "float32", "float64", "bool", "M8[ns]"]),
        ),
        st.builds(some_pandas.column, elements=st.just(CELLS), dtype=st.just(object)),
        st.builds(some_pandas.column, elements=st.just(st.text()), dtype=st.just(object)),
    ),
    max_size=4,
)

VALUES = st.one_of(
    COLUMNS.flatmap(some_pandas.data_frames),
    some_pandas.series(elements=CELLS, dtype=object),
    some_pandas.series(
        dtype="float64", index=some_pandas.indexes(elements=st.text(), dtype=object)
    ),
    some_numpy.arrays(
        some_numpy.scalar_dtypes() | some_numpy.array_dtypes(), some_numpy.array_shapes(min_dims=0)
    ),
    st.binary(),
    st.builds(bytearray, st.binary()),
)


@settings(max_examples=300)
@given(value=VALUES)
def test_any_value_is_read_as_it_was_written_or_refused(value: Any) -> None:
    before = copy.deepcopy(value)
    try:
        kept = blob_of(value, "here")
    except StateStoreError as error:
        event(str(error).partition(" a ")[2][:20])
        return
    back = revived(kept)
    codec = codec_for(type(value))
    assert codec is not None
    assert type(back) is type(value)
    assert codec.same(value, back)
    assert codec.same(value, before)
    if isinstance(value, pd.DataFrame | pd.Series):
        equal(back, value)
