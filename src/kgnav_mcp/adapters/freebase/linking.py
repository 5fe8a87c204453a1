"""Finding entities by name: the very name, in another letter case or number, the same words, some of them.

With a full-text index each step is a look-up in it. Without one, the very names in the wanted languages are found by
index, and anything else by a pass over all names, which a large graph does not finish in time; the page says so.
Virtuoso's index knows words and how they begin: a word that is misspelt behind its fourth letter is found by these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rapidfuzz import fuzz
from rdflib import Literal, URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.names import Names
from kgnav_mcp.adapters.freebase.store import Store
from kgnav_mcp.adapters.likeness import ALIAS, AS_SPELT, DESCRIPTION, NAME, WORD, Likeness, bearers, spellings
from kgnav_mcp.adapters.plurals import in_other_numbers
from kgnav_mcp.adapters.sparql import errors
from kgnav_mcp.adapters.sparql.reading import Read, address, number, worst
from kgnav_mcp.adapters.sparql.terms import sendable, values
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
_PREFIX = 4
"""Letters that a prefix has in Virtuoso's full-text index."""
_MISSPELT, _MISSPELT_WORD = 85, 80
"""The likeness, of 100, of a misspelt name to the right one, or of each of its words to one of those."""
_OTHER_NUMBERS = 4
"""Other numbers of a name that are looked for; Virtuoso does not like long lists of texts."""
_FULL_TEXT_NOTE = "Looked for names with these words, or with words that begin like them."
"""The note of a page of candidates, where nothing bears the very name."""


@dataclass(frozen=True, slots=True)
class _Hit:
    """A text of an entity: a name, an alias or a description."""

    entity: URIRef
    relation: URIRef
    text: Literal


class Linker:
    """Answers `named` and `find`."""

    def __init__(self, store: Store, names: Names) -> None:
        self._store = store
        self._reader = store.reader
        self._names = names
        self._relations = store.freebase.relations
        self._full_text: bool | None = None

    async def named(self, name: str, limit: int) -> Page[Namesake]:
        """Entities with this very name, letter case aside; those with this alias if none has it.

        Ordered by spelling, language, number of types, and degree (GraphWalker takes the one with most types).

        Raises:
            StoreTimeout: not all names could be read, so that one of several entities may look like the only one.
        """
        hits, stop = await self._same(name, spelt=True)
        if stop is Stop.TIME_OUT:
            raise errors.stopped()
        place = bearers(
            name, ((hit.entity, self._kind(hit), self._names.rank(hit.text.language), str(hit.text)) for hit in hits)
        )
        order = sorted(place, key=lambda iri: (place[iri][0], iri))
        close = order[: max(limit, _RANKED)]
        described = await self._names.described(close)
        degrees = await self.degrees(close) if len(close) > 1 else dict.fromkeys(close, Count(0))
        close.sort(key=lambda iri: (place[iri][0], -len(described[iri].types), -degrees[iri].value, iri))
        return Page(
            items=tuple(Namesake(described[iri], place[iri][1]) for iri in close[:limit]),
            positions=tuple(self._store.ids.short(iri) for iri in close[:limit]),
            total=Count(len(order)) if stop is Stop.COMPLETE else Count.at_least(len(order)),
            stop=stop if stop is not Stop.COMPLETE else Stop.LIMIT if len(order) > limit else Stop.COMPLETE,
        )

    async def find(self, hint: str, types: Sequence[URIRef] | None, limit: int) -> Page[Candidate]:
        """Candidates by score, then by degree, then by id; only those of one of the types, where there are any."""
        hint = hint.strip()
        likeness = Likeness(hint)
        best: dict[URIRef, tuple[float, str]] = {}
        given = self._store.ids.term(hint)
        if given is not None and given in await self._names.described([given]):
            best[given] = (1.0, hint)
        hits, stop = await self._like(hint)
        for hit in hits:
            score = likeness.score(str(hit.text), self._kind(hit))
            if score > best.get(hit.entity, (-1.0, ""))[0]:
                best[hit.entity] = (score, str(hit.text))
        if types is not None and best:
            read = await self._reader.over(queries.OF_TYPES, "ids", list(best), types=values(*types))
            having = {address(row, "s") for row in read.rows}
            best = {iri: found for iri, found in best.items() if iri in having}
            stop = worst((read.stop, stop))
        page = await self._ranked(best, stop, limit)
        if any(str(hit.text).casefold() == hint.casefold() for hit in hits):
            return page
        return replace(page, note=_FULL_TEXT_NOTE if self._full_text else AS_SPELT)

    async def degrees(self, iris: Sequence[URIRef]) -> dict[URIRef, Count]:
        """The triples each entity is in; one that leaves and enters the same entity counts twice."""
        found = dict.fromkeys(iris, Count(0))
        for direction in Direction:
            read = await self._reader.over(queries.DEGREES[direction], "ids", iris)
            counted = {address(row, "s"): number(row, "n") for row in read.rows}
            make = Count if read.stop is Stop.COMPLETE else Count.at_least
            found = {iri: count + make(counted.get(iri, 0)) for iri, count in found.items()}
        return found

    async def has_full_text(self) -> bool:
        """Whether the names of this graph are in a full-text index. Asked once: an index without them gives nothing."""
        if self._full_text is None:
            names = [str(row["o"]) for row in (await self._reader.select(queries.SOME_NAMES)).whole()]
            word = next((word for name in names for word in WORD.findall(name) if word.isascii() and len(word) > 3), "")
            found = word and (await self._reader.select(queries.HAS_WORD, words=Literal(f'"{word}"'))).whole()
            self._full_text = bool(found)
        return self._full_text

    async def _ranked(self, best: dict[URIRef, tuple[float, str]], stop: Stop, limit: int) -> Page[Candidate]:
        order = sorted(best, key=lambda iri: (-best[iri][0], iri))
        close = order[: max(limit, _RANKED)]
        degrees = await self.degrees(close)
        close.sort(key=lambda iri: (-best[iri][0], -degrees[iri].value, iri))
        shown = close[:limit]
        described = await self._names.described(shown)
        cut = Stop.LIMIT if len(order) > limit else Stop.COMPLETE
        return Page(
            items=tuple(Candidate(described[iri], best[iri][1], best[iri][0], degrees[iri]) for iri in shown),
            positions=tuple(self._store.ids.short(iri) for iri in shown),
            total=Count(len(order)) if stop is Stop.COMPLETE else Count.at_least(len(order)),
            stop=stop if stop is not Stop.COMPLETE else cut,
        )

    def _kind(self, hit: _Hit) -> int:
        kinds = {self._relations["name"]: NAME, self._relations["alias"]: ALIAS}
        return kinds.get(hit.relation, DESCRIPTION)

    async def _same(self, name: str, *, spelt: bool) -> tuple[list[_Hit], Stop]:
        """Names and aliases with the same letters, in any case and language.

        Without a full-text index, what is not found in a usual way to write it is looked for by a pass over all
        names; with `spelt` also where only other letter cases are found.
        """
        if not name.strip() or len(name) > _LONGEST or not sendable(name):
            return [], Stop.COMPLETE
        kinds = [self._relations["name"], self._relations["alias"]]
        hits, stop = await self._bearers(spellings(name))
        if await self.has_full_text():
            words = WORD.findall(name)[:_WORDS]
            if words:
                read = await self._matching(kinds, _all_of(words))
                hits, stop = hits + read[0], worst((stop, read[1]))
        elif not any(str(hit.text) == name or not spelt for hit in hits):
            more, stop = await self._pass_over(queries.SAME_LETTERS, kinds, name)
            hits += more
        same = [hit for hit in hits if str(hit.text).casefold() == name.casefold()]
        return list(dict.fromkeys(same)), stop

    async def _bearers(self, texts: Iterable[str]) -> tuple[list[_Hit], Stop]:
        """Names and aliases that are one of these texts, in a wanted language or in none: by index."""
        languages = (None, *self._store.languages)
        wanted = values(*(Literal(text, lang=language) for text in dict.fromkeys(texts) for language in languages))
        return self._hits(await self._reader.select(queries.BEARERS, texts=wanted, most=_HITS))

    async def _like(self, hint: str) -> tuple[list[_Hit], Stop]:
        """Texts worth scoring: the very name, in either number, and outwards until a step finds a name."""
        hits, stop = await self._same(hint, spelt=False)
        words = WORD.findall(hint)[:_WORDS]
        if not words or not sendable(hint):
            return hits, stop
        very_name = bool(hits)
        if others := [way for text in in_other_numbers(hint)[:_OTHER_NUMBERS] for way in spellings(text)]:
            found, cut = await self._bearers(others)
            hits, stop = hits + found, worst((stop, cut))
        names = [self._relations["name"], self._relations["alias"]]
        if not await self.has_full_text():
            if very_name:
                return hits, stop
            found, cut = await self._pass_over(queries.CONTAINING, names, hint)
            return hits + found, worst((stop, cut))
        for kinds, question in self._steps(names, words):
            found, cut = await self._matching(kinds, question)
            hits, stop = hits + found, worst((stop, cut))
            if found and any(hit.relation in names for hit in hits):
                return list(dict.fromkeys(hits)), stop
        beginnings = [f'"{word[:_PREFIX]}*"' for word in words if len(word) > _PREFIX and word[:_PREFIX].isascii()]
        if beginnings:
            found, cut = await self._matching(names, " OR ".join(beginnings))
            hits += [hit for hit in found if _misspelt(hint, str(hit.text))]
            stop = worst((stop, cut))
        return list(dict.fromkeys(hits)), stop

    def _steps(self, names: list[URIRef], words: Sequence[str]) -> Iterator[tuple[list[URIRef], str]]:
        """Questions to the full-text index, the strictest first."""
        yield names, _all_of(words)
        prefixes = [f'"{word}*"' if word.isascii() and len(word) >= _PREFIX else f'"{word}"' for word in words]
        yield names, " AND ".join(prefixes)
        if len(words) > 1:
            yield names, " OR ".join(prefixes)
        yield [self._relations["description"]], _all_of(words)

    async def _matching(self, kinds: Sequence[URIRef], question: str) -> tuple[list[_Hit], Stop]:
        return self._hits(
            await self._reader.select(queries.MATCHING, kinds=values(*kinds), words=Literal(question), most=_HITS)
        )

    async def _pass_over(self, template: str, kinds: Sequence[URIRef], text: str) -> tuple[list[_Hit], Stop]:
        """All names read: what takes too long is a list that its time-out cut."""
        try:
            reads = [
                await self._reader.select(template, kind=kind, text=Literal(text.lower()), most=_HITS) for kind in kinds
            ]
        except StoreTimeout:
            return [], Stop.TIME_OUT
        return self._hits(Read.together(reads))

    def _hits(self, read: Read) -> tuple[list[_Hit], Stop]:
        hits = [
            _Hit(address(row, "s"), address(row, "p"), text)
            for row in read.rows
            if isinstance(text := row["o"], Literal)
        ]
        cut = Stop.LIMIT if len(read.rows) >= _HITS else Stop.COMPLETE
        return hits, worst((read.stop, cut))


def _all_of(words: Sequence[str]) -> str:
    """The question for texts with all of the words, each taken as nothing but a word."""
    return " AND ".join(f'"{word}"' for word in words)


def _misspelt(hint: str, name: str) -> bool:
    """Whether a hint is much like a name, or each of its words like one of the name's."""
    hint, name = hint.casefold(), name.casefold()
    if fuzz.ratio(hint, name) >= _MISSPELT:
        return True
    known = WORD.findall(name)
    return all(any(fuzz.ratio(word, other) >= _MISSPELT_WORD for other in known) for word in WORD.findall(hint))
