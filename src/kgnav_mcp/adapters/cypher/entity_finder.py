"""Finding entities by name, even if it is misspelt.

In a full-text index, each word of the hint is looked up as it is, as a prefix, and with small spelling mistakes. Labels
whose names are in no index are scanned up to a bound, comparing names by the trigrams that they share with the hint.
All hits are scored here, in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

from kgnav_mcp.adapters.candidates import Candidates, first_page
from kgnav_mcp.adapters.cypher import queries
from kgnav_mcp.adapters.cypher.builder import labelled
from kgnav_mcp.adapters.cypher.entities import Entities
from kgnav_mcp.adapters.cypher.names import MAX_HITS, MAX_NAME_LENGTH, MAX_SCANNED, Hits, NameReader, phrase
from kgnav_mcp.adapters.ids.prefixes import encodable
from kgnav_mcp.adapters.likeness import ID, WORD
from kgnav_mcp.adapters.plurals import plural_variants, singular_or_plural_forms
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Candidate, Count, Entity, Page

_MAX_WORDS = 12
"""The most words of a hint that are searched for: a hint is a name, not a paragraph."""
_LABEL_FACTOR = 20
"""With a label, this many times more hits of an index are read, as it may cover other labels too."""
_TRIGRAM = 3
EXACT_SCORE = 1_000
"""The score of an exact name in a scan: more than any number of shared trigrams."""


class EntityFinder:
    """Answers the verb `find`."""

    def __init__(self, entities: Entities, names: NameReader) -> None:
        self._session = entities.session
        self._catalogue = entities.catalogue
        self._entities = entities
        self._names = names

    async def find(self, hint: str, label: str | None, limit: int) -> Page[Candidate]:
        """Candidates sorted by score, then by degree, then by id. The degree counts rows in both directions.

        Raises:
            UnknownName: the graph has no such label.
        """
        hint = encodable(hint.strip()[:MAX_NAME_LENGTH])
        if label is not None:
            label = (await self._catalogue.with_names(label)).resolve_label(label)
        candidates = Candidates[str](hint, is_id=bool(self._entities.lookups([hint])))
        known: dict[str, tuple[Entity, int]] = {}

        def wanted(entity: Entity, degree: int) -> bool:
            known.setdefault(entity.id, (entity, degree))
            return label is None or label in entity.types

        for anchor in (await self._names.by_key([hint]))[hint] if hint else ():
            if wanted(anchor.entity, anchor.row[1]):
                candidates.add(anchor.entity.id, hint, ID)
        for anchor in await self._entities.anchors([hint], queries.NODES_WITH_DEGREE, self._names.degree):
            if wanted(anchor.entity, anchor.row[1]):
                candidates.add_by_id(anchor.entity.id, hint)
        hits = await self._hits(hint, label) if hint else Hits()
        for node, degree in hits.rows:
            entity = self._entities.decoder.entity(node)
            if wanted(entity, degree):
                for kind, text in self._names.texts(node):
                    candidates.add(entity.id, text, kind)
        order = candidates.best_first(lambda identity: (-known[identity][1], identity))
        order = [identity for identity in order if candidates[identity].score]
        items = (
            (identity, Candidate(known[identity][0], *candidates[identity], Count(known[identity][1])))
            for identity in order[:limit]
        )
        return first_page(items, len(order), limit, hits.stop)

    async def _hits(self, hint: str, label: str | None) -> Hits:
        """Nodes with names similar to the hint: from the full-text indexes, and by scanning labels without one."""
        words = words_of(hint)
        indexes, unindexed = self._names.indexes_and_labels(words=bool(words), label=label)
        question, most = _lucene_query(hint, words), MAX_HITS if label is None else MAX_HITS * _LABEL_FACTOR
        return Hits.merged(
            await gathered(
                *(self._names.look_up(index.name, question, MAX_HITS, label=label, hits=most) for index in indexes),
                *(self.scan(hint, name) for name in unindexed),
            )
        )

    async def scan(self, hint: str, label: str | None) -> Hits:
        """Nodes of a label (None: of any) with names that share trigrams with the hint."""
        rows = await self._session.items(
            queries.SCAN,
            {"label": labelled(label), **self._names.degree},
            keys=self._names.searched,
            name=hint,
            names=[text.lower() for text in (hint, *plural_variants(hint))],
            pieces=sorted({piece for word in words_of(hint) for piece in trigrams(word)}),
            exact=EXACT_SCORE,
            scanned=MAX_SCANNED,
            most=MAX_HITS,
            described=self._names.described,
        )
        return self._names.scanned(rows, label, MAX_HITS)


def words_of(hint: str) -> list[str]:
    """The distinct words of a hint in lower case, in their order."""
    return list(dict.fromkeys(WORD.findall(hint.lower())))[:_MAX_WORDS]


def trigrams(word: str) -> list[str]:
    """The trigrams of a word. A spelling mistake changes some of them, but not all."""
    if len(word) <= _TRIGRAM:
        return [word]
    return [word[start : start + _TRIGRAM] for start in range(len(word) - _TRIGRAM + 1)]


def _lucene_query(hint: str, words: Sequence[str]) -> str:
    """A query for Lucene's parser: the hint as a phrase, or its words with small spelling mistakes.

    Words consist only of lower-case letters and digits, so they need no escaping.
    """
    phrases = (phrase(text) for text in (hint, *plural_variants(hint)))
    word_queries = (
        " OR ".join((f"{word}^4", f"{word}~{_max_edits(word)}", *singular_or_plural_forms(word))) for word in words
    )
    return " OR ".join((*(f"{phrase}^8" for phrase in phrases), *word_queries, *_prefix_queries(words)))


def _prefix_queries(words: Sequence[str]) -> list[str]:
    """A prefix query for the last word, which may be incomplete. Empty for a short word: too many words begin so."""
    return [f"{word}*" for word in words[-1:] if len(word) > _TRIGRAM]


def _max_edits(word: str) -> int:
    return 0 if len(word) < 3 else 1 if len(word) < 5 else 2
