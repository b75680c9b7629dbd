"""Each kind of answer has a form: good ones are kept exactly, bad ones refused, none invented."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from form_kinds import SCHEMAS, TYPES
from form_parts import parts
from kinds_of_schemas import MORE_SCHEMAS
from kinds_of_types import MORE_TYPES, ONLY_THE_TYPE_KNOWS

from nbgraph.core.answers import UNSET, publish
from nbgraph.notebook.form import Form

EVERY_TYPE = [*TYPES, *MORE_TYPES]
KINDS = [*EVERY_TYPE, *SCHEMAS, *MORE_SCHEMAS]
JUDGED_BY_THE_TYPE = ONLY_THE_TYPE_KNOWS | {
    *("past date", "aware moment", "naive moment", "map by number", "rule between fields"),
    *("tagged union", "closed model"),
}


def text_of(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def by_name(kinds: list[Any]) -> Any:
    return pytest.mark.parametrize(
        ("kind", "good", "bad"), [kind[1:] for kind in kinds], ids=[kind[0] for kind in kinds]
    )


@by_name(KINDS)
def test_a_form_has_few_parts_and_invents_nothing(kind: Any, good: Any, bad: Any) -> None:
    form = Form(kind)
    schema = publish(kind, outward=True) or {}
    assert len(list(parts(form))) < 100 + 3 * len(schema.get("properties", ()))
    invented = set(leaves(form.value)) - {text_of(each) for each in declared(schema)}
    assert invented == set()
    form.close()


def leaves(value: Any) -> Iterator[str]:
    """Yield what an answer says, without what only holds it together."""
    match value:
        case dict():
            for inner in value.values():
                yield from leaves(inner)
        case list() if value:
            for inner in value:
                yield from leaves(inner)
        case _ if value is not UNSET:
            yield text_of(value)


def declared(schema: Any) -> Iterator[Any]:
    """Yield what a schema declares: defaults, and values that are the only one."""
    match schema:
        case dict():
            for key in ("default", "const"):
                if key in schema:
                    yield from map(json.loads, leaves(schema[key]))
                    yield schema[key]
            yield from schema.get("enum", []) if len(schema.get("enum", [])) == 1 else []
            yield from [None] if schema.get("type") == "null" else []
            for inner in schema.values():
                yield from declared(inner)
        case list():
            for inner in schema:
                yield from declared(inner)


@by_name(KINDS)
def test_a_good_answer_is_kept_exactly(kind: Any, good: Any, bad: Any) -> None:
    form = Form(kind)
    for value in good:
        form.value = value
        assert (text_of(form.value), form.errors) == (text_of(value), {})
    form.close()


@by_name(KINDS)
def test_a_bad_answer_is_refused_and_not_altered(kind: Any, good: Any, bad: Any) -> None:
    form, sent = Form(kind), []
    form.on_submit(sent.append)
    for value in bad:
        form.value = value
        assert form.errors
        assert form.value is UNSET or text_of(form.value) == text_of(value)
        assert form.submit() is False
    assert sent == []
    form.close()


@by_name(EVERY_TYPE)
def test_by_the_schema_alone_a_good_answer_is_good_too(kind: Any, good: Any, bad: Any) -> None:
    form = Form(publish(kind))
    for value in good:
        form.value = value
        assert (text_of(form.value), form.errors) == (text_of(value), {})
    form.close()


@by_name([kind for kind in EVERY_TYPE if kind[0] not in JUDGED_BY_THE_TYPE])
def test_by_the_schema_alone_a_bad_answer_is_refused(kind: Any, good: Any, bad: Any) -> None:
    form = Form(publish(kind))
    for value in bad:
        form.value = value
        assert form.errors
    form.close()


@by_name(KINDS)
def test_json_and_back_changes_nothing(kind: Any, good: Any, bad: Any) -> None:
    form = Form(kind)
    for value in good[:1]:
        form.value = value
        form._switch(as_json=True)
        assert text_of(form.value) == text_of(value)
        form._switch(as_json=False)
        assert text_of(form.value) == text_of(value)
    form.close()
