"""Answers that are kept while a graph file is open.

An open file never changes, and one that is put in its place is opened by an adapter of its own: answers hold. They are
looked up on the event loop alone, never by the pool's threads.
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
"""Entities that are known from the sets of earlier calls: some 20 MB at the most, where all are of one call each."""
_CACHED_COUNTS = 200_000
"""Rows of an entity by a relation, in the lists of relations that are cached: some 20 MB at the most."""
_CACHED_EDGES = 1_000_000
"""Numbers of edges between sets of entities, in lists that are paged through: 8 MB at the most."""


class Caches:
    """By what was asked."""

    def __init__(self) -> None:
        self.described: LRUCache[tuple[str, ...], Mapping[str, Entity]] = LRUCache(_CACHED_ENTITIES)
        self.anchors: LRUCache[tuple[str, ...], Anchors] = LRUCache(_CACHED_ANCHORS, getsizeof=len)
        self.edges: LRUCache[tuple[object, ...], EdgeKeys] = LRUCache(_CACHED_EDGES, getsizeof=len)
        self.relations: LRUCache[tuple[object, ...], AnchoredPage[RelationFacts]] = LRUCache(
            _CACHED_COUNTS, getsizeof=_counts_in
        )

    def are_known(self, *sets: Sequence[str]) -> bool:
        """Whether sets of ids have been looked up; others, of which a caller may make up any number, are not kept."""
        return all(tuple(ids) in self.anchors for ids in sets)


def put(cache: LRUCache[K, T], key: K, value: T) -> None:
    """Put a value into a cache, unless it is larger than the whole of it."""
    with suppress(ValueError):
        cache[key] = value


def _counts_in(page: AnchoredPage[RelationFacts]) -> int:
    return 1 + sum(1 + len(facts.per_entity) for facts in page.items)
