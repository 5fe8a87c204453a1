"""The schema of a Wikibase: classes with their sizes and look-up by name, properties with their statement counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import filterfalse

from cachetools import LRUCache
from rdflib import Literal, URIRef

from kgnav_mcp.adapters.sparql_base.lists import Types
from kgnav_mcp.adapters.sparql_base.queries import END_TYPES, JOINED_TYPES
from kgnav_mcp.adapters.sparql_base.query_reader import Read, is_at_most, number_in
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.adapters.sparql_base.schema import STOP_NOTES, nearest
from kgnav_mcp.adapters.sparql_base.terms import Fragment
from kgnav_mcp.adapters.wikibase_values import ENTITY_DATATYPES, datatype_of
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.catalogue import CatalogueCache
from kgnav_mcp.adapters.wikidata.names import Names
from kgnav_mcp.adapters.wikidata.store import Store, WikibaseIds
from kgnav_mcp.clipping import echoed
from kgnav_mcp.concurrency import SharedTask, gathered
from kgnav_mcp.errors import StoreTimeout, UnknownName
from kgnav_mcp.model import (
    NODE_VALUES,
    Certainty,
    Count,
    Direction,
    EdgeFacts,
    LabelFacts,
    Listing,
    Namesake,
    Page,
    PropertyFacts,
    QualifierFacts,
    Schema,
    Stop,
)

_MAX_ENTITIES_SAMPLED = 50_000
"""Entities whose classes are sampled, if the classes of all cannot be counted."""
_COUNTING_SHARE = 0.5
"""The share of a call's time that is spent on counting all; the rest is left for the sample."""
_MAX_LABELLED = 2_000
"""The number of classes, largest first, whose labels are read."""
_NEAREST = 5

FindNamed = Callable[[str, int], Awaitable[Page[Namesake]]]


@dataclass(frozen=True, slots=True)
class KnownClasses:
    """The classes with their sizes, largest first, and their labels.

    `complete`: there are no other classes. `all_labels_read`: the labels of all classes are included.
    """

    counts: Mapping[str, Count]
    labels: Mapping[str, str]
    complete: bool
    all_labels_read: bool


class Classes:
    """Reads the classes on first use, and looks them up by name."""

    def __init__(self, store: Store, names: Names, named: FindNamed) -> None:
        self._store = store
        self._reader = store.reader
        self._names = names
        self._find_named = named
        self._known: KnownClasses | None = None
        self._reading = SharedTask(self._read)

    async def get(self) -> KnownClasses:
        """The classes; in a large Wikibase only those of a sample of its entities."""
        if self._known is None:
            self._known = await self._reading.result()
        return self._known

    async def resolve(self, name: str) -> Types:
        """The classes that an id or a name means. If a name may have further ones, a note says so.

        Raises:
            UnknownName: there is no such class.
            StoreTimeout: not all classes could be searched in time.
        """
        known = await self.get()
        meant = self._store.ids.entity(name)
        if meant is not None and (str(meant) in known.counts or not known.complete):
            return Types([meant])
        wanted = name.strip().casefold()
        found = [URIRef(iri) for iri, label in known.labels.items() if label.casefold() == wanted]
        if not found and not known.all_labels_read:
            page = await self._find_named(name, _NEAREST)
            found = [iri for one in page.items if (iri := self._store.ids.entity(one.entity.id)) is not None]
        if not found:
            raise UnknownName("label", name, [known.labels[iri] for iri in nearest(name, known.labels)])
        if known.all_labels_read:
            return Types(found)
        shown = ", ".join(map(self._store.ids.shown, found))
        return Types(found, f"Other classes may have the name {echoed(name.strip())}, too. Used: {shown}.")

    def label(self, iri: str, known: KnownClasses) -> str:
        """The label of a class, or its id if it has none."""
        return known.labels.get(iri) or self._store.ids.shown(iri)

    async def _read(self) -> KnownClasses:
        read, complete = await self._count()
        counts: dict[str, Count] = {}
        for row in sorted(read.rows, key=lambda row: (-number_in(row, "n"), str(row["o"]))):
            if self._store.ids.is_entity(iri := str(row["o"])):
                counts[iri] = Count(number_in(row, "n")) if complete else Count.at_least(number_in(row, "n"))
        labels = await self._names.labels(list(counts)[:_MAX_LABELLED])
        return KnownClasses(counts, labels, complete, all_labels_read=complete and len(counts) <= _MAX_LABELLED)

    async def _count(self) -> tuple[Read, bool]:
        if self._store.wikidata.counted is None:
            try:
                read = await self._reader.select(queries.CLASSES, share=_COUNTING_SHARE)
            except StoreTimeout:
                pass  # Fall back to the sample below, whose counts are marked as lower bounds.
            else:
                return read, read.stop is Stop.COMPLETE
        return await self._reader.select(
            queries.SOME_CLASSES, share=1 - _COUNTING_SHARE, most=_MAX_ENTITIES_SAMPLED
        ), False


_SAMPLE_ROWS = 1_000
"""Rows of a relation that are sampled for the classes that it joins."""
_SAMPLE_NODES = 2_000
"""Nodes of a class that are sampled for their relations."""
_CACHE_SIZE = 2_000
"""Properties whose counts and details are cached."""
_MAX_DETAILED = 20
"""Relations of an overview whose ends are read."""
_MAX_END_CLASSES = 3
_MAX_JOINS = 5
"""The most pairs of classes that are shown of a relation."""
_MIN_SHARE = 0.1
"""A class is shown at an end if it is there at least this often, compared with the most frequent one."""
_SAMPLED = "classes at the ends of relations and qualifiers are those of the first 1,000 rows"
_ENDS_SAMPLED = "classes at the ends of relations are those of the first 1,000 rows"
VALUES_ONLY = "values only (a truthy dump): no qualifiers, ranks or references"
"""The note about a copy without statements."""
_MISSING = "relations, classes and qualifiers may be missing"


@dataclass(frozen=True, slots=True)
class StatementCounts:
    """The number of statements of each property, and of all properties together.

    Unless `stop` is COMPLETE, properties may be missing. `by_class` has the properties of the instances of each class,
    most frequent first, and whether these are all.
    """

    counts: Mapping[str, Count]
    triples: Count = field(default_factory=Count.unknown)
    stop: Stop = Stop.COMPLETE
    by_class: Mapping[str, tuple[Sequence[str], Listing]] = field(
        default_factory=dict[str, tuple[Sequence[str], Listing]]
    )


@dataclass(frozen=True, slots=True)
class RelationDetails:
    """The classes at the heads and tails of a relation, the pairs of classes that it joins (`ends`), its qualifiers.

    `stop` says whether these are complete.
    """

    heads: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()
    qualifiers: tuple[QualifierFacts, ...] = ()
    ends: tuple[tuple[str, str, Count], ...] = ()
    stop: Stop = Stop.COMPLETE


_NO_DETAILS = RelationDetails(stop=Stop.TIME_OUT)
"""The details of a relation of which none were read."""


class SchemaReader:
    """Answers the verb `schema`. Every list is sorted by size, largest first. Results are cached until `close`."""

    def __init__(self, store: Store, names: Names, catalogues: CatalogueCache, classes: Classes) -> None:
        self._store = store
        self._reader = store.reader
        self._names = names
        self._catalogues = catalogues
        self._classes = classes
        self._uses: StatementCounts | None = None
        self._counting = SharedTask(self._count_statements)
        self._use_cache: LRUCache[str, Count] = LRUCache(_CACHE_SIZE)
        self._datatype_cache: LRUCache[str, str] = LRUCache(_CACHE_SIZE)
        self._details_cache: LRUCache[str, RelationDetails] = LRUCache(_CACHE_SIZE)

    async def overview(self, limit: int) -> Schema:
        """The schema of the whole graph."""
        known, uses = await gathered(self._classes.get(), self._statement_counts())
        detailed = _MAX_DETAILED if self._store.wikidata.counted is None else 0
        return await self._schema(known.counts, uses, limit, detailed)

    async def around(self, name: str, limit: int) -> Schema:
        """The part of the schema around a class or a property.

        Raises:
            UnknownName: the graph has nothing of that name.
            StoreTimeout, Unsupported: that is not certain, because not all labels of properties were read.
        """
        catalogue = self._catalogues.current
        local = self._store.ids.property(name)
        found = [local] if local is not None else catalogue.properties_named(name)
        if found:
            uses = dict(zip(found, await gathered(*(self._use_count(each) for each in found)), strict=True))
            if local is None or uses[local] != Count(0) or await self._catalogues.has(local):
                return await self._schema({}, StatementCounts(uses), limit, len(found))
        try:
            classes = (await self._classes.resolve(name)).iris
        except UnknownName as error:
            is_id = self._store.ids.local(name) is not None
            raise catalogue.unknown("label, relation or property", name, *error.nearest, is_id=is_id) from error
        known = await self._classes.get()
        shown = {str(iri): known.counts.get(str(iri), Count.unknown()) for iri in classes}
        return await self._schema(shown, await self._at_classes(classes, shown), limit, 0)

    async def _statement_counts(self) -> StatementCounts:
        """The number of statements of each property; unknown if the endpoint cannot count them in time."""
        if self._uses is None:
            self._uses = await self._counting.result()
        return self._uses

    async def _count_statements(self) -> StatementCounts:
        unknown = {known.id: Count.unknown() for known in self._catalogues.current.properties}
        if self._store.wikidata.counted is not None:
            return StatementCounts(unknown)
        try:
            read = await self._counts_by_property()
        except StoreTimeout:
            return StatementCounts(unknown, stop=Stop.TIME_OUT)
        counts = {self._store.ids.property_of(str(row["p"])): read.counted(number_in(row, "n")) for row in read.rows}
        found = {local: count for local, count in counts.items() if local is not None}
        triples = read.counted(sum(count.value for count in found.values()))
        return StatementCounts(found if read.stop is Stop.COMPLETE else unknown | found, triples, read.stop)

    async def _counts_by_property(self) -> Read:
        """The rows of property and number of statements.

        If the graph defines its properties, a faster query is used, which does not look up every statement's rank.
        """
        if self._store.form.statements:
            read = await self._reader.select(queries.USES_OF_DEFINED[self._store.wikidata.every_rank])
            if read.rows and read.stop is Stop.COMPLETE:
                return read
        return await self._reader.select(queries.USES)

    async def _use_count(self, local: str) -> Count:
        if (cached := self._use_cache.get(local)) is not None:
            return cached
        try:
            count = await self._reader.count(queries.USE, claims=self._claims(local))
        except StoreTimeout:
            return Count.unknown()
        if count.certainty is Certainty.EXACT:
            self._use_cache[local] = count
        return count

    async def _at_classes(self, classes: Sequence[URIRef], sizes: Mapping[str, Count]) -> StatementCounts:
        """The properties of the instances of classes. The count of a relation is that of all its statements."""
        uses = (await self._statement_counts()).counts
        found: dict[str, Count] = {}
        by_class: dict[str, tuple[Sequence[str], Listing]] = {}
        stop = Stop.COMPLETE
        for class_ in classes:
            at_instances = Counter[str]()
            listing = Listing.SAMPLED
            for direction in Direction:
                read = await self._reader.select(queries.AT_CLASS[direction], most=_SAMPLE_NODES, of_class=class_)
                stop = Stop.first((stop, read.stop))
                complete = read.stop is Stop.COMPLETE and is_at_most(sizes[str(class_)], _SAMPLE_NODES)
                if complete and direction is Direction.OUTGOING:
                    listing = Listing.COMPLETE
                for row in read.rows:
                    local = self._store.ids.property_of(str(row["p"]))
                    if local is None:
                        continue
                    counted = number_in(row, "n")
                    if self._catalogues.current.get(local).to_entities:
                        found[local] = uses.get(local, Count.unknown())
                    elif direction is Direction.OUTGOING:
                        found[local] = Count(counted) if complete else Count.at_least(counted)
                        at_instances[local] = counted
            by_class[str(class_)] = [local for local, _ in at_instances.most_common()], listing
        return StatementCounts(found, stop=stop, by_class=by_class)

    async def _schema(self, classes: Mapping[str, Count], used: StatementCounts, limit: int, detailed: int) -> Schema:
        catalogue, known, uses = self._catalogues.current, await self._classes.get(), used.counts
        datatypes = await self._datatypes_of(list(uses))

        def is_edge(local: str) -> bool:
            return not datatypes[local] or datatypes[local] in ENTITY_DATATYPES

        def size(local: str) -> tuple[bool, int, int]:
            return catalogue.hidden(local), -uses[local].value, int(local[1:])

        edges = sorted(filter(is_edge, uses), key=size)[:limit]
        properties = sorted(filterfalse(is_edge, uses), key=size)[:limit]
        read = await gathered(*(self._details_of(local) for local in edges[:detailed]))
        joined = dict(zip(edges, read, strict=False))
        labels = sorted(classes, key=lambda iri: (-classes[iri].value, iri))[:limit]
        notes = [_SAMPLED] if self._store.form.statements else [_ENDS_SAMPLED, VALUES_ONLY]
        if not known.complete:
            notes.append("classes are those of some entities")
        stops = (used.stop, *(ends.stop for ends in read))
        notes += [f"{words}: {_MISSING}" for why, words in STOP_NOTES.items() if why in stops][:1]
        return Schema(
            entities=Count.unknown(),
            triples=used.triples,
            labels=tuple(
                LabelFacts(
                    self._store.ids.shown(iri),
                    self._classes.label(iri, known),
                    classes[iri],
                    tuple(
                        catalogue.relation(local).id
                        for local in sorted(own, key=catalogue.hidden)
                        if not is_edge(local)
                    ),
                    listing,
                )
                for iri in labels
                for own, listing in [used.by_class.get(iri, ((), Listing.ABSENT))]
            ),
            relations=tuple(
                EdgeFacts(
                    catalogue.relation(local),
                    uses[local],
                    ends.heads,
                    ends.tails,
                    ends.qualifiers,
                    ends.ends,
                    self._listing_of(uses[local], ends),
                )
                for local in edges
                for ends in [joined.get(local, _NO_DETAILS)]
            ),
            properties=tuple(
                PropertyFacts(catalogue.relation(local), uses[local], (datatypes[local],)) for local in properties
            ),
            sampled="; ".join(notes),
        )

    def _listing_of(self, count: Count, details: RelationDetails) -> Listing:
        """Whether the qualifiers of a relation are all."""
        if not self._store.form.statements:
            return Listing.COMPLETE  # there are none
        if details is _NO_DETAILS:
            return Listing.ABSENT
        is_complete = details.stop is Stop.COMPLETE and is_at_most(count, _SAMPLE_ROWS)
        return Listing.COMPLETE if is_complete else Listing.SAMPLED

    async def _datatypes_of(self, properties: Sequence[str]) -> Mapping[str, str]:
        """The datatypes of properties; of those that are not defined here, the one that their first value shows.

        Empty if unknown: a property has no value, there are too many properties, or the store is too slow.
        """
        known = {local: self._catalogues.current.get(local).datatype for local in properties}
        missing = [local for local, datatype in known.items() if not datatype]
        unread = [local for local in missing if local not in self._datatype_cache]
        if len(missing) <= _CACHE_SIZE:
            branches = [
                self._reader.filled(queries.FIRST_VALUE, number=place, p=self._store.value(local))
                for place, local in enumerate(unread)
            ]
            with suppress(StoreTimeout):
                for row in (await self._reader.union(branches)).rows:
                    self._datatype_cache[unread[number_in(row, "number")]] = self._datatype_shown_by(row["o"])
        return known | {local: self._datatype_cache.get(local, "") for local in missing}

    def _datatype_shown_by(self, value: Term) -> str:
        if isinstance(value, Literal):
            return datatype_of(str(value.datatype or ""), value.language or "")
        return "wikibase-item" if self._store.ids.is_entity(str(value)) else "url"

    async def _details_of(self, local: str) -> RelationDetails:
        """The classes at the ends of a relation, and its qualifiers; cached."""
        if (cached := self._details_cache.get(local)) is not None:
            return cached
        try:
            (heads, no_heads), (tails, no_tails) = await gathered(
                self._ends(local, Direction.OUTGOING), self._ends(local, Direction.INCOMING)
            )
            (ends, no_ends), (qualifiers, no_qualifiers) = await gathered(
                self._both_ends(local), self._qualifiers(local)
            )
        except StoreTimeout:
            return _NO_DETAILS  # The relation and its count are useful without details.
        read = RelationDetails(heads, tails, qualifiers, ends, Stop.first((no_heads, no_tails, no_ends, no_qualifiers)))
        if read.stop is Stop.COMPLETE:
            self._details_cache[local] = read
        return read

    async def _ends(self, local: str, direction: Direction) -> tuple[tuple[str, ...], Stop]:
        read = await self._sample_rows(END_TYPES[direction], local)
        counts = {str(row["t"]): number_in(row, "n") for row in read.rows if self._is_class(row.get("t"))}
        frequent = [
            iri
            for iri in sorted(counts, key=lambda iri: (-counts[iri], iri))
            if counts[iri] >= _MIN_SHARE * max(counts.values())
        ][:_MAX_END_CLASSES]
        labels = await self._names.labels(frequent)
        return tuple(labels.get(iri) or self._store.ids.shown(iri) for iri in frequent), read.stop

    async def _both_ends(self, local: str) -> tuple[tuple[tuple[str, str, Count], ...], Stop]:
        """The pairs of classes that a relation joins, with lower bounds of their counts, most frequent first."""
        read = await self._sample_rows(JOINED_TYPES, local)
        counts = {
            (str(row["h"]), str(row["t"])): number_in(row, "n")
            for row in read.rows
            if self._is_class(row.get("h")) and self._is_class(row.get("t"))
        }
        frequent = sorted(counts, key=lambda pair: (-counts[pair], pair))[:_MAX_JOINS]
        labels = await self._names.labels(dict.fromkeys(iri for pair in frequent for iri in pair))
        names = {iri: labels.get(iri) or self._store.ids.shown(iri) for pair in frequent for iri in pair}
        return tuple((names[h], names[t], Count.at_least(counts[h, t])) for h, t in frequent), read.stop

    async def _sample_rows(self, template: str, local: str) -> Read:
        """The result of a query over the first rows of a relation."""
        direct = self._store.ids.direct(local)
        return await self._reader.union([self._reader.filled(template, number=0, p=direct, sample=_SAMPLE_ROWS)])

    def _is_class(self, term: Term | None) -> bool:
        return self._store.ids.is_entity(str(term))

    async def _qualifiers(self, local: str) -> tuple[tuple[QualifierFacts, ...], Stop]:
        if not self._store.form.statements:
            return (), Stop.COMPLETE
        read = await self._reader.select(queries.QUALIFIERS, claims=self._claims(local), most=_SAMPLE_ROWS)
        found = {self._store.ids.property_of(str(row["q"])) for row in read.rows}
        facts = (
            QualifierFacts(
                WikibaseIds.relation(each), self._qualifier_datatypes(each), label=self._catalogues.current.label(each)
            )
            for each in found
            if each is not None
        )
        return tuple(sorted(facts, key=lambda qualifier: qualifier.id)), read.stop

    def _qualifier_datatypes(self, local: str) -> tuple[str, ...]:
        known = self._catalogues.current.get(local)
        return (NODE_VALUES,) if known.to_entities else (known.datatype,) if known.datatype else ()

    def _claims(self, local: str) -> Fragment:
        return self._store.rows(self._store.form.claims, local)
