from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbgraph.drawing import address, cut, reveal


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\nb", "a␊b"),
        ("\x00\x1b", "␀␛"),
        ("\x7f", "⟨U+007F⟩"),
        ("\u202eabc", "⟨U+202E⟩abc"),
        ("\ud800", "⟨U+D800⟩"),
        ("\uffff", "⟨U+FFFF⟩"),
        ("é שלום 🙂", "é שלום 🙂"),
    ],
)
def test_hidden_characters_become_visible_and_others_stay(text: str, shown: str):
    assert reveal(text) == shown


@given(st.text(st.characters()))
def test_revealed_text_has_nothing_hidden_left(text: str):
    assert reveal(reveal(text)) == reveal(text)


def test_a_long_text_is_cut_and_the_rest_counted():
    assert cut("x" * 40) == "x" * 40
    assert cut("x" * 10_000) == "x" * 32 + "… +9,968"


def test_an_address_is_the_path_save_for_what_xml_cannot_hold():
    assert address("refund/pay\n<&\"'") == "refund/pay\n<&\"'"
    assert address("a\x00\ud800") == "a␀⟨U+D800⟩"
