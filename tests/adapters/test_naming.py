"""Names read out of ids."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters.naming import entity_name, is_iri, local_name, readable


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
