"""Names read out of ids."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters.naming import entity_name, local_name_variants, readable, readable_names
from kgnav_mcp.model.ids import is_iri, local_name


@pytest.mark.parametrize(
    ("relation", "name"),
    [
        ("has_genre", "has genre"),
        ("birthPlace", "birth place"),
        ("dbo:birthPlace", "birth place"),
        ("http://dbpedia.org/ontology/birthPlace", "birth place"),
        ("http://www.w3.org/2000/01/rdf-schema#label", "label"),
        ("people.person.place_of_birth", "place of birth"),
        ("http://rdf.freebase.com/ns/people.person.place_of_birth", "place of birth"),
        ("/film/film/genre", "genre"),
        ("ACTED_IN", "acted in"),
        ("KNOWS", "KNOWS"),
        ("hasDNASequence", "has DNA sequence"),
        ("imdbID", "imdb ID"),
        ("wdt:P19", "P19"),
        ("urn:example:part", "part"),
        ("http://x.example/caf%C3%A9_owner", "café owner"),
        ("is a friend of", "is a friend of"),
        ("e.g. this | that", "e.g. this | that"),
        ("http://x.example/", "http://x.example/"),
        ("_", "_"),
        ("", ""),
    ],
)
def test_a_relation_is_readable(relation: str, name: str):
    assert readable(relation) == name


@pytest.mark.parametrize(
    ("entity", "name"),
    [
        ("dbr:Quentin_Tarantino", "Quentin Tarantino"),
        ("http://dbpedia.org/resource/McDonald%27s", "McDonald's"),
        ("http://www.wikidata.org/entity/Q42", "Q42"),
        ("http://x.example/a#", "http://x.example/a#"),
    ],
)
def test_an_entity_keeps_its_letter_case(entity: str, name: str):
    assert entity_name(entity) == name


def test_a_title_with_a_colon_is_no_prefixed_name():
    assert local_name("Alien: Covenant") == "Alien: Covenant"
    assert not is_iri("Alien: Covenant")
    assert is_iri("urn:isbn:0451450523")


@pytest.mark.parametrize(
    ("entity", "texts"),
    [
        ("http://x.example/pizza#FourSeasons", ["FourSeasons", "Four Seasons"]),
        ("dbr:Quentin_Tarantino", ["Quentin Tarantino"]),
        ("http://www.wikidata.org/entity/Q42", ["Q42"]),
        ("http://x.example/a1Bc2De", ["a1Bc2De"]),
    ],
)
def test_an_id_says_its_last_part_and_the_words_of_it(entity: str, texts: list[str]):
    assert readable_names(entity) == texts


@pytest.mark.parametrize(
    ("name", "local"),
    [
        ("four seasons", "FourSeasons"),
        ("Four Seasons", "Four_Seasons"),
        ("four seasons", "Four_seasons"),
        ("four seasons", "fourSeasons"),
        ("four seasons", "four-seasons"),
        ("mushroom", "Mushroom"),
        ("Q42", "Q42"),
        ("café", "caf%C3%A9"),
    ],
)
def test_a_name_may_be_written_in_an_id_in_many_ways(name: str, local: str):
    assert local in local_name_variants(name)


def test_what_is_longer_than_a_name_is_in_no_id():
    assert local_name_variants("a" * 1_000) == local_name_variants("a " * 20) == local_name_variants(" ") == []
