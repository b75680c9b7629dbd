"""What LangGraph says while it runs, as it says it.

A run is heard as the engine hears its sub-graphs: what it says is handed over where it is said, by
the thread that says it. Its public stream would hand every step to another thread to wait for it,
which costs a short step half as much again.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# What the engine says has no types.

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from langchain_core.callbacks import BaseCallbackHandler
from langgraph.config import get_config
from langgraph.errors import GraphInterrupt
from langgraph.runtime import Runtime
from langgraph.types import Command

from nbgraph.adapters.langgraph_thread import EngineThread
from nbgraph.adapters.pump import pumped
from nbgraph.core.workers import call_in_worker

try:
    from langgraph._internal import _constants as engine_keys
    from langgraph.pregel.protocol import StreamProtocol
except ImportError:  # pragma: no cover - a LangGraph that has moved them
    engine_keys = StreamProtocol = None

__all__ = ["Part", "Stream"]

_MODES = ("tasks", "checkpoints")
_STREAM, _RUNTIME = (
    getattr(engine_keys, f"CONFIG_KEY_{name}", "") for name in ("STREAM", "RUNTIME")
)
_NO_STREAM = "nostream"
"""A model's tag that says not to show its tokens."""


class Part(NamedTuple):
    """Something the engine said: where (`("refund:<task>",)`), of which kind, what, and when."""

    inside: tuple[str, ...]
    kind: str
    data: Any
    at: float


@dataclass(slots=True)
class Stream:
    """A run from a checkpoint on.

    Parameters
    ----------
    thread : EngineThread
        Whose run it is.
    app : CompiledStateGraph or Pregel
        The graph to run: the thread's, or a copy of it with other breakpoints.
    """

    thread: EngineThread
    app: Any
    _put: Callable[[Part], None] = field(default=lambda _: None)
    _stopping: bool = False

    def stop(self) -> None:
        """Have the run pause when a superstep is finished: LangGraph does not stop one."""
        self._stopping = True

    async def parts(
        self, given: Any, place: str | None, *, metadata: Mapping[str, Any], **options: Any
    ) -> AsyncGenerator[list[Part], None]:
        """Run with an input, a `Command` or None, and yield what the engine says."""
        head = await self.thread.head()
        config = self.thread.config(
            None if place == head else place, metadata=dict(metadata), callbacks=[_Tokens(self)]
        )
        if isinstance(given, Command) and given.resume is not None:
            config["configurable"]["__pregel_strict_resume"] = True
        options = {
            **options,
            **self._heard(config["configurable"]),
            "durability": self.thread.durability,
        }

        async def run(put: Callable[[Part], None]) -> None:
            self._put = put
            await self._run(given, config, options)

        try:
            async for parts in pumped(run):
                yield parts
        finally:
            self.stop()  # nobody hears it any more

    def _heard(self, address: dict[str, Any]) -> dict[str, Any]:
        """Have the engine hand over what it says; return how it is to be streamed."""
        if StreamProtocol is None or not (_STREAM and _RUNTIME):
            return {"stream_mode": [*_MODES, "custom"], "subgraphs": True}
        address[_STREAM] = StreamProtocol(lambda chunk: self._said(*chunk), {*_MODES})
        address[_RUNTIME] = Runtime(store=self.app.store, stream_writer=self._written)
        return {"stream_mode": []}

    async def _run(self, given: Any, config: dict[str, Any], options: dict[str, Any]) -> None:
        if self.thread.is_async:
            async for chunk in self.app.astream(given, config, **options):
                self._said(*_chunk(chunk))
            return
        await call_in_worker(lambda: self._run_here(given, config, options))

    def _run_here(self, given: Any, config: dict[str, Any], options: dict[str, Any]) -> None:
        for chunk in self.app.stream(given, config, **options):
            self._said(*_chunk(chunk))

    def _said(self, inside: tuple[str, ...], kind: str, data: Any) -> None:
        self._put(Part(inside, kind, data, time.time()))
        if self._stopping and kind == "checkpoints" and data["metadata"]["source"] == "loop":
            raise GraphInterrupt  # as the engine does at a breakpoint

    def _written(self, data: Any) -> None:
        """Take up what a node wrote to the stream."""
        self.say("custom", _speaker(), data)

    def say(self, kind: str, speaker: tuple[str, ...], data: Any) -> None:
        """Take up what a task said: `speaker` leads to the task, by names and ids."""
        said = (speaker[-1] if speaker else "", data)
        self._put(Part(speaker[:-1], kind, said, time.time()))


def _chunk(chunk: Any) -> tuple[tuple[str, ...], str, Any]:
    inside, kind, data = chunk
    return inside, kind, ("", data) if kind == "custom" else data


def _speaker() -> tuple[str, ...]:
    try:
        return tuple(get_config().get("configurable", {})["checkpoint_ns"].split("|"))
    except (RuntimeError, KeyError):  # a thread that a node has started
        return ()


class _Tokens(BaseCallbackHandler):
    """Hears the tokens of chat models that stream, and has none stream that would not."""

    run_inline = True
    ignore_chain = True  # pyright: ignore[reportIncompatibleMethodOverride, reportAssignmentType] - a property
    ignore_agent = True  # pyright: ignore[reportIncompatibleMethodOverride, reportAssignmentType]
    ignore_retriever = True  # pyright: ignore[reportIncompatibleMethodOverride, reportAssignmentType]
    ignore_retry = True  # pyright: ignore[reportIncompatibleMethodOverride, reportAssignmentType]
    ignore_custom_event = True  # pyright: ignore[reportIncompatibleMethodOverride, reportAssignmentType]

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._speakers: dict[Any, tuple[str, ...]] = {}

    def on_chat_model_start(self, *_: Any, **said: Any) -> None:
        """Take up which task a model answers."""
        known: Mapping[str, Any] = said.get("metadata") or {}
        if "langgraph_checkpoint_ns" in known and _NO_STREAM not in (said.get("tags") or ()):
            speaker = tuple(str(known["langgraph_checkpoint_ns"]).split("|"))
            self._speakers[said["run_id"]] = speaker

    def on_llm_new_token(self, token: Any, **said: Any) -> None:
        """Take up a piece of its answer."""
        speaker = self._speakers.get(said.get("run_id"))
        if speaker is not None:
            self._stream.say("token", speaker, token)

    def on_llm_end(self, *_: Any, **said: Any) -> None:
        """Take up that its answer is whole."""
        self._speakers.pop(said.get("run_id"), None)

    def on_llm_error(self, *_: Any, **said: Any) -> None:
        """Take up that it has no answer."""
        self._speakers.pop(said.get("run_id"), None)
