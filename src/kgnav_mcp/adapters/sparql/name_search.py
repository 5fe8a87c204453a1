"""Looking up names: the very name by index, its words in the store's full-text index, else by reading all names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rapidfuzz import fuzz
from rdflib import Literal, URIRef

from kgnav_mcp.adapters.likeness import ALIAS, AS_SPELT, DESCRIPTION, ID, NAME, WORD, spellings
from kgnav_mcp.adapters.naming import names_in
from kgnav_mcp.adapters.plurals import in_other_numbers
from kgnav_mcp.adapters.sparql import queries
from kgnav_mcp.adapters.sparql.dialect import FullText
from kgnav_mcp.adapters.sparql.namesakes import Hit, Hits, SameNames, findable
from kgnav_mcp.adapters.sparql.reading import Reader, iri_in
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.adapters.sparql.terms import Terms, listed, values
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Stop

_HITS = 1_000
"""Names scored for one question."""
_WORDS = 10
"""Words of a name that are looked for."""
_QUESTIONS = 20
"""Names that one question to a full-text index is about."""
_OTHER_NUMBERS = 4
"""Other numbers of a name that are looked for: no store likes long lists of texts."""
_MISSPELT, _MISSPELT_WORD = 85, 80
"""The likeness, of 100, of a misspelt name to the right one, or of each of its words to one of those."""
_BY_WORDS = "Looked for names with these words, or with words that begin like them."
_BY_INDEX = "Looked for entities with this very label or alias, in the usual letter cases."


class NameSearch(Protocol):
    """Where a store's names are looked up."""

    @property
    def note(self) -> str:
        """How names were looked for, where nothing bears the very name."""
        ...

    async def same(self, names: Sequence[str]) -> Mapping[str, Hits]:
        """For each name the names and aliases with the same letters, in any case and language, else ids that say it."""
        ...

    async def like(self, hint: str, limit: int) -> Hits:
        """Texts worth scoring, from the very name outwards."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """How names are looked up in a store: `bearers` of `$texts` by index, and by a `scan` of all names."""

    bearers: str
    scan: str | None
    """None where there are too many names to read them all."""
    kinds: Mapping[URIRef, int]
    """What the texts of relations are to an entity."""
    languages: Sequence[str | None]
    """The languages in which the very name is looked for; None: without one."""
    share: float = 1.0
    """Of a call's time, for a scan."""
    full_text: FullText | None = None
    """The index of words that names may be in; None: they are in none."""
    surely_indexed: bool = False
    """Whether the names of this graph are there; else that is asked."""
    is_entity: Callable[[Term], bool] = lambda _: True
    """Whether what bears a name is an entity."""
    ids_of: Callable[[str], Sequence[URIRef]] = lambda _: ()
    """The ids that things of a name may have, of which those in the graph are found."""


class SparqlNames(NameSearch):
    """Names looked up in SPARQL.

    A full-text index knows words and how they begin: behind its first letters a word may be misspelt. A scan forgives
    no misspelt word, and a large graph has too many names for it, which is then said.
    """

    def __init__(self, reader: Reader, lookup: Lookup) -> None:
        self._reader = reader
        self._lookup = lookup
        self._index = lookup.full_text if lookup.surely_indexed else None
        self._asked = lookup.surely_indexed or lookup.full_text is None
        self._names = [relation for relation, kind in lookup.kinds.items() if kind in {NAME, ALIAS}]
        self._descriptions = [relation for relation, kind in lookup.kinds.items() if kind == DESCRIPTION]

    @property
    def note(self) -> str:
        return _BY_WORDS if self._index else AS_SPELT if self._lookup.scan else _BY_INDEX

    async def index(self) -> FullText | None:
        """The full-text index that names are in. Asked once: one without the names of this graph gives nothing.

        Raises:
            StoreTimeout: it could not be told in time.
        """
        index = self._lookup.full_text
        if not self._asked and index is not None:
            names = [str(row["o"]) for row in (await self._reader.select(queries.SOME_NAMES)).some()]
            words = (word for name in names for word in WORD.findall(name) if index.beginning(word))
            word = next(words, "")
            if word and (await self._reader.select(index.has, words=Literal(index.word(word)))).some():
                self._index = index
            self._asked = True
        return self._index

    async def same(self, names: Sequence[str]) -> Mapping[str, Hits]:
        found = SameNames(names)
        size = self._reader.dialect.texts
        spelt = [
            Literal(way, lang=tag) for name in found.names for way in spellings(name) for tag in self._lookup.languages
        ]
        await found.add(spelt, size, lambda some: self._hits(self._lookup.bearers, texts=values(*some)))
        if index := await self.index():
            asked = {name: index.every.join(map(index.word, WORD.findall(name)[:_WORDS])) for name in found.names}
            await found.add(
                [name for name in found.names if asked[name]],
                _QUESTIONS,
                lambda some: self._matching(index, self._names, _any_of(index, [asked[name] for name in some])),
            )
        else:
            await found.add(found.unspelt, size, self._scan_for)
        for hit in await self._by_ids(found.nobodys):
            found.take(hit)
        return found.hits

    async def _scan_for(self, names: Sequence[str]) -> Hits:
        texts = listed(*(Literal(name.lower()) for name in names))
        return await self._scan(self._reader.filled(queries.SAME_LETTERS, texts=texts))

    async def like(self, hint: str, limit: int) -> Hits:
        """Texts worth scoring: the very name, in either number, and outwards until a step finds a name."""
        del limit  # all that a question finds is scored
        words = WORD.findall(hint.lower())[:_WORDS]
        if not words or not findable(hint):
            return (await self.same([hint]))[hint]
        found = await self._bearers(spellings(hint))
        very_name = any(hit.text.casefold() == hint.casefold() for hit in found[0])
        if others := [way for text in in_other_numbers(hint)[:_OTHER_NUMBERS] for way in spellings(text)]:
            found = _both(found, await self._bearers(others))
        if index := await self.index():
            found = await self._outwards(index, hint, words, found)
        elif not very_name:
            every = " && ".join(self._reader.filled(queries.HAS_WORD, word=Literal(word)) for word in words)
            found = _both(found, await self._scan(every))
        hits, stop = found
        very_name = any(hit.text.casefold() == hint.casefold() for hit in hits)
        return list(dict.fromkeys(hits if very_name else hits + await self._by_ids([hint]))), stop

    async def _outwards(self, index: FullText, hint: str, words: Sequence[str], found: Hits) -> Hits:
        """What was found, and what the index has, step by step until there is a name."""
        for kinds, question in self._steps(index, words):
            step = await self._matching(index, kinds, question)
            found = _both(found, step)
            if step[0] and any(hit.kind != DESCRIPTION for hit in found[0]):
                return found
        cut = (index.beginning(word[: index.letters]) for word in words if len(word) > index.letters)
        if beginnings := [beginning for beginning in cut if beginning is not None]:
            hits, stop = await self._matching(index, self._names, index.some.join(beginnings))
            found = _both(found, ([hit for hit in hits if _misspelt(hint, hit.text)], stop))
        return found

    def _steps(self, index: FullText, words: Sequence[str]) -> Iterator[tuple[Collection[URIRef], str]]:
        """Questions to the full-text index, the strictest first."""
        every_word = index.every.join(map(index.word, words))
        yield self._names, every_word
        beginnings = [index.beginning(word) or index.word(word) for word in words]
        yield self._names, index.every.join(beginnings)
        if len(words) > 1:
            yield self._names, index.some.join(beginnings)
        if self._descriptions:
            yield self._descriptions, every_word

    async def _bearers(self, texts: Iterable[str]) -> Hits:
        """Names and aliases that are one of these texts: by index."""
        languages = self._lookup.languages
        wanted = values(*(Literal(text, lang=language) for text in dict.fromkeys(texts) for language in languages))
        return await self._hits(self._lookup.bearers, texts=wanted)

    async def _matching(self, index: FullText, kinds: Collection[URIRef], question: str) -> Hits:
        return await self._hits(index.matching, kinds=values(*kinds), words=Literal(question))

    async def _by_ids(self, names: Sequence[str]) -> list[Hit]:
        """Entities whose id, without its prefix, says one of these."""
        iris = list(dict.fromkeys(iri for name in names for iri in self._lookup.ids_of(name)))
        read = await self._reader.in_batches(queries.EXISTING, "ids", iris)
        found = sorted({iri_in(row, "s") for row in read.rows})
        return [Hit(iri, text, ID) for iri in found for text in names_in(iri)]

    async def _scan(self, condition: str) -> Hits:
        """All names read: what takes too long is a list that its time-out cut."""
        try:
            return await self._read_all(condition)
        except StoreTimeout:
            return [], Stop.TIME_OUT

    async def _read_all(self, condition: str) -> Hits:
        """The names that meet a condition, out of all, where the store lets them be read.

        Raises:
            StoreTimeout: there are too many of them.
        """
        if self._lookup.scan is None:
            return [], Stop.COMPLETE
        return await self._hits(self._lookup.scan, share=self._lookup.share, condition=Terms(condition))

    async def _hits(self, template: str, *, share: float = 1.0, **terms: Literal | Terms) -> Hits:
        read = await self._reader.select(template, share=share, most=_HITS, **terms)
        hits = [
            Hit(iri_in(row, "s"), str(text), self._lookup.kinds[iri_in(row, "p")], text.language)
            for row in read.rows
            if isinstance(text := row["o"], Literal) and self._lookup.is_entity(row["s"])
        ]
        return hits, Stop.first((read.stop, Stop.LIMIT if len(read.rows) >= _HITS else Stop.COMPLETE))


def _any_of(index: FullText, questions: Sequence[str]) -> str:
    """The question for what one of several finds."""
    return questions[0] if len(questions) == 1 else index.some.join(f"({one})" for one in questions)


def _both(one: Hits, other: Hits) -> Hits:
    return one[0] + other[0], Stop.first((one[1], other[1]))


def _misspelt(hint: str, name: str) -> bool:
    """Whether a hint is much like a name, or each of its words like one of the name's."""
    hint, name = hint.casefold(), name.casefold()
    if fuzz.ratio(hint, name) >= _MISSPELT:
        return True
    known = WORD.findall(name)
    return all(any(fuzz.ratio(word, other) >= _MISSPELT_WORD for other in known) for word in WORD.findall(hint))
