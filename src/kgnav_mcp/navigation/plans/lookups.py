"""Entities that a plan names, each read once while the plan is checked and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kgnav_mcp.concurrency import gathered_for
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import Count, Entity, Namesake, Page, Stop
from kgnav_mcp.plan import (
    Column,
    Compare,
    Comparison,
    Constant,
    ListOf,
    Match,
    NodePattern,
    Pipeline,
    Plan,
    Project,
    Property,
    Variable,
)
from kgnav_mcp.port import Capability, GraphAdapter
from kgnav_mcp.port.lists import batches

MAX_IDS = 1_000
"""Nodes with a value or a name that become a list of ids; if there are more, the store compares values or names."""
_NAMES_PER_CALL = 100
"""Names in one call: every store accepts as many."""
_SINGLE_VALUES = 10
"""Values that are looked up one by one at most. More are one question, if the store runs plans: each costs as much."""
_VALUE_ROWS = 10_000
"""Nodes that have one of many values, at most, that are read at once."""


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
        for batch in batches(names, _NAMES_PER_CALL):
            found.update(await self._graph.find_by_names(batch, limit=MAX_IDS))
        self._by_id.update((one.entity.id, one.entity) for page in found.values() for one in page.items)
        return found

    async def by_values(self, label: str | None, relation: str, values: Sequence[str]) -> Mapping[str, Page[Entity]]:
        """As `by_value`, of several texts, with one question if they are many and the store runs plans.

        Raises:
            UnknownName: the graph has no such label or property.
        """
        if len(values) > _SINGLE_VALUES and Capability.PLANS in self._graph.capabilities:
            found = await self._having_one_of(label, relation, values)
            if found is not None:
                return found
        pages: list[Page[Entity]] = []
        for start in range(0, len(values), _SINGLE_VALUES):
            some = values[start : start + _SINGLE_VALUES]
            pages += await gathered_for(some, lambda each: self.by_value(label, relation, each))
        return dict(zip(values, pages, strict=True))

    async def _having_one_of(
        self, label: str | None, relation: str, values: Sequence[str]
    ) -> Mapping[str, Page[Entity]] | None:
        """The nodes with each of these values, by one plan; None if they are too many, or the store cannot run it."""
        value = Property("n", relation, (relation,))
        node = NodePattern("n", () if label is None else ((label,),))
        where = Compare(value, Comparison.IN, ListOf(tuple(map(Constant, dict.fromkeys(values)))))
        result = Project((Column("value", value), Column("node", Variable("n"))))
        plan = Plan((Pipeline((Match((node,), where=where), result)),), in_any_order=True)
        try:
            page = await self._graph.run(plan, limit=_VALUE_ROWS)
        except Unsupported:
            return None
        if page.stop is not Stop.COMPLETE:
            return None
        found: dict[str, list[Entity]] = {each: [] for each in values}
        for cell, node_cell in (row.cells for row in page.items):
            for one in cell if isinstance(cell, tuple) else (cell,):
                text = one.label if isinstance(one, Entity) else one
                if isinstance(text, str) and text in found and isinstance(node_cell, Entity):
                    found[text].append(node_cell)
        return {each: Page(tuple(nodes), ("",) * len(nodes), Count(len(nodes))) for each, nodes in found.items()}

    async def by_value(self, label: str | None, relation: str, value: str) -> Page[Entity]:
        """The first nodes with a label and this value of a property. Only ids.

        Raises:
            UnknownName: the graph has no such label or property.
        """
        key = label, relation, value
        if key not in self._having:
            self._having[key] = await self._graph.node_ids(*key, limit=MAX_IDS)
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
