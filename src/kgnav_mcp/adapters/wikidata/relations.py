"""The relations of a set of entities, with counts and a few far ends of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from heapq import nsmallest

from rdflib import URIRef

from kgnav_mcp.adapters.paging.counts import paths_in_order, relations_page
from kgnav_mcp.adapters.paging.directions import RelationRequest
from kgnav_mcp.adapters.sparql_base.query_reader import iri_in, number_in
from kgnav_mcp.adapters.sparql_base.terms import values
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.catalogue import CatalogueCache
from kgnav_mcp.adapters.wikidata.counts import CountReader, Counts
from kgnav_mcp.adapters.wikidata.statements import StatementReader, StatementRow, statement
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Direction, Node, Page, RelationFacts, Stop

_MAX_EXAMPLE_ANCHORS = 20
"""Entities of the set whose far ends are used as examples."""


class RelationReader:
    """Answers the verb `relations`."""

    def __init__(
        self, store: Store, catalogues: CatalogueCache, counts: CountReader, statements: StatementReader
    ) -> None:
        self._store = store
        self._reader = store.reader
        self._catalogues = catalogues
        self._counts = counts
        self._statements = statements

    async def page(self, anchors: Sequence[URIRef], asked: RelationRequest) -> Page[RelationFacts]:
        """The relations sorted by id. Identifiers of other databases are marked as hidden, and have no examples."""
        counts = await self._counts.at(anchors, asked.direction, asked.far_ends)
        paths = await in_thread(len(anchors), lambda: paths_in_order(counts, lambda path: path))
        catalogue, shown = self._catalogues.current, [path[0] for path in paths[: asked.limit]]
        hidden = set[str]() if self._store.wikidata.external_ids else set(filter(catalogue.hidden, shown))
        examples, stop = await self._examples(counts, [name for name in shown if name not in hidden], asked)
        return await in_thread(
            len(anchors),
            lambda: relations_page(
                counts,
                asked.direction,
                paths=paths,
                limit=asked.limit,
                names={name: catalogue.relation(name) for name in shown},
                printed=self._store.ids.shown,
                examples={(name,): nodes for name, nodes in examples.items()},
                stop=stop,
                hidden=[(name,) for name in hidden],
            ),
        )

    async def _examples(
        self, counts: Counts, names: Sequence[str], asked: RelationRequest
    ) -> tuple[dict[str, tuple[Node, ...]], Stop]:
        """The first few distinct far ends of each property, and whether all were read.

        One query reads them for all properties. If it times out, there are no examples.
        """
        if not asked.examples or not names:
            return {}, Stop.COMPLETE
        outgoing = asked.direction is Direction.OUTGOING
        pattern = self._store.form.valued if outgoing else self._store.form.rows[asked.direction]
        kind = self._reader.part(queries.KINDS[asked.far_ends if outgoing else None])
        rows = await in_thread(len(counts.rows), counts.by_path_and_entity)
        branches: list[str] = []
        for place, name in enumerate(names):
            first_entities = await in_thread(
                len(rows[name,]), partial(nsmallest, _MAX_EXAMPLE_ANCHORS, rows[name,], key=str)
            )
            branches.append(
                self._reader.filled(
                    queries.EXAMPLES[asked.direction],
                    s=values(*first_entities),
                    rows=self._store.rows(pattern, name),
                    kind=kind,
                    number=place,
                    most=asked.examples,
                )
            )
        try:
            read = await self._reader.union(branches)
        except StoreTimeout:
            return {}, Stop.TIME_OUT  # Counts without examples are still a useful answer.
        found: list[StatementRow] = []
        for row in read.rows:
            name = names[number_in(row, "number")]
            if outgoing:
                found.append(StatementRow(iri_in(row, "head"), name, statement(row, "one"), row["o"]))
            else:
                found.append(StatementRow(iri_in(row, "s"), name, None, None))
        nodes: dict[str, list[Node]] = defaultdict(list)
        for each, node in zip(found, await self._statements.nodes(found, asked.direction), strict=True):
            if node not in nodes[each.property]:
                nodes[each.property].append(node)
        return {name: tuple(far) for name, far in nodes.items()}, read.stop
