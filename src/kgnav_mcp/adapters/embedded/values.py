"""The distinct values of a property, of nodes or of edges.

Values are distinct by text; the datatype is that of the first row. Numbers come first, in numeric order, then texts.
Where no value of a property looks like a number, the index already has that order, and a position is the first row
with the value: `<node>.<n>`. Any other list is sorted as a whole, and a position is an index into it.
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
from kgnav_mcp.adapters.embedded.rows import Builder, nodes_in, number_in
from kgnav_mcp.adapters.embedded.session import Row
from kgnav_mcp.errors import UnknownName
from kgnav_mcp.model import Count, Entity, Literal, Page, Stop, ValueFacts
from kgnav_mcp.port.lists import invalid_cursor, page_of
from kgnav_mcp.values.scalars import value_order

_INDEXED_LENGTH = 64
"""Characters of a value that the index of values holds."""
_LARGE_SHARE = 0.05
"""A label with at least this share of a property's values: nearly every value then has a node with the label."""
_FEW_VALUES = 2_000
"""Up to this many distinct values are read by skipping from one to the next; with more, all rows are read once."""
_MAX_CACHED_VALUES = 2_000_000
"""Values in all cached orders together, at 16 bytes each."""


@dataclass(frozen=True, slots=True)
class Order:
    """Distinct values in sorted order, each as the first row with it: a node and the row's index at that node."""

    nodes: array[int] = field(default_factory=lambda: array("q"))
    places: array[int] = field(default_factory=lambda: array("q"))

    def __len__(self) -> int:
        return len(self.nodes)

    def add(self, node: int, place: int) -> None:
        """Appends the next value."""
        self.nodes.append(node)
        self.places.append(place)


class Orders:
    """An LRU cache of value orders, for as long as a file is open. Thread-safe."""

    def __init__(self) -> None:
        self._cache: LRUCache[tuple[int, int | None], Order] = LRUCache(_MAX_CACHED_VALUES, getsizeof=len)
        self._lock = Lock()

    def get(self, key: tuple[int, int | None]) -> Order | None:
        """Returns the cached order of (property, label or None), or None."""
        with self._lock:
            return self._cache.get(key)

    def put(self, key: tuple[int, int | None], order: Order) -> None:
        """Caches an order, unless it is too long."""
        if len(order) <= _MAX_CACHED_VALUES:
            with self._lock:
                self._cache[key] = order


def _edges_note(entry: RelationEntry) -> str:
    """Returns the note that a property leads to entities as well, which are not listed; empty if it does not."""
    if not entry.edges:
        return ""
    name = entry.relation.id
    return (
        f"{entry.edges:,} more values of {name} in the graph are entities; run_plan lists them: "
        f"MATCH (a)-[:`{name}`]->(b) RETURN b, count(DISTINCT a)."
    )


class ValueReader:
    """Answers `values`, within one job."""

    def __init__(self, builder: Builder, totals: Totals, orders: Orders) -> None:
        self._builder = builder
        self._session = builder.session
        self._totals = totals
        self._orders = orders

    def of_nodes(self, property_name: str, owner: str | None, limit: int, after: str | None) -> Page[ValueFacts]:
        """Returns a page of a property's values on the nodes with a label, or on all nodes.

        Raises:
            UnknownName: the graph has no such property or label.
        """
        label = self._builder.catalogue.labels(self._session).one("label", owner) if owner is not None else None
        names = self._builder.catalogue.relations(self._session)
        entry = names.get(property_name, lambda entry: entry.attributes > 0)
        if entry is None:
            raise unknown_property(self._builder, property_name)
        if self._session.one(queries.lists.LIKE_NUMBERS, entry.id):
            return self._with_counts(self._page_in_order(self._order(entry, label), entry, limit, after), entry, label)
        after_text = self._text_at_position(entry, after) if after is not None else None
        if label is None or self._label_share(label, entry) >= _LARGE_SHARE:
            rows = self._next_values(entry, label, after_text, limit + 1)
        else:
            rows = self._session.all(queries.lists.VALUES_OF_LABEL, label.id, entry.id, after_text, limit + 1)
        total = self._total(entry, label)
        page = Page(
            items=tuple(self._builder.literal(*row[:3]) for row in rows[:limit]),
            positions=tuple(f"{row[3]}.{row[4]}" for row in rows[:limit]),
            total=Count(total),
            stop=Stop.LIMIT if len(rows) > limit else Stop.COMPLETE,
        )
        return self._with_counts(page, entry, label)

    def _with_counts(self, page: Page[Literal], entry: RelationEntry, label: LabelEntry | None) -> Page[ValueFacts]:
        """Adds to each value the number of nodes that have it."""
        texts = json.dumps([value.text for value in page.items])
        numbers = self._session.all(queries.lists.NODES_OF_VALUES, texts, entry.id, label.id if label else None)
        facts = (ValueFacts(value, Count(number)) for value, (number,) in zip(page.items, numbers, strict=True))
        return Page(tuple(facts), page.positions, page.total, page.stop, _edges_note(entry))

    def of_edges(self, property_name: str, owner: str | None, limit: int, after: str | None) -> Page[ValueFacts]:
        """Returns a page of a qualifier's values on the triples of a relation, or of all relations.

        Raises:
            UnknownName: no triple has such a qualifier, or the graph has no such relation.
        """
        names = self._builder.catalogue.relations(self._session)
        relation = names.one("relation", owner) if owner is not None else None
        key = self._qualifier_key(property_name)
        with_qualifier = [number for (number,) in self._session.all(queries.lists.QUALIFIER_RELATIONS, key)]
        relation_numbers = with_qualifier if relation is None else [relation.id]
        numbers = json.dumps(relation_numbers)
        stored = self._session.all(queries.lists.QUALIFIER_VALUES, numbers, key)
        if any(names.entries[number].attributes for number in relation_numbers):
            stored += self._session.all(queries.lists.ATTRIBUTE_QUALIFIER_VALUES, numbers, key)
        return page_of(self._count_by_text([(json.loads(value), number) for value, number in stored]), limit, after)

    def _page_in_order(self, order: Order, entry: RelationEntry, limit: int, after: str | None) -> Page[Literal]:
        page = page_of(range(len(order)), limit, after)
        rows = json.dumps([(order.nodes[place], order.places[place]) for place in page.items])
        values = self._session.all(queries.lists.VALUES_AT, rows, entry.id)
        return Page(tuple(self._builder.literal(*row) for row in values), page.positions, page.total, page.stop)

    def _order(self, entry: RelationEntry, label: LabelEntry | None) -> Order:
        """Returns the sorted order of a property's values, from the cache or made now."""
        key = entry.id, label.id if label is not None else None
        order = self._orders.get(key)
        if order is None:
            order = self._sort_values(entry, label)
            self._orders.put(key, order)
        return order

    def _sort_values(self, entry: RelationEntry, label: LabelEntry | None) -> Order:
        order = Order()
        label_id = label.id if label is not None else None
        if label is not None and self._label_share(label, entry) < _LARGE_SHARE:
            rows = self._session.all(queries.lists.VALUES_OF_LABEL, label.id, entry.id, None, -1)
        else:
            rows = self._next_values(entry, label, None, _FEW_VALUES)
            if len(rows) >= _FEW_VALUES:
                for node, place, beginning in self._session.all(queries.lists.VALUES_IN_ORDER, entry.id, label_id):
                    same_beginning = self._first_rows_beginning(entry, beginning, label_id) if beginning else ()
                    for first in [row[3:5] for row in same_beginning] or [(node, place)]:
                        order.add(*first)
                return order
        for row in sorted(rows, key=lambda row: value_order(row[0])):
            order.add(*row[3:5])
        return order

    def _first_rows_beginning(self, entry: RelationEntry, beginning: str, label: int | None) -> list[Row]:
        """Returns the first row of each value with this beginning, ordered by value."""
        limit = 1 if len(beginning) < _INDEXED_LENGTH else -1
        first: dict[str, Row] = {}
        for row in self._session.all(queries.lists.VALUES_BEGINNING, entry.id, beginning, limit, label):
            first.setdefault(row[0], row)
        return [first[text] for text in sorted(first)]

    def _text_at_position(self, entry: RelationEntry, after: str) -> str:
        node, _, place = after.partition(".")
        try:
            row = self._session.one(queries.lists.VALUE_AT, number_in(node), entry.id, number_in(place))
        except ValueError as error:
            raise invalid_cursor(after) from error
        if row is None:
            raise invalid_cursor(after)
        return str(row[0])

    def _label_share(self, label: LabelEntry, entry: RelationEntry) -> float:
        """Returns the share (0 to 1) of a property's values on nodes with the label, by the load's statistics."""
        row = self._session.one(queries.lists.VALUES_AT_LABEL, label.id, entry.id)
        return (row[0] or 0) / entry.attributes if row is not None else 0.0

    def _next_values(self, entry: RelationEntry, label: LabelEntry | None, after: str | None, limit: int) -> list[Row]:
        """Returns rows with the next distinct values in text order. Costs a seek for each value, not for each node."""
        following: list[Row] = []
        for beginning in self._beginnings(entry, (after or "")[:_INDEXED_LENGTH], limit):
            rows = self._first_rows_beginning(entry, beginning, label.id if label is not None else None)
            following += [row for row in rows if after is None or row[0] > after]
            if len(following) >= limit:
                break
        return following

    def _beginnings(self, entry: RelationEntry, start: str, batch: int) -> Iterator[str]:
        """Yields the distinct beginnings of a property's values from `start` on, read in batches."""
        while True:
            rows = self._session.all(queries.lists.BEGINNINGS, entry.id, start, batch + 1)
            for (beginning,) in rows:
                yield beginning
            if len(rows) <= batch:
                return
            start = rows[-1][0] + "\0"

    def _total(self, entry: RelationEntry, label: LabelEntry | None) -> int:
        """Returns the number of distinct values, counted once per open file."""
        key = (entry.id, label.id if label is not None else None)
        if key not in self._totals:
            self._totals[key] = self._count(entry, label)
        return self._totals[key]

    def _count(self, entry: RelationEntry, label: LabelEntry | None) -> int:
        if label is None or self._label_share(label, entry) >= _LARGE_SHARE:
            rows = self._next_values(entry, label, None, _FEW_VALUES)
            if len(rows) < _FEW_VALUES:
                return len(rows)
        if label is None:
            row = self._session.one(queries.lists.VALUE_COUNT, entry.id)
        else:
            row = self._session.one(queries.lists.VALUE_COUNT_OF_LABEL, label.id, entry.id)
        return row[0] if row is not None else 0

    def _qualifier_key(self, name: str) -> str:
        """Returns the stored key of a qualifier given by id or name.

        Raises:
            UnknownName: no triple has such a qualifier.
        """
        names = self._builder.catalogue.relations(self._session)
        keys = self._builder.catalogue.qualifier_keys(self._session)
        for entry in names.all(name):
            if entry.key in keys:
                return entry.key
        raise UnknownName("relationship property", name, names.nearest(name, lambda entry: entry.key in keys))

    def _count_by_text(self, stored: Sequence[tuple[Any, int]]) -> list[ValueFacts]:
        """Returns qualifier values with their numbers of edges, merged by text. A node counts under its name."""
        nodes = self._builder.by_key(nodes_in(value for value, _ in stored))
        literals: dict[str, Literal] = {}
        numbers: Counter[str] = Counter()
        for value, number in stored:
            node = self._builder.value(value, nodes)
            literal = Literal(node.label or node.id) if isinstance(node, Entity) else node
            first = literals.setdefault(literal.text, literal)
            literals[literal.text] = min(first, literal, key=lambda item: (item.datatype or "", item.language or ""))
            numbers[literal.text] += number
        return [ValueFacts(literals[text], Count(numbers[text])) for text in sorted(literals, key=value_order)]
