"""Pictures in a cell: a graph, and what stays of a thread without a kernel."""

from __future__ import annotations

import base64
import html
import json
import os
import sys
from dataclasses import replace
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import display

from nbgraph import words
from nbgraph.adapters import adapter_of
from nbgraph.core.driver import Shape
from nbgraph.core.graph import Graph
from nbgraph.drawing import Drawing, folded, reveal, small_picture, subgraphs
from nbgraph.errors import DrawingError, GraphConfigError
from nbgraph.session import Session
from nbgraph.transcript import transcript

__all__ = ["draw", "in_kernel", "show_static", "static_bundle", "unattended"]


_LIMIT = 60_000
"""How many bytes of a file the picture and the transcript take at most."""
_COLUMNS = "margin:8px 0;font-family:monospace;white-space:pre-wrap"
_AROUND = 1_000
"""How many bytes what stands around them takes at most."""
_TEXT_LIMIT = 5_000
"""How many characters a kept transcript has at most; it is kept twice, once escaped."""


def draw(app: Any) -> Drawing:
    """Return the drawing of a graph: `.svg`, `.dot`, `.mermaid`, `.save(path)`; shown in a cell.

    Parameters
    ----------
    app : Graph, Session, or a compiled graph of LangGraph or AgentFlow
        What is drawn.

    Raises
    ------
    GraphConfigError
        If it has no shape to draw.
    """
    return Drawing(_shape(app))


def _shape(app: Any) -> Shape:
    match app:
        case Graph():
            return app.shape
        case Session():
            return app.driver.shape
        case _:
            adapter = adapter_of(app)
            if adapter is None:
                raise GraphConfigError(
                    f"draw takes a Graph, or a compiled graph of LangGraph or AgentFlow, got "
                    f"{type(app).__qualname__}"
                )
            return adapter.shape_of(app)


def static_bundle(session: Session) -> dict[str, str]:
    """Return what stays of a thread in a saved notebook, by mime type.

    The picture is one `<img>` with the drawing inside, which an untrusted notebook shows too. The
    text beside it has no times, and unattended the picture has none either: both can be compared.
    All of it is at most 60 kB: of a long text the middle is left out, of a large picture what is
    inside of sub-graphs, and of a larger one all.
    """
    text = _short(transcript(session))
    told = f'<pre style="{_COLUMNS}">{html.escape(text)}</pre>'
    room = _LIMIT - len(json.dumps([told, text], ensure_ascii=False).encode())
    try:
        shown = _image(session, room)
    except DrawingError as error:
        shown = f"<p>{html.escape(str(error))}</p>"
    return {"text/html": shown + told, "text/plain": text}


def _image(session: Session, room: int) -> str:
    """Return an element with the picture: with its sub-graphs folded if that is too large."""
    snapshot = session.snapshot
    lines = words.lines(replace(snapshot, progress={}) if unattended() else snapshot)
    shape = session.driver.shape
    alt = html.escape(f"{reveal(shape.name)}: {snapshot.status}", quote=True)
    for each in (shape, folded(shape, subgraphs(shape))):
        svg = small_picture(each, snapshot.marks, lines, taken=snapshot.taken)
        data = base64.b64encode(svg.encode()).decode()
        image = f'<img alt="{alt}" src="data:image/svg+xml;base64,{data}">'
        if len(image.encode()) <= room - _AROUND:
            return image
    return "<p>The picture is too large to be kept here.</p>"


def _short(text: str) -> str:
    """Return a text with its middle left out, if it is long."""
    if len(text) <= _TEXT_LIMIT:
        return text
    head, tail = text[: _TEXT_LIMIT // 2], text[-_TEXT_LIMIT // 2 :]
    head, tail = head[: head.rfind("\n") + 1] or head, tail[tail.find("\n") + 1 :]
    return f"{head}… {len(text) - len(head) - len(tail):,} characters left out\n{tail}"


def show_static(session: Session) -> None:
    """Show what stays of a thread: in a notebook as picture and text, elsewhere as text."""
    bundle = static_bundle(session)
    if in_kernel():
        display(bundle, raw=True)
    else:
        sys.stdout.write(bundle["text/plain"] + "\n")


def in_kernel() -> bool:
    """Return whether this process is a Jupyter kernel."""
    return getattr(get_ipython(), "kernel", None) is not None


def unattended() -> bool:
    """Return whether nobody can answer: a kernel without input, or `NBGRAPH_UNATTENDED=1`."""
    if os.environ.get("NBGRAPH_UNATTENDED") == "1":
        return True
    kernel = getattr(get_ipython(), "kernel", None)
    return kernel is not None and not getattr(kernel, "_allow_stdin", True)
