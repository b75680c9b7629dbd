"""Nothing in a text that a person approves stays invisible."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbgraph.core.hidden import cleaned, findings, is_hidden, marked, pieces, reveal
from nbgraph.testing.spoofs import SPOOFS

EVERY = [chr(code) for code in range(sys.maxunicode + 1)]
FORMAT = [each for each in EVERY if unicodedata.category(each) in {"Cf", "Cc", "Zl", "Zp"}]
FILLERS = "\u115f\u1160\u17b4\u17b5\u3164\uffa0\u034f\u2065\u2800\u180b\u180c\u180d\u180f\U0001d159"
SELECTORS = [chr(code) for code in (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))]


def whole(text: str) -> str:
    return "".join(piece.stands_for for piece in pieces(text))


def unseen(text: str) -> str:
    """Return what of a text is shown as it is and cannot be seen."""
    shown = "".join(piece.text for piece in pieces(text))
    return "".join(each for each in shown if is_hidden(each) and each != "\n")


def test_the_format_characters_of_this_python_are_all_there():
    assert len(FORMAT) >= 230


@pytest.mark.parametrize("characters", [FORMAT, FILLERS, SELECTORS], ids=["230", "fill", "select"])
def test_each_hidden_character_inside_a_word_is_shown(characters):
    for each in characters:
        text = f"ab{each}cd"
        assert (unseen(text), whole(text)) == ("", text)
        assert marked(text) != "abcd"
        if each != "\n":
            assert any(piece.kind in {"mark", "blank"} for piece in pieces(text)), hex(ord(each))
            assert reveal(text) not in {"abcd", text} or each == "\u202f"


@pytest.mark.parametrize("category", ["Co", "Cn", "Cs"])
def test_each_private_unassigned_and_lone_character_is_hidden(category):
    found = [each for each in EVERY if unicodedata.category(each) == category]
    assert len(found) > 2_000
    assert all(map(is_hidden, found))
    assert not any(is_hidden(sign) for sign in reveal("".join(found)))


def test_no_letter_number_sign_or_mark_with_a_shape_is_hidden():
    shown = [each for each in EVERY if is_hidden(each) and unicodedata.category(each)[0] != "C"]
    assert {unicodedata.category(each) for each in shown} <= {"Lo", "Mn", "So", "Zl", "Zp"}
    assert len(shown) < 300


@pytest.mark.parametrize(
    ("text", "clean"), [each[1:] for each in SPOOFS], ids=[e[0] for e in SPOOFS]
)
def test_a_spoof_reads_otherwise_than_what_it_passes_for(text, clean):
    assert marked(text) != clean
    assert marked(text) != marked(clean)
    assert (unseen(text), whole(text)) == ("", text)
    assert any(piece.kind != "text" for piece in pieces(text))


def test_there_are_enough_spoofs():
    assert len({text for _, text, _ in SPOOFS}) >= 60


@pytest.mark.parametrize(
    "text",
    [
        "plain", "A-1042", "two words", "a  b", "x\ny", "x\n\ny", "def f():\n    return 1",
        "Grüße, señor", "Ελληνικά", "русский текст", "שלום עולם", "مرحبا", "日本語のテキスト",
        "iPhoneを使う", "한국어", "ไทย", "हिन्दी", "cafe\u0301", "🙂 ok", "5 \u00b5m", "n.º 3",
        "1½ m²", "„quoted“ – dash…", "\u043e\u0441\u0430 и русский",
    ],
)  # fmt: skip
def test_honest_text_stays_as_it_is(text):
    assert marked(text) == text
    assert not findings(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A-1042\u200b", "A-1042⟨ZWSP U+200B⟩"),
        ("a" + "\u200b" * 5000, "a⟨ZWSP U+200B ×5,000⟩"),
        ("echo ok" + " " * 5000 + ";x", "echo ok⟨5,000 spaces⟩;x"),
        ("a" + "\n" * 300 + "b", "a⟨300 line breaks⟩b"),
        ("\x1b[31mred\x1b[0m\r", "⟨ESC[31m⟩red⟨ESC[0m⟩⟨CR U+000D⟩"),
        ("hi\U000e0065\U000e0076", "hi⟨TAGS “ev”⟩"),
        ("x\u0301\u0302\u0303\u0304\u0305y", "x\u0301\u0302\u0303\u0304⟨1 combining mark⟩y"),
        ("p\u0430y", "p\u0430⟨CYRILLIC U+0430⟩y"),
        ("a\tb", "a⟨TAB⟩b"),
        ("end \nnext", "end⟨1 space⟩\nnext"),
    ],
)
def test_a_mark_says_what_it_stands_for(text, shown):
    assert marked(text) == shown


def test_findings_say_how_many_and_where():
    found = findings("A-1042\u200b and p\u0430ypal.com\u202e")
    assert (found.hidden, found.after, found.posing) == (2, "A-1042", ("p\u0430ypal.com\u202e",))
    assert not findings("A-1042")


def test_cleaned_text_has_nothing_hidden_and_keeps_its_words():
    for _, text, _ in SPOOFS:
        assert findings(cleaned(text)).hidden == 0
    assert cleaned("A-1042\u200b") == "A-1042"
    assert cleaned("rm\u00a0-rf\t\x1b[8mx") == "rm -rf\tx"


def test_an_emoji_in_a_label_keeps_its_look_and_a_letter_does_not():
    assert reveal("❤\ufe0f ok") == "❤\ufe0f ok"
    assert reveal("a\ufe0f") == "a⟨U+FE0F⟩"


@given(st.text(st.characters()))
def test_whatever_the_text_its_pieces_hide_nothing_and_are_the_whole(text):
    assert (unseen(text), whole(text)) == ("", text)
    assert findings(cleaned(text)).hidden == 0
