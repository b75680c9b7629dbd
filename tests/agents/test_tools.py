"""Tools: what a chat model is told about a function, and what a function is given."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict
from pydantic import Field as ModelField

from nbgraph import ToolContext, call_tool, tool
from nbgraph.agents.signature import described_parameters
from nbgraph.errors import GraphConfigError, ToolExecutionError


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Address(BaseModel):
    street: str
    number: int = 1


@dataclass
class Size:
    width: float
    height: float


def called(one: Any, **arguments: Any) -> Any:
    return asyncio.run(call_tool(one, arguments)).value


def test_the_schema_is_made_of_the_annotations() -> None:
    @tool
    def order(
        sku: str,
        count: Annotated[int, ModelField(gt=0)],
        kind: Literal["new", "used"] = "new",
        colour: Colour = Colour.RED,
        to: Address | None = None,
        price: Decimal = Decimal("1.50"),
    ) -> str:
        """Order something."""
        return sku

    schema = order.input_schema()
    assert schema["required"] == ["sku", "count"]
    assert schema["additionalProperties"] is False
    properties = schema["properties"]
    assert properties["sku"] == {"title": "Sku", "type": "string"}
    assert properties["count"] == {"title": "Count", "type": "integer", "exclusiveMinimum": 0}
    assert properties["kind"]["enum"] == ["new", "used"]
    assert properties["kind"]["default"] == "new"
    assert properties["to"]["default"] is None
    assert set(schema["$defs"]) == {"Colour", "Address"}
    assert schema["title"] == "OrderInput"
    assert (order.name, order.description) == ("order", "Order something.")


KINDS: list[tuple[Any, Any, Any]] = [
    (str, "a", "a"),
    (int, 2**60, 2**60),
    (float, 2, 2.0),
    (bool, True, True),
    (Decimal, "0.10", Decimal("0.10")),
    (date, "2026-02-03", date(2026, 2, 3)),
    (Colour, "blue", Colour.BLUE),
    (Literal["a", 1], 1, 1),
    (list[int], [1, 2], [1, 2]),
    (set[str], ["a"], {"a"}),
    (tuple[int, str], [1, "a"], (1, "a")),
    (dict[str, float], {"a": 1.5}, {"a": 1.5}),
    (int | str, "3", "3"),
    (int | None, None, None),
    (Address, {"street": "Main", "number": 3}, Address(street="Main", number=3)),
    (list[Address], [{"street": "Main"}], [Address(street="Main")]),
    (Size, {"width": 1.0, "height": 2.0}, Size(1.0, 2.0)),
    (Any, {"a": [None]}, {"a": [None]}),
    (Annotated[str, ModelField(min_length=1)], "a", "a"),
]


@pytest.mark.parametrize(("kind", "given", "taken"), KINDS, ids=lambda each: str(each)[:30])
def test_the_function_is_given_the_types_it_declares(kind: Any, given: Any, taken: Any) -> None:
    got: list[Any] = []

    def take(value: Any) -> None:
        """Take a value."""
        got.append(value)

    take.__annotations__["value"] = kind
    called(tool(take), value=given)
    assert got == [taken]
    assert type(got[0]) is type(taken)


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({}, "/sku"),
        ({"sku": 3}, "/sku"),
        ({"sku": "a", "count": "3"}, "/count"),
        ({"sku": "a", "count": True}, "/count"),
        ({"sku": "a", "count": 1.5}, "/count"),
        ({"sku": "a", "more": 1}, "/more"),
        ({"sku": "a", "to": {"street": 1}}, "/to/street"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_their_path(
    arguments: dict[str, Any], path: str
) -> None:
    ran: list[str] = []

    @tool
    def order(sku: str, count: int = 1, to: Address | None = None) -> None:
        """Order something."""
        ran.append(sku)

    with pytest.raises(ToolExecutionError) as raised:
        called(order, **arguments)
    assert list(raised.value.problems) == [path]
    assert raised.value.input_data == arguments
    assert ran == []


def test_a_parameter_may_be_called_as_no_field_of_a_model_may() -> None:
    @tool
    def odd(schema: int, copy: int, model_config: int, json: str = "j", self: int = 0) -> list[Any]:
        """Take odd names."""
        return [schema, copy, model_config, json, self]

    assert list(odd.input_schema()["properties"])[:3] == ["schema", "copy", "model_config"]
    assert called(odd, schema=1, copy=2, model_config=3) == [1, 2, 3, "j", 0]


def test_a_default_that_is_changed_is_the_same_in_the_next_call() -> None:
    @tool
    def collect(item: str, into: list[str] = []) -> list[str]:  # noqa: B006 - what is tested
        """Collect items."""
        into.append(item)
        return into

    assert called(collect, item="a") == ["a"]
    assert called(collect, item="b") == ["b"]


def test_a_default_may_be_a_field_with_its_own_rules() -> None:
    @tool
    def pay(
        amount: float = ModelField(gt=0, description="How much."),
        names: list[str] = ModelField(default_factory=list, max_length=1),  # noqa: B008 - tested
    ) -> float:
        """Pay.

        Args:
            amount: not this one.
            names: Who gets it.
        """
        return amount

    properties = pay.input_schema()["properties"]
    assert properties["amount"]["description"] == "How much."
    assert properties["amount"]["exclusiveMinimum"] == 0
    assert properties["names"]["description"] == "Who gets it."
    assert pay.input_schema()["required"] == ["amount"]
    assert pay.problems_of({"amount": -1, "names": ["a", "b"]}).keys() == {"/amount", "/names"}


NUMPY = """Send a letter.

    Parameters
    ----------
    to : str
        Who gets it,
        by name.
    copies, pages : int
        How many.

    Returns
    -------
    str
        A number.
    """
GOOGLE = """Send a letter.

    Args:
        to (str): Who gets it,
            by name.
        copies: How many.
        pages (int, optional): How many.

    Returns:
        A number.
    """
FIELDS = """Send a letter.

    :param to: Who gets it,
        by name.
    :param int copies: How many.
    :param pages: How many.
    :returns: A number.
    """


@pytest.mark.parametrize("text", [NUMPY, GOOGLE, FIELDS], ids=["numpy", "Google", "field list"])
def test_what_the_docstring_says_about_a_parameter_stands_at_its_place(text: str) -> None:
    def send(to: str, copies: int, pages: int) -> str:
        return to

    send.__doc__ = text
    properties = tool(send).input_schema()["properties"]
    assert {name: part["description"] for name, part in properties.items()} == {
        "to": "Who gets it, by name.",
        "copies": "How many.",
        "pages": "How many.",
    }
    assert tool(send).description.startswith("Send a letter.")


@pytest.mark.parametrize(
    "text", ["", "Parameters", "Args:", "Parameters\n---", ":param: x", "a:\n"]
)
def test_a_docstring_without_parameters_describes_none(text: str) -> None:
    assert described_parameters(text) == {}


def test_a_name_that_comes_later_is_resolved_when_it_is_there() -> None:
    @tool
    def visit(place: Later) -> str:  # noqa: F821 - what is tested
        """Visit a place."""
        return place.name

    with pytest.raises(GraphConfigError, match="names what is not there"):
        visit.input_schema()
    try:
        globals()["Later"] = type("Later", (BaseModel,), {"__annotations__": {"name": str}})
        assert called(visit, place={"name": "Rome"}) == "Rome"
    finally:
        del globals()["Later"]


def test_a_type_of_the_function_around_the_tool_is_found() -> None:
    class Local(BaseModel):
        next: Local | None = None

    @tool
    def take(value: Local) -> int:
        """Take a chain."""
        return 1 + (take(value.next) if value.next else 0)

    assert called(take, value={"next": {"next": None}}) == 2


def test_the_result_is_checked_and_written_as_json() -> None:
    @tool
    def wrong() -> int:
        """Return no number."""
        return "three"  # type: ignore[return-value]

    @tool
    def where() -> Address:
        """Return an address."""
        return Address(street="Main")

    @tool
    def nothing() -> None:
        """Return nothing."""

    @tool
    def plain():
        """Return what it likes."""
        return {"a": (1, date(2026, 1, 2))}

    with pytest.raises(ToolExecutionError, match="returned what it does not declare"):
        called(wrong)
    assert json.loads(where.written(called(where))) == {"street": "Main", "number": 1}
    assert nothing.written(called(nothing)) == '{"result":null}'
    assert plain.written(called(plain)) == '{"result":{"a":[1,"2026-01-02"]}}'
    assert where.output_schema()["title"] == "Address"
    assert nothing.output_schema()["properties"] == {"result": {"title": "Result", "type": "null"}}
    assert where.output_model is Address


def test_a_result_without_a_json_form_is_refused() -> None:
    @tool
    def odd() -> Any:
        """Return an object."""
        return object()

    with pytest.raises(ToolExecutionError, match="does not declare"):
        odd.written(called(odd))


def test_the_context_is_hidden_from_the_model() -> None:
    @tool
    def who(name: str, ctx: ToolContext) -> str:
        """Say who asks."""
        return ctx.node

    assert list(who.input_schema()["properties"]) == ["name"]
    with pytest.raises(GraphConfigError, match="pass ctx="):
        called(who, name="a")
    with pytest.raises(ToolExecutionError):
        called(who, name="a", ctx="b")


class Letter(BaseModel):
    model_config = ConfigDict(extra="forbid")
    to: str
    copies: int = 1


def test_a_model_of_your_own_takes_the_place_of_the_annotations() -> None:
    @tool(input_model=Letter)
    def by_names(to: str, copies: int) -> str:
        """Send."""
        return to * copies

    @tool(input_model=Letter)
    def whole(letter: Letter) -> str:
        """Send."""
        return letter.to * letter.copies

    for each in (by_names, whole):
        assert each.input_schema()["title"] == "Letter"
        assert called(each, to="a", copies=2) == "aa"
    with pytest.raises(GraphConfigError, match="name the parameters as the fields"):

        @tool(input_model=Letter)
        def other(to: str) -> str:
            """Send."""
            return to


def test_a_tool_is_still_the_function_it_was() -> None:
    @tool(name="add-up", description="Adds.", metadata={"cost": 1}, destructive=True)
    def add_up(a: int, b: int = 1) -> int:
        return a + b

    assert add_up(1, b=2) == 3
    assert (add_up.name, add_up.description) == ("add-up", "Adds.")
    assert (add_up.metadata, add_up.destructive) == ({"cost": 1}, True)
    assert repr(add_up) == "<tool 'add-up'>"


class Desk:
    def greet(self, name: str) -> str:
        """Greet."""
        return f"Hello {name}"


def test_a_bound_method_and_an_async_function_are_tools() -> None:
    @tool
    async def later(name: str) -> str:
        """Greet later."""
        await asyncio.sleep(0)
        return f"Hello {name}"

    assert called(later, name="a") == called(tool(Desk().greet), name="a") == "Hello a"


def undescribed(a: int) -> int:
    return a


def untyped(a) -> int:
    """Do."""
    return 1


def many(*values: int) -> int:
    """Do."""
    return 1


def named(**values: int) -> int:
    """Do."""
    return 1


def positional(a: int, /) -> int:
    """Do."""
    return a


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (undescribed, "no description"),
        (untyped, "has no annotation"),
        (many, "collects arguments"),
        (named, "collects arguments"),
        (positional, "positional only"),
    ],
)
def test_a_function_a_model_cannot_call_is_refused(function: Any, problem: str) -> None:
    with pytest.raises(GraphConfigError, match=problem):
        tool(function)


@pytest.mark.parametrize("name", ["", "a b", "a" * 65, "é", "a.b"])
def test_a_name_that_providers_refuse_is_refused(name: str) -> None:
    with pytest.raises(GraphConfigError, match="1 to 64"):
        tool(name=name or " ", description="Do.")(undescribed)


@pytest.mark.parametrize("thing", [3, "f", Desk, print])
def test_a_tool_is_made_of_a_function(thing: Any) -> None:
    with pytest.raises(TypeError, match="takes a function"):
        tool(thing)
