"""What holds for every widget of every test here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ipywidgets.widgets import widget as kept


@pytest.fixture(autouse=True)
def no_widget_is_left_with_a_closed_part() -> Iterator[None]:
    """A page that is loaded again fails to make any widget, if one of them has a closed part."""
    before = set(kept._instances)
    yield
    made = [each for key, each in kept._instances.items() if key not in before]
    broken = [
        (each._dom_classes, part._dom_classes)
        for each in made
        for part in getattr(each, "children", ())
        if part.comm is None
    ]
    assert broken == []
