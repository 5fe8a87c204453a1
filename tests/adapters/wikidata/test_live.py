"""Statements as a person reads them, on a live Oxigraph: values, ranks, what is unknown, hidden or merged."""

from __future__ import annotations

import pytest
from rdflib import RDF, RDFS

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.sparql_base.client import SparqlClient
from kgnav_mcp.adapters.sparql_base.results import Answer
from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.model import Count, Direction, Entity, Literal, Triple
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.neighbourhood import search
from kgnav_mcp.port import AdapterOptions, GraphAdapter, ValueOwner
from tests.adapters.wikidata.graph import ANN, BOB, CITY, GRAPH, MERGED, PRIEST, write
from tests.rows import triples_at
from tests.services import Oxigraph


async def statements(graph: GraphAdapter, name: str) -> list[Triple]:
    page = await triples_at(graph, [ANN], Direction.OUTGOING, relation_paths=[(name,)], limit=50)
    return list(page.items)


def read(node: Entity | Literal) -> str:
    return node.text if isinstance(node, Literal) else f"{node.label} ({node.id})"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("P569", ["1952-03-11"]),
        ("P570", ["0044-03-15 BCE"]),
        ("P571", ["20th century", "1950s", "1955"]),
        ("P625", ["51.5665°N, 0.1454°W"]),
        ("P2048", ["1.96 metre"]),
        ("P1082", ["12"]),
        ("P22", ["unknown value"]),
        ("P40", ["no value"]),
        ("P26", ["Bob (wd:Q1002)"]),
    ],
)
async def test_values_are_said_as_a_person_reads_them(graph: GraphAdapter, name: str, expected: list[str]):
    assert [read(triple.tail) for triple in await statements(graph, name)] == expected


async def test_qualifiers_stand_beside_their_statement_each_with_its_own_precision(graph: GraphAdapter):
    (spouse,) = await statements(graph, "P26")
    said = {qualifier.relation.label: read(qualifier.value) for qualifier in spouse.qualifiers}
    assert said == {"start time": "1971-05", "end time": "no value"}


@pytest.mark.parametrize(("statements", "shown"), [("truthy", 1), ("all", 3)])
async def test_a_schema_counts_the_statements_of_the_ranks_that_are_shown(
    wikibase_location: str, statements: str, shown: int
):
    async with open_adapter(wikibase_location, AdapterOptions(extra={"statements": statements})) as graph:
        counts = {facts.relation.id: facts.count for facts in (await graph.schema(limit=50)).relations}
    assert counts["wdt:P551"] == Count(shown)


async def test_what_is_only_the_value_of_a_qualifier_leads_to_its_statements(
    graph: GraphAdapter, wikibase_location: str
):
    qualified = await graph.triples_by_qualifier(PRIEST, limit=2)
    assert qualified == tuple(await statements(graph, "P2561"))
    assert (await search(graph, PRIEST, Direction.INCOMING, limits=Limits())).qualified == qualified
    async with open_adapter(wikibase_location, AdapterOptions(extra={"statements": "all"})) as every_rank:
        assert len(await every_rank.triples_by_qualifier(PRIEST, limit=5) or ()) == 2
        assert len(await every_rank.triples_by_qualifier(PRIEST, limit=1) or ()) == 1


async def test_references_are_counted_and_a_preferred_rank_is_said(graph: GraphAdapter):
    (birth,), (residence,) = await statements(graph, "P19"), await statements(graph, "P551")
    assert [(each.relation.label, read(each.value)) for each in birth.qualifiers] == [("references", "2")]
    assert [(each.relation.label, read(each.value)) for each in residence.qualifiers] == [("rank", "preferred")]


async def test_statements_of_every_rank_are_shown_where_they_are_wanted(wikibase_location: str):
    options = AdapterOptions(extra={"statements": "all"})
    async with open_adapter(wikibase_location, options) as graph:
        residences = await statements(graph, "P551")
        counts = await graph.relations([ANN], Direction.OUTGOING, limit=100)
    ranks = {
        read(triple.tail): [read(each.value) for each in triple.qualifiers if each.relation.label == "rank"]
        for triple in residences
    }
    assert ranks == {"Stadt (wd:Q1003)": ["preferred"], "Bob (wd:Q1002)": [], "human (wd:Q5)": ["deprecated"]}
    assert {facts.relation.id: facts.count.value for facts in counts.items}["wdt:P551"] == 3


async def test_identifiers_are_hidden_and_counted_until_their_property_is_named(graph: GraphAdapter):
    page = await triples_at(graph, [ANN], Direction.OUTGOING, limit=50)
    assert not {"wdt:P214", "wdt:P646"} & {triple.relation.id for triple in page.items}
    assert page.note.startswith("2 identifiers of other databases are hidden")
    assert page.total.value == len(page.items)
    facts = await graph.relations([ANN], Direction.OUTGOING, examples=1, limit=50)
    assert {each.relation.id for each in facts.items if each.hidden} == {"wdt:P214", "wdt:P646"}
    assert [read(triple.tail) for triple in await statements(graph, "P214")] == ["113230702"]


async def test_a_property_of_classes_that_no_item_has_is_refused_with_the_nearest(wikibase_location: str):
    with pytest.raises(ConfigurationError, match="no relation 'P3100' of the option 'instance_of'") as told:
        await open_adapter(wikibase_location, AdapterOptions(extra={"instance_of": "P3100"})).open()
    assert told.value.next_step.startswith("Use one of the nearest: P")


async def test_identifiers_are_shown_where_the_option_says_so(wikibase_location: str):
    async with open_adapter(wikibase_location, AdapterOptions(extra={"external_ids": True})) as graph:
        page = await triples_at(graph, [ANN], Direction.OUTGOING, limit=50)
    assert "wdt:P214" in {triple.relation.id for triple in page.items}
    assert not page.note


@pytest.mark.parametrize(
    "reference",
    [
        "wd:Q1001",
        "Q1001",
        "q1001",
        "http://www.wikidata.org/entity/Q1001",
        "https://www.wikidata.org/entity/Q1001",
        "https://www.wikidata.org/wiki/Q1001",
    ],
)
async def test_an_entity_is_known_by_every_form_of_its_id(graph: GraphAdapter, reference: str):
    found = await graph.describe([reference])
    assert found[reference].id == "wd:Q1001"


@pytest.mark.parametrize(
    "reference",
    ["wdt:P19", "P19", "p19", "http://www.wikidata.org/prop/direct/P19", "http://www.wikidata.org/entity/P19", "p:P19"],
)
async def test_a_relation_is_known_by_every_form_of_its_id(graph: GraphAdapter, reference: str):
    assert [(triple.relation.id, triple.relation.label) for triple in await statements(graph, reference)] == [
        ("wdt:P19", "place of birth")
    ]


async def test_a_merged_id_is_followed_and_the_answer_names_the_requested_one(graph: GraphAdapter):
    found = await graph.describe([MERGED, ANN])
    assert (found[MERGED].id, found[MERGED].label, found[MERGED].asked_as) == ("wd:Q1001", "Ann", "wd:Q1004")
    assert found[ANN].asked_as is None


@pytest.mark.parametrize(
    ("languages", "labels"),
    [
        (("en",), ["Ann", "Bob", "Stadt"]),
        (("de",), ["Anna", "Bob", "Stadt"]),
        (("fr", "de"), ["Anna", "Robert", "Stadt"]),
        (("ja",), ["Ann", "Bob", "Stadt"]),
    ],
)
async def test_labels_fall_back_from_the_wanted_languages_to_those_for_all_to_english_to_any(
    wikibase_location: str, languages: tuple[str, ...], labels: list[str]
):
    async with open_adapter(wikibase_location, AdapterOptions(languages=languages)) as graph:
        assert [each.label for each in (await graph.describe([ANN, BOB, CITY])).values()] == labels


async def test_properties_are_labelled_in_the_wanted_language(wikibase_location: str):
    async with open_adapter(wikibase_location, AdapterOptions(languages=("de",))) as graph:
        (birth,) = await statements(graph, "P19")
    assert birth.relation.label == "place of birth (de)"


async def test_a_copy_without_properties_still_answers_by_ids(
    oxigraph: Oxigraph, tmp_path_factory: pytest.TempPathFactory
):
    named = f"{GRAPH}/items"
    source = write(tmp_path_factory.mktemp("items") / "items.nt", properties=False)
    spouse = "<http://www.wikidata.org/entity/P26>"
    with source.open("a", encoding="utf-8") as lines:  # an item's export names some of the properties
        lines.write(f"{spouse} <{RDF.type}> <http://wikiba.se/ontology#Property> .\n")
        lines.write(f'{spouse} <{RDFS.label}> "spouse"@en .\n')
    oxigraph.load(source, named)
    async with open_adapter(f"wikidata+{oxigraph.url}?default-graph-uri={named}", AdapterOptions()) as graph:
        (birth,) = await statements(graph, "P19")
        (marriage,) = await statements(graph, "P26")
        health = await graph.health()
        page = await triples_at(graph, [ANN], Direction.OUTGOING, limit=50)
    assert (birth.relation.label, read(birth.tail)) == ("P19", "Stadt (wd:Q1003)")
    assert "wdt:P214" in {triple.relation.id for triple in page.items}
    assert marriage.relation.label == "spouse"
    assert any("as those of http://www.wikidata.org" in advice for advice in health.advice)


async def test_nodes_are_found_by_values_as_they_are_printed(graph: GraphAdapter):
    for name, value in (
        ("date of birth", "1952-03-11"),
        ("P571", "1955"),
        ("height", "1.96 metre"),
        ("P214", "113230702"),
        ("name", "Ann"),
        ("P2561", "Ann of the Hill"),
        ("P26", "Bob"),
        ("P26", "wd:Q1002"),
    ):
        page = await graph.nodes(None, name, value, limit=5)
        assert [entity.id for entity in page.items] == ["wd:Q1001"], (name, value)
    assert (await graph.nodes(None, "P571", "1901", limit=5)).items == ()


async def test_distinct_values_are_read_as_they_are_printed(graph: GraphAdapter):
    for name, expected in (("P571", ["1950s", "1955", "20th century"]), ("P2048", ["1.96 metre"]), ("P26", ["Bob"])):
        page = await graph.values(name, None, ValueOwner.NODE, limit=5)
        assert [literal.value.text for literal in page.items] == expected
    page = await graph.values("P580", "P26", ValueOwner.RELATIONSHIP, limit=5)
    assert [literal.value.text for literal in page.items] == ["1971-05"]


async def test_find_gives_description_and_classes(graph: GraphAdapter):
    best = (await graph.find("annie", limit=3)).items[0]
    assert (best.entity.id, best.entity.description, best.entity.types) == ("wd:Q1001", "a person", ("human",))
    assert (best.matched, best.score) == ("Annie", 0.97)


async def test_labels_are_read_while_what_is_said_of_statements_is(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch
):
    """Each query after the other costs a far endpoint's distance."""
    under_way: set[str] = set()
    beside: dict[str, set[str]] = {}
    selected = SparqlClient.select

    async def select(client: SparqlClient, query: str, *, seconds: float | None = None, waits: bool = True) -> Answer:
        beside[query] = set(under_way)
        under_way.add(query)
        answer = await selected(client, query, seconds=seconds, waits=waits)
        under_way.discard(query)
        return answer

    monkeypatch.setattr(SparqlClient, "select", select)
    (spouse,) = await statements(graph, "P26")
    assert read(spouse.tail) == "Bob (wd:Q1002)"
    (labels,) = (query for query in beside if "Q1002> } ?s rdfs:label" in query and "FILTER" in query)
    assert any("?st ?p ?o" in query for query in beside[labels])
