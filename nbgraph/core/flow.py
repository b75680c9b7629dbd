"""How nodes follow one another: `START >> a`, `a >> when(...)`, `join(b, c) >> d`."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from nbgraph.core.driver import EdgeShape, NodeShape, Shape
from nbgraph.core.node import END, START, Node
from nbgraph.core.path import Branch, Goal, Join, Named, Path, Transition, checked_goal
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.errors import GraphConfigError

__all__ = ["Structure", "branch", "build", "join", "when"]


def branch(
    router: Callable[[Any], Hashable],
    mapping: Mapping[Any, Goal] | None = None,
    *,
    ref: str | None = None,
) -> Branch:
    """Lead to `mapping[router(state)]`, or to the node whose name the router returns.

    Without a mapping, the router is annotated with all names it may return,
    `-> Literal["publish", "translate"]`; `"__end__"` is END.

    Parameters
    ----------
    router : callable
        Called with the merged state; returns a key of the mapping.
    mapping : mapping of hashable to Node or END
        Where each key leads. The keys label the edges of the drawing.
    ref : str or None
        What `to_spec` calls the router, for one that cannot be imported by its own name.

    Raises
    ------
    GraphConfigError
        If the mapping is empty, a target is no node and not END, or there is neither a mapping nor
        such an annotation; if the router is no function, or an async one.
    """
    _check_router(router)
    if mapping is None:
        return Branch(router, {name: Named(name) for name in _returned_names(router)}, ref)
    if not mapping or not isinstance(mapping, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - user's
        raise GraphConfigError(
            f"branch needs a mapping from what the router returns to nodes, got {mapping!r}"
        )
    for target in mapping.values():
        checked_goal(target)
    return Branch(router, dict(mapping), ref)


def _check_router(router: Any) -> None:
    if not callable(router) or inspect.iscoroutinefunction(router):
        raise GraphConfigError(
            f"What follows is chosen by a function of the state that is not async, got {router!r}; "
            "let a node find out, and choose on what it wrote"
        )


def _returned_names(router: Callable[[Any], Hashable]) -> tuple[str, ...]:
    try:
        returns = typing.get_type_hints(router).get("return")
    except (NameError, TypeError):
        returns = None
    names = typing.get_args(returns) if typing.get_origin(returns) is typing.Literal else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise GraphConfigError(
            "branch needs a mapping from what the router returns to nodes, or a router that is "
            f'annotated with their names, -> Literal["a", "b"]; got {router!r}'
        )
    return names


def when(predicate: Callable[[Any], bool], target: Goal, *, otherwise: Goal = END) -> Branch:
    """Lead to `target` when `predicate(state)` is True, to `otherwise` when it is False.

    Parameters
    ----------
    predicate : callable
        Called with the merged state; returns True or False, and nothing else.
    target, otherwise : Node or END
        Where the two lead.

    Raises
    ------
    GraphConfigError
        If a target is no node and not END, or the predicate is no function, or an async one.
    """
    _check_router(predicate)
    for item in (target, otherwise):
        checked_goal(item)
    return Branch(predicate, {True: target, False: otherwise}, boolean=True)


def join(*sources: Node) -> Join:
    """Wait for all `sources`, whatever the length of the ways to them: `join(b, c) >> d`.

    A source that arrives twice counts once; a new turn starts empty.

    Parameters
    ----------
    *sources : Node
        Two or more nodes, as `@node` makes them.

    Raises
    ------
    GraphConfigError
        If there are fewer than two different nodes.
    """
    if len({id(source) for source in sources}) < 2:
        raise GraphConfigError(f"join waits for two or more different nodes, got {sources!r}")
    for source in sources:
        if not isinstance(source, Node):  # pyright: ignore[reportUnnecessaryIsInstance] - user's
            raise GraphConfigError(f"join waits for nodes, got {source!r}; is @node missing?")
    return Join(sources)


@dataclass(frozen=True, slots=True)
class Structure:
    """A checked flow, by names."""

    nodes: Mapping[str, Node] = field(default_factory=dict[str, Node])
    starts: tuple[str, ...] = ()
    edges: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    branches: Mapping[str, Branch] = field(default_factory=dict[str, Branch])
    joins: Mapping[str, tuple[tuple[str, ...], str]] = field(
        default_factory=dict[str, tuple[tuple[str, ...], str]]
    )
    gotos: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    deferred: tuple[str, ...] = ()
    """Nodes that wait until nothing else follows."""

    def ways(self, name: str) -> Iterator[str]:
        """Return every node and END that can follow a node."""
        yield from self.edges.get(name, ())
        yield from self.gotos.get(name, ())
        if name in self.branches:
            yield from (target.name for target in self.branches[name].mapping.values())
        yield from (target for sources, target in self.joins.values() if name in sources)

    def has(self, path: str) -> bool:
        """Return whether a breakpoint can be set there: a node, `"*"`, or one in a sub-graph."""
        if path == "*" or path in self.nodes:
            return True
        return any(path in (shape.path, f"{shape.parent}/*") for shape in self._inner_nodes())

    def node_shapes(self) -> Iterator[NodeShape]:
        """Return the nodes as they are drawn, and after them those in sub-graphs."""
        for node in self.nodes.values():
            yield NodeShape(node.name, node.label or node.name, node.description)
        yield from self._inner_nodes()

    def source(self, path: str) -> str | None:
        """Return the code of a node, `"pay"`, or of one in a sub-graph, `"refund/pay"`."""
        name, rest = self.split(path)
        node = self.nodes.get(name)
        if node is None or not rest:
            return None if node is None or node.inner is not None else node.source
        return None if node.inner is None else node.inner.structure.source(rest)

    def split(self, path: str) -> tuple[str, str]:
        """Return the name of the node a path begins with, and the rest, which leads into it."""
        if path not in self.nodes:
            for name, node in self.nodes.items():
                if node.inner is not None and path.startswith(f"{name}/"):
                    return name, path[len(name) + 1 :]
        return path, ""

    def _inner_nodes(self) -> Iterator[NodeShape]:
        for name, shape in self._inner_shapes():
            for each in shape.nodes:
                parent = name if each.parent is None else f"{name}/{each.parent}"
                yield replace(each, path=f"{name}/{each.path}", parent=parent)

    def _inner_shapes(self) -> Iterator[tuple[str, Shape]]:
        inner = ((node.name, node.inner) for node in self.nodes.values())
        yield from ((name, each.shape) for name, each in inner if each is not None)

    def fixed_stops(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return where sub-graphs pause before and after their nodes because they say so."""
        before: list[str] = []
        after: list[str] = []
        for name, shape in self._inner_shapes():
            before += (f"{name}/{each}" for each in (*shape.before, *shape.fixed_before))
            after += (f"{name}/{each}" for each in (*shape.after, *shape.fixed_after))
        return tuple(before), tuple(after)

    def edge_shapes(self) -> Iterator[EdgeShape]:
        """Return the ways as they are drawn."""
        yield from (EdgeShape(START.name, name) for name in self.starts)
        for name in self.nodes:
            yield from (EdgeShape(name, target) for target in self.edges.get(name, ()))
            if name in self.branches:
                for key, chosen in self.branches[name].mapping.items():
                    yield EdgeShape(name, chosen.name, "branch", str(key))
            yield from (EdgeShape(name, target, "goto") for target in self.gotos.get(name, ()))
        for sources, target in self.joins.values():
            yield from (EdgeShape(source, target) for source in sources)
        yield from self._inner_edges()

    def _inner_edges(self) -> Iterator[EdgeShape]:
        """Return the ways in sub-graphs: from the sub-graph's own node on, and not to END."""
        for name, shape in self._inner_shapes():
            for edge in shape.edges:
                if edge.target != END.name:
                    begins = edge.source == START.name
                    source = name if begins else f"{name}/{edge.source}"
                    yield EdgeShape(source, f"{name}/{edge.target}", edge.kind, edge.label)


def build(items: Sequence[Any]) -> Structure:
    """Return the structure of a flow's items.

    Raises
    ------
    GraphConfigError
        Listing every problem of the flow together.
    """
    paths = [_checked_item(item) for item in items]
    transitions = [part for path in paths for part in path.transitions]
    problems: list[str] = []
    nodes = _collected(transitions, problems)
    structure = _structure(transitions, nodes, problems)
    problems += _unreachable(structure)
    if problems:
        listed = "\n".join(f"- {problem}" for problem in problems)
        raise GraphConfigError(f"The flow has problems:\n{listed}")
    return structure


def _checked_item(item: Any) -> Path:
    if not isinstance(item, Path):
        raise GraphConfigError(f"A flow is made of items like `a >> b`, got {item!r}")
    return item


def _collected(transitions: Sequence[Transition], problems: list[str]) -> dict[str, Node]:
    nodes: dict[str, Node] = {}

    def collect(found: Any) -> None:
        if not isinstance(found, Node):
            return
        known = nodes.setdefault(found.name, found)
        if known is not found:
            problems.append(f"two nodes are named {found.name!r}")
            return
        for target in found.goto:
            if isinstance(target, Node) and target.name not in nodes:
                collect(target)
            elif isinstance(target, Node) and nodes[target.name] is not target:
                problems.append(f"two nodes are named {target.name!r}")

    for part in transitions:
        sources = part.source.sources if isinstance(part.source, Join) else (part.source,)
        mapped = part.choice.mapping.values() if part.choice else ()
        for found in (*sources, *part.targets, *mapped):
            collect(found)
    return nodes


def _structure(
    transitions: Sequence[Transition], nodes: Mapping[str, Node], problems: list[str]
) -> Structure:
    starts: list[str] = []
    edges: dict[str, tuple[str, ...]] = {}
    branches: dict[str, Branch] = {}
    joins: dict[str, tuple[tuple[str, ...], str]] = {}
    started = 0
    for part in transitions:
        names = tuple(target.name for target in part.targets)
        match part.source:
            case Join(sources=sources, name=name):
                if name in joins or names[0] == END.name:
                    problems.append(f"join({name}) must lead to one node, once")
                joins[name] = (tuple(source.name for source in sources), names[0])
            case Node(name=name):
                if name in edges or name in branches:
                    problems.append(f"{name!r} has two transitions; use a list, a branch or goto")
                elif part.choice is not None:
                    branches[name] = _resolved(part.choice, name, nodes, problems)
                else:
                    edges[name] = names
            case _:
                started += 1
                starts.extend(names)
    if started != 1 or END.name in starts:
        problems.append("a flow has exactly one START item, which leads to nodes: START >> a")
    deferred = tuple(name for name, found in nodes.items() if found.defer)
    problems += [
        f"{name!r} is deferred, and START leads to it" for name in starts if name in deferred
    ]
    gotos = {
        name: _goto_names(found, nodes, problems) for name, found in nodes.items() if found.goto
    }
    return Structure(dict(nodes), tuple(starts), edges, branches, joins, gotos, deferred)


def _resolved(choice: Branch, name: str, nodes: Mapping[str, Node], problems: list[str]) -> Branch:
    """Return a branch whose targets are nodes, where it was written with their names."""
    mapping: dict[Hashable, Goal] = {}
    for key, target in choice.mapping.items():
        found = {END.name: END, **nodes}.get(target.name) if isinstance(target, Named) else target
        if found is None:
            problems.append(
                f"the router after {name!r} may return {key!r}, which is no node of the flow"
            )
        mapping[key] = found or target
    return replace(choice, mapping=mapping)


def _goto_names(found: Node, nodes: Mapping[str, Node], problems: list[str]) -> tuple[str, ...]:
    names: list[str] = []
    for target in found.goto:
        name = target if isinstance(target, str) else target.name
        if name not in nodes and name != END.name:
            problems.append(f"{found.name!r} declares goto {name!r}, which is no node of the flow")
        names.append(name)
    return tuple(names)


def _unreachable(structure: Structure) -> list[str]:
    seen: set[str] = set()
    waiting = list(structure.starts)
    while waiting:
        name = waiting.pop()
        if name not in seen and name in structure.nodes:
            seen.add(name)
            waiting.extend(structure.ways(name))
    problems = [f"{name!r} cannot be reached" for name in structure.nodes if name not in seen]
    problems += [
        f"{name!r} leads nowhere; add `{name} >> END`"
        for name in structure.nodes
        if not any(True for _ in structure.ways(name))
    ]
    return problems
