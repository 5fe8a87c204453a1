"""Lists of the relations at entities: filtered, ranked by a question, and paged.

A question ranks as in GraphWalker's relation retrieval: BM25 against the question's words. A ranker is a callable, so
that stronger ones can replace the default (`kgnav_mcp.rankers`). BM25 is SQLite's own (FTS5's `bm25()`, Okapi with
k1 = 1.2 and b = 0.75) over Porter stems: it is in every Python and needs no array library at start-up. Ties keep the
order of the given relations.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Protocol

from kgnav_mcp.errors import InvalidCursor
from kgnav_mcp.model import AnchoredPage, Direction, Entity, Page, Relation, RelationFacts, Stop
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.pages import page_after, select
from kgnav_mcp.port import Capability, FarEndKind, GraphAdapter


def single_relation(facts: Page[RelationFacts]) -> Relation | None:
    """The only relation of a list, or None. None also if it leads to mediators with several two-hop relations."""
    one_hop = [fact.relation for fact in facts.items if len(fact.hops) == 1]
    is_single = len(one_hop) == 1 and len(facts.items) <= 2
    return one_hop[0] if is_single and facts.stop is Stop.COMPLETE else None


async def relation_facts(
    graph: GraphAdapter,
    ids: Sequence[str],
    direction: Direction | None,
    *,
    hops: int = 2,
    examples: int = 0,
    hidden: bool = False,
    far_end_kind: FarEndKind | None = None,
    limits: Limits,
) -> AnchoredPage[RelationFacts]:
    """The distinct relations of entities; with `hops` 2 also the two-hop ones through mediators.

    Hidden relations, which are shown only when asked for by name, are left out and counted in the page's note. With
    `hidden` they are included. With `far_end_kind` only rows that lead to such ends count.
    """
    hops = min(hops, hops_of(graph, flatten=limits.flatten))
    page = await graph.relations(
        ids, direction, hops=hops, far_end_kind=far_end_kind, examples=examples, limit=limits.relation_limit
    )
    page = without_classes(page, graph)
    return page if hidden else without_hidden(page)


def hops_of(graph: GraphAdapter, *, flatten: bool = True) -> int:
    """The largest number of hops of a relation in this graph: 2 if it has mediators to flatten, otherwise 1."""
    return 2 if flatten and Capability.MEDIATORS in graph.capabilities else 1


_TWO_PREFIXED = re.compile(r"([^:./]+:(?!//)[^:.]+)\.([^:./]+:[^:.]+)")
_TWO_OF_THREE_PARTS = re.compile(r"(\w+\.\w+\.\w+)\.(\w+\.\w+\.\w+)")
_BRACKETED_AND_ANY = re.compile(r"(<[^<>\s]+>)\.(<[^<>\s]+>|[^<>\s]+)")
_ANY_AND_BRACKETED = re.compile(r"([^<>\s]+)\.(<[^<>\s]+>)")
_IRI_AND_ANY = re.compile(r"([^<>\s]*?:[^<>\s]*?)\.([^<>\s/:.]*:(?!\d)[^<>\s]+)")
"""Both are divided before a prefix or scheme: a dot in a host name is followed by a slash or a port."""
_TWO_HOPS = (_TWO_PREFIXED, _TWO_OF_THREE_PARTS, _BRACKETED_AND_ANY, _ANY_AND_BRACKETED, _IRI_AND_ANY)


def likely_path(relation: str) -> tuple[str, ...]:
    """The relation path that an id most likely means: two hops if both halves look like ids, otherwise one.

    Freebase's relations have three parts; other ids in a graph with two-hop relations have prefixes or are IRIs, with
    or without angle brackets.
    """
    relation = relation.strip()
    matches = (halves for form in _TWO_HOPS if (halves := form.fullmatch(relation)))
    return next(((halves[1], halves[2]) for halves in matches), (relation,))


def without_classes(page: AnchoredPage[RelationFacts], graph: GraphAdapter) -> AnchoredPage[RelationFacts]:
    """The relations without those that lead through a mediator to its class. A mediator's class is not a role."""
    classes = graph.class_relations
    keep = [
        len(facts.hops) == 1 or facts.direction is Direction.INCOMING or facts.hops[-1].id not in classes
        for facts in page.items
    ]
    return page if all(keep) else select(page, keep)


def without_hidden(page: AnchoredPage[RelationFacts]) -> AnchoredPage[RelationFacts]:
    """The page without hidden relations, which are shown only when asked for by name; the note counts them."""
    left_out = [facts.relation.id for facts in page.items if facts.hidden]
    if not left_out:
        return page
    example = min(left_out, key=lambda name: (len(name), name))
    note = f"{len(left_out):,} relations to external identifiers are hidden. Name one to show it, such as {example}."
    shown = select(page, [not facts.hidden for facts in page.items])
    return replace(shown, note=" ".join(filter(None, (page.note, note))))


async def rank_relations(
    facts: Page[RelationFacts], question: str | None, anchor: Entity | None, ranker: Ranker, after: str | None
) -> Page[RelationFacts]:
    """The relations after the position `after`, ranked by the question; in their own order without a question.

    `anchor` is the entity of the relations, if there is only one. Relations that match the question equally well, or
    not at all, are ordered by their number of rows, largest first.

    A position includes a fingerprint of the order. If the order has changed, the next page could repeat some relations
    and omit others.

    Raises:
        InvalidCursor: the relations are no longer in that order.
    """
    if not question:
        return replace(page_after(facts.items, after, facts.stop), note=facts.note)
    most_rows_first = sorted(facts.items, key=lambda fact: -fact.count.value)
    ranking = await ranker(question, anchor, most_rows_first)
    matching = [replace(fact, matches=True) for fact in ranking.relations[: ranking.matching]]
    relations = (*matching, *ranking.relations[ranking.matching :])
    order = _fingerprint(relations)
    start, _, cursor_order = (after or f"0@{order}").partition("@")
    if cursor_order != order:
        raise InvalidCursor(
            "the order of the relations has changed since this cursor was made",
            next_step="Repeat the call without the cursor to start again.",
        )
    page = page_after(relations, start, facts.stop)
    note = " ".join(filter(None, (ranking.note, facts.note)))
    return replace(page, positions=tuple(f"{place}@{order}" for place in page.positions), note=note)


def _fingerprint(relations: Sequence[RelationFacts]) -> str:
    listed = "\n".join(f"{facts.direction} {facts.relation.id}" for facts in relations)
    return blake2b(listed.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


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
