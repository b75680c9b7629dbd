"""What a person can say about something without a known result: again, go on, or its result."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from nbgraph.core import answers
from nbgraph.errors import GraphConfigError

__all__ = ["settlements"]


class _Retry(BaseModel):
    """Run it again. What it did the first time is then done twice."""

    model_config = ConfigDict(extra="forbid", defer_build=True, title="Retry")
    decision: Literal["retry"]


class _Skip(BaseModel):
    """Go on without a result."""

    model_config = ConfigDict(extra="forbid", defer_build=True, title="Skip")
    decision: Literal["skip"]


class _SetResult(BaseModel):
    """Go on with the result it had, as you know it."""

    model_config = ConfigDict(extra="forbid", defer_build=True, title="Set result")
    decision: Literal["set result"]


def settlements(returns: Any) -> Any:
    """Return the type of an answer, with results of a type if that has a JSON Schema."""
    try:
        answers.publish(returns)
    except GraphConfigError:
        returns = Any
    with_result = create_model("SetResult", __base__=_SetResult, result=(returns, ...))
    with_result.__doc__ = _SetResult.__doc__
    return Annotated[_Retry | _Skip | with_result, Field(discriminator="decision")]
