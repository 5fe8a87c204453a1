"""Exports of items on a live Oxigraph: they use properties that they do not define."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from kgnav_bench.wikibase import Value, Wikibase
from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.errors import UnknownName, Unsupported
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, GraphAdapter, ValueOwner
from tests.adapters.wikidata.graph import ANN, BOB, GRAPH, write
from tests.navigation.plans.writing import rows
from tests.services import Oxigraph

LABELS_SCANNED = "kgnav_mcp.adapters.wikidata.catalogue._MAX_LABELS_SCANNED"


@pytest.fixture(scope="module")
def location(oxigraph: Oxigraph, tmp_path_factory: pytest.TempPathFactory) -> str:
    named = f"{GRAPH}/export"
    source = write(tmp_path_factory.mktemp("export") / "export.nt", properties=False)
    year = "P585", Value("time", "1959-01-01T00:00:00Z", "9")
    with source.open("a", encoding="utf-8") as lines:
        lines.writelines(Wikibase().statement(BOB, "P26", Value("item", ANN), [year], number=9_001))
        lines.writelines(Wikibase().statement(BOB, "P570", Value("somevalue"), number=9_002))
    oxigraph.load(source, named)
    return f"wikidata+{oxigraph.url}?default-graph-uri={named}"


@pytest.fixture
async def export(location: str) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(location, AdapterOptions()) as opened:
        yield opened


async def found(graph: GraphAdapter, text: str) -> list[tuple[object, ...]]:
    runner = PlanRunner(graph)
    checked = await runner.check(parse_cypher(text))
    assert not checked.problems
    return rows(await runner.run(checked.plan, limit=9))


async def values(graph: GraphAdapter, name: str, of: str | None, owner: ValueOwner) -> list[tuple[str, int]]:
    page = await graph.values(name, of, owner, limit=9)
    return [(each.value.text, each.count.value) for each in page.items]


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a)-[r:P26]->(b) WHERE r.P585 = '1959' RETURN a, b",
        "MATCH (a)-[r:P26]->(b) WHERE r.P585 IS NOT NULL RETURN a, b",
        "MATCH (a)-[r:P26]->(b) WHERE NOT r.P580 IS NOT NULL RETURN a, b",
        "MATCH (a {id: 'wd:Q1002'})-[:P26]->(b) RETURN a, b",
        "MATCH (a {name: 'Bob'})-[:P26]->(b) RETURN a, b",
    ],
)
async def test_a_plan_may_name_any_qualifier_in_use_and_ids_and_names(export: GraphAdapter, text: str):
    assert await found(export, text) == [(f"wd:{BOB}", f"wd:{ANN}")]


async def test_a_property_is_a_relation_or_a_property_of_nodes_by_its_values(export: GraphAdapter):
    schema = await export.schema(limit=100)
    assert {each.relation.id for each in schema.relations} == {
        f"wdt:{name}" for name in ("P19", "P22", "P26", "P31", "P40", "P463", "P551")
    }
    assert {each.relation.id: each.datatypes for each in schema.properties} == {
        "wdt:P569": ("time",),
        "wdt:P570": ("time",),
        "wdt:P571": ("time",),
        "wdt:P625": ("globe-coordinate",),
        "wdt:P1082": ("quantity",),
        "wdt:P2048": ("quantity",),
        "wdt:P2561": ("monolingualtext",),
        "wdt:P214": ("string",),
        "wdt:P646": ("string",),
    }
    assert await found(export, "MATCH (a) WHERE a.P569 = '1952-03-11' RETURN a, a.P569") == [
        (f"wd:{ANN}", "1952-03-11")
    ]


async def test_an_id_that_nothing_uses_is_unknown_for_certain(export: GraphAdapter):
    with pytest.raises(UnknownName, match="P99999"):
        await export.schema("P99999", limit=5)
    with pytest.raises(UnknownName, match="P99999"):
        await export.nodes(None, "P99999", "1", limit=5)
    with pytest.raises(UnknownName, match="no such label"):
        await export.schema("no such label", limit=5)


async def test_a_label_is_not_known_to_be_missing_if_only_some_labels_were_read(
    location: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(LABELS_SCANNED, 2)
    async with open_adapter(location, AdapterOptions()) as graph:
        with pytest.raises(Unsupported, match="only a sample of its names was read"):
            await graph.schema("no such label", limit=5)
        with pytest.raises(UnknownName):
            await graph.schema("P99999", limit=5)


async def test_values_are_printed_by_their_precision_and_with_their_unit(export: GraphAdapter):
    qualifiers = [await values(export, name, "P26", ValueOwner.RELATIONSHIP) for name in ("P580", "P585")]
    assert qualifiers == [[("1971-05", 1)], [("1959", 1)]]
    assert await values(export, "P571", None, ValueOwner.NODE) == [("1950s", 1), ("1955", 1), ("20th century", 1)]
    assert await values(export, "P2048", None, ValueOwner.NODE) == [("1.96 metre", 1)]


async def test_unknown_values_are_among_the_values_of_times(export: GraphAdapter):
    expected = [("0044-03-15 BCE", 1), ("unknown value", 1)]
    assert await values(export, "P570", None, ValueOwner.NODE) == expected


async def test_nodes_are_found_by_times_of_their_precision(export: GraphAdapter):
    for value, expected in (("1955-07-01", [f"wd:{ANN}"]), ("1954", [])):
        page = await export.nodes(None, "P571", value, limit=5)
        assert [entity.id for entity in page.items] == expected
