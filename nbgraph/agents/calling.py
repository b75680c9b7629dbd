"""One call of a tool: its arguments checked, middleware around it, its result checked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from nbgraph.agents.contexts import ToolMiddlewareContext
from nbgraph.agents.responding import Responded
from nbgraph.agents.tool_context import ToolContext
from nbgraph.agents.tools import Tool
from nbgraph.core.answers import to_json
from nbgraph.core.asking import Frame, bound, running
from nbgraph.core.context import NodeContext
from nbgraph.core.decisions import arguments_digest, escaped
from nbgraph.core.effects import Effect
from nbgraph.core.json_values import Json, NotJsonError
from nbgraph.core.middleware import hooks_of, passed_on, settled
from nbgraph.core.workers import call_in_worker
from nbgraph.errors import GraphConfigError, ToolExecutionError

__all__ = ["Called", "ToolCallResult", "call_tool", "called_from"]


_SKIPPED = "The tool began, and a person skipped it: whether it has had its effect is not known."


@dataclass(frozen=True, slots=True)
class ToolCallResult:
    """What a tool returned, and the arguments it ran with, as JSON."""

    value: Any
    arguments: dict[str, Json]


async def call_tool(
    tool: Tool,
    arguments: Mapping[str, Any],
    ctx: NodeContext | ToolContext | None = None,
    *,
    tool_call_id: str | None = None,
    state: Any = None,
) -> ToolCallResult:
    """Call a tool outside of an agent's own node, with its arguments checked.

    Parameters
    ----------
    tool : Tool
        What is called.
    arguments : dict
        By name.
    ctx : NodeContext or ToolContext, optional
        Of the node or the tool that calls. With it the graph's middleware is around the call, and
        approvals are asked for; without it there is none.
    tool_call_id : str, optional
        Tells the call from others of the task; by default its number among those of the tool.
    state : Any, optional
        What the tool and middleware find as `ctx.state`.

    Returns
    -------
    ToolCallResult
        What the tool returned; or, where a person answered in its place, what they said.

    Raises
    ------
    ToolExecutionError
        If the arguments or the result do not fit.
    ToolDeniedError
        If the call may not run.
    TypeError
        If `ctx` is no context.
    Exception
        What the tool raises.
    """
    if ctx is not None and not isinstance(ctx, NodeContext | ToolContext):  # pyright: ignore[reportUnnecessaryIsInstance] - user's
        raise TypeError(f"ctx is the context of a node or a tool, got {ctx!r}")
    call = Called(tool, called_from(tool, ctx, tool_call_id, state), ctx)
    try:
        return await call.run(arguments)
    except Responded as answer:
        return ToolCallResult(answer.text, _as_json(tool, arguments))


def called_from(
    tool: Tool, ctx: NodeContext | ToolContext | None, tool_call_id: str | None, state: Any
) -> ToolMiddlewareContext:
    """Return where a call is made from, as tool hooks are told."""
    frame = running()
    if tool_call_id is None and frame is not None:
        tool_call_id = _numbered(frame, tool.name)
    return ToolMiddlewareContext(
        graph_name=ctx.graph_name if ctx else "",
        node_name=ctx.node if ctx else "",
        tool_name=tool.name,
        value=None,
        state=state if not isinstance(ctx, ToolContext) else ctx.state,
        run_id=ctx.run_id if ctx else "",
        thread_id=ctx.thread_id if ctx else "",
        tool_call_id=tool_call_id,
        root_run_id=ctx.root_run_id if ctx else "",
        task_id=ctx.task_id if ctx else "",
        tool=tool,
    )


def _numbered(frame: Frame, name: str) -> str:
    """Return an id for the next call of a tool in this run of a task; the same in every run."""
    number = 0
    while f"call {name}-{number}" in frame.used:
        number += 1
    frame.used.add(f"call {name}-{number}")
    return f"{name}-{number}"


def _idempotency_key(ctx: NodeContext | ToolContext, tool_call_id: str | None) -> str:
    parts = [ctx.idempotency_key, tool_call_id or ""]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _as_json(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Json]:
    try:
        return to_json(dict(arguments), where=f"arguments of tool {tool.name!r}")
    except NotJsonError as error:
        raise ToolExecutionError(tool.name, None, str(error), error.problems) from error


@dataclass(frozen=True, slots=True)
class Called:
    """One call: the tool, where it is called, and the context of who calls."""

    tool: Tool
    where: ToolMiddlewareContext
    ctx: NodeContext | ToolContext | None

    async def run(self, arguments: Mapping[str, Any]) -> ToolCallResult:
        """Call the tool, and return what it returned and what it ran with.

        Raises
        ------
        Responded
            If a person answers in its place.
        Exception
            As `call_tool` says.
        """
        given = _as_json(self.tool, arguments)
        self.tool.read(given)
        taken = await self._before(given)
        if self.where.approved and not self.tool.idempotent and isinstance(self.ctx, NodeContext):
            return ToolCallResult(await self._at_most_once(taken, self.ctx), taken)
        return ToolCallResult(await self._after(await self._observed(taken)), taken)

    async def _at_most_once(self, taken: dict[str, Json], ctx: NodeContext) -> Any:
        """Return the result of an approved call, which does not run again if its end is unknown."""
        digest = arguments_digest(self.tool.name, taken)
        call_id = self.where.tool_call_id or ""

        async def run() -> Json:
            return self.tool.dumped(await self._after(await self._observed(taken)))

        kept = await ctx.once(
            f"{self.tool.name}_{escaped(call_id)}_{digest}",
            run,
            effect=Effect(
                returns=self.tool.signature.returns,
                payload={
                    "tool_name": self.tool.name,
                    "tool_call_id": call_id,
                    "arguments": taken,
                },
                message=f"{self.tool.name} began, and no result was recorded. Run it again, skip "
                "it, or set its result?",
                tool_call_id=call_id,
            ),
        )
        try:
            return self.tool.loaded(kept)
        except ToolExecutionError:
            if kept is None:
                raise Responded(_SKIPPED) from None
            raise

    @property
    def _middleware(self) -> tuple[Any, ...]:
        return self.ctx.middleware if self.ctx is not None else ()

    async def _before(self, given: dict[str, Json]) -> dict[str, Json]:
        """Return the arguments the tool runs with: what was approved, if anything was."""
        taken = await passed_on(
            hooks_of(self._middleware, "before_tool"),
            given,
            seen=lambda value: replace(self.where, value=value),
            read=lambda value: _as_json(self.tool, value),
        )
        approved = self.where.approved.get("arguments", taken)
        if approved != taken:
            raise GraphConfigError(
                f"A before_tool hook changed the arguments of {self.tool.name!r} after a person "
                "approved them; list ToolInterruptMiddleware after the middleware that changes them"
            )
        return taken

    async def _observed(self, taken: dict[str, Json]) -> Any:
        arguments = self.tool.read(taken)
        try:
            return self.tool.checked(await self._called(arguments))
        except Exception as error:
            await self._tell(replace(self.where, value=taken), error)
            raise

    async def _tell(self, seen: ToolMiddlewareContext, error: Exception) -> None:
        """Let middleware look at an error; what a hook does itself becomes a note on it."""
        for hook in hooks_of(self._middleware, "on_tool_error"):
            try:
                returned = await settled(hook(seen, error))
            except Exception as problem:  # noqa: BLE001 - the tool's own error is the one that counts
                error.add_note(f"on_tool_error raised {type(problem).__name__}: {problem}")
            else:
                if returned is not None:
                    error.add_note(f"on_tool_error returned {returned!r}; it only looks")

    async def _called(self, arguments: dict[str, Any]) -> Any:
        context = self.tool.signature.context
        if context is not None:
            arguments = {**arguments, context: self._tool_context()}
        frame = self._frame()
        with nullcontext() if frame is None else bound(frame):
            if self.tool.is_async:
                return await self.tool.function(**arguments)
            return await call_in_worker(lambda: self.tool.function(**arguments))

    def _frame(self) -> Frame | None:
        frame, call_id = running(), self.where.tool_call_id
        if frame is None or call_id is None:
            return frame
        return frame.of_call(escaped(call_id), call_id)

    def _tool_context(self) -> ToolContext:
        ctx, where = self.ctx, self.where
        if ctx is None:
            raise GraphConfigError(
                f"Tool {self.tool.name!r} takes a ToolContext; pass ctx= of the node that calls it"
            )
        return ToolContext(
            graph_name=where.graph_name,
            node=where.node_name,
            thread_id=where.thread_id,
            run_id=where.run_id,
            root_run_id=where.root_run_id,
            task_id=where.task_id,
            state=where.state,
            emit=ctx.emit,
            tool_call_id=where.tool_call_id,
            branch_id=ctx.branch_id,
            middleware=ctx.middleware,
            given=ctx.given,
            idempotency_key=_idempotency_key(ctx, where.tool_call_id),
        )

    async def _after(self, value: Any) -> Any:
        return await passed_on(
            hooks_of(self._middleware, "after_tool"),
            value,
            seen=lambda shown: replace(self.where, value=shown),
            read=self.tool.checked,
        )
