"""The one place where an answer is judged: forms ask it, and the runtime before anything runs.

A question's `response_schema` is published as JSON Schema. An answer is judged when it is given
(by the Python type where this process has seen the question, else by the JSON Schema) and again
inside `interrupt()` by the type, which is then what the node gets.
"""

from __future__ import annotations

import functools
import json
import threading
from collections import OrderedDict
from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, cast, final

from pydantic import BaseModel, PydanticUserError, SecretBytes, SecretStr
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation
from pydantic.json_schema import GenerateJsonSchema

from nbgraph.core.events import Interrupt
from nbgraph.core.json_values import Json, NotJsonError, is_array, is_object, pointer, to_json
from nbgraph.core.lapses import Lapse
from nbgraph.core.type_adapters import adapter
from nbgraph.errors import AnswerError, GraphConfigError

if TYPE_CHECKING:
    from pydantic_core.core_schema import DecimalSchema

__all__ = [
    "ADVISORY",
    "UNSET",
    "NotJsonError",
    "Unset",
    "asks_for_a_secret",
    "judge",
    "pointer",
    "problems_of",
    "publish",
    "remember",
    "remembered",
    "to_json",
    "typed",
]


ADVISORY = "x-nbgraph-advisory"
"""Marks a response schema, as a JSON Schema dict, that forms hold to and code need not.

What the asker cannot read, it judges itself; `judge` then only makes the answer JSON.
"""


@final
class Unset:
    """The class of `UNSET`: nothing was chosen or filled in, which is not null."""

    _only: Unset | None = None

    def __new__(cls) -> Unset:
        """Return the one instance."""
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "UNSET"


UNSET = Unset()
"""The answer of a form that is not filled in yet. Falsy; never an answer."""


# --- publishing -----------------------------------------------------------------------------


def publish(response_schema: Any, *, outward: bool = False) -> dict[str, Json] | None:
    """Return a response schema as JSON Schema, as an answerer must follow it; None stays None.

    Nothing is ever fetched, so that a part which stands in another document cannot be judged:
    `outward` lets it be, for a form that only shows it.

    Raises
    ------
    TypeError
        If it is a value and not a type.
    GraphConfigError
        If a type has no JSON Schema, or a dict is none or refers to nothing, by where it does.
    """
    if response_schema is None:
        return None
    if isinstance(response_schema, Mapping):
        return _published_document(cast("Mapping[Any, Json]", response_schema), outward=outward)
    if isinstance(response_schema, _VALUES):
        raise TypeError(_what_to_pass(response_schema))
    return json.loads(_published_type(response_schema))


def asks_for_a_secret(kind: Any, published: Json) -> bool:
    """Return whether a type has a part that is a `SecretStr`: its answer would be kept readable.

    A JSON Schema that calls a text `writeOnly` keeps it out of pictures and drafts, and is allowed.
    """
    if isinstance(kind, Mapping) or not _is_write_only(published):
        return False
    return _names_a_secret(adapter(kind).core_schema)


def _is_write_only(schema: Json) -> bool:
    if is_object(schema):
        return schema.get("writeOnly") is True or any(map(_is_write_only, schema.values()))
    return is_array(schema) and any(map(_is_write_only, schema))


def _names_a_secret(schema: Any) -> bool:
    match schema:
        case type():
            return issubclass(schema, SecretStr | SecretBytes)
        case dict():
            return any(map(_names_a_secret, cast("dict[str, Any]", schema).values()))
        case list() | tuple():
            return any(map(_names_a_secret, cast("list[Any]", schema)))
        case _:
            return False


_VALUES = (
    *(str, bytes, bool, int, float, BaseModel, list, tuple, set, frozenset),
    *(FunctionType, BuiltinFunctionType, MethodType),
)


def _what_to_pass(given: Any) -> str:
    match given:
        case BaseModel():
            advice = f"pass the class {type(given).__name__} itself"
        case bool():
            advice = "pass the type bool"
        case [*options] if options:
            listed = ", ".join(repr(option) for option in options[:4])
            advice = f"for a choice of these pass Literal[{listed}]"
        case _:
            advice = "pass a type such as bool, Literal['a', 'b'], a model, or a JSON Schema dict"
    return f"response_schema={given!r} is not a type; {advice}"


def _published_document(schema: Mapping[Any, Any], *, outward: bool) -> dict[str, Json]:
    from nbgraph.core.json_drafts import modern  # for documents only
    from nbgraph.core.plain_schemas import is_plainly_a_schema

    try:
        document = modern(to_json(schema, where="response_schema"))
    except NotJsonError as error:
        raise GraphConfigError(str(error)) from error
    faults = () if is_plainly_a_schema(document) else _faults(json.dumps(document), outward)
    if faults:
        listed = "; ".join(f"{path or 'at its top'}: {text}" for path, text in faults)
        raise GraphConfigError(f"response_schema is no JSON Schema (Draft 2020-12): {listed}")
    return document


@functools.lru_cache(maxsize=256)
def _faults(document: str, outward: bool) -> tuple[tuple[str, str], ...]:
    from nbgraph.core.json_schemas import schema_faults  # for documents only

    return tuple(schema_faults(json.loads(document), outward=outward).items())


def _published_type(kind: Any) -> str:
    try:
        return _cached_document(kind, repr(kind))
    except TypeError:  # unhashable, such as Annotated[int, Field(gt=0)]
        return _document(kind)


@functools.lru_cache(maxsize=256)
def _cached_document(kind: Any, spelled: str) -> str:  # noqa: ARG001 - as `adapter` keeps it
    return _document(kind)


class _SchemaOfAnswers(GenerateJsonSchema):
    """Leaves out a default that has no JSON form, without a warning, and marks decimal text."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - pydantic's

    def decimal_schema(self, schema: DecimalSchema) -> dict[str, Any]:
        """Return number or text, where the text is told apart from any other by its format."""
        document = super().decimal_schema(schema)
        for branch in document.get("anyOf", [document]):
            if branch.get("type") == "string":
                branch["format"] = "decimal"
        return document


def _document(kind: Any) -> str:
    try:
        schema = adapter(kind).json_schema(mode="validation", schema_generator=_SchemaOfAnswers)
    except (
        PydanticSchemaGenerationError,
        PydanticUndefinedAnnotation,
        PydanticUserError,
    ) as error:
        reason = str(error).splitlines()[0]
        raise GraphConfigError(
            f"response_schema={kind!r} has no JSON Schema: {reason}; pass a pydantic model, a "
            "TypedDict, a dataclass, an annotation of plain types, or a JSON Schema dict"
        ) from error
    return json.dumps(to_json(schema, where=f"the JSON Schema of {kind!r}"))


# --- what this process has seen -------------------------------------------------------------

_MAX_REMEMBERED = 1024
_remembered: OrderedDict[tuple[str, str], tuple[str, Any]] = OrderedDict()
_lock = threading.Lock()


def remember(thread_id: str, key: str, response_schema: Any) -> None:
    """Keep the Python type of a question, so that this process judges its answers by it."""
    if response_schema is None or isinstance(response_schema, Mapping):
        return
    document = _in_one_order(_published_type(response_schema))
    with _lock:
        _remembered[thread_id, key] = (document, response_schema)
        _remembered.move_to_end((thread_id, key))
        if len(_remembered) > _MAX_REMEMBERED:
            _remembered.popitem(last=False)


@functools.lru_cache(maxsize=256)
def _in_one_order(document: str) -> str:
    return json.dumps(json.loads(document), sort_keys=True)


def remembered(thread_id: str, key: str, published: Mapping[str, Json] | None) -> Any:
    """Return the Python type of a question, or None.

    None too if the question now has another schema than the one that was seen.
    """
    with _lock:
        document, kind = _remembered.get((thread_id, key), ("", None))
    if published is None or document != json.dumps(published, sort_keys=True):
        return None
    return kind


# --- judging --------------------------------------------------------------------------------


def judge(interrupt: Interrupt, answer: Any, *, thread_id: str | None = None) -> Json:
    """Return a good answer as JSON.

    Raises
    ------
    AnswerError
        With one problem a path, if the answer does not fit the question.
    """
    try:
        plain = _plain(answer)
    except NotJsonError as error:
        raise AnswerError(interrupt.key, error.problems) from error
    if (interrupt.response_schema or {}).get(ADVISORY) is True:
        return plain
    kind = None
    if thread_id is not None:
        kind = remembered(thread_id, interrupt.key, interrupt.response_schema)
    schema = interrupt.response_schema if kind is None else kind
    problems = problems_of(schema, plain)
    if problems:
        raise AnswerError(interrupt.key, problems)
    return plain


def problems_of(response_schema: Any, answer: Json) -> dict[str, str]:
    """Return what is wrong with a JSON answer, by JSON Pointer; empty for a good one.

    `response_schema` is a type, which is then the judge, or a JSON Schema dict, or None.
    """
    if response_schema is None:
        return {}
    if is_object(response_schema):
        return _unfit(response_schema, answer)
    from nbgraph.core.type_judges import NotValidError, validated  # when somebody answers

    try:
        validated(response_schema, answer)
    except NotValidError as error:
        return error.problems
    return {}


def _unfit(document: Mapping[str, Json], answer: Json) -> dict[str, str]:
    """Return what is wrong with an answer by a JSON Schema; its library is loaded if need be."""
    from nbgraph.core.json_fits import plainly_fits

    if plainly_fits(document, answer):
        return {}
    from nbgraph.core.json_drafts import modern
    from nbgraph.core.json_schemas import schema_problems

    return schema_problems(modern(document), answer)


def typed(response_schema: Any, json_answer: Json, key: str) -> Any:
    """Return what `interrupt()` returns: the answer as its Python type, or the JSON itself.

    Raises
    ------
    AnswerError
        If the type refuses the answer.
    """
    if response_schema is None or isinstance(response_schema, Mapping):
        return json_answer
    from nbgraph.core.type_judges import NotValidError, validated  # when somebody answers

    try:
        return validated(response_schema, json_answer)
    except NotValidError as error:
        raise AnswerError(key, error.problems) from error


def _plain(answer: Any) -> Json:
    if answer is UNSET:
        raise NotJsonError("the answer", {"": "It is not filled in"})
    if isinstance(answer, Lapse):
        problem = f"{answer!r} stands for no answer, which is not possible here"
        raise NotJsonError("the answer", {"": problem})
    return to_json(answer, where="the answer")
