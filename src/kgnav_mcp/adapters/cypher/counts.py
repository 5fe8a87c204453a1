"""The number of rows of each relation at each node, from which pages, summaries of hubs and totals are made.

Counts come from the store's degree store, so a hub is not read to be counted. Nodes with few rows are returned with the
rows themselves, so a short list costs one query.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from kgnav_mcp.adapters.cypher import queries
from kgnav_mcp.adapters.cypher.catalogue import Catalogue
from kgnav_mcp.adapters.cypher.dialect import ValueFormats, split_key
from kgnav_mcp.adapters.cypher.entities import Anchor, Entities, NodeRow
from kgnav_mcp.adapters.cypher.session import MAX_IDS_PER_QUERY, Builder, edge
from kgnav_mcp.adapters.paging.counts import RelationCounts
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.errors import StoreError
from kgnav_mcp.model import Direction, Literal
from kgnav_mcp.port import FarEndKind
from kgnav_mcp.port.lists import batches

SAMPLED_EDGES = 1_000
"""Maximum number of edges of a type that are searched for examples."""
_FEW_EDGES = 500
"""A node with at most this many edges in a direction may be expanded to count them by type. A larger one never is."""
_FEW_TYPES = 10
"""Up to this many types, each is looked up in the degree store, which is faster than expanding the node."""
_FEW_NODES = 20
"""For at most this many nodes, property values are read with the counts; for more, only when a page shows them."""

_NODE, _VALUES, _FIRST_SIDE = range(3)
"""Indexes into a row of `queries.COUNTS`."""

Edge = Sequence[Any]
"""Type, properties and far end."""
EdgesOf = Mapping[tuple[str, Direction, str], Sequence[Edge]]
"""Edges by node, direction and type."""
ValuesOf = Mapping[str, Mapping[str, Sequence[Literal]]]
"""Values by node and property."""


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Which rows to read: directions, relations (None: all), and kinds of far ends (None: both)."""

    directions: tuple[Direction, ...]
    relations: frozenset[str] | None
    far_end_kind: FarEndKind | None

    def has_relation(self, name: str) -> bool:
        return self.relations is None or name in self.relations

    def has_values(self, direction: Direction) -> bool:
        """Whether property values are among the rows in a direction."""
        return direction is Direction.OUTGOING and self.far_end_kind is not FarEndKind.ENTITY

    def types(self, catalogue: Catalogue) -> tuple[str, ...] | None:
        """The wanted relationship types; None for all."""
        if self.far_end_kind is FarEndKind.LITERAL:
            return ()
        if self.relations is None:
            return None
        return tuple(sorted(self.relations & catalogue.types.keys()))

    def values(self, formats: ValueFormats, rows: Iterable[Sequence[Any]]) -> dict[str, list[Literal]]:
        """The requested properties of nodes, by name, from rows of the part `own` of `queries.PARTS`."""
        found: dict[str, list[Literal]] = defaultdict(list)
        for key, value, length in sorted(rows, key=lambda row: row[0]):
            if self.has_relation(name := split_key(key)[0]):
                found[name] += formats.literals(key, value, length)
        return {name: values for name, values in found.items() if values}


class Side(NamedTuple):
    """An entity, by the id that the caller gave, and one direction of its rows."""

    direction: Direction
    reference: str


@dataclass(frozen=True)
class NodeCounts:
    """Row counts of one node in one direction: `value_counts` by property, `edge_counts` by relationship type.

    `values` and `edges` are the rows themselves, `examples` a few far ends by type; each is None if it was not read.
    """

    side: Side
    anchor: Anchor
    value_counts: Mapping[str, int]
    edge_counts: Mapping[str, int]
    values: Mapping[str, Sequence[Literal]] | None = None
    edges: Mapping[str, list[Edge]] | None = None
    examples: Mapping[str, Sequence[NodeRow]] | None = None

    @cached_property
    def by_path(self) -> dict[tuple[str, ...], int]:
        """The number of rows of each relation, values and edges together."""
        names = self.value_counts.keys() | self.edge_counts.keys()
        return {(name,): self.value_counts.get(name, 0) + self.edge_counts.get(name, 0) for name in names}


def by_side(counts: Iterable[NodeCounts]) -> RelationCounts[Side, str]:
    """The counts in the form of `adapters.paging`."""
    return RelationCounts({each.side: each.by_path for each in counts})


class CountReader:
    """Counts rows at nodes, and reads them: values, edges and examples of far ends."""

    def __init__(self, entities: Entities) -> None:
        self._entities = entities
        self._session = entities.session

    async def read(
        self, references: Sequence[str], wanted: RowFilter, *, rows: int = 0, examples: int = 0
    ) -> tuple[dict[str, Anchor], list[NodeCounts]]:
        """The nodes by reference, and their counts: direction by direction, in the order of the references.

        A node with at most `rows` edges in a direction comes with these edges, another with `examples` far ends of each
        type.

        Raises:
            StoreError: new relationship types kept appearing while they were counted.
        """
        for _ in range(3):
            decoder = self._entities.decoder
            with_values = len(references) <= _FEW_NODES
            query = _CountQuery(self._session.builder, decoder.catalogue, wanted, with_values=with_values)
            found = await self._entities.find(
                references,
                queries.COUNTS,
                query.parts(with_rows=rows > 0, with_examples=examples > 0),
                rows=rows,
                few=query.expansion_limit,
                examples=examples,
                edges=SAMPLED_EDGES,
                described=decoder.described_keys if with_values else decoder.shown_keys,
            )
            formats = self._session.dialect.values
            counts = await in_thread(len(found), lambda: query.decoded(found, formats))  # noqa: B023 - awaited here
            if counts is not None:
                return found, counts
            await self._entities.catalogue.refreshed()  # A node has a type that is newer than the catalogue.
        raise StoreError("relationship types are added while they are counted", next_step="Repeat the call.")

    async def values_at(self, nodes: Iterable[str], wanted: RowFilter) -> ValuesOf:
        """The wanted property values of some nodes, given by the store's own ids."""
        formats = self._session.dialect.values
        id_batches = batches(list(dict.fromkeys(nodes)), MAX_IDS_PER_QUERY)
        answers = await gathered(*(self._session.items(queries.OWN_VALUES, ids=batch) for batch in id_batches))
        found = [row for rows in answers for row in rows]
        return await in_thread(len(found), lambda: {node_id: wanted.values(formats, own) for node_id, own in found})

    async def edges_at(
        self, nodes: Sequence[str], direction: Direction, types: Sequence[str] | None, **slice_: int
    ) -> EdgesOf:
        """The edges of some types (None: any) at some nodes, given by the store's own ids.

        With `skip` and `take`, a section of the edges of one type at one node.
        """
        parts = {"edge": edge(direction, types), "slice": queries.SLICE if slice_ else ""}
        rows: list[Any] = await self._session.items(
            queries.ROWS, parts, ids=nodes, shown=self._entities.decoder.shown_keys, **slice_
        )

        def by_node() -> EdgesOf:
            found: dict[tuple[str, Direction, str], list[Edge]] = defaultdict(list)
            for node_id, *row in rows:
                found[node_id, direction, row[0]].append(row)
            return found

        return await in_thread(len(rows), by_node)

    async def far_ends_at(
        self, nodes: Sequence[str], direction: Direction, types: Sequence[str], examples: int
    ) -> Sequence[Sequence[Any]]:
        """A few far ends of the edges of each type, for some nodes: rows of the node's id and a list for each type."""
        return await self._session.rows(
            queries.EXAMPLES,
            {"examples": example_expressions(self._session.builder, direction, types)},
            ids=nodes,
            examples=examples,
            edges=SAMPLED_EDGES,
            shown=self._entities.decoder.shown_keys,
        )


class _CountQuery:
    """One counting query: the parts to fill its template with, and the decoding of its rows."""

    def __init__(self, builder: Builder, catalogue: Catalogue, wanted: RowFilter, *, with_values: bool) -> None:
        self._builder = builder
        self._wanted = wanted
        self._with_values = with_values
        self._types = wanted.types(catalogue)
        self._counted_types = tuple(catalogue.types) if self._types is None else self._types
        self._sides = wanted.directions if self._counted_types else ()
        self.expansion_limit = _FEW_EDGES if len(self._counted_types) > _FEW_TYPES else 0

    def parts(self, *, with_rows: bool, with_examples: bool) -> dict[str, str]:
        """The parts that fill the template `queries.COUNTS`."""
        values = self._builder.fill("{own}" if self._with_values else queries.VALUE_COUNTS)
        return {
            "sides": " ".join(self._side(side, with_rows=with_rows) for side in self._sides),
            "values": values if any(map(self._wanted.has_values, self._wanted.directions)) else "[]",
            "side_items": ", ".join(self._side_items(one, with_examples=with_examples) for one in self._sides) or "[]",
        }

    def _side(self, side: Direction, *, with_rows: bool) -> str:
        given = {"side": str(side), "edge": edge(side, self._types)}

        def of_few(name: str, template: str, *, needed: bool) -> str:
            variables = f"n, {side}_degree"
            return self._builder.subquery(variables, template, **given) if needed else f"WITH *, [] AS {side}_{name}"

        return self._builder.fill(
            queries.SIDE,
            side=str(side),
            degree=self._builder.degree(side, self._types),
            rows_of_few=of_few("edges", queries.ROWS_OF_FEW, needed=with_rows),
            types_of_few=of_few("types", queries.TYPES_OF_FEW, needed=self.expansion_limit > 0),
        )

    def _side_items(self, side: Direction, *, with_examples: bool) -> str:
        own_degrees = self._builder.dialect.own_degrees if self._types is None else None
        return self._builder.fill(
            queries.SIDE_ITEMS,
            side=str(side),
            degrees=own_degrees[side] if own_degrees is not None else self._builder.degrees(side, self._counted_types),
            examples=example_expressions(self._builder, side, self._counted_types) if with_examples else "",
        )

    def decoded(self, found: Mapping[str, Anchor], formats: ValueFormats) -> list[NodeCounts] | None:
        """The counts at the nodes found; None if the known types do not add up to a node's degree (one is new)."""
        first_reference = {anchor.node_id: reference for reference, anchor in reversed([*found.items()])}
        nodes = [
            (reference, anchor) for reference, anchor in found.items() if first_reference[anchor.node_id] == reference
        ]
        counts = [
            self._counts(
                Side(direction, reference),
                anchor,
                anchor.row[_FIRST_SIDE + place] if self._sides else (0, (), (), ()),
                formats,
            )
            for place, direction in enumerate(self._wanted.directions)
            for reference, anchor in nodes
        ]
        complete = [each for each in counts if each is not None]
        return complete if len(complete) == len(counts) else None

    def _counts(self, side: Side, anchor: Anchor, items: Sequence[Any], formats: ValueFormats) -> NodeCounts | None:
        degree, rows, sizes, ends = items
        edges: dict[str, list[Edge]] | None = None
        if rows or not degree:
            edges = defaultdict(list)
            for row in rows:
                edges[row[0]].append(row)
            edge_counts = {name: len(of_type) for name, of_type in edges.items()}
        else:
            by_place = sizes and isinstance(sizes[0], int)
            named = zip(self._counted_types, sizes, strict=True) if by_place else sizes
            edge_counts = {name: size for name, size in named if size}
            if sum(edge_counts.values()) != degree:
                return None
        values: dict[str, list[Literal]] | None = None
        value_counts: dict[str, int] = defaultdict(int)
        value_rows = anchor.row[_VALUES] if self._wanted.has_values(side.direction) else ()
        if self._with_values or not value_rows:
            values = self._wanted.values(formats, value_rows)
            value_counts.update({name: len(literals) for name, literals in values.items()})
        else:
            for found in value_rows:
                key, size = (found, 1) if isinstance(found, str) else found
                if size and self._wanted.has_relation(name := split_key(key)[0]):
                    value_counts[name] += size
        examples = dict(zip(self._counted_types, ends, strict=True)) if ends else None
        return NodeCounts(side, anchor, value_counts, edge_counts, values, edges, examples)


def example_expressions(builder: Builder, side: Direction, types: Iterable[str]) -> str:
    """Expressions for a few far ends of the edges of each type at `n`."""
    return ", ".join(builder.collected(queries.FAR_ENDS, edge=edge(side, [name], "")) for name in types)
