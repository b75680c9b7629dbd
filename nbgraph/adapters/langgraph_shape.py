"""The structure of a compiled LangGraph graph, read from its builder.

The engine's own drawing shows a node whose router declares no targets as one that only ends; the
builder tells what is known and what is not.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# What the engine says has no types.

from __future__ import annotations

import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args, get_origin

from langgraph.channels import LastValue

from nbgraph.adapters.langgraph_inside import breakpoints_of
from nbgraph.core.driver import ANYWHERE, EdgeShape, NodeShape, Shape
from nbgraph.core.type_adapters import adapter

__all__ = [
    "field_types",
    "given_to",
    "is_messages",
    "replaced_fields",
    "shape_of",
    "subgraph_of",
]

_START, _END = "__start__", "__end__"
_MESSAGES: Mapping[str, Any] = {
    "type": "array",
    "title": "Messages",
    "items": {
        "type": "object",
        "title": "Message",
        "properties": {
            "role": {"type": "string", "enum": ["user", "assistant", "system"], "default": "user"},
            "content": {"type": "string", "title": "Text", "x-widget": "textarea"},
        },
        "required": ["role", "content"],
    },
}


def shape_of(app: Any) -> Shape:
    """Return a compiled graph's structure; one made by a function has one node."""
    nodes: list[NodeShape] = []
    edges: list[EdgeShape] = []
    _add(app, "", nodes, edges, frozenset())
    paths = [node.path for node in nodes]
    before, after = (
        tuple(path for path in breakpoints_of(app, side) if path in paths)
        for side in ("before", "after")
    )
    return Shape(
        _name(app), tuple(nodes), tuple(dict.fromkeys(edges)), _input_schema(app), before, after
    )


def _name(app: Any) -> str:
    name = app.get_name()
    return name if isinstance(name, str) and name else "LangGraph"


def _add(
    app: Any,
    parent: str,
    nodes: list[NodeShape],
    edges: list[EdgeShape],
    inside: frozenset[int],
) -> None:
    prefix = f"{parent}/" if parent else ""
    builder = getattr(app, "builder", None)
    if builder is None:
        _add_plain(app, parent, nodes, edges)
        return
    for name, node in builder.nodes.items():
        path = prefix + name
        nodes.append(NodeShape(path, name, _described(node), parent or None))
        child = subgraph_of(app, name)
        if child is not None and id(child) not in inside:
            _add(child, path, nodes, edges, inside | {id(child)})
    for source, target, kind, label in _ways(builder):
        ends = [_end(prefix, end) for end in (source, target)]
        if parent and not all(_is_inner(end) for end in (source, target)):
            continue  # a box has no start and no end of its own
        edges.append(EdgeShape(ends[0], ends[1], kind, label))


def _add_plain(app: Any, parent: str, nodes: list[NodeShape], edges: list[EdgeShape]) -> None:
    prefix = f"{parent}/" if parent else ""
    names = [name for name in app.nodes if name not in (_START, _END)]
    nodes.extend(NodeShape(prefix + name, name, None, parent or None) for name in names)
    if not parent:
        edges.extend(EdgeShape(_START, name) for name in names)
        edges.extend(EdgeShape(name, _END) for name in names)


def _is_inner(end: str) -> bool:
    return end not in (_START, _END, ANYWHERE)


def _end(prefix: str, name: str) -> str:
    return prefix + name if _is_inner(name) else name


def _ways(
    builder: Any,
) -> Iterator[tuple[str, str, typing.Literal["edge", "branch", "goto"], str | None]]:
    """Return every way the builder knows: edges, joins, routers, and what a node declares."""
    targets = {source for source, _ in builder.edges}
    for source, target in sorted(builder.edges, key=_drawn_order(builder)):
        yield source, target, "edge", None
    for sources, target in sorted(builder.waiting_edges):
        targets.update(sources)
        for source in sources:
            yield source, target, "edge", None
    for source, routers in builder.branches.items():
        targets.add(source)
        for router in routers.values():
            yield from _routed(source, router.ends)
    for name, node in builder.nodes.items():
        yield from _declared(name, node.ends)
        if name not in targets and not node.ends:
            yield name, _END, "edge", None


def _drawn_order(builder: Any) -> typing.Callable[[tuple[str, str]], tuple[int, int]]:
    places = {name: index for index, name in enumerate((_START, *builder.nodes, _END))}
    return lambda edge: (places.get(edge[0], 0), places.get(edge[1], 0))


def _routed(
    source: str, ends: Mapping[Any, str] | None
) -> Iterator[tuple[str, str, typing.Literal["branch", "goto"], str | None]]:
    if ends is None:
        yield source, ANYWHERE, "goto", None
        return
    for answer, target in ends.items():
        label = None if str(answer) == target else str(answer)
        yield source, target, "branch", label


def _declared(
    source: str, ends: Iterable[str] | Mapping[str, str] | None
) -> Iterator[tuple[str, str, typing.Literal["goto"], str | None]]:
    labels: Mapping[str, str] = ends if isinstance(ends, Mapping) else {}
    for target in ends or ():
        yield source, target, "goto", labels.get(target)


def _described(node: Any) -> str | None:
    metadata: Mapping[str, Any] = getattr(node, "metadata", None) or {}
    said = metadata.get("description")
    return said if isinstance(said, str) else None


def subgraph_of(app: Any, node: str) -> Any:
    """Return the compiled graph that is a node of another; None if it is none."""
    for name, child in app.get_subgraphs():
        if name == node:
            return child
    return None


def field_types(app: Any) -> dict[str, Any]:
    """Return the types of a graph's state fields, where it declares them."""
    builder = getattr(app, "builder", None)
    hints = _hints(getattr(builder, "state_schema", None))
    return {name: _undecorated(hint) for name, hint in hints.items()}


def replaced_fields(app: Any) -> frozenset[str]:
    """Return the fields of a graph that have no reducer: a task's value is the field's."""
    if isinstance(app.stream_channels_asis, str):
        return frozenset()  # a function has no fields
    names = app.stream_channels_list
    return frozenset(name for name in names if type(app.channels.get(name)) is LastValue)


def _hints(state_type: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(state_type, include_extras=True)
    except Exception:  # noqa: BLE001 - annotations are the user's own code
        return {}


def given_to(app: Any, given: Any) -> Any:
    """Return an input as the graph's nodes expect it: messages of a form as LangChain's."""
    if not isinstance(given, Mapping):
        return given
    types = field_types(app)
    return {
        name: _as_messages(value) if is_messages(types.get(name)) else value
        for name, value in given.items()
    }


def _as_messages(value: Any) -> Any:
    from langchain_core.messages import convert_to_messages

    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        return value
    try:
        return convert_to_messages(value)
    except (ValueError, NotImplementedError):  # said by the graph, in its own words
        return value


def is_messages(annotation: Any) -> bool:
    """Return whether a field is a list of LangChain messages."""
    while get_origin(annotation) in (
        typing.Annotated,
        typing.Required,
        typing.NotRequired,
    ):
        annotation = get_args(annotation)[0]
    if get_origin(annotation) not in (list, typing.Sequence):
        return False
    return any(_is_message(kind) for kind in get_args(annotation))


def _is_message(kind: Any) -> bool:
    from langchain_core.messages import BaseMessage

    if get_origin(kind) is typing.Annotated:
        kind = get_args(kind)[0]
    kinds = get_args(kind) or (kind,)
    plain = [get_args(each)[0] if get_origin(each) is typing.Annotated else each for each in kinds]
    return any(isinstance(each, type) and issubclass(each, BaseMessage) for each in plain)


def _input_schema(app: Any) -> Mapping[str, Any]:
    """Return the JSON Schema of an input. A field that has none takes any JSON."""
    builder = getattr(app, "builder", None)
    if builder is None:
        return _engine_schema(app)
    state_type = getattr(builder, "input_schema", None) or builder.state_schema
    hints = _hints(state_type)
    if not hints:
        return {"type": "object"}
    fields = {name: hint for name, hint in hints.items() if not _is_private(hint)}
    properties = {name: _field_schema(hint) for name, hint in fields.items()}
    definitions: dict[str, Any] = {}
    for schema in properties.values():
        definitions.update(schema.pop("$defs", {}))
    return {
        "type": "object",
        "title": _name(app),
        "properties": properties,
        **({"$defs": definitions} if definitions else {}),
    }


def _engine_schema(app: Any) -> Mapping[str, Any]:
    try:
        return app.get_input_jsonschema()
    except Exception:  # noqa: BLE001 - a type without a JSON Schema
        return {}


def _is_private(hint: Any) -> bool:
    """Return whether a field is the engine's or a middleware's own, or not part of an input."""
    return any(
        type(mark).__name__ in ("OmitFromSchema", "_OmitFromSchema", "UntrackedValue")
        or getattr(mark, "input", None) is True
        for mark in get_args(hint)[1:]
        if get_origin(hint) is typing.Annotated
    )


def _field_schema(hint: Any) -> dict[str, Any]:
    if is_messages(hint):
        return dict(_MESSAGES)
    try:
        return dict(adapter(_undecorated(hint)).json_schema(mode="validation"))
    except Exception:  # noqa: BLE001 - a type without a JSON Schema takes any JSON
        return {}


def _undecorated(hint: Any) -> Any:
    """Return the type without its reducer, which is no constraint."""
    while get_origin(hint) in (typing.Annotated, typing.Required, typing.NotRequired):
        hint = get_args(hint)[0]
    return hint
