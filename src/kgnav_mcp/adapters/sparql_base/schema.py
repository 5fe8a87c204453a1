"""Reads the catalogue of a graph, the relations and classes with their counts, and the schema on top of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from cachetools import LRUCache
from rapidfuzz import fuzz, process
from rdflib import URIRef

from kgnav_mcp.adapters.naming import readable
from kgnav_mcp.adapters.sparql_base import queries
from kgnav_mcp.adapters.sparql_base.names import Names
from kgnav_mcp.adapters.sparql_base.query_reader import Read, Reader, Row, boolean_in, iri_in, is_at_most, number_in
from kgnav_mcp.clipping import echoed
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.errors import KgnavError, StoreTimeout, UnknownName, Unsupported
from kgnav_mcp.model import (
    Certainty,
    Count,
    Direction,
    EdgeFacts,
    LabelFacts,
    Listing,
    PropertyFacts,
    QualifierFacts,
    Relation,
    Schema,
    Stop,
)

Key = TypeVar("Key")

_MAX_NEAREST = 5
_LABEL = "label"


@dataclass(frozen=True, slots=True)
class Use:
    """The number of triples of a relation whose object is an entity, and of those whose object is a value."""

    edges: Count
    values: Count

    @property
    def has_edges(self) -> bool:
        """Whether it may lead to entities."""
        return self.edges.value > 0 or self.edges.certainty is Certainty.UNKNOWN

    @property
    def has_values(self) -> bool:
        """Whether it may lead to values."""
        return self.values.value > 0 or self.values.certainty is Certainty.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue(ABC):
    """The relations and types of a graph that were read.

    `sampled` says which counts are not exact; None: all are exact.

    Look-ups take a name and `as_id`, the IRI that the name stands for if it is an id (None: it cannot be an id). An
    unknown name raises UnknownName, or the error of `incomplete_catalogue` if the catalogue is incomplete.
    """

    relations: Mapping[URIRef, Use]
    types: Mapping[URIRef, Count]
    names: Mapping[URIRef, Relation]
    """Ids and labels of all relations and types."""
    triples: Count
    """The number of triples in the graph."""
    sampled: str | None
    remarks: tuple[str, ...] = ()
    """What every reader of the graph should know."""
    stop: Stop = Stop.COMPLETE
    """Why relations or types may be missing. Unless COMPLETE, a name that is not found may still be in the graph."""

    @abstractmethod
    def spellings(self, iri: URIRef) -> Iterable[str]:
        """The names by which a relation or a type is found, ignoring letter case."""

    def unknown(self, kind: str, name: str, nearest: Sequence[str]) -> KgnavError:
        """The error for a name that is not found."""
        if self.stop is Stop.COMPLETE:
            return UnknownName(kind, name, nearest)
        return incomplete_catalogue(kind, name, nearest, self.stop)

    def properties(self, name: str, as_id: URIRef | None) -> list[URIRef]:
        """The relations with an id or a name. If some of them have values, only those.

        Raises:
            UnknownName: there are none.
            StoreTimeout: there are none among those that were read before the endpoint's time was over.
            Unsupported: there are none among those within the endpoint's row cap.
        """
        found = self.find_named(name, as_id, self.relations, "property")
        return [iri for iri in found if self.relations[iri].has_values] or found

    def types_named(self, name: str, as_id: URIRef | None) -> list[URIRef]:
        """The types with an id or a name. Raises as `properties` does."""
        return self.find_named(name, as_id, self.types, _LABEL)

    def types_and_relations_named(self, name: str, as_id: URIRef | None) -> tuple[list[URIRef], list[URIRef]]:
        """The types and the relations with an id or a name. Raises as `properties` does."""
        types, relations = self._exact(name, as_id, self.types), self._exact(name, as_id, self.relations)
        if not types and not relations:
            near = self._similar(name, [*self.types, *self.relations])
            raise self.unknown("label, relation or property", name, [self.names[iri].id for iri in near])
        return types, relations

    def find_named(self, name: str, as_id: URIRef | None, among: Iterable[URIRef], kind: str) -> list[URIRef]:
        """The IRIs in `among` with an id or a name. `kind` names them in errors. Raises as `properties` does."""
        found = self._exact(name, as_id, among)
        if not found:
            near = [self.names[iri] for iri in self._similar(name, among)]
            raise self.unknown(kind, name, [relation.label if kind == _LABEL else relation.id for relation in near])
        return found

    def _exact(self, name: str, as_id: URIRef | None, among: Iterable[URIRef]) -> list[URIRef]:
        if as_id is not None and as_id in among:
            return [as_id]
        wanted = name.strip().casefold()
        return sorted(iri for iri in among if wanted in {spelling.casefold() for spelling in self.spellings(iri)})

    def _similar(self, name: str, among: Iterable[URIRef]) -> list[URIRef]:
        return nearest(name, {iri: self.names[iri].label for iri in sorted(among)})


def uses_by_relation(rows: Iterable[Row]) -> Mapping[URIRef, Counter[bool]]:
    """Sum the rows of RELATION_COUNTS: for each relation, triples to entities (False) and to values (True)."""
    uses: dict[URIRef, Counter[bool]] = {}
    for row in rows:
        uses.setdefault(iri_in(row, "p"), Counter())[boolean_in(row, "l")] += number_in(row, "n")
    return uses


def count_constructor(what: str, stop: Stop, notes: list[str]) -> Callable[[int], Count]:
    """The constructor for counts of an answer that ended with `stop`: exact counts or lower bounds.

    For lower bounds, a sentence about `what` is added to `notes`.
    """
    if stop is Stop.COMPLETE:
        return Count
    notes.append(f"{what} may be missing, and their counts are lower bounds: the endpoint's {stop} cut them")
    return Count.at_least


def combined_stop(*stops: Stop) -> Stop:
    """Combine stops: a time-out wins, because another try may succeed after it."""
    return next((stop for stop in (Stop.TIME_OUT, Stop.ROW_CAP, Stop.LIMIT) if stop in stops), Stop.COMPLETE)


def incomplete_catalogue(kind: str, name: str, nearest: Sequence[str], stop: Stop) -> KgnavError:
    """The error for a name that was not found in a catalogue that `stop` made incomplete.

    StoreTimeout after a time-out, since the next try may find it; Unsupported after a row cap, which cuts every time,
    and for a sample.
    """
    next_step = f"Nearest known names: {', '.join(nearest)}." if nearest else "describe_graph() lists the known names."
    reason = {
        Stop.ROW_CAP: "its row cap cut the list of its names",
        Stop.LIMIT: "only a sample of its names was read",
    }.get(stop)
    if stop is Stop.LIMIT:
        next_step = f"Write its full IRI, which is looked up in the store. {next_step}"
    if reason is not None:
        return Unsupported(
            f"it is unknown whether the store has a {kind} {echoed(name)}: {reason}", next_step=next_step
        )
    return StoreTimeout(
        None, f"it is unknown (timed out) whether the store has a {kind} {echoed(name)}", next_step=next_step
    )


def nearest(name: str, labels: Mapping[Key, str]) -> list[Key]:
    """The keys of the labels that are most similar to a name, best first; ties in the order of the mapping."""
    folded = {key: label.casefold() for key, label in labels.items()}
    found = process.extract(name.casefold(), folded, scorer=fuzz.WRatio, limit=_MAX_NEAREST)
    return [key for _, _, key in found]


K = TypeVar("K", bound=str)

SAMPLE = 1_000
"""Rows of a relation that are sampled to find the types at its ends."""

_LABEL_SAMPLE = 200
"""Nodes of a type that are sampled for its properties, where many types are listed."""
_LABEL_VALUES = 10_000
"""Values of a type's nodes that are read at most."""
_LABEL_SHARE = 0.3
"""The fraction of a call's time for these look-ups. The schema is useful even without them."""
_MAX_DETAILED_TYPES = 50
"""Number of types, largest first, whose properties are looked up."""
_CACHE_SIZE = 2_000
_NODE_SAMPLE = 10_000
"""Nodes of a type that are sampled to find their relations."""
_MAX_END_TYPES = 3
"""Maximum number of types listed at either end of a relation."""
_MAX_TYPE_PAIRS = 50
"""Maximum number of pairs of types listed for a relation."""
_MIN_FRACTION = 0.05
"""A type is listed if its count is at least this fraction of the most frequent type's."""
_MAX_DETAILED = 200
"""Number of relations and of properties, largest first, whose end types or datatypes are looked up."""
_SAMPLED = "the labels at the ends of relations and the datatypes of properties are from their first 1,000 rows"
STOP_NOTES = {
    Stop.TIME_OUT: "the endpoint timed out before everything was read",
    Stop.ROW_CAP: "the endpoint's row cap truncated the result",
}
"""Why a schema is incomplete, in words for the user."""
_MISSING = "relations, labels and datatypes may be missing"

Details = dict[URIRef, tuple[str, ...]]
"""Labels of types, or datatypes, for each relation."""
Qualifiers = dict[URIRef, tuple[tuple[QualifierFacts, ...], Listing]]
"""The qualifiers of each relation, and whether these are all."""

Joins = tuple[tuple[str, str, Count], ...]
"""Pairs of head type and tail type of a relation, each with its number of triples."""


class SchemaReader:
    """Answers the verb `schema`. Lists begin with the largest counts. What was read completely is cached."""

    one_edge_each = True
    """Whether each triple is exactly one edge. False where several statements may be about one triple."""

    def __init__(self, reader: Reader, names: Names, catalogue: Callable[..., Awaitable[Catalogue]]) -> None:
        """`catalogue` returns the catalogue, with the names that are its arguments if the graph uses them."""
        self._reader = reader
        self._names = names
        self._catalogue = catalogue
        self._ends: LRUCache[tuple[URIRef, Direction], tuple[str, ...]] = LRUCache(_CACHE_SIZE)
        self._joins: LRUCache[URIRef, Joins] = LRUCache(_CACHE_SIZE)
        self._datatypes: LRUCache[URIRef, tuple[str, ...]] = LRUCache(_CACHE_SIZE)
        self._properties: LRUCache[URIRef, tuple[tuple[str, ...], Listing]] = LRUCache(_CACHE_SIZE)

    async def _union(self, branches: Sequence[str]) -> Read:
        """Run one branch per relation. After a time-out, the rows read so far may be all."""
        return await self._reader.union(branches)

    async def _qualifiers_of(self, uses: Mapping[URIRef, Use]) -> tuple[Qualifiers, Stop]:
        """The qualifiers on the edges of each relation. By default there are none."""
        return dict.fromkeys(uses, ((), Listing.COMPLETE)), Stop.COMPLETE

    async def overview(self, limit: int) -> Schema:
        """The whole graph."""
        catalogue = await self._catalogue()
        return await self._schema(catalogue, catalogue.types, catalogue.relations, limit=limit)

    async def around(self, name: str, limit: int) -> Schema:
        """The part of the graph around the types, relations or properties of this name.

        Raises:
            UnknownName: the graph has nothing of this name.
        """
        catalogue = await self._catalogue(name)
        types, relations = catalogue.types_and_relations_named(name, self._names.naming.iri(name))
        uses = {iri: catalogue.relations[iri] for iri in relations}
        shown = {iri: catalogue.types[iri] for iri in types}
        stop = Stop.COMPLETE
        for type_ in types:
            found, cut = await self._at_type(catalogue, type_)
            uses |= found
            stop = Stop.first((stop, cut))
        return await self._schema(catalogue, shown, uses, limit=limit, stop=stop)

    async def _at_type(self, catalogue: Catalogue, type_: URIRef) -> tuple[dict[URIRef, Use], Stop]:
        """The relations at a type's nodes, from a sample of these.

        Counts of triples to entities are those of the whole graph; counts of values are those at the sampled nodes.
        """
        leaving, entering = await gathered(
            *(
                self._reader.select(queries.AT_TYPE[direction], t=type_, sample=_NODE_SAMPLE)
                for direction in (Direction.OUTGOING, Direction.INCOMING)
            )
        )
        stop = Stop.first((leaving.stop, entering.stop))
        is_complete = stop is Stop.COMPLETE and is_at_most(catalogue.types[type_], _NODE_SAMPLE)
        found: dict[URIRef, Use] = {}
        for row in (*leaving.rows, *entering.rows):
            iri = URIRef(str(row.get("p", "")))
            use = found.get(iri, Use(Count(0), Count(0)))
            if iri not in catalogue.relations:
                continue
            if boolean_in(row, "l"):
                counted = number_in(row, "n")
                found[iri] = Use(use.edges, Count(counted) if is_complete else Count.at_least(counted))
            else:
                found[iri] = Use(catalogue.relations[iri].edges, use.values)
        return found, stop

    async def _schema(
        self,
        catalogue: Catalogue,
        types: Mapping[URIRef, Count],
        uses: Mapping[URIRef, Use],
        *,
        limit: int,
        stop: Stop = Stop.COMPLETE,
    ) -> Schema:
        names = catalogue.names

        def largest(counts: Mapping[URIRef, Count]) -> list[URIRef]:
            return sorted(counts, key=lambda iri: (-counts[iri].value, names[iri].id))[:limit]

        edges = largest({iri: use.edges for iri, use in uses.items() if use.has_edges})
        properties = largest({iri: use.values for iri, use in uses.items() if use.has_values})
        labels = largest(types)
        detailed = edges[:_MAX_DETAILED]
        (heads, no_heads), (tails, no_tails), (joins, no_joins) = await gathered(
            self._end_types(detailed, Direction.OUTGOING),
            self._end_types(detailed, Direction.INCOMING),
            self._type_pairs({iri: uses[iri].edges for iri in detailed}),
        )
        (qualifiers, no_qualifiers), (datatypes, no_types), own = await gathered(
            self._qualifiers_of({iri: uses[iri] for iri in detailed}),
            self._datatypes_of(properties[:_MAX_DETAILED]),
            self._properties_of(catalogue, labels[:_MAX_DETAILED_TYPES]),
        )
        stops = (stop, no_heads, no_tails, no_joins, no_qualifiers, no_types)
        cut = next((f"{words}: {_MISSING}" for why, words in STOP_NOTES.items() if why in stops), None)
        return Schema(
            entities=Count.unknown(),
            triples=catalogue.triples,
            labels=tuple(_label_facts(names[iri], types[iri], *own.get(iri, ((), Listing.ABSENT))) for iri in labels),
            relations=tuple(
                EdgeFacts(
                    names[iri],
                    uses[iri].edges,
                    heads.get(iri, ()),
                    tails.get(iri, ()),
                    own,
                    joins.get(iri, ()),
                    listing,
                )
                for iri in edges
                for own, listing in [qualifiers.get(iri, ((), Listing.ABSENT))]
            ),
            properties=tuple(PropertyFacts(names[iri], uses[iri].values, datatypes.get(iri, ())) for iri in properties),
            sampled="; ".join(note for note in (_SAMPLED, catalogue.sampled, cut) if note),
            remarks=catalogue.remarks,
        )

    def _is_hidden(self, type_: URIRef) -> bool:  # noqa: ARG002 - for graphs with statements about triples
        """Whether nodes of a type are no nodes of the graph."""
        return False

    async def _end_types(self, relations: Sequence[URIRef], direction: Direction) -> tuple[Details, Stop]:
        """The types at one end of relations, most frequent first. Cached if all were read."""
        known = {iri: self._ends.get((iri, direction)) for iri in relations}
        unknown = [iri for iri in relations if known[iri] is None]
        read = await self._select_each(queries.END_TYPES[direction], unknown)
        counts: dict[URIRef, dict[URIRef, int]] = defaultdict(dict)
        for row in read.rows:
            if not self._is_hidden(iri_in(row, "t")):
                counts[unknown[number_in(row, "number")]][iri_in(row, "t")] = number_in(row, "n")
        names = await self._names.classes(type_ for found in counts.values() for type_ in found)
        for iri in unknown:
            found = counts.get(iri, {})
            least = _MIN_FRACTION * max(found.values(), default=0)
            frequent = [names[type_].label for type_ in _most_frequent(found) if found[type_] >= least]
            known[iri] = tuple(frequent[:_MAX_END_TYPES])
            if read.stop is Stop.COMPLETE:
                self._ends[iri, direction] = tuple(frequent[:_MAX_END_TYPES])
        return {iri: types or () for iri, types in known.items()}, read.stop

    async def _type_pairs(self, edges: Mapping[URIRef, Count]) -> tuple[Mapping[URIRef, Joins], Stop]:
        """The pairs of types that relations connect, with their number of triples. Cached if all were read.

        The numbers are lower bounds for a relation with more triples than the sample, and where several statements may
        be about one triple.
        """
        known = {iri: self._joins.get(iri) for iri in edges}
        unknown = [iri for iri in edges if known[iri] is None]
        read = await self._select_each(queries.JOINED_TYPES, unknown)
        counts: dict[URIRef, dict[tuple[URIRef, URIRef], int]] = defaultdict(dict)
        for row in read.rows:
            counts[unknown[number_in(row, "number")]][iri_in(row, "h"), iri_in(row, "t")] = number_in(row, "n")
        names = await self._names.classes(type_ for found in counts.values() for pair in found for type_ in pair)
        for iri in unknown:
            found = counts.get(iri, {})
            is_complete = self.one_edge_each and read.stop is Stop.COMPLETE and is_at_most(edges[iri], SAMPLE)
            pairs = sorted(found, key=lambda pair: (-found[pair], names[pair[0]].label, names[pair[1]].label))
            joins = tuple(
                (names[head].label, names[tail].label, Count(size) if is_complete else Count.at_least(size))
                for head, tail in pairs[:_MAX_TYPE_PAIRS]
                for size in (found[head, tail],)
            )
            known[iri] = joins
            if read.stop is Stop.COMPLETE:
                self._joins[iri] = joins
        return {iri: joins or () for iri, joins in known.items()}, read.stop

    async def _datatypes_of(self, properties: Sequence[URIRef]) -> tuple[Details, Stop]:
        """The datatypes of properties, most frequent first. Cached if all were read."""
        known = {iri: self._datatypes.get(iri) for iri in properties}
        unknown = [iri for iri in properties if known[iri] is None]
        read = await self._select_each(queries.DATATYPES, unknown)
        counts: dict[URIRef, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for row in read.rows:
            datatype = self._names.naming.value_type(str(row["d"]) if "d" in row else None)
            counts[unknown[number_in(row, "number")]][datatype] += number_in(row, "n")
        for iri in unknown:
            known[iri] = frequent = tuple(_most_frequent(counts.get(iri, {})))
            if read.stop is Stop.COMPLETE:
                self._datatypes[iri] = frequent
        return {iri: datatypes or () for iri, datatypes in known.items()}, read.stop

    async def _properties_of(
        self, catalogue: Catalogue, types: Sequence[URIRef]
    ) -> Mapping[URIRef, tuple[tuple[str, ...], Listing]]:
        """The ids of the properties of some nodes of each type, most frequent first. Cached.

        A type is absent if the endpoint's time was over, or its row cap reached, before all was read.
        """
        unknown = [iri for iri in types if iri not in self._properties]
        bounds = {"sample": _LABEL_SAMPLE, "most": _LABEL_VALUES}
        branches = [
            self._reader.filled(queries.PROPERTIES_OF_TYPE, number=position, t=iri, **bounds)
            for position, iri in enumerate(unknown)
        ]
        try:
            read = await self._reader.union(branches, share=_LABEL_SHARE)
        except StoreTimeout:
            read = Read((), Stop.TIME_OUT)
        if read.stop is Stop.COMPLETE:
            counts: dict[URIRef, dict[URIRef, int]] = {iri: {} for iri in unknown}
            for row in read.rows:
                if "p" in row:
                    counts[unknown[number_in(row, "number")]][iri_in(row, "p")] = number_in(row, "n")
            self._properties.update({iri: _listed(catalogue, iri, found) for iri, found in counts.items()})
        return {iri: self._properties[iri] for iri in types if iri in self._properties}

    async def _select_each(self, template: str, relations: Sequence[URIRef]) -> Read:
        return await self._union(
            [
                self._reader.filled(template, number=position, p=iri, sample=SAMPLE)
                for position, iri in enumerate(relations)
            ]
        )


def _listed(catalogue: Catalogue, type_: URIRef, counts: Mapping[URIRef, int]) -> tuple[tuple[str, ...], Listing]:
    """The ids of the properties that were read of a type's nodes, and whether these are all."""
    known = [iri for iri in _most_frequent(counts) if iri in catalogue.relations]
    is_catalogue_complete = catalogue.stop is Stop.COMPLETE and catalogue.sampled is None
    is_complete = is_at_most(catalogue.types[type_], _LABEL_SAMPLE) and sum(counts.values()) < _LABEL_VALUES
    listing = Listing.COMPLETE if is_catalogue_complete and is_complete else Listing.SAMPLED
    return tuple(catalogue.names[iri].id for iri in known), listing


def _most_frequent(counts: Mapping[K, int]) -> list[K]:
    """The keys, most frequent first; ties by name."""
    return sorted(counts, key=lambda name: (-counts[name], name))


def _label_facts(named: Relation, count: Count, properties: tuple[str, ...], listing: Listing) -> LabelFacts:
    """The facts about a class; one without a name is shown by its id."""
    by_id = named.label == named.id
    label = readable(named.id) if by_id else named.label
    return LabelFacts(named.id, label, count, properties, listing, is_shown_by_id=by_id)
