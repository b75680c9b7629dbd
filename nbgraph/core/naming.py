"""Who uses this process, and names in a message."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable

__all__ = ["check_text", "listed", "login_name"]


def login_name() -> str | None:
    """Return who uses this process: `JUPYTERHUB_USER`, else the login name, if there is one."""
    return os.environ.get("JUPYTERHUB_USER") or _login()


@functools.cache
def _login() -> str | None:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return None


def check_text(**given: object) -> None:
    """Refuse what is no text, by the name under which it was given; None is nothing given.

    Raises
    ------
    TypeError
        If something else was given.
    """
    for name, value in given.items():
        if not isinstance(value, str | None):
            raise TypeError(f"{name} is a str, got {value!r}")


def listed(names: Iterable[str]) -> str:
    """Return names as a message lists them."""
    return ", ".join(map(repr, names)) or "nothing"
