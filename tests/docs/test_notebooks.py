"""What is saved in the example notebooks reads without a kernel, trusted or not."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
ANYWHERE = {"text/plain", "text/html", "image/svg+xml"}
LIMIT = 60_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_a_notebook_has_saved_needs_no_widget_and_is_no_error(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    outputs = [each for cell in notebook.cells for each in cell.get("outputs", ())]
    assert outputs
    assert [each for each in outputs if each.output_type == "error"] == []
    assert [kind for each in outputs for kind in each.get("data", ()) if kind not in ANYWHERE] == []
    assert "widgets" not in notebook.metadata
    assert max(len(json.dumps(each)) for each in outputs) <= LIMIT
