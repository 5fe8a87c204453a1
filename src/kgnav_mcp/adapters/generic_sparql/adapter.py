"""The adapter for any SPARQL endpoint. Each verb is passed to its reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rdflib import URIRef

from kgnav_mcp.adapters.generic_sparql import queries
from kgnav_mcp.adapters.generic_sparql.blanks import Resolved
from kgnav_mcp.adapters.generic_sparql.catalogue import CatalogueCache, SchemaReader
from kgnav_mcp.adapters.generic_sparql.counts import CountReader
from kgnav_mcp.adapters.generic_sparql.lists import ListReader
from kgnav_mcp.adapters.generic_sparql.names import EntityFinder, Names
from kgnav_mcp.adapters.generic_sparql.options import Endpoint
from kgnav_mcp.adapters.generic_sparql.pattern_writer import PatternReader, PatternWriter
from kgnav_mcp.adapters.generic_sparql.relations import RelationReader
from kgnav_mcp.adapters.generic_sparql.rows import RowReader
from kgnav_mcp.adapters.generic_sparql.store import Store
from kgnav_mcp.adapters.ids.rdf import BlankPath
from kgnav_mcp.adapters.options import absent_name
from kgnav_mcp.adapters.paging.directions import RowRequest
from kgnav_mcp.adapters.sparql_base.adapter import Readers, SparqlAdapter
from kgnav_mcp.adapters.sparql_base.around.counts import Anchor, Path
from kgnav_mcp.adapters.sparql_base.around.edges import EdgeReader
from kgnav_mcp.adapters.sparql_base.around.matching import RowSearch
from kgnav_mcp.adapters.sparql_base.around.rows import to_entities
from kgnav_mcp.adapters.sparql_base.client import create_client
from kgnav_mcp.adapters.sparql_base.location import GRAPH
from kgnav_mcp.adapters.sparql_base.queries import SIZE
from kgnav_mcp.adapters.sparql_base.query_reader import Read, Reader
from kgnav_mcp.adapters.sparql_base.rate_limit import Client
from kgnav_mcp.adapters.wellknown import RDFS_SUBCLASS
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Count, Direction, Entity, Health, Triple
from kgnav_mcp.port import AdapterOptions, Capability

_MAX_COUNTED_ON_OPENING = 200_000
"""Maximum number of triples counted when a graph is opened: 0.1 seconds on Oxigraph."""
_MAX_COUNTED_FOR_HEALTH = 20_000_000
"""Maximum number of triples counted for `health`."""
_COUNT_SHARE = 0.3
"""The fraction of a call's time for counting triples. If that is not enough, the size is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened(Readers):
    """The readers of an open graph."""

    store: Store
    names: Names
    catalogues: CatalogueCache
    relations: RelationReader
    counts: CountReader
    triples: Count


class EndpointAdapter(SparqlAdapter[_Opened, Anchor, Path]):
    """One graph of one endpoint.

    Capabilities that are not declared: EXACT_COUNTS, because counts of a hub that times out are lower bounds;
    FUZZY_NAMES, because misspelt words are not found; STABLE_CURSORS, because the graph may change between pages.
    """

    capabilities: frozenset[Capability] = frozenset(
        {Capability.MEDIATORS, Capability.LABELS, Capability.QUALIFIERS, Capability.PLANS}
    )

    def __init__(self, location: str, options: AdapterOptions) -> None:
        super().__init__()
        self._endpoint = Endpoint.read(location, options)
        self._options = options

    @property
    def revision(self) -> str:
        """The graphs, and their number of triples when they were opened, counted up to 200,000."""
        return f"{' '.join(self._endpoint.graphs)} {self._readers.triples.value}"

    @property
    def class_relations(self) -> frozenset[str]:
        return frozenset(map(self._endpoint.ids.short, self._endpoint.types))

    @property
    def subclass_relations(self) -> frozenset[str]:
        return frozenset({self._endpoint.ids.short(RDFS_SUBCLASS)})

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

    def printed_ids(self, ids: Sequence[str]) -> Mapping[str, str]:
        return {**{each: each for each in ids}, **super().printed_ids(ids)}  # the id of a blank node has only one form

    async def triples_by_qualifier(self, entity: str, *, limit: int) -> tuple[Triple, ...] | None:
        value = self._endpoint.ids.iri(entity)
        if value is None:
            return None
        opened = self._readers
        question = RowRequest((), Direction.OUTGOING, None, None, limit, None, all_or_none=False)
        return await RowReader(opened.store, opened.names, opened.counts, (), question).qualified(value, limit)

    async def health(self) -> Health:
        opened = self._readers
        graphs = ", ".join(self._endpoint.graphs) or "the default graph"
        store = f"SPARQL endpoint on {self._endpoint.host}, {graphs}"
        if notations := ", ".join(sorted(opened.store.reification.notations)):
            # The catalogue's number leaves out the triples that make up statements about triples.
            triples = (await opened.catalogues.get()).triples
            store += f", statements about triples ({notations})"
        else:
            triples = await _count_triples(opened.store.reader, _MAX_COUNTED_FOR_HEALTH)
        return Health(True, store, Count.unknown(), triples, tuple(await self._advice(opened)))

    async def _advice(self, opened: _Opened) -> list[str]:
        """Advice on how to configure the endpoint for better answers."""
        store = opened.store
        advice: list[str] = []
        if opened.triples == Count(0):
            advice.append(await self._advice_on_empty_graph())
        elif await store.reader.select(queries.NAMED, share=_COUNT_SHARE) == Read(()):
            relations = ", ".join(self._endpoint.ids.short(relation) for relation in self._endpoint.names)
            advice.append(
                f"No node has a name by {relations}: set the option labels to the relation that names nodes here."
            )
        if store.reification.unsure:
            notations = ", ".join(sorted(store.reification.unsure))
            advice.append(f"The endpoint did not say in time whether it has statements about triples ({notations}).")
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
            return f"{empty} is empty: name a graph with the option graph."
        finally:
            await client.close()
        graphs = sorted(str(row["g"]) for row in rows if "g" in row)
        if not graphs:
            return f"{empty} is empty, and the endpoint has no other graph: load it first."
        listed = ", ".join(graphs)
        return f"{empty} is empty; graphs with triples: {listed}. Name one: ?{GRAPH}={graphs[0]} behind the address."

    async def _connect(self, *, named: bool = True) -> Client:
        endpoint = self._endpoint
        graphs = endpoint.graphs if named else ()
        timeout = self._options.timeout
        return create_client(
            endpoint.address, contact=endpoint.contact, timeout=timeout, graphs=graphs, local_limit=None
        )

    async def _read(self, client: Client) -> _Opened:
        triples = await _count_triples(Reader(client, {}, self._options.timeout), _MAX_COUNTED_ON_OPENING)
        await client.detect()
        store = await Store.opened(client, self._endpoint, self._options)
        names = Names(store)
        catalogues, linker = CatalogueCache(store, names), EntityFinder(store, names)
        if store.absent and triples != Count(0):
            (option, relation), short = store.absent[0], self._endpoint.ids.short
            raise absent_name(option, "relation", short(relation), map(short, await catalogues.relations()))
        counts = CountReader(store, catalogues)
        return _Opened(
            client=client,
            linker=linker,
            lists=ListReader(store, names, linker, catalogues),
            schema=SchemaReader(store, names, catalogues),
            store=store,
            names=names,
            catalogues=catalogues,
            counts=counts,
            relations=RelationReader(store, names, counts),
            rows=lambda anchors, asked: RowReader(store, names, counts, anchors, asked),
            search=lambda asked: RowSearch(
                store.reader, RowReader(store, names, counts, (), to_entities(asked.direction)), counts, asked
            ),
            edges=lambda heads, tails, paths, bare: (
                EdgeReader(
                    RowReader(store, names, counts, heads, to_entities(Direction.OUTGOING, bare=bare)),
                    counts,
                    tails,
                    paths,
                )
                if all(isinstance(one, URIRef) for one in (*heads, *tails))
                else None  # the edges of a blank node are read with it
            ),
            matches=PatternReader(store, names, PatternWriter(store, linker.naming, catalogues)),
            triples=triples,
        )

    async def _resolved(self, ids: Sequence[str]) -> dict[str, Anchor]:
        """Resolve ids to IRIs (whether they are in the graph or not) and to blank nodes in the graph."""
        graph_ids = self._endpoint.ids
        parsed: dict[str, URIRef | BlankPath | None] = await in_thread(
            len(ids), lambda: {each: graph_ids.iri(each) or graph_ids.blank(each) for each in ids}
        )
        paths = [path for path in parsed.values() if isinstance(path, BlankPath)]
        blanks = await self._readers.store.blanks.resolved(paths)
        found = (
            (each, blanks.get(target) if isinstance(target, BlankPath) else target) for each, target in parsed.items()
        )
        return {each: target for each, target in found if target is not None}

    async def _anchors(self, ids: Sequence[str]) -> Sequence[Anchor]:
        anchors = await self._resolved(ids)
        return await in_thread(len(anchors), lambda: list(dict.fromkeys(anchors.values())))

    def _paths(self, paths: Sequence[tuple[str, ...]]) -> Sequence[Path]:
        return self._endpoint.ids.paths(paths)


async def _count_triples(reader: Reader, most: int) -> Count:
    """Count the triples, up to `most`; unknown after a time-out."""
    try:
        return await reader.count(SIZE, share=_COUNT_SHARE, most=most)
    except StoreTimeout:
        return Count.unknown()
