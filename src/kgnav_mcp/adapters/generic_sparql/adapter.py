"""The adapter for any SPARQL endpoint. Each verb is passed to its reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from rdflib import URIRef

from kgnav_mcp.adapters.generic_sparql import queries
from kgnav_mcp.adapters.generic_sparql.blanks import Resolved
from kgnav_mcp.adapters.generic_sparql.catalogue import CatalogueCache, SchemaReader
from kgnav_mcp.adapters.generic_sparql.counts import CountReader
from kgnav_mcp.adapters.generic_sparql.lists import ListReader
from kgnav_mcp.adapters.generic_sparql.names import EntityFinder, Names
from kgnav_mcp.adapters.generic_sparql.pattern_writer import PatternReader, PatternWriter
from kgnav_mcp.adapters.generic_sparql.rows import RelationReader, RowReader
from kgnav_mcp.adapters.generic_sparql.several_graphs import advice_on_graphs
from kgnav_mcp.adapters.generic_sparql.store import Endpoint, Store
from kgnav_mcp.adapters.ids.rdf import BlankPath
from kgnav_mcp.adapters.options import absent_name
from kgnav_mcp.adapters.paging.directions import RowRequest
from kgnav_mcp.adapters.paging.rows import Segment
from kgnav_mcp.adapters.sparql_base.adapter import Readers, SparqlAdapter
from kgnav_mcp.adapters.sparql_base.around.blocks import Found
from kgnav_mcp.adapters.sparql_base.around.counts import Anchor, Path
from kgnav_mcp.adapters.sparql_base.around.row_readers import CreateRows, row_readers
from kgnav_mcp.adapters.sparql_base.client import create_client
from kgnav_mcp.adapters.sparql_base.queries import SIZE
from kgnav_mcp.adapters.sparql_base.query_reader import Read, Reader
from kgnav_mcp.adapters.sparql_base.rate_limit import Client
from kgnav_mcp.adapters.sparql_base.requests import GRAPH
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import AnchoredPage, Count, Direction, Entity, Health, Link, Triple
from kgnav_mcp.port import AdapterOptions, Capability, FarEndFilter

_MAX_COUNTED_ON_OPENING = 200_000
"""Maximum number of triples counted when a graph is opened: 0.1 seconds on Oxigraph."""
_MAX_COUNTED_FOR_HEALTH = 20_000_000
"""Maximum number of triples counted for `health`."""
_COUNT_SHARE = 0.3
"""The fraction of a call's time for counting triples. If that is not enough, the size is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened(Readers):
    """The readers of an open graph."""

    entity_finder: EntityFinder
    store: Store
    names: Names
    catalogues: CatalogueCache
    rows: CreateRows
    triples: Count


class EndpointAdapter(SparqlAdapter[Opened, Anchor, Path]):
    """One graph of one endpoint.

    Capabilities that are not declared: EXACT_COUNTS, because counts of a hub that times out are lower bounds;
    FUZZY_NAMES, because misspelt words are not found; STABLE_CURSORS, because the graph may change between pages.
    """

    capabilities: frozenset[Capability] = frozenset(
        {Capability.MEDIATORS, Capability.LABELS, Capability.QUALIFIERS, Capability.PLANS}
    )

    def __init__(self, location: str, options: AdapterOptions, endpoint: Endpoint | None = None) -> None:
        """`endpoint` takes the place of the configuration in the location and the options."""
        super().__init__()
        self._endpoint = endpoint or Endpoint.read(location, options)
        self._options = options

    @property
    def revision(self) -> str:
        """The graphs and their number of triples when they were opened, where these were counted."""
        return f"{' '.join(self._endpoint.graphs)} {self._readers.triples.value}"

    @property
    def class_relations(self) -> frozenset[str]:
        return frozenset(map(self._endpoint.ids.short, self._endpoint.types))

    @property
    def subclass_relations(self) -> frozenset[str]:
        return frozenset(map(self._endpoint.ids.short, self._endpoint.subclasses))

    async def describe(self, ids: Sequence[str]) -> Mapping[str, Entity]:
        opened = self._readers
        anchors = await self._resolved(ids)
        blanks = {anchor.path: anchor for anchor in anchors.values() if isinstance(anchor, Resolved)}
        entities = await opened.names.blank_nodes({path: anchor.blank for path, anchor in blanks.items()})
        blank_nodes: dict[Anchor, Entity] = dict(zip(blanks.values(), entities, strict=True))
        described = await opened.names.described(anchor for anchor in anchors.values() if isinstance(anchor, URIRef))
        return await in_thread(
            len(anchors),
            lambda: {
                reference: entity
                for reference, anchor in anchors.items()
                if (
                    entity := blank_nodes.get(anchor) or (described.get(anchor) if isinstance(anchor, URIRef) else None)
                )
                is not None
            },
        )

    async def matching(
        self,
        ids: Sequence[str],
        direction: Direction | None,
        *,
        relation_paths: Sequence[tuple[str, ...]] | None = None,
        far: FarEndFilter,
        limit: int,
        after: str | None = None,
    ) -> AnchoredPage[Link]:
        if far.label is not None:
            classes = await self._readers.names.classes(await self._types_with_label(far.label))
            far = replace(far, shown_labels=tuple(each.label for each in classes.values()))
        return await super().matching(ids, direction, relation_paths=relation_paths, far=far, limit=limit, after=after)

    def printed_ids(self, ids: Sequence[str]) -> Mapping[str, str]:
        blank = self._endpoint.ids.blank
        blanks = {each: each for each in ids if blank(each) is not None}  # the id of a blank node has only one form
        return {**blanks, **super().printed_ids(ids)}

    async def triples_by_qualifier(self, entity: str, *, limit: int) -> tuple[Triple, ...] | None:
        value = self._endpoint.ids.iri(entity)
        if value is None:
            return None
        opened = self._readers
        found = await opened.store.reification.qualified(value, limit)
        if found is None:
            return None
        rows: list[tuple[Segment[Anchor, URIRef], Found]] = [
            (Segment(0, head, (relation,), 1), Found(tail, facts=facts))
            for (head, relation, tail), facts in found.items()
        ]
        request = RowRequest((), Direction.OUTGOING, None, None, limit, None, all_or_none=False)
        return tuple(await opened.rows((), request).triples(rows))

    async def health(self) -> Health:
        opened = self._readers
        graphs = ", ".join(self._endpoint.graphs) or "the default graph"
        store = f"SPARQL endpoint on {self._endpoint.host}, {graphs}"
        if notations := ", ".join(sorted(opened.store.reification.notations)):
            # The catalogue's number leaves out the triples that make up statements about triples.
            triples = (await opened.catalogues.get()).triples
            store += f", statements about triples ({notations})"
        elif opened.store.reader.repeats_triples:
            triples = (await opened.catalogues.get()).triples
        else:
            triples = await _count_triples(opened.store.reader, _MAX_COUNTED_FOR_HEALTH)
        return Health(True, store, Count.unknown(), triples, tuple(await self._advice(opened)))

    async def _advice(self, opened: Opened) -> list[str]:
        """Advice on how to configure the endpoint for better answers."""
        store = opened.store
        advice: list[str] = []
        if not self._endpoint.graphs and store.reader.dialect.reads_all_graphs:
            advice += filter(None, [await advice_on_graphs(store.reader, _COUNT_SHARE)])
        if opened.triples == Count(0):
            advice.append(await self._advice_on_empty_graph())
        elif await store.reader.select(queries.NAMED, share=_COUNT_SHARE) == Read(()):
            relations = ", ".join(self._endpoint.ids.short(relation) for relation in self._endpoint.names)
            advice.append(
                f"No node has a name by {relations}: set the option labels to the relation with the names of nodes."
            )
        if store.reification.unsure:
            notations = ", ".join(sorted(store.reification.unsure))
            advice.append(f"It is unknown whether the endpoint has statements about triples (timed out) ({notations}).")
        return advice

    async def _advice_on_empty_graph(self) -> str:
        """Advice for an empty graph: the graphs of the endpoint that have triples."""
        empty = " and ".join(self._endpoint.graphs) or "The default graph"
        client = await self._connect(named=False)
        try:
            await client.detect()
            read = await Reader(client, {}, self._options.timeout).select(queries.NAMED_GRAPHS, share=_COUNT_SHARE)
            rows = read.any_rows()
        except StoreTimeout:
            return f"{empty} is empty: choose a graph with the option graph."
        finally:
            await client.close()
        graphs = sorted(str(row["g"]) for row in rows if "g" in row)
        if not graphs:
            return f"{empty} is empty, and the endpoint has no other graph: load data first."
        listed = ", ".join(graphs)
        return f"{empty} is empty; graphs with triples: {listed}. Name one: ?{GRAPH}={graphs[0]} after the address."

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.catalogues.end()
        await super().close()

    async def _connect(self, *, named: bool = True) -> Client:
        endpoint = self._endpoint
        graphs = endpoint.graphs if named else ()
        timeout = self._options.timeout
        return create_client(
            endpoint.address, contact=endpoint.contact, timeout=timeout, graphs=graphs, local_limit=None
        )

    async def _read(self, client: Client) -> Opened:
        opened = await self._create_readers(client)
        if opened.store.absent and opened.triples != Count(0):
            (option, relation), short = opened.store.absent[0], self._endpoint.ids.short
            raise absent_name(option, "relation", short(relation), map(short, await opened.catalogues.relations()))
        return opened

    async def _create_readers(self, client: Client) -> Opened:
        """Create the readers. What the graph's options name is checked afterwards."""
        triples = await _count_triples(Reader(client, {}, self._options.timeout), _MAX_COUNTED_ON_OPENING)
        await client.detect()
        store = await Store.opened(client, self._endpoint, self._options)
        names = Names(store)
        catalogues, entity_finder = CatalogueCache(store, names), EntityFinder(store, names)
        counts = CountReader(store, catalogues)
        return Opened(
            client=client,
            entity_finder=entity_finder,
            lists=ListReader(store, names, entity_finder, catalogues),
            schema=SchemaReader(store, names, catalogues),
            store=store,
            names=names,
            catalogues=catalogues,
            relations=RelationReader(store, names, counts),
            **row_readers(store.reader, counts, partial(RowReader, store, names, counts)),
            matches=PatternReader(store, names, PatternWriter(store, names, catalogues)),
            triples=triples,
        )

    async def _resolved(self, ids: Sequence[str]) -> dict[str, Anchor]:
        """Resolve ids to IRIs (whether they are in the graph or not) and to blank nodes in the graph."""
        graph_ids = self._endpoint.ids
        parsed: dict[str, URIRef | BlankPath | None] = await in_thread(
            len(ids), lambda: {each: graph_ids.iri(each) or graph_ids.blank(each) for each in ids}
        )
        blank_paths = [path for path in parsed.values() if isinstance(path, BlankPath)]
        blanks = await self._readers.store.blanks.resolved(blank_paths)
        found = (
            (each, blanks.get(target) if isinstance(target, BlankPath) else target) for each, target in parsed.items()
        )
        return {each: target for each, target in found if target is not None}

    async def _anchors(self, ids: Sequence[str]) -> Sequence[Anchor]:
        anchors = await self._resolved(ids)
        return await in_thread(len(anchors), lambda: list(dict.fromkeys(anchors.values())))

    def _relation_paths(self, relation_paths: Sequence[tuple[str, ...]]) -> Sequence[Path]:
        return self._endpoint.ids.relation_paths(relation_paths)


async def _count_triples(reader: Reader, most: int) -> Count:
    """Count the triples, up to `most`; unknown after a time-out."""
    try:
        return await reader.count(SIZE, share=_COUNT_SHARE, most=most)
    except StoreTimeout:
        return Count.unknown()
