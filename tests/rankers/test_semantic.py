"""Relations are ranked by meaning, outside the event loop, the same at every call."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from kgnav_mcp.model import Entity
from kgnav_mcp.rankers.semantic import SemanticRanker, relation_text
from tests.rankers.relations import ANCHOR, IDS, RELATIONS, facts

TOPICS = (("birth", "born", "place"), ("film", "movie"), ("spouse", "wife", "marriage"), ("profession", "job"))


class Meanings:
    """Embeds by topic instead of by a model; counts what it was asked, and where."""

    def __init__(self) -> None:
        self.texts: Counter[str] = Counter()
        self.threads: set[int] = set()
        self.loads = 0

    def load(self) -> Meanings:
        self.loads += 1
        return self

    def __call__(self, text: str) -> NDArray[np.float32]:
        self.texts[text] += 1
        self.threads.add(threading.get_ident())
        vector = np.array([sum(word in topic for word in text.split()) for topic in TOPICS] + [0.1], dtype=np.float32)
        return (vector / np.linalg.norm(vector)).astype(np.float32)


@pytest.fixture
def meanings() -> Meanings:
    return Meanings()


@pytest.fixture
def ranker(meanings: Meanings) -> SemanticRanker:
    return SemanticRanker(meanings.load)


async def ranked(ranker: SemanticRanker, question: str, anchor: Entity | None = ANCHOR) -> list[str]:
    return [found.relation.id for found in (await ranker(question, anchor, RELATIONS)).relations]


async def test_a_relation_is_found_by_words_it_does_not_have(ranker: SemanticRanker) -> None:
    assert (await ranked(ranker, "Who is his wife?"))[0] == "people.person.spouse_s.people.marriage.spouse"
    assert (await ranked(ranker, "What is his job?"))[0] == "people.person.profession"


async def test_ties_keep_the_order_they_came_in_and_no_relation_is_lost(ranker: SemanticRanker) -> None:
    alike = [facts(name) for name in ("zeta", "film", "alpha", "mid", "job", "beta")]
    for relations in (alike, alike[::-1]):
        found = (await ranker("a job", None, relations)).relations
        unlike = [entry.relation.id for entry in relations if entry.relation.id not in {"job", "film"}]
        assert [entry.relation.id for entry in found] == ["job", *unlike, "film"]
        assert (await ranker("a job", None, relations)).relations == found
    assert (await ranker("anything", None, [])).relations == ()


async def test_the_anchors_own_name_says_nothing_about_the_relation(ranker: SemanticRanker) -> None:
    assert (await ranked(ranker, "wife in Movie", Entity("m.1", "Movie")))[0].endswith("marriage.spouse")


async def test_a_question_that_is_only_the_anchors_name_is_still_answered(ranker: SemanticRanker) -> None:
    assert sorted(await ranked(ranker, "Barack Obama")) == sorted(IDS)
    assert sorted(await ranked(ranker, "???")) == sorted(IDS)


async def test_relations_are_embedded_once_and_every_question_anew(ranker: SemanticRanker, meanings: Meanings) -> None:
    for _ in range(3):
        await ranked(ranker, "his job")
    assert meanings.loads == 1
    assert meanings.texts["his job"] == 3
    assert {meanings.texts[relation_text(relation)] for relation in RELATIONS} == {1}


async def test_the_vectors_kept_are_bounded(meanings: Meanings) -> None:
    ranker = SemanticRanker(meanings.load, remembered=2)
    assert await ranked(ranker, "his job") == await ranked(ranker, "his job")
    assert meanings.texts[relation_text(RELATIONS[0])] == 2, "the first was given up"
    assert meanings.texts[relation_text(RELATIONS[-1])] == 1, "the last was kept"


async def test_nothing_is_loaded_or_embedded_on_the_event_loops_thread(
    ranker: SemanticRanker, meanings: Meanings
) -> None:
    await asyncio.gather(*(ranked(ranker, f"question {n}") for n in range(5)))
    assert meanings.loads == 1
    assert threading.get_ident() not in meanings.threads


async def test_a_failed_load_is_tried_again(meanings: Meanings) -> None:
    failures = [OSError("no memory")]

    def load() -> Meanings:
        if failures:
            raise failures.pop()
        return meanings.load()

    ranker = SemanticRanker(load)
    with pytest.raises(OSError, match="no memory"):
        await ranked(ranker, "his job")
    assert (await ranked(ranker, "his job"))[0] == "people.person.profession"


@pytest.mark.parametrize(
    ("relation", "label", "text"),
    [
        ("people.person.place_of_birth", "place of birth", "people person place of birth"),
        ("directed_by", "directed by", "directed by"),
        ("wdt:P19", "place of birth", "place of birth"),
        ("http://dbpedia.example/ontology/birthPlace", "birth place", "birth place"),
        ("P19", "出生地", "出生地"),
        ("???", "???", "???"),
    ],
)
def test_a_relation_is_read_by_whichever_of_id_and_label_says_more(relation: str, label: str, text: str) -> None:
    assert relation_text(facts(relation, label)) == text
