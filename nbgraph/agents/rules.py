"""Which tool calls are asked about: rules, and conditions on a call's arguments.

A condition that cannot be checked counts as met: the call is asked about, not run.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, cast

from nbgraph.core.decisions import ACTIONS, Action, MatchedRule
from nbgraph.core.formats import pattern_matches, pattern_works
from nbgraph.errors import GraphConfigError

__all__ = [
    "Condition",
    "InterruptRule",
    "all_fields",
    "any_field",
    "eq",
    "ge",
    "gt",
    "le",
    "lt",
    "matched",
    "matches",
    "should_interrupt",
]


Number = int | float | Decimal
"""What conditions compare with."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a call's arguments, which says in words what it looks at."""

    text: str
    fields: tuple[str, ...]
    check: Callable[[Mapping[str, Any]], bool]
    compares_numbers: bool = False
    """Whether it is given the numbers that the tool reads where the call has them as text."""

    def __call__(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether it is met."""
        return self.check(arguments)


def gt(field: str, value: Number) -> Condition:
    """Return the condition that argument `field` is greater than the number `value`.

    Raises
    ------
    GraphConfigError
        If `value` is no number.
    """
    return _compared(field, ">", value, operator.gt)


def ge(field: str, value: Number) -> Condition:
    """Return the condition that argument `field` is `value` or greater; raises what `gt` raises."""
    return _compared(field, ">=", value, operator.ge)


def lt(field: str, value: Number) -> Condition:
    """Return the condition that argument `field` is less than `value`; raises what `gt` raises."""
    return _compared(field, "<", value, operator.lt)


def le(field: str, value: Number) -> Condition:
    """Return the condition that argument `field` is `value` or less; raises what `gt` raises."""
    return _compared(field, "<=", value, operator.le)


def eq(field: str, value: Any) -> Condition:
    """Return the condition that argument `field` equals `value`.

    An argument of another kind, text beside a number for one, is asked about.
    """
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)

    def check(arguments: Mapping[str, Any]) -> bool:
        given = arguments[field]
        if is_number:
            return operator.eq(*_alike(_number(given), value))
        if type(given) is not type(value):
            raise TypeError(f"{given!r} cannot be compared with {value!r}")
        return given == value

    said = value if isinstance(value, Decimal) else repr(value)
    return Condition(f"{field} = {said}", (field,), check, compares_numbers=is_number)


def matches(field: str, pattern: str) -> Condition:
    """Return the condition that the regular expression `pattern` is found in text argument `field`.

    Raises
    ------
    GraphConfigError
        If the pattern is none that is checked in linear time.
    """
    if not pattern_works(pattern):
        raise GraphConfigError(
            f"The pattern {pattern!r} is not checked in linear time; leave out look-around and "
            "back references, or pass a function of the arguments"
        )
    return Condition(
        f"{field} matches {pattern}",
        (field,),
        lambda arguments: pattern_matches(pattern, _text(arguments[field])),
    )


def all_fields(**patterns: str) -> Condition:
    """Return the condition that each text argument named in `patterns` matches its pattern.

    `all_fields(to="@example[.]org$", subject="^Offer")`; raises what `matches` raises.
    """
    return _fields(patterns, all, "and")


def any_field(**patterns: str) -> Condition:
    """Return the condition that one text argument named in `patterns` matches its pattern.

    Raises what `matches` raises.
    """
    return _fields(patterns, any, "or")


def _fields(
    patterns: Mapping[str, str], combined: Callable[[Iterable[bool]], bool], word: str
) -> Condition:
    if not patterns:
        raise GraphConfigError("A condition on fields needs one: all_fields(name='pattern')")
    parts = [matches(field, pattern) for field, pattern in patterns.items()]
    text = f" {word} ".join(part.text for part in parts)
    # Every one is checked: an argument that is missing is asked about whatever the others are.
    return Condition(
        text, tuple(patterns), lambda arguments: combined([part(arguments) for part in parts])
    )


def _compared(
    field: str, sign: str, value: Number, compare: Callable[[Any, Any], bool]
) -> Condition:
    if not _is_number(value) or math.isnan(value):
        raise GraphConfigError(f"A comparison takes a number, got {value!r} for {field!r}")
    return Condition(
        f"{field} {sign} {value}",
        (field,),
        lambda arguments: compare(*_alike(_number(arguments[field]), value)),
        compares_numbers=True,
    )


def _is_number(given: Any) -> bool:
    return isinstance(given, int | float | Decimal) and not isinstance(given, bool)


def _number(given: Any) -> Number:
    if not _is_number(given):
        raise TypeError(f"{given!r} is no number")
    if math.isnan(given):
        raise ValueError("NaN compares with nothing")
    return given


def _alike(one: Number, other: Number) -> tuple[Number, Number]:
    """Return two numbers that compare as they are written: 0.1 as one tenth beside a Decimal."""
    if isinstance(one, Decimal) or isinstance(other, Decimal):
        return Decimal(str(one)), Decimal(str(other))
    return one, other


def decimals_read(
    arguments: Mapping[str, Any], input_schema: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return a call's arguments with those as numbers that a tool takes as decimals.

    In JSON a decimal may be text, `"180.00"`. Text that is none stays as it is.
    """
    properties: Mapping[str, Any] = input_schema.get("properties", {})
    texts = {name: value for name, value in arguments.items() if isinstance(value, str)}
    read = {
        name: _decimal(text) for name, text in texts.items() if _is_decimal(properties.get(name))
    }
    return {**arguments, **read}


def _is_decimal(schema: Any) -> bool:
    """Return whether text can only be a decimal here; the tool takes no other text."""
    kinds = list(_kinds(schema))
    texts = [each for each in kinds if each.get("type") == "string"]
    is_known = all(isinstance(each.get("type"), str) for each in kinds)
    return is_known and bool(texts) and all(each.get("format") == "decimal" for each in texts)


def _kinds(schema: Any) -> Iterator[Mapping[str, Any]]:
    known: Mapping[str, Any] = {}
    if isinstance(schema, Mapping):
        known = cast("Mapping[str, Any]", schema)
    if "anyOf" in known:
        for each in known["anyOf"]:
            yield from _kinds(each)
    else:
        yield known


def _decimal(text: str) -> Decimal | str:
    try:
        return Decimal(text)
    except InvalidOperation:
        return text


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise TypeError(f"{given!r} is no text")
    return given


@dataclass(frozen=True, slots=True)
class InterruptRule:
    """Which calls of a tool are asked about, and what may be decided about them.

    Parameters
    ----------
    tool : str or Tool
        The tool, or its name; `"*"` is every tool.
    match, when : function, optional
        Takes the call's arguments as a dict and returns whether it is asked about: one of the
        conditions of this module, or your own. Two names for one thing; give one. Without it every
        call is.
    allowed : list of str
        What may be decided: of `approve`, `edit`, `deny` and `respond`. `deny` always may.

    Raises
    ------
    GraphConfigError
        If a part cannot be used.
    """

    tool: Any
    match: Callable[[Mapping[str, Any]], Any] | None = None
    when: Callable[[Mapping[str, Any]], Any] | None = None
    allowed: tuple[Action, ...] = ACTIONS

    def __post_init__(self) -> None:
        name = getattr(self.tool, "name", self.tool)
        if not isinstance(name, str) or not name:
            raise GraphConfigError(f"A rule names a tool, or '*', got {self.tool!r}")
        if self.match is not None and self.when is not None:
            raise GraphConfigError("match and when are one thing; give one of them")
        for condition in (self.match, self.when):
            if condition is not None and not callable(condition):
                raise GraphConfigError(f"A rule's condition is a function, got {condition!r}")
        given = set(cast("Iterable[str]", self.allowed))
        unknown = given - set(ACTIONS)
        if isinstance(self.allowed, str) or unknown:
            raise GraphConfigError(
                f"allowed lists some of {', '.join(ACTIONS)}, got {self.allowed!r}"
            )
        kept = tuple(action for action in ACTIONS if action in given or action == "deny")
        object.__setattr__(self, "allowed", kept)

    @property
    def tool_name(self) -> str:
        """The name of the tool the rule is about, or `"*"`."""
        return str(getattr(self.tool, "name", self.tool))

    def of(
        self,
        tool_name: str,
        arguments: Mapping[str, Any],
        numbers: Mapping[str, Any] | None = None,
    ) -> MatchedRule | None:
        """Return how the rule matches a call of `tool_name` with `arguments`; None if it does not.

        `numbers` are the arguments with the numbers that the tool reads from text.
        """
        if self.tool_name not in ("*", tool_name):
            return None
        condition = self.match or self.when
        if condition is None:
            return MatchedRule(tool=self.tool_name, condition="every call")
        problem = None
        compares = isinstance(condition, Condition) and condition.compares_numbers
        given = numbers if compares and numbers is not None else arguments
        try:
            if not condition(given):
                return None
        except Exception as error:  # noqa: BLE001 - the condition is the user's own; it then asks
            problem = f"{type(error).__name__}: {error}"
        if isinstance(condition, Condition):
            text, fields = condition.text, condition.fields
        else:
            text, fields = getattr(condition, "__name__", "your own condition"), ()
        return MatchedRule(tool=self.tool_name, condition=text, fields=fields, problem=problem)


def matched(
    rules: Iterable[InterruptRule],
    tool_name: str,
    arguments: Mapping[str, Any],
    input_schema: Mapping[str, Any] | None = None,
) -> tuple[InterruptRule, MatchedRule] | None:
    """Return the first rule that matches a call, and how it does; None if none does.

    With the schema of the tool's arguments, decimals that are text are compared as numbers.
    """
    numbers = decimals_read(arguments, input_schema or {})
    for rule in rules:
        found = rule.of(tool_name, arguments, numbers)
        if found is not None:
            return rule, found
    return None


def should_interrupt(
    rules: Iterable[InterruptRule], tool: Any, raw_input: Mapping[str, Any] | None = None
) -> bool:
    """Return whether one of `rules` asks about a call.

    Parameters
    ----------
    rules : list of InterruptRule
        As `ToolInterruptMiddleware` takes them.
    tool : Tool or str
        The tool, or its name.
    raw_input : dict, optional
        The call's arguments.
    """
    name = str(getattr(tool, "name", tool))
    schema = tool.input_schema() if hasattr(tool, "input_schema") else None
    return matched(rules, name, dict(raw_input or {}), schema) is not None
