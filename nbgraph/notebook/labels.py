"""Text from data on stock widgets: shown as it is, never as markup or mathematics.

The front end hands two places to MathJax: a Label, and the description of an input. A Label opts
out by a class; a description is escaped, which MathJax takes back. Buttons, radio buttons and lists
are not touched (all measured in JupyterLab 4.6).
"""

from __future__ import annotations

import re

import ipywidgets
from ipywidgets.widgets.widget_string import LabelStyle

from nbgraph.core.hidden import reveal
from nbgraph.forms import Field
from nbgraph.notebook.shared import shared

__all__ = ["NO_MATH", "described", "escaped", "label", "set_text", "visible"]

NO_MATH = "mathjax_ignore"
_MATH = re.compile(r"\$.*\$|\\[\\$(\[]|\\begin|\\(eq)?ref", re.DOTALL)


def visible(text: str) -> str:
    """Return text with hidden characters made visible; line breaks and tabs stay."""
    lines = ("\t".join(map(reveal, line.split("\t"))) for line in text.split("\n"))
    return "\n".join(lines)


def label(text: str, *classes: str) -> ipywidgets.Label:
    """Return a label that shows `text` as it is."""
    return ipywidgets.Label(
        visible(text), style=shared(LabelStyle), _dom_classes=(NO_MATH, *classes)
    )


def set_text(shown: ipywidgets.Label, text: str) -> None:
    """Put other text into a label made by `label`."""
    shown.value = visible(text)


def escaped(text: str) -> str:
    """Return text for the description of an input.

    Where MathJax would read mathematics it is escaped; other text stays, since a front end without
    MathJax shows what is escaped.
    """
    shown = visible(text)
    return shown.replace("\\", "\\\\").replace("$", "\\$") if _MATH.search(shown) else shown


def described(field: Field, *, starred: bool = True, escaped: bool = True) -> str:
    """Return a field's label, with a star where it is needed."""
    text = f"{field.label} *" if field.required and starred else field.label
    return _for_description(text) if escaped else text


_for_description = escaped
