"""Schemas of older drafts and of OpenAPI 3.0, and formats that pydantic names itself."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from nbgraph.core.answers import problems_of, publish
from nbgraph.core.formats import format_problem
from nbgraph.core.json_drafts import modern

NULL = {"type": "null"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "string", "nullable": False}, {"type": "string"}),
        ({"nullable": True}, {}),
        ({"type": ["string", "null"], "nullable": True}, {"type": ["string", "null"]}),
        (
            {"nullable": True, "title": "T", "allOf": [{"$ref": "#/x"}]},
            {"title": "T", "anyOf": [{"allOf": [{"$ref": "#/x"}]}, NULL]},
        ),
        ({"properties": {"nullable": {"type": "string"}}},) * 2,
        ({"properties": {"a": {"nullable": True, "type": "integer"}}},
         {"properties": {"a": {"type": ["integer", "null"]}}}),
        ({"components": {"schemas": {"X": {"nullable": True, "type": "object"}}}},
         {"components": {"schemas": {"X": {"type": ["object", "null"]}}}}),
        ({"$recursiveAnchor": True, "properties": {"a": {"$recursiveRef": "#"}}},
         {"properties": {"a": {"$ref": "#"}}}),
    ],
)  # fmt: skip
def test_older_words_become_those_of_today(old: Any, new: Any) -> None:
    assert modern(old) == new
    assert modern(modern(old)) == new


def test_an_answer_is_judged_by_the_schema_as_it_is_read() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "nullable": True}}}
    assert problems_of(schema, {"a": None}) == {}
    assert problems_of(publish(schema), {"a": None}) == {}
    assert problems_of(schema, {"a": 1}) == {"/a": "Not text"}


GOOD = {
    "ipv4network": ["192.0.2.0/24", "192.0.2.1", "192.0.2.0/255.255.255.0"],
    "ipv6network": ["2001:db8::/32"],
    "ipvanynetwork": ["192.0.2.0/24", "2001:db8::/32"],
    "ipv4interface": ["192.0.2.1/24"],
    "ipv6interface": ["2001:db8::1/64"],
    "ipvanyinterface": ["192.0.2.1/24"],
    "multi-host-uri": ["postgres://u:p@one.example,two.example:5432/shop"],
    "uri-reference": ["", "/a/b?c", "https://shop.example/"],
    "json-pointer": ["", "/", "/items/0", "/a~1b~0c"],
    "fraction": ["1/3", "-2", "0.5"],
    "idn-email": ["name@shop.example", "naïve@shop.example"],
}
BAD = {
    "ipv4network": ["x", "192.0.2.1/24", "192.0.2.0/33"],
    "ipv6network": ["192.0.2.0/24", "x"],
    "ipvanynetwork": ["x", "192.0.2.0/99"],
    "ipv4interface": ["192.0.2.1/99"],
    "ipv6interface": ["x"],
    "ipvanyinterface": ["x"],
    "multi-host-uri": ["x", "postgres://a b"],
    "uri-reference": ["a b", "<x>"],
    "json-pointer": ["a", "/~", "/~2"],
    "fraction": ["1/0", "x", "1/"],
    "idn-email": ["x", "@shop.example"],
}


@pytest.mark.parametrize("name", GOOD)
def test_a_format_is_checked(name: str) -> None:
    assert [text for text in GOOD[name] if format_problem(name, text)] == []
    assert [text for text in BAD[name] if not format_problem(name, text)] == []


def test_judging_by_a_schema_does_not_build_the_grammars_of_a_check_nobody_asks_for() -> None:
    program = (
        "import sys\n"
        "from nbgraph.core.answers import problems_of\n"
        "assert problems_of({'type': 'integer'}, 'x')\n"
        "sys.exit('rfc3987_syntax' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_who_asks_for_that_check_gets_it() -> None:
    pytest.importorskip("rfc3987_syntax")
    program = (
        "from nbgraph.core.answers import problems_of\n"
        "problems_of({'type': 'integer'}, 'x')\n"
        "from jsonschema import Draft202012Validator as Draft\n"
        "assert Draft.FORMAT_CHECKER.conforms('http://é.example/', 'iri')\n"
        "assert not Draft.FORMAT_CHECKER.conforms('::', 'iri')\n"
        "import rfc3987_syntax\n"
        "assert rfc3987_syntax.is_valid_syntax('iri', 'http://é.example/')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


ENDLESS = [
    {"not": {"$ref": "#"}},
    {"anyOf": [{"not": {"$ref": "#"}}, {"not": {"allOf": [{"$ref": "#"}]}}]},
    {"if": {"$ref": "#/$defs/x"}, "then": {}, "$defs": {"x": {"not": {"$ref": "#"}}}},
]


@pytest.mark.parametrize("schema", ENDLESS)
def test_a_schema_that_asks_for_itself_without_end_is_given_up(schema: Any) -> None:
    told = {"": "The schema of this question is too much work to check"}
    assert problems_of(schema, {"a": [1]}) == told


def test_a_deep_answer_is_judged_as_far_as_the_stack_goes() -> None:
    tree = {"type": "array", "items": {"$ref": "#"}}
    answer: Any = []
    for _ in range(50):
        answer = [answer]
    assert problems_of(tree, answer) == {}
    assert problems_of(tree, [[[1]]]) == {"/0/0/0": "Not a list"}
