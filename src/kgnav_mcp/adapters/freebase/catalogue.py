"""The catalogue of a Freebase graph, lists of its nodes and values, and the patterns of plans over its relations."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rdflib import URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.names import Names
from kgnav_mcp.adapters.freebase.store import SAMPLE, Store
from kgnav_mcp.adapters.generic_sparql import catalogue, lists
from kgnav_mcp.adapters.generic_sparql.reification import NO_REIFIER_FACTS, ReifierFacts
from kgnav_mcp.adapters.sparql_base import lists as sparql_base
from kgnav_mcp.adapters.sparql_base.lists import EDGES, BlankNodes
from kgnav_mcp.adapters.sparql_base.names import Naming
from kgnav_mcp.adapters.sparql_base.plans.writing import EdgeVariables, TripleWriter, cannot_express
from kgnav_mcp.adapters.sparql_base.queries import RELATION_COUNTS
from kgnav_mcp.adapters.sparql_base.query_reader import Read, iri_in, number_in
from kgnav_mcp.adapters.sparql_base.schema import Use, count_constructor, uses_by_relation
from kgnav_mcp.adapters.sparql_base.terms import Fragment, values
from kgnav_mcp.clipping import echoed
from kgnav_mcp.errors import StoreTimeout, Unsupported
from kgnav_mcp.model import Count, Page, Relation, Stop, ValueFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue(catalogue.Catalogue):
    """The relations and types that were read of a graph."""

    def spellings(self, iri: URIRef) -> Iterable[str]:
        """The names under which a relation or type is found: its id, its name, and the last part of its id."""
        relation = self.names[iri]
        return relation.id, relation.label, relation.id.rpartition(".")[2]


class CatalogueCache(catalogue.CatalogueCache):
    """Reads the catalogue. Where counting takes too long, it has all relations, without counts, and no types."""

    cache_seconds = 60.0
    catalogue_class = Catalogue

    def __init__(self, store: Store, names: Names, triples: Count) -> None:
        super().__init__(store, names, triples)
        self._shows = store.endpoint.shows

    async def _named(self, relations: Iterable[URIRef], types: Iterable[URIRef]) -> Mapping[URIRef, Relation]:
        return await self._names.relations([*relations, *types])

    async def _uses(self, notes: list[str]) -> tuple[dict[URIRef, Use], ReifierFacts, Stop]:
        counted = await self._select_or_none(RELATION_COUNTS)
        if counted is None or counted.stop is Stop.TIME_OUT:
            notes.append("relations are not counted: the graph is too large")
            read = await self._reader.select(queries.RELATIONS)
            if read.stop is not Stop.COMPLETE:
                notes.append(f"relations are missing: the endpoint's {read.stop} cut them")
            shown = [iri for row in read.rows if self._shows(iri := iri_in(row, "p"))]
            return dict.fromkeys(shown, Use(Count.unknown(), Count.unknown())), NO_REIFIER_FACTS, read.stop
        make_count = count_constructor("relations", counted.stop, notes)
        uses = {
            iri: Use(make_count(times[False]), make_count(times[True]))
            for iri, times in uses_by_relation(counted.rows).items()
            if self._shows(iri)
        }
        return uses, NO_REIFIER_FACTS, counted.stop

    async def _types(self, notes: list[str]) -> tuple[dict[URIRef, Count], Stop]:
        counted = await self._select_or_none(queries.TYPE_COUNTS)
        if counted is None:
            notes.append("labels are not counted: the graph is too large")
            return {}, Stop.TIME_OUT
        make_count = count_constructor("labels", counted.stop, notes)
        return {iri_in(row, "t"): make_count(number_in(row, "n")) for row in counted.rows}, counted.stop

    async def _select_or_none(self, query: str) -> Read | None:
        try:
            return await self._reader.select(query)
        except StoreTimeout:
            return None  # The callers say so in their notes.


class PatternWriter(TripleWriter):
    """Writes patterns over the relations that are shown. Edges of any relation are refused."""

    def __init__(self, store: Store, naming: Naming, catalogues: CatalogueCache) -> None:
        super().__init__(store.reader, naming, queries.MEDIATOR_VIA)
        self._catalogues = catalogues

    async def _shown_relations(self) -> Collection[URIRef]:
        return (await self._catalogues.get()).relations

    def _restricted(self, ends: EdgeVariables, iris: Sequence[URIRef]) -> Fragment:
        if not iris:
            raise cannot_express("edges of any relation")
        return super()._restricted(ends, iris)


class ListReader(lists.ListReader):
    """Answers the verbs `nodes` and `values`."""

    templates = replace(lists.TEMPLATES, every=queries.EVERY)
    max_compared = 1_000_000
    _most_named = 500

    async def edge_values(
        self, property_name: str, owner: str | None, limit: int, after: str | None
    ) -> Page[ValueFacts]:
        """The distinct values of a role of the mediators that a relation leads to.

        Edges have no properties of their own; the roles of a mediator take the place of qualifiers.

        Raises:
            Unsupported: no relation is named, or it does not lead to mediators.
        """
        if owner is None:
            raise _no_edge_properties("edges")
        for relation in await self._properties(owner):
            read = await self._reader.select(queries.HAS_MEDIATORS, owner=relation, sample=SAMPLE)
            if read.all_rows():
                having = values(*await self._properties(property_name))
                conditions = self._reader.part(queries.ROLES, owner=relation, having=having)
                return await self._values(conditions, self._literals, limit, after, counted=EDGES)
        raise _no_edge_properties(f"the edges of {echoed(owner)}")

    async def _blank_nodes(self, conditions: Fragment, skip: int, most: int) -> BlankNodes:
        return await sparql_base.ListReader._blank_nodes(self, conditions, skip, most)  # they have no ids in Freebase


def _no_edge_properties(what: str) -> Unsupported:
    return Unsupported(
        f"in Freebase {what} have no properties of their own",
        next_step="Use a relation that leads to mediators (get_relations shows them), or a property of nodes.",
    )
