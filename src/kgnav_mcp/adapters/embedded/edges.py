"""The triples that lead from some nodes to others, found by index seeks: a hub is not read to learn of one edge.

The search begins at the heads or at the tails, wherever it has less to read. At a node it reads all rows, of which a
small one has few, or looks for each of the other ends by each of the node's relations, where those are fewer.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from kgnav_mcp.adapters.embedded import entities, queries
from kgnav_mcp.adapters.embedded.anchors import Anchors
from kgnav_mcp.adapters.embedded.fileformat import DEGREE_FLOOR
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.model import Direction, Page, Triple
from kgnav_mcp.port.lists import page_of

EdgeKeys: TypeAlias = "array[int]"
"""Edges in order: of each its head, relation, tail and place among parallel ones, as numbers of the file."""

_WIDTH = 4
_READ = {Direction.OUTGOING: queries.around.EDGES_OF_HEADS, Direction.INCOMING: queries.around.EDGES_OF_TAILS}
_SEEK = {Direction.OUTGOING: queries.around.EDGES_OF_HUB_HEADS, Direction.INCOMING: queries.around.EDGES_OF_HUB_TAILS}

MOST_QUALIFIED = 500_000
"""Edges, and attributes, that are searched at most for a qualifier: 1.5 seconds for either."""


class EdgeReader:
    """Answers `edges` between two sets of nodes, within one job."""

    def __init__(self, builder: Builder, heads: Anchors, tails: Anchors) -> None:
        self._builder = builder
        self._heads = heads
        self._tails = tails

    def keys(self, relations: Collection[int] | None) -> EdgeKeys:
        """All the edges by these relations, or by any: in the order of the heads, then by relation id and tail."""
        sides = (_Search(Direction.OUTGOING, self._heads, self._tails, relations),)
        sides += (_Search(Direction.INCOMING, self._tails, self._heads, relations),)
        search = min(sides, key=lambda side: side.cost)
        places = {number: place for place, number in enumerate(self._heads.nodes)}
        entries = self._builder.relation_entries

        def order(row: Sequence[int]) -> tuple[int, str, int, int]:
            head, relation, tail, n = row
            return places[head], entries[relation].relation.id, tail, n

        found: EdgeKeys = array("q")
        for row in sorted(search.rows(self._builder), key=order):
            found.extend(row)
        return found

    def page(self, keys: EdgeKeys, limit: int, after: str | None) -> Page[Triple]:
        """A page of those edges as triples.

        Raises:
            InvalidCursor: the position is none of this list.
        """
        page = page_of(range(len(keys) // _WIDTH), limit, after)
        shown = [keys[place * _WIDTH : (place + 1) * _WIDTH] for place in page.items]
        asked = json.dumps([key.tolist() for key in shown])
        qualifiers = dict(self._builder.session.all(queries.around.QUALIFIERS_OF_EDGES, asked))
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
    """How the edges are found from one side: `at` its nodes, to the nodes `others` of the other side."""

    def __init__(self, direction: Direction, at: Anchors, others: Anchors, relations: Collection[int] | None) -> None:
        self._direction = direction
        self._others = list(others.nodes)
        self._relations = None if relations is None else list(relations)
        self._read = at.small(direction)
        self._seek: dict[int, list[int]] = {}
        self.cost = len(self._read) * DEGREE_FLOOR
        """Rows and seeks, at most."""
        for hub, counts in at.hubs[direction].items():
            self._add_hub(hub, counts)

    def _add_hub(self, hub: int, counts: Mapping[int, int]) -> None:
        wanted = counts.keys() if self._relations is None else counts.keys() & set(self._relations)
        seeks, rows = len(wanted) * len(self._others), sum(counts.values())
        if seeks < rows:
            self._seek[hub] = sorted(wanted)
        else:
            self._read.append(hub)
        self.cost += min(seeks, rows)

    def rows(self, builder: Builder) -> list[tuple[int, int, int, int]]:
        """Head, relation, tail and place among parallel ones, of each edge."""
        session, others = builder.session, json.dumps(self._others)
        relations = None if self._relations is None else json.dumps(self._relations)
        found = session.all(_READ[self._direction], json.dumps(self._read), others, relations)
        return found + session.all(_SEEK[self._direction], json.dumps(self._seek), others)


def qualified(builder: Builder, entity: str, limit: int) -> tuple[Triple, ...] | None:
    """The first triples that have a node as the value of a qualifier, of which a graph file has no index.

    None: there is none among those that are searched, which are not all.
    """
    session = builder.session
    node = entities.resolved(builder, [entity]).get(entity)
    if node is None:
        return ()
    key = node[1]
    asked = {"key": key, "written": json.dumps(key, ensure_ascii=False), "limit": limit, "most": MOST_QUALIFIED}
    rows = session.named(queries.around.QUALIFIED, asked)
    if not rows:
        unread = session.named(queries.around.UNREAD, asked)
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
