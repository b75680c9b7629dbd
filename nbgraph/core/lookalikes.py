"""Letters that pass for others: words of two alphabets, and signs that look like ASCII ones."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

__all__ = ["posing", "posing_words"]

_WORD = re.compile(r"\w+")
_RUN = re.compile(r"\S+")
_EAST_ASIAN = {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"}
_TOGETHER = _EAST_ASIAN | {"LATIN"}
"""Alphabets that one word of Japanese, Korean or Chinese may mix."""

_LIKE_LATIN = frozenset(
    "аеорсухіјѕԁһӏԛԝҽАВЕКМНОРСТУХІЈЅҮԌԜ"  # noqa: RUF001 - Cyrillic
    "οαγινορτυχκΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲϳ"  # Greek
    "օսոցյհԼՍՕ"  # Armenian
    "ᎪᏴᏟᎠᎬᏀᎻᏆᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᏃ"  # Cherokee
)
"""Letters of other alphabets that look like one of a to z."""
_LIKE_SIGNS = frozenset(
    "\u2215\u2044\u29f8\u2571\u2236\ua789\u02d0\u0589\u06d4\u0701\u0702\u01c3\u2e1d"
)
"""Signs that look like `/`, `:`, `.` or `!`."""


_COMMON = "µªº"


def posing(text: str) -> dict[int, str]:
    """Return the characters that pass for others, as a name by place."""
    if text.isascii():
        return {}
    found = {index: _named(text[index]) for index in _signs(text)}
    for word in _words(text):
        found |= {index: _named(text[index]) for index in _foreign(text, word)}
    return found


def posing_words(text: str) -> tuple[str, ...]:
    """Return what stands between blanks and has a character that passes for another one."""
    found = posing(text)
    words = _RUN.finditer(text) if found else ()
    return tuple(
        dict.fromkeys(
            word[0] for word in words if any(word.start() <= at < word.end() for at in found)
        )
    )


def _signs(text: str) -> Iterator[int]:
    """Yield where a sign or letter is a variant of an ASCII one: wide, mathematical, a leader."""
    for index, character in enumerate(text):
        if character.isascii() or character in _COMMON:
            continue
        plain = unicodedata.normalize("NFKC", character)
        is_variant = len(plain) == 1 and "!" <= plain <= "~"
        if character in _LIKE_SIGNS or (is_variant and unicodedata.category(character) != "No"):
            yield index


def _words(text: str) -> Iterator[re.Match[str]]:
    return (word for word in _WORD.finditer(text) if not word[0].isascii())


def _foreign(text: str, word: re.Match[str]) -> list[int]:
    """Return the places of the letters that do not belong to a word."""
    has_digits = any(each.isdecimal() and not each.isascii() for each in word[0])
    alphabets = {
        index: name
        for index in range(word.start(), word.end())
        if (name := _alphabet(text[index], digits=has_digits)) is not None
    }
    there = set(alphabets.values())
    if len(there) == 1 and "LATIN" not in there:
        return _whole_word(text, alphabets)
    if len(there) < 2 or there <= _TOGETHER:
        return []
    counted = Counter(alphabets.values())
    own = "LATIN" if "LATIN" in there else counted.most_common(1)[0][0]
    return [index for index, name in alphabets.items() if name != own]


def _whole_word(text: str, alphabets: dict[int, str]) -> list[int]:
    """Return a word's letters if all look Latin, in a text that has no other of its alphabet."""
    if len(alphabets) < 2 or not all(text[index] in _LIKE_LATIN for index in alphabets):
        return []
    (own,) = set(alphabets.values())
    others = (each for each in text if not each.isascii() and each not in _LIKE_LATIN)
    return [] if any(_alphabet(each) == own for each in others) else list(alphabets)


def _alphabet(character: str, *, digits: bool = False) -> str | None:
    """Return the alphabet of a letter or digit; None for what all of them share.

    0 to 9 are shared, unless there are other `digits`.
    """
    if character.isascii():
        return "LATIN" if character.isalpha() or (digits and character.isdigit()) else None
    category = unicodedata.category(character)
    if category in {"Lm", "No", "Nl", "Mn", "Mc", "Me", "Pc"} or character in _COMMON:
        return None
    return unicodedata.name(character, "UNNAMED").split(" ", 1)[0]


def _named(character: str) -> str:
    name = unicodedata.name(character, "").split(" ", 1)[0]
    return f"{name} U+{ord(character):04X}"
