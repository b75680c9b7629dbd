from __future__ import annotations

import pytest

from nbgraph.drawing import dot

from .shapes import HOSTILE, chain, refund


def test_names_are_generated_and_labels_have_room_for_a_second_line():
    assert dot(refund()).source.splitlines()[4:] == [
        '\tstart [label=start fontsize=11 height=0.3 id=start margin="0.06,0.03" width=0.5]',
        '\tn0 [label="ask\\n " id=n0]',
        '\tn1 [label="pay\\n " id=n1]',
        '\tn2 [label="deny\\n " id=n2]',
        '\tend [label=end fontsize=11 height=0.3 id=end margin="0.06,0.03" width=0.5]',
        "\tstart -> n0 [id=e0]",
        '\tn0 -> n1 [label=" yes " id=e1]',
        '\tn0 -> n2 [label=" no " id=e2]',
        "\tn2 -> n0 [id=e3 style=dashed]",
        "\tn1 -> end [id=e4]",
        "}",
    ]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_never_markup(name: str):
    source = dot(chain(name)).source
    assert "label=<" not in source
    assert source.isprintable() or all(c.isprintable() or c in "\n\t" for c in source)


def test_the_direction_is_chosen_by_the_caller():
    assert "rankdir=LR" in dot(refund(), direction="LR").source
