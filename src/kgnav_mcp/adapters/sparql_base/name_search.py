"""Searches names: the exact name by index, its words in the store's full-text index, else by scanning all names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from rapidfuzz import fuzz
from rdflib import Literal, URIRef

from kgnav_mcp.adapters.candidates import (
    ALIAS,
    DESCRIPTION,
    EXACT_WORDS_NOTE,
    ID,
    NAME,
    WORD,
    plural_variants,
    spellings,
)
from kgnav_mcp.adapters.ids.rdf import is_encoded
from kgnav_mcp.adapters.naming import local_name_variants, names_from_id
from kgnav_mcp.adapters.sparql_base import queries
from kgnav_mcp.adapters.sparql_base.dialect import FullText
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, iri_in
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.adapters.sparql_base.terms import Fragment, comma_separated, sendable, values
from kgnav_mcp.adapters.sparql_base.text_forms import TextForms
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Stop
from kgnav_mcp.port.lists import batches

L = TypeVar("L", bound=str)

_MAX_LENGTH = 1_000
"""Maximum length in characters of a name that is looked up: no name is longer."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A text of an entity: `kind` is NAME, ALIAS, DESCRIPTION or ID (see `candidates`)."""

    entity: URIRef
    text: str
    kind: int
    language: str | None = None


Hits = tuple[list[Hit], Stop]
"""Hits, and why there may be more of them."""


class SameNames:
    """Collects the hits of several names, ignoring letter case."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = [name for name in dict.fromkeys(names) if findable(name)]
        self._hits: dict[str, dict[Hit, None]] = {name.casefold(): {} for name in names}
        self._stops: dict[str, Stop] = {}
        self._requested = list(names)

    async def add(
        self,
        items: Sequence[L],
        size: int,
        ask: Callable[[Sequence[L]], Awaitable[Hits]],
    ) -> None:
        """Look up items that contain names, `size` at a time; halve a batch whose answer was cut."""
        await gathered(*(self._add(batch, ask) for batch in batches(items, size)))

    async def _add(self, items: Sequence[L], ask: Callable[[Sequence[L]], Awaitable[Hits]]) -> None:
        hits, stop = await ask(items)
        if len(items) > 1 and stop in {Stop.LIMIT, Stop.ROW_CAP}:
            half = len(items) // 2
            await gathered(self._add(items[:half], ask), self._add(items[half:], ask))
            return
        for hit in hits:
            self.take(hit)
        for item in items:
            self._stops[item.casefold()] = Stop.first((self._stops.get(item.casefold(), stop), stop))

    def take(self, hit: Hit) -> None:
        """Add a hit if its text is one of the names."""
        if (same := self._hits.get(hit.text.casefold())) is not None:
            same[hit] = None

    @property
    def unspelt(self) -> list[str]:
        """The names that no hit spells in exactly this way."""
        return [name for name in self.names if all(hit.text != name for hit in self._hits[name.casefold()])]

    @property
    def without_hits(self) -> list[str]:
        """The names without any hit."""
        return [name for name in self.names if not self._hits[name.casefold()]]

    @property
    def hits(self) -> Mapping[str, Hits]:
        """The hits of each name."""
        return {
            name: (list(self._hits[name.casefold()]), self._stops.get(name.casefold(), Stop.COMPLETE))
            for name in self._requested
        }


def findable(name: str) -> bool:
    """Whether a text can be a name: it is not blank, not too long, and a query can contain it."""
    return bool(name.strip()) and len(name) <= _MAX_LENGTH and sendable(name)


_MAX_HITS = 1_000
"""Maximum number of names read for one search."""
_MAX_WORDS = 10
"""Maximum number of words of a name that are searched."""
_MAX_NAMES = 20
"""Maximum number of names in one full-text query."""
_MAX_OTHER_NUMBERS = 4
"""Maximum number of singular and plural forms of a name that are looked up: stores are slow with long lists."""
_MIN_SIMILARITY, _MIN_WORD_SIMILARITY = 85, 80
"""The minimum similarity (of 100) of a misspelt name to the right one, or of each of its words to one of its words."""
_BY_WORDS = "Searched for names with these words, or words that start with them."
_BY_INDEX = "Searched for exactly this label or alias, in the usual letter cases."


class NameSearch(Protocol):
    """Searches a store's names."""

    @property
    def note(self) -> str:
        """How names were searched, for an answer without an exact match. It is shown to the user."""
        ...

    async def same(self, names: Sequence[str]) -> Mapping[str, Hits]:
        """For each name, the names and aliases that equal it, ignoring letter case; else the ids that contain it."""
        ...

    async def missed(self) -> str:
        """Which names `same` does not find, for the user; empty if it finds all."""
        ...

    async def like(self, hint: str, limit: int) -> Hits:
        """Texts similar to a hint, to be scored by the caller."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """How names are looked up in a store: by index, and by a scan of all names.

    `named` is the query for the entities named by one of `$texts`, `scan` that for all names.
    """

    named: str
    scan: str | None
    """The query that scans all names; None where there are too many."""
    kinds: Mapping[URIRef, int]
    """The kind of text (NAME, ALIAS or DESCRIPTION) that each relation gives."""
    forms: TextForms
    """The kinds of literal as which the exact name is looked up, in any case."""
    all_forms: Callable[[], Awaitable[TextForms | None]] | None = None
    """Reads all kinds of literal that names are, if the full-text index does not find them; None if there is no time.
    """
    missed: str = ""
    """The sentence for the user that tells which names are found if they cannot be read."""
    share: float = 1.0
    """The fraction of a call's time that a scan may take."""
    full_text: FullText | None = None
    """The full-text index that may contain the names; None: there is none."""
    surely_indexed: bool = False
    """Whether the index is known to contain this graph's names. If not, a query probes it."""
    is_entity: Callable[[Term], bool] = lambda _: True
    """Whether the subject of a name is an entity that may be found."""
    namespaces: Callable[[], Awaitable[Collection[str]]] | None = None
    """Reads the namespaces of nodes whose ids may end with their names; None: ids do not contain names."""


class SparqlNames(NameSearch):
    """Searches names with SPARQL.

    A full-text index finds words and prefixes, so a word may be misspelt after its first letters. A scan finds no
    misspelt word, and times out on a large graph, which the answer then says.
    """

    def __init__(self, reader: Reader, lookup: Lookup) -> None:
        self._reader = reader
        self._lookup = lookup
        self._index = lookup.full_text if lookup.surely_indexed else None
        self._probed = lookup.surely_indexed or lookup.full_text is None
        self._names = [relation for relation, kind in lookup.kinds.items() if kind in {NAME, ALIAS}]
        self._descriptions = [relation for relation, kind in lookup.kinds.items() if kind == DESCRIPTION]

    @property
    def note(self) -> str:
        return _BY_WORDS if self._index else EXACT_WORDS_NOTE if self._lookup.scan else _BY_INDEX

    async def index(self) -> FullText | None:
        """The full-text index, if it contains this graph's names; None otherwise. It is probed once.

        Raises:
            StoreTimeout: the probe was not answered in time.
        """
        index = self._lookup.full_text
        if not self._probed and index is not None:
            names = [str(row["o"]) for row in (await self._reader.select(queries.SOME_NAMES)).any_rows()]
            words = (word for name in names for word in WORD.findall(name) if index.prefix_query(word))
            word = next(words, "")
            if word and (await self._reader.select(index.probe, words=Literal(index.word(word)))).any_rows():
                self._index = index
            self._probed = True
        return self._index

    async def same(self, names: Sequence[str]) -> Mapping[str, Hits]:
        found = SameNames(names)
        size = self._reader.dialect.max_texts
        forms = await self._forms() or self._lookup.forms
        literals = forms.terms(spelling for name in found.names for spelling in spellings(name))
        await found.add(literals, size, lambda batch: self._hits(self._lookup.named, texts=values(*batch)))
        if index := await self.index():
            full_text_queries = {
                name: index.and_separator.join(map(index.word, WORD.findall(name)[:_MAX_WORDS])) for name in found.names
            }
            await found.add(
                [name for name in found.names if full_text_queries[name]],
                _MAX_NAMES,
                lambda batch: self._matching(
                    index, self._names, _any_of(index, [full_text_queries[name] for name in batch])
                ),
            )
        else:
            await found.add(found.unspelt, size, self._scan_for)
        for hit in await self._by_ids(found.without_hits):
            found.take(hit)
        return found.hits

    async def missed(self) -> str:
        return "" if await self._forms() else self._lookup.missed

    async def _forms(self) -> TextForms | None:
        """The kinds of literal by which every exact name is found; None if they are not known."""
        if self._lookup.all_forms is None or await self.index():
            return self._lookup.forms
        return await self._lookup.all_forms()

    async def _scan_for(self, names: Sequence[str]) -> Hits:
        texts = comma_separated(*(Literal(name.lower()) for name in names))
        return await self._scan(self._reader.filled(queries.SAME_LETTERS, texts=texts))

    async def like(self, hint: str, limit: int) -> Hits:
        """Texts similar to a hint.

        The exact name in singular and plural is searched first, then wider and wider until a search finds a name.
        """
        del limit  # all hits are scored
        words = WORD.findall(hint.lower())[:_MAX_WORDS]
        if not words or not findable(hint):
            return (await self.same([hint]))[hint]
        found = await self._named(spellings(hint))
        very_name = any(hit.text.casefold() == hint.casefold() for hit in found[0])
        if others := [spelling for text in plural_variants(hint)[:_MAX_OTHER_NUMBERS] for spelling in spellings(text)]:
            found = _combined(found, await self._named(others))
        if index := await self.index():
            found = await self._widen(index, hint, words, found)
        elif not very_name:
            all_words = " && ".join(self._reader.filled(queries.HAS_WORD, word=Literal(word)) for word in words)
            found = _combined(found, await self._scan(all_words))
        hits, stop = found
        very_name = any(hit.text.casefold() == hint.casefold() for hit in hits)
        return list(dict.fromkeys(hits if very_name else hits + await self._by_ids([hint]))), stop

    async def _widen(self, index: FullText, hint: str, words: Sequence[str], found: Hits) -> Hits:
        """Add hits from the full-text index, step by step until there is a name."""
        for kinds, question in self._steps(index, words):
            step = await self._matching(index, kinds, question)
            found = _combined(found, step)
            if step[0] and any(hit.kind != DESCRIPTION for hit in found[0]):
                return found
        prefixes = (
            index.prefix_query(word[: index.min_prefix_letters])
            for word in words
            if len(word) > index.min_prefix_letters
        )
        if beginnings := [beginning for beginning in prefixes if beginning is not None]:
            hits, stop = await self._matching(index, self._names, index.or_separator.join(beginnings))
            found = _combined(found, ([hit for hit in hits if _misspelt(hint, hit.text)], stop))
        return found

    def _steps(self, index: FullText, words: Sequence[str]) -> Iterator[tuple[Collection[URIRef], str]]:
        """Full-text queries with the relations to search, the strictest first."""
        every_word = index.and_separator.join(map(index.word, words))
        yield self._names, every_word
        beginnings = [index.prefix_query(word) or index.word(word) for word in words]
        yield self._names, index.and_separator.join(beginnings)
        if len(words) > 1:
            yield self._names, index.or_separator.join(beginnings)
        if self._descriptions:
            yield self._descriptions, every_word

    async def _named(self, texts: Iterable[str]) -> Hits:
        """Look up the names and aliases that equal one of these texts."""
        forms = await self._forms() or self._lookup.forms
        terms = batches(forms.terms(texts), self._reader.dialect.max_texts)
        found = await gathered(*(self._hits(self._lookup.named, texts=values(*batch)) for batch in terms))
        return [hit for hits, _ in found for hit in hits], Stop.first(stop for _, stop in found)

    async def _matching(self, index: FullText, kinds: Collection[URIRef], question: str) -> Hits:
        return await self._hits(index.matching, kinds=values(*kinds), words=Literal(question))

    async def _by_ids(self, names: Sequence[str]) -> list[Hit]:
        """Entities whose id, without its namespace, is one of these names."""
        forms = dict.fromkeys(form for name in names for form in local_name_variants(name))
        if self._lookup.namespaces is None or not forms:
            return []
        namespaces = await self._lookup.namespaces()
        iris = [iri for namespace in namespaces for form in forms if is_encoded(iri := URIRef(namespace + form))]
        read = await self._reader.in_batches(queries.EXISTING, "ids", iris)
        found = sorted({iri_in(row, "s") for row in read.rows})
        return [Hit(iri, text, ID) for iri in found for text in names_from_id(iri)]

    async def _scan(self, condition: str) -> Hits:
        """Scan all names. After a time-out: no hits, with Stop.TIME_OUT."""
        try:
            return await self._read_all(condition)
        except StoreTimeout:
            return [], Stop.TIME_OUT

    async def _read_all(self, condition: str) -> Hits:
        """Scan all names for those that meet a condition, if the store allows a scan.

        Raises:
            StoreTimeout: there are too many names.
        """
        if self._lookup.scan is None:
            return [], Stop.COMPLETE
        return await self._hits(self._lookup.scan, share=self._lookup.share, condition=Fragment(condition))

    async def _hits(self, template: str, *, share: float = 1.0, **terms: Literal | Fragment) -> Hits:
        read = await self._reader.select(template, share=share, most=_MAX_HITS, **terms)
        hits = [
            Hit(iri_in(row, "s"), str(text), self._lookup.kinds[iri_in(row, "p")], text.language)
            for row in read.rows
            if isinstance(text := row["o"], Literal) and self._lookup.is_entity(row["s"])
        ]
        return hits, Stop.first((read.stop, Stop.LIMIT if len(read.rows) >= _MAX_HITS else Stop.COMPLETE))


def _any_of(index: FullText, questions: Sequence[str]) -> str:
    """Join full-text queries by OR."""
    return questions[0] if len(questions) == 1 else index.or_separator.join(f"({one})" for one in questions)


def _combined(one: Hits, other: Hits) -> Hits:
    return one[0] + other[0], Stop.first((one[1], other[1]))


def _misspelt(hint: str, name: str) -> bool:
    """Whether a hint is similar to a name, or each of its words to one of the name's words."""
    hint, name = hint.casefold(), name.casefold()
    if fuzz.ratio(hint, name) >= _MIN_SIMILARITY:
        return True
    name_words = WORD.findall(name)
    return all(
        any(fuzz.ratio(word, other) >= _MIN_WORD_SIMILARITY for other in name_words) for word in WORD.findall(hint)
    )
