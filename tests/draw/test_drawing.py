from __future__ import annotations

from pathlib import Path

import pytest

from nbgraph.drawing import Drawing, describe, dot, mermaid, picture
from nbgraph.errors import DrawingError

from .shapes import HOSTILE, chain, refund

DESCRIBED = """\
Graph refund
Nodes
  ask: does ask
  pay: does pay
  deny: does deny
Edges
  start -> ask
  ask -> pay [yes]
  ask -> deny [no]
  deny -> ask (goto)
  pay -> end"""

FLOWCHART = """\
flowchart TB
    start_(["start"])
    n0_("ask")
    n1_("pay")
    n2_("deny")
    end_(["end"])
    start_ --> n0_
    n0_ -->|"yes"| n1_
    n0_ -->|"no"| n2_
    n2_ -.-> n0_
    n1_ --> end_
"""


def test_a_shape_is_described_line_by_line():
    assert describe(refund()) == DESCRIBED


@pytest.mark.parametrize("name", HOSTILE)
def test_a_description_has_one_line_for_each_part(name: str):
    assert len(describe(chain(name, name=name)).splitlines()) == 6


def test_a_mermaid_flowchart_shows_nodes_and_edges():
    assert mermaid(refund()) == FLOWCHART


@pytest.mark.parametrize("name", HOSTILE)
def test_a_mermaid_label_is_data(name: str):
    line = mermaid(chain(name)).splitlines()[2]
    assert line.startswith('    n0_("')
    assert line.endswith('")')
    assert not set(line[9:-2]) & set('"<>&`\\$')


def test_a_drawing_has_every_format():
    drawing = Drawing(refund())
    assert drawing.svg == picture(refund())
    assert drawing.dot.source == dot(refund()).source
    assert drawing.mermaid == mermaid(refund())


def test_a_drawing_is_saved_by_its_suffix(tmp_path: Path):
    drawing = Drawing(refund())
    saved = [
        drawing.save(tmp_path / name).read_text("utf-8") for name in ("a.svg", "a.dot", "a.mmd")
    ]
    assert saved == [drawing.svg, drawing.dot.source, drawing.mermaid]


def test_an_unknown_suffix_is_refused_and_nothing_is_written(tmp_path: Path):
    with pytest.raises(DrawingError, match=r"'a\.png'; end the name in \.svg, \.dot, \.mmd"):
        Drawing(refund()).save(tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


def test_a_drawing_shows_itself_as_picture_and_text():
    drawing = Drawing(refund())
    whole = {"text/plain": DESCRIBED, "image/svg+xml": drawing.svg}
    assert drawing._repr_mimebundle_() == whole
    assert drawing._repr_mimebundle_(include={"text/plain"}) == {"text/plain": DESCRIBED}
    assert drawing._repr_mimebundle_(exclude={"image/svg+xml"}) == {"text/plain": DESCRIBED}


def test_a_failed_layout_leaves_the_text_and_the_reason(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("nbgraph.drawing.layout.find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", lambda command: None)
    bundle = Drawing(chain("not drawn before"))._repr_mimebundle_()
    assert list(bundle) == ["text/plain"]
    assert "No picture: No Graphviz found" in bundle["text/plain"]
