"""Runs the Python blocks of a Markdown page, in order, in one process of their own.

Called as a script with the path of what `script` makes, it runs that.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import ModuleType

SEPARATOR = "\x1e"
SECONDS = 100
FENCE = re.compile(r"^( *)(```+|~~~+) *(.*?) *$")
OTHER_SPELLINGS = re.compile(r"(py|python)\b.*|python3|pycon", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its info string, its text, and the page's line of its opening fence."""

    info: str
    text: str
    line: int


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page.

    Raises
    ------
    ValueError
        A fence is not closed, or a Python block is not fenced as plain `python`.
    """
    found: list[Block] = []
    lines = enumerate(page.splitlines(), 1)
    for number, line in lines:
        if opening := FENCE.match(line):
            indent, fence, info = opening.groups()
            found.append(Block(info, _text(lines, indent, fence, number), number))
    for block in found:
        if block.info != "python" and OTHER_SPELLINGS.fullmatch(block.info):
            raise ValueError(f"line {block.line}: {block.info!r}: every block runs, write `python`")
    return found


def _text(lines: enumerate[str], indent: str, fence: str, opened: int) -> str:
    text: list[str] = []
    for _, line in lines:
        if line.strip() == fence:
            return "".join(f"{kept}\n" for kept in text)
        text.append(line.removeprefix(indent))
    raise ValueError(f"line {opened}: the fence is not closed")


def script(found: Sequence[Block]) -> str:
    """Return the Python blocks as a script that has each line where the page has it."""
    lines: list[str] = []
    for block in found:
        if block.info == "python":
            lines += [""] * (block.line - len(lines))
            lines += [*block.text.splitlines(), f"print({SEPARATOR!r}, end='', flush=True)"]
    return "\n".join(lines) + "\n"


def expected(found: Sequence[Block]) -> dict[int, str]:
    """Return the output that the page shows, by the line of the Python block that prints it."""
    return {
        block.line: after.text
        for block, after in pairwise(found)
        if (block.info, after.info) == ("python", "text")
    }


def run(page: Path, folder: Path) -> dict[int, str]:
    """Run a page in `folder`, and return what each Python block printed, by its line.

    Raises
    ------
    AssertionError
        The process failed; the message ends with its standard error, in the page's line numbers.
    """
    found = blocks(page.read_text(encoding="utf-8"))
    if not any(block.info == "python" for block in found):
        return {}
    path = folder / f"{page.stem}.py"
    path.write_text(script(found), encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-W", "error", __file__, str(path)],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if not name.startswith("NBGRAPH_")},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if result.returncode != 0:
        raise AssertionError(f"{page} does not run:\n{result.stdout}\n{result.stderr}")
    printed = result.stdout.split(SEPARATOR)[:-1]
    ran = [block.line for block in found if block.info == "python"]
    return dict(zip(ran, printed, strict=True))


def main(path: str) -> None:
    """Run a script as `__main__`; an `await` outside a function is allowed, as in a notebook."""
    module = ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    source = Path(path).read_text(encoding="utf-8")
    code = compile(source, path, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    if code.co_flags & inspect.CO_COROUTINE:
        asyncio.run(eval(code, vars(module)))
    else:
        exec(code, vars(module))


if __name__ == "__main__":
    main(sys.argv[1])
