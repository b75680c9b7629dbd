"""A thread written as a notebook: it reads by itself, and its cells run the thread again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import nbformat
import pytest
from pydantic import BaseModel, Field

from nbgraph import (
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    add,
    interrupt,
    join,
    node,
    open_session,
)
from nbgraph.session import Session


class Desk(BaseState):
    order: str = ""
    by: str | None = None
    notes: Annotated[list[str], add] = Field(default_factory=list)


class Login(BaseModel):
    who: str
    token: str = Field(json_schema_extra={"writeOnly": True, "format": "password"})


@node
def intake(state: Desk) -> dict:
    return {"notes": ["```\n# not a heading <b>not bold</b>"]}


@node
def look_up(state: Desk) -> dict:
    return {"notes": ["found"]}


@node
def confirm(state: Desk) -> dict:
    return {"by": interrupt(id="who", message="Who?", response_schema=Login).who}


@node
def decide(state: Desk) -> dict:
    return {"notes": ["decided"]}


def desk() -> Graph:
    return Graph(Desk, name="desk", state_store=InMemoryStateStore()).flow(
        START >> intake >> [look_up, confirm], join(look_up, confirm) >> decide >> END
    )


def finished(graph: Graph) -> Session:
    session = open_session(graph, "t")
    session.start({"order": "A-1042"}).result()
    session.edit({"notes": ["by hand"]})
    session.resume({"confirm:who": {"who": "ops", "token": "tok-4711"}}, by="ops").result()
    return session


def exported(session: Session, path: Path) -> nbformat.NotebookNode:
    notebook = nbformat.read(session.export(path / "t.ipynb"), as_version=4)
    nbformat.validate(notebook)
    return notebook


def replay(notebook: nbformat.NotebookNode, graph: Graph) -> Any:
    names: dict[str, Any] = {"graph": graph}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            exec(cell.source.replace("••••••", "tok-4711"), names)
    return names["session"]


def test_it_has_a_section_for_each_step_with_picture_difference_question_and_answer(tmp_path):
    notebook = exported(finished(desk()), tmp_path)
    text = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    titles = [each.splitlines()[0] for each in text]
    assert titles == [
        "# A thread, step by step",
        "## Replay",
        "## Start",
        "## After 1",
        "## After 2",
        "## After 3",
    ]
    second = text[4]
    assert "data:image/svg+xml;base64," in second
    assert "asked confirm:who: Who?" in second
    assert "by ops" in second
    assert "add, by" in second


def test_its_cells_run_the_thread_again_to_the_same_state(tmp_path):
    graph = desk()
    session = finished(graph)
    again = replay(exported(session, tmp_path), graph)
    assert (again.status, again.state) == ("completed", session.state)
    assert [event.type for event in session.history() if event.type == "superstep_finished"] == [
        event.type for event in again.history() if event.type == "superstep_finished"
    ]


def test_a_thread_that_waits_is_replayed_to_its_question(tmp_path):
    graph = desk()
    session = open_session(graph, "t")
    session.start({"order": "A-1042"}).result()
    notebook = exported(session, tmp_path)
    assert notebook.cells[-2].source.startswith("## Now")
    assert "asks confirm:who: Who?" in notebook.cells[-2].source
    assert list(replay(notebook, graph).pending) == ["confirm:who"]


def test_a_secret_is_not_in_it(tmp_path):
    text = nbformat.writes(exported(finished(desk()), tmp_path))
    assert "4711" not in text
    assert "••••••" in text


def test_what_comes_from_the_thread_ends_no_fence(tmp_path):
    notebook = exported(finished(desk()), tmp_path)
    cells = [cell.source for cell in notebook.cells if "not a heading" in cell.source]
    assert cells
    assert all("````text" in cell for cell in cells)


def test_a_new_thread_is_a_notebook_too(tmp_path):
    assert len(exported(open_session(desk(), "new"), tmp_path).cells) == 3


def test_it_cannot_be_written_where_there_is_no_folder(tmp_path):
    with pytest.raises(FileNotFoundError):
        finished(desk()).export(tmp_path / "nowhere" / "t.ipynb")
