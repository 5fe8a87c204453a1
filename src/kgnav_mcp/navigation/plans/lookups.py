"""Entities that a plan names, each read once while the plan is checked and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kgnav_mcp.model import Count, Entity, Namesake, Page
from kgnav_mcp.port import GraphAdapter

_FEW = 100
"""Nodes with a property value that are read to name and to count them: usually these are all of them."""
_NAMESAKES = 1_000
"""Entities of one name that become a list of ids; if more have the name, the store compares names instead."""
_NAMES_PER_CALL = 100
"""Names in one call: every store accepts as many."""


class Lookups:
    """Looks up entities by id, by name, and by the value of a property. One plan's own: it remembers what it read."""

    def __init__(self, graph: GraphAdapter) -> None:
        self._graph = graph
        self._by_id: dict[str, Entity | None] = {}
        self._having: dict[tuple[str | None, str, str], Page[Entity]] = {}
        self._counted: dict[tuple[str | None, str | None], Count] = {}

    async def by_id(self, ids: Sequence[str]) -> Mapping[str, Entity]:
        """The entities of some ids, as users may write them; an id that no entity has is left out."""
        unread = [each for each in dict.fromkeys(ids) if each not in self._by_id]
        if unread:
            found = await self._graph.describe(unread)
            self._by_id.update((each, found.get(each)) for each in unread)
        return {each: entity for each in ids if (entity := self._by_id[each]) is not None}

    async def by_name(self, names: Sequence[str]) -> Mapping[str, Page[Namesake]]:
        """Who bears each of some names, a thousand of each at most."""
        found: dict[str, Page[Namesake]] = {}
        for start in range(0, len(names), _NAMES_PER_CALL):
            found.update(await self._graph.find_by_names(names[start : start + _NAMES_PER_CALL], limit=_NAMESAKES))
        self._by_id.update((one.entity.id, one.entity) for page in found.values() for one in page.items)
        return found

    async def by_value(self, label: str | None, relation: str, value: str) -> Page[Entity]:
        """The first nodes with a label and this value of a property. Only ids.

        Raises:
            UnknownName: the graph has no such label or property.
        """
        key = label, relation, value
        if key not in self._having:
            self._having[key] = await self._graph.node_ids(*key, limit=_FEW)
        return self._having[key]

    async def count(self, label: str | None, relation: str | None) -> Count:
        """The number of nodes with a label and a property. None leaves out a condition.

        Raises:
            UnknownName: the graph has no such label or property.
        """
        key = label, relation
        if key not in self._counted:
            self._counted[key] = (await self._graph.nodes(*key, None, limit=0)).total
        return self._counted[key]
