"""More kinds of models and unions, each with answers that fit it and that do not."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, Required, TypeVar

import pydantic as p
from annotated_types import Ge, Gt, Interval
from pydantic import BaseModel, ConfigDict, Discriminator, Field, RootModel, Tag
from pydantic.dataclasses import dataclass as checked_dataclass
from typing_extensions import TypeAliasType, TypedDict

# --- models of every sort ---------------------------------------------------------------------


class Area(BaseModel):
    width: Annotated[int, Ge(0)]
    height: Annotated[int, Ge(0)]

    @p.computed_field
    @property
    def size(self) -> int:
        return self.width * self.height


class Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    first: Annotated[str, Field(alias="firstName")]
    last: Annotated[str, Field(validation_alias="familyName")] = "x"
    many: Annotated[int, Field(validation_alias=p.AliasChoices("many", "viele"))] = 0


class Camel(BaseModel):
    model_config = ConfigDict(alias_generator=lambda name: name.title(), populate_by_name=True)
    unit: str
    price: Decimal


class Checked(BaseModel):
    name: str
    code: str

    @p.field_validator("name")
    @classmethod
    def _has_no_space(cls, value: str) -> str:
        if " " in value:
            raise ValueError("no spaces")
        return value

    @p.field_validator("code", mode="before")
    @classmethod
    def _is_long(cls, value: Any, info: p.ValidationInfo) -> Any:
        if isinstance(value, str) and len(value) < (info.context or {}).get("least", 2):
            raise ValueError("too short")
        return value


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, str_max_length=3, str_to_upper=True)
    tag: str


class Documented(BaseModel):
    """What is asked.

    In two paragraphs.
    """

    model_config = ConfigDict(use_attribute_docstrings=True)
    amount: float
    """How much."""


class Defaults(BaseModel):
    made: Annotated[list[int], Field(default_factory=lambda: [1, 2])]
    at: date = date(2026, 11, 29)
    level: Literal[1, 2, 3] = 2
    share: Decimal = Decimal("0.50")
    takes: timedelta = timedelta(minutes=5)
    inner: Area = Area(width=1, height=2)
    none: int | None = 3


class Amounts(RootModel[list[Annotated[int, Gt(0)]]]):
    pass


class ByName(RootModel[dict[str, Area]]):
    pass


class Text(RootModel[str]):
    pass


class Nested(BaseModel):
    class Inner(BaseModel):
        deep: bool

    inner: Inner
    others: dict[str, list[Inner]] = {}


class Parent(BaseModel):
    name: str
    kind: str = "parent"


class Child(Parent):
    kind: Literal["child"] = "child"  # type: ignore[assignment]
    age: Annotated[int, Interval(ge=0, lt=18)]


class Left(BaseModel):
    value: int
    right: Right | None = None


class Right(BaseModel):
    lefts: list[Left] = []


class Tree(BaseModel):
    name: str
    children: tuple[Tree, ...] = ()
    by_key: dict[str, Tree] = {}
    twin: Tree | list[Tree] | None = None


class Private(BaseModel):
    shown: int
    hidden: Annotated[int, Field(exclude=True)] = 1
    _secret: int = 3


class Keyworded(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int]
    known: str


class Strange(BaseModel):
    slash: Annotated[str, Field(alias="a/b")]
    tilde: Annotated[str, Field(alias="a~b")]
    dot: Annotated[str, Field(alias="a.b")]
    space: Annotated[str, Field(alias=" ")]
    empty: Annotated[str, Field(alias="")]
    proto: Annotated[str, Field(alias="__proto__")]
    ref: Annotated[str, Field(alias="$ref")]


class Extra(BaseModel):
    colour: Annotated[str, Field(json_schema_extra={"format": "color"})]
    note: Annotated[str, Field(json_schema_extra={"x-widget": "textarea"})] = ""
    old: Annotated[int | None, Field(deprecated=True)] = None
    fixed: Annotated[str, Field(json_schema_extra={"readOnly": True})] = "set"


class Flags(enum.Flag):
    R = 1
    W = 2


class Bits(enum.IntFlag):
    A = 1
    B = 4


class Word(enum.StrEnum):
    YES = "yes"
    NO = "no"
    EMPTY = ""


class Mixed(enum.Enum):
    """Of several types."""

    TEXT = "1"
    NUMBER = 1
    REAL = 1.5


class Many(enum.IntEnum):
    ONE, TWO, THREE, FOUR, FIVE, SIX = range(1, 7)


Long = enum.StrEnum("Long", {f"M{n}": f"member {n}" for n in range(25)})

# --- unions -----------------------------------------------------------------------------------


class Cat(BaseModel):
    kind: Literal["cat"]
    colour: Literal["black"]
    lives: Annotated[int, Interval(ge=1, le=9)] = 9


class WhiteCat(BaseModel):
    kind: Literal["cat"]
    colour: Literal["white"]
    name: str


class Dog(BaseModel):
    kind: Literal["dog", "hound"]
    barks: bool


AnyCat = Annotated[Cat | WhiteCat, Field(discriminator="colour")]
Pet = Annotated[AnyCat | Dog, Field(discriminator="kind")]


class Owner(BaseModel):
    pet: Pet
    more: list[Pet] = []
    maybe: Pet | None = None


def _told(value: Any) -> str:
    return "area" if isinstance(value, dict) and "width" in value else "text"


Told = Annotated[Annotated[Area, Tag("area")] | Annotated[str, Tag("text")], Discriminator(_told)]


class ByMember(BaseModel):
    word: Literal[Word.YES]
    count: int


class ByOther(BaseModel):
    word: Literal[Word.NO]
    reason: str


Words = Annotated[ByMember | ByOther, Field(discriminator="word")]

# --- other structures -------------------------------------------------------------------------


class Spot(NamedTuple):
    x: Annotated[int, Ge(0)]
    y: int = 0
    tags: tuple[str, ...] = ()


class Some(TypedDict):
    must: int
    may: NotRequired[str | None]


class Few(TypedDict, total=False):
    must: Required[Literal["a", "b"]]
    may: list[int]


@dataclass
class Item:
    name: str
    tags: list[str] = field(default_factory=list)
    size: tuple[int, int] = (1, 2)
    parent: Item | None = None


@checked_dataclass
class Sized:
    low: Annotated[int, Ge(0)]
    high: int = Field(default=9, le=9)


T = TypeVar("T")
K = TypeVar("K", str, int)


class Page(BaseModel, Generic[T]):
    rows: list[T]
    next: Page[T] | None = None


class Pair(BaseModel, Generic[T, K]):
    left: T
    right: dict[K, T] = {}


Json = TypeAliasType("Json", "list[Json] | dict[str, Json] | str | int | float | bool | None")
Even = Annotated[int, p.AfterValidator(lambda value: value if value % 2 == 0 else _odd())]


def _odd() -> int:
    raise ValueError("not even")


CAT = {"kind": "cat", "colour": "black", "lives": 3}
DOG = {"kind": "hound", "barks": True}
AREA = {"width": 1, "height": 2}
UUIDS = {
    1: "c232ab00-9414-11ec-b3c8-9f68deced846",
    3: "5df41881-3aed-3515-88a7-2f4a814cf09e",
    4: "919108f7-52d1-4320-9bac-f847db4148a8",
    5: "2ed6657d-e927-568b-95e1-2665a8aea6a2",
}
STRANGE = {"a/b": "1", "a~b": "2", "a.b": "3", " ": "4", "": "5", "__proto__": "6", "$ref": "7"}

Kind = tuple[str, Any, list[Any], list[Any]]

MODELS: list[Kind] = [
    ("computed", Area, [AREA], [{"width": -1, "height": 2}, {"width": 1}]),
    ("aliases", Aliased, [{"firstName": "a", "familyName": "b", "many": 1}],
     [{}, {"firstName": 1}]),
    ("alias generator", Camel, [{"Unit": "kg", "Price": "1.20"}], [{"Unit": "kg"}]),
    ("validators", Checked, [{"name": "a", "code": "ab"}], [{"name": "a b", "code": "ab"}]),
    ("before validator", Checked, [{"name": "a", "code": "ab"}], [{"name": "a", "code": "b"}]),
    ("frozen", Frozen, [{"tag": "abc"}], [{"tag": "abcd"}]),
    ("docstrings", Documented, [{"amount": 1}], [{"amount": "much"}]),
    ("defaults", Defaults, [{}, {"made": [], "none": None}], [{"level": 4}, {"made": None}]),
    ("root list", Amounts, [[], [1]], [[0], {"root": [1]}]),
    ("root map", ByName, [{}, {"a": AREA}], [{"a": {}}]),
    ("root text", Text, ["", "a"], [1]),
    ("inner class", Nested, [{"inner": {"deep": False}, "others": {"a": [{"deep": True}]}}],
     [{"inner": {}}, {"inner": {"deep": True}, "others": {"a": [{}]}}]),
    ("subclass", Child, [{"name": "a", "age": 17, "kind": "child"}], [{"name": "a", "age": 18}]),
    ("mutual recursion", Left, [{"value": 1, "right": {"lefts": [{"value": 2, "right": None}]}}],
     [{"value": 1, "right": {"lefts": [{}]}}]),
    ("recursion everywhere", Tree,
     [{"name": "a", "children": [{"name": "b"}], "by_key": {"k": {"name": "c"}}, "twin": None},
      {"name": "a", "twin": [{"name": "b", "twin": {"name": "c"}}]}],
     [{"name": "a", "children": [{}]}, {"name": "a", "twin": 1}]),
    ("private", Private, [{"shown": 1}, {"shown": 1, "hidden": 2}], [{"hidden": 1}]),
    ("typed extra", Keyworded, [{"known": "a", "other": 1}], [{"known": "a", "other": "x"}]),
    ("strange names", Strange, [STRANGE], [{**STRANGE, "__proto__": 1}, {}]),
    ("extra schema", Extra, [{"colour": "#fff", "note": "a\nb", "old": 1}], [{"colour": 1}]),
    ("generic of model", Page[Area], [{"rows": [AREA], "next": {"rows": []}}], [{"rows": [1]}]),
    ("generic of union", Page[int | None], [{"rows": [1, None]}], [{"rows": ["x"]}]),
    ("generic of two", Pair[date, str], [{"left": "2026-11-29", "right": {"a": "2026-11-30"}}],
     [{"left": "x"}]),
    ("typed dict", Some, [{"must": 1}, {"must": 1, "may": None}], [{}, {"must": 1, "may": 2}]),
    ("partial dict", Few, [{"must": "a"}, {"must": "b", "may": [1]}], [{}, {"must": "c"}]),
    ("dataclass", Item, [{"name": "a"}, {"name": "a", "size": [3, 4], "parent": {"name": "b"}}],
     [{"name": "a", "size": [1]}]),
    ("checked dataclass", Sized, [{"low": 0}, {"low": 1, "high": 9}], [{"low": -1}, {"high": 1}]),
    ("named tuple", Spot, [[1], [1, 2], [1, 2, ["a"]]], [[-1], []]),
]  # fmt: skip

UNIONS: list[Kind] = [
    ("nested tags", Pet, [CAT, DOG, {"kind": "cat", "colour": "white", "name": "Snow"}],
     [{"kind": "cat"}, {"kind": "cat", "colour": "red"}, {"kind": "fish"}, None]),
    ("tags in a model", Owner, [{"pet": CAT, "more": [DOG], "maybe": None}, {"pet": DOG}],
     [{"pet": {"kind": "dog"}}, {"pet": CAT, "more": [{}]}]),
    ("told by a function", Told, [AREA, "text"], [{"width": 1}, 5]),
    ("tag of members", Words, [{"word": "yes", "count": 1}, {"word": "no", "reason": "x"}],
     [{"word": "yes", "reason": "x"}, {"word": ""}]),
    ("list of tagged", list[Pet], [[], [CAT, DOG]], [[{}], None]),
    ("map of tagged", dict[str, Pet], [{"a": CAT}], [{"a": {"kind": "cat"}}]),
    ("models alike", Area | Sized, [AREA, {"low": 1, "high": 2}], [{"low": -1}]),
    ("model or null or text", Area | str | None, [AREA, "a", None], [1, {"width": 1}]),
    ("three scalars", int | float | str, [1, 1.5, "1"], [None, [1]]),
    ("bool or int", bool | int, [True, 1, 0], ["yes"]),
    ("list or one", int | list[int], [1, [1], []], ["a", ["a"]]),
    ("lists of two kinds", list[int] | list[str], [[1], ["a"], []], [[None]]),
    ("map or list", dict[str, int] | list[int], [{"a": 1}, [1], {}], ["a"]),
    ("literal or int", Literal["auto"] | int, ["auto", 3], ["other"]),
    ("literal or pattern", Literal["auto"] | Annotated[str, Field(pattern="^[0-9]+px$")],
     ["auto", "3px"], ["px"]),
    ("date or text", date | Literal["today"], ["2026-11-29", "today"], ["tomorrow"]),
    ("union of unions", (int | None) | (str | list[int | str]), [1, None, "a", [1, "a"]], [{}]),
    ("enum or null", Word | None, ["yes", "", None], ["maybe"]),
    ("tuple or null", tuple[int, str] | None, [None, [1, "a"]], [[1]]),
    ("optional of optional", Annotated[int | None, Ge(1)] | None, [None, 1], [0, "a"]),
    ("smart or left", Annotated[int | str, Field(union_mode="left_to_right")], [1, "a"], [[1]]),
]  # fmt: skip
