"""Who uses this process, and names in a message."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable

__all__ = ["listed", "login_name"]


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


def listed(names: Iterable[str]) -> str:
    """Return names as a message lists them."""
    return ", ".join(map(repr, names)) or "nothing"
