"""Caches of answers, for as long as a graph file is open.

Cached answers stay valid: an open file never changes, and a file that replaces it is opened by a new adapter. Only the
event loop uses the caches, never the pool's threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TypeVar

from cachetools import LRUCache

from kgnav_mcp.adapters.embedded.anchors import Anchors
from kgnav_mcp.adapters.embedded.edges import EdgeKeys
from kgnav_mcp.model import AnchoredPage, Entity, RelationFacts

K = TypeVar("K")
T = TypeVar("T")

_CACHED_ENTITIES = 256
_CACHED_ANCHORS = 40_000
"""Entities in the cached sets of earlier calls. About 20 MB at most, if each set is one entity."""
_CACHED_COUNTS = 200_000
"""Counts per entity and relation in the cached lists of relations. About 20 MB at most."""
_CACHED_EDGES = 1_000_000
"""Numbers in the cached lists of edges between two sets, four for each edge. 8 MB at most."""


class Caches:
    """The caches of one adapter. Keys are the arguments of the call."""

    def __init__(self) -> None:
        self.described: LRUCache[tuple[str, ...], Mapping[str, Entity]] = LRUCache(_CACHED_ENTITIES)
        self.anchors: LRUCache[tuple[str, ...], Anchors] = LRUCache(_CACHED_ANCHORS, getsizeof=len)
        self.edges: LRUCache[tuple[object, ...], EdgeKeys] = LRUCache(_CACHED_EDGES, getsizeof=len)
        self.relations: LRUCache[tuple[object, ...], AnchoredPage[RelationFacts]] = LRUCache(
            _CACHED_COUNTS, getsizeof=_counts_in
        )

    def have_anchors(self, *sets: Sequence[str]) -> bool:
        """Whether all sets of ids are in the cache of anchors.

        Answers for sets with unknown ids are not cached, because a caller can invent any number of those.
        """
        return all(tuple(ids) in self.anchors for ids in sets)


def put(cache: LRUCache[K, T], key: K, value: T) -> None:
    """Puts a value into a cache, unless it is larger than the whole cache."""
    with suppress(ValueError):
        cache[key] = value


def _counts_in(page: AnchoredPage[RelationFacts]) -> int:
    return 1 + sum(1 + len(facts.per_entity) for facts in page.items)
