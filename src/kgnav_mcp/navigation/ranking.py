"""Relations ranked by a question (GraphWalker, relation retrieval: BM25 against the question's words).

A ranker is a callable, so that stronger ones can replace the default (`kgnav_mcp.rankers`). BM25 is SQLite's own
(FTS5's `bm25()`, Okapi with k1 = 1.2 and b = 0.75) over Porter stems: it is in every Python and needs no array library
at start-up. Ties keep the order of the given relations.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol

from kgnav_mcp.model import Entity, RelationFacts

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


def words(text: str) -> list[str]:
    """The lower-case words of an id or a sentence: `people.person.placeOfBirth_2` gives people, person, place, ...

    Letters outside ASCII stay together, so that names in any script are words.
    """
    return [match.lower() for match in _WORD.findall(text)]


_TABLE = "CREATE VIRTUAL TABLE relation USING fts5 (id_words, other_words, tokenize = 'porter unicode61')"
_INSERT = "INSERT INTO relation (rowid, id_words, other_words) VALUES (?, ?, ?)"
_RANKED = "SELECT rowid FROM relation WHERE relation MATCH ? ORDER BY bm25(relation, 2.0, 1.0), rowid"
"""Costs one look-up in a word list for each word of the question. Words of the relation's id and label count double:
they are its meaning; words of examples only illustrate it."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Relations, best first; only the first `matching` ones match the question.

    `note` says so if the configured ranker could not be used.
    """

    relations: tuple[RelationFacts, ...]
    matching: int
    note: str = ""


class Ranker(Protocol):
    """Orders relations by how well they match a question, best first.

    It returns all of them; ties keep the given order. `thought` is the client's last thought (GraphWalker, appendix H),
    empty if unknown; only some rankers use it.
    """

    async def __call__(
        self, question: str, anchor: Entity | None, relations: Sequence[RelationFacts], *, thought: str = ""
    ) -> Ranking: ...


async def bm25(
    question: str, anchor: Entity | None, relations: Sequence[RelationFacts], *, thought: str = ""
) -> Ranking:
    """Rank by BM25; relations without a common word follow in the given order."""
    del thought
    query = list(dict.fromkeys(words(without_own_name(question, anchor))))
    if not query or not relations:
        return Ranking(tuple(relations), 0)
    with closing(sqlite3.connect(":memory:")) as index:
        index.execute(_TABLE)
        index.executemany(
            _INSERT, ((n, " ".join(_id_words(facts)), _example_words(facts)) for n, facts in enumerate(relations))
        )
        match = " OR ".join(f'"{word}"' for word in query)
        best = [rowid for (rowid,) in index.execute(_RANKED, (match,))]
    rest = sorted(set(range(len(relations))) - set(best))
    return Ranking(tuple(relations[n] for n in (*best, *rest)), len(best))


def without_own_name(question: str, anchor: Entity | None) -> str:
    """The question without the words of the anchor's name, which match relations by accident."""
    own_name = set(words(anchor.label or "")) if anchor else set[str]()
    return " ".join(word for word in words(question) if word not in own_name)


def _id_words(facts: RelationFacts) -> list[str]:
    return list(dict.fromkeys(words(facts.relation.id) + words(facts.relation.label)))


def _example_words(facts: RelationFacts) -> str:
    named = (node for node in facts.examples if isinstance(node, Entity))
    return " ".join(word for node in named for word in words(" ".join((node.label or "", *node.types))))
