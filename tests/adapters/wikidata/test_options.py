"""Locations, presets and options: what is recognised, what is refused and with which advice."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.wikidata.store import Wikidata
from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.port import AdapterOptions

CONTACT = "ann@lab.example"
WDQS = "wikidata+https://query.wikidata.org/sparql"


def read(location: str, **extra: object) -> Wikidata:
    return Wikidata.read(location, AdapterOptions(contact=CONTACT, extra=extra))


@pytest.mark.parametrize(
    ("location", "endpoint", "searched", "counted"),
    [
        ("wikidata+https://query.wikidata.org", "https://query.wikidata.org/sparql", True, 5_000),
        ("wikidata+https://query-scholarly.wikidata.org/", "https://query-scholarly.wikidata.org/sparql", True, 5_000),
        ("wikidata+https://qlever.dev", "https://qlever.dev/api/wikidata", True, None),
        ("wikidata+http://127.0.0.1:7878/query", "http://127.0.0.1:7878/query", False, None),
    ],
)
def test_an_endpoint_is_recognised_by_its_host(location: str, endpoint: str, searched: bool, counted: int | None):
    made = read(location)
    assert (made.endpoint, bool(made.search), made.counted) == (endpoint, searched, counted)


def test_a_preset_is_chosen_by_name_and_every_part_of_it_can_be_overridden():
    made = read("wikidata+http://127.0.0.1/sparql", preset="wdqs", search="", counted=7, base="https://wiki.example/")
    assert (made.search, made.counted, made.base) == ("", 7, "https://wiki.example")


@pytest.mark.parametrize("location", [WDQS, "wikidata+https://mine.wikibase.cloud/query/sparql"])
def test_wikimedia_is_not_queried_without_a_contact(location: str):
    with pytest.raises(ConfigurationError, match="no contact is set") as caught:
        open_adapter(location, AdapterOptions())
    assert "KGNAV_CONTACT" in caught.value.next_step
    open_adapter(location, AdapterOptions(contact=CONTACT))
    open_adapter(location, AdapterOptions(extra={"contact": "https://lab.example/kgnav"}))


@pytest.mark.parametrize("contact", ["me", "x", "n/a"])
def test_a_contact_that_reaches_nobody_is_refused(contact: str):
    with pytest.raises(ConfigurationError, match="not an e-mail address or web address"):
        read(WDQS, contact=contact)


def test_without_a_contact_another_host_is_asked_but_wikimedias_search_is_not():
    assert read("wikidata+https://qlever.dev", contact="").search == ""
    assert read("wikidata+https://qlever.dev").search.startswith("https://www.wikidata.org/")


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"prest": "wdqs"}, "no option 'prest'"),
        ({"preset": "blazegraph"}, "has the invalid value 'blazegraph'"),
        ({"base": 3}, "'base' must be a text"),
        ({"external_ids": "yes"}, "true or false"),
        ({"counted": -1}, "whole number"),
        ({"statements": "some"}, "has the invalid value 'some'"),
        ({"instance_of": "wdt:P31"}, "cannot be 'wdt:P31'"),
    ],
)
def test_options_that_are_wrong_are_refused_with_those_there_are(extra: dict[str, object], message: str):
    with pytest.raises(ConfigurationError, match=message) as caught:
        read("wikidata+http://127.0.0.1/sparql", **extra)
    assert caught.value.next_step


def test_a_location_without_a_host_is_refused():
    with pytest.raises(ConfigurationError, match="has no host"):
        read("wikidata+https:///sparql")


def test_the_catalogue_is_kept_in_the_folder_that_is_given_unless_the_option_says_otherwise(tmp_path: Path):
    options = AdapterOptions(cache=tmp_path)
    assert Wikidata.read("wikidata+http://127.0.0.1/", options).cache == tmp_path
    nowhere = AdapterOptions(cache=tmp_path, extra={"cache": ""})
    assert Wikidata.read("wikidata+http://127.0.0.1/", nowhere).cache is None
