"""Identifiers come apart where a reader would take them apart."""

from __future__ import annotations

import pytest

from kgnav_mcp.navigation.relation_lists import words


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("people.person.place_of_birth", ["people", "person", "place", "of", "birth"]),
        ("/location/location/contains", ["location", "location", "contains"]),
        ("birthPlace", ["birth", "place"]),
        ("HTTPServerName", ["http", "server", "name"]),
        ("wdt:P885", ["wdt", "p", "885"]),
        ("STARRED_ACTORS", ["starred", "actors"]),
        ("naissance à Zürich", ["naissance", "à", "z", "ü", "rich"]),
        ("出生地", ["出生地"]),
        ("", []),
    ],
)
def test_an_identifier_is_split_at_dots_slashes_underscores_and_camel_case(text: str, parts: list[str]) -> None:
    assert words(text) == parts
