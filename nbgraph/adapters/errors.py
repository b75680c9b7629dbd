"""An engine's errors as they are kept."""

from __future__ import annotations

import traceback
from typing import Any

from nbgraph.core.events import ErrorInfo

__all__ = ["error_of"]


def error_of(error: Any) -> ErrorInfo:
    """Return an exception, or an engine's text of one, as it is kept."""
    if isinstance(error, BaseException):
        text = "".join(traceback.format_exception(error))
        return ErrorInfo(type=type(error).__name__, message=str(error), traceback=text)
    kind, _, message = str(error).partition("(")
    return ErrorInfo(type=kind or "Error", message=message.rstrip(")").strip("'\"") or str(error))
