"""The fields a state type declares, or why it cannot be a state."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Sequence
from typing import Annotated, Any, TypeGuard, get_args, get_origin

from pydantic import BaseModel

from nbgraph.core.field import Field
from nbgraph.core.types import unkept_fields
from nbgraph.errors import GraphConfigError

__all__ = ["declared_fields", "is_model"]


def is_model(state_type: Any) -> TypeGuard[type[BaseModel]]:
    """Return whether a state type is a pydantic model."""
    return inspect.isclass(state_type) and issubclass(state_type, BaseModel)


def declared_fields(state_type: Any) -> dict[str, Field]:
    """Return the fields of a pydantic model or a TypedDict, by name.

    Raises
    ------
    GraphConfigError
        If the type is neither, or declares what cannot be kept field by field.
    """
    if is_model(state_type):
        _check_model(state_type)
        infos = state_type.model_fields
        return {name: Field(name, info.annotation, info.metadata) for name, info in infos.items()}
    if typing.is_typeddict(state_type):
        return {name: _declared(name, hint) for name, hint in _hints(state_type).items()}
    raise GraphConfigError(
        f"A state schema is a pydantic model, a TypedDict or dict, got {state_type!r}"
    )


def _hints(state_type: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(state_type, include_extras=True)
    except NameError as error:
        raise GraphConfigError(
            f"A field of {state_type.__qualname__} has a type that is not found: {error}; "
            "define both at the top of a module or cell"
        ) from error


def _declared(name: str, hint: Any) -> Field:
    bare = hint
    while get_origin(bare) in (typing.Required, typing.NotRequired):
        bare = get_args(bare)[0]
    metadata: Sequence[Any] = ()
    if get_origin(bare) is Annotated:
        bare, *metadata = get_args(bare)
    return Field(name, bare, metadata)


def _check_model(model: type[BaseModel]) -> None:
    decorators = model.__pydantic_decorators__
    problems = [
        f"{kind} {', '.join(found)}"
        for kind, found in {
            "validators": {**decorators.field_validators, **decorators.model_validators},
            "serializers": {**decorators.field_serializers, **decorators.model_serializers},
        }.items()
        if found
    ]
    if model.model_config.get("extra") == "allow":
        problems.append('extra="allow"')
    problems += [
        f"{name!r} of type {kind.__name__}, which cannot be kept"
        for name, kind in unkept_fields(model).items()
    ]
    problems += [
        f"exclude= on {name!r}" for name, info in model.model_fields.items() if info.exclude
    ]
    problems += [
        f"a default factory of {name!r} that reads other fields"
        for name, info in model.model_fields.items()
        if info.default_factory_takes_validated_data
    ]
    if problems:
        raise GraphConfigError(
            f"{model.__qualname__} cannot be a state, since every field is checked and kept on its "
            f"own: {'; '.join(problems)}; use Annotated validators, or check in a node"
        )
