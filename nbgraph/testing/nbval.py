"""A pytest plug-in that lets `pytest --nbval` check notebooks that hold nbgraph's pictures.

Installed with nbgraph and asleep without `--nbval` or `--nbval-lax`. With them, two things hold:

- pictures are not compared: an SVG, and an image whose source is an SVG, count as the same whatever
  version of Graphviz drew them; the image's alternative text and all other text are compared;
- kernels run with `NBGRAPH_UNATTENDED=1`, so nothing waits for a person.
"""

from __future__ import annotations

from collections.abc import Generator, MutableMapping
from typing import Protocol, runtime_checkable

import pytest

__all__ = ["SANITIZE_PATTERNS"]

_ATTRIBUTES = r'(?:[^>"]|"[^"]*")*?'
_IMAGE = rf'<img\b(?={_ATTRIBUTES}\ssrc="data:image/svg\+xml)({_ATTRIBUTES})'
_PROLOGUE = r"(?:<\?xml.*?\?>\s*|<!DOCTYPE.*?>\s*|<!--.*?-->\s*)*"

SANITIZE_PATTERNS = {
    rf'{_IMAGE}\swidth="[^"]*"': r"<img\1",
    rf'{_IMAGE}\sheight="[^"]*"': r"<img\1",
    rf'{_IMAGE}\sstyle="[^"]*"': r"<img\1",
    rf'{_IMAGE}\ssrc="[^"]*"': r'<img\1 src="picture"',
    rf"(?s){_PROLOGUE}<svg\b.*?</svg>\s*": "<svg>picture</svg>",
}
"""What to replace in an output before it is compared: regular expression to replacement."""


@runtime_checkable
class _NotebookFile(Protocol):
    """nbval's collector of one notebook; known by its shape, so that nbval stays optional."""

    sanitize_patterns: MutableMapping[str, str]


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Give nbval our patterns before those of `--nbval-sanitize-with`."""
    if isinstance(collector, _NotebookFile):
        collector.sanitize_patterns.update(SANITIZE_PATTERNS)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Start a notebook's kernel, which nbval does for its first cell, as an unattended one."""
    if not isinstance(item.parent, _NotebookFile):
        return (yield)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NBGRAPH_UNATTENDED", "1")
        return (yield)
