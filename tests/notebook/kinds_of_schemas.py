"""More kinds of JSON Schemas, each with answers that fit it and that do not."""

from __future__ import annotations

from typing import Any

__all__ = ["MORE_SCHEMAS"]

Kind = tuple[str, dict[str, Any], list[Any], list[Any]]


def _object(*required: str, **properties: Any) -> dict[str, Any]:
    kind: dict[str, Any] = {"type": "object", "properties": properties}
    return {**kind, "required": list(required)} if required else kind


def _text(**more: Any) -> dict[str, Any]:
    return {"type": "string", **more}


def _list(items: Any, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


INT: dict[str, Any] = {"type": "integer"}
TEXT: dict[str, Any] = {"type": "string"}
BOOL: dict[str, Any] = {"type": "boolean"}
NAMED = _object("name", name=TEXT)
NODE = _object("name", name=TEXT, kids=_list({"$ref": "#/$defs/node"}))

TOOLS: list[Kind] = [
    ("search files", _object(
        "path", "pattern", path=_text(description="Where to start"), pattern=TEXT,
        excludePatterns=_list(TEXT, default=[]),
    ) | {"additionalProperties": False, "$schema": "http://json-schema.org/draft-07/schema#"},
     [{"path": "/a", "pattern": "*.py"}, {"path": "", "pattern": "", "excludePatterns": ["b"]}],
     [{"path": "/a"}, {"path": "/a", "pattern": "b", "more": 1}]),
    ("edit file", _object(
        "path", "edits", path=TEXT, dryRun={**BOOL, "default": False},
        edits=_list(_object("oldText", "newText", oldText=TEXT, newText=TEXT)),
    ), [{"path": "a", "edits": [{"oldText": "a\nb", "newText": ""}], "dryRun": True}],
     [{"path": "a", "edits": [{"oldText": "a"}]}, {"path": "a", "edits": {}}]),
    ("no arguments", {"type": "object", "properties": {}, "additionalProperties": False}, [{}],
     [{"a": 1}, []]),
    ("query", _object(
        "sql", sql=_text(maxLength=4000), params=_list({"type": ["string", "number", "null"]}),
        limit={**INT, "minimum": 1, "maximum": 1000, "default": 100},
    ), [{"sql": "select 1", "params": ["a", 1.5, None], "limit": 1}],
     [{"sql": "x", "limit": 0}, {"sql": "x", "params": [True]}, {}]),
    ("create issue", _object(
        "owner", "title", owner=TEXT, title=TEXT, body=TEXT, labels=_list(TEXT),
        milestone={"type": "number"}, assignees=_list(TEXT, maxItems=2, uniqueItems=True),
    ), [{"owner": "a", "title": "b", "labels": [], "milestone": 1, "assignees": ["x"]}],
     [{"owner": "a"}, {"owner": "a", "title": "b", "assignees": ["x", "x"]}]),
    ("thinking", _object(
        "thought", "next", thought=TEXT, next=BOOL, number={**INT, "minimum": 1},
        of={**INT, "minimum": 1}, branch=TEXT,
    ), [{"thought": "a", "next": False, "number": 1}], [{"thought": "a", "next": "no"}]),
    ("screenshot", _object(
        "name", name=TEXT, selector=TEXT, width={"type": "number"}, encoded=BOOL,
        raw={"enum": [True, False, "auto"]},
    ), [{"name": "a", "raw": "auto"}, {"name": "a", "raw": True}], [{"name": "a", "raw": 1}]),
    ("send mail", _object(
        "to", "subject", to=_list(_text(format="email"), minItems=1), subject=TEXT,
        cc=_list(_text(format="email")), at=_text(format="date-time"),
        attachments=_list(_object("name", "data", name=TEXT, data=_text(format="byte"))),
    ), [{"to": ["a@shop.example"], "subject": "", "at": "2026-11-29T12:04:00Z",
         "attachments": [{"name": "a", "data": "bGFtcA=="}]}],
     [{"to": [], "subject": ""}, {"to": ["a"], "subject": ""}]),
    ("free form", _object("method", method={"enum": ["GET", "POST"]},
                          headers={"type": "object", "additionalProperties": TEXT},
                          body={"type": ["object", "string", "null"]}),
     [{"method": "GET", "headers": {"a": "b"}, "body": None}, {"method": "POST", "body": {"a": 1}},
      {"method": "POST", "body": "x"}],
     [{"method": "PUT"}, {"method": "GET", "headers": {"a": 1}}, {"method": "GET", "body": 1}]),
    ("anything at all", {}, [None, 1, "a", [1], {"a": None}], []),
    ("yes", {"properties": {"a": True, "b": False}}, [{}, {"a": [None]}], [{"b": 1}]),
]  # fmt: skip

OPEN_API: list[Kind] = [
    ("nullable text", _object(a={**TEXT, "nullable": True}), [{"a": None}, {"a": ""}], [{"a": 1}]),
    ("nullable ref", {**_object(a={"allOf": [{"$ref": "#/$defs/p"}], "nullable": True}),
                      "$defs": {"p": NAMED}}, [{"a": {"name": "x"}}], [{"a": {}}]),
    ("nullable enum", _object(a={"enum": ["x", None], "nullable": True}), [{"a": None}],
     [{"a": "y"}]),
    ("discriminator", {
        "oneOf": [{"$ref": "#/components/schemas/cat"}, {"$ref": "#/components/schemas/dog"}],
        "discriminator": {"propertyName": "petType"},
        "components": {"schemas": {
            "cat": _object("petType", "hunts", petType={"const": "cat"}, hunts=BOOL),
            "dog": _object("petType", "size", petType={"const": "dog"}, size=INT)}}},
     [{"petType": "cat", "hunts": False}, {"petType": "dog", "size": 3}],
     [{"petType": "dog", "hunts": True}, {"petType": "cow"}]),
    ("inherits", {
        "allOf": [{"$ref": "#/components/schemas/pet"}, _object("packs", packs=INT)],
        "components": {"schemas": {"pet": _object("name", name=TEXT)}}},
     [{"name": "a", "packs": 1}], [{"name": "a"}, {"packs": 1}]),
    ("binary", _object(file=_text(format="binary"), n={**INT, "format": "int64"}),
     [{"file": "x", "n": 2**62}], [{"n": "1"}]),
    ("read only", _object("id", id={**INT, "readOnly": True}, name=TEXT, pin=_text(writeOnly=True)),
     [{"id": 1, "name": "a", "pin": "1"}], [{"name": "a"}]),
    ("example", _object(a=_text(example="x"), b={**INT, "example": 3}), [{"a": "y"}], [{"b": "x"}]),
    ("exclusive bounds", _object(a={"type": "number", "minimum": 0, "exclusiveMinimum": True}),
     [{"a": 0.1}], [{"a": 0}]),
    ("free map", _object(meta={"type": "object", "additionalProperties": {}}),
     [{"meta": {"a": [1]}}], [{"meta": []}]),
]  # fmt: skip

REFERENCES: list[Kind] = [
    ("definitions", {"$ref": "#/definitions/a", "definitions": {"a": NAMED}}, [{"name": ""}], [{}]),
    ("anchor", {"$ref": "#it", "$defs": {"a": {**INT, "$anchor": "it"}}}, [1], ["a"]),
    ("id", {"$id": "https://a.example/s", "$ref": "b", "$defs": {"b": {**INT, "$id": "b"}}}, [1],
     ["a"]),
    ("id inside", {"$id": "https://a.example/s", "$ref": "/t#/$defs/c",
                   "$defs": {"b": {"$id": "/t", "$defs": {"c": TEXT}}}}, ["a"], [1]),
    ("dynamic", {
        "$id": "https://a.example/tree", "$dynamicAnchor": "node",
        **_object("data", data=INT, kids=_list({"$dynamicRef": "#node"}))},
     [{"data": 1, "kids": [{"data": 2, "kids": []}]}], [{"data": 1, "kids": [{}]}]),
    ("recursive ref", {"$recursiveAnchor": True, **_object(a=INT, b={"$recursiveRef": "#"})},
     [{"a": 1, "b": {"a": 2}}], [{"b": {"a": "x"}}]),
    ("siblings", {"$ref": "#/$defs/a", "title": "Mine", "minimum": 3, "$defs": {"a": INT}}, [3],
     [2, "a"]),
    ("chain", {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": INT}}, [1], ["a"]),
    ("to itself", {"$ref": "#"}, [], []),
    ("a circle", {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"},
                                               "b": {"$ref": "#/$defs/a"}}}, [], []),
    ("circle in all of", {"allOf": [{"$ref": "#"}]}, [], []),
    ("out of the document", _object(a={"$ref": "https://a.example/other.json"}, b=INT), [], []),
    ("escaped", {"$ref": "#/$defs/a~1b~0c%20d", "$defs": {"a/b~c d": INT}}, [1], ["a"]),
    ("into properties", _object(a=INT, b={"$ref": "#/properties/a"}), [{"b": 1}], [{"b": "x"}]),
    ("a list's entry", {"prefixItems": [INT, {"$ref": "#/prefixItems/0"}], "type": "array"},
     [[1, 2]], [[1, "a"]]),
    ("tree", {"$ref": "#/$defs/node", "$defs": {"node": NODE}},
     [{"name": "a", "kids": [{"name": "b", "kids": [{"name": "c"}]}]}], [{"kids": [{}]}]),
    ("mutual", {"$ref": "#/$defs/a", "$defs": {
        "a": _object(b={"$ref": "#/$defs/b"}), "b": _object(a={"$ref": "#/$defs/a"})}},
     [{}, {"b": {"a": {"b": {}}}}], [{"b": 1}]),
    ("recursive union", {"$ref": "#/$defs/e", "$defs": {"e": {"anyOf": [
        {"type": "number"}, _object("op", "args", op={"enum": ["+", "*"]},
                                    args=_list({"$ref": "#/$defs/e"}, minItems=2))]}}},
     [1, {"op": "+", "args": [1, {"op": "*", "args": [2, 3]}]}], ["a", {"op": "-", "args": [1]}]),
    ("recursive map", {"$ref": "#/$defs/m", "$defs": {
        "m": {"type": "object", "additionalProperties": {"$ref": "#/$defs/m"}}}},
     [{}, {"a": {"b": {}}}], [{"a": 1}]),
]  # fmt: skip

TOGETHER: list[Kind] = [
    ("two unions at once", {"allOf": [
        {"anyOf": [_object("a", a=INT), _object("b", b=INT)]},
        {"anyOf": [_object("c", c=INT), _object("d", d=INT)]}]},
     [{"a": 1, "c": 2}, {"b": 1, "d": 2}], [{"a": 1}, {"a": "x", "c": 1}]),
    ("unions with one kind in common", {"allOf": [
        {"anyOf": [TEXT, INT]}, {"anyOf": [INT, BOOL]}]}, [3], ["a", True]),
    ("any of and one of", {
        "anyOf": [_object("a", a=INT), _object("b", b=INT)],
        "oneOf": [_object("c", c=TEXT), _object("d", d=TEXT)]},
     [{"a": 1, "c": "x"}, {"b": 2, "d": "y"}], [{"a": 1}, {"a": 1, "c": "x", "d": "y"}]),
    ("union of needs, twice", {**_object(a=INT, b=INT, c=INT, d=INT), "allOf": [
        {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"anyOf": [{"required": ["c"]}, {"required": ["d"]}]}]},
     [{"a": 1, "c": 1}, {"b": 1, "d": 1}], [{"a": 1}, {}]),
    ("bounds of several", {"allOf": [{**INT, "minimum": 1}, {"maximum": 5}, {"multipleOf": 2}]},
     [2, 4], [0, 3, 6]),
    ("two patterns at once", {"allOf": [_text(pattern="^a"), {"pattern": "b$"}]}, ["ab"], ["a"]),
    ("same field twice", {"allOf": [_object(a={**INT, "minimum": 1}), _object(a={"maximum": 5})]},
     [{"a": 3}], [{"a": 0}, {"a": 6}]),
    ("one number, two spellings", {"const": 1}, [1, 1.0], [True, "1", 2]),
    ("options that are numbers", {"enum": [1, "1", 2.5]}, [1, 1.0, "1", 2.5], [True, 2, "2.5"]),
    ("a list as an option", {"enum": [[1, 2], [0]]}, [[1, 2], [1.0, 2], [0]], [[True, 2], [False]]),
    ("enums in common", {"allOf": [{"enum": [1, 2, 3]}, {"enum": [2, 3, 4]}]}, [2], [1, 4]),
    ("all of in all of", {"allOf": [{"allOf": [{"allOf": [NAMED]}]}]}, [{"name": "a"}], [{}]),
    ("properties beside any of", {**_object("kind", kind={"enum": ["a", "b"]}), "anyOf": [
        {"properties": {"kind": {"const": "a"}, "x": INT}, "required": ["x"]},
        {"properties": {"kind": {"const": "b"}, "y": TEXT}, "required": ["y"]}]},
     [{"kind": "a", "x": 1}, {"kind": "b", "y": ""}], [{"kind": "a"}, {"kind": "c", "x": 1}]),
    ("one of overlapping", {"oneOf": [{**INT, "multipleOf": 3}, {**INT, "multipleOf": 5}]}, [3, 5],
     [15, 1]),
    ("any of one", {"anyOf": [INT]}, [1], ["a"]),
    ("one of with null", {"oneOf": [{"type": "null"}, NAMED]}, [None, {"name": "a"}], [{}, 1]),
    ("not a number", {"not": {"type": "number"}}, ["a", None, []], [1, 1.5]),
    ("not both", {**_object(a=INT, b=INT), "not": {"required": ["a", "b"]}}, [{"a": 1}, {}],
     [{"a": 1, "b": 1}]),
    ("never", {"not": {}}, [], [1, None]),
    ("types of a list", {"type": ["integer", "string", "array", "null"], "items": BOOL},
     [1, "a", [True], None], [1.5, [1]]),
    ("text or object", {"type": ["string", "object"], "properties": {"a": INT}}, ["a", {"a": 1}],
     [1, {"a": "x"}]),
]  # fmt: skip

CONDITIONS: list[Kind] = [
    ("chain of else", {
        **_object("kind", kind={"enum": ["a", "b", "c"]}),
        "if": {"properties": {"kind": {"const": "a"}}}, "then": {"required": ["x"]},
        "else": {"if": {"properties": {"kind": {"const": "b"}}}, "then": _object("y", y=INT),
                 "else": _object("z", z=TEXT)}},
     [{"kind": "a", "x": 1}, {"kind": "b", "y": 1}, {"kind": "c", "z": ""}],
     [{"kind": "a"}, {"kind": "b", "y": "x"}, {"kind": "c"}]),
    ("several ifs", {**_object("a", a=BOOL, b=BOOL), "allOf": [
        {"if": {"properties": {"a": {"const": True}}}, "then": _object("x", x=INT)},
        {"if": {"properties": {"b": {"const": True}}, "required": ["b"]},
         "then": _object("y", y=INT)}]},
     [{"a": False}, {"a": True, "x": 1}, {"a": True, "b": True, "x": 1, "y": 2}],
     [{"a": True}, {"a": False, "b": True}]),
    ("if alone", {**_object(a=INT), "if": {"required": ["a"]}}, [{}, {"a": 1}], [{"a": "x"}]),
    ("needs", {**_object(card=TEXT, street=TEXT, city=TEXT),
               "dependentRequired": {"card": ["street", "city"]}},
     [{}, {"card": "1", "street": "a", "city": "b"}], [{"card": "1"}]),
    ("older needs", {**_object(card=TEXT, street=TEXT), "dependencies": {
        "card": {"properties": {"street": {"minLength": 1}}, "required": ["street"]}}},
     [{"card": "1", "street": "a"}], [{"card": "1"}, {"card": "1", "street": ""}]),
    ("dependent schemas", {**_object(a=INT), "dependentSchemas": {"a": _object("b", b=TEXT)}},
     [{}, {"a": 1, "b": ""}], [{"a": 1}]),
    ("if in a list", _list({**_object("kind", kind={"enum": [1, 2]}),
                            "if": {"properties": {"kind": {"const": 1}}},
                            "then": _object("x", x=INT)}),
     [[{"kind": 1, "x": 2}, {"kind": 2}]], [[{"kind": 1}]]),
    ("if true", {**_object(a=INT), "if": True, "then": {"required": ["a"]}}, [{"a": 1}], [{}]),
    ("bounds by a condition", {**_object("kind", "n", kind={"enum": ["low", "high"]}, n=INT),
                               "if": {"properties": {"kind": {"const": "low"}}},
                               "then": {"properties": {"n": {"maximum": 9}}}},
     [{"kind": "low", "n": 9}, {"kind": "high", "n": 10}], [{"kind": "low", "n": 10}]),
]  # fmt: skip

STRUCTURES: list[Kind] = [
    ("tuple of draft 7", {"type": "array", "items": [INT, TEXT], "additionalItems": BOOL},
     [[1, "a"], [1, "a", True]], [["a"], [1, "a", 1]]),
    ("tuple and rest", {"type": "array", "prefixItems": [INT, TEXT], "items": BOOL},
     [[1, "a"], [1, "a", True, False], [1], []], [[1, "a", 1], ["a"]]),
    ("tuple, at least", {"type": "array", "prefixItems": [INT, TEXT, BOOL], "minItems": 2,
                         "items": False}, [[1, "a"], [1, "a", True]], [[1], [1, "a", True, 1]]),
    ("items false", {"type": "array", "items": False}, [[]], [[1]]),
    ("items true", {"type": "array", "items": True}, [[], [1, "a"]], [{}]),
    ("no items", {"type": "array"}, [[], [1, None, {"a": 1}]], ["a"]),
    ("no items, bounded", {"type": "array", "minItems": 1, "uniqueItems": True}, [[1, "1"]],
     [[], [1, 1]]),
    ("contains two", _list(INT, contains={"minimum": 10}, minContains=2, maxContains=2),
     [[10, 11, 1]], [[10], [10, 11, 12]]),
    ("unevaluated items", {"type": "array", "prefixItems": [INT], "unevaluatedItems": False}, [[1]],
     [[1, 2]]),
    ("unevaluated", {"allOf": [NAMED], **_object(age=INT), "unevaluatedProperties": False},
     [{"name": "a", "age": 1}], [{"name": "a", "more": 1}]),
    ("names by pattern", {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"},
                          "additionalProperties": INT}, [{"a": 1}], [{"A": 1}, {"a": "x"}]),
    ("names from a list", {"type": "object", "propertyNames": {"enum": ["a", "b"]}},
     [{"a": 1}, {}], [{"c": 1}]),
    ("at least one", {**_object(a=INT, b=INT), "minProperties": 1, "additionalProperties": False},
     [{"a": 1}], [{}, {"c": 1}]),
    ("patterns and rest", {"type": "object", "patternProperties": {"^n_": INT, "^s_": TEXT},
                           "additionalProperties": False}, [{"n_a": 1, "s_a": "x"}],
     [{"n_a": "x"}, {"a": 1}]),
    ("named, patterns and rest", {**_object(a=INT), "patternProperties": {"^x": BOOL},
                                  "additionalProperties": TEXT},
     [{"a": 1, "xb": True, "c": "d"}], [{"xb": 1}, {"c": 1}]),
    ("required unnamed", {"type": "object", "required": ["a"], "properties": {"b": INT}},
     [{"a": None}, {"a": 1, "b": 2}], [{"b": 1}]),
    ("object constant", _object("a", a={"const": {"x": [1, None]}}), [{"a": {"x": [1, None]}}],
     [{"a": {"x": [1]}}, {}]),
    ("list constant", {"const": [1, True]}, [[1, True]], [[1, 1], [True, True]]),
    ("enum of objects", {"enum": [{"a": 1}, {"a": 2}, [], None, "", 0]},
     [{"a": 2}, [], None, "", 0], [{"a": 3}, False]),
    ("enum of one", {"enum": ["only"]}, ["only"], ["x"]),
    ("enum of many", {"enum": [f"option {n}" for n in range(1500)]}, ["option 1499"], ["option"]),
    ("set of many", _list({"enum": [f"option {n}" for n in range(1200)]}, uniqueItems=True),
     [["option 0", "option 1199"], []], [["option 0", "option 0"], ["x"]]),
    ("titled options", {"oneOf": [{"const": n, "title": f"Number {n}"} for n in range(30)]}, [29],
     [30, "1"]),
    ("strange names", {"type": "object", "properties": {
        **dict.fromkeys(("a/b", "a~b", "a.b", " ", "", "$", "__proto__", "constructor"), INT),
        **dict.fromkeys(("*", "toString", "<b>", "ü", "a\nb", "0"), INT)}},
     [{"a/b": 1, "a~b": 2, "": 3, "__proto__": 4, "a\nb": 5, "*": 6, " ": 7}],
     [{"a/b": "x"}, {"": "x"}, {"__proto__": "x"}]),
    ("markup", _object(a=_text(title="<img src=x onerror=alert(1)>", description="$x$ <b>b</b>")),
     [{"a": "<script>"}], [{"a": 1}]),
    ("deep", _object(a=_object(b=_object(c=_object(d=_object("e", e=INT))))),
     [{"a": {"b": {"c": {"d": {"e": 1}}}}}, {}], [{"a": {"b": {"c": {"d": {}}}}}]),
    ("wide", _object(**{f"f{n}": INT for n in range(400)}), [{"f399": 1}], [{"f399": "x"}]),
    ("object without type", {"properties": {"a": INT}, "required": ["a"]}, [{"a": 1}], [{}]),
    ("empty object", {"type": "object"}, [{}, {"a": [1]}], [1, []]),
    ("closed", {"type": "object", "additionalProperties": False}, [{}], [{"a": 1}]),
    ("map of anything", {"type": "object", "additionalProperties": True}, [{"a": [1]}], [[]]),
    ("map of nothing", {"type": "object", "additionalProperties": {"type": "null"}}, [{"a": None}],
     [{"a": 1}]),
]  # fmt: skip

TEXTS: list[Kind] = [
    *(
        (f"format {name}", _text(format=name), [good], [bad])
        for name, good, bad in (
            ("email", "a@shop.example", "a@"), ("uri", "https://shop.example/a", "a b"),
            ("uri-reference", "../a#b", "a b"),
            ("uuid", "919108f7-52d1-4320-9bac-f847db4148a8", "9"),
            ("hostname", "shop.example", "-a"), ("ipv4", "192.0.2.1", "192.0.2"),
            ("ipv6", "::1", ":::"), ("date", "2024-02-29", "2023-02-29"),
            ("time", "23:59:59Z", "24:00:00Z"), ("date-time", "2026-11-29T12:04:00Z", "2026-11-29"),
            ("duration", "P1DT2H", "a day"), ("regex", "^a+$", "("),
            ("json-pointer", "/a~1b", "a"), ("byte", "bGFtcA==", "a"), ("color", "#1f77b4", "#1"),
            ("idn-email", "ä@shop.example", "ä"), ("base64url", "bGFtcA", "a b"),
        )
    ),
    ("unknown format", _text(format="plate"), ["HB-A 1"], [1]),
    ("letters", _text(minLength=2, maxLength=3), ["ab", "äöü", "😀😀"], ["a", "abcd"]),
    ("no length at all", _text(maxLength=0), [""], ["a"]),
    ("pattern with look-ahead", _text(pattern="^(?!x)"), ["a"], [1]),
    ("slow pattern", _text(pattern="^(a+)+$"), ["aaa"], ["a" * 30 + "!"]),
    ("broken pattern", _text(pattern="("), ["a"], [1]),
    ("encoded", _text(contentEncoding="base64", contentMediaType="image/png"), ["bGFtcA=="], [1]),
    ("json text", _text(contentMediaType="application/json"), ['{"a": 1}'], [1]),
    ("default of another type", {**INT, "default": "x"}, [1], ["x"]),
    ("null default", _text(default=None), ["a"], [None]),
    ("tenths", {"type": "number", "multipleOf": 0.1}, [0.3, 1.1, 2], [0.35]),
    ("fine steps", {"type": "number", "multipleOf": 1e-8}, [0.00000001, 12.5], [1e-9]),
    ("huge bounds", {**INT, "minimum": -(10**40), "maximum": 10**40}, [10**40], [10**40 + 1]),
    ("no room", {**INT, "minimum": 3, "maximum": 1}, [], [2]),
]  # fmt: skip

MORE_SCHEMAS: list[Kind] = [
    *TOOLS, *OPEN_API, *REFERENCES, *TOGETHER, *CONDITIONS, *STRUCTURES, *TEXTS,
]  # fmt: skip
