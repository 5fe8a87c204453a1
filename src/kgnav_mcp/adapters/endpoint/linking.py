"""Finding entities by name: the very name, in another letter case or number, all of its words, what ids say.

The very names in the usual letter cases are found by index; anything else costs a pass over all names of the graph, for
which there is a bound of time: what it cuts is said. Where the options tell of a full-text index, that is asked
instead. Misspelt words are not forgiven.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rdflib import BNode, Literal, URIRef

from kgnav_mcp.adapters.endpoint import queries
from kgnav_mcp.adapters.endpoint.names import Names
from kgnav_mcp.adapters.endpoint.options import FullText
from kgnav_mcp.adapters.endpoint.store import Store
from kgnav_mcp.adapters.likeness import ALIAS, AS_SPELT, ID, NAME, WORD, Likeness, bearers, spellings
from kgnav_mcp.adapters.naming import local_forms, names_in
from kgnav_mcp.adapters.plurals import in_other_numbers
from kgnav_mcp.adapters.sparql import errors
from kgnav_mcp.adapters.sparql.reading import Read, Row, address, number, worst
from kgnav_mcp.adapters.sparql.terms import Terms, listed, sendable, values
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Candidate, Count, Direction, Namesake, Page, Stop

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
_OTHER_NUMBERS = 4
"""Other numbers of a name that are looked for; no store likes long lists of texts."""


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

    async def named(self, name: str, limit: int) -> Page[Namesake]:
        """Entities with this very name, letter case aside; by alias if none has it, then by id.

        Ordered by spelling, language, number of types, and id.

        Raises:
            StoreTimeout: not all names could be read, so that one of several entities may look like the only one.
        """
        hits, stop = await self._same(name, spelt=True)
        if stop is Stop.TIME_OUT:
            raise errors.stopped()
        place = bearers(
            name, ((hit.entity, self._kind(hit), self._rank(hit.text.language), str(hit.text)) for hit in hits)
        )
        if not place:
            place = bearers(name, ((iri, ID, 0, text) for iri in await self._by_id(name) for text in names_in(iri)))
        order = sorted(place, key=lambda iri: (place[iri][0], iri))
        described = await self._names.entities(order[: max(limit, _RANKED)])
        close = sorted(described, key=lambda iri: (place[iri][0], -len(described[iri].types), iri))[:limit]
        return Page(
            items=tuple(Namesake(described[iri], place[iri][1]) for iri in close),
            positions=tuple(described[iri].id for iri in close),
            total=Count(len(order)) if stop is Stop.COMPLETE else Count.at_least(len(order)),
            stop=worst((stop, Stop.LIMIT if len(order) > limit else Stop.COMPLETE)),
        )

    async def find(self, hint: str, types: Sequence[URIRef] | None, limit: int) -> Page[Candidate]:
        """Candidates by score, then by degree, then by id; only those of one of the types, where there are any."""
        hint = hint.strip()
        likeness = Likeness(hint)
        best: dict[URIRef, tuple[float, str]] = {}
        given = self._store.endpoint.ids.iri(hint)
        if given is not None and given in await self._names.entities([given]):
            best[given] = (1.0, hint)
        hits, stop = await self._like(hint)
        very_name = any(str(hit.text).casefold() == hint.casefold() for hit in hits)
        for iri in () if very_name else await self._by_id(hint):
            best.setdefault(iri, max((likeness.score(text, ID), text) for text in names_in(iri)))
        for hit in hits:
            score = likeness.score(str(hit.text), self._kind(hit))
            if score > best.get(hit.entity, (-1.0, ""))[0]:
                best[hit.entity] = (score, str(hit.text))
        if types is not None and best:
            read = await self._store.reader.over(queries.OF_TYPES, "ids", list(best), types=listed(*types))
            having = {address(row, "s") for row in read.rows}
            best = {iri: found for iri, found in best.items() if iri in having}
            stop = worst((read.stop, stop))
        page = await self._ranked(best, stop, limit)
        return page if very_name else replace(page, note=AS_SPELT)

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

    def _kind(self, hit: _Hit) -> int:
        return NAME if hit.relation in self._store.names else ALIAS

    def _rank(self, language: str | None) -> int:
        languages = [wanted.lower() for wanted in self._store.languages]
        if not language:
            return len(languages)
        return languages.index(language.lower()) if language.lower() in languages else len(languages) + 1

    async def _same(self, name: str, *, spelt: bool) -> tuple[list[_Hit], Stop]:
        """Names and aliases with the same letters, in any case and language.

        What is not in the index in a usual way is looked for by a pass over all names; with `spelt` also where only
        other letter cases are.
        """
        if not name.strip() or len(name) > _LONGEST or not sendable(name):
            return [], Stop.COMPLETE
        hits, stop = await self._bearers(spellings(name))
        if not any(str(hit.text) == name or not spelt for hit in hits):
            more, stop = await self._pass_over(queries.SAME_LETTERS, text=Literal(name.lower()))
            hits += more
        same = [hit for hit in hits if str(hit.text).casefold() == name.casefold()]
        return list(dict.fromkeys(same)), stop

    async def _like(self, hint: str) -> tuple[list[_Hit], Stop]:
        """Texts worth scoring: the very name, in either number, else those with all of its words."""
        hits, stop = await self._same(hint, spelt=False)
        words = WORD.findall(hint.lower())[:_WORDS]
        if not words or not sendable(hint):
            return hits, stop
        others = [way for text in in_other_numbers(hint)[:_OTHER_NUMBERS] for way in spellings(text)]
        in_number, cut = await self._bearers(others) if others else ([], Stop.COMPLETE)
        stop = worst((stop, cut))
        if hits:
            return hits + in_number, stop
        if self._store.endpoint.full_text is FullText.VIRTUOSO:
            question = Literal(" AND ".join(f'"{word}"' for word in words))
            found, cut = await self._some(queries.INDEXED, words=question)
        else:
            conditions = " && ".join(self._store.reader.filled(queries.WORD, word=Literal(word)) for word in words)
            found, cut = await self._pass_over(queries.CONTAINING, words=Terms(conditions))
        return in_number + found, worst((stop, cut))

    async def _bearers(self, texts: Iterable[str]) -> tuple[list[_Hit], Stop]:
        """Names and aliases that are one of these texts, in a wanted language or in none: by index."""
        languages = (None, *self._store.languages)
        wanted = values(*(Literal(text, lang=language) for text in dict.fromkeys(texts) for language in languages))
        return await self._some(queries.BEARERS, texts=wanted)

    async def _by_id(self, name: str) -> list[URIRef]:
        """Entities whose id, without its prefix, says this."""
        ids = self._store.endpoint.ids
        iris = [iri for namespace in ids.namespaces for form in local_forms(name) if (iri := ids.iri(namespace + form))]
        if not iris:
            return []
        read = await self._store.reader.over(queries.EXISTING, "ids", list(dict.fromkeys(iris)))
        return sorted({address(row, "s") for row in read.rows})

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
