"""Finds the triples from one set of nodes to another by index seeks, without reading all edges of a hub.

The search starts from the heads or from the tails, whichever costs less. At each node it either reads all rows, or
seeks each pair of a relation and a node of the other set, whichever is fewer.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from kgnav_mcp.adapters.embedded import entities, queries
from kgnav_mcp.adapters.embedded.entities import Anchors
from kgnav_mcp.adapters.embedded.fileformat import DEGREE_FLOOR
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.model import Direction, Page, Triple
from kgnav_mcp.port.lists import page_of

EdgeKeys: TypeAlias = "array[int]"
"""Edges in order, as four integers each: head, relation, tail, index among parallel edges."""

_NUMBERS_PER_EDGE = 4
_READ_QUERIES = {Direction.OUTGOING: queries.around.EDGES_OF_HEADS, Direction.INCOMING: queries.around.EDGES_OF_TAILS}
_SEEK_QUERIES = {
    Direction.OUTGOING: queries.around.EDGES_OF_HUB_HEADS,
    Direction.INCOMING: queries.around.EDGES_OF_HUB_TAILS,
}

MAX_QUALIFIED = 500_000
"""Maximum number of edges, and likewise of attributes, that are searched for a qualifier. Takes 1.5 seconds for either.
"""


class EdgeReader:
    """Answers `edges` between two sets of nodes, within one job."""

    def __init__(self, builder: Builder, heads: Anchors, tails: Anchors) -> None:
        self._builder = builder
        self._heads = heads
        self._tails = tails

    def keys(self, relations: Collection[int] | None) -> EdgeKeys:
        """Returns all edges by these relations, or by any, in the order of the heads, then by relation id and tail."""
        sides = (_Search(Direction.OUTGOING, self._heads, self._tails, relations),)
        sides += (_Search(Direction.INCOMING, self._tails, self._heads, relations),)
        search = min(sides, key=lambda side: side.cost)
        places = {number: place for place, number in enumerate(self._heads.nodes)}
        entries = self._builder.relation_entries

        def order(row: Sequence[int]) -> tuple[int, str, int, int]:
            head, relation, tail, n = row
            return places[head], entries[relation].relation.id, tail, n

        keys: EdgeKeys = array("q")
        for row in sorted(search.rows(self._builder), key=order):
            keys.extend(row)
        return keys

    def page(self, keys: EdgeKeys, limit: int, after: str | None) -> Page[Triple]:
        """Returns a page of those edges as triples.

        Raises:
            InvalidCursor: the position is not one of this list.
        """
        page = page_of(range(len(keys) // _NUMBERS_PER_EDGE), limit, after)
        shown = [keys[place * _NUMBERS_PER_EDGE : (place + 1) * _NUMBERS_PER_EDGE] for place in page.items]
        key_list = json.dumps([key.tolist() for key in shown])
        qualifiers = dict(self._builder.session.all(queries.around.QUALIFIERS_OF_EDGES, key_list))
        triples = tuple(
            Triple(
                self._heads.nodes[head],
                self._builder.relation(relation),
                self._tails.nodes[tail],
                self._builder.qualifiers(qualifiers.get(place)),
            )
            for place, (head, relation, tail, _) in enumerate(shown)
        )
        return Page(triples, page.positions, page.total, page.stop)


class _Search:
    """A search for edges that starts at one set of nodes and ends at the other."""

    def __init__(self, direction: Direction, starts: Anchors, ends: Anchors, relations: Collection[int] | None) -> None:
        self._direction = direction
        self._others = list(ends.nodes)
        self._relations = None if relations is None else list(relations)
        self._read = starts.small(direction)
        self._seek: dict[int, list[int]] = {}
        self.cost = len(self._read) * DEGREE_FLOOR
        """Upper bound of the rows read and seeks done."""
        for hub, counts in starts.hubs[direction].items():
            self._add_hub(hub, counts)

    def _add_hub(self, hub: int, counts: Mapping[int, int]) -> None:
        relations = counts.keys() if self._relations is None else counts.keys() & set(self._relations)
        seeks, rows = len(relations) * len(self._others), sum(counts.values())
        if seeks < rows:
            self._seek[hub] = sorted(relations)
        else:
            self._read.append(hub)
        self.cost += min(seeks, rows)

    def rows(self, builder: Builder) -> list[tuple[int, int, int, int]]:
        """Returns head, relation, tail and index among parallel edges of each edge."""
        session, end_list = builder.session, json.dumps(self._others)
        relations = None if self._relations is None else json.dumps(self._relations)
        read_rows = session.all(_READ_QUERIES[self._direction], json.dumps(self._read), end_list, relations)
        return read_rows + session.all(_SEEK_QUERIES[self._direction], json.dumps(self._seek), end_list)


def qualified(builder: Builder, entity: str, limit: int) -> tuple[Triple, ...] | None:
    """Returns the first triples that have a node as a qualifier value.

    A graph file has no index for this. None means that the search stopped at its limit without finding any.
    """
    session = builder.session
    node = entities.resolved(builder, [entity]).get(entity)
    if node is None:
        return ()
    key = node[1]
    parameters = {"key": key, "written": json.dumps(key, ensure_ascii=False), "limit": limit, "most": MAX_QUALIFIED}
    rows = session.all_named(queries.around.QUALIFIED, parameters)
    if not rows:
        unread = session.all_named(queries.around.UNREAD, parameters)
        return None if unread[0][0] else ()
    numbers = {number for head, _, tail, *_ in rows for number in (head, tail) if number is not None}
    nodes = {
        number: builder.entity(key, label, mediator)
        for number, key, label, _, mediator in session.all(queries.entities.NODES_BY_ID, json.dumps(sorted(numbers)))
    }
    return tuple(
        Triple(
            nodes[head],
            builder.relation(relation),
            builder.literal(*literal) if tail is None else nodes[tail],
            builder.qualifiers(qualifiers),
        )
        for head, relation, tail, *literal, qualifiers in rows
    )
