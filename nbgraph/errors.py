"""Every error nbgraph raises.

NbgraphError
├── GraphConfigError               a graph, node or call is declared wrongly
├── GraphExecutionError            a run could not go on
│   ├── NodeTimeoutError           a node took longer than its timeout
│   ├── GraphTimeoutError          a run's supersteps took longer than the graph's timeout
│   ├── NodeFailedError            a node failed in a process that is gone
│   ├── NoAnswerError              a question was dismissed or expired, and has no default
│   ├── WorkerLostError            what should have run a task failed, or never said how it went
│   └── ResumeError                a request does not fit where the thread stands
│       ├── AnswerError            an answer does not fit its response schema
│       ├── AlreadyAnsweredError   somebody answered this question first
│       ├── QuestionExpiredError   the time of the question is over
│       ├── StaleAnswerError       the answer belongs to a question that is no longer asked
│       └── RedefinedGraphError    the graph lacks what the thread needs (also a StateStoreError)
├── RunLimitExceededError          a limit on supersteps was reached
├── ContextNotProvidedError        a node asked for a context the run was not given
├── StateUpdateError               a value does not fit the state schema
│   └── InvalidUpdateError         two tasks wrote one field that has no merging reducer
├── StateStoreError                a state store cannot be used
│   ├── UnknownThreadError         a thread or branch is not in the store
│   ├── StoreBusyError             another process held the store for too long
│   ├── ConcurrentRunError         somebody else wrote to the thread in between
│   │   └── ClaimLostError         somebody else took the thread over in between
│   ├── ThreadClaimedError         somebody else holds the thread for a while
│   └── DamagedStoreError          what is stored cannot be read
├── RunInterruptedError            an agent paused and was called for its answer
├── ModelProviderError             a chat model could not be asked, or answered nonsense
│   ├── ModelTimeoutError          it took too long
│   └── ChatHistoryError           a conversation has tool calls and results that do not match
├── StructuredOutputError          a chat model's answer does not fit its output schema
├── ToolExecutionError             a tool could not be called, or returned what it does not declare
├── ToolGroupExecutionError        several tool calls of one turn failed
├── ToolDeniedError                a tool call may not run
├── DrawingError                   a drawing could not be laid out
├── UnsupportedByEngineError       the engine behind a session cannot do this
└── IntegrationNotInstalledError   an optional package is missing (also an ImportError)

A pause is no error: `nbgraph.core.asking.GraphInterrupt` is a `BaseException`.
Constructor arguments stay as attributes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "AlreadyAnsweredError",
    "AnswerError",
    "ChatHistoryError",
    "ClaimLostError",
    "ConcurrentRunError",
    "ContextNotProvidedError",
    "DamagedStoreError",
    "DrawingError",
    "GraphConfigError",
    "GraphExecutionError",
    "GraphTimeoutError",
    "IntegrationNotInstalledError",
    "InvalidUpdateError",
    "ModelProviderError",
    "ModelTimeoutError",
    "NbgraphError",
    "NoAnswerError",
    "NodeFailedError",
    "NodeTimeoutError",
    "QuestionExpiredError",
    "RedefinedGraphError",
    "ResumeError",
    "RunInterruptedError",
    "RunLimitExceededError",
    "StaleAnswerError",
    "StateStoreError",
    "StateUpdateError",
    "StoreBusyError",
    "StructuredOutputError",
    "ThreadClaimedError",
    "ToolDeniedError",
    "ToolExecutionError",
    "ToolGroupExecutionError",
    "UnknownThreadError",
    "UnsupportedByEngineError",
    "WorkerLostError",
]


class NbgraphError(Exception):
    """What all nbgraph errors are. Copies keep message and attributes, in any process."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).__new__, (type(self), *self.args), vars(self)


class GraphConfigError(NbgraphError):
    """A graph, a node or a call is declared wrongly."""


class GraphExecutionError(NbgraphError):
    """A run could not go on."""


class NodeTimeoutError(GraphExecutionError):
    """Node `node_name` took longer than `timeout` seconds, or said nothing for so long (`idle`)."""

    def __init__(self, node_name: str, timeout: float, *, idle: bool = False) -> None:
        self.node_name, self.timeout, self.idle = node_name, timeout, idle
        took = "said nothing for longer than its idle" if idle else "took longer than its"
        super().__init__(f"Node {node_name!r} {took} timeout of {timeout:g} s")


class GraphTimeoutError(GraphExecutionError):
    """The supersteps of a run of `graph_name` took longer than its `timeout`, in seconds."""

    def __init__(self, graph_name: str, timeout: float) -> None:
        self.graph_name, self.timeout = graph_name, timeout
        super().__init__(f"Graph {graph_name!r} took longer than its timeout of {timeout:g} s")


class NodeFailedError(GraphExecutionError):
    """Node `node_name` raised an `error_type` that said `message`, in a process that is gone."""

    def __init__(self, node_name: str, error_type: str, message: str) -> None:
        self.node_name, self.error_type, self.message = node_name, error_type, message
        super().__init__(f"Node {node_name!r} failed with {error_type}: {message}")


class NoAnswerError(GraphExecutionError):
    """Raised where a node asked: its question was dismissed or expired, and has no default.

    The node may catch it. Where it does not, its task fails, and asks again when it is continued.
    `key` is the question's; `how` is `"dismissed"` or `"expired"`.
    """

    def __init__(self, key: str, how: str) -> None:
        self.key, self.how = key, how
        super().__init__(
            f"Question {key!r} ends without an answer ({how}); catch NoAnswerError in the node, or "
            "give interrupt() a default="
        )


class WorkerLostError(GraphExecutionError):
    """The `executor` failed, or never said how `node_name` went (`reason`); it can be continued."""

    def __init__(self, node_name: str, executor: str, reason: str) -> None:
        self.node_name, self.executor, self.reason = node_name, executor, reason
        super().__init__(f"Node {node_name!r} was lost by executor {executor!r}: {reason}")


class ResumeError(GraphExecutionError):
    """A request does not fit where the thread stands; the thread is unchanged."""


class AnswerError(ResumeError):
    """The answer to `key` does not fit its schema; `problems` are by JSON Pointer into it."""

    def __init__(self, key: str, problems: Mapping[str, str]) -> None:
        self.key, self.problems = key, dict(problems)
        paths = (path if path.isprintable() else repr(path) for path in problems)
        pairs = zip(paths, problems.values(), strict=True)
        listed = "; ".join(f"{path or 'answer'}: {text}" for path, text in pairs)
        super().__init__(f"The answer to {key!r} does not fit: {listed}")


class AlreadyAnsweredError(ResumeError):
    """The answer to `key` `by` somebody else was recorded first, `at` a time in epoch seconds."""

    def __init__(self, key: str, by: str | None, at: float) -> None:
        self.key, self.by, self.at = key, by, at
        who = f"{by!r} answered" if by else "somebody answered"
        super().__init__(f"{who} {key!r} first; this answer was not recorded")


class QuestionExpiredError(ResumeError):
    """The time of question `key` was over `at`, in epoch seconds; its default counts, if any."""

    def __init__(self, key: str, at: float) -> None:
        self.key, self.at = key, at
        super().__init__(
            f"The time for {key!r} is over, so this answer comes too late; continue the thread "
            "without one"
        )


class StaleAnswerError(ResumeError):
    """The answer to `key` is for event `asked`, and event `pending` asks now, or none does."""

    def __init__(self, key: str, asked: int, pending: int | None) -> None:
        self.key, self.asked, self.pending = key, asked, pending
        now = "it is not pending" if pending is None else f"it is pending since event {pending}"
        super().__init__(
            f"The answer to {key!r} belongs to the question of event {asked}, and {now}; "
            "look at what is pending and answer that"
        )


class RunLimitExceededError(NbgraphError):
    """A run reached its limit `limit_name`, which is `limit_value`, and can be continued."""

    def __init__(self, limit_name: str, limit_value: float) -> None:
        self.limit_name, self.limit_value = limit_name, limit_value
        instead = "start another" if limit_name == "max_thread_steps" else "continue the"
        super().__init__(
            f"The run reached {limit_name}={limit_value}; pass a higher {limit_name}=, "
            f"or {instead} thread"
        )


class ContextNotProvidedError(NbgraphError):
    """Node `node_name` read `ctx.context`, and the call passed none."""

    def __init__(self, node_name: str) -> None:
        self.node_name = node_name
        super().__init__(f"Node {node_name!r} reads ctx.context; pass context= to the call")


class StateUpdateError(NbgraphError):
    """A value does not fit the state schema."""


class InvalidUpdateError(StateUpdateError):
    """Tasks of `nodes` wrote `field` in one superstep, and it has no merging reducer."""

    def __init__(self, field: str, nodes: Sequence[str]) -> None:
        self.field, self.nodes = field, tuple(nodes)
        super().__init__(
            f"Field {field!r} was written by {', '.join(map(repr, nodes))} in one superstep; "
            "give it a merging reducer such as Annotated[list, add], or let one node write it"
        )


class StateStoreError(NbgraphError):
    """A state store cannot be used, or cannot keep a value."""


class RedefinedGraphError(ResumeError, StateStoreError):
    """A stored thread needs `nodes` or `fields` that its graph does not have any more."""

    def __init__(self, *, nodes: Sequence[str] = (), fields: Sequence[str] = ()) -> None:
        self.nodes, self.fields = tuple(nodes), tuple(fields)
        both = (("waits in", nodes), ("keeps", fields))
        parts = [f"{verb} {', '.join(map(repr, names))}" for verb, names in both if names]
        shown = ", ".join(f"{name!r}: ..." for name in (*nodes, *fields))
        super().__init__(
            f"The thread {' and '.join(parts)}, which its graph does not have any more; say what "
            f"is called how now, Graph(..., migrate={{{shown}}}), or bring it back"
        )


class UnknownThreadError(StateStoreError):
    """Thread `thread_id`, or its branch `branch_id`, is not in the state store."""

    def __init__(self, thread_id: str, branch_id: str = "main") -> None:
        self.thread_id, self.branch_id = thread_id, branch_id
        branch = "" if branch_id == "main" else f" has no branch {branch_id!r}"
        super().__init__(f"Thread {thread_id!r}{branch or ' is not'} in the state store")


class StoreBusyError(StateStoreError):
    """Another process held the store at `path` for longer than `waited` seconds."""

    def __init__(self, path: str, waited: float) -> None:
        self.path, self.waited = path, waited
        super().__init__(f"The state store {path!r} was busy for {waited:g} s; try again")


class ConcurrentRunError(StateStoreError):
    """Somebody wrote to `branch_id` of `thread_id`: it is at `actual`, not `expected`. Not kept."""

    def __init__(self, thread_id: str, branch_id: str, expected: int, actual: int) -> None:
        self.thread_id, self.branch_id = thread_id, branch_id
        self.expected, self.actual = expected, actual
        super().__init__(
            f"Thread {thread_id!r}, branch {branch_id!r} was expected at event {expected} and is "
            f"at {actual}: another run or person wrote to it; load it again"
        )


class ClaimLostError(ConcurrentRunError):
    """Somebody took the branch over, in `epoch`; nothing of this write or a later one is kept."""

    def __init__(self, thread_id: str, branch_id: str, expected: int, epoch: int) -> None:
        super().__init__(thread_id, branch_id, expected, expected)
        self.epoch = epoch

    def __str__(self) -> str:
        return (
            f"Thread {self.thread_id!r}, branch {self.branch_id!r} was taken over after event "
            f"{self.expected}; look at where it stands before you continue it"
        )


class ThreadClaimedError(StateStoreError):
    """`owner` has claimed branch `branch_id` of `thread_id` `until` then, in epoch seconds."""

    def __init__(self, thread_id: str, branch_id: str, owner: str, until: float) -> None:
        self.thread_id, self.branch_id, self.owner, self.until = thread_id, branch_id, owner, until
        super().__init__(
            f"Thread {thread_id!r}, branch {branch_id!r} is claimed by {owner!r}; wait, or claim "
            "it without ttl= to take it over"
        )


class DamagedStoreError(StateStoreError):
    """What is stored cannot be read as what was written: `where` that is, and its `problem`."""

    def __init__(self, where: str, problem: str) -> None:
        self.where, self.problem = where, problem
        super().__init__(f"{where} is damaged: {problem}")


class RunInterruptedError(NbgraphError):
    """An agent called for its answer waits for a person on `thread_id`, with these `interrupts`."""

    def __init__(self, thread_id: str, interrupts: Mapping[str, object]) -> None:
        self.thread_id, self.interrupts = thread_id, dict(interrupts)
        waits = ", ".join(map(repr, self.interrupts)) or "a breakpoint"
        super().__init__(
            f"Thread {thread_id!r} waits for {waits}; call the graph with resume=Resume(...)"
        )


class ModelProviderError(NbgraphError):
    """A chat model could not be asked, or not read; `message` says why, `status` if by HTTP."""

    def __init__(self, message: str, status: int | None = None) -> None:
        self.status = status
        super().__init__(message)


class ModelTimeoutError(ModelProviderError):
    """A chat model did not answer in time."""


class ChatHistoryError(ModelProviderError):
    """A conversation has tool calls without results, or results without calls."""


class StructuredOutputError(NbgraphError):
    """A chat model's `raw_content` is no `schema_name`, its output schema: `message` says why."""

    def __init__(self, schema_name: str, message: str, raw_content: str | None) -> None:
        self.schema_name, self.message, self.raw_content = schema_name, message, raw_content
        super().__init__(f"The model's answer is no {schema_name}: {message}")


class ToolExecutionError(NbgraphError):
    """`tool_name` is no tool, or `input_data` or its result do not fit: `message`, `problems`."""

    def __init__(
        self,
        tool_name: str,
        input_data: object = None,
        message: str = "it failed",
        problems: Mapping[str, str] | None = None,
    ) -> None:
        self.tool_name, self.input_data, self.message = tool_name, input_data, message
        self.problems = dict(problems or {})
        super().__init__(f"Tool {tool_name!r}: {message}")


class ToolGroupExecutionError(NbgraphError):
    """Several tool calls of one turn failed, with these `errors`."""

    def __init__(self, errors: Sequence[Exception]) -> None:
        self.errors = tuple(errors)
        listed = "; ".join(f"{type(error).__name__}: {error}" for error in self.errors)
        super().__init__(f"{len(self.errors)} tool calls failed: {listed}")


class ToolDeniedError(NbgraphError):
    """A call of `tool_name` may not run; the model reads the `reason`."""

    def __init__(self, tool_name: str, reason: str | None = None) -> None:
        self.tool_name, self.reason = tool_name, reason
        because = f": {reason}" if reason else ""
        super().__init__(f"The call of {tool_name!r} was denied{because}")


class DrawingError(NbgraphError):
    """A drawing could not be laid out; runs are not affected."""


class UnsupportedByEngineError(NbgraphError):
    """The `engine` behind a session cannot carry out a `request`."""

    def __init__(self, engine: str, request: str) -> None:
        self.engine, self.request = engine, request
        super().__init__(f"{engine} cannot carry out {request!r}")


class IntegrationNotInstalledError(NbgraphError, ImportError):
    """An optional `package` is missing; `extra` of nbgraph brings it."""

    def __init__(self, package: str, extra: str) -> None:
        self.package, self.extra = package, extra
        install = f'python -m pip install ".[{extra}]"'
        super().__init__(f"{package!r} is not installed; in nbgraph's checkout: {install}")
