from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from nbgraph.core.store import StateStore
from nbgraph.stores import InMemoryStateStore
from nbgraph.testing.stores import DraftConformance, StoreConformance


class TestInMemoryStateStore(StoreConformance, DraftConformance):
    def make_store(self, folder: Path) -> StateStore:
        return InMemoryStateStore()


def test_importing_the_stores_does_not_import_sqlite() -> None:
    code = "import sys, nbgraph.stores; sys.exit('sqlite3' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_module_names_what_it_exports() -> None:
    import nbgraph.stores

    assert [name for name in nbgraph.stores.__all__ if not hasattr(nbgraph.stores, name)] == []
    assert not hasattr(nbgraph.stores, "NoStateStore")
