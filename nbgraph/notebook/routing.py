"""Clicks are served while a cell runs."""

from __future__ import annotations

from typing import Any

from ipywidgets import Widget

__all__ = ["serve_while_busy"]


def serve_while_busy(widget: Widget) -> bool:
    """Let the messages of a widget and its children be served beside a running cell.

    From ipykernel 7.4 on, a message goes to the shell that last published on its comm; for a
    widget that a cell made, that is the main shell, which is busy. The kernel has a private method
    that decides this, which is replaced on the widget's comm.

    Returns
    -------
    bool
        Whether this kernel has that method; where not, older ones need no help or offer none.
    """
    comm: Any = widget.comm
    found = hasattr(comm, "_reply_subshell_for")
    if found:
        comm._reply_subshell_for = _as_asked
    for child in getattr(widget, "children", ()):
        found = serve_while_busy(child) and found
    return found


def _as_asked(data: object, default: object) -> object:  # noqa: ARG001  # the kernel's signature
    return default
