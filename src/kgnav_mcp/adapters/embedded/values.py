"""The distinct values of a property, of nodes or of edges.

One text is one value; its datatype is that of its first row. Numbers come first, by their size, then texts. Where a
property has no value that begins as a number does, the index has its values in that order, and a position is the row
`<node>.<n>` that has the value first. Any other list is put in order as a whole, and a position is a place in it.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from cachetools import LRUCache

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.catalogue import LabelEntry, RelationEntry
from kgnav_mcp.adapters.embedded.nodes import Totals, unknown_property
from kgnav_mcp.adapters.embedded.paging import number_in
from kgnav_mcp.adapters.embedded.rows import Builder, nodes_in
from kgnav_mcp.adapters.embedded.session import Row
from kgnav_mcp.errors import UnknownName
from kgnav_mcp.model import Count, Entity, Literal, Page, Stop, ValueFacts
from kgnav_mcp.port.lists import invalid, page_of
from kgnav_mcp.port.ordering import value_order

_INDEXED = 64
"""Characters of a value in the index of values."""
_LARGE_SHARE = 0.05
"""Above this share of a property's values, a node with the label is soon found at every value."""
_FEW = 2_000
"""Distinct values that are found one by one; above, all rows are read once."""
_CACHED = 2_000_000
"""Values whose order is cached: 16 bytes each."""


@dataclass(frozen=True, slots=True)
class Order:
    """Distinct values in their order: of each the row that has it first, a node and the place among its values."""

    nodes: array[int] = field(default_factory=lambda: array("q"))
    places: array[int] = field(default_factory=lambda: array("q"))

    def __len__(self) -> int:
        return len(self.nodes)

    def add(self, node: int, place: int) -> None:
        """Add the next value."""
        self.nodes.append(node)
        self.places.append(place)


class Orders:
    """The orders of values that were last asked for, for as long as a file is open. Safe to use from any thread."""

    def __init__(self) -> None:
        self._cache: LRUCache[tuple[int, int | None], Order] = LRUCache(_CACHED, getsizeof=len)
        self._lock = Lock()

    def get(self, key: tuple[int, int | None]) -> Order | None:
        """The order of a property's values, or of those at a label; None: it is not kept."""
        with self._lock:
            return self._cache.get(key)

    def put(self, key: tuple[int, int | None], order: Order) -> None:
        """Keep an order, unless it is too long for that."""
        if len(order) <= _CACHED:
            with self._lock:
                self._cache[key] = order


class ValueReader:
    """Answers `values`, within one job."""

    def __init__(self, builder: Builder, totals: Totals, orders: Orders) -> None:
        self._builder = builder
        self._session = builder.session
        self._totals = totals
        self._orders = orders

    def of_nodes(self, property_name: str, owner: str | None, limit: int, after: str | None) -> Page[ValueFacts]:
        """Values over the nodes with a label, or over all nodes.

        Raises:
            UnknownName: the graph has no such property or label.
        """
        label = self._builder.catalogue.labels(self._session).one("label", owner) if owner is not None else None
        names = self._builder.catalogue.relations(self._session)
        entry = names.get(property_name, lambda entry: entry.attributes > 0)
        if entry is None:
            raise unknown_property(self._builder, property_name)
        if self._session.one(queries.lists.LIKE_NUMBERS, entry.id):
            return self._counted(self._in_order(self._order(entry, label), entry, limit, after), entry, label)
        behind = self._text_at(entry, after) if after is not None else None
        if label is None or self._share(label, entry) >= _LARGE_SHARE:
            rows = self._by_value(entry, label, behind, limit + 1)
        else:
            rows = self._session.all(queries.lists.VALUES_OF_LABEL, label.id, entry.id, behind, limit + 1)
        total = self._total(entry, label)
        page = Page(
            items=tuple(self._builder.literal(*row[:3]) for row in rows[:limit]),
            positions=tuple(f"{row[3]}.{row[4]}" for row in rows[:limit]),
            total=Count(total),
            stop=Stop.LIMIT if len(rows) > limit else Stop.COMPLETE,
        )
        return self._counted(page, entry, label)

    def _counted(self, page: Page[Literal], entry: RelationEntry, label: LabelEntry | None) -> Page[ValueFacts]:
        """The values with the number of nodes that have each."""
        texts = json.dumps([value.text for value in page.items])
        numbers = self._session.all(queries.lists.NODES_OF_VALUES, texts, entry.id, label.id if label else None)
        facts = (ValueFacts(value, Count(number)) for value, (number,) in zip(page.items, numbers, strict=True))
        return Page(tuple(facts), page.positions, page.total, page.stop)

    def of_edges(self, property_name: str, owner: str | None, limit: int, after: str | None) -> Page[ValueFacts]:
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
        return page_of(self._of_qualifier([(json.loads(value), number) for value, number in stored]), limit, after)

    def _in_order(self, order: Order, entry: RelationEntry, limit: int, after: str | None) -> Page[Literal]:
        page = page_of(range(len(order)), limit, after)
        rows = json.dumps([(order.nodes[place], order.places[place]) for place in page.items])
        values = self._session.all(queries.lists.VALUES_AT, rows, entry.id)
        return Page(tuple(self._builder.literal(*row) for row in values), page.positions, page.total, page.stop)

    def _order(self, entry: RelationEntry, label: LabelEntry | None) -> Order:
        """The order of a property's values, made once for an open file: of few values by a look at each."""
        key = entry.id, label.id if label is not None else None
        order = self._orders.get(key)
        if order is None:
            order = self._put_in_order(entry, label)
            self._orders.put(key, order)
        return order

    def _put_in_order(self, entry: RelationEntry, label: LabelEntry | None) -> Order:
        order = Order()
        narrowed = label.id if label is not None else None
        if label is not None and self._share(label, entry) < _LARGE_SHARE:
            few = self._session.all(queries.lists.VALUES_OF_LABEL, label.id, entry.id, None, -1)
        else:
            few = self._by_value(entry, label, None, _FEW)
            if len(few) >= _FEW:
                for node, place, beginning in self._session.all(queries.lists.VALUES_IN_ORDER, entry.id, narrowed):
                    same = self._beginning_with(entry, beginning, narrowed) if beginning else ()
                    for first in [row[3:5] for row in same] or [(node, place)]:
                        order.add(*first)
                return order
        for row in sorted(few, key=lambda row: value_order(row[0])):
            order.add(*row[3:5])
        return order

    def _beginning_with(self, entry: RelationEntry, beginning: str, label: int | None) -> list[Row]:
        """The first row of each value that begins so, in the order of the values."""
        most = 1 if len(beginning) < _INDEXED else -1
        first: dict[str, Row] = {}
        for row in self._session.all(queries.lists.VALUES_BEGINNING, entry.id, beginning, most, label):
            first.setdefault(row[0], row)
        return [first[text] for text in sorted(first)]

    def _text_at(self, entry: RelationEntry, after: str) -> str:
        node, _, place = after.partition(".")
        try:
            row = self._session.one(queries.lists.VALUE_AT, number_in(node), entry.id, number_in(place))
        except ValueError as error:
            raise invalid(after) from error
        if row is None:
            raise invalid(after)
        return str(row[0])

    def _share(self, label: LabelEntry, entry: RelationEntry) -> float:
        """The part of a property's values that belongs to nodes with the label, by the statistics of the load."""
        row = self._session.one(queries.lists.VALUES_AT_LABEL, label.id, entry.id)
        return (row[0] or 0) / entry.attributes if row is not None else 0.0

    def _by_value(self, entry: RelationEntry, label: LabelEntry | None, behind: str | None, most: int) -> list[Row]:
        """Rows with the next distinct values in the order of their texts: a look at each value, not at each node."""
        found: list[Row] = []
        for beginning in self._beginnings(entry, (behind or "")[:_INDEXED], most):
            rows = self._beginning_with(entry, beginning, label.id if label is not None else None)
            found += [row for row in rows if behind is None or row[0] > behind]
            if len(found) >= most:
                break
        return found

    def _beginnings(self, entry: RelationEntry, start: str, batch: int) -> Iterator[str]:
        """The distinct beginnings of a property's values from one on, read in batches."""
        while True:
            rows = self._session.all(queries.lists.BEGINNINGS, entry.id, start, batch + 1)
            for (beginning,) in rows:
                yield beginning
            if len(rows) <= batch:
                return
            start = rows[-1][0] + "\0"

    def _total(self, entry: RelationEntry, label: LabelEntry | None) -> int:
        """The number of distinct values, counted once for an open file."""
        key = (entry.id, label.id if label is not None else None)
        if key not in self._totals:
            self._totals[key] = self._count(entry, label)
        return self._totals[key]

    def _count(self, entry: RelationEntry, label: LabelEntry | None) -> int:
        if label is None or self._share(label, entry) >= _LARGE_SHARE:
            rows = self._by_value(entry, label, None, _FEW)
            if len(rows) < _FEW:
                return len(rows)
        if label is None:
            row = self._session.one(queries.lists.VALUE_COUNT, entry.id)
        else:
            row = self._session.one(queries.lists.VALUE_COUNT_OF_LABEL, label.id, entry.id)
        return row[0] if row is not None else 0

    def _qualifier(self, name: str) -> str:
        """The stored key of a qualifier by id or name."""
        names = self._builder.catalogue.relations(self._session)
        keys = self._builder.catalogue.qualifier_keys(self._session)
        for entry in names.all(name):
            if entry.key in keys:
                return entry.key
        raise UnknownName("relationship property", name, names.nearest(name, lambda entry: entry.key in keys))

    def _of_qualifier(self, stored: Sequence[tuple[Any, int]]) -> list[ValueFacts]:
        """Stored qualifier values with their numbers of edges, one for each text; a node stands by its name."""
        nodes = self._builder.by_key(nodes_in(value for value, _ in stored))
        found: dict[str, Literal] = {}
        numbers: Counter[str] = Counter()
        for value, number in stored:
            node = self._builder.value(value, nodes)
            literal = Literal(node.label or node.id) if isinstance(node, Entity) else node
            kept = found.setdefault(literal.text, literal)
            found[literal.text] = min(kept, literal, key=lambda one: (one.datatype or "", one.language or ""))
            numbers[literal.text] += number
        return [ValueFacts(found[text], Count(numbers[text])) for text in sorted(found, key=value_order)]
