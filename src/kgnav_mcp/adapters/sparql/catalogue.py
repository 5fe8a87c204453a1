"""The relations and types of a graph, and what a user may call them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from cachetools import TTLCache
from rapidfuzz import fuzz, process
from rdflib import URIRef

from kgnav_mcp.adapters.sparql.reading import Row, iri_in, number, truth
from kgnav_mcp.clipping import echoed
from kgnav_mcp.concurrency import Shared
from kgnav_mcp.errors import KgnavError, StoreTimeout, UnknownName, Unsupported
from kgnav_mcp.model import Certainty, Count, Relation, Stop

K = TypeVar("K")

_NEAREST = 5
_LABEL = "label"


@dataclass(frozen=True, slots=True)
class Use:
    """How often a relation leads to entities and to values."""

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
    """What there is, or what of it was read. `sampled` says what is not exact, None where all is.

    What a name means is asked for with `meant`, the IRI that it is the id of; None where it can be no id. A name of
    nothing raises UnknownName, or what `undecided` makes where it may be among what was not read.
    """

    relations: Mapping[URIRef, Use]
    types: Mapping[URIRef, Count]
    names: Mapping[URIRef, Relation]
    """Ids and names of all of them."""
    triples: Count
    """Triples of the graph."""
    sampled: str | None
    stop: Stop = Stop.COMPLETE
    """Why not every relation and type of the graph is here: then nothing can be said not to be in the graph."""

    @abstractmethod
    def spellings(self, iri: URIRef) -> Iterable[str]:
        """What a relation or a type may be called, letter case aside."""

    def unknown(self, kind: str, name: str, nearest: Sequence[str]) -> KgnavError:
        """The error for a name by which nothing here is called."""
        if self.stop is Stop.COMPLETE:
            return UnknownName(kind, name, nearest)
        return undecided(kind, name, nearest, self.stop)

    def properties(self, name: str, meant: URIRef | None) -> list[URIRef]:
        """The relations of an id or a name; where some of them have values, these alone.

        Raises:
            UnknownName: there is none.
            StoreTimeout: there may be one that was not read in time.
            Unsupported: there may be one behind the endpoint's row cap.
        """
        found = self.called(name, meant, self.relations, "property")
        return [iri for iri in found if self.relations[iri].has_values] or found

    def types_called(self, name: str, meant: URIRef | None) -> list[URIRef]:
        """The types of an id or a name. Raises as `properties` does."""
        return self.called(name, meant, self.types, _LABEL)

    def anything_called(self, name: str, meant: URIRef | None) -> tuple[list[URIRef], list[URIRef]]:
        """The types and the relations of an id or a name. Raises as `properties` does."""
        types, relations = self._exact(name, meant, self.types), self._exact(name, meant, self.relations)
        if not types and not relations:
            near = self._near(name, [*self.types, *self.relations])
            raise self.unknown("label, relation or property", name, [self.names[iri].id for iri in near])
        return types, relations

    def called(self, name: str, meant: URIRef | None, among: Iterable[URIRef], kind: str) -> list[URIRef]:
        """Those of an id or a name among some, of which `kind` says what they are. Raises as `properties` does."""
        found = self._exact(name, meant, among)
        if not found:
            near = [self.names[iri] for iri in self._near(name, among)]
            raise self.unknown(kind, name, [one.label if kind == _LABEL else one.id for one in near])
        return found

    def _exact(self, name: str, meant: URIRef | None, among: Iterable[URIRef]) -> list[URIRef]:
        if meant is not None and meant in among:
            return [meant]
        wanted = name.strip().casefold()
        return sorted(iri for iri in among if wanted in {spelling.casefold() for spelling in self.spellings(iri)})

    def _near(self, name: str, among: Iterable[URIRef]) -> list[URIRef]:
        return nearest(name, {iri: self.names[iri].label for iri in sorted(among)})


C = TypeVar("C", bound=Catalogue)


class CatalogueCache(ABC, Generic[C]):
    """Reads the catalogue when it is first needed."""

    fresh: ClassVar[float]
    """Seconds that one is kept which time cut, and may be whole at the next try; a row cap cuts the same every time."""

    def __init__(self) -> None:
        self._read: C | None = None
        self._part: TTLCache[None, C] = TTLCache(1, self.fresh)
        self._reading = Shared(self._made)

    async def get(self) -> C:
        """The catalogue, which costs a pass over the graph's relations and types the first time."""
        read = self._read or self._part.get(None)
        if read is None:
            read = await self._reading.result()
            if read.stop is Stop.TIME_OUT:
                self._part[None] = read
            else:
                self._read = read
        return read

    @abstractmethod
    async def _made(self) -> C:
        """Read the catalogue."""


def number_of_each(rows: Iterable[Row]) -> Mapping[URIRef, Counter[bool]]:
    """How often each relation `?p` leads to entities (False) and to values (True)."""
    uses: dict[URIRef, Counter[bool]] = {}
    for row in rows:
        if "p" in row:
            uses.setdefault(iri_in(row, "p"), Counter())[truth(row, "l")] += number(row, "n")
    return uses


def sure(what: str, stop: Stop, notes: list[str]) -> Callable[[int], Count]:
    """How counts are stated of which `stop` cut some; where one did, that is noted."""
    if stop is Stop.COMPLETE:
        return Count
    notes.append(f"{what} may be missing, and their counts are lower bounds: the endpoint's {stop} cut them")
    return Count.at_least


def missing(*stops: Stop) -> Stop:
    """Why not all of several lists is there: a time-out rather than a row cap, for another try may mend that."""
    return next((stop for stop in (Stop.TIME_OUT, Stop.ROW_CAP) if stop in stops), Stop.COMPLETE)


def undecided(kind: str, name: str, nearest: Sequence[str], stop: Stop) -> KgnavError:
    """The error for a name of which nobody knows whether the graph has it: `stop` kept its names from being all read.

    What time cut may be there at the next try: a StoreTimeout. A row cap cuts every time: Unsupported.
    """
    step = (
        f"Nearest of those that were read: {', '.join(nearest)}."
        if nearest
        else "describe_graph() lists those that were read."
    )
    if stop is Stop.ROW_CAP:
        return Unsupported(
            f"nobody can tell whether the store has a {kind} {echoed(name)}: its row cap cut the list of its names",
            next_step=step,
        )
    return StoreTimeout(
        None, f"the store could not be asked in time whether it has a {kind} {echoed(name)}", next_step=step
    )


def nearest(name: str, labels: Mapping[K, str]) -> list[K]:
    """The keys of the labels that are most like a name, best first; among equals the first of the mapping."""
    folded = {key: label.casefold() for key, label in labels.items()}
    found = process.extract(name.casefold(), folded, scorer=fuzz.WRatio, limit=_NEAREST)
    return [key for _, _, key in found]
