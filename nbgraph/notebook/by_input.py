"""Questions asked by `input()`: where a cell waits, and no click can reach the kernel meanwhile."""

from __future__ import annotations

import getpass
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from nbgraph import words
from nbgraph.core.events import Interrupt
from nbgraph.core.result import GraphResult
from nbgraph.errors import AnswerError, QuestionExpiredError, ResumeError
from nbgraph.forms import (
    BooleanField,
    ChoiceField,
    DecimalField,
    IntegerField,
    JsonField,
    NumberField,
    TextField,
    read,
)
from nbgraph.literals import literal, plain
from nbgraph.notebook.labels import visible
from nbgraph.one_line import covered_arguments
from nbgraph.session import Session
from nbgraph.tool_calls import asked_call, why_asked

__all__ = ["finish_by_input"]

Ask = Callable[[str], str]
"""Shows a text, and returns the line that is typed."""

_YES, _NO = ("yes", "y"), ("no", "n")


def finish_by_input(
    session: Session, ask: Ask | None = None, ask_unseen: Ask | None = None
) -> GraphResult:
    """Go on to the end, with a person who answers by typing; return where that is.

    An interrupt of the kernel ends it, and leaves the thread paused.

    Parameters
    ----------
    session : Session
        What goes on.
    ask, ask_unseen : function, optional
        Take a text and return the line that was typed; by default `input`, and `getpass.getpass`
        for what the schema calls a secret.

    Raises
    ------
    Exception
        What a node raised.
    """
    ask, unseen = ask or input, ask_unseen or getpass.getpass
    session.settle()
    while session.status == "interrupted":
        question = next(iter(session.pending.values()), None)
        if question is None:
            ask(f"{visible(words.status(session.snapshot))}. Press Enter to go on. ")
            session.proceed().result()
        else:
            _answered(session, question, unseen if _is_secret(question) else ask)
    return session.finish()


def _is_secret(question: Interrupt) -> bool:
    field = read(question.response_schema) if question.response_schema else None
    return isinstance(field, TextField) and field.secret


def _answered(session: Session, question: Interrupt, ask: Ask) -> None:
    """Ask until an answer is recorded, here or by somebody else, or the question is over."""
    key = question.key
    _say(_shown(question))
    while True:
        typed = ask(_prompt(question))
        if not typed.strip() and asked_call(question) is not None:
            continue  # Enter alone decides nothing
        try:
            session.resume({key: _read(question, typed)}, asked={key: question.asked}).result()
        except AnswerError as error:
            _say("\n".join(_problem(*each) for each in error.problems.items()))
        except QuestionExpiredError as error:
            _say(str(error))
            session.proceed().result()
            return
        except ResumeError as error:
            _say(str(error))
            session.reload()
            return
        else:
            return


def _shown(question: Interrupt) -> str:
    """Return what is asked: of a tool call why, and exactly what would run."""
    call = asked_call(question)
    if call is not None:
        arguments = "".join(
            f"    {name}={plain(literal(value, indent=4))},\n"
            for name, value in covered_arguments(call).items()
        )
        return f"{visible(why_asked(call))}\n{visible(call.tool_name)}(\n{arguments})"
    told = visible(question.message or question.key)
    if question.payload is None:
        return told
    payload = json.dumps(question.payload, ensure_ascii=False, indent=1)
    return f"{told}\n{visible(payload)}"


def _prompt(question: Interrupt) -> str:
    if asked_call(question) is not None:
        return "yes runs exactly this; anything else is why it does not run: "
    return f"{_wanted(question.response_schema)}: "


def _wanted(schema: Mapping[str, Any] | None) -> str:
    """Return what is to be typed, in words."""
    match read(schema) if schema else None:
        case BooleanField():
            return "yes or no"
        case ChoiceField(options=options):
            return f"one of {', '.join(visible(each.label) for each in options)}"
        case TextField():
            return "text"
        case IntegerField() | NumberField() | DecimalField():
            return "a number"
        case JsonField() | None:
            return "text, or JSON"
        case _:
            return f"JSON for {visible(json.dumps(schema, ensure_ascii=False))}"


def _read(question: Interrupt, typed: str) -> Any:
    """Return what was typed as an answer; whether it is one is judged where all answers are."""
    said = typed.strip()
    if asked_call(question) is not None:
        return True if said.lower() == "yes" else {"action": "deny", "message": said}
    match read(question.response_schema) if question.response_schema else None:
        case BooleanField():
            known = dict.fromkeys(_YES, True) | dict.fromkeys(_NO, False)
            return known.get(said.lower(), typed)
        case ChoiceField(options=options):
            return next((each.value for each in options if each.label == said), typed)
        case TextField() | DecimalField():
            return typed
        case _:
            try:
                return json.loads(typed)
            except ValueError:
                return typed


def _problem(path: str, text: str) -> str:
    return visible(f"{path}: {text}" if path else text)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
