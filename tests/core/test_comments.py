"""A comment beside an answer is recorded with who gave it, and no node sees it."""

from __future__ import annotations

from typing import Any

import pytest

from nbgraph import DISMISS, InMemoryStateStore, Resume, open_session, subgraph
from nbgraph.core.events import AnswersGiven
from nbgraph.core.fold import fold
from nbgraph.core.snapshots import position_of, snapshot_of
from nbgraph.transcript import transcript
from tests.core.graphs import asker, chain, fan, history


def given(graph: Any, thread_id: str = "t") -> list[tuple[str | None, str | None]]:
    """Return who said what beside their answers."""
    return [
        (event.by, event.comment)
        for event in history(graph, thread_id)
        if isinstance(event, AnswersGiven)
    ]


def test_a_comment_is_recorded_beside_the_answers_and_who_gave_them() -> None:
    graph = fan(asker("a"), asker("b"))
    graph.invoke({}, thread_id="t")
    some = Resume(answers={"a:ok": 1}, partial=True, by="ops", comment="as we said\non the phone")
    graph.invoke(resume=some, thread_id="t")
    assert given(graph) == [("ops", "as we said\non the phone")]
    answered = graph.sync.position("t").answered
    assert {key: (one.by, one.comment) for key, one in answered.items()} == {
        "a:ok": ("ops", "as we said\non the phone")
    }
    done = graph.invoke(resume=Resume(2, by="ops"), thread_id="t")
    assert done.state.log == ["a: 1", "b: 2"]
    assert given(graph)[1] == ("ops", None)


def test_a_dismissal_has_its_comment_too() -> None:
    graph = chain(asker("a", default="nothing"))
    graph.invoke({}, thread_id="t")
    graph.invoke(resume=Resume(DISMISS, by="ops", comment="not ours"), thread_id="t")
    assert given(graph) == [("ops", "not ours")]


@pytest.mark.parametrize("wrong", [{"comment": 3}, {"comment": ["a"]}, {"by": 3}])
def test_what_is_no_text_is_refused(wrong: Any) -> None:
    [name] = wrong
    with pytest.raises(TypeError, match=f"{name} is a str, got"):
        Resume(1, **wrong)


def test_a_snapshot_keeps_it() -> None:
    graph = fan(asker("a"), asker("b"))
    graph.invoke({}, thread_id="t")
    some = Resume(answers={"a:ok": 1}, partial=True, comment="so")
    graph.invoke(resume=some, thread_id="t")
    position = fold(history(graph), graph.schema)
    kept = snapshot_of(position, graph.schema)
    assert kept is not None
    assert position_of(kept, graph.schema) == position
    assert position.answered["a:ok"].comment == "so"


def test_a_sub_graphs_thread_has_it_with_the_answer() -> None:
    inner = chain(asker("x"), state_store=None)
    graph = chain(subgraph("sub", inner, share=["log"]), state_store=InMemoryStateStore())
    graph.invoke({}, thread_id="t")
    graph.invoke(resume=Resume(1, by="ops", comment="fine"), thread_id="t")
    [child] = [event.child for event in history(graph) if event.type == "task_finished"]
    assert given(graph, child.thread_id) == given(graph) == [("ops", "fine")]


def test_a_session_records_it_and_its_log_tells_it() -> None:
    graph = chain(asker("a"))
    session = open_session(graph, "t")
    session.start({}).result()
    session.resume({"a:ok": 1}, by="ops", comment="it is late").result()
    assert given(graph) == [("ops", "it is late")]
    assert any("ops answered a:ok: “it is late”" in entry.text for entry in session.snapshot.log)
    assert transcript(session).endswith('answered 1\n       said "it is late"')
