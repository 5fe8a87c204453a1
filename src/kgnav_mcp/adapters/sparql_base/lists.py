"""Pages of lists of nodes and of values. A short list is read in full and sorted; a long one has the store's order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from cachetools import TTLCache
from rdflib import BNode, URIRef

from kgnav_mcp import model
from kgnav_mcp.adapters.paging.rows import Key
from kgnav_mcp.adapters.sparql_base import errors, queries
from kgnav_mcp.adapters.sparql_base.entity_finder import EntityFinder
from kgnav_mcp.adapters.sparql_base.paging import (
    MAX_SORTED,
    SHARE,
    UNSORTED,
    Condition,
    ListPosition,
    page_stop,
    raised_total,
    read_list_by_key,
    truncated,
)
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, Row, iri_in, is_at_most, number_in
from kgnav_mcp.adapters.sparql_base.terms import Fragment
from kgnav_mcp.adapters.sparql_base.value_counter import ValueCounter, count_in, merged_count, without_number
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import StoreTimeout, Unsupported
from kgnav_mcp.model import Count, Entity, Page, Stop, ValueFacts
from kgnav_mcp.port.lists import invalid_cursor
from kgnav_mcp.values.scalars import value_order

_MAX_TOTALS, _TOTALS_SECONDS = 100, 60.0
"""Lists whose total is kept for their next pages: counting all nodes takes as long as reading a page of them."""
_MAX_SEVERAL, _SEVERAL_SECONDS = 1000, 600.0
"""Properties of which it is kept whether a node has several values, and how long: data may be written meanwhile."""

T = TypeVar("T")
Found = tuple[Mapping[URIRef, Entity], Stop]
"""Entities, and why there may be more of them."""
ValueOrder = Callable[[str], tuple[bool, float, str]]

NODES = Fragment("DISTINCT ?s")
EDGES = Fragment("*")
"""What a count of a value counts: the distinct nodes, or the edges, that have it."""

_WITHOUT_BLANK_NODES = "Blank nodes are omitted: they have no ids in this graph."


@dataclass(frozen=True, slots=True, kw_only=True)
class Templates:
    """An adapter's queries for nodes `?s` and for values, with placeholder $conditions, and patterns for conditions."""

    nodes: str = queries.NODES
    node_count: str = queries.NODE_COUNT
    values: str
    counted_values: str | None
    """The values, each with the number of $counted that have it; None where counting is too expensive."""
    value_count: str | None
    """The number of values; None where reading a short list costs no more than counting it."""
    with_types: str
    value: str
    """The name of the variable for a value."""
    every: str
    """The condition that any node meets, even one without a name. It is used where there is no other condition."""
    listed: Callable[..., Fragment]
    """Formats types for `with_types`."""


@dataclass(frozen=True, slots=True)
class Types:
    """The types (classes) of a label, with a note where there may be more."""

    iris: Sequence[URIRef]
    note: str = ""


@dataclass(frozen=True, slots=True)
class BlankNodes:
    """Blank nodes of a list, sorted by id, with a note if some have no id."""

    found: Sequence[Entity] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows of a short list (`whole`), or the rows of one page of a long list."""

    rows: Sequence[Row]
    whole: bool
    total: Count
    stop: Stop = Stop.COMPLETE
    keys: Sequence[Key] = ()
    """The key after each row, in a list that is read by key. `stop` then says whether more rows follow."""

    def page(self, items: Sequence[T], skip: int, limit: int) -> Page[T]:
        """The page of `items`: all items of a short list, sorted, or only those of the page."""
        shown = items[skip : skip + limit] if self.whole else items
        total = Count(len(items)) if self.whole else raised_total(self.total, skip + len(items))
        positions = [ListPosition(skip + n) for n in range(1, len(shown) + 1)]
        if self.keys:
            keyed = zip(positions, self.keys, strict=True)
            return Page(tuple(shown), tuple(replace(at, key=key).write() for at, key in keyed), total, self.stop)
        stop = Stop.first((self.stop, page_stop(total, skip, len(shown), limit)))
        return Page(tuple(shown), tuple(position.write() for position in positions), total, stop)


class ListReader(ABC):
    """Answers the verbs `nodes` and `values`. A subclass resolves labels and properties."""

    _most_named = 500
    """Maximum number of entities with one name that are considered."""

    def __init__(self, reader: Reader, templates: Templates, entity_finder: EntityFinder) -> None:
        self._reader = reader
        self._templates = templates
        self._entity_finder = entity_finder
        self._totals: TTLCache[tuple[str, str], Count] = TTLCache(_MAX_TOTALS, _TOTALS_SECONDS)
        self._several: TTLCache[URIRef, bool] = TTLCache(_MAX_SEVERAL, _SEVERAL_SECONDS)

    @abstractmethod
    async def types(self, label: str) -> Types:
        """Resolve a label to types. Raises UnknownName."""

    @abstractmethod
    async def values(self, property_name: str, owner: str | None, limit: int, after: str | None) -> Page[ValueFacts]:
        """The distinct values of a property over the nodes with a type.

        Raises:
            UnknownName: the graph has no such property or type.
            InvalidCursor: `after` is not a position of this list.
        """

    @abstractmethod
    async def edge_values(
        self, property_name: str, owner: str | None, limit: int, after: str | None
    ) -> Page[ValueFacts]:
        """The distinct values of a property of edges, for one relation or all. Raises as `values` does."""

    @abstractmethod
    async def has_several_values(self, property_id: str) -> bool:
        """Whether any node has several values of a property.

        Raises:
            StoreTimeout: the store did not answer in time.
        """

    async def _have_several(self, relations: Sequence[URIRef]) -> bool:
        if len(relations) > 1:
            return True  # values of both are values of the property
        (relation,) = relations
        if relation not in self._several:
            self._several[relation] = await self._has_several(relation)
        return self._several[relation]

    async def _has_several(self, relation: URIRef) -> bool:
        if self._reader.dialect.counts_fast:
            read = await self._reader.select(queries.ONE_VALUE_EACH, relation=relation)
            if read.rows and number_in(read.rows[0], "n") == number_in(read.rows[0], "t"):
                return False  # else some have several, or one in each of several graphs
        read = await self._reader.select(queries.SEVERAL_VALUES, relation=relation)
        return bool(read.any_rows())

    @abstractmethod
    async def _with_property(self, name: str, value: str | None) -> Condition:
        """The condition that a node has a property, or a value of it. Raises UnknownName."""

    async def nodes(
        self,
        label: str | None,
        property_name: str | None,
        value: str | None,
        limit: int,
        after: str | None,
        *,
        bare: bool = False,
    ) -> Page[Entity]:
        """Nodes of a type whose property has a value. A condition that is None is not applied.

        With `bare` only their ids are read.

        Raises:
            UnknownName: the graph has no such type or property.
            InvalidCursor: `after` is not a position of this list.
        """
        start = ListPosition.parse(after)
        types = None if label is None else await self.types(label)
        found = None if property_name is None or value is None else await self._identified(property_name, value)
        if found is not None:
            page = await self._page_of_types(found, types, start.skip, limit)
        else:
            condition = Condition("") if property_name is None else await self._with_property(property_name, value)
            nodes = await self._nodes_meeting(condition.text, types, start, limit, short=value is not None, bare=bare)
            page = condition.of(nodes)
        return truncated(page, note="" if types is None else types.note)

    async def _identified(self, property_name: str, value: str) -> Found | None:
        """The entities that a value identifies; None where the property does not identify entities."""
        del property_name, value
        return None

    async def _by_id(self, text: str) -> Found:
        iri = self._entity_finder.naming.iri(text)
        return {} if iri is None else await self._entity_finder.names.described([iri]), Stop.COMPLETE

    async def _by_name(self, name: str) -> Found:
        page = await self._entity_finder.named(name, self._most_named)
        read = self._entity_finder.naming.iri
        return {
            iri: namesake.entity for namesake in page.items if (iri := read(namesake.entity.id)) is not None
        }, page.stop

    async def _meant(self, value: str) -> tuple[Sequence[URIRef], Stop]:
        """Resolve a value to entities, by id, else by name; with the reason why there may be more."""
        entities, stop = await self._by_id(value)
        if not entities:
            entities, stop = await self._by_name(value)
        return list(entities), stop

    async def _page_of_types(self, found: Found, types: Types | None, skip: int, limit: int) -> Page[Entity]:
        """The page of the entities found that have one of the types (None: of all)."""
        entities, stop = found
        if types is not None and entities:
            read = await self._entity_finder.of_types(list(entities), types.iris)
            having = {iri_in(row, "s") for row in read.all_rows()}
            entities = {iri: entity for iri, entity in entities.items() if iri in having}
        rows = Rows((), whole=True, total=Count(len(entities)))
        return truncated(rows.page(list(entities.values()), skip, limit), stop)

    async def _nodes_meeting(
        self, condition: str | None, types: Types | None, start: ListPosition, limit: int, *, short: bool, bare: bool
    ) -> Page[Entity]:
        """The page of the nodes that meet a condition and have one of the types.

        `short`: the list is probably short. `bare`: only ids are needed. Raises as `_blank_nodes` does.
        """
        if condition is None:
            return Page((), (), Count(0))
        conditions = self._conditions(types, condition)
        if limit == 0:
            total = await self._size(self._templates.node_count, conditions)
            return Page((), (), total, Stop.COMPLETE if total == Count(0) else Stop.LIMIT)
        queries = self._templates.nodes, self._templates.node_count, "s"
        if bare and limit > MAX_SORTED and not start.skip and self._reader.stable_distinct:
            read = await self._read_uncounted(conditions, limit)
        else:
            read = await self._read(queries, conditions, start, limit, read_first=short)
        blanks = BlankNodes()
        if any(isinstance(row["s"], BNode) for row in read.rows):
            bounds = (0, MAX_SORTED) if read.whole else (start.skip, limit)
            blanks = await self._blank_nodes(conditions, *bounds)
            listed = sum(isinstance(row["s"], BNode) for row in read.rows)
            if not blanks.note and len(blanks.found) < listed:
                raise errors.lost_blank_nodes(listed - len(blanks.found))
            alone = read.whole and not blanks.found and all(isinstance(row["s"], BNode) for row in read.rows)
            if blanks.note and (bare or alone):  # whoever needs only ids shows no note
                raise Unsupported(
                    f"some of {len(read.rows):,} nodes are blank nodes without an id",
                    next_step="Start at the nodes next to them, or count them: MATCH (n:Label) RETURN count(*).",
                )
        elif read.keys and read.stop is Stop.COMPLETE and start.skip + len(read.rows) < read.total.value:
            blanks = BlankNodes(note=_WITHOUT_BLANK_NODES)  # no key tells where to go on among them
        page = await in_thread(len(read.rows), lambda: self._nodes_in(read, blanks.found, start.skip, limit))
        iris = [iri for iri in page.items if isinstance(iri, URIRef)]
        short_id = self._entity_finder.naming.short
        described = (
            {iri: Entity(short_id(iri)) for iri in iris} if bare else await self._entity_finder.names.described(iris)
        )

        def shown() -> Page[Entity]:
            nodes = (described.get(node) if isinstance(node, URIRef) else node for node in page.items)
            entities = [(node, position) for node, position in zip(nodes, page.positions, strict=True) if node]
            return Page(
                tuple(one for one, _ in entities), tuple(position for _, position in entities), page.total, page.stop
            )

        return truncated(await in_thread(len(page.items), shown), note=blanks.note)

    def _nodes_in(self, read: Rows, blanks: Sequence[Entity], skip: int, limit: int) -> Page[URIRef | Entity | None]:
        """The page of the nodes in rows, blank nodes last; in a long list, first None for each without an id."""
        iris = [iri_in(row, "s") for row in read.rows if not isinstance(row["s"], BNode)]
        if read.whole:
            return read.page([*sorted(iris, key=self._entity_finder.order), *blanks], skip, limit)
        missing = len(read.rows) - len(iris) - len(blanks)
        return read.page([*(None for _ in range(missing)), *iris, *blanks], skip, limit)

    async def _blank_nodes(self, conditions: Fragment, skip: int, most: int) -> BlankNodes:
        """Those of up to `most` nodes after the first `skip` that are blank nodes. By default, they have no ids.

        Raises:
            Unsupported: they cannot be told apart.
        """
        del conditions, skip, most
        return BlankNodes(note=_WITHOUT_BLANK_NODES)

    def _conditions(self, types: Types | None, condition: str) -> Fragment:
        """The pattern for nodes that have one of the types and meet a condition."""
        of_types = "" if types is None else self._with_types(types.iris)
        return Fragment(" ".join(filter(None, (of_types, condition))) or self._reader.filled(self._templates.every))

    def _with_types(self, types: Sequence[URIRef]) -> str:
        return self._reader.filled(self._templates.with_types, types=self._templates.listed(*types))

    async def _values(
        self,
        conditions: Fragment,
        literals: Callable[[Sequence[Row]], Awaitable[list[model.Literal]]],
        limit: int,
        after: str | None,
        *,
        order: ValueOrder = value_order,
        counted: Fragment = NODES,
    ) -> Page[ValueFacts]:
        """The page of the values that meet conditions. `literals` converts rows to values, one per row.

        In a short list, values with the same text are merged.

        Raises:
            InvalidCursor: `after` is no position of this list.
        """
        start, templates = ListPosition.parse(after), self._templates
        counting = templates.counted_values
        counter = counting and ValueCounter(self._reader, counting, templates.value, conditions, counted)
        queries = templates.values, templates.value_count, templates.value
        read = await self._read(queries, conditions, start, limit, counter or None)
        if counter and not read.whole:
            read = replace(read, rows=await counter.of_page(read.rows))
        counts = [count_in(row) for row in read.rows]
        rows = list(map(without_number, read.rows))
        facts = [*map(ValueFacts, await literals(rows), counts)]
        if not read.whole:
            return replace(read.page(facts, start.skip, limit), note=UNSORTED)

        def distinct() -> list[ValueFacts]:
            found: dict[str, ValueFacts] = {}
            for fact in sorted(
                facts, key=lambda fact: (fact.value.language or "", fact.value.datatype or ""), reverse=True
            ):
                same = found.get(fact.value.text)
                found[fact.value.text] = (
                    fact if same is None else ValueFacts(fact.value, merged_count(same.count, fact.count))
                )
            return [found[text] for text in sorted(found, key=order)]

        return read.page(await in_thread(len(facts), distinct), start.skip, limit)

    async def _read(
        self,
        templates: tuple[str, str | None, str],
        conditions: Fragment,
        start: ListPosition,
        limit: int,
        counter: ValueCounter | None = None,
        *,
        read_first: bool = False,
    ) -> Rows:
        """The rows of a page, or all rows of a short list; the latter with counts, if there is a counter.

        A list is counted before it is read, unless no query counts it, or it is to be `read_first`. `templates` are the
        list, its count, and the variable by whose text a long list is read if the store has no stable order.
        """
        template, count, variable = templates
        total = Count.unknown()
        if count is None or read_first:
            read = await self._reader.slice(template, 0, MAX_SORTED + 1, conditions=conditions)
            if len(read.rows) <= MAX_SORTED and read.stop is not Stop.TIME_OUT:
                if counter is not None:
                    read = await counter.all_or(read, MAX_SORTED + 1)
                return Rows(read.rows, whole=True, total=Count(len(read.rows)), stop=read.stop)
            total = Count.at_least(len(read.rows))
        if count is not None:
            total = await self._total(count, conditions, is_first=not start.skip)
        if is_at_most(total, MAX_SORTED):
            if counter is not None:
                read = await counter.all(MAX_SORTED)
            else:
                read = await self._reader.slice(template, 0, MAX_SORTED, conditions=conditions)
            return Rows(read.all_rows(), whole=True, total=total)
        if start.skip and self._reader.stable_distinct is (start.key != Key()):
            raise invalid_cursor(start.write())
        if self._reader.stable_distinct:
            read = await self._reader.slice(template, start.skip, limit, conditions=conditions)
            return Rows(read.rows, whole=False, total=total, stop=read.stop)
        rows = await self._read_by_key(template, variable, conditions, start, limit)
        return replace(rows, total=total)

    async def _read_uncounted(self, conditions: Fragment, limit: int) -> Rows:
        """The first nodes of a list. Counting them all would take as long again, or many times as long."""
        read = await self._reader.slice(self._templates.nodes, 0, limit, conditions=conditions)
        number = len(read.rows)
        is_whole = number < limit and read.stop is Stop.COMPLETE
        total = Count(number) if is_whole else Count.at_least(number)
        return Rows(read.rows, whole=is_whole and number <= MAX_SORTED, total=total, stop=read.stop)

    async def _read_by_key(
        self, template: str, variable: str, conditions: Fragment, start: ListPosition, limit: int
    ) -> Rows:
        """The rows of a page of a long list, from a store without a stable order."""
        try:
            read = await read_list_by_key(
                self._reader, template, start.key, limit, variable=variable, share=SHARE, conditions=conditions
            )
        except (StoreTimeout, Unsupported):
            if start.skip:
                raise
            first = await self._reader.slice(template, 0, limit, conditions=conditions)
            return Rows(first.rows, whole=False, total=Count.unknown(), stop=Stop.first((first.stop, Stop.UNORDERED)))
        rows, keys = [row for row, _ in read.rows[:limit]], [key for _, key in read.rows[:limit]]
        stop = Stop.LIMIT if len(read.rows) > limit else read.stop
        return Rows(rows, whole=False, total=Count.unknown(), stop=stop, keys=keys)

    async def _total(self, count: str, conditions: Fragment, *, is_first: bool) -> Count:
        """The size of a list, counted for its first page, and again for one that comes more than a minute later."""
        key = (count, conditions.text)
        total = None if is_first else self._totals.get(key)
        if total is None:
            self._totals[key] = total = await self._size(count, conditions)
        return total

    async def _size(self, count: str, conditions: Fragment) -> Count:
        """The size of a list."""
        return await self._reader.count(count, conditions=conditions)
