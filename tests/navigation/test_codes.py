"""Entities are found by codes that their properties have, and an exact code comes before names like it."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.adapters.embedded.queries.entities import NODES_WITH_TEXT
from kgnav_mcp.errors import AmbiguousEntity, UnknownEntity, UnresolvedEntities
from kgnav_mcp.navigation.codes import find_candidates, is_code
from kgnav_mcp.navigation.references import resolve_entities, resolve_entity
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from kgnav_mcp.render.nodes import candidates_table
from kgnav_mcp.render.triples import entity_notes

NODES = """:ID,:LABEL,name,iata,xref:string[],currency
schiphol,Airport,Amsterdam Airport,AMS,,USD
person,Person,Ams,,,
namesake,Film,RTM,,,
rotterdam,Airport,Rotterdam Airport,RTM,,USD
metastasis,Disease,Neoplasm metastasis,,MESH:D009362;UMLS:C0027627,
tumour,Disease,Tumour,,ICD10:X,
neoplasm,Disease,Neoplasm,,ICD10:X,
"""


@pytest.fixture
async def codes(tmp_path: Path) -> AsyncIterator[GraphAdapter]:
    """Airports, diseases and many shops, with codes of other sources."""
    shops = "".join(f"shop{n},Shop,Shop {n},,,USD\n" for n in range(20))
    (tmp_path / "nodes.csv").write_text(NODES + shops, encoding="utf-8")
    load([tmp_path / "nodes.csv"], tmp_path / "codes.kg")
    async with open_adapter(str(tmp_path / "codes.kg"), AdapterOptions()) as graph:
        yield graph


async def test_an_exact_code_comes_before_a_name_in_another_letter_case(codes: GraphAdapter) -> None:
    entity = await resolve_entity(codes, "AMS")
    assert (entity.id, entity.found_by) == ("schiphol", ("iata", "AMS"))
    assert entity_notes([entity]) == ("Found by its property iata = 'AMS': Amsterdam Airport (schiphol).",)
    page = await find_candidates(codes, "AMS", label=None, limit=5)
    assert [(one.entity.id, one.found_by) for one in page.items] == [("schiphol", "iata"), ("person", None)]
    assert page.total.value == 2
    assert "iata = AMS" in [row[-1] for row in candidates_table(page, hint="AMS").rows]
    assert (await resolve_entity(codes, "Ams")).id == "person"


async def test_a_name_spelt_exactly_comes_before_a_code(codes: GraphAdapter) -> None:
    assert (await resolve_entity(codes, "RTM")).id == "namesake"
    page = await find_candidates(codes, "RTM", label=None, limit=5)
    assert [one.entity.id for one in page.items] == ["namesake", "rotterdam"]
    page = await find_candidates(codes, "RTM", label="Airport", limit=5)
    assert [one.entity.id for one in page.items] == ["rotterdam"]


async def test_a_reference_to_another_source_is_found_in_a_list(codes: GraphAdapter) -> None:
    assert (await resolve_entity(codes, "MESH:D009362")).found_by == ("xref", "MESH:D009362")
    with pytest.raises(UnknownEntity) as unknown:
        await resolve_entity(codes, "MESH:D009363")
    assert not unknown.value.nearest


async def test_a_code_of_several_entities_is_ambiguous_and_one_of_very_many_is_no_code(codes: GraphAdapter) -> None:
    with pytest.raises(AmbiguousEntity) as caught:
        await resolve_entity(codes, "ICD10:X")
    assert {one.id for one in caught.value.candidates} == {"tumour", "neoplasm"}
    assert caught.value.next_step.startswith("It is the value of their xref. ")
    with pytest.raises(UnknownEntity) as unknown:
        await resolve_entity(codes, "USD")
    assert unknown.value.next_step.startswith("More than 20 values of properties are USD")
    assert not (await find_candidates(codes, "USD", label=None, limit=5)).items


async def test_a_code_of_very_many_entities_is_said_to_identify_none_with_the_call_that_lists_them(
    codes: GraphAdapter,
) -> None:
    page = await find_candidates(codes, "USD", label=None, limit=5)
    assert page.note == (
        "More than 20 values of properties are USD, so it identifies no single entity: "
        'get_node_by_property(label="*", property_name="currency", property_value="USD").'
    )


async def test_several_codes_are_resolved_together(codes: GraphAdapter) -> None:
    found = await resolve_entities(codes, ["AMS", "UMLS:C0027627", "Tumour"])
    assert [one.id for one in found] == ["schiphol", "metastasis", "tumour"]
    with pytest.raises(UnresolvedEntities):
        await resolve_entities(codes, ["USD", "ICD10:X"])


def test_a_code_is_one_word_with_a_digit_or_in_capitals() -> None:
    assert all(map(is_code, ("AMS", "tt0083658", "Q42", "MESH:D009203", "007")))
    assert not any(map(is_code, ("", "A", "Ams", "red", "Boat 7", "AMS RTM")))


def test_a_code_is_looked_up_by_index_in_a_graph_file(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text(NODES, encoding="utf-8")
    load([tmp_path / "nodes.csv"], tmp_path / "codes.kg")
    with closing(sqlite3.connect(tmp_path / "codes.kg")) as file:
        steps = [row[-1] for row in file.execute(f"EXPLAIN QUERY PLAN {NODES_WITH_TEXT}", ("AMS", 9))]
    assert steps[1:] == ["SEARCH a USING INDEX attribute_value (p=? AND <expr>=?)"]
