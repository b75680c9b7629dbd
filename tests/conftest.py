"""What all tests share: random examples are the same at each change, and new ones at night."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("each change", _UNHURRIED, derandomize=True)
settings.register_profile("nightly", _UNHURRIED)
settings.load_profile("nightly" if os.environ.get("NBGRAPH_NIGHTLY") else "each change")
