"""The tests of AgentFlow, run by a Python that can have it."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = os.environ.get("NBGRAPH_TEST_AGENTFLOW")


@pytest.mark.timeout(600)
def test_the_tests_of_agentflow_pass_under_a_python_that_has_it():
    if find_spec("tenxgraph"):
        return  # they are part of this very run
    passes("tests/agentflow")


@pytest.mark.timeout(600)
def test_the_notebook_of_agentflow_runs_and_shows_what_it_saved(tmp_path):
    copy = shutil.copy(ROOT / "notebooks" / "06_agentflow.ipynb", tmp_path)
    passes("--nbval", copy)


def passes(*what):
    """Have a Python that has AgentFlow run tests, and fail with what they say."""
    python = sys.executable if find_spec("tenxgraph") else PYTHON
    if not python:
        pytest.skip(
            "AgentFlow needs Python 3.12; set NBGRAPH_TEST_AGENTFLOW to one that has nbgraph[test]"
        )
    where = ["-c", "pyproject.toml", "--rootdir", ".", "-p", "no:cacheprovider"]
    command = [python, "-m", "pytest", "-q", *where, *map(str, what)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    print(run.stdout[-4000:], run.stderr[-2000:], file=sys.stderr)
    assert run.returncode == 0
    assert "passed" in run.stdout
