"""Nodes by label and property value, and the distinct values of a property."""

from __future__ import annotations

from kgnav_mcp.adapters.cypher import queries
from kgnav_mcp.adapters.cypher.builder import labelled
from kgnav_mcp.adapters.cypher.catalogue import Catalogue
from kgnav_mcp.adapters.cypher.entities import Entities
from kgnav_mcp.adapters.cypher.pages import items_before, list_page
from kgnav_mcp.adapters.cypher.value_conditions import ValueCondition, value_condition
from kgnav_mcp.adapters.cypher.values import split_key
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.model import Count, Entity, Page, ValueFacts
from kgnav_mcp.port import ValueOwner
from kgnav_mcp.values.scalars import NUMBER

_NAMES = frozenset({"name", "label"})
"""Properties that mean any name of a node, unless the graph itself has a property of that name."""


class ListReader:
    """Answers the verbs `nodes` and `values`."""

    def __init__(self, entities: Entities) -> None:
        self._session = entities.session
        self._catalogue = entities.catalogue
        self._entities = entities

    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, limit: int, after: str | None
    ) -> Page[Entity]:
        """Nodes in the store's own order. Uses an index where there is one and the label is given.

        Raises:
            UnknownName: the graph has no such label or property.
            InvalidCursor: `after` is no position of this list, or the list has another length now.
        """
        catalogue = await self._catalogue.with_names(label)
        label = catalogue.resolve_label(label) if label is not None else None
        condition = await self._condition(catalogue, label, property_name, value)
        parts = {"label": labelled(label), "condition": condition.text}
        given = condition.parameters
        skip = items_before(after, None)
        decoder = self._entities.decoder
        nodes = await self._session.items(
            queries.SELECTED, parts, **given, described=decoder.described_keys, skip=skip, limit=limit
        )
        total = len(nodes)
        if after is not None or total == limit:
            (total,) = await self._session.row(queries.SELECTED_COUNT, parts, **given)
        items_before(after, total)
        return await in_thread(len(nodes), lambda: list_page([decoder.entity(node) for node in nodes], skip, total))

    async def _condition(
        self, catalogue: Catalogue, label: str | None, property_name: str | None, value: str | None
    ) -> ValueCondition:
        if property_name is None:
            return ValueCondition("", {})
        keys = await self._catalogue.keys_of(property_name)
        if not keys and property_name.casefold() in _NAMES and value is not None:
            keys = catalogue.name_keys
        if not keys:
            raise catalogue.unknown_property("property", property_name)
        if value is None:
            return ValueCondition(f" WHERE {queries.WITH_PROPERTY}", {"keys": keys})
        indexed = label is not None and len(keys) == 1 and (label, keys[0]) in catalogue.indexed
        condition = value_condition(self._session.builder, keys, value, indexed=indexed)
        return ValueCondition(f" WHERE {condition.text}", condition.parameters)

    async def values(
        self, property_name: str, owner: str | None, kind: ValueOwner, limit: int, after: str | None
    ) -> Page[ValueFacts]:
        """Distinct values (by text) of the nodes of a label or the edges of a type: numbers by size, then texts.

        Raises:
            UnknownName: the graph has no such property, label or relation.
            InvalidCursor: `after` is no position of this list, or the list has another length now.
        """
        of_nodes = kind is ValueOwner.NODE
        with_names = self._catalogue.with_names
        catalogue = await (with_names(label=owner) if of_nodes else with_names(relation=owner))
        if owner is not None:
            owner = catalogue.resolve_label(owner) if of_nodes else catalogue.resolve_type(owner)
        keys = await self._catalogue.keys_of(property_name)
        if not of_nodes and keys and not (await self._session.row(queries.EDGE_WITH, keys=keys))[0]:
            keys = ()
        if not keys:
            raise catalogue.unknown_property("property" if of_nodes else "relationship property", property_name)
        skip = items_before(after, None)
        pattern = queries.NODES_OF if of_nodes else queries.EDGES_OF
        parts = {"pattern": self._session.builder.fill(pattern, label=labelled(owner))}
        pairs, (total,) = await gathered(
            self._session.items(queries.VALUES, parts, keys=keys, number=NUMBER, skip=skip, limit=limit),
            self._session.row(queries.VALUES_COUNT, parts, keys=keys),
        )
        items_before(after, total)
        literal = self._session.dialect.values.literal

        def page() -> Page[ValueFacts]:
            facts = [ValueFacts(literal(value, split_key(key)[1]), Count(number)) for (key, value), number in pairs]
            return list_page(facts, skip, total)

        return await in_thread(len(pairs), page)
