"""Finds nodes by label and property value."""

from __future__ import annotations

import json
from collections.abc import Mapping

from kgnav_mcp.adapters.embedded import entities, queries
from kgnav_mcp.adapters.embedded.catalogue import LabelEntry, RelationEntry
from kgnav_mcp.adapters.embedded.equal_values import equal_values
from kgnav_mcp.adapters.embedded.paging import node_behind
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import Parameter
from kgnav_mcp.adapters.ids.prefixes import encodable
from kgnav_mcp.errors import UnknownName
from kgnav_mcp.model import Count, Entity, Page, Stop

Totals = dict[object, int]
"""Cached counts that are expensive to compute. They stay valid while a file is open, because it never changes."""

_MAX_TOTALS = 10_000
_NAME_PROPERTIES = frozenset({"name", "label"})
"""Property names that mean a node's name, unless the graph has a property of that name."""

_WITH_PROPERTY = {
    (True, False): queries.lists.NODES_WITH_PROPERTY,
    (False, True): queries.lists.NODES_WITH_RELATION,
    (True, True): queries.lists.NODES_WITH_PROPERTY_OR_RELATION,
}
"""Queries by whether a property has literals, and whether it has nodes as values."""


class NodeFinder:
    """Answers `nodes`, within one job. Nodes are sorted by their number in the file, which is also their position."""

    def __init__(self, builder: Builder, totals: Totals) -> None:
        self._builder = builder
        self._session = builder.session
        self._totals = totals

    def page(
        self, label: str | None, property_name: str | None, value: str | None, limit: int, after: str | None
    ) -> Page[Entity]:
        """Returns one page of the nodes that meet every given condition.

        Raises:
            UnknownName: the graph has no such label or property.
        """
        entry = self._builder.catalogue.labels(self._session).one("label", label) if label is not None else None
        value = encodable(value) if value is not None else None
        if property_name is None:
            query, parameters = (queries.lists.NODES_WITH_LABEL if entry else queries.lists.ALL_NODES), {}
        else:
            property_ = property_entry(self._builder, property_name)
            query, parameters = self._with_property(property_name, property_, value, entry)
        return self._read_page(query, {**parameters, "label": entry.id if entry else None}, entry, limit, after)

    def _with_property(
        self, name: str, property_: RelationEntry | None, value: str | None, label: LabelEntry | None
    ) -> tuple[str, dict[str, Parameter]]:
        """Returns the query for nodes with a property, or with a value of it, and its parameters."""
        if property_ is None:
            if name.casefold() not in _NAME_PROPERTIES or value is None:
                raise unknown_property(self._builder, name)
            return queries.lists.NODES_WITH_NAME, {"value": value}
        if value is None:
            if label is not None:
                return queries.lists.NODES_WITH_LABEL_AND_PROPERTY, {"property": property_.id}
            return _WITH_PROPERTY[property_.attributes > 0, property_.edges > 0], {"property": property_.id}
        return self._with_value(property_, value)

    def _with_value(self, property_: RelationEntry, value: str) -> tuple[str, dict[str, Parameter]]:
        """Returns the query for nodes with a value of a property, a literal or a node, and its parameters."""
        if not property_.attributes:
            return queries.lists.NODES_WITH_TAIL, {"property": property_.id, "tails": self._tail_nodes(value)}
        others = equal_values(self._builder, property_, value)
        if not others and not property_.edges:
            return queries.lists.NODES_WITH_VALUE, {"property": property_.id, "value": value}
        parameters: dict[str, Parameter] = {"property": property_.id, "values": json.dumps([(value, None), *others])}
        if not property_.edges:
            return queries.lists.NODES_WITH_EQUAL_VALUES, parameters
        return queries.lists.NODES_WITH_EQUAL_VALUES_OR_TAIL, {**parameters, "tails": self._tail_nodes(value)}

    def _tail_nodes(self, value: str) -> str:
        """Returns as JSON the nodes that a value means by id or name, for a property that leads to nodes."""
        by_id = [row[0] for row in entities.resolved(self._builder, [value]).values()]
        by_name = self._session.all_named(
            queries.lists.NODES_WITH_NAME, {"value": value, "label": None, "after": 0, "limit": -1}
        )
        return json.dumps(sorted({*by_id, *(node for (node,) in by_name)}))

    def _read_page(
        self, query: str, parameters: Mapping[str, Parameter], label: LabelEntry | None, limit: int, after: str | None
    ) -> Page[Entity]:
        rows = self._session.all_named(query, {**parameters, "after": node_behind(after), "limit": limit + 1})
        numbers = [number for (number,) in rows]
        found = entities.described_by_number(self._builder, numbers[:limit])
        all_read = after is None and len(numbers) <= limit
        return Page(
            items=tuple(found[number] for number in numbers[:limit]),
            positions=tuple(map(str, numbers[:limit])),
            total=Count(len(numbers) if all_read else self._total(query, parameters, label)),
            stop=Stop.LIMIT if len(numbers) > limit else Stop.COMPLETE,
        )

    def _total(self, query: str, parameters: Mapping[str, Parameter], label: LabelEntry | None) -> int:
        if query == queries.lists.NODES_WITH_LABEL and label is not None:
            return label.size
        if query == queries.lists.ALL_NODES:
            return self._builder.catalogue.entities
        key = (query, *sorted(parameters.items()))
        if key not in self._totals:
            if len(self._totals) >= _MAX_TOTALS:
                self._totals.clear()
            (row,) = self._session.all_named(queries.lists.NODE_COUNTS[query], {**parameters, "after": 0, "limit": -1})
            self._totals[key] = row[0]
        return self._totals[key]


def property_entry(builder: Builder, name: str) -> RelationEntry | None:
    """Returns the property with this id or name, preferably one with literals, else a relation to nodes, else None."""
    names = builder.catalogue.relations(builder.session)
    return names.get(name, lambda entry: entry.attributes > 0) or names.get(name, lambda entry: entry.edges > 0)


def unknown_property(builder: Builder, name: str) -> UnknownName:
    """Returns the error for a property that the graph does not have, with the most similar names."""
    names = builder.catalogue.relations(builder.session)
    return UnknownName("property", name, names.nearest(name, lambda entry: entry.size > 0))
