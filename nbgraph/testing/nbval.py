"""Makes nbval compare notebooks with nbgraph's pictures: a pytest plug-in."""

from __future__ import annotations
