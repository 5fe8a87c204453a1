"""Finding entities by name, misspelt ones too.

With a full-text index the words are looked up in it, each as it stands, as a beginning, and with slips of the pen.
Labels with names that no index holds are scanned up to a bound, and names are compared by the pieces they share with
the hint. What was found is scored here, the same way for both.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from kgnav_mcp.adapters.neo4j import cypher, queries
from kgnav_mcp.adapters.neo4j.catalogue import Catalogue, Catalogues
from kgnav_mcp.adapters.neo4j.entities import Cell, Entities
from kgnav_mcp.adapters.neo4j.store import Store
from kgnav_mcp.adapters.neo4j.values import sendable
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Candidate, Count, Entity, Page, Stop

_WORD = re.compile(r"[^\W_]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_WORDS = 12
"""Words of a hint that are looked for: a hint is a name, not a text."""
_LONGEST = 1_000
"""Characters of a hint that are looked at."""
_HITS = 100
"""Nodes scored for one question."""
_OTHER_LABELS = 20
"""Where only one label is wanted, so many times as many are looked at: an index may hold several."""
_SCANNED = 200_000
"""Nodes of a label that are looked at where no index has its names."""
_PIECE = 3
_EXACT = 1_000
"""What the very name counts in a scan: more than pieces ever do."""
_SAME_LETTERS, _SAME_BUT_ACCENTS, _ALIAS, _MOST_ALIKE, _DESCRIPTION = 0.99, 0.98, 0.98, 0.95, 0.25


@dataclass(frozen=True, slots=True)
class _Hits:
    """Nodes that may be meant, with their degrees; `whole` says that nothing was left out on the way."""

    rows: list[tuple[Cell, int]]
    whole: bool


class Linker:
    """Answers `named` and `find`."""

    def __init__(self, store: Store, catalogues: Catalogues, entities: Entities) -> None:
        self._store = store
        self._catalogues = catalogues
        self._entities = entities

    async def named(self, name: str, limit: int) -> Page[Entity]:
        """Entities with this very name, letter case aside, or with this alias where none has it."""
        name = sendable(name[:_LONGEST])
        if not name.strip():
            return Page((), (), Count(0))
        catalogue = self._catalogues.now
        hits = await self._hits(name, None, fuzzy=False)
        wanted = name.casefold()
        bearing: dict[str, tuple[tuple[bool, bool], Entity]] = {}
        for cell, _ in hits.rows:
            kinds = [
                (key in catalogue.alias_keys, text != name)
                for key, text in _texts(cell, self._cell_keys)
                if key in (*catalogue.name_keys, *catalogue.alias_keys) and text.casefold() == wanted
            ]
            if kinds:
                entity = self._entities.entity(cell)
                bearing[entity.id] = (min(kinds), entity)
        best = min((kind[0] for kind, _ in bearing.values()), default=False)
        close = sorted(
            (pair for pair in bearing.values() if pair[0][0] == best), key=lambda pair: (pair[0], pair[1].id)
        )
        found = [entity for _, entity in close]
        stop = Stop.LIMIT if len(found) > limit or not hits.whole else Stop.COMPLETE
        return Page(
            tuple(found[:limit]),
            tuple(entity.id for entity in found[:limit]),
            Count(len(found)) if hits.whole else Count.at_least(len(found)),
            stop,
        )

    async def find(self, hint: str, label: str | None, limit: int) -> Page[Candidate]:
        """Candidates by score, then by degree, then by id. The degree counts rows in both directions.

        Raises:
            UnknownName: the graph has no such label.
        """
        hint = sendable(hint.strip()[:_LONGEST])
        if label is not None:
            label = (await self._catalogues.knowing(label)).label(label)
        found = await self._entities.find([hint], queries.NODES_WITH_DEGREE, {"degree": queries.DEGREE_OF})
        best: dict[str, tuple[float, str, int, Entity]] = {}
        for anchor in found.values():
            if label is None or label in anchor.entity.types:
                best[anchor.entity.id] = (1.0, hint, int(anchor.row[1]), anchor.entity)
        hits = await self._hits(hint, label, fuzzy=True) if hint else _Hits([], whole=True)
        for cell, degree in hits.rows:
            entity = self._entities.entity(cell)
            score, matched = self._score(hint, cell)
            if score > best.get(entity.id, (0.0,))[0]:
                best[entity.id] = (score, matched, int(degree), entity)
        order = sorted(best.values(), key=lambda one: (-one[0], -one[2], one[3].id))[:limit]
        return Page(
            items=tuple(Candidate(entity, text, round(score, 4), Count(size)) for score, text, size, entity in order),
            positions=tuple(entity.id for *_, entity in order),
            total=Count(len(best)) if hits.whole else Count.at_least(len(best)),
            stop=Stop.LIMIT if len(best) > limit or not hits.whole else Stop.COMPLETE,
        )

    async def _hits(self, hint: str, label: str | None, *, fuzzy: bool) -> _Hits:
        """Nodes with names like a hint: from the indexes, and from the labels that have names but no index."""
        catalogue = self._catalogues.now
        words = _words(hint)
        keys = set(_searched(catalogue))
        indexes = [index for index in catalogue.full_text if index.properties & keys and words]
        query = _lucene(hint, words, fuzzy=fuzzy)
        held = {name for index in indexes for name in index.labels}
        bare: list[str | None] = [name for name in catalogue.labels if name not in held and label in (None, name)]
        if not indexes and label is None:
            bare = [None]
        answers = await gathered(
            *(self._look_up(index.name, query, label) for index in indexes),
            *(self._scan(hint, name, fuzzy=fuzzy) for name in bare),
        )
        rows = {row[0][0]: row for answer in answers for row in answer.rows}
        return _Hits(list(rows.values()), all(answer.whole for answer in answers))

    async def _look_up(self, index: str, words: str, label: str | None) -> _Hits:
        (rows,) = await self._store.row(
            cypher.filled(queries.FULL_TEXT, degree=queries.DEGREE_OF),
            index=index,
            words=words,
            label=label,
            looked_at=_HITS if label is None else _HITS * _OTHER_LABELS,
            most=_HITS,
            described=self._cell_keys,
        )
        return _Hits(rows, len(rows) < _HITS)

    async def _scan(self, hint: str, label: str | None, *, fuzzy: bool) -> _Hits:
        catalogue = self._catalogues.now
        pieces = sorted({piece for word in _words(hint) for piece in _pieces(word)}) if fuzzy else []
        (rows,) = await self._store.row(
            cypher.filled(queries.SCAN, label=cypher.labelled(label), degree=queries.DEGREE_OF),
            keys=list(_searched(catalogue)),
            name=hint.lower(),
            pieces=pieces,
            exact=_EXACT,
            scanned=_SCANNED,
            most=_HITS,
            described=self._cell_keys,
        )
        size = catalogue.labels.get(label, 0) if label is not None else catalogue.nodes
        return _Hits(rows, len(rows) < _HITS and size <= _SCANNED)

    @property
    def _cell_keys(self) -> list[str]:
        """The keys that cells hold here: aliases are looked at behind what describes an entity."""
        return [*self._entities.described, *self._catalogues.now.alias_keys]

    def _score(self, hint: str, cell: Cell) -> tuple[float, str]:
        """The best of a node's texts: how well it answers the hint, and which it is."""
        catalogue = self._catalogues.now
        best = (0.0, "")
        for key, text in _texts(cell, self._cell_keys):
            if key in catalogue.description_keys:
                own = set(_words(hint))
                score = _DESCRIPTION * len(own.intersection(_WORD.findall(_folded(text)))) / max(len(own), 1)
            elif key in catalogue.name_keys:
                score = _likeness(hint, text)
            elif key in catalogue.alias_keys:
                score = _likeness(hint, text) * _ALIAS
            else:
                continue
            best = max(best, (score, text))
        return best


def _searched(catalogue: Catalogue) -> tuple[str, ...]:
    return (*catalogue.name_keys, *catalogue.alias_keys, *catalogue.description_keys)


def _texts(cell: Cell, keys: Sequence[str]) -> list[tuple[str, str]]:
    """The texts of a node by key; the items of a list each by itself."""
    found: list[tuple[str, str]] = []
    for key, value in zip(keys, cast("list[Any]", cell[2]), strict=False):
        items = cast("list[Any]", value) if isinstance(value, list) else [value]
        found += [(key, item) for item in items if isinstance(item, str)]
    return found


def _folded(text: str) -> str:
    """The text without letter case and accents."""
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare).casefold()


def _words(hint: str) -> list[str]:
    """The distinct words of a hint in lower case, in their order."""
    return list(dict.fromkeys(_WORD.findall(hint.lower())))[:_WORDS]


def _pieces(word: str) -> list[str]:
    """Runs of letters of a word: a slip of the pen spoils some of them, not all."""
    if len(word) <= _PIECE:
        return [word]
    return [word[start : start + _PIECE] for start in range(len(word) - _PIECE + 1)]


def _lucene(hint: str, words: Sequence[str], *, fuzzy: bool) -> str:
    """A query of Lucene's parser: the hint as it stands, in quotes, and its words with slips of the pen.

    In quotes only a quote and a backslash are signs to the parser; words are letters and digits in lower case alone.
    """
    phrase = '"' + hint.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if not fuzzy:
        return phrase
    return " OR ".join(
        (f"{phrase}^8", *(f"{word}^4 OR {word}~{_slips(word)}" for word in words if word), *_begun(words))
    )


def _begun(words: Sequence[str]) -> list[str]:
    """The last word may be one that was only begun; of a short one too many words are the rest."""
    return [f"{word}*" for word in words[-1:] if len(word) > _PIECE]


def _slips(word: str) -> int:
    return 0 if len(word) < 3 else 1 if len(word) < 5 else 2


def _likeness(hint: str, name: str) -> float:
    """1 for the very name, 0 where nothing is alike."""
    if name == hint:
        return 1.0
    if name.casefold() == hint.casefold():
        return _SAME_LETTERS
    asked, given = _folded(hint), _folded(name)
    if asked == given:
        return _SAME_BUT_ACCENTS
    whole = OSA.normalized_similarity(asked, given)
    in_any_order = 0.98 * fuzz.token_sort_ratio(asked, given) / 100
    in_part = (whole + fuzz.WRatio(asked, given) / 100) / 2
    return _MOST_ALIKE * max(whole, in_any_order, in_part)
