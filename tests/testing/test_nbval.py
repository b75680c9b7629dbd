"""The nbval plug-in: pictures may differ, text may not, and nothing waits for a person."""

from __future__ import annotations

import re
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from nbgraph.testing.nbval import SANITIZE_PATTERNS

SHOW = """
from IPython.display import display
picture = '<img alt="desk: a -> b" width="20" src="data:image/svg+xml;base64,AAAA" height="30">'
svg = '<?xml version="1.0"?>\\n<!-- graphviz 2 -->\\n<svg width="20"><g>a</g></svg>\\n'
bundle = {'text/html': picture + '<pre>a: done</pre>', 'image/svg+xml': svg, 'text/plain': 'desk'}
display(bundle, raw=True)
"""
OTHER_PICTURE = (
    '<img alt="desk: a -> b" width="21" src="data:image/svg+xml;base64,BBBB" height="9">'
)
OTHER_SVG = '<svg width="21" height="9"><g><g>a</g></g></svg>'

UNATTENDED = "import os\nprint(os.environ['NBGRAPH_UNATTENDED'])"


def test_a_notebook_with_other_pictures_passes_and_runs_unattended(tmp_path):
    outputs = [shown(f"{OTHER_PICTURE}<pre>a: done</pre>")]
    cells = [
        new_code_cell(SHOW, execution_count=1, outputs=outputs),
        new_code_cell(
            UNATTENDED, execution_count=2, outputs=[new_output("stream", name="stdout", text="1\n")]
        ),
    ]
    result = check(tmp_path, cells)
    assert (result.returncode, result.stdout.splitlines()[-1][:8]) == (0, "2 passed")


@pytest.mark.parametrize(
    "html",
    [
        f"{OTHER_PICTURE}<pre>a: failed</pre>",
        f"{OTHER_PICTURE.replace('a -> b', 'a -> c')}<pre>a: done</pre>",
    ],
    ids=["transcript", "alternative text"],
)
def test_a_notebook_with_other_text_fails(tmp_path, html):
    result = check(tmp_path, [new_code_cell(SHOW, execution_count=1, outputs=[shown(html)])])
    assert (result.returncode, result.stdout.splitlines()[-1][:8]) == (1, "1 failed")
    assert "mismatch 'text/html'" in result.stdout


@pytest.mark.parametrize(
    ("text", "sanitized"),
    [
        (
            '<img src="data:image/svg+xml;base64,AA=" style="color:red" alt="x > y">',
            '<img src="picture" alt="x > y">',
        ),
        (
            '<img alt="1" src="data:image/svg+xml,%3C"><img alt="2" src="data:image/svg+xml,%3C">',
            '<img alt="1" src="picture"><img alt="2" src="picture">',
        ),
        (
            '<img src="data:image/png;base64,AA" width="1">',
            '<img src="data:image/png;base64,AA" width="1">',
        ),
        ("a <svg>1</svg> b <svg>2</svg> c", "a <svg>picture</svg>b <svg>picture</svg>c"),
        ("&lt;svg&gt; is text", "&lt;svg&gt; is text"),
    ],
)
def test_only_what_graphviz_drew_is_replaced(text, sanitized):
    for pattern, replacement in SANITIZE_PATTERNS.items():
        text = re.sub(pattern, replacement, text)
    assert text == sanitized


def test_the_plug_in_loads_nothing_of_jupyter():
    code = (
        "import sys, nbgraph.testing.nbval; "
        "print(sorted({'IPython', 'nbformat', 'nbval', 'traitlets'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "[]\n"


def shown(html):
    data = {"text/html": html, "image/svg+xml": OTHER_SVG, "text/plain": "desk"}
    return new_output("display_data", data=data)


def check(folder, cells):
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, folder / "doctored.ipynb")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval", "-q", "-p", "no:cacheprovider", "."],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
