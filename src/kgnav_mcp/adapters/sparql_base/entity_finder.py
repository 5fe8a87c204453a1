"""Finds entities by name: the hits of a name search are scored, described and ordered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rdflib import URIRef

from kgnav_mcp.adapters.candidates import Candidates, Match, Rank, entities_named, first_page
from kgnav_mcp.adapters.naming import language_rank
from kgnav_mcp.adapters.sparql_base import errors, queries
from kgnav_mcp.adapters.sparql_base.name_search import Hit, NameSearch, findable
from kgnav_mcp.adapters.sparql_base.names import Names
from kgnav_mcp.adapters.sparql_base.query_reader import Read, Reader, iri_in, number_in
from kgnav_mcp.adapters.sparql_base.text_forms import TextForms
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Candidate, Count, Direction, Entity, Namesake, Page, Relation, Stop, ValueMatch

_MAX_RANKED = 100
"""Number of entities whose size is read, to order those with the same score."""


@dataclass(frozen=True, slots=True)
class Size:
    """How prominent an entity is: its number of triples, and of pages about it in other wikis."""

    degree: Count
    sitelinks: int | None = None

    @property
    def order(self) -> tuple[int, int]:
        """Sort key: the most prominent first."""
        return -(self.sitelinks or 0), -self.degree.value


class EntityFinder(ABC):
    """Answers the verbs `find_by_names` and `find`."""

    namesakes = _MAX_RANKED
    """Maximum number of entities with one name that are compared for prominence."""
    with_text = queries.WITH_TEXT
    """The query for the entities that have $text as the value of a property."""
    exact_degrees = True
    """Whether the count of an entity's triples is its exact degree."""

    def __init__(self, reader: Reader, names: Names, search: NameSearch) -> None:
        self._reader = reader
        self.names = names
        self.naming = names.naming
        self._search = search

    async def named(self, name: str, limit: int) -> Page[Namesake]:
        """Entities named `name`, as `find_by_names` does for several names."""
        return (await self.named_each([name], limit))[name]

    async def named_each(self, names: Sequence[str], limit: int) -> dict[str, Page[Namesake]]:
        """For each name, the entities with exactly this name, ignoring letter case. Without one: by alias, then by id.

        They are ordered by spelling, language, `_prominence` and id.

        Raises:
            StoreTimeout: not all names could be read, so that one of several entities might look like the only one.
        """
        found = await self._search.same(names)
        if any(stop is Stop.TIME_OUT for _, stop in found.values()):
            raise errors.stopped_by_store()
        ranks_by_name = {name: self._named(name, hits) for name, (hits, _) in found.items()}
        orders = {
            name: sorted(ranks, key=lambda iri: (ranks[iri][0], self.order(iri)))
            for name, ranks in ranks_by_name.items()
        }
        most = max(limit, self.namesakes)
        described = await self.names.described(iri for order in orders.values() for iri in order[:most])
        namesakes = {
            iri: described[iri] for order in orders.values() if len(order) > 1 for iri in order if iri in described
        }
        prominence = await self._prominence(namesakes)
        pages: dict[str, Page[Namesake]] = {}
        note = await self._search.missed()
        for name, order in orders.items():
            ranks = ranks_by_name[name]
            known = [iri for iri in order[:most] if iri in described]
            known.sort(key=lambda iri: (ranks[iri][0], prominence.get(iri, (0,)), self.order(iri)))
            spellings: dict[Entity, str] = {}
            for iri in known:
                spellings.setdefault(described[iri], ranks[iri][1])
            shown = [(entity.id, Namesake(entity, text)) for entity, text in spellings.items()]
            pages[name] = first_page(shown[:limit], len(order), limit, found[name][1], note)
        return pages

    def _named(self, name: str, hits: Iterable[Hit]) -> dict[URIRef, tuple[Rank, str]]:
        languages = self.naming.languages
        return entities_named(
            name, ((hit.entity, hit.kind, language_rank(hit.language, languages), hit.text) for hit in hits)
        )

    async def with_values(self, texts: Sequence[str], limit: int) -> dict[str, list[ValueMatch]]:
        """The first entities that have each text as the value of a property.

        Raises:
            StoreTimeout: the store did not answer in time.
        """
        literals = TextForms.of((), (), self._reader.dialect).terms(filter(findable, texts))
        read = await self._reader.union(
            [self._reader.filled(self.with_text, text=text, most=limit) for text in literals]
        )
        rows = read.all_rows()
        relations = await self.properties({iri_in(row, "p") for row in rows})
        described = await self.names.described(iri_in(row, "s") for row in rows)
        found: dict[str, list[ValueMatch]] = defaultdict(list)
        for row in rows:
            entity, relation = described.get(iri_in(row, "s")), relations.get(iri_in(row, "p"))
            if entity is not None and relation is not None:
                found[str(row["o"])].append(ValueMatch(entity, relation))
        return found

    async def properties(self, iris: Collection[URIRef]) -> Mapping[URIRef, Relation]:
        """The predicates among `iris` that are properties of entities, as relations."""
        return await self.names.relations(iris)

    async def find(self, hint: str, types: Sequence[URIRef] | None, limit: int) -> Page[Candidate]:
        """Candidates by score, then by size, then by id; with `types`, only those of one of these types."""
        hint = hint.strip()
        candidates = Candidates[URIRef](hint, is_id=self.is_id(hint))
        forms = (self.naming.iri(hint), self.naming.iri(f"<{hint}>"))  # short, and an IRI that looks like a short form
        for iri, entity in (await self.names.described(iri for iri in forms if iri is not None)).items():
            candidates.add_by_id(self.naming.iri(entity.id) or iri, hint)  # a merged entity counts as its target
        hits, stop = await self._search.like(hint, limit)
        for hit in hits:
            candidates.add(hit.entity, hit.text, hit.kind)
        for iri, match in () if self.is_id(hint) else await self._others(hint, limit):
            candidates.add_scored(iri, match)
        if types is not None and len(candidates):
            read = await self.of_types(list(candidates), types)
            candidates.restrict_to({iri_in(row, "s") for row in read.rows})
            stop = Stop.first((read.stop, stop))
        order = candidates.best_first(self.order)
        close = order[: max(limit, _MAX_RANKED)]
        sizes = await self.sizes(close)
        close.sort(key=lambda iri: (-candidates[iri].score, *sizes[iri].order, self.order(iri)))
        described = await self.names.described(close[:limit])
        items: list[tuple[str, Candidate]] = []
        for iri in close[:limit]:
            entity = described.get(iri) or Entity(self.naming.short(iri))
            text = candidates[iri].text or entity.label or entity.id
            candidate = Candidate(entity, text, candidates[iri].score, sizes[iri].degree, sizes[iri].sitelinks)
            items.append((self.naming.short(iri), candidate))
        page = first_page(items, len(order), limit, stop)
        return page if candidates.has_exact_match else replace(page, note=self._search.note)

    async def sizes(self, iris: Sequence[URIRef]) -> Mapping[URIRef, Size]:
        """The number of triples of each entity. A triple from an entity to itself counts twice.

        Each entity has a triple, by which it was found. Some endpoints answer with no row to VALUES with GROUP BY, so
        entities without a row are counted again by themselves.
        """
        found = dict.fromkeys(iris, Count(0) if self.exact_degrees else Count.at_least(0))
        try:
            for direction in Direction:
                read = await self._reader.in_batches(queries.DEGREES[direction], "ids", iris)
                counted = {iri_in(row, "s"): number_in(row, "n") for row in read.rows}
                found = {iri: count + read.counted(counted.get(iri, 0)) for iri, count in found.items()}
            uncounted = [self._reader.filled(queries.DEGREE_OF, s=iri) for iri in found if not found[iri].value]
            if uncounted:
                read = await self._reader.union(uncounted)
                alone = {iri_in(row, "s"): number_in(row, "n") for row in read.rows}
                found |= {iri: found[iri] + read.counted(number) for iri, number in alone.items()}
        except StoreTimeout:
            return dict.fromkeys(iris, Size(Count.unknown()))
        return {iri: Size(count if count.value else Count.unknown()) for iri, count in found.items()}

    @abstractmethod
    async def of_types(self, iris: Sequence[URIRef], types: Sequence[URIRef]) -> Read:
        """Rows with the entities (?s) that have one of the types."""

    async def _prominence(self, entities: Mapping[URIRef, Entity]) -> Mapping[URIRef, tuple[int, ...]]:
        """Sort keys for entities of the same name. By default, as in GraphWalker, the one with most types is first."""
        return {iri: (-len(entity.types),) for iri, entity in entities.items()}

    async def _others(self, hint: str, limit: int) -> Sequence[tuple[URIRef, Match]]:
        """Candidates found in another way than by their names. By default there are none."""
        del hint, limit
        return ()

    def is_id(self, text: str) -> bool:
        """Whether a text has the form of an id, whatever the graph has: a full IRI or a known short form of one."""
        iri = self.naming.iri(text)
        return iri is not None and ("://" in text or str(iri) != text)

    def order(self, iri: URIRef) -> tuple[int, str]:
        """Sort key for entities that are otherwise equal."""
        return 0, iri
