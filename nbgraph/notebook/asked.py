"""What a form asks: its field, who judges the answer, and the words around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nbgraph.core.answers import Unset, judge, problems_of, publish, to_json
from nbgraph.core.events import Interrupt
from nbgraph.core.json_values import Json, NotJsonError
from nbgraph.errors import AnswerError
from nbgraph.forms import Field, ObjectField, Reading, TextField, read

__all__ = ["Asked", "asked_by", "asked_of", "field_of_answer"]

Judge = Callable[[Json], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a form asks, and who judges the answer.

    Attributes
    ----------
    judge : callable
        Returns what is wrong with an answer, by JSON Pointer.
    interrupt : Interrupt or None
        The pending question, if it is one.
    submit : str
        What the button says.
    """

    field: Field
    judge: Judge
    message: str | None = None
    interrupt: Interrupt | None = None
    submit: str = "Submit answer"

    @property
    def is_partly_needed(self) -> bool:
        """Whether some fields wear a star and others not, so that it has to be explained."""
        field = self.field
        return isinstance(field, ObjectField) and len({each.required for each in field.fields}) > 1

    def errors(self, reading: Reading) -> dict[str, str]:
        """Return what the fields say, and then what the judge says of what is there."""
        found = dict(reading.errors)
        if "" in found or isinstance(reading.partial, Unset):
            return found
        try:
            judged = self.judge(to_json(reading.partial, where="the answer"))
        except NotJsonError as error:
            judged = error.problems
        return {**found, **{at: text for at, text in judged.items() if at not in found}}

    def as_code(self, answer: str, comment: str | None) -> str:
        """Return the code of an answer; of a pending question, that of the whole `Resume`."""
        if self.interrupt is None:
            return answer
        start = f"Resume(answers={{{self.interrupt.key!r}: "
        said = f", comment={comment!r}" if comment else ""
        return f"{start}{answer.replace(chr(10), chr(10) + ' ' * len(start))}}}{said})"


def asked_of(kind: Any, message: str | None = None, submit: str = "Submit answer") -> Asked:
    """Return what a form of a type or a JSON Schema asks."""
    field = _field(publish(kind, outward=True))
    return Asked(field, lambda answer: problems_of(kind, answer), message, submit=submit)


def asked_by(interrupt: Interrupt, thread_id: str | None) -> Asked:
    """Return what a pending question asks; its Python type judges where this process knows it."""

    def problems(answer: Json) -> Mapping[str, str]:
        try:
            judge(interrupt, answer, thread_id=thread_id)
        except AnswerError as error:
            return error.problems
        return {}

    return Asked(field_of_answer(interrupt), problems, interrupt.message, interrupt)


def field_of_answer(interrupt: Interrupt) -> Field:
    """Return what an answer to a question is typed into."""
    return _field(interrupt.response_schema)


def _field(schema: dict[str, Json] | None) -> Field:
    return TextField(multiline=True) if schema is None else read(schema)
