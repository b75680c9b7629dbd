"""Whether a file is on a network: a write-ahead log needs memory that all its processes share."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

__all__ = ["on_network"]

_MOUNTS = Path("/proc/self/mountinfo")
_OCTAL = re.compile(r"\\([0-7]{3})")
_NETWORK = frozenset({
    "9p",
    "afs",
    "afpfs",
    "ceph",
    "cifs",
    "fuse.cephfs",
    "fuse.glusterfs",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.sshfs",
    "gcsfuse",
    "glusterfs",
    "gpfs",
    "lustre",
    "ncpfs",
    "nfs",
    "nfs3",
    "nfs4",
    "ocfs2",
    "orangefs",
    "pvfs2",
    "smb2",
    "smb3",
    "smbfs",
    "virtiofs",
})


def on_network(path: Path, *, mounts: Path = _MOUNTS) -> bool:
    """Return whether a file is known to be on a network file system; where unknown, it is not."""
    try:
        text = mounts.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return False
    real = os.path.realpath(path)
    holding = [(len(point), kind) for point, kind in _mounted(text) if _holds(point, real)]
    return bool(holding) and max(holding, key=lambda found: found[0])[1] in _NETWORK


def _mounted(text: str) -> Iterator[tuple[str, str]]:
    """Return the mount points and their types, the one mounted last first."""
    for line in reversed(text.splitlines()):
        before, _, after = line.partition(" - ")
        fields, kinds = before.split(), after.split()
        if len(fields) > 4 and kinds:
            yield _OCTAL.sub(lambda found: chr(int(found[1], 8)), fields[4]), kinds[0]


def _holds(point: str, path: str) -> bool:
    return point == "/" or path == point or path.startswith(point.rstrip("/") + "/")
