"""Whether the loops around a call run over the same things each time, told from its source."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import FrameType

__all__ = ["loops_over_constants"]

_Loop = ast.For | ast.AsyncFor | ast.While | ast.comprehension
_Place = tuple[int | None, int | None, int | None, int | None]
_IN_ORDER = {"range", "enumerate", "reversed", "zip"}
_MAX_FILES = 32


def loops_over_constants(frames: Iterable[FrameType]) -> bool:
    """Return whether these calls stand in loops, and all of them run over what is written there.

    False where the source cannot be had, or a call is repeated without a loop.
    """
    loops: list[_Loop] = []
    for frame in frames:
        found = _loops_around(frame)
        if found is None:
            return False
        loops += found
    return bool(loops) and all(map(_is_constant, loops))


def _loops_around(frame: FrameType) -> Sequence[_Loop] | None:
    """Return the loops around where a frame stands, in its function; None if it is not found."""
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    place = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    return _loops_in("".join(lines)).get(place)


@functools.lru_cache(maxsize=_MAX_FILES)
def _loops_in(source: str) -> Mapping[_Place, Sequence[_Loop]]:
    """Return the loops around each expression of a program, by its place."""
    try:
        return dict(_placed(ast.parse(source), ()))
    except (SyntaxError, ValueError, RecursionError):
        return {}


def _placed(node: ast.AST, loops: tuple[_Loop, ...]) -> Iterator[tuple[_Place, Sequence[_Loop]]]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
        loops = ()
    for inner in ast.iter_child_nodes(node):
        yield from _placed(inner, (*loops, *_loops_of(node, inner)))
    if isinstance(node, ast.expr):
        yield (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset), loops


def _loops_of(node: ast.AST, inner: ast.AST) -> Iterable[_Loop]:
    """Return the loops that a part of a statement or expression is repeated by."""
    match node:
        case ast.For(iter=over) | ast.AsyncFor(iter=over):
            return () if inner is over else (node,)
        case ast.While():
            return (node,)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return node.generators
        case _:
            return ()


def _is_constant(loop: _Loop) -> bool:
    return not isinstance(loop, ast.While) and _is_written(loop.iter)


def _is_written(node: ast.expr) -> bool:
    """Return whether an expression has the same value each time, in the same order."""
    match node:
        case ast.Constant():
            return True
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(map(_is_written, parts))
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]):
            return name in _IN_ORDER and all(map(_is_written, parts))
        case _:
            return False
