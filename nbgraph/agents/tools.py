"""Tools: functions that a chat model can ask for, with schemas made of their annotations."""

from __future__ import annotations

import functools
import inspect
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, overload

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from nbgraph.agents.signature import (
    Signature,
    input_model_of,
    output_model_of,
    seen_by_caller,
    signature_of,
)
from nbgraph.core.answers import problems_of, publish, typed
from nbgraph.core.json_values import Json
from nbgraph.errors import AnswerError, GraphConfigError, ToolExecutionError

__all__ = ["Tool", "tool"]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class Tool:
    """A function as a chat model sees it. Made by `tool`; calling it calls the function.

    Attributes
    ----------
    name : str
        What the model calls it.
    description : str
        What the model reads about it, and the person who approves a call.
    destructive : bool
        Its effect cannot be undone: an approval of it has no default key.
    idempotent : bool
        It may run again after a crash, though it was approved once.
    metadata : dict
        Yours; nothing reads it.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str,
        description: str,
        declared_input: type[BaseModel] | None,
        destructive: bool,
        idempotent: bool,
        metadata: Mapping[str, Any],
        seen: Mapping[str, Any],
    ) -> None:
        self.function = function
        self.name = name
        self.description = description
        self.destructive = destructive
        self.idempotent = idempotent
        self.metadata = dict(metadata)
        self.is_async = inspect.iscoroutinefunction(function)
        self._declared_input = declared_input
        self._seen: Mapping[str, Any] = seen
        functools.update_wrapper(self, function)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:  # noqa: D102 - the class says it
        return self.function(*args, **kwargs)

    @functools.cached_property
    def signature(self) -> Signature:
        """The function's own.

        Raises
        ------
        GraphConfigError
            If an annotation names what is not there.
        """
        try:
            return signature_of(self.function, self._seen)
        except NameError as error:
            raise GraphConfigError(
                f"An annotation of tool {self.name!r} names what is not there: {error}"
            ) from error

    @functools.cached_property
    def input_model(self) -> type[BaseModel]:
        """The model of its arguments."""
        if self._declared_input is not None:
            _check_declared(self.name, self.signature, self._declared_input)
            return self._declared_input
        doc = inspect.getdoc(self.function) or ""
        return input_model_of(self.name, self.signature, doc)

    @functools.cached_property
    def _output(self) -> tuple[type[BaseModel], bool]:
        return output_model_of(self.name, self.signature.returns)

    @property
    def output_model(self) -> type[BaseModel]:
        """The model of its result; a result that is no model is its field `result`."""
        return self._output[0]

    def input_schema(self) -> dict[str, Json]:
        """Return the JSON Schema of its arguments."""
        return publish(self.input_model) or {}

    def output_schema(self) -> dict[str, Json]:
        """Return the JSON Schema of its result."""
        return self.output_model.model_json_schema(mode="serialization")

    def problems_of(self, arguments: Mapping[str, Json]) -> dict[str, str]:
        """Return what is wrong with `arguments`, by JSON Pointer; empty for good ones."""
        return problems_of(self.input_model, dict(arguments))

    def read(self, arguments: Mapping[str, Json]) -> dict[str, Any]:
        """Return `arguments` as the function takes them.

        Raises
        ------
        ToolExecutionError
            If they do not fit.
        """
        try:
            model = typed(self.input_model, dict(arguments), self.name)
        except AnswerError as error:
            listed = "; ".join(
                f"{path or 'arguments'}: {text}" for path, text in error.problems.items()
            )
            raise ToolExecutionError(
                self.name, dict(arguments), f"the arguments do not fit: {listed}", error.problems
            ) from error
        if self._takes_model:
            return {next(iter(self.signature.parameters)): model}
        return {
            info.alias or field: getattr(model, field)
            for field, info in self.input_model.model_fields.items()
        }

    @property
    def _takes_model(self) -> bool:
        annotations = [each.annotation for each in self.signature.parameters.values()]
        return self._declared_input is not None and annotations == [self._declared_input]

    def checked(self, result: Any) -> Any:
        """Return `result` as the type the function declares to return.

        Raises
        ------
        ToolExecutionError
            If it does not fit.
        """
        model: Any = self._model_of(result)
        return model.result if self._output[1] else model

    def written(self, result: Any) -> str:
        """Return `result` as the model reads it: JSON, a lone value as `{"result": ...}`.

        Raises
        ------
        ToolExecutionError
            If it does not fit, or has no JSON form.
        """
        try:
            return self._model_of(result).model_dump_json(by_alias=True)
        except (PydanticSerializationError, ValueError) as error:
            raise self._undeclared(error) from error

    def dumped(self, result: Any) -> Json:
        """Return `result` as JSON.

        Raises
        ------
        ToolExecutionError
            If it does not fit, or has no JSON form.
        """
        found = json.loads(self.written(result))
        return found["result"] if self._output[1] else found

    def loaded(self, kept: Json) -> Any:
        """Return the result that was `kept` as JSON.

        Raises
        ------
        ToolExecutionError
            If it is not what the function declares to return.
        """
        model, wrapped = self._output
        try:
            found: Any = model.model_validate_json(
                json.dumps({"result": kept} if wrapped else kept)
            )
        except ValidationError as error:
            raise self._undeclared(error) from error
        return found.result if wrapped else found

    def _model_of(self, result: Any) -> BaseModel:
        model, wrapped = self._output
        try:
            return model.model_validate({"result": result} if wrapped else result)
        except ValidationError as error:
            raise self._undeclared(error) from error

    def _undeclared(self, error: Exception) -> ToolExecutionError:
        return ToolExecutionError(self.name, None, f"it returned what it does not declare: {error}")

    def forget_names(self) -> None:
        """Let go of the names that were seen where the tool was made; they are resolved."""
        self._seen = {}

    def __repr__(self) -> str:
        return f"<tool {self.name!r}>"


def _check_declared(name: str, signature: Signature, model: type[BaseModel]) -> None:
    annotations = [each.annotation for each in signature.parameters.values()]
    if annotations == [model]:
        return
    fields = {info.alias or field for field, info in model.model_fields.items()}
    if fields != set(signature.parameters):
        raise GraphConfigError(
            f"Tool {name!r} takes {sorted(signature.parameters)} and its input_model has "
            f"{sorted(fields)}; name the parameters as the fields, or take the model itself"
        )


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    function: None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    input_model: type[BaseModel] | None = None,
    destructive: bool = False,
    idempotent: bool = False,
    metadata: Mapping[str, Any] | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    input_model: type[BaseModel] | None = None,
    destructive: bool = False,
    idempotent: bool = False,
    metadata: Mapping[str, Any] | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function, as a decorator with or without options.

    Parameters
    ----------
    function : function
        `def` or `async def`, each parameter annotated. One annotated `ToolContext` is hidden from
        the model and given where the tool runs.
    name : str, optional
        What the model calls it, of `A-Z a-z 0-9 _ -` and at most 64; by default the function's own.
    description : str, optional
        What the model reads about it; by default the function's docstring, all of it. What that
        says about a parameter also stands at its place in the schema.
    input_model : type, optional
        A model of the arguments, instead of one made of the annotations. The function takes its
        fields by name, or the model itself.
    destructive : bool
        Mark it as a tool whose effect cannot be undone.
    idempotent : bool
        Mark it as one that may be repeated. An approved call of any other runs at most once: if
        the process ends before its result is recorded, a person is asked how to go on.
    metadata : dict, optional
        Yours.

    Returns
    -------
    Tool

    Raises
    ------
    GraphConfigError
        If it has no description, a parameter without an annotation, or a name that cannot be used.
    TypeError
        If it is no function.
    """
    seen = seen_by_caller(1)

    def made(given: Callable[..., Any]) -> Tool:
        if not (inspect.isfunction(given) or inspect.ismethod(given)):
            raise TypeError(f"tool takes a function, got {given!r}")
        built = Tool(
            given,
            name=_checked_name(name or given.__name__),
            description=_description(given, description),
            declared_input=input_model,
            destructive=destructive,
            idempotent=idempotent,
            metadata=metadata or {},
            seen=seen,
        )
        _check_now(built)
        return built

    return made if function is None else made(function)


def _check_now(built: Tool) -> None:
    """Find what is wrong with a declaration, unless it names what comes only later."""
    try:
        built.input_schema()
    except GraphConfigError as error:
        if not isinstance(error.__cause__, NameError):
            raise
        for name in ("signature", "input_model"):
            built.__dict__.pop(name, None)
    else:
        built.forget_names()


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise GraphConfigError(
            f"A tool's name is 1 to 64 of A-Z a-z 0-9 _ -, got {name!r}; pass name="
        )
    return name


def _description(function: Callable[..., Any], given: str | None) -> str:
    text = given if given is not None else inspect.cleandoc(function.__doc__ or "")
    if not text.strip():
        raise GraphConfigError(
            f"Tool {function.__name__!r} has no description; write a docstring, the model reads it"
        )
    return text
