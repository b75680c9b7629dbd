"""The pure half of a superstep: which tasks come next, and where a node leads."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, cast

from pydantic import BaseModel

from nbgraph.core.events import Route, TaskFinished, TaskSpec, made
from nbgraph.core.flow import Structure
from nbgraph.core.node import END, Command, Node, Send
from nbgraph.core.path import Branch
from nbgraph.core.position import Position
from nbgraph.core.schema import StateSchema
from nbgraph.errors import (
    GraphExecutionError,
    InvalidUpdateError,
    ResumeError,
    StateUpdateError,
)

__all__ = [
    "breaks_when",
    "check_conflicts",
    "first_tasks",
    "gone_to",
    "next_tasks",
    "read_result",
]


def first_tasks(structure: Structure) -> tuple[TaskSpec, ...]:
    """Return the tasks of a turn's first superstep."""
    return _numbered([_plain_route(name) for name in structure.starts])


def next_tasks(
    structure: Structure, position: Position, view: Callable[[], Any]
) -> tuple[tuple[TaskSpec, ...], dict[str, tuple[str, ...]]]:
    """Return the tasks that follow a finished superstep, and what has arrived at open joins.

    Parameters
    ----------
    structure : Structure
        The graph's flow.
    position : Position
        With all tasks finished.
    view : function
        Returns the merged state, as a router is given it.

    Raises
    ------
    GraphExecutionError
        If a router returns what its branch does not know.
    """
    routes: list[Route] = []
    sources: list[str] = []
    for task in position.tasks:
        chosen = position.finished[task.task_id].routes
        routes += _routes(structure, task.node, view) if chosen is None else chosen
        if structure.deferred:
            sources += [task.node] * (len(routes) - len(sources))
    arrived: dict[str, tuple[str, ...]] = {}
    if structure.joins:
        arrived, ready = _joined(structure, position)
        routes += [_plain_route(target) for target, _ in ready]
        sources += [there[0] for _, there in ready]
    if not structure.deferred:
        return _numbered(routes), arrived
    return _held_back(structure, position, list(zip(routes, sources, strict=True)), arrived)


def _held_back(
    structure: Structure,
    position: Position,
    led: Sequence[tuple[Route, str]],
    arrived: dict[str, tuple[str, ...]],
) -> tuple[tuple[TaskSpec, ...], dict[str, tuple[str, ...]]]:
    """Hold back deferred nodes while others follow; what led to them is kept as at a join."""
    held = {name: position.joins[name] for name in structure.deferred if name in position.joins}
    others: list[Route] = []
    for route, source in led:
        if route.node in structure.deferred and route.payload is None:
            held[route.node] = tuple(dict.fromkeys((*held.get(route.node, ()), source)))
        else:
            others.append(route)
    following = _numbered(others)
    if following:
        return following, {**arrived, **held}
    return _numbered([_plain_route(name) for name in held]), arrived


def _routes(structure: Structure, name: str, view: Callable[[], Any]) -> Iterable[Route]:
    branch = structure.branches.get(name)
    if branch is not None:
        return (_plain_route(_chosen(branch, name, view())),)
    return map(_plain_route, structure.edges.get(name, ()))


@functools.lru_cache(maxsize=1024)
def _plain_route(name: str) -> Route:
    return made(Route, node=name)


@functools.lru_cache(maxsize=1024)
def _plain_task(task_id: str, name: str) -> TaskSpec:
    """Return a task without a payload: the same record each time the node's turn comes."""
    return made(TaskSpec, task_id=task_id, node=name)


def _chosen(branch: Branch, name: str, view: Any) -> str:
    key = branch.router(view)
    if branch.boolean and not isinstance(key, bool):
        raise GraphExecutionError(f"The predicate after {name!r} must return a bool, got {key!r}")
    try:
        return branch.mapping[key].name
    except (KeyError, TypeError):  # it is no key, or nothing that can be one
        known = ", ".join(map(repr, branch.mapping))
        raise GraphExecutionError(
            f"The router after {name!r} returned {key!r}; it knows {known}"
        ) from None


def _joined(
    structure: Structure, position: Position
) -> tuple[dict[str, tuple[str, ...]], list[tuple[str, tuple[str, ...]]]]:
    """Return what has arrived at open joins, and the targets of those that are full."""
    done = {task.node for task in position.tasks}
    arrived: dict[str, tuple[str, ...]] = {}
    ready: list[tuple[str, tuple[str, ...]]] = []
    for name, (sources, target) in structure.joins.items():
        here = {*position.joins.get(name, ()), *(source for source in sources if source in done)}
        if len(here) == len(sources):
            ready.append((target, sources))
        elif here:
            arrived[name] = tuple(source for source in sources if source in here)
    return arrived, ready


@functools.lru_cache(maxsize=1024)
def _lone_task(name: str) -> tuple[TaskSpec, ...]:
    """Return what follows where one node, or END, is led to: mostly it is one."""
    return () if name == END.name else (_plain_task(name, name),)


def _numbered(routes: Sequence[Route]) -> tuple[TaskSpec, ...]:
    """Return one task for each node that is led to, and one for each `Send`, in order."""
    if len(routes) == 1 and routes[0].payload is None:
        return _lone_task(routes[0].node)
    counts: dict[str, int] = {}
    tasks: list[TaskSpec] = []
    plain: set[str] = set()
    for route in routes:
        if route.node == END.name or (route.payload is None and route.node in plain):
            continue
        if route.payload is None:
            plain.add(route.node)
        number = counts.get(route.node, 0)
        counts[route.node] = number + 1
        task_id = f"{route.node}[{number}]" if number else route.node
        if route.payload is None:
            tasks.append(_plain_task(task_id, route.node))
        else:
            tasks.append(made(TaskSpec, task_id=task_id, node=route.node, payload=route.payload))
    return tuple(tasks)


def breaks_when(
    predicate: Callable[[Any], Any] | None, schema: StateSchema, position: Position
) -> bool:
    """Return whether a predicate on the state pauses before the next superstep.

    Raises
    ------
    GraphExecutionError
        If it returns something else than a bool.
    """
    if predicate is None:
        return False
    said = predicate(schema.view(position.state))
    if not isinstance(said, bool):
        raise GraphExecutionError(f"break_when must return a bool, got {said!r}")
    return said


def check_conflicts(position: Position, schema: StateSchema) -> None:
    """Refuse two tasks that wrote one field which has no merging reducer.

    Several `Send` tasks of the same node may: the last one stands.

    Raises
    ------
    InvalidUpdateError
        Naming the field and both nodes.
    """
    writers: dict[str, TaskFinished] = {}
    for task in position.tasks:
        result = position.finished[task.task_id]
        for name in result.update:
            if schema.merges(name) and name not in result.replaced:
                continue
            other = writers.setdefault(name, result)
            if other is not result and other.node != result.node:
                raise InvalidUpdateError(name, [other.node, result.node])


def read_result(
    node: Node,
    returned: Any,
    given: Any,
    before: Mapping[str, Any],
    schema: StateSchema,
) -> tuple[dict[str, Any], tuple[str, ...], tuple[Route, ...] | None]:
    """Return a node's update, the fields that go past their reducer, and its own routes.

    Parameters
    ----------
    node : Node
        Who returned.
    returned : Any
        What: a dict, the state object itself, `Command`, `Send`, END or None.
    given : state
        The state object the node was given.
    before : mapping
        The state's values behind that object.
    schema : StateSchema
        Checks the update.

    Raises
    ------
    TypeError
        If it is none of these.
    GraphExecutionError
        If it leads to a node that is not declared, or the state object was changed and something
        else was returned.
    StateUpdateError, StateStoreError
        If a value does not fit, or cannot be kept.
    """
    update: Any = returned
    goto: Sequence[Any] | None = None
    if type(returned) is not dict:  # else it is an update and nothing more, as mostly
        update, goto = _parts(node, returned, given)
    if update is given:
        update = schema.difference(before, given)
    elif not schema.untouched(given, before):
        _refuse_changes(node, before, given, schema)
    values, replaced = schema.checked(update or {}, node.place)
    routes = None if goto is None else tuple([_route(node, item, schema) for item in goto])
    return values, replaced, routes


def _parts(node: Node, returned: Any, given: Any) -> tuple[Any, Sequence[Any] | None]:
    match returned:
        case Command(update=update, goto=goto):
            several = goto is None or isinstance(goto, list | tuple)
            return update, cast("Sequence[Any] | None", goto) if several else [goto]
        case Send():
            return None, [returned]
        case None:
            return None, None
        case _ if returned is given or isinstance(returned, Mapping):
            return cast("Any", returned), None
        case _ if returned is END:
            return None, [END]
        case Coroutine():
            returned.close()  # it will not be awaited, and nobody is to be told so again
            raise TypeError(
                f"Node {node.name!r} returned a coroutine that nobody awaits: it calls an async "
                "function and is none; write it as `async def` and await the call"
            )
        case list() | tuple() if any(isinstance(each, Send) for each in cast("Any", returned)):
            raise TypeError(
                f"Node {node.name!r} returned several of Send; return Command(goto=[...]) with them"
            )
        case _:
            raise TypeError(
                f"Node {node.name!r} returned {type(returned).__qualname__}; return a dict of "
                "fields, the state it was given, Command, Send, END or None"
            )


def _refuse_changes(node: Node, before: Mapping[str, Any], given: Any, schema: StateSchema) -> None:
    try:
        changed = schema.difference(before, given)
    except GraphExecutionError:
        changed = {"state": None}
    if changed:
        raise GraphExecutionError(
            f"Node {node.name!r} changed {', '.join(map(repr, changed))} in place and returned "
            "something else; return the state, or a dict with the update"
        )


def _route(node: Node, target: Any, schema: StateSchema) -> Route:
    if isinstance(target, Send):
        _check_declared(node, target.node)
        return made(Route, node=target.node.name, payload=_payload(target, schema))
    _check_declared(node, target)
    return _plain_route(target if isinstance(target, str) else target.name)


def _check_declared(node: Node, target: Any) -> None:
    if any(_means(declared, target) for declared in node.goto):
        return
    raise GraphExecutionError(
        f"Node {node.name!r} leads to {target!r}, which it does not declare; add it to "
        "@node(goto=[...])"
    )


def _means(declared: Any, target: Any) -> bool:
    """Return whether a target is a declared one: the same object, or one names the other."""
    if isinstance(declared, str):
        return declared in (target, getattr(target, "name", None))
    return declared is target or (isinstance(target, str) and declared.name == target)


def gone_to(structure: Structure, schema: StateSchema, goto: Any) -> tuple[TaskSpec, ...]:
    """Return the tasks that somebody who edits the state leads to.

    Raises
    ------
    ResumeError
        If the graph has no such node.
    """
    targets = cast("Sequence[Any]", goto) if isinstance(goto, list | tuple) else [goto]
    routes: list[Route] = []
    for target in targets:
        found = target.node if isinstance(target, Send) else target
        name = found if isinstance(found, str) else getattr(found, "name", None)
        if name != END.name and name not in structure.nodes:
            known = ", ".join(map(repr, structure.nodes))
            raise ResumeError(f"There is no node {target!r} to go to; nodes are {known}")
        payload = _payload(target, schema) if isinstance(target, Send) else None
        routes.append(made(Route, node=name, payload=payload))
    return _numbered(routes)


def _payload(send: Send, schema: StateSchema) -> dict[str, Any]:
    given = send.payload
    if isinstance(given, BaseModel):
        given = {name: getattr(given, name) for name in given.model_fields_set}
    checked = schema.update(given or {}, f"Send to {send.node.name!r}")
    if checked.replaced:
        raise StateUpdateError("A Send payload is laid over the state; Replace has no place in it")
    return dict(checked.values)
