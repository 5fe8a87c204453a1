"""The distinct relations at nodes, with exact counts and a few examples."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from kgnav_mcp.adapters.neo4j import cypher, queries
from kgnav_mcp.adapters.neo4j.entities import Cell, Entities
from kgnav_mcp.adapters.neo4j.looking import LOOKED_AT
from kgnav_mcp.adapters.neo4j.neighbours import relation_of
from kgnav_mcp.adapters.neo4j.store import Store
from kgnav_mcp.adapters.neo4j.tallies import Tallies, Tally, Wanted
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Count, Node, Page, RelationFacts, Stop

_TOGETHER = 50
"""Types whose examples one query reads."""


class RelationReader:
    """Answers `relations`."""

    def __init__(self, store: Store, entities: Entities, tallies: Tallies) -> None:
        self._store = store
        self._entities = entities
        self._tallies = tallies

    async def page(self, references: Sequence[str], wanted: Wanted, examples: int, limit: int) -> Page[RelationFacts]:
        """The relations by id, `limit` at most."""
        tallies = await self._tallies.at(references, wanted, examples=examples)
        counts = Counter[str]()
        for tally in tallies:
            counts.update({relation: tally.rows(relation) for relation in tally.relations})
        order = sorted(counts)[:limit]
        ends = await self._examples(tallies, wanted, order, examples) if examples else {}
        items = tuple(
            RelationFacts(
                relation := relation_of(name),
                wanted.direction,
                Count(counts[name]),
                (relation,),
                tuple(ends.get(name, ())[:examples]),
                per_entity={tally.anchor.entity.id: rows for tally in tallies if (rows := tally.rows(name))},
            )
            for name in order
        )
        stop = Stop.LIMIT if len(counts) > limit else Stop.COMPLETE
        return Page(items, tuple(order), Count(len(counts)), stop)

    async def _examples(
        self, tallies: Sequence[Tally], wanted: Wanted, relations: Sequence[str], examples: int
    ) -> dict[str, list[Node]]:
        """Distinct far ends of each relation, from the first nodes that have some."""
        found: dict[str, list[Node]] = defaultdict(list)
        for tally in tallies:
            lacking = [name for name in relations if len(found[name]) < examples and tally.rows(name)]
            cells = await self._ends(tally, wanted, lacking, examples) if tally.ends is None else tally.ends
            for name in lacking:
                far: list[Node] = [
                    *tally.own.get(name, ())[:examples],
                    *(self._entities.entity(cell) for cell in cells.get(name, ())),
                ]
                found[name] = list(dict.fromkeys((*found[name], *far)))
        return found

    async def _ends(
        self, tally: Tally, wanted: Wanted, relations: Sequence[str], examples: int
    ) -> dict[str, Sequence[Cell]]:
        types = [name for name in relations if tally.sizes.get(name)]
        batches = [types[start : start + _TOGETHER] for start in range(0, len(types), _TOGETHER)]
        rows = await gathered(*(self._batch(tally, wanted, batch, examples) for batch in batches))
        return {name: ends for row in rows for name, ends in row}

    async def _batch(
        self, tally: Tally, wanted: Wanted, types: Sequence[str], examples: int
    ) -> list[tuple[str, Sequence[Cell]]]:
        collections = ", ".join(cypher.ends(wanted.direction, name) for name in types)
        (ends,) = await self._store.row(
            cypher.filled(queries.EXAMPLES, collections=collections),
            id=tally.anchor.element,
            examples=examples,
            looked_at=LOOKED_AT,
            shown=self._entities.shown,
        )
        return list(zip(types, ends, strict=True))
