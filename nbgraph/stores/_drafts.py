"""A draft as the text that a store keeps."""

from __future__ import annotations

import json

from nbgraph.core.drafts import Draft
from nbgraph.errors import StateStoreError

__all__ = ["draft_text"]


def draft_text(draft: Draft | None) -> str | None:
    """Return a draft's value as JSON text of ASCII letters, which any database can hold.

    Raises
    ------
    StateStoreError
        If it is no JSON.
    """
    if draft is None:
        return None
    try:
        return json.dumps(draft.value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise StateStoreError(f"A draft cannot be kept as JSON: {error}") from error
