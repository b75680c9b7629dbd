"""Large texts are taken out of a JSON body, and put back where they stood."""

from __future__ import annotations

import pytest
from pydantic_core import from_json, to_json

from nbgraph.core.blob import Packed
from nbgraph.stores import _blobs
from nbgraph.stores._blobs import LARGE, checked_blob, extracted, restored

LETTERS = ["x", '"', "\\", "\n", "\x01", "é", "😀", "\\\\", '\\"', "{", ","]


def value_of(text: str) -> dict[str, object]:
    return {"": ["small", text, {"deep": text[:-1]}], text[:100]: 1, "pad": ["y" * 1000] * 100}


@pytest.mark.parametrize("letter", LETTERS)
def test_a_text_is_large_by_its_characters_whatever_they_are(letter: str) -> None:
    text = (letter * LARGE)[:LARGE]
    value = value_of(text)
    body = to_json(value)
    extract = extracted(Packed(body))
    assert list(extract.blobs.values()) == [text.encode()]
    assert len(extract.body) < len(body)
    back = restored(extract.body, extract.refs, lambda name: checked_blob(extract.blobs, name))
    assert from_json(back.body) == value


@pytest.mark.parametrize("letter", LETTERS)
def test_a_body_without_a_large_text_stays_as_it_is(letter: str) -> None:
    body = to_json(value_of((letter * LARGE)[: LARGE - 1]))
    extract = extracted(Packed(body))
    assert (extract.body, extract.refs, extract.blobs) == (body, "", {})


def test_many_small_texts_are_not_read_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_blobs, "from_json", None)
    body = to_json(["x" * 200] * 1000)
    assert extracted(Packed(body)).body is body
