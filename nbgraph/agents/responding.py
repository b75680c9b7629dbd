"""The signal that a person answers the model in a tool's place."""

from __future__ import annotations

__all__ = ["Responded"]


class Responded(Exception):
    """Ends a tool call before the tool runs, with what the model reads instead of its result."""

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__(text)
