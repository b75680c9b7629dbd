"""Each kind of control in a real front end, filled in with the keyboard."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from .conftest import Open
from .labtool import Notebook
from .test_forms import SETUP, field, wait_until_sent

pytestmark = pytest.mark.browser

LISTS = """
from typing import NamedTuple

class Line(BaseModel):
    article: str
    count: int

class Spot(NamedTuple):
    x: float
    label: str = "here"

class Lists(BaseModel):
    words: list[str]
    numbers: list[int]
    ways: set[Literal["mail", "phone", "post"]]
    tags: Annotated[set[str], Field(json_schema_extra={"x-widget": "tags"})]
    places: set[Literal[tuple(f"place {n}" for n in range(30))]]
    stock: dict[str, int]
    by_way: dict[Literal["mail", "post"], bool]
    spot: Spot
    lines: list[Line]
    free: list[object]

shown(Lists)
"""

PICKED = """
from datetime import time
from pydantic import Base64Bytes

class Card(BaseModel):
    kind: Literal["card"]
    digits: str

class Bank(BaseModel):
    kind: Literal["bank"]
    iban: str

class Chain(BaseModel):
    value: int
    next: "Chain | None" = None

class Picked(BaseModel):
    agree: bool
    copies: bool = True
    way: Literal["mail", "phone", "post"]
    weekday: Literal["Mon", "Tue", "Wed", "Thu", "Fri"]
    place: Literal[tuple(f"place {n}" for n in range(30))]
    part: Literal[tuple(f"part {n}" for n in range(1_500))]
    same: Literal["1", 1]
    only: Literal["v2"]
    floor: Annotated[int, Field(ge=0, le=9, json_schema_extra={"x-widget": "slider"})]
    maybe: int | None
    day: date
    clock: time
    moment: datetime
    takes: timedelta
    colour: Annotated[str, Field(json_schema_extra={"format": "color"})]
    file: Base64Bytes
    key: SecretStr
    any: object
    size: int | str
    how: Annotated[Card | Bank, Field(discriminator="kind")]
    chain: Chain

shown(Picked)
"""

LIVE = """
shown({
    "type": "object", "required": ["kind"],
    "properties": {"kind": {"enum": ["low", "high"]}, "card": {"type": "string"}},
    "if": {"properties": {"kind": {"const": "low"}}},
    "then": {"properties": {"few": {"type": "integer"}}, "required": ["few"]},
    "else": {"properties": {"many": {"type": "integer"}}, "required": ["many"]},
    "dependentSchemas": {"card": {
        "properties": {"name": {"type": "string"}}, "required": ["name"]}},
})
"""


def opened(open_notebook: Open, source: str) -> tuple[Notebook, Locator]:
    """Return an open notebook and the form in its second cell."""
    notebook = open_notebook([SETUP, source])
    notebook.run_all()
    form = notebook.cell(1).locator(".nbgraph-form")
    form.wait_for()
    notebook.wait_idle()
    return notebook, form


def group(form: Locator, heading: str) -> Locator:
    """Return the outermost frame with a heading."""
    return form.locator(".nbgraph-group", has=form.page.get_by_text(heading, exact=True)).first


def typed(form: Locator, label: str, text: str) -> None:
    """Type into a field, and leave it."""
    field(form, label).focus()
    form.page.keyboard.type(text)
    form.page.keyboard.press("Tab")


def press(button: Locator, key: str = "Enter") -> None:
    button.focus()
    button.page.keyboard.press(key)


def answer(notebook: Notebook, form: Locator) -> object:
    """Submit with the keys, and return what was sent."""
    form.locator("input").first.focus()
    notebook.page.keyboard.press("Control+Enter")
    wait_until_sent(form)
    notebook.wait_idle()
    assert not [line for line in notebook.console if line.startswith("pageerror")]
    return json.loads(notebook.execute("import json; print(json.dumps(sent[-1]))"))


def test_lists_sets_maps_tuples_and_tables_are_filled_in_with_the_keyboard(  # noqa: PLR0915 - a flow
    open_notebook: Open,
) -> None:
    notebook, form = opened(open_notebook, LISTS)
    keyboard = notebook.page.keyboard
    words = group(form, "Words *")
    press(words.locator(".nbgraph-add"))
    expect(words.locator(".nbgraph-item input")).to_be_focused()
    keyboard.type("first")
    press(words.locator(".nbgraph-paste"))
    expect(words.locator(".nbgraph-lines textarea")).to_be_focused()
    keyboard.insert_text("second\n\n third \nfourth")
    keyboard.press("Tab")
    expect(words.locator(".nbgraph-item")).to_have_count(4)
    press(words.locator(".nbgraph-up").nth(3), "Space")
    press(words.locator(".nbgraph-remove").nth(0), "Space")
    expect(words.locator(".nbgraph-item")).to_have_count(3)
    numbers = group(form, "Numbers *")
    press(numbers.locator(".nbgraph-paste"))
    expect(numbers.locator(".nbgraph-lines textarea")).to_be_focused()
    keyboard.insert_text("1\n9007199254740993")
    keyboard.press("Tab")
    expect(numbers.locator(".nbgraph-item")).to_have_count(2)
    press(form.get_by_label("phone", exact=True), "Space")
    press(form.get_by_label("mail", exact=True), "Space")
    tags = group(form, "Tags *").locator("input")
    tags.focus()
    for text in ("vip", "eu"):
        keyboard.type(text)
        keyboard.press("Enter")
    expect(group(form, "Tags *").get_by_text("eu", exact=True)).to_be_visible()
    places = group(form, "Places *").locator("input")
    places.focus()
    keyboard.type("place 7")
    keyboard.press("Enter")
    expect(group(form, "Places *").get_by_text("place 7", exact=True)).to_be_visible()
    stock = group(form, "Stock *")
    press(stock.locator(".nbgraph-add"))
    expect(stock.locator(".nbgraph-item")).to_have_count(1)
    stock.get_by_label("Key").focus()
    keyboard.type("lamp")
    keyboard.press("Tab")
    keyboard.type("2")
    keyboard.press("Tab")
    by_way = group(form, "By Way *")
    press(by_way.locator(".nbgraph-add"))
    by_way.get_by_label("Key").select_option("post")
    press(by_way.get_by_label("No", exact=True), "Space")
    typed(form, "X *", "3.5")
    lines = group(form, "Lines *")
    for number in range(5):
        press(lines.locator(".nbgraph-add"))
        expect(field(lines, "Article *").nth(number)).to_be_focused()
        keyboard.type(f"part {number}")
        keyboard.press("Tab")
        keyboard.type(str(number))
        keyboard.press("Tab")
    expect(lines.locator(".nbgraph-as-table")).to_have_count(1)
    free = group(form, "Free *")
    press(free.locator(".nbgraph-add"))
    expect(free.locator("textarea")).to_be_focused()
    keyboard.type('{"a": [1]}')
    keyboard.press("Tab")
    assert answer(notebook, form) == {
        "words": ["second", "fourth", "third"],
        "numbers": [1, 9007199254740993],
        "ways": ["mail", "phone"],
        "tags": ["vip", "eu"],
        "places": ["place 7"],
        "stock": {"lamp": 2},
        "by_way": {"post": False},
        "spot": [3.5, "here"],
        "lines": [{"article": f"part {number}", "count": number} for number in range(5)],
        "free": [{"a": [1]}],
    }


def test_what_is_chosen_picked_and_uploaded_is_filled_in_with_the_keyboard(  # noqa: PLR0915 - a flow
    open_notebook: Open, tmp_path: Path
) -> None:
    notebook, form = opened(open_notebook, PICKED)
    keyboard = notebook.page.keyboard
    press(form.get_by_role("radiogroup", name="Agree *").get_by_label("Yes"), "Space")
    press(form.get_by_label("Copies"), "Space")
    press(form.get_by_label("phone", exact=True), "Space")
    field(form, "Weekday *").focus()
    keyboard.type("Thu")
    typed(form, "Place *", "place 12")
    typed(form, "Part *", "part 1499")
    press(form.get_by_label("1 (number)", exact=True), "Space")
    slider = form.get_by_role("slider")
    slider.focus()
    for _ in range(4):
        keyboard.press("ArrowRight")
    expect(form.get_by_text("nothing chosen")).to_have_count(0)
    typed(form, "Maybe *", "7")
    press(form.locator(".nbgraph-null input").first, "Space")
    expect(field(form, "Maybe *")).to_be_disabled()
    typed(form, "Day *", "2026-11-29")
    typed(form, "Clock *", "12:04")
    typed(form, "Moment *", "2026-11-29 12:04")
    form.locator(".nbgraph-pick select").select_option("+05:45")
    expect(field(form, "Moment *")).to_have_value("2026-11-29T12:04:00+05:45")
    typed(form, "Takes *", "1h 30m")
    typed(form, "Colour *", "teal")
    (tmp_path / "lamp.txt").write_bytes(b"lamp")
    with notebook.page.expect_file_chooser() as chooser:
        press(form.get_by_role("button", name="Choose file"))
    chooser.value.set_files(tmp_path / "lamp.txt")
    expect(form.get_by_text("lamp.txt, 4 bytes")).to_be_visible()
    typed(form, "Key *", "hunter2")
    typed(form, "Any *", "[null]")
    size = group(form, "Size *")
    press(size.get_by_label("text", exact=True), "Space")
    expect(size.get_by_role("textbox")).to_be_visible()
    size.get_by_role("textbox").focus()
    keyboard.type("3")
    keyboard.press("Tab")
    how = group(form, "How *")
    press(how.get_by_label("Card", exact=True), "Space")
    press(how.get_by_label("Bank", exact=True), "Space")
    expect(field(how, "Iban *")).to_be_visible()
    typed(how, "Iban *", "DE00")
    chain = group(form, "Chain *")
    typed(chain, "Value *", "1")
    press(chain.locator(".nbgraph-add").first)
    expect(field(chain, "Value *")).to_have_count(2)
    field(chain, "Value *").nth(1).focus()
    keyboard.type("2")
    keyboard.press("Tab")
    assert answer(notebook, form) == {
        "agree": True,
        "copies": False,
        "way": "phone",
        "weekday": "Thu",
        "place": "place 12",
        "part": "part 1499",
        "same": 1,
        "only": "v2",
        "floor": 4,
        "maybe": None,
        "day": "2026-11-29",
        "clock": "12:04",
        "moment": "2026-11-29T12:04:00+05:45",
        "takes": "PT1H30M",
        "colour": "teal",
        "file": "bGFtcA==",
        "key": "hunter2",
        "any": [None],
        "size": "3",
        "how": {"kind": "bank", "iban": "DE00"},
        "chain": {"value": 1, "next": {"value": 2, "next": None}},
    }


def test_fields_come_and_go_and_json_is_typed(open_notebook: Open) -> None:
    notebook, form = opened(open_notebook, LIVE)
    keyboard = notebook.page.keyboard
    press(form.get_by_label("low", exact=True), "Space")
    typed(form, "Few *", "1")
    press(form.get_by_label("high", exact=True), "Space")
    expect(field(form, "Few *")).to_have_count(0)
    typed(form, "Many *", "2")
    typed(form, "Card", "x")
    typed(form, "Name *", "Desk")
    assert answer(notebook, form) == {"kind": "high", "many": 2, "card": "x", "name": "Desk"}
    press(form.get_by_role("button", name="JSON", exact=True))
    text = form.locator("textarea:visible")
    text.focus()
    keyboard.press("Control+A")
    keyboard.insert_text('{"kind": "low", "few": 3}')
    keyboard.press("Tab")
    press(form.get_by_role("button", name="Form", exact=True))
    expect(field(form, "Few *")).to_have_value("3")
    assert answer(notebook, form) == {"kind": "low", "few": 3}
