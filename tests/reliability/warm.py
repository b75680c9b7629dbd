"""What the workers have done before they are made: imports, and first uses of types.

Each worker and its forks then spend their time on what is asked of them.
"""

from __future__ import annotations

import asyncio

from nbgraph.core.answers import problems_of
from tests.reliability import (  # noqa: F401 - imported once, for all workers
    damage,
    faults,
    races,
    runs,
    takeovers,
    tools,
)
from tests.reliability.processes import in_memory
from tests.reliability.runs import open_store
from tests.reliability.walks import VARIANTS, go_on, walk
from tests.stores.postgres import URL


async def _once() -> None:
    with in_memory() as folder:
        for variant in VARIANTS:
            store = open_store(folder / f"{variant}.db")
            await go_on(walk(variant, store, [], 9), lambda line: None)
            await store.verify()
            await store.aclose()


asyncio.run(_once())
problems_of({"oneOf": [{"type": "string"}]}, "")  # judges by a schema, as after a restart
if URL:
    import psycopg  # noqa: F401 - each fork would import it
