"""Finding entities by name, misspelt ones too.

With a full-text index the words are looked up in it, each as it stands, as a beginning, and with slips of the pen.
Labels with names that no index holds are scanned up to a bound, and names are compared by the pieces they share with
the hint. What was found is scored here, the same way for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from kgnav_mcp.adapters.candidates import Candidates, first_page
from kgnav_mcp.adapters.cypher import queries
from kgnav_mcp.adapters.cypher.builder import labelled
from kgnav_mcp.adapters.cypher.catalogue import Catalogue
from kgnav_mcp.adapters.cypher.entities import Anchor, Entities, NodeRow
from kgnav_mcp.adapters.cypher.values import encodable
from kgnav_mcp.adapters.likeness import ALIAS, DESCRIPTION, ID, NAME, WORD, bearers
from kgnav_mcp.adapters.plurals import in_other_numbers, other_numbers
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Candidate, Count, Direction, Entity, Namesake, Page, Stop

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


@dataclass(frozen=True, slots=True)
class _Hits:
    """Nodes that may be meant, with their degrees, and whether some were left out."""

    rows: list[tuple[NodeRow, int]]
    stop: Stop = Stop.COMPLETE


class Linker:
    """Answers `named` and `find`."""

    def __init__(self, entities: Entities) -> None:
        self._session = entities.session
        self._catalogue = entities.catalogue
        self._entities = entities
        both = {f"{side}_degree": self._session.builder.degree(side) for side in Direction}
        self._degree = {"degree_with_values": self._session.builder.fill(queries.DEGREE_WITH_VALUES, **both)}

    async def named(self, name: str, limit: int) -> Page[Namesake]:
        """Entities with this very name, letter case aside; by alias if none has it, then by the value of their key."""
        name = encodable(name[:_LONGEST])
        if not name.strip():
            return Page((), (), Count(0))
        hits = await self._hits(name, None, fuzzy=False)
        decode = self._entities.decoder.entity
        found_nodes = [(decode(node), node) for node, _ in hits.rows]
        known = {entity.id: entity for entity, _ in found_nodes}
        texts = [(entity.id, kind, 0, text) for entity, node in found_nodes for kind, text in self._texts(node)]
        found = bearers(name, texts)
        if not found:
            known = {anchor.entity.id: anchor.entity for anchor in await self._by_key(name)}
            found = bearers(name, ((identity, ID, 0, name) for identity in known))
        order = sorted(found, key=lambda identity: (found[identity][0], identity))
        namesakes = ((identity, Namesake(known[identity], found[identity][1])) for identity in order[:limit])
        return first_page(namesakes, len(order), limit, hits.stop)

    async def find(self, hint: str, label: str | None, limit: int) -> Page[Candidate]:
        """Candidates by score, then by degree, then by id. The degree counts rows in both directions.

        Raises:
            UnknownName: the graph has no such label.
        """
        hint = encodable(hint.strip()[:_LONGEST])
        if label is not None:
            label = (await self._catalogue.with_names(label)).label(label)
        candidates = Candidates[str](hint)
        known: dict[str, tuple[Entity, int]] = {}

        def wanted(entity: Entity, degree: int) -> bool:
            known.setdefault(entity.id, (entity, degree))
            return label is None or label in entity.types

        for anchor in await self._by_key(hint) if hint else ():
            if wanted(anchor.entity, anchor.row[1]):
                candidates.add(anchor.entity.id, hint, ID)
        for anchor in await self._anchors([hint]):
            if wanted(anchor.entity, anchor.row[1]):
                candidates.add_given(anchor.entity.id, hint)
        hits = await self._hits(hint, label, fuzzy=True) if hint else _Hits([])
        for node, degree in hits.rows:
            entity = self._entities.decoder.entity(node)
            if wanted(entity, degree):
                for kind, text in self._texts(node):
                    candidates.add(entity.id, text, kind)
        order = candidates.best_first(lambda identity: (-known[identity][1], identity))
        order = [identity for identity in order if candidates[identity].score]
        items = (
            (identity, Candidate(known[identity][0], *candidates[identity], Count(known[identity][1])))
            for identity in order[:limit]
        )
        return first_page(items, len(order), limit, hits.stop)

    async def _by_key(self, value: str) -> list[Anchor]:
        """The nodes that this value identifies, whatever their label: an id without what stands before the value."""
        return await self._anchors([f"{label}:{key}={value}" for label, key in self._catalogue.current.ids])

    async def _anchors(self, references: Sequence[str]) -> list[Anchor]:
        return await self._entities.anchors(references, queries.NODES_WITH_DEGREE, self._degree)

    async def _hits(self, hint: str, label: str | None, *, fuzzy: bool) -> _Hits:
        """Nodes with names like a hint: from the indexes, and from the labels that have names but no index."""
        catalogue = self._catalogue.current
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
        return _Hits(list(rows.values()), _stop(all(answer.stop is Stop.COMPLETE for answer in answers)))

    async def _look_up(self, index: str, words: str, label: str | None) -> _Hits:
        rows = await self._session.items(
            queries.FULL_TEXT,
            self._degree,
            index=index,
            words=words,
            label=label,
            hits=_HITS if label is None else _HITS * _OTHER_LABELS,
            most=_HITS,
            described=self._keys,
        )
        return _Hits(rows, _stop(len(rows) < _HITS))

    async def _scan(self, hint: str, label: str | None, *, fuzzy: bool) -> _Hits:
        catalogue = self._catalogue.current
        pieces = sorted({piece for word in _words(hint) for piece in _pieces(word)}) if fuzzy else []
        rows = await self._session.items(
            queries.SCAN,
            {"label": labelled(label), **self._degree},
            keys=list(_searched(catalogue)),
            name=hint,
            names=[text.lower() for text in (hint, *(in_other_numbers(hint) if fuzzy else ()))],
            pieces=pieces,
            exact=_EXACT,
            scanned=_SCANNED,
            most=_HITS,
            described=self._keys,
        )
        size = catalogue.labels.get(label, 0) if label is not None else catalogue.nodes
        return _Hits(rows, _stop(len(rows) < _HITS and size <= _SCANNED))

    @property
    def _keys(self) -> list[str]:
        """The keys that are read of nodes: what describes an entity, then aliases."""
        return [*self._entities.decoder.described, *self._catalogue.current.alias_keys]

    def _texts(self, node: NodeRow) -> list[tuple[int, str]]:
        """The names, aliases and descriptions of a node; the items of a list each by itself."""
        catalogue = self._catalogue.current
        found: list[tuple[int, str]] = []
        for key, value in zip(self._keys, cast("list[Any]", node[2]), strict=False):
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


def _stop(complete: bool) -> Stop:
    return Stop.COMPLETE if complete else Stop.LIMIT


def _searched(catalogue: Catalogue) -> tuple[str, ...]:
    return (*catalogue.name_keys, *catalogue.alias_keys, *catalogue.description_keys)


def _words(hint: str) -> list[str]:
    """The distinct words of a hint in lower case, in their order."""
    return list(dict.fromkeys(WORD.findall(hint.lower())))[:_WORDS]


def _pieces(word: str) -> list[str]:
    """Runs of letters of a word: a slip of the pen spoils some of them, not all."""
    if len(word) <= _PIECE:
        return [word]
    return [word[start : start + _PIECE] for start in range(len(word) - _PIECE + 1)]


def _lucene(hint: str, words: Sequence[str], *, fuzzy: bool) -> str:
    """A query of Lucene's parser: the hint as it stands, in quotes, and its words with slips of the pen.

    In quotes only a quote and a backslash are signs to the parser; words are letters and digits in lower case alone.
    """
    if not fuzzy:
        return _phrase(hint)
    phrases = (_phrase(text) for text in (hint, *in_other_numbers(hint)))
    near = (" OR ".join((f"{word}^4", f"{word}~{_slips(word)}", *other_numbers(word))) for word in words)
    return " OR ".join((*(f"{phrase}^8" for phrase in phrases), *near, *_begun(words)))


def _phrase(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _begun(words: Sequence[str]) -> list[str]:
    """The last word may be one that was only begun; of a short one too many words are the rest."""
    return [f"{word}*" for word in words[-1:] if len(word) > _PIECE]


def _slips(word: str) -> int:
    return 0 if len(word) < 3 else 1 if len(word) < 5 else 2
