"""What a person does with a node or a failure in a panel; each is a request to its session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from nbgraph.core.lapses import ASK_AGAIN, DISMISS
from nbgraph.inspection import inspect_node
from nbgraph.notebook.breakpoints import toggle_breakpoint
from nbgraph.session import Session
from nbgraph.snapshot import Snapshot

__all__ = ["Acts", "Shows", "fork_point"]


class Shows(Protocol):
    """Who shows a session, and goes over to a branch of it."""

    session: Session

    def fork(self, at: int | None = None) -> Session:
        """Start a branch and show it."""
        ...


class Acts:
    """Carries out what a person chooses; what is refused is said.

    Parameters
    ----------
    panel : Shows
        Whose session.
    trying : function
        Calls an action, and says what it refuses.
    turn_to : function
        Opens the form of a question, by its key, and moves the focus there.
    """

    def __init__(
        self,
        panel: Shows,
        trying: Callable[[Callable[[], object]], object],
        turn_to: Callable[[str], object],
    ) -> None:
        self._panel = panel
        self._try = trying
        self._turn_to = turn_to

    def open_form(self, path: str) -> None:
        """Open what a node, or one in it, asks, as a click on its badge does."""
        pending = self._panel.session.pending.items()
        keys = [key for key, asked in pending if f"{asked.node}/".startswith(f"{path}/")]
        for key in keys[:1]:
            self._turn_to(key)

    def lapse(self, path: str, how: str) -> None:
        """Let what a node asks go without an answer (`"dismiss"`), or be asked `"again"`."""
        session, stands = self._panel.session, DISMISS if how == "dismiss" else ASK_AGAIN
        asked = {key: stands for key, each in session.pending.items() if each.node == path}
        self._try(lambda: session.resume(asked))

    def step(self, path: str) -> None:
        """Run one task of a node, and no other of its superstep."""
        session = self._panel.session
        tasks = [task.task_id for task in session.snapshot.position.runnable if task.node == path]
        self._try(lambda: session.step(*tasks[:1]))

    def toggle_breakpoint(self, path: str, side: str) -> None:
        """Pause before or after a node from now on, or no more; as a click on its edge does."""
        self._try(lambda: toggle_breakpoint(self._panel.session, path, side))

    def run_until(self, path: str) -> None:
        """Go on until a task of a node is next."""
        self._try(lambda: self._panel.session.run_until(path))

    def retry_from(self, path: str) -> None:
        """Run a node's newest superstep again, on a branch of its own, and show that."""
        step = inspect_node(self._panel.session, path).superstep
        if step is not None:
            self._try(lambda: self._panel.fork(at=step.planned).proceed())

    def retry(self, update: Mapping[str, Any]) -> None:
        """Go on after a failure, with an edit of the state if there is one."""
        self._try(lambda: self._edit_and_go(self._panel.session, update))

    def retry_in_fork(self, update: Mapping[str, Any]) -> None:
        """Do the same on a branch, which is shown."""
        at = self._panel.session.snapshot.position.sequence
        self._try(lambda: self._edit_and_go(self._panel.fork(at=at), update))

    def skip(self, task_id: str, value: Mapping[str, Any]) -> None:
        """Count a failed task as finished with `value` as its update, and go on."""

        def skipped() -> None:
            self._panel.session.skip(task_id, value)
            if not self._panel.session.snapshot.position.failed:
                self._panel.session.proceed()

        self._try(skipped)

    def _edit_and_go(self, session: Session, update: Mapping[str, Any]) -> None:
        if update:
            session.edit(update)
        session.proceed()


def fork_point(snapshot: Snapshot) -> int | None:
    """Return where a plain Fork begins: at the question that waits, else before the last answer."""
    if snapshot.pending or not snapshot.records:
        return None
    return snapshot.records[-1].sequence - 1
