"""What labels are called: a class of an RDF graph has an id, and its nodes show its name."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from kgnav_mcp.errors import UnknownName
from kgnav_mcp.port import GraphAdapter

_IDS = 10_000
"""Ids of one call."""


class Classes:
    """The names of labels, as far as they were asked for."""

    def __init__(self, graph: GraphAdapter) -> None:
        self._graph = graph
        self._names: dict[str, frozenset[str]] = {}

    async def know(self, labels: Iterable[str]) -> None:
        """Read what labels are called."""
        unknown = [label for label in dict.fromkeys(labels) if label not in self._names]
        for start in range(0, len(unknown), _IDS):
            batch = unknown[start : start + _IDS]
            entities = await self._graph.describe(batch)
            for label in batch:
                name = entities[label].label if label in entities else None
                self._names[label] = frozenset((label, name) if name else [label, *await self._shown(label)])

    async def _shown(self, label: str) -> list[str]:
        """What nodes show for a class without a name: an adapter reads one out of its id."""
        with suppress(UnknownName):
            return [facts.label for facts in (await self._graph.schema(label, limit=1)).labels if facts.id == label]
        return []

    def any_of(self, labels: Iterable[str], types: Iterable[str]) -> bool:
        """Whether one of some labels, whose names are known, is among the types that a node shows."""
        return any(not self._names[label].isdisjoint(types) for label in labels)
