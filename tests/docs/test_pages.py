"""Every Python block of the documentation runs, and prints what the page says it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pages import blocks, expected, run, script

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]

PAGE = """
# A page

```python
import asyncio
number = 1
print(number)
```

which prints

```text
1
```

1. In a list, with an `await`:

   ```python
   await asyncio.sleep(0)
   if number:
       print("two\\n  lines")
   ```

   ```text
   two
     lines
   ```

```bash
exit 1
```
"""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_runs_and_prints_what_it_shows(page, tmp_path):
    shown = expected(blocks(page.read_text(encoding="utf-8")))
    printed = run(page, tmp_path)
    assert {line: printed[line] for line in shown} == shown


def test_blocks_share_a_process_and_their_output_is_told_apart(tmp_path):
    path = write(tmp_path, PAGE)
    assert run(path, tmp_path) == {4: "1\n", 18: "two\n  lines\n"}
    assert expected(blocks(PAGE)) == {4: "1\n", 18: "two\n  lines\n"}


def test_a_page_without_python_needs_no_process(tmp_path):
    assert run(write(tmp_path, "```console\n$ exit 1\n```\n"), tmp_path) == {}


def test_an_error_names_the_line_of_the_page(tmp_path):
    path = write(tmp_path, "# Page\n\n```python\nx = 1\n1 / 0\n```\n")
    with pytest.raises(AssertionError, match=r'page.py", line 5.*\n +1 / 0'):
        run(path, tmp_path)


def test_a_page_has_the_names_that_it_imports_and_no_others(tmp_path):
    path = write(tmp_path, "```python\nprint(re)\n```\n")
    with pytest.raises(AssertionError, match="NameError: name 're' is not defined"):
        run(path, tmp_path)


def test_a_warning_is_an_error(tmp_path):
    path = write(tmp_path, "```python\nimport warnings\nwarnings.warn('old')\n```\n")
    with pytest.raises(AssertionError, match="UserWarning: old"):
        run(path, tmp_path)


@pytest.mark.parametrize("info", ["python no-run", "python {.skip}", "py", "python3", "pycon"])
def test_no_python_block_is_left_out(info):
    with pytest.raises(ValueError, match=r"line 1: .* every block runs"):
        blocks(f"```{info}\npass\n```\n")


def test_a_fence_that_is_not_closed_is_refused():
    with pytest.raises(ValueError, match="line 2: the fence is not closed"):
        blocks("\n```python\npass\n")


def test_the_script_keeps_the_lines_of_the_page():
    lines = script(blocks(PAGE)).splitlines()
    assert (lines[4], lines[18]) == ("import asyncio", "await asyncio.sleep(0)")


def write(folder, text):
    path = folder / "page.md"
    path.write_text(text, encoding="utf-8")
    return path
