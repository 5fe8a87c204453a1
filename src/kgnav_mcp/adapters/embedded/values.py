"""The distinct values of a property, of nodes or of edges.

One text is one value; its datatype is that of its first row. Values come ordered by text. The position of a node's
value is the row `<node>.<n>` that has it first; the position of an edge's value is its place in the list, which is
read as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.catalogue import LabelEntry, RelationEntry
from kgnav_mcp.adapters.embedded.nodes import Totals, unknown_property
from kgnav_mcp.adapters.embedded.paging import invalid, number_in
from kgnav_mcp.adapters.embedded.pool import Row
from kgnav_mcp.adapters.embedded.rows import Builder, nodes_in
from kgnav_mcp.errors import UnknownName
from kgnav_mcp.model import Count, Entity, Literal, Page, Stop

_INDEXED = 64
"""Characters of a value in the index of values."""


class ValueReader:
    """Answers `values`, within one job."""

    def __init__(self, builder: Builder, totals: Totals) -> None:
        self._builder = builder
        self._session = builder.session
        self._totals = totals

    def of_nodes(self, property_name: str, owner: str | None, limit: int, after: str | None) -> Page[Literal]:
        """Values over the nodes with a label, or over all nodes.

        Raises:
            UnknownName: the graph has no such property or label.
        """
        label = self._builder.catalogue.labels(self._session).one("label", owner) if owner is not None else None
        names = self._builder.catalogue.relations(self._session)
        entry = names.get(property_name, lambda entry: entry.attributes > 0)
        if entry is None:
            raise unknown_property(self._builder, property_name)
        behind = self._text_at(entry, after) if after is not None else None
        if label is None or self._all_have(label, entry):
            rows = self._anywhere(entry, behind, limit + 1)
            total = self._total_anywhere(entry)
        else:
            rows = self._session.all(queries.lists.VALUES_OF_LABEL, label.id, entry.id, behind, limit + 1)
            total = self._counted(queries.lists.VALUE_COUNT_OF_LABEL, label.id, entry.id)
        return Page(
            items=tuple(self._builder.literal(*row[:3]) for row in rows[:limit]),
            positions=tuple(f"{row[3]}.{row[4]}" for row in rows[:limit]),
            total=Count(total),
            stop=Stop.LIMIT if len(rows) > limit else Stop.COMPLETE,
        )

    def of_edges(self, property_name: str, owner: str | None, limit: int, after: str | None) -> Page[Literal]:
        """Values of a qualifier over the triples of a relation, or of all relations.

        Raises:
            UnknownName: no triple has such a qualifier, or the graph has no such relation.
        """
        names = self._builder.catalogue.relations(self._session)
        relation = names.one("relation", owner) if owner is not None else None
        key = self._qualifier(property_name)
        having = [number for (number,) in self._session.all(queries.lists.QUALIFIER_RELATIONS, key)]
        wanted = having if relation is None else [relation.id]
        numbers = json.dumps(wanted)
        stored = self._session.all(queries.lists.QUALIFIER_VALUES, numbers, key)
        if any(names.entries[number].attributes for number in wanted):
            stored += self._session.all(queries.lists.ATTRIBUTE_QUALIFIER_VALUES, numbers, key)
        literals = self._literals(json.loads(value) for (value,) in stored)
        try:
            start = number_in(after) + 1 if after is not None else 0
        except ValueError as error:
            raise invalid(after or "") from error
        shown = literals[start : start + limit]
        return Page(
            items=tuple(shown),
            positions=tuple(str(start + place) for place in range(len(shown))),
            total=Count(len(literals)),
            stop=Stop.LIMIT if start + len(shown) < len(literals) else Stop.COMPLETE,
        )

    def _text_at(self, entry: RelationEntry, after: str) -> str:
        node, _, place = after.partition(".")
        try:
            row = self._session.one(queries.lists.VALUE_AT, number_in(node), entry.id, number_in(place))
        except ValueError as error:
            raise invalid(after) from error
        if row is None:
            raise invalid(after)
        return str(row[0])

    def _all_have(self, label: LabelEntry, entry: RelationEntry) -> bool:
        """Whether every value of the property is at a node with the label, so that the label narrows nothing."""
        if self._builder.catalogue.sampled:
            return False
        row = self._session.one(queries.lists.VALUES_AT_LABEL, label.id, entry.id)
        return row is not None and row[0] == entry.attributes

    def _anywhere(self, entry: RelationEntry, behind: str | None, room: int) -> list[Row]:
        """Rows with the next distinct values, in the order of their texts."""
        found: list[Row] = []
        start = (behind or "")[:_INDEXED]
        for (beginning,) in self._session.all(queries.lists.BEGINNINGS, entry.id, start, room + 1):
            whole = len(beginning) < _INDEXED
            first: dict[str, Row] = {}
            for row in self._session.all(queries.lists.VALUES_BEGINNING, entry.id, beginning, 1 if whole else -1):
                if behind is None or row[0] > behind:
                    first.setdefault(row[0], row)
            found += [first[text] for text in sorted(first)]
            if len(found) >= room:
                break
        return found

    def _total_anywhere(self, entry: RelationEntry) -> int:
        return sum(
            self._counted(query, entry.id)
            for query in (queries.lists.SHORT_VALUE_COUNT, queries.lists.LONG_VALUE_COUNT)
        )

    def _counted(self, query: str, *parameters: int) -> int:
        key = (query, *parameters)
        if key not in self._totals:
            row = self._session.one(query, *parameters)
            self._totals[key] = row[0] if row is not None else 0
        return self._totals[key]

    def _qualifier(self, name: str) -> str:
        """The stored key of a qualifier by id or name."""
        names = self._builder.catalogue.relations(self._session)
        keys = {key for (key,) in self._session.all(queries.lists.QUALIFIER_KEYS)}
        for entry in names.all(name):
            if entry.key in keys:
                return entry.key
        raise UnknownName("relationship property", name, names.nearest(name, lambda entry: entry.key in keys))

    def _literals(self, stored: Iterable[Any]) -> list[Literal]:
        """Stored qualifier values as literals, one for each text, ordered by text; a node stands by its name."""
        values = list(stored)
        nodes = self._builder.by_key(nodes_in(values))
        found: dict[str, Literal] = {}
        for value in values:
            node = self._builder.value(value, nodes)
            literal = Literal(node.label or node.id) if isinstance(node, Entity) else node
            kept = found.setdefault(literal.text, literal)
            found[literal.text] = min(kept, literal, key=lambda one: (one.datatype or "", one.language or ""))
        return [found[text] for text in sorted(found)]
