"""What nodes print and log, told apart by task; what others print goes where it went before.

A panel shows each node's prints with the node. While it listens, `sys.stdout` and `sys.stderr` are
streams that ask who prints: a task of a run that is listened to is heard, anybody else's text goes
on to the stream behind. Who prints is known from the context, so tasks that run side by side, on
the loop or in worker threads, do not mix.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, TextIO

from nbgraph.core.live import Logged

__all__ = ["Say", "heard", "listening", "listens"]

Say = Callable[[Literal["print", "log"], Any], None]
"""Takes a kind and what was printed (str) or logged (`Logged`)."""


_KEPT = 32
"""How many ears are kept alive; a process has two, unless somebody redirects its streams."""


class _Voice:
    """One task's text on its way: whole lines are said, the rest when the task ends."""

    def __init__(self, say: Say) -> None:
        self.say = say
        self._rest: dict[str, str] = {}
        self._lock = threading.Lock()

    def put(self, stream: str, text: str) -> None:
        with self._lock:
            lines, ended, rest = (self._rest.get(stream, "") + text).rpartition("\n")
            self._rest[stream] = rest.rpartition("\r")[2]
        if ended:
            self.say("print", "\n".join(line.rpartition("\r")[2] for line in lines.split("\n")))

    def close(self) -> None:
        with self._lock:
            rest, self._rest = self._rest, {}
        for text in filter(None, rest.values()):
            self.say("print", text)


_voice: ContextVar[_Voice | None] = ContextVar("nbgraph_voice", default=None)


@contextmanager
def heard(say: Say) -> Generator[None]:
    """Hear what is printed and logged in this context by the name of a task."""
    voice = _Voice(say)
    token = _voice.set(voice)
    try:
        yield
    finally:
        _voice.reset(token)
        voice.close()


def listens() -> bool:
    """Return whether somebody listens to the current run; else a task needs no name."""
    return _voice.get() is not None


@contextmanager
def listening(say: Say) -> Generator[None]:
    """Listen to what is printed and logged in this context and those copied from it.

    `say` hears what no task is known for; a task says it under its own name.
    """
    _ears.open()
    try:
        with heard(say):
            yield
    finally:
        _ears.close()


class _Ear:
    """Stands for a stream: takes what a listened-to task writes, and passes on all else."""

    def __init__(self, name: str, behind: TextIO) -> None:
        self.behind = behind
        self.stream = name

    def write(self, text: str) -> int:
        voice = _voice.get()
        if voice is None:
            return self.behind.write(text)
        voice.put(self.stream, text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.behind, name)


class _Records(logging.Handler):
    """Says the log records of listened-to tasks."""

    def emit(self, record: logging.LogRecord) -> None:
        voice = _voice.get()
        if voice is not None:
            try:
                message = record.getMessage()
            except Exception:  # noqa: BLE001 - the arguments are the user's own
                self.handleError(record)
                return
            grave = record.levelno >= logging.ERROR
            voice.say("log", Logged(record.levelname, record.name, message, grave))
            return
        last = logging.lastResort
        if last is not None and record.levelno >= last.level and self._is_alone(record):
            last.handle(record)

    def _is_alone(self, record: logging.LogRecord) -> bool:
        """Return whether without this handler a record would have none."""
        logger: logging.Logger | None = logging.getLogger(record.name)
        while logger is not None:
            if any(handler is not self for handler in logger.handlers):
                return False
            logger = logger.parent if logger.propagate else None
        return True


class _Ears:
    """In place while at least one run is listened to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._records = _Records()
        self._made: deque[_Ear] = deque(maxlen=_KEPT)

    def open(self) -> None:
        with self._lock:
            self._count += 1
            for name in ("stdout", "stderr"):
                stream = getattr(sys, name)
                if stream is not None and not isinstance(stream, _Ear):
                    setattr(sys, name, self._ear(name, stream))
            logging.getLogger().addHandler(self._records)

    def _ear(self, name: str, stream: TextIO) -> _Ear:
        """Return the ear before a stream; it is not let go with its run.

        `print` looks `sys.stdout` up once and, before Python 3.14, holds no reference to it: an ear
        that another thread takes away meanwhile must not be freed, or the process crashes.
        """
        for ear in self._made:
            if ear.behind is stream and ear.stream == name:
                return ear
        self._made.append(_Ear(name, stream))
        return self._made[-1]

    def close(self) -> None:
        with self._lock:
            self._count -= 1
            if self._count:
                return
            for name in ("stdout", "stderr"):
                stream = getattr(sys, name)
                if isinstance(stream, _Ear):
                    setattr(sys, name, stream.behind)
            logging.getLogger().removeHandler(self._records)


_ears = _Ears()
