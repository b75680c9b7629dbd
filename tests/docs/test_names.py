"""Links lead somewhere, the page of names is complete, and recipes name what there is."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import nbgraph
import nbgraph.middleware

from .pages import blocks
from .reference import GROUPS, PAGE, page

ROOT = Path(__file__).parents[2]
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
RECIPES = [ROOT / "docs" / name for name in ("how-do-i.md", "coming-from.md")]

LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"(?m)^#+ (.+)$")
CODE = re.compile(r"`([^`]+)`")
OWNERS = {
    "graph": nbgraph.Graph,
    "session": nbgraph.Session,
    "panel": nbgraph.Panel,
    "timeline": nbgraph.Timeline,
    "store": nbgraph.SQLiteStateStore,
    "ctx": nbgraph.NodeContext,
    "result": nbgraph.GraphResult,
}
"""What a recipe means by these words."""


def short(path):
    return str(path.relative_to(ROOT))


def without_code(text):
    for block in blocks(text):
        text = text.replace(block.text, "\n")
    return text


def anchor(heading):
    """Return how a heading is addressed, as forges and documentation tools write it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchors(path):
    text = without_code(path.read_text(encoding="utf-8"))
    return {anchor(heading) for heading in HEADING.findall(text)}


@pytest.mark.parametrize("path", PAGES, ids=short)
def test_a_link_of_a_page_leads_to_a_file_and_a_heading_that_are_there(path):
    lost = []
    for target, heading in LINK.findall(without_code(path.read_text(encoding="utf-8"))):
        file = path.parent / target if target else path
        if not file.exists() or (heading and heading not in anchors(file)):
            lost.append(f"{target}#{heading}")
    assert lost == []


def test_the_index_leads_to_every_page():
    linked = {target for target, _ in LINK.findall((ROOT / "docs" / "index.md").read_text("utf-8"))}
    assert {path.name for path in DOCS} - linked == {"index.md"}


def test_each_public_name_stands_once_on_the_page_of_names():
    listed = [name for names in GROUPS.values() for name in names.split()]
    assert sorted(listed) == sorted(nbgraph.__all__)


def test_the_page_of_names_says_what_help_says():
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tests.docs.reference`"


@pytest.mark.parametrize("path", RECIPES, ids=short)
def test_a_recipe_names_what_there_is(path):
    rows = [line.split("|") for line in path.read_text(encoding="utf-8").splitlines()]
    cells = [row[2] for row in rows if len(row) > 2]
    code = [each for cell in cells for each in CODE.findall(cell)]
    assert [each for each in code if not is_there(each)] == []


@pytest.mark.parametrize(
    "wrong", ["Graf(dict)", "graph.nothing()", "ctx.twice(1)", "Graph(nothing=1)", "@node(wrong=1)"]
)
def test_a_name_that_is_not_there_is_seen(wrong):
    assert not is_there(wrong)


def is_there(code):
    """Tell whether the names that a piece of code begins with, and its keywords, are there."""
    for word, attribute, call in re.findall(r"(?<![\w.\"'])@?(\w+)(?:\.(\w+))?(\(|$|\b)", code):
        if word in OWNERS and attribute and attribute not in members(OWNERS[word]):
            return False
        if call == "(" and not attribute and not hasattr_anywhere(word):
            return False
    function = re.match(r"@?([A-Za-z]\w+)\(", code)
    return function is None or keywords(code) <= known_keywords(function[1])


def members(owner):
    fields = getattr(owner, "__dataclass_fields__", {})
    own = {name for each in owner.__mro__ for name in getattr(each, "__annotations__", {})}
    return {*dir(owner), *fields, *own, *(("acts",) if owner is nbgraph.Panel else ())}


def hasattr_anywhere(name):
    return any(hasattr(module, name) for module in (nbgraph, nbgraph.middleware))


def keywords(code):
    """Return the keywords of the outermost call."""
    inner = code[code.index("(") + 1 :]
    while (shorter := re.sub(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}", "", inner)) != inner:
        inner = shorter
    return set(re.findall(r"(\w+)=", inner))


def known_keywords(name):
    found = getattr(nbgraph, name, None) or getattr(nbgraph.middleware, name, None)
    if found is None:
        return set()
    function = found.__init__ if inspect.isclass(found) else found
    return set(inspect.signature(function).parameters)
