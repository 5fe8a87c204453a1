"""The classes of a Wikibase (what its entities are instances of), and the look-up of classes by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from rdflib import URIRef

from kgnav_mcp.adapters.sparql_base.catalogue import nearest
from kgnav_mcp.adapters.sparql_base.lists import Types
from kgnav_mcp.adapters.sparql_base.query_reader import Read, number_in
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.names import Names
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.clipping import echoed
from kgnav_mcp.concurrency import SharedTask
from kgnav_mcp.errors import StoreTimeout, UnknownName
from kgnav_mcp.model import Count, Namesake, Page, Stop

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

    `complete` says that there are no other classes, `all_labels_read` that the labels of all classes are here.
    """

    counts: Mapping[str, Count]
    labels: Mapping[str, str]
    complete: bool
    all_labels_read: bool


class Classes:
    """Reads the classes when they are first needed, and looks them up by name."""

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
        """The classes that an id or a name means. For a name not always all of them: then there is a note.

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
