"""Rules over the whole source: forbidden words, and calls that would let data run."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import nbgraph

PACKAGE = Path(nbgraph.__file__).parent
PYTHON = sorted(PACKAGE.glob("**/*.py"))
SCRIPTS = sorted(PACKAGE.glob("**/*.js"))
SHEETS = sorted(PACKAGE.glob("**/*.css"))

FORBIDDEN_WORDS = {
    *("checkpointer", "channel", "action", "manager", "helper", "util", "utils", "base", "common")
}
NAMES_OF_OTHERS = {"BaseState"}
"""Names that the API we are compatible with asks for."""

TOKENS = PACKAGE / "notebook" / "static" / "nbgraph.css"
STATIC_PICTURE = PACKAGE / "drawing" / "static.py"
"""Has no style sheet beside it, so it carries its colours."""
COLOUR = re.compile(
    r"(?<![\w&])#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\b|\b(?:rgb|hsl|hwb|lab|lch)a?\(",
    re.IGNORECASE,
)
COLOUR_NAME = re.compile(r"\b(?:white|black|red|green|blue|gr[ae]y|orange|yellow|purple|brown)\b")
DECLARATION = re.compile(r"(--?[\w-]+|[a-z][\w-]*)\s*:\s*([^;{}]+)[;}]")
COMMENT_OR_SHAPE = re.compile(r"/\*.*?\*/|url\('[^']*'\)|url\(\"[^\"]*\"\)", re.DOTALL)
MASKS = {"mask", "mask-image", "-webkit-mask", "-webkit-mask-image"}
"""Of a mask only the opacity is seen."""
TOKEN = "--nbgraph-"

SCRIPT_DANGERS = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?://(?!www\.w3\.org/)"
)
UNSAFE_MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle"}


def short(path):
    return str(path.relative_to(PACKAGE))


@pytest.fixture(params=PYTHON, ids=short)
def source(request):
    return request.param


@pytest.fixture
def tree(source):
    return ast.parse(source.read_text(encoding="utf-8"))


def test_a_module_has_no_forbidden_word_in_its_names(source, tree):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    names = {node.name for node in ast.walk(tree) if isinstance(node, kinds)}
    names |= set(source.relative_to(PACKAGE).with_suffix("").parts)
    bad = {name for name in names - NAMES_OF_OTHERS if words_of(name) & FORBIDDEN_WORDS}
    assert bad == set()


def test_a_module_lets_no_data_run(source, tree):
    found = [problem for node in ast.walk(tree) for problem in dangers(node)]
    if short(source) == "core/quick_dataclass.py":  # from the fields of nbgraph's own classes
        assert [problem.split()[-1] for problem in found] == ["exec"]
    else:
        assert found == []


def test_a_module_builds_no_sql_from_values(tree):
    calls = [node for node in ast.walk(tree) if is_execute(node) and node.args]
    assert [f"line {call.lineno}" for call in calls if is_built(call.args[0])] == []


def test_a_module_names_no_colour(source, tree):
    strings = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    named = [
        f"line {node.lineno}: {node.value}"
        for node in strings
        if isinstance(node.value, str) and COLOUR.search(node.value)
    ]
    assert named == [] or source == STATIC_PICTURE


@pytest.mark.parametrize("script", SCRIPTS, ids=short)
def test_a_script_lets_no_data_run_loads_nothing_and_names_no_colour(script):
    lines = script.read_text(encoding="utf-8").splitlines()
    rules = (SCRIPT_DANGERS, COLOUR)
    assert [line for line in lines if any(rule.search(line) for rule in rules)] == []


@pytest.mark.parametrize("sheet", SHEETS, ids=short)
def test_a_style_sheet_names_colours_in_tokens_alone(sheet):
    text = COMMENT_OR_SHAPE.sub("", sheet.read_text(encoding="utf-8"))
    coloured = [
        f"{name}: {value}"
        for name, value in DECLARATION.findall(text)
        if name not in MASKS and (COLOUR.search(value) or COLOUR_NAME.search(value))
    ]
    tokens = [one for one in coloured if sheet == TOKENS and one.startswith(TOKEN)]
    assert coloured == tokens


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from pickle import loads",
        "eval('1')",
        "exec(text)",
        "yaml.load(text)",
        "widgets.HTML('x')",
        "HTMLMath(value='x')",
        "from ipywidgets import HTML",
    ],
)
def test_what_lets_data_run_is_seen(line):
    assert [problem for node in ast.walk(ast.parse(line)) for problem in dangers(node)]


@pytest.mark.parametrize(
    "argument",
    ["f'select {x}'", "'select %s' % x", "'select {}'.format(x)", "'select ' + x", "f'{x}' 'y'"],
)
def test_built_sql_is_seen(argument):
    call = ast.parse(f"connection.execute({argument})").body[0].value
    assert is_execute(call)
    assert is_built(call.args[0])


@pytest.mark.parametrize("argument", ["'select ?', (x,)", "SELECT, (x,)", "f'select', ()"])
def test_written_sql_is_accepted(argument):
    call = ast.parse(f"connection.execute({argument})").body[0].value
    assert not is_built(call.args[0])


def test_words_are_found_in_both_spellings():
    assert words_of("_HTMLBaseClass") == {"html", "base", "class"}
    assert words_of("common_action2") == {"common", "action"}
    assert words_of("database") == {"database"}


def words_of(name):
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)
    return {part.lower() for part in parts}


def dangers(node):
    """Yield what is wrong with one node of a module's tree."""
    match node:
        case ast.Import(names=names):
            yield from (one.name for one in names if one.name.split(".")[0] in UNSAFE_MODULES)
        case ast.ImportFrom(module="ipywidgets", names=names):
            yield from (one.name for one in names if one.name in {"HTML", "HTMLMath"})
        case ast.ImportFrom(module=str(module)) if module.split(".")[0] in UNSAFE_MODULES:
            yield module
        case ast.Call(func=ast.Name(id="eval" | "exec" | "HTMLMath" as name)):
            yield f"line {node.lineno}: {name}"
        case ast.Call(func=ast.Attribute(value=ast.Name(id="yaml"), attr="load")):
            yield f"line {node.lineno}: yaml.load"
        case ast.Attribute(value=ast.Name(id="widgets" | "ipywidgets"), attr="HTML" | "HTMLMath"):
            yield f"line {node.lineno}: {node.attr}"


def is_execute(node):
    names = {"execute", "executemany", "executescript"}
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in names
    )


def is_built(argument):
    """Tell whether a string is put together from values at this place."""
    match argument:
        case ast.JoinedStr(values=parts):
            return any(isinstance(part, ast.FormattedValue) for part in parts)
        case ast.BinOp(op=ast.Mod() | ast.Add()):
            return True
        case ast.Call(func=ast.Attribute(attr="format" | "join")):
            return True
    return False
