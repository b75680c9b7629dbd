"""A flow that is put together piece by piece: `add_node`, `add_edge`, `add_conditional_edges`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, cast

from nbgraph.core.flow import branch
from nbgraph.core.node import END, START, Node, node
from nbgraph.core.path import Branch, Goal, Join, Path
from nbgraph.errors import GraphConfigError

__all__ = ["Building", "GraphBuilding"]


@dataclass(slots=True)
class Building:
    """What was added to a graph so far, by name; nothing is looked up before the flow is made."""

    nodes: dict[str, Node] = field(default_factory=dict[str, Node])
    edges: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    joins: dict[tuple[str, ...], list[str]] = field(
        default_factory=dict[tuple[str, ...], list[str]]
    )
    choices: dict[str, Branch | Mapping[Hashable, str]] = field(
        default_factory=dict[str, Branch | Mapping[Hashable, str]]
    )
    routers: dict[str, Callable[[Any], Any]] = field(
        default_factory=dict[str, Callable[[Any], Any]]
    )

    def __bool__(self) -> bool:
        return bool(self.nodes or self.edges or self.joins or self.choices)

    def items(self) -> list[Path]:
        """Return what was added as the items of a flow.

        Raises
        ------
        GraphConfigError
            Listing every name that is no node's, and every node without an edge to it.
        """
        problems = [*self._unknown(), *self._alone()]
        if problems:
            listed = "\n".join(f"- {problem}" for problem in problems)
            raise GraphConfigError(f"The flow has problems:\n{listed}")
        paths = [
            Path.between(self._source(name), self._goals(to)) for name, to in self.edges.items()
        ]
        for names, targets in self.joins.items():
            joined = Join(tuple(self.nodes[name] for name in names))
            paths += [Path.between(joined, self._goal(target)) for target in targets]
        return [
            *paths,
            *(Path.between(self.nodes[name], self._choice(name)) for name in self.choices),
        ]

    def _unknown(self) -> Iterable[str]:
        known = ", ".join(map(repr, self.nodes)) or "none"
        for name in dict.fromkeys([*self._sources(), *self._targets()]):
            if name not in self.nodes and name not in (START.name, END.name):
                yield f"{name!r} is no node that was added; added are {known}"
        if START.name in self._targets() or END.name in self._sources():
            yield "no edge leads to START, and none from END"

    def _alone(self) -> Iterable[str]:
        gotos = {
            target if isinstance(target, str) else target.name
            for each in self.nodes.values()
            for target in each.goto
        }
        reached = {*self._targets(), *gotos}
        for name in self.nodes:
            if name not in reached:
                yield f"{name!r} cannot be reached; add_edge to it"

    def _sources(self) -> list[str]:
        joined = [name for names in self.joins for name in names]
        return [*self.edges, *joined, *self.choices]

    def _targets(self) -> list[str]:
        listed = [*self.edges.values(), *self.joins.values()]
        mapped = [
            target.name if isinstance(target, Goal) else target
            for choice in self.choices.values()
            for target in (choice.mapping if isinstance(choice, Branch) else choice).values()
        ]
        return [*(name for names in listed for name in names), *mapped]

    def _source(self, name: str) -> Any:
        return START if name == START.name else self.nodes[name]

    def _goal(self, name: str) -> Goal:
        return END if name == END.name else self.nodes[name]

    def _goals(self, names: Sequence[str]) -> list[Goal]:
        return [self._goal(name) for name in names]

    def _choice(self, name: str) -> Branch:
        choice = self.choices[name]
        if isinstance(choice, Branch):
            return choice
        return branch(self.routers[name], {key: self._goal(to) for key, to in choice.items()})


class GraphBuilding:
    """The methods of `Graph` that add to its flow; it is made of what was added when first used."""

    building: Building
    name: str
    _structure: Any

    def add_node(
        self,
        name: str | Callable[..., Any],
        function: Callable[..., Any] | None = None,
        **options: Any,
    ) -> Self:
        """Add a node: `add_node(weigh)`, or under another name `add_node("scales", weigh)`.

        Parameters
        ----------
        name : str or function
            What the node is called, or its function, or a node made by `@node` or `subgraph`.
        function : function, optional
            What the node runs, if the name comes first.
        **options
            As `node` takes them.

        Raises
        ------
        GraphConfigError
            If a node of that name was added, or the graph has its flow.
        TypeError
            If the function or an option is none a node can be made of.
        """
        made = _node_of(name, function, options)
        self._check_open()
        if made.name in self.building.nodes:
            raise GraphConfigError(f"Two nodes are named {made.name!r}; give one another name")
        self.building.nodes[made.name] = made
        return self

    def add_edge(self, source: Any, target: Any) -> Self:
        """Let one node follow another, by name; a list of sources is a `join`.

        Parameters
        ----------
        source : str, node, START or a list of them
            What is followed. A second edge from it leads to another node at once; a list waits for
            all of its nodes.
        target : str, node or END
            What follows.

        Raises
        ------
        GraphConfigError
            If one of them is no name and no node, or the graph has its flow.
        """
        self._check_open()
        following = _name_of(target)
        if isinstance(source, list | tuple):
            names = tuple(dict.fromkeys(map(_name_of, cast("Sequence[Any]", source))))
            if len(names) < 2 or START.name in names:
                raise GraphConfigError(f"A list of sources is two or more nodes, got {source!r}")
            _added(self.building.joins.setdefault(names, []), following)
        else:
            _added(self.building.edges.setdefault(_name_of(source), []), following)
        return self

    def add_conditional_edges(
        self,
        source: Any,
        router: Callable[[Any], Any],
        mapping: Mapping[Any, Any] | Sequence[Any] | None = None,
    ) -> Self:
        """Let a router choose what follows a node.

        Parameters
        ----------
        source : str or node
            What is followed.
        router : function
            Takes the merged state; returns a key of the mapping.
        mapping : dict or list, optional
            Where each key leads, by name, or the names the router returns. Without it, the router
            is annotated with them, `-> Literal["publish", "translate"]`.

        Raises
        ------
        GraphConfigError
            If there is a router after the node already, a target is no name and no node, or it is
            not known what the router returns.
        """
        self._check_open()
        name = _name_of(source)
        if name in self.building.choices:
            raise GraphConfigError(f"{name!r} has a router already; one router chooses for it")
        if mapping is None:
            self.building.choices[name] = branch(router)
            return self
        if not isinstance(mapping, Mapping):
            mapping = {each: each for each in mapping}
        self.building.choices[name] = {key: _name_of(each) for key, each in mapping.items()}
        self.building.routers[name] = router
        return self

    def _check_open(self) -> None:
        if self._structure is not None:
            raise GraphConfigError(f"Graph {self.name!r} has its flow already")


def _node_of(
    name: str | Callable[..., Any], function: Callable[..., Any] | None, options: dict[str, Any]
) -> Node:
    handler: Any = name if function is None else function
    if isinstance(handler, Node):
        if options or (function is not None and handler.name != name):
            raise TypeError(f"{handler!r} is a node with its name and options; add it as it is")
        return handler
    if isinstance(handler, GraphBuilding):
        raise TypeError("A graph becomes a node by subgraph(name, graph, share=[...])")
    if function is not None:
        options = {"name": name, **options}
    return node(**options)(handler)


def _name_of(given: Any) -> str:
    if isinstance(given, str):
        return given
    if isinstance(given, Goal) or given is START:
        return given.name
    raise GraphConfigError(f"An edge leads between nodes, by name or as they are; got {given!r}")


def _added(names: list[str], name: str) -> None:
    if name not in names:
        names.append(name)
