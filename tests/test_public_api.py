"""What is public: listed, importable, documented, and cheap to import."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import nbgraph

PACKAGE = Path(nbgraph.__file__).parent
HEAVY = (
    "IPython",
    "anywidget",
    "graphviz",
    "ipywidgets",
    "jsonschema",
    "nbformat",
    "pygraphviz",
    "sqlite3",
    "tenacity",
    "traitlets",
)


def module_name(path):
    parts = ("nbgraph", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for path in sorted(PACKAGE.glob("**/*.py"))}
ENGINES = ("nbgraph.adapters.agentflow",) if find_spec("tenxgraph") is None else ()
"""Modules of an engine that this Python cannot have; their own tests import them."""
PUBLIC = [
    name
    for name in FILES
    if not any(part.startswith("_") for part in name.split(".")) and not name.startswith(ENGINES)
]


@pytest.mark.parametrize("name", PUBLIC)
def test_a_module_lists_what_is_public(name):
    defined = public_definitions(ast.parse(FILES[name].read_text(encoding="utf-8")))
    module = importlib.import_module(name)
    listed = getattr(module, "__all__", [])
    assert not defined or listed, f"{name} has no __all__"
    assert list(listed) == list(dict.fromkeys(listed))
    assert [one for one in listed if not hasattr(module, one)] == []


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_public_has_a_docstring(name):
    module = importlib.import_module(name)
    assert inspect.getdoc(module)
    assert [one for one in documented(module) if not own_docstring(getattr(module, one))] == []


@pytest.mark.parametrize("name", PUBLIC)
def test_public_methods_have_a_docstring(name):
    module = importlib.import_module(name)
    classes = [getattr(module, one) for one in documented(module)]
    missing = [
        f"{owner.__name__}.{method}"
        for owner in filter(inspect.isclass, classes)
        for method, function in vars(owner).items()
        if is_written(function) and not method.startswith(("_", "test_"))
        if not inspect.getdoc(function)
    ]
    assert missing == []


def test_every_public_name_of_the_package_is_seen_by_dir():
    assert dir(nbgraph) == sorted(nbgraph.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'nbgraph' has no attribute 'nothing'"):
        _ = nbgraph.nothing


def test_the_import_loads_nothing_that_can_wait():
    code = f"import sys, nbgraph; print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "[]\n"


def public_definitions(tree):
    """Return the public functions and classes that a module defines itself."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [
        statement.name
        for statement in tree.body
        if isinstance(statement, kinds) and not statement.name.startswith("_")
    ]


def documented(module):
    """Return the listed functions and classes, each at the module that defines it."""
    return [
        name
        for name in getattr(module, "__all__", [])
        if inspect.isclass(value := getattr(module, name)) or inspect.isroutine(value)
        if value.__module__ == module.__name__
    ]


def own_docstring(value):
    """Return the docstring, not an inherited one, nor the signature a dataclass makes up."""
    text = value.__doc__ or ""
    return "" if text.startswith(f"{value.__name__}(") else text


def is_written(value):
    return inspect.isroutine(value) or isinstance(value, property | classmethod | staticmethod)


def test_every_public_name_is_the_thing_and_not_a_module():
    code = (
        "import nbgraph, types\n"
        "for name in nbgraph.__all__:\n"
        "    exec(f'from nbgraph import {name} as found')\n"
        "    assert not isinstance(found, types.ModuleType), name\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
