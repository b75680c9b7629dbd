"""The options of one call of a graph, checked together before anything is touched."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypedDict, cast
from uuid import uuid4

from nbgraph.core.context import NOT_PROVIDED
from nbgraph.core.executor import Executor
from nbgraph.core.quick_dataclass import dataclass
from nbgraph.core.requests import Continue, Resume, SetBreakpoints, Start
from nbgraph.core.store import StateStore
from nbgraph.errors import GraphConfigError

__all__ = ["Call", "CallOptions", "Names", "checked_predicate", "checked_store", "listed_names"]

Names = Iterable[str] | str | None
"""Node names, one name, or None for "not given"."""


class CallOptions(TypedDict, total=False):
    """The options that `ainvoke` takes, and every call that runs a thread as it does."""

    thread_id: str | None
    branch_id: str
    resume: Resume | None
    state_store: StateStore | None
    context: Any
    interrupt_before: Names
    interrupt_after: Names
    break_when: Callable[[Any], bool] | None
    executor: Executor | None


@dataclass(frozen=True, slots=True)
class Call:
    """One call: what was passed to `ainvoke` or `astream`."""

    given: Any
    thread_id: str | None
    branch_id: str
    resume: Any
    store: StateStore | None
    context: Any
    interrupt_before: Names
    interrupt_after: Names
    break_when: Callable[[Any], bool] | None = None
    executor: Executor | None = None

    @classmethod
    def of(cls, given: Any, store: StateStore | None, options: CallOptions) -> Call:
        """Return the call of an input with options; `store` is the graph's own.

        Raises
        ------
        TypeError
            If there is no such option.
        """
        unknown = [name for name in options if name not in CallOptions.__annotations__]
        if unknown:
            known = ", ".join(CallOptions.__annotations__)
            raise TypeError(f"There is no option {unknown[0]!r}; options of a call are {known}")
        return cls(
            given,
            options.get("thread_id"),
            options.get("branch_id", "main"),
            options.get("resume"),
            options.get("state_store") or store,
            options.get("context", NOT_PROVIDED),
            options.get("interrupt_before"),
            options.get("interrupt_after"),
            options.get("break_when"),
            options.get("executor"),
        )

    def checked_thread_id(self) -> str:
        """Return the id of the thread the call is about.

        Raises
        ------
        TypeError
            If `resume` is no `Resume`, or comes together with an input, or an option is of another
            type.
        GraphConfigError
            If options are missing, or do not fit a call without a store.
        """
        if self.resume is not None and not isinstance(self.resume, Resume):
            raise TypeError(f"resume takes a Resume, got {self.resume!r}; pass Resume(answer)")
        if isinstance(self.given, Resume):
            raise TypeError(f"An answer is passed as resume={self.given!r}, and not as an input")
        checked_predicate(self.break_when)
        if self.resume is not None and self.given is not None:
            raise TypeError("A call takes an input or resume=, not both")
        if checked_store(self.store) is None:
            self._check_without_store()
        elif not self.thread_id:
            raise GraphConfigError("A graph with a state store needs a thread_id")
        return self.thread_id or uuid4().hex

    def _check_without_store(self) -> None:
        if self.resume is not None or self.given is None or self.branch_id != "main":
            raise GraphConfigError(
                "Without a state store a call takes an input and runs on branch 'main'; pass "
                "state_store= to go on with a thread"
            )
        if self.breakpoints() is not None or self.break_when is not None:
            raise GraphConfigError(
                "A run that pauses at a breakpoint is kept in a state store; pass state_store= and "
                "a thread_id"
            )

    def breakpoints(self) -> SetBreakpoints | None:
        """Return the breakpoints to set, if the call names any."""
        if self.interrupt_before is None and self.interrupt_after is None:
            return None
        return SetBreakpoints(
            listed_names(self.interrupt_before), listed_names(self.interrupt_after)
        )

    def request(self) -> Start | Resume | Continue:
        """Return what the call asks of its thread."""
        if self.resume is not None:
            return self.resume
        return Continue() if self.given is None else Start(self.given)


def listed_names(given: Names) -> tuple[str, ...] | None:
    """Return names as a tuple; None stays None.

    Raises
    ------
    TypeError
        If they are no names.
    """
    if given is None:
        return None
    if not isinstance(given, str | Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] - user's
        raise TypeError(f"Breakpoints are the name of a node or a list of them, got {given!r}")
    return (given,) if isinstance(given, str) else tuple(given)


def checked_store(given: Any) -> StateStore | None:
    """Return what `state_store=` was given.

    Raises
    ------
    TypeError
        If it is no store.
    """
    if given is not None and (isinstance(given, type) or not hasattr(given, "events")):
        raise TypeError(f"state_store is a StateStore such as SQLiteStateStore, got {given!r}")
    return given


def checked_predicate(given: Any) -> Callable[[Any], bool] | None:
    """Return what `break_when=` was given.

    Raises
    ------
    TypeError
        If it is no function.
    """
    if not (given is None or callable(given)):
        raise TypeError(f"break_when is a function of the state, got {given!r}")
    return cast("Callable[[Any], bool] | None", given)
