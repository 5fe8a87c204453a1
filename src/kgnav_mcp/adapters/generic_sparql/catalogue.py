"""The catalogue of an endpoint's graph, counted once while it is open."""

from __future__ import annotations

from asyncio import Lock
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import ClassVar

from cachetools import LRUCache, TTLCache
from rdflib import RDF, Literal, URIRef

from kgnav_mcp.adapters.generic_sparql import queries
from kgnav_mcp.adapters.generic_sparql.names import Names
from kgnav_mcp.adapters.generic_sparql.reification import (
    NO_REIFIER_FACTS,
    NOTATION,
    Notation,
    ReifierFacts,
    reifier_facts,
    uncounted,
)
from kgnav_mcp.adapters.generic_sparql.several_graphs import TAKES_TOO_LONG, CountsByGraph, is_of_largest
from kgnav_mcp.adapters.generic_sparql.store import Store
from kgnav_mcp.adapters.ids.rdf import is_encoded
from kgnav_mcp.adapters.naming import readable
from kgnav_mcp.adapters.sparql_base import schema
from kgnav_mcp.adapters.sparql_base.queries import RELATION_COUNTS, SIZE, UNION, UNUSUAL_NUMBERS
from kgnav_mcp.adapters.sparql_base.query_reader import Read, Row, boolean_in, iri_in, is_at_most, number_in
from kgnav_mcp.adapters.sparql_base.schema import Use, combined_stop, count_constructor, uses_by_relation
from kgnav_mcp.adapters.sparql_base.terms import Fragment
from kgnav_mcp.adapters.sparql_base.value_conditions import NUMBER_TYPES
from kgnav_mcp.concurrency import SharedTask
from kgnav_mcp.errors import KgnavError, StoreTimeout, UnknownName, Unsupported
from kgnav_mcp.model import NODE_VALUES, Count, Listing, QualifierFacts, Relation, Stop
from kgnav_mcp.model.ids import local_name
from kgnav_mcp.port.lists import batches

_SAMPLE = 100_000
"""Number of triples to sample where counting all of them takes too long."""
_MAX_NAMESPACES = 20
"""Number of namespaces in which a name that is not an id is looked up, the most frequent first."""
_MAX_UNSTOPPABLE = 1_000_000
"""Number of triples up to which a graph is counted by a query that the store cannot stop. Such a query ends by itself
soon after its caller has left: within 2 s on Oxigraph, 10 s on RDF4J."""
_MAX_STATEMENTS = 500_000
"""Number of statements about the triples of one relation that are read at most, to find triples with several."""
_MAX_STATED = 20
"""Relations with statements of which each is counted at most, for patterns of any relation."""
_UNSTOPPABLE = (
    f"the graph has more than {_MAX_UNSTOPPABLE:,} triples, and this store could not be stopped while counting them"
)
_MAX_UNUSUAL = 100
"""Maximum number of numbers in unusual forms that are known of one relation."""
_FORMS_SECONDS, _MAX_FORMS = 600.0, 1000
"""How long the forms of literals and parallel edges are known, since data may be written meanwhile, and of how many
relations."""
_SHARE = 0.5
"""The fraction of a call's time for each exact count. The rest is for a sample."""
_NOT_COUNTED = {
    Stop.TIME_OUT: "counting them takes too long",
    Stop.ROW_CAP: "the endpoint's row cap is too low",
    Stop.LIMIT: _UNSTOPPABLE,
}
_UNASSERTED = (
    "statements about triples that the graph does not have: {:,}, in no list of edges or nodes; find_node finds those "
    "with a name"
)
_COUNTS = {
    "relations": (RELATION_COUNTS, queries.RELATION_COUNTS_BY_GRAPH, queries.SAMPLED_RELATIONS),
    "labels": (queries.TYPE_COUNTS, queries.TYPE_COUNTS_BY_GRAPH, queries.SAMPLED_TYPES),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue(schema.Catalogue):
    """The relations and types of a graph, and the qualifiers of its triples."""

    qualifiers: Mapping[URIRef, Count]
    """Relations whose subject is a statement about a triple, each with its number of uses."""
    reifiers: ReifierFacts
    """The facts of statements about triples."""
    absent: frozenset[str] = frozenset()
    """Ids of which an incomplete catalogue nevertheless knows that the graph does not use them."""

    def unknown(self, kind: str, name: str, nearest: Sequence[str]) -> KgnavError:
        return (
            UnknownName(kind, name, nearest)
            if name in self.absent
            else schema.Catalogue.unknown(self, kind, name, nearest)
        )

    @property
    def parallel(self) -> Collection[URIRef] | None:
        """Relations where several statements are about one triple, so that it makes several edges; None: not known."""
        return None if self.reifiers.parallel is None else self.reifiers.parallel.keys()

    def spellings(self, iri: URIRef) -> Iterable[str]:
        """Names by which a relation or type is found: its id, its name, the last part of its id, and that as words."""
        local = local_name(iri)
        return self.names[iri].id, self.names[iri].label, local, readable(local)

    def has(self, name: str) -> bool:
        """Whether a relation or type has this name."""
        return any(self._exact(name, None, among) for among in (self.relations, self.types))

    def in_namespaces(self, local: str) -> Sequence[URIRef]:
        """The ids with a local name in the namespaces of the known relations and types, most frequent first."""
        namespaces = Counter(str(iri).removesuffix(local_name(iri)) for iri in self.names)
        ids = [URIRef(namespace + local) for namespace, _ in namespaces.most_common(_MAX_NAMESPACES)]
        return [iri for iri in ids if is_encoded(iri) and iri not in self.names]

    def edges(self, name: str, as_id: URIRef | None) -> list[URIRef]:
        """The relations with an id or a name. Raises as `properties` does."""
        return self.find_named(name, as_id, self.relations, "relation")

    def edge_properties(self, name: str, as_id: URIRef | None) -> list[URIRef]:
        """The qualifiers with an id or a name. Raises as `properties` does."""
        return self.find_named(name, as_id, self.qualifiers, "property of relationships")


class CatalogueCache:
    """Reads the catalogue when it is first needed, from a sample if counting takes too long, and caches it."""

    cache_seconds: ClassVar[float] = 300.0
    """Seconds to cache a catalogue that a time-out cut: a store may only have been busy. A retry may take as long.

    A complete catalogue, or one that a row cap cut, is always kept.
    """
    catalogue_class: ClassVar[type[Catalogue]] = Catalogue

    def __init__(self, store: Store, names: Names, triples: Count | None = None) -> None:
        """`triples` is the number of triples, if it is known already."""
        self._reader = store.reader
        self._store = store
        self._names = names
        self._triples = triples
        self._is_countable: bool | None = None
        self._by_graph = CountsByGraph(store.reader, store.endpoint.graphs)
        self._complete: Catalogue | None = None
        self._partial: TTLCache[None, Catalogue] = TTLCache(1, self.cache_seconds)
        self._parallel: TTLCache[URIRef, bool | None] = TTLCache(_MAX_FORMS, _FORMS_SECONDS)
        self._unusual: TTLCache[URIRef, Sequence[Literal] | None] = TTLCache(_MAX_FORMS, _FORMS_SECONDS)
        self._counting = Lock()
        # A call may have less time than it takes: then the next call finds what has been read meanwhile.
        self._loading = SharedTask(self._read_and_keep, finishes=True)

    @property
    def loaded(self) -> Catalogue | None:
        """The catalogue, if it has been read."""
        return self._complete or self._partial.get(None)

    async def get(self, *names: str) -> Catalogue:
        """Return the catalogue. The first time, this costs a pass over the graph's relations and types.

        `names` that an incomplete catalogue lacks are looked up in the graph: ids, and local names in its namespaces.
        """
        read = self.loaded
        if read is None:
            read = await self._loading.result()
        elif read.stop is Stop.TIME_OUT:
            await self._reader.check_alive()  # else a name that it lacks looks like another time-out of a dead store
        return read if read.stop is Stop.COMPLETE or not names else await self._extended(read, names)

    async def _extended(self, read: Catalogue, names: Sequence[str]) -> Catalogue:
        """The catalogue with the relations and types of these names that it lacks."""
        resolved = {name: self._names.naming.iri(name) for name in names}
        ids = {name: iri for name, iri in resolved.items() if iri is not None and iri not in read.names}
        local = {name for name, iri in resolved.items() if iri is None and not read.has(name)}
        wanted = [*ids.values(), *(iri for name in sorted(local) for iri in read.in_namespaces(name))]
        if not wanted:
            return read
        relations, types = await self._looked_up(wanted, read.reifiers)
        found = await self._named(relations, types)
        read = self.loaded or read  # another call may have extended it
        read = replace(
            read,
            relations={**read.relations, **relations},
            types={**read.types, **types},
            names={**read.names, **found},
            absent=read.absent | {name for name, iri in ids.items() if iri not in found},
        )
        if read.stop is not Stop.TIME_OUT:  # else it would be cached for longer
            self._complete = read
        return read

    async def _looked_up(
        self, iris: Sequence[URIRef], facts: ReifierFacts
    ) -> tuple[Mapping[URIRef, Use], Mapping[URIRef, Count]]:
        """Those that the graph uses as relations, and those that it uses as types."""
        hides = self._store.reification.hides
        templates = (*queries.RELATION_USES.values(), queries.TYPE_USES)
        branches = [self._reader.filled(each, p=iri, sample=_SAMPLE) for iri in iris for each in templates]
        rows = (await self._reader.union(branches, share=_SHARE)).all_rows()
        types = {iri_in(row, "t"): Count.at_least(number_in(row, "n")) for row in rows if "t" in row}
        uses = uses_by_relation(row for row in rows if "p" in row)
        make_count = Count.at_least if facts.stop is Stop.COMPLETE else _uncertain_count
        for (iri, value), number in facts.uses.items():
            if iri in uses and uses[iri][value] < _SAMPLE:
                uses[iri][value] -= number
        relations = {iri: Use(make_count(counts[False]), make_count(counts[True])) for iri, counts in uses.items()}
        return (
            {iri: use for iri, use in relations.items() if not hides(iri) and (use.has_edges or use.has_values)},
            {iri: count for iri, count in types.items() if count.value and not hides(iri)},
        )

    async def has_parallel(self, relation: URIRef) -> bool | None:
        """Whether one triple of a relation may make several edges; None: not known. Cached."""
        read = await self.get()
        if read.parallel is not None:
            return relation in read.parallel
        async with self._counting:
            if relation in self._parallel:
                return self._parallel[relation]
            self._parallel[relation] = found = await self._count_parallel(relation)
            return found

    async def any_parallel(self) -> bool | None:
        """Whether one triple of any relation may make several edges; None: not known."""
        read = await self.get()
        if read.parallel is not None:
            return bool(read.parallel)
        if Notation.REIFIES in self._store.reification.notations:
            return None
        try:
            stated = await self._reader.select(queries.STATED_RELATIONS, share=_SHARE, most=_MAX_STATED + 1)
        except StoreTimeout:
            return None
        if stated.stop is not Stop.COMPLETE or len(stated.rows) > _MAX_STATED:
            return None
        for row in stated.rows:
            if (found := await self.has_parallel(iri_in(row, "p"))) is not False:
                return found
        return False

    async def _count_parallel(self, relation: URIRef) -> bool | None:
        stated = self._store.reification.reifier_pattern("?s", "?o", relation)
        most = min(_MAX_STATEMENTS, self._reader.max_matches or _MAX_STATEMENTS)
        try:
            read = await self._reader.select(queries.PARALLEL_OF, share=_SHARE, stated=stated, most=most)
        except StoreTimeout:
            return None
        statements, triples = (number_in(read.rows[0], column) if read.rows else 0 for column in "nt")
        return None if read.stop is not Stop.COMPLETE or statements >= most else statements > triples

    async def unusual_numbers(self, relation: URIRef) -> Sequence[Literal] | None:
        """The values of a relation that may be numbers but are not found by them; None: not known, or many. Cached."""
        async with self._counting:
            if relation in self._unusual:
                return self._unusual[relation]
            self._unusual[relation] = found = await self._read_unusual(relation)
            return found

    async def _read_unusual(self, relation: URIRef) -> Sequence[Literal] | None:
        condition = self._reader.dialect.unusual_number
        if not condition:
            return None
        unusual = self._reader.part(condition, value=Fragment("?v"))
        terms = {"relation": relation, "numbers": NUMBER_TYPES, "unusual": unusual}
        try:
            read = await self._reader.select(UNUSUAL_NUMBERS, share=_SHARE, most=_MAX_UNUSUAL + 1, **terms)
            found = [row["v"] for row in read.all_rows()]
        except (StoreTimeout, Unsupported):
            return None
        return [term for term in found if isinstance(term, Literal)] if len(found) <= _MAX_UNUSUAL else None

    async def countable(self) -> bool:
        """Whether one query may read the whole graph: the store's time limit would stop it, or the graph is small."""
        if self._is_countable is None:
            self._is_countable = self._reader.max_matches is None or is_at_most(
                await self._reader.count(SIZE, most=_MAX_UNSTOPPABLE + 1), _MAX_UNSTOPPABLE
            )
        return self._is_countable

    async def _types_countable(self) -> bool:
        """Whether one query may read the types of all nodes, of which even a large graph has few."""
        most = self._reader.max_matches
        return await self.countable() or (
            most is not None and is_at_most(await self._reader.count(queries.TYPED_SIZE, most=most), most - 1)
        )

    def parallel_relations(self) -> Collection[URIRef] | None:
        """The relations where one triple may make several edges; None: not known, or the catalogue was not read yet."""
        read = self.loaded
        return None if read is None else read.parallel

    async def relations(self) -> Sequence[URIRef]:
        """The known relations, most used first."""
        uses = (await self.get()).relations
        return sorted(uses, key=lambda iri: (-uses[iri].edges.value - uses[iri].values.value, iri))

    async def end(self) -> None:
        """End the reading of the catalogue, for which no call may be waiting."""
        await self._loading.end()

    async def _read_and_keep(self) -> Catalogue:
        read = await self._load()
        if read.stop is Stop.TIME_OUT:
            self._partial[None] = read
        else:
            self._complete = read
        return read

    async def _load(self) -> Catalogue:
        notes: list[str] = []
        uses, reifiers, no_relations = await self._uses(notes)
        qualifiers = reifiers.qualifiers
        types, no_types = await self._types(notes)
        names = await self._named([*uses, *qualifiers], types)
        return self.catalogue_class(
            relations=uses,
            types=types,
            qualifiers=qualifiers,
            reifiers=reifiers,
            names=names,
            triples=_triples(uses, notes) if self._triples is None else self._triples,
            sampled="; ".join(notes) or None,
            remarks=await self._remarks(),
            stop=combined_stop(no_relations, no_types),
        )

    async def _remarks(self) -> tuple[str, ...]:
        number = await self._store.reification.unasserted() if await self.countable() else None
        return (_UNASSERTED.format(number),) if number else ()

    async def _named(self, relations: Iterable[URIRef], types: Iterable[URIRef]) -> Mapping[URIRef, Relation]:
        """The ids and labels of relations and types."""
        return {**await self._names.relations(relations), **await self._names.classes(types)}

    async def _uses(self, notes: list[str]) -> tuple[dict[URIRef, Use], ReifierFacts, Stop]:
        """Count the relations and the facts of statements about triples.

        Returns the relations without those that make up these statements, the facts, and why relations may be missing.
        """
        read, stop = await self._counted("relations", "triples", notes)
        uses = uses_by_relation(read.rows)
        make_count: Callable[[int], Count] = Count if stop is Stop.COMPLETE else Count.at_least
        repeated = {(iri_in(row, "p"), boolean_in(row, "l")) for row in read.rows if is_of_largest(row)}
        facts = await self._reifier_facts() if self._store.reification else NO_REIFIER_FACTS
        parallel = facts.parallel or {}
        if facts.stop is not Stop.COMPLETE:
            stop = facts.stop
            # These numbers include statements about triples, so they are not lower bounds.
            make_count = _uncertain_count
            reason = TAKES_TOO_LONG if await self._by_graph.are_needed() else _NOT_COUNTED[stop]
            notes.append(f"statements about triples are not counted: {reason}")
        for (iri, value), uses_number in facts.uses.items():
            # A count that was cut may lack some of these, but the difference is still a lower bound.
            if iri in uses and not (value and _quoted_only(self._store)):
                uses[iri][value] -= uses_number
        lacks_parallel = facts.parallel is None and facts.stop is Stop.COMPLETE
        count_edges = Count.at_least if lacks_parallel else make_count
        found = {
            iri: Use(
                _bound(count_edges, (iri, False) in repeated)(
                    counts[False] + (parallel.get(iri, 0) if counts[False] > 0 else 0)
                ),
                _bound(make_count, (iri, True) in repeated)(counts[True]),
            )
            for iri, counts in uses.items()
            if not self._store.reification.hides(iri) and (counts[False] > 0 or counts[True] > 0)
        }
        return found, facts, stop

    async def _reifier_facts(self) -> ReifierFacts:
        """Count the facts of reifiers; empty, with the reason, if that takes too long or could not be stopped."""
        if await self._by_graph.are_needed() or not await self.countable():
            return await uncounted(self._reader, self._store.reification, Stop.LIMIT)
        try:
            return await reifier_facts(self._store.reader, self._store.reification)
        except StoreTimeout:
            return await uncounted(self._reader, self._store.reification, Stop.TIME_OUT)

    async def _types(self, notes: list[str]) -> tuple[dict[URIRef, Count], Stop]:
        read, stop = await self._counted("labels", "nodes", notes)
        make_count = Count if stop is Stop.COMPLETE else Count.at_least
        return {
            iri_in(row, "t"): _bound(make_count, is_of_largest(row))(number_in(row, "n"))
            for row in read.rows
            if not self._store.reification.hides(row["t"])
        }, stop

    async def _counted(self, what: str, among: str, notes: list[str]) -> tuple[Read, Stop]:
        """Count all relations or labels, or a sample if that takes too long; with why some may be missing.

        In a large graph whose store cannot stop a query, a sample is counted as well.
        """
        reader = self._reader
        exact, by_graph, sampled = _COUNTS[what]
        stop, reason = Stop.LIMIT, _UNSTOPPABLE
        if await (self._types_countable() if exact is queries.TYPE_COUNTS else self.countable()):
            try:
                read = await self._by_graph.read(exact, by_graph, share=_SHARE)
            except StoreTimeout:
                stop, reason = Stop.TIME_OUT, "counting all takes too long"
            else:
                count_constructor(what, read.stop, notes)
                notes += self._by_graph.notes(what, read)
                return read, read.stop
        notes.append(f"{what} are those of some {_SAMPLE:,} {among}: {reason}")
        return await reader.select(sampled, share=1 - _SHARE, sample=_SAMPLE), stop


def _triples(uses: Mapping[URIRef, Use], notes: Sequence[str]) -> Count:
    """The number of triples without those that make up statements about triples."""
    total = Count.sum(count for use in uses.values() for count in (use.edges, use.values))
    return Count.at_least(total.value) if notes else total


def _bound(make_count: Callable[[int], Count], is_lower_bound: bool) -> Callable[[int], Count]:
    return Count.at_least if is_lower_bound and make_count is Count else make_count


def _uncertain_count(number: int) -> Count:
    """The count for a number that may be too high or too low."""
    return Count.unknown() if number else Count.at_least(0)


def _quoted_only(store: Store) -> bool:
    """Whether all statements are quoted triples. Their facts are not among the triples of nodes."""
    return not store.reification.parallel


_CACHE_SIZE = 2_000
_BATCH = 20
"""Number of relations looked up in one query."""
_SCHEMA_SHARE = 0.3
"""The fraction of a call's time for each of these look-ups. The schema is useful even without them."""


class SchemaReader(schema.SchemaReader):
    """Answers the verb `schema`. Details that take too long are left out, and the answer says so."""

    def __init__(self, store: Store, names: Names, catalogues: CatalogueCache) -> None:
        super().__init__(store.reader, names, catalogues.get)
        self._reification = store.reification
        self.one_edge_each = not store.reification
        self._qualifiers: LRUCache[URIRef, tuple[QualifierFacts, ...]] = LRUCache(_CACHE_SIZE)

    def _is_hidden(self, type_: URIRef) -> bool:
        return self._reification.hides(type_)

    async def _qualifiers_of(self, uses: Mapping[URIRef, Use]) -> tuple[schema.Qualifiers, Stop]:
        """The qualifiers on the edges of each relation. Cached if all were read."""
        if not self._reification:
            return await super()._qualifiers_of(uses)
        unknown = [iri for iri in uses if iri not in self._qualifiers]
        found: dict[URIRef, dict[URIRef, set[str]]] = defaultdict(lambda: defaultdict(set))
        stops: dict[URIRef, Stop] = {}
        for n, iri in enumerate(unknown):
            statement = self._reification.qualifier_pattern("?s", iri, "?o")
            branch = self._reader.filled(
                queries.QUALIFIERS_OF, number=n, p=iri, statement=statement, sample=schema.SAMPLE
            )
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
        return self._names.naming.value_type(str(row["d"]) if "d" in row else None)

    async def _union(self, branches: Sequence[str]) -> Read:
        """Run branches in batches, each in a fraction of the call's time. The first time-out ends the read."""
        reads: list[Read] = []
        for batch in batches(branches, _BATCH):
            try:
                part = Fragment(" UNION ".join(batch))
                reads.append(await self._reader.select(UNION, share=_SCHEMA_SHARE, branches=part))
            except StoreTimeout:
                return Read.combined([*reads, Read((), Stop.TIME_OUT)])
        return Read.combined(reads)
