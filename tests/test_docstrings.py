"""What `help()` says of a public thing: all it takes, what it raises, and in our words."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import itertools
import pkgutil
import re
import textwrap

import pydantic
import pytest

import nbgraph.errors
import nbgraph.testing
from tests.test_words import FORBIDDEN_WORDS, NAMES_OF_OTHERS, words_of

TESTING = [found.name for found in pkgutil.iter_modules(nbgraph.testing.__path__)]
MODULES = [
    *("nbgraph", "nbgraph.middleware", "nbgraph.chat", "nbgraph.stores", "nbgraph.state"),
    *("nbgraph.errors", "nbgraph.exceptions"),
    *(f"nbgraph.testing.{name}" for name in TESTING if not name.startswith("_")),
]
ERRORS = {*nbgraph.errors.__all__, "GraphInterrupt", "RuntimeError", "TypeError", "ValueError"}
MADE_BY_NBGRAPH = {
    "NodeContext": {"given", "planned", "port", "recorded"},
    "NodeMiddlewareContext": {"schema", "stored"},
    "Tool": {"declared_input", "function", "seen"},
    "ToolContext": {"given"},
    "ToolMiddlewareContext": {"approved"},
}
"""Of what only the library makes: what it is made with, and no user passes or reads."""
OF_THE_RUNTIME = {"nbgraph.state.StateSchema"}
"""Public by the name of its type; its methods are called by the runtime alone."""
TOLD_APART_BY = {"kind", "type"}
"""Fields that only tell a record from others."""

IN_BACKTICKS = re.compile(r"`[*]{0,2}(\w[^`]*)`")
IN_A_SECTION = re.compile(r"(?m)^([*]{0,2}\w+(?:, [*]{0,2}\w+)*)(?: :|$)")
PARAMETERS = re.compile(r"(?ms)^Parameters\n-+\n(.*?)(?=\n\n\w+\n-+\n|\Z)")


def public():
    """Return every public function and class, by the first name it is found under."""
    found = {}
    for module in map(importlib.import_module, MODULES):
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                found.setdefault(value, f"{module.__name__}.{name}")
    return {name: value for value, name in found.items()}


PUBLIC = public()


@pytest.mark.parametrize("name", PUBLIC)
def test_all_that_a_public_thing_takes_is_named_where_help_shows_it(name):
    of_class = documented(PUBLIC[name]) if inspect.isclass(PUBLIC[name]) else set()
    missing = {
        place: unnamed
        for place, value in with_methods(name)
        if (unnamed := parameters(value) - named_in(inspect.getdoc(value) or "") - of_class)
    }
    assert missing == {}


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_thing_lists_no_parameter_that_it_does_not_take(name):
    unknown = {
        place: listed - parameters(value)
        for place, value in with_methods(name)
        for listed in map(listed_in, PARAMETERS.findall(inspect.getdoc(value) or ""))
        if listed - parameters(value)
    }
    assert unknown == {}


@pytest.mark.parametrize("name", PUBLIC)
def test_an_error_that_a_public_thing_raises_is_named(name):
    unnamed = {
        place: missing
        for place, value in with_methods(name)
        if (missing := raised(value) - {*re.findall(r"\w+", inspect.getdoc(value) or "")})
    }
    assert unnamed == {}


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_thing_speaks_in_the_words_of_this_library(name):
    for place, value in with_methods(name):
        own = place.rpartition(".")[2]
        assert words_of(own) & FORBIDDEN_WORDS == set() or own in NAMES_OF_OTHERS
        said = re.findall(r"\w+", prose(inspect.getdoc(value) or ""))
        assert {word.lower() for word in said} & FORBIDDEN_WORDS == set(), place


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_thing_has_types_on_all_it_takes_and_returns(name):
    bare = {}
    for place, value in with_methods(name):
        function = vars(value).get("__init__") if inspect.isclass(value) else value
        if inspect.isfunction(function) and function.__module__.startswith("nbgraph"):
            known = {*function.__annotations__}
            wanted = {*inspect.signature(function).parameters, "return"} - {"self", "cls"}
            if wanted - known:
                bare[place] = wanted - known
    assert bare == {}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Take `text` or `other=1` away.", {"text", "other", "1"}),
        ("Parameters\n----------\na, *b : str\n    What.\nc\n    More.", {"a", "b", "c"}),
        ("Take the text away.", set()),
    ],
)
def test_a_name_counts_where_it_stands_out(text, names):
    assert named_in(text) - {"Parameters"} == names


def with_methods(name):
    """Yield a public thing, and the public methods of a class that are nbgraph's own."""
    value = PUBLIC[name]
    yield name, value
    if not inspect.isclass(value) or name in OF_THE_RUNTIME:
        return
    for attribute in dir(value):
        method = inspect.getattr_static(value, attribute)
        written = inspect.isfunction(method) or isinstance(method, classmethod | staticmethod)
        function = getattr(value, attribute) if written else None
        ours = written and function.__module__.startswith("nbgraph")
        if ours and not attribute.startswith(("_", "test_")):
            yield f"{name}.{attribute}", function


def parameters(value):
    """Return what a function is called with; of a class, what it is made of."""
    if inspect.isclass(value) and issubclass(value, pydantic.BaseModel):
        return {*value.model_fields} - TOLD_APART_BY
    if inspect.isclass(value) and not is_made_by_its_own(value):
        return set()
    signature = inspect.signature(value)
    return {name for name in signature.parameters if not name.startswith("_")} - {"self", "cls"}


def is_made_by_its_own(owner):
    """Return whether a class says what it is made of: a protocol and a built-in do not."""
    is_protocol = getattr(owner, "_is_protocol", False)
    makers = (getattr(owner, name) for name in ("__init__", "__new__"))
    return not is_protocol and any(map(inspect.isfunction, makers))


def named_in(text):
    """Return the words that a docstring has in backticks, or lists in a section."""
    spans = IN_BACKTICKS.findall(text)
    return listed_in(text) | {word for span in spans for word in re.findall(r"\w+", span)}


def listed_in(text):
    """Return the names at the margin of a section, each with what is said of it below."""
    return {word.strip("* ") for line in IN_A_SECTION.findall(text) for word in line.split(",")}


@functools.cache
def documented(owner):
    """Return what help of a class names: in its docstring or those it stands on, and fields."""
    known = set(MADE_BY_NBGRAPH.get(owner.__name__, ()))
    for each in owner.__mro__:
        if each.__module__.startswith("nbgraph"):
            known |= named_in(inspect.cleandoc(each.__doc__ or "")) | {*described(each)}
    return known


def described(owner):
    """Yield the fields that have a docstring of their own below them."""
    body = ast.parse(textwrap.dedent(inspect.getsource(owner))).body[0].body
    for field, text in itertools.pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            yield ast.unparse(field.target)


def raised(value):
    """Return the errors that a function, or what makes a class's instances, raises itself."""
    if inspect.isclass(value):
        makers = [vars(value).get(each) for each in ("__init__", "__post_init__")]
        written = [each for each in makers if inspect.isfunction(each) and has_source(each)]
        return {error for each in written for error in raised(each)}
    tree = ast.parse(textwrap.dedent(inspect.getsource(value)))
    calls = [each.exc for each in own_statements(tree.body[0]) if isinstance(each, ast.Raise)]
    names = (each.func for each in calls if isinstance(each, ast.Call))
    return {each.id for each in names if isinstance(each, ast.Name)} & ERRORS


def own_statements(node):
    """Yield what stands in a function, without the functions that it makes."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from own_statements(child)


def has_source(function):
    return function.__module__.startswith("nbgraph") and function.__code__.co_filename[0] != "<"


def prose(text):
    """Return a docstring without names: what is in backticks, examples, and listed parameters."""
    text = re.sub(r"(?s)\nExamples\n-+\n.*", "", text)
    return IN_A_SECTION.sub("", re.sub(r"`[^`]*`", "", text))
