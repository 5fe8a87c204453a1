"""The names of labels: a class of an RDF graph has an id, but its nodes show the class's name."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from kgnav_mcp.errors import UnknownName
from kgnav_mcp.navigation.plans.check.schema_names import SchemaNames
from kgnav_mcp.port import GraphAdapter
from kgnav_mcp.port.lists import batches

_IDS = 10_000
"""Ids in one call."""


class Classes:
    """A cache of the names of labels."""

    def __init__(self, graph: GraphAdapter) -> None:
        self._graph = graph
        self._names: dict[str, frozenset[str]] = {}

    async def read_names(self, labels: Iterable[str]) -> None:
        """Read the names of labels."""
        unread = [label for label in dict.fromkeys(labels) if label not in self._names]
        if not unread:
            return
        vocabulary = await SchemaNames.of(self._graph)
        shown = ((label, vocabulary.label_name(label)) for label in unread)
        self._names.update((label, frozenset((label, name))) for label, name in shown if name is not None)
        unknown = [label for label in unread if label not in self._names]
        for batch in batches(unknown, _IDS):
            entities = await self._graph.describe(batch)
            for label in batch:
                name = entities[label].label if label in entities else None
                self._names[label] = frozenset((label, name) if name else [label, *await self._derived_names(label)])

    async def _derived_names(self, label: str) -> list[str]:
        """The name that nodes show for a class without a label: the adapter derives it from the id."""
        with suppress(UnknownName):
            return [facts.label for facts in (await self._graph.schema(label, limit=1)).labels if facts.id == label]
        return []

    def any_of(self, labels: Iterable[str], types: Iterable[str]) -> bool:
        """Whether one of these labels, whose names were read, is among the types that a node shows."""
        return any(not self._names[label].isdisjoint(types) for label in labels)
