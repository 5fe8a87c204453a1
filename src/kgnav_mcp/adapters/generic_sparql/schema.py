"""Reads the schema of an endpoint's graph, with the qualifiers of its relations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import attrgetter

from cachetools import LRUCache
from rdflib import RDF, URIRef

from kgnav_mcp.adapters.generic_sparql import queries
from kgnav_mcp.adapters.generic_sparql.catalogue import CatalogueCache
from kgnav_mcp.adapters.generic_sparql.names import Names
from kgnav_mcp.adapters.generic_sparql.reification import NOTATION
from kgnav_mcp.adapters.generic_sparql.store import Store
from kgnav_mcp.adapters.sparql_base import schema
from kgnav_mcp.adapters.sparql_base.catalogue import Use
from kgnav_mcp.adapters.sparql_base.queries import UNION
from kgnav_mcp.adapters.sparql_base.query_reader import Read, Row, boolean_in, iri_in, is_at_most
from kgnav_mcp.adapters.sparql_base.terms import Fragment, batches
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import NODE_VALUES, Listing, QualifierFacts, Stop

_CACHE_SIZE = 2_000
_BATCH = 20
"""Number of relations looked up in one query."""
_SHARE = 0.3
"""The fraction of a call's time for each of these look-ups. The schema is useful even without them."""


class SchemaReader(schema.SchemaReader):
    """Answers the verb `schema`. Details that take too long are left out, and the answer says so."""

    def __init__(self, store: Store, names: Names, catalogues: CatalogueCache) -> None:
        super().__init__(store.reader, names, catalogues.get)
        self._reification = store.reification
        self.one_edge_each = not store.reification
        self._qualifiers: LRUCache[URIRef, tuple[QualifierFacts, ...]] = LRUCache(_CACHE_SIZE)

    async def _qualifiers_of(self, uses: Mapping[URIRef, Use]) -> tuple[schema.Qualifiers, Stop]:
        """The qualifiers on the edges of each relation. Cached if all were read."""
        if not self._reification:
            return await super()._qualifiers_of(uses)
        unknown = [iri for iri in uses if iri not in self._qualifiers]
        found: dict[URIRef, dict[URIRef, set[str]]] = defaultdict(lambda: defaultdict(set))
        stops: dict[URIRef, Stop] = {}
        for n, iri in enumerate(unknown):
            said = self._reification.qualifier_pattern("?s", iri, "?o")
            branch = self._reader.filled(queries.QUALIFIERS_OF, number=n, p=iri, said=said, sample=schema.SAMPLE)
            read = await self._union([branch])
            stops[iri] = read.stop
            for row in read.rows:
                qualifier = iri_in(row, "q")
                if qualifier not in NOTATION and qualifier != RDF.type:
                    found[iri][qualifier].add(self._datatype(row))
        names = await self._names.relations(one for some in found.values() for one in some)
        listed: dict[URIRef, tuple[QualifierFacts, ...]] = {}
        for iri in unknown:
            facts = (
                QualifierFacts(names[one].id, tuple(sorted(datatypes)), label=names[one].label)
                for one, datatypes in found[iri].items()
            )
            listed[iri] = tuple(sorted(facts, key=attrgetter("id")))
            if stops[iri] is Stop.COMPLETE:
                self._qualifiers[iri] = listed[iri]
        qualifiers: schema.Qualifiers = {}
        for iri, use in uses.items():
            if stops.get(iri, Stop.COMPLETE) is not Stop.COMPLETE:
                qualifiers[iri] = listed[iri], Listing.SAMPLED if listed[iri] else Listing.ABSENT
            else:
                is_complete = is_at_most(use.values, schema.SAMPLE) and is_at_most(
                    use.edges, schema.SAMPLE - use.values.value
                )
                known = listed[iri] if iri in listed else self._qualifiers[iri]
                qualifiers[iri] = known, Listing.COMPLETE if is_complete else Listing.SAMPLED
        return qualifiers, Stop.first(stops.values())

    def _datatype(self, row: Row) -> str:
        if boolean_in(row, "node"):
            return NODE_VALUES
        return self._names.naming.datatype(str(row["d"]) if "d" in row else None) or "xsd:string"

    async def _union(self, branches: Sequence[str]) -> Read:
        """Run branches in batches, each in a fraction of the call's time. The first time-out ends the read."""
        reads: list[Read] = []
        for batch in batches(branches, _BATCH):
            try:
                part = Fragment(" UNION ".join(batch))
                reads.append(await self._reader.select(UNION, share=_SHARE, branches=part))
            except StoreTimeout:
                return Read.combined([*reads, Read((), Stop.TIME_OUT)])
        return Read.combined(reads)
