"""Relations are ranked by the words they share with a question."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kgnav_mcp.model import Count, Direction, Entity, Page, Relation, RelationFacts
from kgnav_mcp.navigation.relation_lists import bm25
from kgnav_mcp.navigation.relation_lists import rank_relations as in_order

IDS = (
    "people.person.profession",
    "people.person.place_of_birth",
    "people.person.children",
    "people.person.spouse_s.people.marriage.spouse",
    "film.actor.film",
    "birthName",
)


def facts(relation: str) -> RelationFacts:
    named = Relation(relation, relation.rpartition(".")[2].replace("_", " "))
    return RelationFacts(named, Direction.OUTGOING, Count(1), (named,))


RELATIONS = [facts(relation) for relation in IDS]


async def ranked(question: str, anchor: Entity | None = None) -> list[str]:
    return [found.relation.id for found in (await bm25(question, anchor, RELATIONS)).relations]


async def test_the_relation_the_question_names_comes_first() -> None:
    assert (await ranked("What is the place of birth of Obama?"))[0] == "people.person.place_of_birth"
    assert (await ranked("birth name"))[0] == "birthName"


async def test_word_forms_match_by_their_stem() -> None:
    assert (await ranked("which professions"))[0] == "people.person.profession"
    assert (await ranked("which films"))[0] == "film.actor.film"


async def test_every_relation_is_kept_and_the_order_is_the_same_each_time() -> None:
    first = await ranked("spouse")
    assert sorted(first) == sorted(IDS)
    assert first == await ranked("spouse")


async def test_without_a_common_word_the_order_is_kept() -> None:
    assert await ranked("xyzzy") == list(IDS)
    assert await ranked("???") == list(IDS)


async def test_the_name_of_the_anchor_says_nothing_about_the_relation() -> None:
    film = Entity("m.1", "Film")
    assert (await ranked("Film profession", film))[0] == "people.person.profession"


async def test_a_question_cannot_speak_the_index_language() -> None:
    assert sorted(await ranked('NOT "birth" OR * ) -- NEAR( ^')) == sorted(IDS)


async def test_it_is_known_how_many_relations_match() -> None:
    assert (await bm25("place of birth", None, RELATIONS)).matching == 2
    assert (await bm25("xyzzy", None, RELATIONS)).matching == 0
    assert (await bm25("???", None, RELATIONS)).matching == 0


@pytest.mark.parametrize(
    ("question", "order", "matching"),
    [
        ("xyzzy", ["film.actor.film", "birthName", "people.person.children"], 0),
        ("birth", ["birthName", "people.person.place_of_birth", "film.actor.film"], 2),
        ("person", ["people.person.children", "people.person.profession", "people.person.place_of_birth"], 4),
    ],
)
async def test_behind_what_matches_and_among_equals_most_rows_come_first(
    question: str, order: list[str], matching: int
) -> None:
    rows = {"film.actor.film": 90, "birthName": 80, "people.person.children": 70, "people.person.profession": 60}
    found = [replace(each, count=Count(rows.get(each.relation.id, 1))) for each in RELATIONS]
    page = Page(tuple(found), tuple(map(str, range(len(found)))), Count(len(found)))
    listed = (await in_order(page, question, Entity("m.1"), bm25, None)).items
    assert [facts.relation.id for facts in listed][:3] == order
    assert [facts.matches for facts in listed] == [n < matching for n in range(len(found))]
