"""The API that nbgraph is compatible with: every name is there, with the parameters it has there.

What goes beyond it are further parameters by keyword, never others in their place.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
from itertools import repeat
from typing import Any, cast

import pytest

import nbgraph
from nbgraph import Graph, Middleware, errors
from nbgraph.core.call import CallOptions
from tests.core.graphs import chain, stop

TOP = """
    START END Graph GraphResult Node NodeContext node branch when Command Send Resume
    Interrupt interrupt subgraph StreamEvent BaseState Replace RemoveMessage add
    add_messages merge_dict replace InMemoryStateStore FilesystemStateStore tool Tool
    ToolContext call_tool model_node tool_runner build_react_agent run_agent AgentState
    ScriptedChat OpenAIChat Middleware ModelMiddlewareContext RunOutcome
"""

MODULES = {
    "nbgraph.chat": """
        SystemMessage HumanMessage AIMessage ToolMessage Message ToolCall ToolDefinition ChatRequest
        ChatResponse ChatStreamChunk Chat ScriptedChat assemble_stream
    """,
    "nbgraph.middleware": """
        Middleware GraphMiddlewareContext NodeMiddlewareContext ToolMiddlewareContext
        ModelMiddlewareContext RunOutcome Replacement InterruptRule should_interrupt gt ge lt le eq
        matches all_fields any_field ToolInterrupt ToolDecision ToolInterruptMiddleware
        ToolLimitMiddleware
    """,
    "nbgraph.state": "History BranchRecord StateStore StateSchema StateSnapshot Reducer",
    "nbgraph.exceptions": """
        GraphConfigError GraphExecutionError NodeTimeoutError GraphTimeoutError ResumeError
        RunLimitExceededError RunInterruptedError ContextNotProvidedError StateUpdateError
        InvalidUpdateError StateStoreError UnknownThreadError ModelProviderError ChatHistoryError
        StructuredOutputError IntegrationNotInstalledError ToolExecutionError
        ToolGroupExecutionError ToolDeniedError
    """,
    "nbgraph.core.spec": "GraphSpec GraphNodeSpec EdgeSpec BranchSpec",
}

NOTHING = object()

SIGNATURES = {
    "node": "function=None, /, *, name=None, ref=None, timeout=None, goto=None",
    "branch": "router, mapping, *, ref=None",
    "when": "predicate, target, *, otherwise",
    "Command": "update=None, goto=None",
    "Send": "node, payload=None",
    "Resume": "value=NOTHING, *, answers=None",
    "interrupt": "payload, *, id",
    "subgraph": "name, graph, *, state_in, state_out, share, child_thread",
    "Graph": (
        'state_schema, *, name="graph", max_steps=25, timeout=None, state_store=None, '
        "middleware=None"
    ),
    "Graph.flow": "self, *items",
    "Graph.ainvoke": (
        'self, initial_state=None, *, thread_id=None, branch_id="main", resume=None, '
        "state_store=None, context=NOTHING"
    ),
    "Graph.invoke": (
        'self, initial_state=None, *, thread_id=None, branch_id="main", resume=None, '
        "state_store=None, context=NOTHING"
    ),
    "Graph.astream": (
        'self, initial_state=None, *, thread_id=None, branch_id="main", resume=None, '
        "state_store=None, context=NOTHING, stream_mode"
    ),
    "Graph.stream": (
        'self, initial_state=None, *, thread_id=None, branch_id="main", resume=None, '
        "state_store=None, context=NOTHING, stream_mode"
    ),
    "Graph.exists": "self, thread_id, *, state_store=None",
    "Graph.history": 'self, thread_id, *, branch_id="main", state_store=None',
    "Graph.branches": "self, thread_id, *, state_store=None",
    "Graph.load": 'self, thread_id, *, at=None, branch_id="main", state_store=None',
    "Graph.get_state": 'self, thread_id, *, at=None, branch_id="main", state_store=None',
    "Graph.update_state": (
        'self, thread_id, values, *, create=False, branch_id="main", state_store=None'
    ),
    "Graph.fork": 'self, thread_id, *, from_, name=None, branch_id="main", state_store=None',
    "Graph.to_mermaid": "self",
    "Graph.to_spec": "self",
    "Graph.to_json": "self",
    "NodeContext.emit": "self, data",
    "Middleware.before_graph": "self, ctx",
    "Middleware.after_graph": "self, ctx",
    "Middleware.on_run_end": "self, ctx, outcome",
    "Middleware.before_node": "self, ctx",
    "Middleware.after_node": "self, ctx",
    "Middleware.on_error": "self, ctx, error",
    "Middleware.on_interrupt": "self, ctx, payload",
    "Middleware.before_model": "self, ctx",
    "Middleware.after_model": "self, ctx",
    "Middleware.before_tool": "self, ctx",
    "Middleware.after_tool": "self, ctx",
    "Middleware.on_tool_error": "self, ctx, error",
    "Middleware.tools": "self",
    "InMemoryStateStore": "",
    "FilesystemStateStore": "path",
    "Replace": "value",
    "RemoveMessage": "*, id",
    "add": "current, update",
    "add_messages": "current, update",
    "merge_dict": "current, update",
    "replace": "current, update",
    "tool": "function=None, /, *, name=None, description=None, input_model=None",
    "call_tool": "tool, arguments, ctx=None",
    "model_node": (
        "name, *, chat, system_prompt, tools, tool_choice, stream, repair_history, "
        "output_schema, on_invalid, messages_field, tool_calls_field, final_text_field, "
        "final_output_field"
    ),
    "tool_runner": "name, *, tools, tool_errors, messages_field, tool_calls_field",
    "build_react_agent": (
        'chat, *, tools, name="agent", system_prompt, middleware, tool_errors, stream, '
        "output_schema, max_steps=25, max_tool_calls=50, state_store"
    ),
    "run_agent": "graph, message, **options",
    "ScriptedChat": "responses, *, default=None",
    "middleware.InterruptRule": "tool, match=None",
    "middleware.should_interrupt": "rules, tool, raw_input=None",
    "middleware.ToolInterruptMiddleware": "*, rules",
    "middleware.ToolLimitMiddleware": "*, max_calls=50, per_tool=None",
    "middleware.gt": "field, value",
    "middleware.matches": "field, regex",
    "errors.NodeTimeoutError": "node_name, timeout",
    "errors.GraphTimeoutError": "graph_name, timeout",
    "errors.RunLimitExceededError": "limit_name, limit_value",
    "errors.RunInterruptedError": "thread_id, interrupts",
    "errors.UnknownThreadError": "thread_id, branch_id",
    "errors.ToolDeniedError": "tool_name, reason",
    "errors.ToolGroupExecutionError": "errors",
    "errors.StructuredOutputError": "schema_name, message, raw_content",
}
"""As they are there. A parameter without a default here may have one; a positional one stays."""

OWN_NAMES = {"matches": {"regex": "pattern"}, "fork": {}}
"""Positional parameters that are called otherwise here."""

ATTRIBUTES = {
    "GraphResult": "state step data thread_id checkpoint_id status interrupts",
    "Node": "name handler ref accepts_context context_is_keyword context_parameter_name timeout"
    " goto metadata",
    "NodeContext": "graph_name node run_id root_run_id thread_id branch_id step task_id middleware"
    " state_store state_schema stream_modes cache resume_values context emit",
    "Interrupt": "key id node task_id payload",
    "StreamEvent": "mode data node run_id checkpoint_id step task_id",
    "RunOutcome": "status interrupts error",
    "ToolContext": "graph_name node state thread_id run_id emit middleware tool_call_id root_run_id"
    " task_id context",
    "middleware.GraphMiddlewareContext": "graph_name state run_id thread_id branch_id root_run_id"
    " resuming",
    "middleware.NodeMiddlewareContext": "graph_name node_name state stored_state run_id thread_id"
    " step task_id root_run_id superstep_size scratch state_schema replace",
    "middleware.ToolMiddlewareContext": "graph_name node_name tool_name value state run_id"
    " thread_id tool_call_id root_run_id task_id replace",
    "ModelMiddlewareContext": "graph_name node_name run_id thread_id step task_id root_run_id model"
    " request response",
    "middleware.Replacement": "value",
    "middleware.ToolInterrupt": "kind tool_name tool_call_id arguments",
    "middleware.ToolDecision": "action arguments message",
    "state.BranchRecord": "id thread_id parent_branch_id from_event_id created_at",
    "state.StateSnapshot": "value sequence",
    "state.History": "thread_id branch_id events",
    "core.spec.GraphSpec": "version name state_ref start nodes edges branches",
    "core.spec.GraphNodeSpec": "name ref kind goto",
    "core.spec.EdgeSpec": "source target",
    "core.spec.BranchSpec": "source router_ref mapping",
    "Graph": "nodes edges branch_edges start_node",
    "Tool": "input_schema output_schema",
    "chat.AIMessage": "tool_calls refusal finish_reason usage",
    "chat.ToolMessage": "name tool_call_id arguments",
    "chat.ToolCall": "id name arguments arguments_error",
    "chat.ToolDefinition": "name description input_schema",
    "chat.ChatRequest": "messages tools tool_choice output_schema",
    "chat.ChatResponse": "content refusal tool_calls finish_reason usage model raw",
    "chat.ChatStreamChunk": "content_delta refusal_delta tool_call_delta finish_reason usage model"
    " raw",
    "core.streaming.FinalEventData": "state thread_id",
    "core.streaming.InterruptEventData": "state thread_id interrupts",
}

TREE = {
    "NodeTimeoutError": "GraphExecutionError",
    "GraphTimeoutError": "GraphExecutionError",
    "ResumeError": "GraphExecutionError",
    "InvalidUpdateError": "StateUpdateError",
    "UnknownThreadError": "StateStoreError",
    "ChatHistoryError": "ModelProviderError",
}


def found(path: str) -> Any:
    """Return what a name stands for: at the top, or in a module of the package."""
    parts = path.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            owner = importlib.import_module(f"nbgraph.{'.'.join(parts[:cut])}")
        except ModuleNotFoundError:
            continue
        break
    else:
        owner, cut = nbgraph, 0
    for part in parts[cut:]:
        owner = getattr(owner, part)
    return owner


@pytest.mark.parametrize("name", TOP.split())
def test_a_name_is_found_at_the_top(name: str) -> None:
    assert name in nbgraph.__all__
    assert getattr(nbgraph, name) is not None


@pytest.mark.parametrize(
    ("module", "name"),
    [(module, name) for module, text in MODULES.items() for name in text.split()],
)
def test_a_name_is_found_in_its_module(module: str, name: str) -> None:
    assert hasattr(importlib.import_module(module), name)


def declared(text: str) -> list[inspect.Parameter]:
    """Return the parameters that stand in a text as in a `def`."""
    names = cast("ast.Lambda", ast.parse(f"lambda {text}: 0", mode="eval").body).args
    found = [
        *zip(names.posonlyargs, repeat(inspect.Parameter.POSITIONAL_ONLY)),
        *zip(names.args, repeat(inspect.Parameter.POSITIONAL_OR_KEYWORD)),
        *zip(filter(None, [names.vararg]), repeat(inspect.Parameter.VAR_POSITIONAL)),
        *zip(names.kwonlyargs, repeat(inspect.Parameter.KEYWORD_ONLY)),
        *zip(filter(None, [names.kwarg]), repeat(inspect.Parameter.VAR_KEYWORD)),
    ]
    positional = [*names.posonlyargs, *names.args]
    last = positional[len(positional) - len(names.defaults) :]
    values = dict(zip(last, names.defaults, strict=True))
    values |= dict(zip(names.kwonlyargs, names.kw_defaults, strict=True))
    return [
        inspect.Parameter(each.arg, kind, default=_default(values.get(each)))
        for each, kind in found
    ]


def _default(value: ast.expr | None) -> Any:
    if value is None:
        return inspect.Parameter.empty
    return NOTHING if isinstance(value, ast.Name) else ast.literal_eval(value)


@pytest.mark.parametrize("path", SIGNATURES)
def test_a_call_takes_what_it_takes_there_in_that_order(path: str) -> None:
    there = declared(SIGNATURES[path])
    signature = inspect.signature(found(path))
    here = signature.parameters
    open_ended = any(each.kind is each.VAR_KEYWORD for each in here.values())
    renamed = OWN_NAMES.get(path.rpartition(".")[2], {})
    ordered = [each for each in here.values() if each.kind is not each.KEYWORD_ONLY]
    for at, wanted in enumerate(there):
        name = renamed.get(wanted.name, wanted.name)
        if wanted.kind is wanted.VAR_KEYWORD:
            assert open_ended
        elif wanted.kind is wanted.KEYWORD_ONLY:
            assert (name in here and here[name].kind is not wanted.POSITIONAL_ONLY) or open_ended
        else:
            assert ordered[at].name == name
            assert ordered[at].kind is wanted.kind or wanted.kind is wanted.VAR_POSITIONAL
        if name in here and wanted.default is not wanted.empty:
            assert here[name].default is not wanted.empty
            if wanted.default not in (None, NOTHING):
                assert here[name].default == wanted.default
    known = {renamed.get(each.name, each.name) for each in there}
    needed = [
        each.name
        for each in here.values()
        if each.name not in known
        and each.default is each.empty
        and each.kind in (each.POSITIONAL_OR_KEYWORD, each.POSITIONAL_ONLY, each.KEYWORD_ONLY)
    ]
    assert needed == []


@pytest.mark.parametrize("name", ["invoke", "stream", "astream"])
def test_calls_with_open_options_take_those_of_ainvoke_and_no_other(name: str) -> None:
    options = inspect.signature(Graph.ainvoke).parameters.keys() - {"self", "initial_state"}
    assert CallOptions.__annotations__.keys() == options
    called = getattr(chain(stop("a")), name)
    with pytest.raises(TypeError, match="thraed_id"):
        called({}, thraed_id="t")


@pytest.mark.parametrize("path", ATTRIBUTES)
def test_a_record_has_the_attributes_it_has_there(path: str) -> None:
    kind = found(path)
    known = {*dir(kind), *getattr(kind, "model_fields", {}), *getattr(kind, "__annotations__", {})}
    if dataclasses.is_dataclass(kind):
        known |= {each.name for each in dataclasses.fields(kind)}
    assert [name for name in ATTRIBUTES[path].split() if name not in known] == []


@pytest.mark.parametrize(("kind", "parent"), TREE.items())
def test_an_error_stands_where_it_stands_there(kind: str, parent: str) -> None:
    assert issubclass(getattr(errors, kind), getattr(errors, parent))
    assert issubclass(getattr(errors, kind), errors.NbgraphError)


def test_there_are_the_twelve_hooks() -> None:
    hooks = [name for name in vars(Middleware) if name.startswith(("before_", "after_", "on_"))]
    assert len(hooks) == 12


def test_every_thread_method_is_async_and_has_a_sync_twin() -> None:
    names = ("exists", "history", "branches", "load", "get_state", "update_state", "fork")
    graph = Graph(dict)
    for name in names:
        assert inspect.iscoroutinefunction(getattr(graph, name))
        assert callable(getattr(graph.sync, name))
