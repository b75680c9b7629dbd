"""Tracebacks as a user reads them: from their own first line on."""

from __future__ import annotations

import concurrent.futures
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import TypeVar

__all__ = ["from_users_line", "result_of_future"]

T = TypeVar("T")
_OURS = tuple(
    f"{folder}{os.sep}"
    for folder in (Path(__file__).parents[1], Path(concurrent.futures.__file__).parent)
)


def from_users_line(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback from the user's first line on, or whole if there is none of theirs."""
    own, between = trace, (*_OURS, *_of_retries())
    while own is not None and own.tb_frame.f_code.co_filename.startswith(between):
        own = own.tb_next
    return own or trace


def _of_retries() -> Iterator[str]:
    """Yield the folder of what tries again, once that was needed."""
    file = getattr(sys.modules.get("tenacity"), "__file__", None)
    if file is not None:
        yield f"{Path(file).parent}{os.sep}"


def result_of_future(future: Future[T], timeout: float | None = None) -> T:
    """Return a future's result, or raise what it holds with the user's own part of its traceback.

    Raises
    ------
    TimeoutError
        There is none within `timeout` seconds.
    BaseException
        What the future holds.
    """
    error = future.exception(timeout)
    if error is None:
        return future.result()
    try:
        raise error.with_traceback(from_users_line(error.__traceback__))
    finally:
        del error  # its traceback holds this frame
