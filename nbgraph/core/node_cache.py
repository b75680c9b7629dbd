"""`NodeCache`: results of nodes that need not run again for the same input."""

from __future__ import annotations

import functools
import hashlib
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from nbgraph.core import answers

if TYPE_CHECKING:
    from nbgraph.core.node import Node
    from nbgraph.core.schema import StateSchema

__all__ = ["NodeCache"]


class NodeCache:
    """Keeps what nodes returned, in the memory of this process, and gives it for the same input.

    Parameters
    ----------
    key : function, optional
        Takes the state a node is given, and returns what the result depends on, as JSON or a model.
        By default the whole state.
    ttl : float, optional
        Seconds for which a result counts; without it, as long as it is kept.
    limit : int
        How many results are kept; the ones used longest ago go first.
    clock : function
        Returns the time in seconds.

    Raises
    ------
    ValueError
        If `ttl` or `limit` is not above 0.
    """

    def __init__(
        self,
        *,
        key: Callable[[Any], Any] | None = None,
        ttl: float | None = None,
        limit: int = 1000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if ttl is not None and not ttl > 0:
            raise ValueError(f"ttl is a number of seconds above 0, got {ttl!r}")
        if limit < 1:
            raise ValueError(f"limit is 1 or more, got {limit!r}")
        self.key = key
        self.ttl = ttl
        self.limit = limit
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str], tuple[float, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def clear(self, node: str | None = None) -> None:
        """Forget the results of `node`, by its name, or of all."""
        with self._lock:
            for address in [one for one in self._kept if node in (None, one[0])]:
                del self._kept[address]

    def __len__(self) -> int:
        return len(self._kept)

    def address(
        self, node: Node, schema: StateSchema, values: Mapping[str, Any]
    ) -> tuple[str, str]:
        """Return where the result of `node` is kept for these `values` of a state of `schema`.

        Raises
        ------
        ValueError
            If what `key` returned is no JSON.
        """
        if self.key is None:
            given = schema.to_json(values)
        else:
            given = answers.to_json(self.key(schema.shown(values)), where="key of a NodeCache")
        text = json.dumps([_code(node), given], sort_keys=True)
        return node.name, hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()

    def get(self, address: tuple[str, str]) -> Any:
        """Return the result that is kept at `address` and still counts; None if there is none."""
        with self._lock:
            at, result = self._kept.get(address, (0.0, None))
            if result is None:
                return None
            if self.ttl is not None and self._clock() - at >= self.ttl:
                del self._kept[address]
                return None
            self._kept.move_to_end(address)
            return result

    def put(self, address: tuple[str, str], result: Any) -> None:
        """Keep `result` at `address`."""
        with self._lock:
            self._kept[address] = (self._clock(), result)
            self._kept.move_to_end(address)
            while len(self._kept) > self.limit:
                self._kept.popitem(last=False)


@functools.lru_cache(maxsize=256)
def _code(node: Node) -> str:
    """Return what tells a node from one of its name that is written otherwise."""
    return node.source or ""
