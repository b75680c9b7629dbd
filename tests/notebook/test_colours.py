"""The colours stand out in both themes, also for who does not see all of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import pytest

import nbgraph

SHEET = Path(nbgraph.__file__).parent / "notebook" / "static" / "nbgraph.css"
TEXT, MARK, APART = 4.5, 3.0, 10.0
"""The least contrast of text and of signs (WCAG 2 AA), and the least distance of two fills."""

Colour = tuple[float, float, float]
BLIND: Mapping[str, tuple[tuple[float, float, float], ...]] = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
"""How full colour-blindness sees linear light, after Machado, Oliveira and Fernandes (2009)."""


def tokens_of(theme: str) -> dict[str, str]:
    """Return each token's value, without JupyterLab's own variables."""
    root, dark = re.findall(r"(?ms)^(?::root|body\[[^{]*) \{\n(.*?)^\}", SHEET.read_text("utf-8"))[
        :2
    ]
    found: dict[str, str] = {}
    for block in (root, dark) if theme == "dark" else (root,):
        for name, value in re.findall(r"--nbgraph-([\w-]+): ([^;]+);", block):
            fallback = re.fullmatch(r"var\(--jp-[\w-]+, (.+)\)", value)
            found[name] = fallback[1] if fallback else value
    return found


def colour(value: str, ground: Colour = (0, 0, 0)) -> Colour:
    """Return a colour as it is seen on a ground, each part from 0 to 1."""
    if value.startswith("#"):
        digits = value[1:] if len(value) == 7 else "".join(2 * digit for digit in value[1:])
        red, green, blue = (int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4))
        return red, green, blue
    *parts, alpha = [float(part) for part in re.findall(r"[\d.]+", value)]
    red, green, blue = (
        alpha * part / 255 + (1 - alpha) * under for part, under in zip(parts, ground, strict=True)
    )
    return red, green, blue


def linear(seen: Colour) -> Colour:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in seen
    )
    return red, green, blue


def contrast(of: Colour, on: Colour) -> float:
    lights = sorted(
        0.2126 * red + 0.7152 * green + 0.0722 * blue
        for red, green, blue in (linear(of), linear(on))
    )
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def lab(light: Colour) -> Colour:
    """Return linear light as CIE L*a*b*."""
    red, green, blue = (min(max(part, 0.0), 1.0) for part in light)
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883
    fx, fy, fz = (
        part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in (x, y, z)
    )
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


GROUNDS = ("bg", "sunken", "running-tint", "done-tint", "waiting-tint", "failed-tint")
TEXTS = [
    *[(ink, ground) for ink in ("ink", "ink-2") for ground in GROUNDS],
    *[("accent-ink", ground) for ground in ("bg", "sunken")],
    ("ink", "hover"),
    ("on-accent", "accent"),
    *[(f"{mark}-ink", f"{mark}-tint") for mark in ("done", "waiting", "failed")],
    *[(f"{mark}-ink", "bg") for mark in ("done", "waiting", "failed")],
    *[(f"{kind}-ink", f"{kind}-tint") for kind in ("added", "changed", "removed")],
    ("break-fill", "bg"),
]
SIGNS = ("idle-ink", "running-fill", "done-fill", "waiting-ink", "failed-fill", "skipped-ink")
MARKS = [
    *[(sign, ground) for sign in (*SIGNS, "break-fill") for ground in ("bg", "sunken")],
    *[(edge, "bg") for edge in ("control", "focus", "accent")],
    *[("on-mark", f"{mark}-fill") for mark in ("done", "failed")],
    ("waiting-edge", "waiting-fill"),
    *[(f"{mark}-fill", f"{mark}-tint") for mark in ("running", "done", "failed")],
    ("waiting-ink", "waiting-tint"),
]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_and_marks_stand_out_from_what_is_below_them(theme: str):
    tokens = tokens_of(theme)
    weak: list[tuple[str, str, float]] = []
    for pairs, least in ((TEXTS, TEXT), (MARKS, MARK)):
        for name, below in pairs:
            ground = colour(tokens[below], colour(tokens["bg"]))
            found = contrast(colour(tokens[name], ground), ground)
            if found < least:
                weak.append((name, below, round(found, 2)))
    assert weak == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", BLIND)
def test_marks_are_told_apart_without_red_or_green_or_blue(theme: str, kind: str):
    tokens = tokens_of(theme)
    names = ("idle-ink", "running-fill", "done-fill", "waiting-fill", "failed-fill")
    seen: dict[str, Colour] = {}
    for name in names:
        light = linear(colour(tokens[name]))
        red, green, blue = (
            sum(share * part for share, part in zip(row, light, strict=True)) for row in BLIND[kind]
        )
        seen[name] = lab((red, green, blue))
    near = {
        (one, other): round(
            sum((a - b) ** 2 for a, b in zip(seen[one], seen[other], strict=True)) ** 0.5, 1
        )
        for one, other in combinations(names, 2)
    }
    assert {pair: far for pair, far in near.items() if far < APART} == {}
