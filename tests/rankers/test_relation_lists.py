"""Freebase's internal relations are not offered where its list is chosen; what a question may be about always is."""

from __future__ import annotations

import gzip
import json

import pytest

from kgnav_mcp.app import App
from kgnav_mcp.config import Settings
from kgnav_mcp.navigation.limits import Limits
from tests.datasets import DATA

FB15K237 = DATA / "fb15k237"


def limits(white_list: tuple[str, ...] = (), black_list: tuple[str, ...] = ()) -> Limits:
    return App(Settings(relation_lists="freebase", white_list=white_list, black_list=black_list)).limits


def test_nothing_is_dropped_unless_a_list_is_chosen() -> None:
    assert App(Settings()).limits.offers("type.object.key")


@pytest.mark.parametrize(
    "relation",
    [
        "rdf:type",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
        "type.object.key",
        "type.object.permission",
        "people.person.spouse_s.type.object.type",
        "key.wikipedia.en",
        "freebase.valuenotation.is_reviewed",
        "dataworld.gardening_hint.split_to",
        "common.topic.webpage",
        "common.topic.webpage.common.webpage.category",
        "common.topic.article",
        "base.popstra.celebrity.dated.base.popstra.dated.participant",
        "user.jg.default_domain.olympic_games.sports",
    ],
)
def test_housekeeping_is_not_offered(relation: str) -> None:
    assert not limits().offers(relation)


@pytest.mark.parametrize(
    "relation",
    [
        "people.person.place_of_birth",
        "people.person.spouse_s.people.marriage.spouse",
        "baseball.baseball_team.team_stats.baseball.baseball_team_stats.season",
        "common.topic.description",
        "common.topic.notable_types",
        "base.aareas.schema.administrative_area.capital",
        "topic_server.population_number",
        "music.composition.key",
        "keyboard.instrument.key",
    ],
)
def test_what_a_question_may_be_about_is_offered(relation: str) -> None:
    assert limits().offers(relation)


def test_the_users_lists_come_before_the_shipped_one() -> None:
    assert not limits(black_list=("people.*",)).offers("people.person.gender")
    assert limits(white_list=("user.jg.*",)).offers("user.jg.default_domain.olympic_games.sports")
    assert not limits(white_list=("user.jg.*",)).offers("people.person.gender")
    assert not limits(white_list=("people.*",), black_list=("*.gender",)).offers("people.person.gender")


def test_a_two_hop_relation_is_judged_by_its_own_id() -> None:
    assert limits(white_list=("people.*",)).offers("people.person.spouse_s.people.marriage.spouse")
    assert not limits(black_list=("*.marriage.spouse",)).offers("people.person.spouse_s.people.marriage.spouse")


@pytest.mark.skipif(not FB15K237.is_dir(), reason=f"needs FB15k-237 in {FB15K237} (set KGNAV_DATA)")
def test_of_what_simple_questions_ask_for_only_one_users_own_relation_is_dropped() -> None:
    with gzip.open(FB15K237 / "simplequestions.jsonl.gz", "rt", encoding="utf-8") as lines:
        gold = {json.loads(line)["relation"].replace("./", ".").strip("/").replace("/", ".") for line in lines}
    assert [relation for relation in sorted(gold) if not limits().offers(relation)] == [
        "user.jg.default_domain.olympic_games.sports"
    ]
