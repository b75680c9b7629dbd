"""A function's signature as pydantic models: what a tool takes, and what it returns."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo

from nbgraph.agents.tool_context import ToolContext
from nbgraph.errors import GraphConfigError

__all__ = ["Signature", "described_parameters", "input_model_of", "output_model_of", "signature_of"]

_FORBID = ConfigDict(extra="forbid", arbitrary_types_allowed=False, protected_namespaces=())
_MISSING: Any = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Signature:
    """What a tool's function is declared with.

    Attributes
    ----------
    parameters : mapping of str to Parameter
        Those the model fills in, with their annotations resolved.
    returns : Any
        The return annotation; `Any` if there is none.
    context : str or None
        The parameter that is given the `ToolContext`.
    """

    parameters: Mapping[str, inspect.Parameter]
    returns: Any
    context: str | None


def signature_of(function: Callable[..., Any], seen: Mapping[str, Any]) -> Signature:
    """Return a function's signature, with its annotations resolved.

    Parameters
    ----------
    function : function
        A plain function or a bound method.
    seen : mapping
        Names the annotations may use beside those of the function's module.

    Raises
    ------
    NameError
        If an annotation names what is not there yet.
    GraphConfigError
        If a parameter has no annotation, or is one that a model cannot fill in.
    """
    hints = _hints(function, seen)
    taken: dict[str, inspect.Parameter] = {}
    context: str | None = None
    for name, parameter in inspect.signature(function).parameters.items():
        _check(function, parameter)
        if hints[name] is ToolContext:
            context = name
        else:
            taken[name] = parameter.replace(annotation=hints[name])
    return Signature(taken, hints.get("return", Any), context)


def _hints(function: Callable[..., Any], seen: Mapping[str, Any]) -> dict[str, Any]:
    plain = getattr(function, "__func__", function)
    names = {**_closure(plain), **seen}
    return typing.get_type_hints(plain, localns=names, include_extras=True)


def _closure(function: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found


def _check(function: Callable[..., Any], parameter: inspect.Parameter) -> None:
    where = f"Parameter {parameter.name!r} of tool {getattr(function, '__name__', function)!r}"
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise GraphConfigError(f"{where} collects arguments; name each one")
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise GraphConfigError(f"{where} is positional only; a tool is called by names")
    if parameter.annotation is _MISSING:
        raise GraphConfigError(f"{where} has no annotation; the model is told what it takes by it")


def seen_by_caller(depth: int) -> dict[str, Any]:
    """Return the local names of the function that calls, `depth` frames up."""
    frame = inspect.currentframe()
    for _ in range(depth + 1):
        frame = frame and frame.f_back
    if frame is None or frame.f_locals is frame.f_globals:
        return {}
    return dict(frame.f_locals)


def input_model_of(name: str, signature: Signature, docstring: str) -> type[BaseModel]:
    """Return the model of a tool's arguments; it refuses unknown ones.

    A field has its parameter's name as alias, so that a parameter may be called as no field may.
    """
    texts = described_parameters(docstring)
    fields: dict[str, Any] = {
        f"arg_{index}": _field(name, parameter, texts.get(name))
        for index, (name, parameter) in enumerate(signature.parameters.items())
    }
    return create_model(f"{_camel(name)}Input", __config__=_FORBID, **fields)


def _field(name: str, parameter: inspect.Parameter, text: str | None) -> tuple[Any, Any]:
    """Return the type and the field of a parameter, which may have a `Field(...)` as default."""
    given = parameter.default
    options: dict[str, Any] = {"alias": name, "title": _title(name), "description": text}
    if not isinstance(given, FieldInfo):
        if given is not _MISSING:
            options["default"] = given
        return parameter.annotation, Field(**options)
    for option in ("title", "description", "examples", "json_schema_extra", "discriminator"):
        value = getattr(given, option)
        if value is not None:
            options[option] = value
    if given.default_factory is not None:
        options["default_factory"] = given.default_factory
    elif not given.is_required():
        options["default"] = given.default
    annotation = parameter.annotation
    for constraint in given.metadata:
        annotation = Annotated[annotation, constraint]
    return annotation, Field(**options)


def _title(name: str) -> str:
    return name.replace("_", " ").title()


def output_model_of(name: str, returns: Any) -> tuple[type[BaseModel], bool]:
    """Return the model of a tool's result, and whether the result is a field of it."""
    if isinstance(returns, type) and issubclass(returns, BaseModel):
        return returns, False
    result = cast("Any", (returns, ...))
    return create_model(f"{_camel(name)}Output", result=result), True


def _camel(name: str) -> str:
    parts = re.split(r"[^A-Za-z0-9]+", name)
    return "".join(part[:1].upper() + part[1:] for part in parts)


# --- docstrings -----------------------------------------------------------------------------

_FIELD_LIST = re.compile(r"^:param\s+(?:[^:]*\s)?(\*{0,2}\w+)\s*:\s*(.*)$")
_GOOGLE = re.compile(r"^(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_NUMPY = re.compile(r"^(\w+(?:\s*,\s*\w+)*)\s*(?::.*)?$")


def described_parameters(docstring: str) -> dict[str, str]:
    """Return what a docstring says about each parameter: numpy, Google or field-list style."""
    lines = docstring.splitlines()
    found: dict[str, str] = {}
    for index, line in enumerate(lines):
        if match := _FIELD_LIST.match(line.strip()):
            found[match[1].lstrip("*")] = _joined(match[2], _indented(lines[index + 1 :], line))
        elif line.strip() in ("Args:", "Arguments:", "Parameters:"):
            found |= _entries(_indented(lines[index + 1 :], line), _google_entry)
        elif line.strip() == "Parameters" and set(_at(lines, index + 1)) == {"-"}:
            found |= _entries(_section(lines[index + 2 :]), _numpy_entry)
    return {name: text for name, text in found.items() if text}


def _at(lines: list[str], index: int) -> str:
    return lines[index].strip() if index < len(lines) else ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _indented(lines: list[str], above: str) -> list[str]:
    """Return the lines that stand further in than the one above them, up to the first that not."""
    taken: list[str] = []
    for line in lines:
        if line.strip() and _indent(line) <= _indent(above):
            break
        taken.append(line)
    return taken


def _section(lines: list[str]) -> list[str]:
    """Return the lines of a numpy section: up to the next title, which is underlined."""
    for index in range(1, len(lines)):
        if lines[index].strip() and set(lines[index].strip()) == {"-"}:
            return lines[: index - 1]
    return lines


def _entries(
    lines: list[str], entry: Callable[[str], tuple[list[str], str] | None]
) -> dict[str, str]:
    """Return the text of each entry: what follows its name, and the lines further in."""
    found: dict[str, str] = {}
    level = min((_indent(line) for line in lines if line.strip()), default=0)
    for index, line in enumerate(lines):
        if not line.strip() or _indent(line) != level:
            continue
        if (read := entry(line.strip())) is not None:
            names, text = read
            whole = _joined(text, _indented(lines[index + 1 :], line))
            found |= dict.fromkeys(names, whole)
    return found


def _google_entry(line: str) -> tuple[list[str], str] | None:
    match = _GOOGLE.match(line)
    return ([match[1]], match[2]) if match else None


def _numpy_entry(line: str) -> tuple[list[str], str] | None:
    match = _NUMPY.match(line)
    return ([name.strip() for name in match[1].split(",")], "") if match else None


def _joined(first: str, following: list[str]) -> str:
    return " ".join(part for part in (first, *map(str.strip, following)) if part).strip()
