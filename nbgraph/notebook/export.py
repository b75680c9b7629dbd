"""A thread as a notebook: a section for each step, and the cells that run it again.

What comes from the thread is data. In Markdown it stands in fences longer than any it holds, in
code as Python literals.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from nbgraph import words
from nbgraph.core.events import Event, Interrupt
from nbgraph.covering import call_secrets, covered_text
from nbgraph.drawing import picture, reveal
from nbgraph.errors import DrawingError
from nbgraph.moments import Moment, changes, moments, writers
from nbgraph.replay import opened, stepped
from nbgraph.session import Session
from nbgraph.snapshot import Snapshot
from nbgraph.transcript import answer_shown, paragraph, transcript

__all__ = ["notebook_of", "write_notebook"]

_VALUE = 300
_SIGNS = {"+": "+", "-": "-", "~": "~"}
_KERNEL = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}


def write_notebook(session: Session, path: Path) -> None:
    """Write a session's thread to a file as a notebook."""
    nbformat.write(notebook_of(session), path)


def notebook_of(session: Session) -> nbformat.NotebookNode:
    """Return a session's thread as a notebook."""
    cells, secrets = list(_cells(session)), call_secrets(session.history())
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number:02}"
        cell["source"] = covered_text(cell["source"], secrets)
    return new_notebook(cells=cells, metadata={"kernelspec": _KERNEL})


def _cells(session: Session) -> Iterator[nbformat.NotebookNode]:
    events = session.history()
    steps = moments(events)
    yield new_markdown_cell(f"# A thread, step by step\n\n{_fenced(transcript(session))}")
    yield new_markdown_cell(
        "## Replay\n\nThe cells below run the same thread again, one superstep a cell, with the "
        "same input and answers. They need the graph under the name `graph`: define or "
        "import it here."
    )
    replayed = [
        "\n".join(stepped(session, events[before.sequence : moment.sequence], moment))
        for before, moment in zip((Moment(0, 0), *steps), steps, strict=False)
    ]
    yield new_code_cell(opened(replayed))
    before = Moment(0, 0)
    for moment, lines in zip(steps, replayed, strict=True):
        yield new_markdown_cell(_section(session, events, before, moment))
        yield new_code_cell(f"{lines}\nsession.state")
        before = moment


# --- what a step shows ------------------------------------------------------------------------


def _section(session: Session, events: Sequence[Event], before: Moment, moment: Moment) -> str:
    first, second = session.at(before.sequence), session.at(moment.sequence)
    folding = session.driver.folding
    wrote = writers(events, before.sequence, moment.sequence, folding)
    found, same = changes(folding.to_json(first.state), folding.to_json(second.state), wrote)
    lines = [
        f"{_SIGNS[each.difference.sign]} {reveal(each.difference.path)}  "
        f"{_sides(each.difference.sign, each.difference.first, each.difference.second)}  "
        f"{reveal(each.words)}".rstrip()
        for each in found
    ]
    asked = list(_asked(second, before, moment))
    title = moment.name[:1].upper() + moment.name[1:]
    parts = [f"## {title}", _image(session, second)]
    parts += [_fenced("\n".join(asked))] if asked else []
    parts.append(_fenced("\n".join([*lines, f"{same} paths the same"])))
    return "\n\n".join(parts)


def _sides(sign: str, first: Any, second: Any) -> str:
    match sign:
        case "+":
            return _brief(second)
        case "-":
            return _brief(first)
        case _:
            return f"{_brief(first)} -> {_brief(second)}"


def _asked(snapshot: Snapshot, before: Moment, moment: Moment) -> Iterator[str]:
    """Yield the questions and answers of a step."""
    for record in snapshot.records:
        if before.sequence < record.sequence <= moment.sequence:
            yield f"asked {_question(record.interrupt)}"
            said = f", who said {_brief(record.comment)}" if record.comment else ""
            who = reveal(record.by or "somebody")
            yield f"answered {_brief(answer_shown(record))} by {who}{said}"
    for question in snapshot.pending.values():
        yield f"asks {_question(question)}"


def _question(asked: Interrupt) -> str:
    return f"{reveal(asked.key)}: {paragraph(asked.message or '')}".rstrip()


def _image(session: Session, snapshot: Snapshot) -> str:
    try:
        lines = words.lines(snapshot)
        svg = picture(session.driver.shape, snapshot.marks, lines, taken=snapshot.taken)
    except DrawingError:
        return "*No picture.*"
    data = base64.b64encode(svg.encode()).decode()
    return f"![how the graph stood](data:image/svg+xml;base64,{data})"


def _fenced(text: str) -> str:
    """Return text in a fence that nothing in it can end."""
    shown = "\n".join(map(reveal, text.split("\n")))
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{shown}\n{fence}"


def _brief(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= _VALUE else f"{shown[:_VALUE]}…"
