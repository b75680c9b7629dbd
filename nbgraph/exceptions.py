"""The errors, under the name nodestep gives this module; `nbgraph.errors` explains them."""

from __future__ import annotations

from nbgraph.errors import *  # noqa: F403 - the same names, all of them
from nbgraph.errors import __all__ as __all__
