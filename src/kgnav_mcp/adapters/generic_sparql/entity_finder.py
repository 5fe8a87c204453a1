"""Finds entities of an RDF graph by name, by alias, and by the names in their ids."""

from __future__ import annotations

from collections.abc import Sequence

from rdflib import URIRef

from kgnav_mcp.adapters.generic_sparql import queries
from kgnav_mcp.adapters.generic_sparql.names import Names
from kgnav_mcp.adapters.generic_sparql.store import Store, placeholders
from kgnav_mcp.adapters.ids.rdf import RdfIds
from kgnav_mcp.adapters.likeness import ALIAS, DESCRIPTION, NAME
from kgnav_mcp.adapters.naming import local_name_variants
from kgnav_mcp.adapters.sparql_base import entity_finder
from kgnav_mcp.adapters.sparql_base.name_search import Lookup, SparqlNames
from kgnav_mcp.adapters.sparql_base.queries import AT_MOST, SCAN, of_each
from kgnav_mcp.adapters.sparql_base.query_reader import Read
from kgnav_mcp.adapters.sparql_base.terms import comma_separated

_SHARE = 0.4
"""The fraction of a call's time for a scan of all names."""


class EntityFinder(entity_finder.EntityFinder):
    """Finds entities by name. Blank nodes are not found, because a name does not identify one."""

    def __init__(self, store: Store, names: Names) -> None:
        relations = [*placeholders("name", store.names), *placeholders("alias", store.aliases)]
        kinds = {DESCRIPTION: store.descriptions, ALIAS: store.aliases, NAME: store.names}
        lookup = Lookup(
            bearers=of_each(queries.BEARERS, relations, AT_MOST),
            scan=of_each(SCAN, relations, AT_MOST),
            kinds={relation: kind for kind, relations in kinds.items() for relation in relations},
            languages=(None, *store.languages),
            share=_SHARE,
            full_text=store.endpoint.full_text,
            surely_indexed=store.endpoint.full_text is not None,
            is_entity=lambda term: isinstance(term, URIRef),
            ids_of=lambda name: _iris(store.endpoint.ids, name),
        )
        super().__init__(store.reader, names, SparqlNames(store.reader, lookup))
        self.exact_degrees = not store.reification

    async def of_types(self, iris: Sequence[URIRef], types: Sequence[URIRef]) -> Read:
        return await self._reader.in_batches(queries.OF_TYPES, "ids", iris, types=comma_separated(*types))


def _iris(ids: RdfIds, name: str) -> list[URIRef]:
    """The IRIs under known prefixes that an entity of this name may have."""
    return [
        iri for namespace in ids.namespaces for form in local_name_variants(name) if (iri := ids.iri(namespace + form))
    ]
