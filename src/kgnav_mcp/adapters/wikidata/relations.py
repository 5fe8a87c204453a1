"""Which relations a set of entities has, with counts and a few far ends of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from rdflib import URIRef

from kgnav_mcp.adapters.sparql.reading import address, number, worst
from kgnav_mcp.adapters.sparql.terms import values
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.catalogue import Catalogues
from kgnav_mcp.adapters.wikidata.ids import Ids
from kgnav_mcp.adapters.wikidata.statements import Found, StatementReader, statement
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.adapters.wikidata.tallies import Tallies, Tally
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Count, Direction, Node, Page, RelationFacts, Stop
from kgnav_mcp.port import TailKind

_ANCHORS = 20
"""Entities of a set whose far ends serve as examples."""


class RelationReader:
    """Answers `relations`."""

    def __init__(
        self,
        store: Store,
        catalogues: Catalogues,
        tallies: Tallies,
        statements: StatementReader,
    ) -> None:
        self._store = store
        self._reader = store.reader
        self._catalogues = catalogues
        self._tallies = tallies
        self._statements = statements

    async def page(
        self, anchors: Sequence[URIRef], direction: Direction, *, far_ends: TailKind | None, examples: int, limit: int
    ) -> Page[RelationFacts]:
        """The relations ordered by id; identifiers of other databases are marked as hidden, and have no examples."""
        tally = await self._tallies.near(anchors, direction, far_ends)
        counts = tally.names()
        ordered = sorted(counts)
        shown = ordered[:limit]
        catalogue = self._catalogues.current
        hidden = set[str]() if self._store.wikidata.external_ids else {name for name in shown if catalogue.hidden(name)}
        far_nodes, stop = await self._examples(
            tally, direction, far_ends, [name for name in shown if name not in hidden], examples
        )
        items: list[RelationFacts] = []
        for name in shown:
            relation = catalogue.relation(name)
            items.append(
                RelationFacts(
                    relation=relation,
                    direction=direction,
                    count=tally.total([counts[name]]),
                    hops=(relation,),
                    examples=far_nodes.get(name, ()),
                    hidden=name in hidden,
                    per_entity={
                        self._store.ids.shown(str(anchor)): rows[name].value
                        for anchor, rows in tally.rows.items()
                        if name in rows
                    },
                )
            )
        return Page(
            items=tuple(items),
            positions=tuple(Ids.relation(name) for name in shown),
            total=tally.total([Count(len(ordered))]),
            stop=worst((tally.stop, stop, Stop.LIMIT if len(ordered) > limit else Stop.COMPLETE)),
        )

    async def _examples(
        self, tally: Tally, direction: Direction, far_ends: TailKind | None, names: Sequence[str], wanted: int
    ) -> tuple[dict[str, tuple[Node, ...]], Stop]:
        """The first distinct far ends of each property, read for all of them at once, and whether all were read.

        Where their time is over, the properties come without.
        """
        if not wanted or not names:
            return {}, Stop.COMPLETE
        outgoing = direction is Direction.OUTGOING
        pattern = self._store.form.valued if outgoing else self._store.form.rows[direction]
        kind = self._reader.part(queries.KINDS[far_ends if outgoing else None])
        branches: list[str] = []
        for place, name in enumerate(names):
            some = sorted(anchor for anchor, counts in tally.rows.items() if name in counts)[:_ANCHORS]
            branches.append(
                self._reader.filled(
                    queries.EXAMPLES[direction],
                    s=values(*some),
                    rows=self._store.rows(pattern, name),
                    kind=kind,
                    number=place,
                    most=wanted,
                )
            )
        try:
            read = await self._reader.union(branches)
        except StoreTimeout:
            return {}, Stop.TIME_OUT  # Counts without examples are an answer, too.
        found: list[Found] = []
        for row in read.rows:
            name = names[number(row, "number")]
            if outgoing:
                found.append(Found(address(row, "head"), name, statement(row, "one"), row["o"]))
            else:
                found.append(Found(address(row, "s"), name, None, None))
        nodes: dict[str, list[Node]] = defaultdict(list)
        for each, node in zip(found, await self._statements.nodes(found, direction), strict=True):
            if node not in nodes[each.property]:
                nodes[each.property].append(node)
        return {name: tuple(far) for name, far in nodes.items()}, read.stop
