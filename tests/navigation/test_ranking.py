"""Relations are ranked by the words they share with a question."""

from __future__ import annotations

from kgnav_mcp.model import Count, Direction, Entity, Relation, RelationFacts
from kgnav_mcp.navigation.ranking import bm25

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
