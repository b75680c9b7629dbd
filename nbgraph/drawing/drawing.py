"""A graph's drawing, as `draw(app)` returns it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from os import PathLike
from pathlib import Path

import graphviz

from nbgraph.core.driver import Shape
from nbgraph.drawing.dot import Direction, dot
from nbgraph.drawing.mermaid import mermaid
from nbgraph.drawing.static import picture
from nbgraph.drawing.text import describe
from nbgraph.errors import DrawingError

__all__ = ["Drawing"]


class Drawing:
    """What a graph looks like, in the formats that are at hand; shows itself in a notebook.

    Parameters
    ----------
    shape : Shape
        The graph's structure.
    direction : "TB" or "LR", optional
        Which way the edges run.
    """

    def __init__(self, shape: Shape, *, direction: Direction = "TB") -> None:
        self.shape = shape
        self.direction: Direction = direction

    @property
    def svg(self) -> str:
        """The picture as SVG that stands alone, on a white plate."""
        return picture(self.shape, direction=self.direction)

    @property
    def dot(self) -> graphviz.Digraph:
        """The graph for Graphviz, to change it and to render other formats."""
        return dot(self.shape, direction=self.direction)

    @property
    def mermaid(self) -> str:
        """The graph as a Mermaid flowchart."""
        return mermaid(self.shape, direction=self.direction)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the drawing to the file `path` and return it; its suffix chooses the format.

        Raises
        ------
        DrawingError
            If the suffix is none of `.svg`, `.dot` and `.mmd`, or the layout fails.
        """
        formats: dict[str, Callable[[], str]] = {
            ".svg": lambda: self.svg,
            ".dot": lambda: self.dot.source,
            ".mmd": lambda: self.mermaid,
        }
        target = Path(path)
        if target.suffix not in formats:
            raise DrawingError(
                f"Cannot save a drawing as {target.name!r}; end the name in "
                f"{', '.join(formats)}, or render another format with .dot"
            )
        target.write_text(formats[target.suffix](), encoding="utf-8")
        return target

    def __repr__(self) -> str:
        return f"<Drawing of {self.shape.name!r}>"

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        """Return the picture and the text; the text alone, with the reason, if no layout is had."""
        bundle = {"text/plain": describe(self.shape)}
        try:
            bundle["image/svg+xml"] = self.svg
        except DrawingError as error:
            bundle["text/plain"] += f"\nNo picture: {error}"
        wanted = include or bundle
        return {
            kind: data
            for kind, data in bundle.items()
            if kind in wanted and kind not in (exclude or ())
        }
