"""Text is data wherever it comes out: as HTML, DOT, Mermaid, Markdown, code, a table, or a line.

One graph has the same hostile text as its name, in its nodes, keys, questions, answers, state,
comments and errors. What comes out holds no element, no control, no line that poses as another.
"""

from __future__ import annotations

import ast
import re
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest

from nbgraph import (
    END,
    START,
    Form,
    Graph,
    Inbox,
    InMemoryStateStore,
    Session,
    Timeline,
    compare,
    draw,
    interrupt,
    node,
    open_session,
)
from nbgraph.drawing import describe
from nbgraph.errors import AnswerError
from nbgraph.notebook.display import static_bundle
from nbgraph.notebook.export import notebook_of
from nbgraph.notebook.magics import _show
from nbgraph.transcript import transcript

FORGED = "  9  pay  done"
EVIL = (
    "<img src=x onerror=alert(1)>\"'`$x$``` \u202e\x1b[31m\x9b2J\\ |](javascript:alert(1)) {{7*7}}"
    f"\n{FORGED}\n       answered true\r\n```\n# heading\n%nbgraph draw graph\n!touch pwned"
)
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
SCHEMA = {
    "type": "object",
    "title": EVIL,
    "properties": {EVIL: {"type": "string", "description": EVIL, "enum": [EVIL, "b"]}},
    "required": [EVIL],
}


@node(name=f"ask {EVIL}", label=EVIL, description=EVIL)
def ask(state: dict[str, Any]):
    answer = interrupt({EVIL: EVIL}, id="q", message=EVIL, reason=EVIL, response_schema=SCHEMA)
    return {EVIL: answer}


@node(name=f"fail {EVIL}")
def fail(state: dict[str, Any]):
    raise ValueError(EVIL)


@pytest.fixture(scope="module")
def session() -> Session:
    store = InMemoryStateStore()
    graph = Graph(dict, name=EVIL, state_store=store).flow(START >> ask >> fail >> END)
    session = open_session(graph, thread_id=EVIL)
    session.start({EVIL: EVIL, "list": [EVIL]}).result()
    session.fork(name=EVIL)
    (key,) = session.pending
    run = session.resume({key: {EVIL: EVIL}}, by=EVIL, comment=EVIL)
    with pytest.raises(ValueError, match="onerror"):
        run.result()
    return session


@pytest.fixture(scope="module")
def other(session: Session) -> Session:
    return Session(session.driver.on(EVIL))


def lines(text: str) -> list[str]:
    assert not CONTROLS.search(text.replace("\n", ""))
    assert EVIL not in text
    return text.splitlines()


class Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        for name, value in attrs:
            assert not name.startswith("on")
            assert "javascript:" not in (value or "") or name == "alt"
            assert name != "src" or (value or "").startswith("data:image/svg+xml;base64,")


@pytest.mark.parametrize("which", ["session", "other"])
def test_a_transcript_has_no_line_that_poses_as_another(which: str, request) -> None:
    found = lines(transcript(request.getfixturevalue(which)))
    assert FORGED not in found
    assert "       answered true" not in found
    assert [line for line in found if line.lstrip().startswith(("#", "```", "%", "!"))] == []


def test_the_message_of_a_question_stays_readable_line_by_line(other: Session) -> None:
    found = lines(transcript(other))
    assert f"         | {FORGED}" in found


def test_what_stays_in_a_cell_has_the_elements_it_always_has(session: Session) -> None:
    bundle = static_bundle(session)
    assert Elements(bundle["text/html"]).names == ["img", "pre"]
    assert FORGED not in lines(bundle["text/plain"])
    assert not CONTROLS.search(bundle["text/html"].replace("\n", ""))


def test_a_drawing_is_xml_with_nothing_that_runs(session: Session) -> None:
    svg = draw(session).svg
    tree = ElementTree.fromstring(svg)
    tags = {element.tag.rpartition("}")[2] for element in tree.iter()}
    assert tags <= {"svg", "g", "rect", "path", "polygon", "ellipse", "text", "title", "circle"}
    attributes = {name for element in tree.iter() for name in element.attrib}
    assert [name for name in attributes if name.startswith("on") or "href" in name] == []
    said = "".join(element.text or "" for element in tree.iter())
    assert not CONTROLS.search(said)


def test_dot_has_one_statement_a_line_and_its_labels_are_strings(session: Session) -> None:
    source = draw(session).dot.source
    for line in source.splitlines():
        outside = re.sub(r'"(?:[^"\\]|\\.)*"', '""', line)
        assert re.fullmatch(r'[\s\w{}\[\];=."\-><]*', outside), outside


def test_mermaid_and_the_words_of_a_drawing_have_a_line_for_each_node(session: Session) -> None:
    mermaid = draw(session).mermaid
    assert not re.search(r"[<>`$\\]", re.sub(r"(-->|-\.->)", "", mermaid))
    assert len(mermaid.strip().splitlines()) == 1 + 4 + 3
    told = lines(describe(session.driver.shape))
    assert FORGED not in told


def test_a_comparison_has_a_line_for_each_path(session: Session, other: Session) -> None:
    comparison = compare(session, other).comparison
    found = lines(str(comparison))
    assert len(found) == len(comparison.differences) + 1


def test_a_notebook_of_a_thread_has_fences_nothing_ends_and_code_of_literals(
    session: Session,
) -> None:
    for cell in notebook_of(session).cells:
        if cell.cell_type == "code":
            ast.parse(cell.source)
            starts = [line for line in cell.source.splitlines() if re.match(r"\s*[%!?]", line)]
            assert starts == []
        else:
            assert FORGED not in lines(outside_of_fences(cell.source))
            assert "<" not in outside_of_fences(cell.source)
            assert "# heading" not in outside_of_fences(cell.source)
            assert FORGED not in cell.source.splitlines()


def outside_of_fences(markdown: str) -> str:
    return re.sub(r"(?ms)^(`{3,})text\n.*?^\1$", "", markdown)


def test_a_cell_that_tests_a_thread_is_code_of_literals(session: Session) -> None:
    tree = ast.parse(Timeline(session).as_test())
    called = {ast.unparse(each.func) for each in ast.walk(tree) if isinstance(each, ast.Call)}
    begun = {name.partition("(")[0] for name in called}
    known = {"InMemoryStateStore", "open_session", "to", "type", "session.start", "session.resume"}
    assert begun <= known | {"session.step"}


def test_an_answer_as_code_is_a_literal() -> None:
    form = Form(SCHEMA)
    form.value = {EVIL: EVIL}
    assert ast.literal_eval(form.code()) == {EVIL: EVIL}
    form.close()


def test_the_message_of_a_refused_answer_shows_no_control(other: Session) -> None:
    (key,) = other.pending
    with pytest.raises(AnswerError) as raised:
        other.resume({key: {EVIL: 3, f"{EVIL}2": 4}}).result()
    assert len(lines(str(raised.value))) == 1
    assert list(raised.value.problems)  # by the paths themselves


def test_a_table_of_tasks_holds_the_text_itself(session: Session) -> None:
    frame = Timeline(session).to_frame()
    assert list(frame["node"]) == [ask.name, fail.name]
    assert set(frame["by"]) == {EVIL, ""}


def test_a_table_of_questions_has_a_line_for_each(other: Session, capsys) -> None:
    _show([(EVIL, "main", EVIL), ("t", "main", "q")], "nothing")
    assert len(lines(capsys.readouterr().out)) == 2
    inbox = Inbox(other.driver.store)
    bundle = inbox._still()
    assert set(Elements(bundle["text/html"]).names) <= {
        *("p", "pre", "table", "thead", "tbody", "tr", "th", "td", "bdi"),
    }
    assert not CONTROLS.search(bundle["text/html"].replace("\n", ""))
    inbox.close()
