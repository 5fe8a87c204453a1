"""Endpoints without the statements of a Wikibase: truthy dumps, and graphs of another kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.errors import InvalidStore, Unsupported
from kgnav_mcp.model import Count, Direction, Entity
from kgnav_mcp.port import AdapterOptions, Capability, ValueOwner
from tests.contract.suite.base import every
from tests.rows import triples_at
from tests.services import Oxigraph

TRUTHY = "http://toy.example/without-statements"
NOTHING = "http://toy.example/nothing-of-wikibase"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


def location(oxigraph: Oxigraph, graph: str) -> str:
    return f"wikidata+{oxigraph.url}?default-graph-uri={graph}"


def entity(local: str) -> str:
    return f"<http://www.wikidata.org/entity/{local}>"


def says(head: str, name: str, value: str, folder: str = "direct") -> str:
    return f"{entity(head)} <http://www.wikidata.org/prop/{folder}/{name}> {value} .\n"


def named(local: str, text: str) -> str:
    return f'{entity(local)} <{LABEL}> "{text}"@en .\n'


VALUES = (
    says("Q42", "P106", entity("Q36180")),
    says("Q42", "P19", entity("Q350")),
    says("Q42", "P214", '"113230702"'),
    says("Q42", "P214", "<http://viaf.example/113230702>", "direct-normalized"),
    says("Q42", "P1559", '"Douglas"@en'),
    says("Q42", "P1559", '"Douglas"@de'),
    named("Q42", "Douglas Adams"),
    named("Q350", "Cambridge"),
    named("P19", "place of birth"),
)
"""A truthy dump in which no property is defined, and nobody is an instance of anything (P31)."""


@pytest.fixture(scope="module")
def truthy(oxigraph: Oxigraph, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The location of those values."""
    source = tmp_path_factory.mktemp("truthy") / "values.nt"
    source.write_text("".join(VALUES), encoding="utf-8")
    oxigraph.load(source, TRUTHY)
    return location(oxigraph, TRUTHY)


async def test_a_truthy_dump_without_properties_is_read_as_one_of_wikidata(truthy: str):
    async with open_adapter(truthy, AdapterOptions()) as graph:
        page = await triples_at(graph, ["Q42"], Direction.OUTGOING, relation_paths=[("P19",)], limit=5)
        health = await graph.health()
        schema = await graph.schema(limit=5)
    (triple,) = page.items
    assert isinstance(triple.tail, Entity)
    assert (triple.relation.id, triple.relation.label) == ("wdt:P19", "place of birth")
    assert (triple.tail.id, triple.tail.label, triple.qualifiers) == ("wd:Q350", "Cambridge", ())
    assert health.store.endswith("; values only (a truthy dump): no qualifiers, ranks or references")
    assert "read as those of http://www.wikidata.org" in " ".join(health.advice)
    assert "values only (a truthy dump)" in (schema.sampled or "")
    assert health.triples == Count(5)


async def test_a_normalized_value_is_no_second_row_and_a_text_in_two_languages_is_two(truthy: str):
    async with open_adapter(truthy, AdapterOptions()) as graph:
        facts = await graph.relations(["Q42"], Direction.OUTGOING, examples=3, limit=9)
        rows = await every(lambda after: triples_at(graph, ["Q42"], Direction.OUTGOING, limit=1, after=after))
    assert {each.relation.id: each.count for each in facts.items} == {
        "wdt:P106": Count(1),
        "wdt:P1559": Count(2),
        "wdt:P19": Count(1),
        "wdt:P214": Count(1),
    }
    assert [len(each.examples) for each in facts.items] == [1, 2, 1, 1]
    assert len({(each.relation.id, each.tail) for each in rows}) == len(rows) == 5


@pytest.mark.parametrize("value", ["Q350", "wd:Q350", "Cambridge"])
async def test_nodes_are_found_by_an_entity_that_a_property_of_unknown_kind_leads_to(truthy: str, value: str):
    async with open_adapter(truthy, AdapterOptions()) as graph:
        page = await graph.nodes(None, "place of birth", value, limit=5)
        texts = await graph.nodes(None, "P1559", "Douglas", limit=5)
    assert [entity.id for entity in page.items] == [entity.id for entity in texts.items] == ["wd:Q42"]


async def test_qualifiers_of_values_are_not_supported_rather_than_unknown(truthy: str):
    async with open_adapter(truthy, AdapterOptions()) as graph:
        assert Capability.QUALIFIERS not in graph.capabilities
        with pytest.raises(Unsupported, match="values only"):
            await graph.values("P19", None, ValueOwner.RELATIONSHIP, limit=5)


@pytest.mark.parametrize(
    ("base", "statements"), [("", False), ("http://www.wikidata.org", False), ("http://a.b", True)]
)
async def test_a_configured_base_is_queried_for_statements_too(truthy: str, base: str, statements: bool):
    async with open_adapter(truthy, AdapterOptions(extra={"base": base})) as graph:
        assert (Capability.QUALIFIERS in graph.capabilities) is statements


async def test_an_endpoint_with_nothing_of_a_wikibase_says_so(oxigraph: Oxigraph, tmp_path: Path):
    source = tmp_path / "cats.nt"
    source.write_text(f'<http://cats.example/tom> <{LABEL}> "Tom" .\n', encoding="utf-8")
    oxigraph.load(source, NOTHING)
    with pytest.raises(InvalidStore, match="has no Wikibase data") as caught:
        await open_adapter(location(oxigraph, NOTHING), AdapterOptions()).open()
    assert "option graph" in caught.value.next_step
