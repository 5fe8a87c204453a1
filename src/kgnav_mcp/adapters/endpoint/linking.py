"""Finding entities by name: the very name, the same letters in another case, all of its words.

The very names are found by index; anything else costs a pass over all names of the graph, for which there is a bound
of time: what it cuts is said. Where the options tell of a full-text index, that is asked instead. Misspelt words are
not forgiven.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz
from rdflib import BNode, Literal, URIRef

from kgnav_mcp.adapters.endpoint import queries
from kgnav_mcp.adapters.endpoint.names import Names
from kgnav_mcp.adapters.endpoint.options import FullText
from kgnav_mcp.adapters.endpoint.store import Store
from kgnav_mcp.adapters.sparql import errors
from kgnav_mcp.adapters.sparql.reading import Read, Row, address, number, worst
from kgnav_mcp.adapters.sparql.terms import Terms, listed, sendable, values
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Candidate, Count, Direction, Entity, Page, Stop

_WORD = re.compile(r"[^\W_]+")
_HITS = 1_000
"""Names scored for one question."""
_RANKED = 100
"""Candidates whose degree is counted to order equal scores."""
_LONGEST = 1_000
"""Characters of a name that is looked for: no name is longer."""
_WORDS = 10
"""Words of a name that are looked for."""
_SHARE = 0.4
"""Of a call's time, for each pass over all names, and for counting degrees."""
_ALIAS_SCORE, _BEST_LIKENESS = 0.98, 0.95


@dataclass(frozen=True, slots=True)
class _Hit:
    """A name or an alias of an entity."""

    entity: URIRef
    relation: URIRef
    text: Literal


class Linker:
    """Answers `named` and `find`."""

    def __init__(self, store: Store, names: Names) -> None:
        self._store = store
        self._names = names
        self._relations = list(dict.fromkeys((*store.names, *store.aliases)))

    async def named(self, name: str, limit: int) -> Page[Entity]:
        """Entities with this very name, letter case aside; those with this alias if none has it.

        Ordered by language, letter case, number of types, and id.

        Raises:
            StoreTimeout: not all names could be read, so that one of several entities may look like the only one.
        """
        hits, stop = await self._same(name)
        if stop is Stop.TIME_OUT:
            raise errors.stopped()
        names = [hit for hit in hits if hit.relation in self._store.names] or hits
        place: dict[URIRef, tuple[int, bool]] = {}
        for hit in names:
            rank = (self._rank(hit.text.language), str(hit.text) != name)
            place[hit.entity] = min(rank, place.get(hit.entity, rank))
        order = sorted(place, key=lambda iri: (place[iri], iri))
        described = await self._names.entities(order[: max(limit, _RANKED)])
        close = sorted(described, key=lambda iri: (place[iri], -len(described[iri].types), iri))[:limit]
        return Page(
            items=tuple(described[iri] for iri in close),
            positions=tuple(described[iri].id for iri in close),
            total=Count(len(order)) if stop is Stop.COMPLETE else Count.at_least(len(order)),
            stop=worst((stop, Stop.LIMIT if len(order) > limit else Stop.COMPLETE)),
        )

    async def find(self, hint: str, types: Sequence[URIRef] | None, limit: int) -> Page[Candidate]:
        """Candidates by score, then by degree, then by id; only those of one of the types, where there are any."""
        hint = hint.strip()
        best: dict[URIRef, tuple[float, str]] = {}
        given = self._store.endpoint.ids.iri(hint)
        if given is not None and given in await self._names.entities([given]):
            best[given] = (1.0, hint)
        hits, stop = await self._like(hint)
        for hit in hits:
            score = self._score(hint, hit)
            if score > best.get(hit.entity, (-1.0, ""))[0]:
                best[hit.entity] = (score, str(hit.text))
        if types is not None and best:
            read = await self._store.reader.over(queries.OF_TYPES, "ids", list(best), types=listed(*types))
            having = {address(row, "s") for row in read.rows}
            best = {iri: found for iri, found in best.items() if iri in having}
            stop = worst((read.stop, stop))
        return await self._ranked(best, stop, limit)

    async def _ranked(self, best: dict[URIRef, tuple[float, str]], stop: Stop, limit: int) -> Page[Candidate]:
        order = sorted(best, key=lambda iri: (-best[iri][0], iri))
        close = order[: max(limit, _RANKED)]
        degrees = await self._degrees(close)
        close.sort(key=lambda iri: (-best[iri][0], -degrees[iri].value, iri))
        described = await self._names.entities(close[:limit])
        shown = [iri for iri in close[:limit] if iri in described]
        return Page(
            items=tuple(Candidate(described[iri], best[iri][1], best[iri][0], degrees[iri]) for iri in shown),
            positions=tuple(described[iri].id for iri in shown),
            total=Count(len(order)) if stop is Stop.COMPLETE else Count.at_least(len(order)),
            stop=worst((stop, Stop.LIMIT if len(order) > limit else Stop.COMPLETE)),
        )

    async def _degrees(self, iris: Sequence[URIRef]) -> dict[URIRef, Count]:
        """The triples each entity is in, with those of statements about them; unknown where they are not counted."""
        found: dict[URIRef, int] = defaultdict(int)
        sure = not self._store.reification
        try:
            for direction in Direction if iris else ():
                read = await self._store.reader.over(queries.DEGREES[direction], "ids", iris)
                sure &= read.stop is Stop.COMPLETE
                for row in read.rows:
                    found[address(row, "s")] += number(row, "n")
        except StoreTimeout:
            return {iri: Count.unknown() for iri in iris}
        return {iri: Count(found[iri]) if sure else Count.at_least(found[iri]) for iri in iris}

    def _score(self, hint: str, hit: _Hit) -> float:
        text = str(hit.text)
        name = hit.relation in self._store.names
        if text.casefold() == hint.casefold():
            return 1.0 if name else _ALIAS_SCORE
        likeness = fuzz.WRatio(hint.casefold(), text.casefold()) / 100
        return round(min(likeness, _BEST_LIKENESS) * (1.0 if name else _ALIAS_SCORE), 3)

    def _rank(self, language: str | None) -> int:
        languages = [wanted.lower() for wanted in self._store.languages]
        if not language:
            return len(languages)
        return languages.index(language.lower()) if language.lower() in languages else len(languages) + 1

    async def _same(self, name: str) -> tuple[list[_Hit], Stop]:
        """Names and aliases with the same letters, in any case and language."""
        if not name.strip() or len(name) > _LONGEST or not sendable(name):
            return [], Stop.COMPLETE
        texts = values(Literal(name), *(Literal(name, lang=language) for language in self._store.languages))
        hits, stop = await self._some(queries.BEARERS, texts=texts)
        if not hits:
            hits, stop = await self._pass_over(queries.SAME_LETTERS, text=Literal(name.lower()))
        same = [hit for hit in hits if str(hit.text).casefold() == name.casefold()]
        return list(dict.fromkeys(same)), stop

    async def _like(self, hint: str) -> tuple[list[_Hit], Stop]:
        """Texts worth scoring: from the very name outwards, until a step finds some."""
        hits, stop = await self._same(hint)
        words = _WORD.findall(hint.lower())[:_WORDS]
        if hits or not words or not sendable(hint):
            return hits, stop
        if self._store.endpoint.full_text is FullText.VIRTUOSO:
            return await self._some(queries.INDEXED, words=Literal(" AND ".join(f'"{word}"' for word in words)))
        reader = self._store.reader
        conditions = " && ".join(reader.filled(queries.WORD, word=Literal(word)) for word in words)
        found, cut = await self._pass_over(queries.CONTAINING, words=Terms(conditions))
        return found, worst((stop, cut))

    async def _pass_over(self, template: str, **terms: Literal | Terms) -> tuple[list[_Hit], Stop]:
        """All names read: what takes too long is a list that its time-out cut."""
        try:
            return await self._some(template, share=_SHARE, **terms)
        except StoreTimeout:
            return [], Stop.TIME_OUT

    async def _some(self, template: str, *, share: float = 1.0, **terms: Literal | Terms) -> tuple[list[_Hit], Stop]:
        reader = self._store.reader
        branches = [reader.filled(template, p=relation, **terms) for relation in self._relations]
        union = Terms(" UNION ".join(branches))
        return self._hits(await reader.select(queries.SOME, share=share, branches=union, most=_HITS))

    def _hits(self, read: Read) -> tuple[list[_Hit], Stop]:
        hits = [hit for row in read.rows if (hit := _hit(row)) is not None]
        return hits, worst((read.stop, Stop.LIMIT if len(read.rows) >= _HITS else Stop.COMPLETE))


def _hit(row: Row) -> _Hit | None:
    """A row as a hit; blank nodes are not found by name, for nothing says which of them is meant."""
    text = row["o"]
    if isinstance(row["s"], BNode) or not isinstance(text, Literal):
        return None
    return _Hit(address(row, "s"), address(row, "p"), text)
