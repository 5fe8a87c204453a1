"""What a mediator is an instance of is none of its roles; a way through it is not taken for its second half."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.errors import UnknownRelation
from kgnav_mcp.model import Count, Direction
from kgnav_mcp.navigation.graphwalk import get_all_nearest_neighbors
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.neighbourhood import search
from kgnav_mcp.navigation.relation_lists import relation_facts
from kgnav_mcp.navigation.relations import get_triples
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.navigation.walking import roles, short

OUTGOING, INCOMING = Direction.OUTGOING, Direction.INCOMING

MARRIED = """
@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:ann a :Person ; rdfs:label "Ann" ; :from :york ; :spouse [ a :Marriage ; :of :bob ; :from "1990" ] .
:bob a :Person ; rdfs:label "Bob" .
:york rdfs:label "York" .
"""


@pytest.fixture
async def married(tmp_path: Path) -> AsyncGenerator[GraphAdapter]:
    """A marriage with a class, as RDF usually has it."""
    (tmp_path / "married.ttl").write_text(MARRIED)
    load([tmp_path / "married.ttl"], tmp_path / "married.kg", LoadOptions())
    async with open_adapter(str(tmp_path / "married.kg"), AdapterOptions()) as graph:
        yield graph


async def test_a_marriage_is_one_row_without_the_class_of_marriages(married: GraphAdapter) -> None:
    rows = (await search(married, ":ann", OUTGOING, limits=Limits())).rows
    assert rows is not None
    through = [triple for triple in rows.items if triple.via]
    assert [(short(triple), roles(triple)) for triple in through] == [
        ((":ann", ":spouse.:of", ":bob"), {":from": "1990"})
    ]
    rows = (await search(married, ":bob", INCOMING, limits=Limits())).rows
    assert rows is not None
    assert [(short(triple), roles(triple)) for triple in rows.items] == [
        ((":ann", ":spouse.:of", ":bob"), {":from": "1990"})
    ]


async def test_a_way_to_the_class_of_a_mediator_is_not_offered(married: GraphAdapter) -> None:
    page = await relation_facts(married, [":ann"], OUTGOING, limits=Limits())
    ids = [facts.relation.id for facts in page.items]
    assert ids == [":from", ":spouse", ":spouse.:from", ":spouse.:of", "rdf:type", "rdfs:label"]
    assert (page.total, len(page.positions)) == (Count(len(ids)), len(ids))


async def test_nearest_neighbours_at_a_hub_do_not_offer_it_either(married: GraphAdapter) -> None:
    found = await get_all_nearest_neighbors(married, ":Person", "rdfs:label", "Ann", limits=Limits(hub_threshold=1))
    assert found.relations is not None
    assert {facts.relation.id for facts in found.relations.items} == {":from", ":spouse", ":spouse.:of", "rdf:type"}


async def test_a_two_hop_relation_is_followed_where_the_entity_has_a_relation_of_its_second_name(
    married: GraphAdapter,
) -> None:
    path = ":spouse.:from"
    rows = (await search(married, ":ann", OUTGOING, only=[path], limits=Limits())).rows
    assert rows is not None
    assert [short(triple) for triple in rows.items] == [(":ann", path, "1990")]
    links = (await get_triples(married, ":ann", [path], limits=Limits())).page
    assert [short(link.triple) for link in links.items] == [(":ann", path, "1990")]


@pytest.mark.parametrize("path", [":spouze.:from", ":spouse.rdf:type"])
async def test_a_two_hop_relation_that_is_not_there_is_not_taken_for_another(married: GraphAdapter, path: str) -> None:
    for ask in (
        search(married, ":ann", OUTGOING, only=[path], limits=Limits()),
        get_triples(married, ":ann", [path], limits=Limits()),
    ):
        with pytest.raises(UnknownRelation) as raised:
            await ask
        assert ":spouse.:from" in raised.value.nearest
        assert ":spouse.rdf:type" not in raised.value.nearest
