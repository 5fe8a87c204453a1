"""The catalogue of a graph: its relations and types with their counts, found by id or by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rapidfuzz import fuzz, process
from rdflib import URIRef

from kgnav_mcp.adapters.sparql_base.query_reader import Row, boolean_in, iri_in, number_in
from kgnav_mcp.clipping import echoed
from kgnav_mcp.errors import KgnavError, StoreTimeout, UnknownName, Unsupported
from kgnav_mcp.model import Certainty, Count, Relation, Stop

K = TypeVar("K")

_MAX_NEAREST = 5
_LABEL = "label"


@dataclass(frozen=True, slots=True)
class Use:
    """How many triples of a relation lead to entities, and how many to values."""

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
    """The relations and types of a graph, as far as they were read. `sampled` says what is not exact (None: all is).

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
    """The constructor for counts of an answer that ended with `stop`: exact, or lower bounds, as `notes` then says."""
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
    if reason is not None:
        return Unsupported(
            f"it is unknown whether the store has a {kind} {echoed(name)}: {reason}", next_step=next_step
        )
    return StoreTimeout(
        None, f"it is unknown (timed out) whether the store has a {kind} {echoed(name)}", next_step=next_step
    )


def nearest(name: str, labels: Mapping[K, str]) -> list[K]:
    """The keys of the labels that are most similar to a name, best first; ties in the order of the mapping."""
    folded = {key: label.casefold() for key, label in labels.items()}
    found = process.extract(name.casefold(), folded, scorer=fuzz.WRatio, limit=_MAX_NEAREST)
    return [key for _, _, key in found]
