"""Simple patterns are said in words."""

from __future__ import annotations

import pytest

from nbgraph.core.pattern_words import pattern_words
from nbgraph.notebook.form import Form


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("^[0-9]{5}$", "5 digits"),
        (r"^\d{4}-\d{2}$", "4 digits, “-”, 2 digits"),
        ("^[A-Z]{2}[0-9]{6}$", "2 capital letters, 6 digits"),
        ("^[a-z]+$", "one or more small letters"),
        ("^[A-Za-z][a-zA-Z0-9]*$", "1 letter, any number of letters or digits"),
        ("^[a-z0-9]{2,4}$", "2 to 4 small letters or digits"),
        ("^A-[0-9]{3,}[A-Z]?$", "“A-”, 3 or more digits, perhaps a capital letter"),
        (r"^[0-9]{1,3}\.[0-9]{1}$", "1 to 3 digits, “.”, 1 digit"),
    ],
)
def test_a_simple_pattern_is_said_in_words(pattern: str, words: str) -> None:
    assert pattern_words(pattern) == words


@pytest.mark.parametrize(
    "pattern",
    ["", "^", "$", "^$", "^a$", "[0-9]{5}", "^[0-9]{5}", "^(a|b)$", "^a|[0-9]$", "^(?=a)[0-9]$",
     "^.[0-9]$", "^[^0-9]$", "^[0-9]+?$", r"^[0-9]\$", "^ab+[0-9]$", "^[0-9]{1}{2}$", "^[A-z]$",
     r"^\w[0-9]$", "^" + "[0-9]-" * 9 + "$"],
)  # fmt: skip
def test_what_is_not_simple_is_not_said_otherwise_than_it_is(pattern: str) -> None:
    assert pattern_words(pattern) is None


def test_a_form_says_it_in_words_and_shows_the_pattern_where_it_is_wrong() -> None:
    form = Form({"type": "string", "pattern": "^[0-9]{5}$"}, value="12")
    assert form.errors == {"": "Has to be 5 digits: the pattern is ^[0-9]{5}$"}
    assert "5 digits" in [getattr(each, "value", "") for each in _parts(form)]


def _parts(widget: object) -> list[object]:
    inner = [part for child in getattr(widget, "children", ()) for part in _parts(child)]
    return [widget, *inner]
