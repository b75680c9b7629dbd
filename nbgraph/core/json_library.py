"""jsonschema, loaded without what it does not need yet.

Where `rfc3987_syntax` is installed, as Jupyter's server has it, importing jsonschema builds 38
grammars for its check of the format `iri`: a second of work before the first form stands. The check
is left as it is, and its grammars are built when somebody asks for it.
"""

from __future__ import annotations

import importlib
import sys
import threading
from importlib.util import find_spec
from types import ModuleType
from typing import Any

__all__ = ["load_jsonschema"]

_SLOW = "rfc3987_syntax"
_lock = threading.Lock()


def load_jsonschema() -> None:
    """Import jsonschema, unless somebody has; a call costs nothing then."""
    if "jsonschema" in sys.modules:
        return
    with _lock:
        if _SLOW in sys.modules or find_spec(_SLOW) is None:
            importlib.import_module("jsonschema")
            return
        stand_in: Any = ModuleType(_SLOW)
        stand_in.is_valid_syntax = _is_valid_syntax
        sys.modules[_SLOW] = stand_in
        try:
            importlib.import_module("jsonschema")
        finally:
            sys.modules.pop(_SLOW, None)


def _is_valid_syntax(term: str, value: str) -> bool:
    slow: Any = importlib.import_module(_SLOW)
    return slow.is_valid_syntax(term, value)
