"""The branches of a thread as a tree, and what is not the same in two of them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from nbgraph import END, START, BaseState, Graph, InMemoryStateStore, add, interrupt, node, when
from nbgraph.branching import Limb, drawn, limbs, same_up_to, unlike
from nbgraph.core.loop import run_sync
from nbgraph.opening import open_session
from nbgraph.session import Session
from nbgraph.snapshot import Mark


class Desk(BaseState):
    yes: bool | None = None
    notes: Annotated[list[str], add] = Field(default_factory=list)


@node
def intake(state: Desk) -> dict[str, Any]:
    return {"notes": ["in"]}


@node
def ask(state: Desk) -> dict[str, Any]:
    return {"yes": interrupt(id="ok", response_schema=bool)}


@node
def pay(state: Desk) -> dict[str, Any]:
    return {}


@node
def decline(state: Desk) -> dict[str, Any]:
    return {}


@node
def tell(state: Desk) -> dict[str, Any]:
    return {}


def answered() -> Session:
    graph = Graph(Desk, name="desk", state_store=InMemoryStateStore()).flow(
        START >> intake >> ask,
        ask >> when(lambda state: state.yes, pay, otherwise=decline),
        pay >> tell,
        decline >> tell,
        tell >> END,
    )
    session = open_session(graph, "t")
    session.start({}).result()
    session.resume({"ask:ok": True}).result()
    return session


def asked_at(session: Session) -> int:
    return next(e.sequence for e in session.history() if e.type == "answers_given") - 1


def limb(
    name: str, parent: str | None = None, forked: int = 0, steps: int = 6, **more: Any
) -> Limb:
    given: dict[str, Any] = {"more": False, "mark": "done", "status": "Finished", **more}
    return Limb(name, parent, forked, steps, **given)


def waits(name: str, parent: str, forked: int, steps: int, mark: Mark = "waiting") -> Limb:
    return limb(name, parent, forked, steps, more=True, mark=mark)


def test_a_fork_starts_below_the_superstep_after_which_it_was_made():
    tree = [limb("main"), waits("larger", "main", 5, 5), limb("what-if", "main", 3)]
    assert drawn(tree) == (
        "1   2   3   4   5   6",
        "●───●───●───●───●───●",
        "        │       └───◆",
        "        └───●───●───●",
    )


def test_forks_of_forks_and_from_the_start_do_not_cross():
    tree = [
        limb("main", steps=3),
        limb("a", "main", 1, 3),
        waits("b", "a", 2, 2, "failed"),
        limb("c", "main", 1, 2),
        limb("d", "main", 0, 1),
    ]
    assert drawn(tree) == (
        "    1   2   3",
        "○───●───●───●",
        "│   ├───●───●",
        "│   │   └───✕",
        "│   └───●",
        "└───●",
    )


def test_of_a_long_thread_only_what_matters_is_drawn():
    tree = [limb("main", steps=600), waits("b", "main", 31, 50)]
    assert drawn(tree) == (
        "1   31  32  51  600",
        "●┄┄┄●───●┄┄┄●┄┄┄●",
        "    └───●┄┄┄◆",
    )


def test_the_branches_of_a_thread_are_told_by_their_logs():
    session = answered()
    other = session.fork(at=asked_at(session), name="what-if")
    other.resume({"ask:ok": False}).result()
    session.fork(at=asked_at(session), name="open")
    tree = run_sync(limbs(session.driver))
    assert [(each.name, each.told) for each in tree] == [
        ("main", "Finished, 4 supersteps"),
        ("what-if", "Finished, 4 supersteps, forked after 1"),
        ("open", "Waiting for you, 1 superstep, forked after 1"),
    ]
    assert drawn(tree)[1:] == ("●───●───●───●", "├───●───●───●", "└───◆")


def test_many_branches_are_main_and_the_newest():
    session = answered()
    for number in range(20):
        session.fork(name=f"b{number}")
    names = [each.name for each in run_sync(limbs(session.driver))]
    assert names == ["main", *(f"b{number}" for number in range(9, 20))]


def test_two_branches_are_the_same_up_to_their_fork_and_differ_in_their_nodes():
    session = answered()
    other = session.fork(at=asked_at(session), name="what-if")
    assert same_up_to(session.history(), other.history()) == 1
    other.resume({"ask:ok": False}).result()
    assert unlike(session.snapshot, other.snapshot) == {"ask", "pay", "decline"}
    assert unlike(session.snapshot, session.snapshot) == frozenset()


def test_a_thread_without_forks_is_one_line():
    session = answered()
    (only,) = run_sync(limbs(session.driver))
    assert (only.name, drawn([only])[1]) == ("main", "●───●───●───●")
