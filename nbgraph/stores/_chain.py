"""The hash chain of a branch: each commit's hash covers its own text and all commits before it.

A branch begins with a root, which for a fork covers its parent up to where it forks off. The hash
of the last commit therefore stands for the whole log: whoever noted it can tell whether the log was
rewritten since. Hashes do not depend on the store, so that an export keeps them.
"""

from __future__ import annotations

import struct
from hashlib import blake2b

__all__ = ["HASH_SIZE", "content_hash", "link", "root_of"]

HASH_SIZE = 16
"""Bytes of a hash."""

_PLACE = struct.Struct(">QQQ")


def root_of(thread_id: str, branch_id: str, parent: bytes = b"", parent_sequence: int = 0) -> bytes:
    """Return what the chain of a branch begins with; `parent` is the hash it forks off."""
    names = repr((thread_id, branch_id, parent_sequence)).encode()
    return blake2b(parent + names, digest_size=HASH_SIZE).digest()


def link(before: bytes, first: int, count: int, body: bytes, refs: str = "") -> bytes:
    """Return the hash of a commit that follows one with the hash `before`."""
    outside = refs.encode()
    place = _PLACE.pack(first, count, len(outside))
    return blake2b(b"".join((before, place, outside, body)), digest_size=HASH_SIZE).digest()


def content_hash(text: bytes) -> bytes:
    """Return the hash that names a large value."""
    return blake2b(text, digest_size=32).digest()
