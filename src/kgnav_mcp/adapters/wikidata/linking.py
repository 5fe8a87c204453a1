"""Finding entities by name: through the Wikibase's own search where it has one, else by labels in SPARQL.

In SPARQL the very label in one of the wanted languages is found by index. Any other way to write it takes a pass over
all labels, which only a small copy finishes in time: it is tried there alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.likeness import ALIAS, AS_SPELT, NAME, Likeness, bearers, spellings
from kgnav_mcp.adapters.plurals import in_other_numbers
from kgnav_mcp.adapters.sparql import errors
from kgnav_mcp.adapters.sparql.reading import Read, address, number, worst
from kgnav_mcp.adapters.sparql.terms import sendable, values
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.catalogue import fallbacks
from kgnav_mcp.adapters.wikidata.names import Names
from kgnav_mcp.adapters.wikidata.search import VectorSearch, WikibaseSearch
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Candidate, Count, Entity, Namesake, Page, Stop

_HITS = 1_000
"""Labels scored for one question."""
_RANKED = 100
"""Candidates whose sitelinks are read to order equal scores."""
_LONGEST = 1_000
_OTHER_NUMBERS = 4
"""Other numbers of a label that are looked for: no store likes long lists of texts."""
_MEANING_SCORE = 0.5
_SEARCH_NOTE = "Looked for labels and aliases that begin like this, as the Wikibase's own search does."
_BEARERS_NOTE = "Looked for entities with this very label or alias, in the usual letter cases."
"""Notes of a page of candidates, where nothing bears the very name."""
_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


@dataclass(frozen=True, slots=True)
class _Hit:
    """A label or an alias of an entity."""

    entity: URIRef
    text: str
    language: str
    kind: int


class Linker:
    """Answers `named` and `find`."""

    def __init__(self, store: Store, names: Names, search: WikibaseSearch | None, vectors: VectorSearch | None) -> None:
        self._store = store
        self._reader = store.reader
        self._names = names
        self._search = search
        self._vectors = vectors

    async def close(self) -> None:
        """Close the connections of the searches."""
        for search in (self._search, self._vectors):
            if search is not None:
                await search.close()

    async def named(self, name: str, limit: int) -> Page[Namesake]:
        """Entities with this very label, letter case aside; those with this alias where no label is it.

        Raises:
            StoreTimeout: not all labels could be read, so that one of several entities may look like the only one.
        """
        hits, stop = await self._same(name)
        if stop is Stop.TIME_OUT:
            raise errors.stopped()
        place = bearers(name, ((hit.entity, hit.kind, self._names.rank(hit.language), hit.text) for hit in hits))
        order = sorted(place, key=lambda iri: (place[iri][0], _number(iri)))
        described = await self._names.described(order[:limit])
        spelt: dict[Entity, str] = {}
        for iri, entity in described.items():
            spelt.setdefault(entity, place[iri][1])
        return Page(
            tuple(Namesake(entity, text) for entity, text in spelt.items()),
            tuple(entity.id for entity in spelt),
            Count(len(order)) if stop is Stop.COMPLETE else Count.at_least(len(order)),
            stop if stop is not Stop.COMPLETE else Stop.LIMIT if len(order) > limit else Stop.COMPLETE,
        )

    async def find(self, hint: str, classes: Sequence[URIRef] | None, limit: int) -> Page[Candidate]:
        """Candidates by score, then by how many wikis know them; only those of one of the classes, if there are any."""
        hint = hint.strip()
        likeness = Likeness(hint)
        best: dict[URIRef, tuple[float, str]] = {}
        given = self._store.ids.entity(hint)
        if given is not None and given in (known := await self._names.described([given])):
            meant = self._store.ids.entity(known[given].id) or given
            best[meant] = (1.0, hint)
        hits, stop = await self._like(hint, max(limit, 10))
        for hit in hits:
            score = likeness.score(hit.text, hit.kind)
            if score > best.get(hit.entity, (-1.0, ""))[0]:
                best[hit.entity] = (score, hit.text)
        for iri in await self._by_meaning(hint, limit):
            best.setdefault(iri, (_MEANING_SCORE, ""))
        if classes is not None and best:
            read = await self._reader.over(queries.OF_CLASS, "ids", list(best), classes=values(*classes))
            having = {address(row, "s") for row in read.rows}
            best = {iri: found for iri, found in best.items() if iri in having}
            stop = worst((read.stop, stop))
        page = await self._ranked(best, stop, limit)
        if any(hit.text.casefold() == hint.casefold() for hit in hits):
            return page
        return replace(page, note=self._note)

    @property
    def _note(self) -> str:
        if self._search is not None:
            return _SEARCH_NOTE
        return AS_SPELT if self._store.wikidata.scans else _BEARERS_NOTE

    async def _ranked(self, best: dict[URIRef, tuple[float, str]], stop: Stop, limit: int) -> Page[Candidate]:
        order = sorted(best, key=lambda iri: (-best[iri][0], _number(iri)))
        close = order[: max(limit, _RANKED)]
        statements, sitelinks = await self._sizes(close)
        close.sort(key=lambda iri: (-best[iri][0], -sitelinks.get(iri, 0), _number(iri)))
        shown = close[:limit]
        described = await self._names.described(shown)
        items = tuple(
            Candidate(
                described.get(iri) or Entity(self._store.ids.shown(iri)),
                best[iri][1] or (described[iri].label if iri in described else None) or self._store.ids.shown(iri),
                best[iri][0],
                Count.at_least(statements[iri]) if iri in statements else Count.unknown(),
                sitelinks.get(iri),
            )
            for iri in shown
        )
        return Page(
            items=items,
            positions=tuple(self._store.ids.shown(iri) for iri in shown),
            total=Count(len(order)) if stop is Stop.COMPLETE else Count.at_least(len(order)),
            stop=stop if stop is not Stop.COMPLETE else Stop.LIMIT if len(order) > limit else Stop.COMPLETE,
        )

    async def _sizes(self, iris: Sequence[URIRef]) -> tuple[dict[URIRef, int], dict[URIRef, int]]:
        """The statements of entities, and the pages about them in other wikis, where these are counted."""
        found: dict[str, dict[URIRef, int]] = {"statements": {}, "sitelinks": {}}
        for row in (await self._reader.over(queries.SIZES, "ids", iris)).rows if iris else ():
            found[str(row["p"])][address(row, "s")] = number(row, "o")
        return found["statements"], found["sitelinks"]

    async def _same(self, name: str) -> tuple[list[_Hit], Stop]:
        """Labels and aliases with the same letters, in any case."""
        if not name.strip() or len(name) > _LONGEST or not sendable(name):
            return [], Stop.COMPLETE
        if self._search is not None:
            hits, stop = await self._searched(name, 50)
            return [hit for hit in hits if hit.text.casefold() == name.casefold()], stop
        hits, stop = await self._bearers([name])
        if not any(hit.text == name for hit in hits) and self._store.wikidata.scans:
            hits, stop = await self._pass_over(name)
            hits = [hit for hit in hits if hit.text.casefold() == name.casefold()]
        return hits, stop

    async def _like(self, hint: str, limit: int) -> tuple[list[_Hit], Stop]:
        """Labels and aliases worth scoring."""
        if not any(character.isalnum() for character in hint) or len(hint) > _LONGEST or not sendable(hint):
            return [], Stop.COMPLETE
        if self._search is not None:
            return await self._searched(hint, limit)
        hits, stop = await self._bearers([hint, *in_other_numbers(hint)[:_OTHER_NUMBERS]])
        if not any(hit.text.casefold() == hint.casefold() for hit in hits) and self._store.wikidata.scans:
            found, stop = await self._pass_over(hint)
            hits += found
        return hits, stop

    async def _searched(self, hint: str, limit: int) -> tuple[list[_Hit], Stop]:
        """What the Wikibase's search finds in each of the wanted languages, and whether any of them has more."""
        assert self._search is not None  # noqa: S101 - the callers have asked
        search = self._search
        languages = self._store.languages or ("en",)
        answers = await gathered(*(search.find(hint, language, limit) for language in languages))
        hits = [
            _Hit(URIRef(self._store.ids.entities + match.id), match.text, language, NAME if match.by_label else ALIAS)
            for language, (matches, _) in zip(languages, answers, strict=True)
            for match in matches
            if self._store.ids.is_entity(self._store.ids.entities + match.id)
        ]
        return hits, worst(stop for _, stop in answers)

    async def _by_meaning(self, hint: str, limit: int) -> list[URIRef]:
        if self._vectors is None or not hint:
            return []
        found = [self._store.ids.entity(local) for local in await self._vectors.find(hint, limit)]
        return [iri for iri in found if iri is not None]

    async def _bearers(self, names: Iterable[str]) -> tuple[list[_Hit], Stop]:
        """The entities with one of these labels or aliases in one of the languages, by index."""
        spelt = dict.fromkeys(way for name in names for way in spellings(name))
        texts = [Literal(text, lang=language) for text in spelt for language in fallbacks(self._store.languages)]
        return self._hits(await self._reader.select(queries.BEARERS, texts=values(*texts), most=_HITS))

    async def _pass_over(self, text: str) -> tuple[list[_Hit], Stop]:
        """Every label read.

        Raises:
            StoreTimeout: there are too many of them.
        """
        try:
            return self._hits(await self._reader.select(queries.CONTAINING, text=Literal(text.lower()), most=_HITS))
        except StoreTimeout as error:
            raise StoreTimeout(
                error.seconds,
                error.message,
                next_step="No label is exactly this, and there are too many to read them all: give an id or the very "
                "label, or set the option search to the address of the Wikibase's API.",
            ) from error

    def _hits(self, read: Read) -> tuple[list[_Hit], Stop]:
        hits = [
            _Hit(address(row, "s"), str(text), text.language or "", NAME if str(row["p"]) == _LABEL else ALIAS)
            for row in read.rows
            if isinstance(text := row["o"], Literal) and self._store.ids.is_entity(str(row["s"]))
        ]
        return hits, worst((read.stop, Stop.LIMIT if len(read.rows) >= _HITS else Stop.COMPLETE))


def _number(iri: URIRef) -> tuple[int, str]:
    digits = iri.rpartition("/")[2][1:]
    return (int(digits) if digits.isdecimal() else 0), str(iri)
