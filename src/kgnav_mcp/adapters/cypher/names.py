"""Names of nodes: the keys and indexes that contain them, the names of a node, and exact look-up of many names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from kgnav_mcp.adapters.candidates import (
    ALIAS,
    DESCRIPTION,
    ID,
    NAME,
    WORD,
    Candidates,
    Rank,
    entities_named,
    first_page,
    plural_variants,
    singular_or_plural_forms,
)
from kgnav_mcp.adapters.cypher import queries
from kgnav_mcp.adapters.cypher.catalogue import FullText
from kgnav_mcp.adapters.cypher.entities import Anchor, Entities, NodeRow, relation_of
from kgnav_mcp.adapters.cypher.session import labelled, quoted
from kgnav_mcp.adapters.ids.prefixes import encodable
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Candidate, Count, Direction, Entity, Namesake, Page, Stop, ValueMatch
from kgnav_mcp.port.lists import batches

MAX_HITS = 100
"""Maximum number of nodes returned for one name."""
MAX_SCANNED = 200_000
"""Maximum number of nodes of a label that are scanned if its names are in no index."""
MAX_NAME_LENGTH = 1_000
"""Maximum number of characters of a name that are used; the rest is ignored."""
_NAMES_PER_QUERY = 100
"""Names that are looked up in an index by one query."""


@dataclass(frozen=True, slots=True)
class Hits:
    """Nodes that a name may mean, each with its degree. `stop` is LIMIT if there may be others."""

    rows: Sequence[tuple[NodeRow, int]] = ()
    stop: Stop = Stop.COMPLETE

    @classmethod
    def merged(cls, answers: Sequence[Hits]) -> Hits:
        """Several results merged into one, without duplicates."""
        rows = {row[0][0]: row for answer in answers for row in answer.rows}
        return cls(list(rows.values()), Stop.first(answer.stop for answer in answers))


class NameReader:
    """Answers the verb `find_by_names`."""

    def __init__(self, entities: Entities) -> None:
        self._session = entities.session
        self._catalogue = entities.catalogue
        self._entities = entities
        both = {f"{side}_degree": self._session.builder.degree(side) for side in Direction}
        self.degree = {"degree_with_values": self._session.builder.fill(queries.DEGREE_WITH_VALUES, **both)}

    async def named_each(self, names: Sequence[str], limit: int) -> dict[str, Page[Namesake]]:
        """The entities with exactly each name, ignoring letter case. Aliases count if no name matches, then id keys."""
        search_texts = {name: encodable(name[:MAX_NAME_LENGTH]) for name in names}
        wanted = list(dict.fromkeys(text for text in search_texts.values() if text.strip()))
        hits = await self._exact(wanted) if wanted else Hits()
        known = {node[0]: self._entities.decoder.entity(node) for node, _ in hits.rows}
        texts: dict[str, list[tuple[str, int, int, str]]] = defaultdict(list)
        for node, _ in hits.rows:
            for kind, text in self.texts(node):
                texts[text.casefold()].append((node[0], kind, 0, text))
        found = {text: entities_named(text, texts[text.casefold()]) for text in wanted}
        for text, anchors in (await self.by_key([text for text in wanted if not found[text]])).items():
            known |= {one.node_id: one.entity for one in anchors}
            found[text] = entities_named(text, ((one.node_id, ID, 0, text) for one in anchors))
        return {name: _page(found.get(text, {}), known, limit, hits.stop) for name, text in search_texts.items()}

    async def with_values(self, values: Sequence[str], limit: int) -> dict[str, list[ValueMatch]]:
        """The first nodes that have each text, or the IRI that it means, as the value of a property.

        In a graph with few nodes all properties are read, in a larger one those with an index.
        """
        forms = {text: {text, *self._entities.iri_forms(text)} for text in values if encodable(text) == text}
        catalogue, decoder = self._catalogue.current, self._entities.decoder
        indexed = [
            queries.NODES_BY_INDEX.format(label=labelled(label), key=quoted(key))
            for label, key in sorted(catalogue.indexed)
        ]
        answers = await gathered(
            *(
                self._session.items(
                    queries.NODES_WITH_TEXT,
                    {"nodes": nodes},
                    texts=sorted(set[str]().union(*forms.values())),
                    scanned=MAX_SCANNED,
                    most=limit,
                    described=decoder.described_keys,
                )
                for nodes in ([queries.ALL_NODES] if catalogue.nodes <= MAX_SCANNED else indexed)
            )
        )
        found: dict[str, dict[tuple[str, str], ValueMatch]] = defaultdict(dict)
        for text, key, node in (row for rows in answers for row in rows):
            found[text][node[0], key] = ValueMatch(decoder.entity(node), relation_of(key))
        matches = {text: [one for form in sorted(own) for one in found[form].values()] for text, own in forms.items()}
        return {text: each[:limit] for text, each in matches.items() if each}

    async def by_key(self, values: Sequence[str]) -> dict[str, list[Anchor]]:
        """The nodes, of any label, whose id key has each value: the value is an id without its `Label:key=` prefix.

        An IRI matches in any of its forms.
        """
        ids = {
            value: [f"{label}:{key}={form}" for label, key in self._catalogue.current.id_keys for form in forms]
            for value in values
            for forms in ({value, *self._entities.iri_forms(value)},)
        }
        references = [reference for references_of_value in ids.values() for reference in references_of_value]
        found = await self._entities.find(references, queries.NODES_WITH_DEGREE, self.degree) if references else {}
        return {
            value: list({found[one].node_id: found[one] for one in candidates if one in found}.values())
            for value, candidates in ids.items()
        }

    def indexes_and_labels(self, *, words: bool, label: str | None = None) -> tuple[list[FullText], list[str | None]]:
        """The full-text indexes to query, and the labels to scan because no index covers them.

        Indexes are used only for names with `words`. Without any index all nodes are scanned, given as the label None.
        """
        catalogue = self._catalogue.current
        keys = set(self.searched)
        indexes = [index for index in catalogue.full_text if words and index.properties & keys]
        indexed_labels = {name for index in indexes for name in index.labels}
        if not indexes and label is None:
            return [], [None]
        return indexes, [name for name in catalogue.labels if name not in indexed_labels and label in (None, name)]

    @property
    def searched(self) -> list[str]:
        """The keys that are searched: names, aliases and descriptions."""
        catalogue = self._catalogue.current
        return [*catalogue.name_keys, *catalogue.alias_keys, *catalogue.description_keys]

    @property
    def described(self) -> list[str]:
        """The keys that are read of nodes: those of `entities`, then aliases."""
        return [*self._entities.decoder.described_keys, *self._catalogue.current.alias_keys]

    def texts(self, node: NodeRow) -> list[tuple[int, str]]:
        """The names, aliases and descriptions of a node as pairs of kind and text. List items are separate texts."""
        catalogue = self._catalogue.current
        found: list[tuple[int, str]] = []
        for key, value in zip(self.described, cast("list[Any]", node[2]), strict=False):
            items = cast("list[Any]", value) if isinstance(value, list) else [value]
            for kind, keys in (
                (DESCRIPTION, catalogue.description_keys),
                (NAME, catalogue.name_keys),
                (ALIAS, catalogue.alias_keys),
            ):
                if key in keys:
                    found += [(kind, item) for item in items if isinstance(item, str)]
                    break
        return found

    async def look_up(self, index: str, question: str, most: int, *, label: str | None = None, hits: int) -> Hits:
        """The nodes that a full-text index finds for a Lucene query: at most `most`, out of its first `hits` hits."""
        rows_of_hits = self._session.builder.subquery("hits", queries.ROWS_OF_HITS, **self.degree)
        found, rows = await self._session.row(
            queries.FULL_TEXT,
            {"rows_of_hits": rows_of_hits},
            index=index,
            words=question,
            label=label,
            hits=hits,
            most=most,
            described=self.described,
        )
        return Hits(rows, stop_reason(len(rows) < most and found < hits))

    def scanned(self, rows: Sequence[tuple[NodeRow, int]], label: str | None, most: int) -> Hits:
        """The result of scanning a label; complete if all its nodes were scanned."""
        catalogue = self._catalogue.current
        size = catalogue.labels.get(label, 0) if label is not None else catalogue.nodes
        return Hits(rows, stop_reason(len(rows) < most and size <= MAX_SCANNED))

    async def _exact(self, names: Sequence[str]) -> Hits:
        """Nodes that may have exactly one of these names, ignoring letter case."""
        with_words = [name for name in names if WORD.search(name)]
        others = [name for name in names if not WORD.search(name)]
        indexes, unindexed = self.indexes_and_labels(words=True)
        reads = [
            self._phrases(index.name, batch) for index in indexes for batch in batches(with_words, _NAMES_PER_QUERY)
        ]
        reads += [self.scan(label, with_words) for label in unindexed if with_words]
        reads += [self.scan(label, others) for label in self.indexes_and_labels(words=False)[1] if others]
        return Hits.merged(await gathered(*reads))

    async def _phrases(self, index: str, names: Sequence[str]) -> Hits:
        """The nodes that an index has for these names. If several names have too many hits, asks again by halves."""
        most = MAX_HITS * len(names)
        found = await self.look_up(index, " OR ".join(map(phrase, names)), most, hits=most)
        if found.stop is Stop.COMPLETE or len(names) == 1:
            return found
        half = len(names) // 2
        return Hits.merged(await gathered(self._phrases(index, names[:half]), self._phrases(index, names[half:])))

    async def scan(self, label: str | None, names: Sequence[str]) -> Hits:
        """Nodes of a label (None: of any) with exactly one of these names, ignoring letter case."""
        most = MAX_HITS * len(names)
        rows = await self._session.items(
            queries.SCAN_SAME,
            {"label": labelled(label), **self.degree},
            keys=self.searched,
            names=list(names),
            folded=[name.lower() for name in names],
            scanned=MAX_SCANNED,
            most=most,
            described=self.described,
        )
        return self.scanned(rows, label, most)


def _page(found: Mapping[str, tuple[Rank, str]], known: Mapping[str, Entity], limit: int, stop: Stop) -> Page[Namesake]:
    order = sorted(found, key=lambda node: (found[node][0], known[node].id))
    shown = [(known[node].id, Namesake(known[node], found[node][1])) for node in order[:limit]]
    return first_page(shown, len(order), limit, stop)


def stop_reason(complete: bool) -> Stop:
    """The stop reason of a list: COMPLETE or LIMIT."""
    return Stop.COMPLETE if complete else Stop.LIMIT


def phrase(text: str) -> str:
    """A text as a quoted phrase for Lucene's parser. Inside quotes, only quotes and backslashes need escaping."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


_MAX_WORDS = 12
"""The most words of a hint that are searched for: a hint is a name, not a paragraph."""
_LABEL_FACTOR = 20
"""With a label, this many times more hits of an index are read, as it may cover other labels too."""
_TRIGRAM = 3
EXACT_SCORE = 1_000
"""The score of an exact name in a scan: higher than any number of shared trigrams."""


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
