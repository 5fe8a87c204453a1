"""Nodes by label and property value, and the distinct values of a property."""

from __future__ import annotations

from collections.abc import Sequence

from kgnav_mcp.adapters.neo4j import cypher, queries
from kgnav_mcp.adapters.neo4j.catalogue import Catalogue, Catalogues
from kgnav_mcp.adapters.neo4j.entities import Entities
from kgnav_mcp.adapters.neo4j.paging import items_before
from kgnav_mcp.adapters.neo4j.store import Store
from kgnav_mcp.adapters.neo4j.values import VECTOR, literal, meant, sendable, split_key
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Count, Entity, Literal, Page, Stop
from kgnav_mcp.port import ValueOwner
from kgnav_mcp.port.ordering import NUMBER

_ID = "id"
_NAMES = frozenset({"name", "label"})
"""Properties that every node has in some form, unless the graph itself has properties of that name."""


class ListReader:
    """Answers `nodes` and `values`."""

    def __init__(self, store: Store, catalogues: Catalogues, entities: Entities) -> None:
        self._store = store
        self._catalogues = catalogues
        self._entities = entities

    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, limit: int, after: str | None
    ) -> Page[Entity]:
        """Nodes in the store's own order. An index answers where there is one and the label is given.

        A value is compared as text with numbers, dates and the items of lists, too; where an index answers, items of
        lists are not found, for it holds lists as a whole.

        Raises:
            UnknownName: the graph has no such label or property.
            InvalidCursor: `after` is no position of this list, or the list has another length now.
        """
        catalogue = await self._catalogues.knowing(label)
        label = catalogue.label(label) if label is not None else None
        if property_name is not None and property_name.casefold() == _ID and value is not None and after is None:
            given = (await self._entities.entities([value])).values()
            found = tuple(entity for entity in given if label is None or label in entity.types)
            if found:
                return Page(found, tuple(f"1.{n}" for n in range(1, len(found) + 1)), Count(len(found)))
        condition, keys = await self._condition(catalogue, label, property_name, value)
        parts = {"label": cypher.labelled(label), "condition": condition}
        values = meant(sendable(value)) if value is not None else []
        texts = [sendable(value), f"{sendable(value)}[UTC]"] if value is not None else []
        skip = items_before(after, None)
        (cells,), (total,) = await gathered(
            self._store.row(
                cypher.filled(queries.SELECTED, **parts),
                keys=keys,
                values=values,
                texts=texts,
                described=self._entities.described,
                skip=skip,
                limit=limit,
            ),
            self._store.row(cypher.filled(queries.SELECTED_COUNT, **parts), keys=keys, values=values, texts=texts),
        )
        items_before(after, total)
        return Page(
            items=tuple(self._entities.entity(cell) for cell in cells),
            positions=tuple(f"{total}.{skip + n}" for n in range(1, len(cells) + 1)),
            total=Count(total),
            stop=Stop.LIMIT if skip + len(cells) < total else Stop.COMPLETE,
        )

    async def _condition(
        self, catalogue: Catalogue, label: str | None, property_name: str | None, value: str | None
    ) -> tuple[str, Sequence[str]]:
        """The condition as Cypher, and the keys it speaks of."""
        if property_name is None:
            return "", ()
        keys = await self._keys(property_name)
        if not keys and property_name.casefold() in _NAMES and value is not None:
            keys = catalogue.name_keys
        if not keys and property_name.casefold() != _ID:
            raise catalogue.unknown_property("property", property_name)
        if value is None:
            return f" WHERE {queries.WITH_PROPERTY}", keys
        if label is not None and len(keys) == 1 and (label, keys[0]) in catalogue.indexed:
            return f" WHERE {cypher.filled(queries.WITH_INDEXED_VALUE, key=cypher.quoted(keys[0]))}", keys
        return f" WHERE {queries.WITH_VALUE}", keys

    async def values(
        self, property_name: str, owner: str | None, kind: ValueOwner, limit: int, after: str | None
    ) -> Page[Literal]:
        """Distinct values of a label's nodes or a type's edges, one for each text: numbers by their size, then texts.

        Raises:
            UnknownName: the graph has no such property, label or relation.
            InvalidCursor: `after` is no position of this list, or the list has another length now.
        """
        of_nodes = kind is ValueOwner.NODE
        knowing = self._catalogues.knowing
        catalogue = await (knowing(label=owner) if of_nodes else knowing(relation=owner))
        if owner is not None:
            owner = catalogue.label(owner) if of_nodes else catalogue.type(owner)
        keys = await self._keys(property_name)
        if not of_nodes and keys and not (await self._store.row(queries.EDGE_WITH, keys=keys))[0]:
            keys = ()
        if not keys:
            raise catalogue.unknown_property("property" if of_nodes else "relationship property", property_name)
        skip = items_before(after, None)
        pattern = cypher.filled(queries.NODES_OF if of_nodes else queries.EDGES_OF, label=cypher.labelled(owner))
        (pairs,), (total,) = await gathered(
            self._store.row(
                cypher.filled(queries.VALUES, pattern=pattern),
                keys=keys,
                vector=VECTOR,
                number=NUMBER,
                skip=skip,
                limit=limit,
            ),
            self._store.row(cypher.filled(queries.VALUES_COUNT, pattern=pattern), keys=keys, vector=VECTOR),
        )
        items_before(after, total)
        return Page(
            items=tuple(literal(value, split_key(key)[1]) for key, value in pairs),
            positions=tuple(f"{total}.{skip + n}" for n in range(1, len(pairs) + 1)),
            total=Count(total),
            stop=Stop.LIMIT if skip + len(pairs) < total else Stop.COMPLETE,
        )

    async def _keys(self, name: str) -> tuple[str, ...]:
        """The keys of a property; looked for again where it is new. None where there is no such property."""
        found = self._catalogues.now.property(name)
        return found or (await self._catalogues.renewed(2.0)).property(name)
