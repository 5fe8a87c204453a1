"""The distinct relations at nodes, with exact counts for each node and a few examples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from kgnav_mcp.adapters.cypher import queries
from kgnav_mcp.adapters.cypher.counts import (
    SAMPLED_EDGES,
    CountReader,
    RelationCounts,
    ValuesOf,
    Wanted,
    example_expressions,
)
from kgnav_mcp.adapters.cypher.entities import Entities, NodeRow, relation_of
from kgnav_mcp.adapters.cypher.session import batches
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.model import AnchoredPage, Count, Direction, Node, RelationFacts, Stop

_TYPES = 50
"""Types whose examples one query reads."""
_NODES = 5
"""Nodes whose edges are looked at for the examples of a relation."""

Key = tuple[Direction, str]
"""A relation in one direction."""


class RelationReader:
    """Answers `relations`."""

    def __init__(self, entities: Entities, counts: CountReader) -> None:
        self._entities = entities
        self._session = entities.session
        self._counts = counts

    async def page(
        self, references: Sequence[str], wanted: Wanted, examples: int, limit: int
    ) -> AnchoredPage[RelationFacts]:
        """The relations by direction and id, `limit` at most."""
        at_once = len(references) == 1 and len(self._entities.catalogue.current.types) <= _TYPES
        found, counts = await self._counts.read(references, wanted, examples=examples if at_once else 0)

        def counted() -> dict[Key, dict[str, int]]:
            rows: dict[Key, dict[str, int]] = defaultdict(dict)
            for each in counts:
                for name, size in each.by_relation.items():
                    rows[each.direction, name][each.anchor.entity.id] = size
            return {key: rows[key] for key in sorted(rows, key=lambda key: (key[0] is Direction.INCOMING, key[1]))}

        rows = await in_thread(len(counts), counted)
        order = list(rows)[:limit]
        ends = await self._examples(counts, wanted, order, examples) if examples else {}
        items = tuple(
            RelationFacts(
                relation := relation_of(name),
                side,
                Count(sum(rows[side, name].values())),
                (relation,),
                tuple(ends.get((side, name), ())[:examples]),
                per_entity=rows[side, name],
            )
            for side, name in order
        )
        anchors = {reference: anchor.entity for reference, anchor in found.items()}
        stop = Stop.LIMIT if len(rows) > limit else Stop.COMPLETE
        positions = tuple(f"{side}.{name}" for side, name in order)
        return AnchoredPage(items, positions, Count(len(rows)), stop, anchors=anchors)

    async def _examples(
        self, counts: Sequence[RelationCounts], wanted: Wanted, order: Sequence[Key], examples: int
    ) -> dict[Key, list[Node]]:
        """Distinct far ends of each relation, from the first nodes that have some."""
        having = await in_thread(len(counts), lambda: _first_nodes(counts, order))
        ends = await self._ends(having, examples)
        values = await self._values(having, wanted)
        decode = self._entities.decoder.entity
        found: dict[Key, list[Node]] = {}
        for (side, name), nodes in having.items():
            far: dict[Node, None] = {}
            for each in nodes:
                own = each.values if each.values is not None else values.get(each.anchor.node_id, {})
                far |= dict.fromkeys(own.get(name, ())[:examples])
                known = each.examples or {}
                rows: Sequence[NodeRow] = known.get(name) or ends.get((each.anchor.node_id, side, name), ())
                far |= dict.fromkeys(map(decode, rows))
            found[side, name] = list(far)
        return found

    async def _ends(
        self, having: Mapping[Key, Sequence[RelationCounts]], examples: int
    ) -> dict[tuple[str, Direction, str], Sequence[NodeRow]]:
        """A few far ends of edges that did not come with the counts, by node, direction and type."""
        types: dict[Direction, list[str]] = defaultdict(list)
        nodes: dict[Direction, dict[str, None]] = defaultdict(dict)
        for (side, name), counts in having.items():
            lacking = [each.anchor.node_id for each in counts if each.examples is None and name in each.edge_counts]
            if lacking:
                types[side].append(name)
                nodes[side] |= dict.fromkeys(lacking)
        asked = [(side, some) for side, names in types.items() for some in batches(names, _TYPES)]
        answers = await gathered(*(self._examples_of(list(nodes[side]), side, some, examples) for side, some in asked))
        return {
            (node_id, side, name): rows
            for (side, some), found in zip(asked, answers, strict=True)
            for node_id, of_types in found
            for name, rows in zip(some, of_types, strict=True)
        }

    async def _examples_of(
        self, nodes: Sequence[str], side: Direction, types: Sequence[str], examples: int
    ) -> list[list[Any]]:
        return await self._session.rows(
            queries.EXAMPLES,
            {"examples": example_expressions(self._session.builder, side, types)},
            ids=nodes,
            examples=examples,
            edges=SAMPLED_EDGES,
            shown=self._entities.decoder.shown,
        )

    async def _values(self, having: Mapping[Key, Sequence[RelationCounts]], wanted: Wanted) -> ValuesOf:
        lacking = (each for (_, name), counts in having.items() for each in counts if name in each.value_counts)
        return await self._counts.values_at([each.anchor.node_id for each in lacking if each.values is None], wanted)


def _first_nodes(counts: Sequence[RelationCounts], order: Sequence[Key]) -> dict[Key, list[RelationCounts]]:
    """The first few nodes that have each relation."""
    having: dict[Key, list[RelationCounts]] = {key: [] for key in order}
    for each in counts:
        for name in each.by_relation:
            nodes = having.get((each.direction, name))
            if nodes is not None and len(nodes) < _NODES:
                nodes.append(each)
    return having
