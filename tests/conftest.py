"""What all tests share: random examples are the same at each change, and new ones at night.

Widgets that a test made are closed after it: an open panel looks at its store every second.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

_UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("each change", _UNHURRIED, derandomize=True)
settings.register_profile("nightly", _UNHURRIED)
settings.load_profile("nightly" if os.environ.get("NBGRAPH_NIGHTLY") else "each change")


def _widgets() -> dict[str, Any]:
    """Return the widgets that are open; without importing any."""
    module = sys.modules.get("ipywidgets.widgets.widget")
    return {} if module is None else module._instances


@pytest.fixture(autouse=True)
def closes_its_widgets() -> Iterator[None]:
    """Close the widgets that a test made, panels and inboxes before what they are made of."""
    before = set(_widgets())
    yield
    made = [widget for key, widget in [*_widgets().items()] if key not in before]
    for widget in sorted(made, key=lambda one: type(one).__name__ not in ("Panel", "Inbox")):
        widget.close()
