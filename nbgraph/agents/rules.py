"""Which tool calls are asked about: rules, and conditions on a call's arguments.

A condition that cannot be checked counts as met: the call is asked about, not run.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a call's arguments, which says in words what it looks at."""

    text: str
    fields: tuple[str, ...]
    check: Callable[[Mapping[str, Any]], bool]

    def __call__(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether it is met."""
        return self.check(arguments)


def gt(field: str, value: float) -> Condition:
    """Return the condition that an argument is greater than a number."""
    return _compared(field, ">", value, operator.gt)


def ge(field: str, value: float) -> Condition:
    """Return the condition that an argument is a number or greater."""
    return _compared(field, ">=", value, operator.ge)


def lt(field: str, value: float) -> Condition:
    """Return the condition that an argument is less than a number."""
    return _compared(field, "<", value, operator.lt)


def le(field: str, value: float) -> Condition:
    """Return the condition that an argument is a number or less."""
    return _compared(field, "<=", value, operator.le)


def eq(field: str, value: Any) -> Condition:
    """Return the condition that an argument equals a value of the same kind."""

    def check(arguments: Mapping[str, Any]) -> bool:
        given = arguments[field]
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _number(given) == value
        if type(given) is not type(value):
            raise TypeError(f"{given!r} cannot be compared with {value!r}")
        return given == value

    return Condition(f"{field} = {value!r}", (field,), check)


def matches(field: str, pattern: str) -> Condition:
    """Return the condition that a regular expression is found in a text argument.

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
    """Return the condition that each of these text arguments matches its pattern."""
    return _fields(patterns, all, "and")


def any_field(**patterns: str) -> Condition:
    """Return the condition that one of these text arguments matches its pattern."""
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
    field: str, sign: str, value: float, compare: Callable[[Any, Any], bool]
) -> Condition:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):  # pyright: ignore[reportUnnecessaryIsInstance] - user's
        raise GraphConfigError(f"A comparison takes a number, got {value!r} for {field!r}")
    return Condition(
        f"{field} {sign} {value}",
        (field,),
        lambda arguments: compare(_number(arguments[field]), value),
    )


def _number(given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise TypeError(f"{given!r} is no number")
    if math.isnan(given):
        raise ValueError("NaN compares with nothing")
    return given


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

    def of(self, tool_name: str, arguments: Mapping[str, Any]) -> MatchedRule | None:
        """Return how the rule matches a call; None if it does not."""
        if self.tool_name not in ("*", tool_name):
            return None
        condition = self.match or self.when
        if condition is None:
            return MatchedRule(tool=self.tool_name, condition="every call")
        problem = None
        try:
            if not condition(arguments):
                return None
        except Exception as error:  # noqa: BLE001 - the condition is the user's own; it then asks
            problem = f"{type(error).__name__}: {error}"
        if isinstance(condition, Condition):
            text, fields = condition.text, condition.fields
        else:
            text, fields = getattr(condition, "__name__", "your own condition"), ()
        return MatchedRule(tool=self.tool_name, condition=text, fields=fields, problem=problem)


def matched(
    rules: Iterable[InterruptRule], tool_name: str, arguments: Mapping[str, Any]
) -> tuple[InterruptRule, MatchedRule] | None:
    """Return the first rule that matches a call, and how it does; None if none does."""
    for rule in rules:
        found = rule.of(tool_name, arguments)
        if found is not None:
            return rule, found
    return None


def should_interrupt(
    rules: Iterable[InterruptRule], tool: Any, raw_input: Mapping[str, Any] | None = None
) -> bool:
    """Return whether a call of a tool, or of the tool of that name, is asked about."""
    name = str(getattr(tool, "name", tool))
    return matched(rules, name, dict(raw_input or {})) is not None
