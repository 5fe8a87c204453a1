"""`--paper-format`: the papers' printed examples, their facts asked for through the server on every kind of store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgnav_bench.wikibase import Value, Wikibase
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.app import App
from kgnav_mcp.config import GraphSettings, Settings
from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.render.paper import MAX_BYTES
from kgnav_mcp.render.text import count_tokens
from tests.adapters.neo4j.graphs import write
from tests.neo4j_service import Neo4j
from tests.server.clients import call, client, refused, text_of
from tests.server.paper_examples import (
    FREEBASE_TABLES,
    WALK,
    WALK_RELATIONS,
    WIKIDATA_TABLES,
    Table,
    load_tables,
    write_freebase,
)
from tests.services import Oxigraph, Virtuoso

HEADINGS = ["property|propertyLabel|value|valueLabel", "--|--|--|--"]
FREEBASE_GRAPH = "http://toy.example/papers"
WIKIDATA_GRAPH = "http://toy.example/papers-wikidata"
DEMO = Settings(paper_format=True)


def served(location: str, **settings: object) -> Settings:
    """Settings that serve a graph in the papers' formats."""
    return Settings(graphs={"g": GraphSettings(location=location)}, **{"paper_format": True, **settings})  # pyright: ignore[reportArgumentType]


def rows(text: str) -> list[str]:
    """The rows of Search-on-Graph's table, whose other lines are checked."""
    count, *headings_and_rows = text.splitlines()
    assert headings_and_rows[:2] == HEADINGS
    found = headings_and_rows[2:]
    assert count == f"{len(found)} rows:"
    return found


@pytest.fixture(scope="module")
def graph_file(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return served(str(load_tables(tmp_path_factory.mktemp("papers"))))


@pytest.fixture(scope="module")
def freebase(virtuoso: Virtuoso, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    virtuoso.load(write_freebase(tmp_path_factory.mktemp("papers") / "facts.nt"), FREEBASE_GRAPH)
    return served(f"freebase+{virtuoso.url}?default-graph-uri={FREEBASE_GRAPH}")


# Search-on-Graph ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", FREEBASE_TABLES, ids=lambda table: table.entity)
async def test_on_a_graph_file_search_prints_the_papers_tables(graph_file: Settings, table: Table) -> None:
    text = await call("search", {"entity": table.entity, "direction": table.direction}, graph_file)
    assert sorted(rows(text)) == sorted(table.lines)


@pytest.mark.parametrize("table", FREEBASE_TABLES, ids=lambda table: table.entity)
async def test_on_freebase_search_prints_the_papers_tables_and_names_as_triples(
    freebase: Settings, table: Table
) -> None:
    text = await call("search", {"entity": table.entity, "direction": table.direction}, freebase)
    found = rows(text)
    names = [row for row in found if row.startswith("type.object.name|")]
    assert sorted(row for row in found if row not in names) == sorted(table.lines)
    assert len(names) == (table.direction == "outgoing")
    assert " @en" not in text


FREEBASE_STORES = pytest.mark.parametrize(
    "store", ["graph_file", pytest.param("freebase", marks=pytest.mark.xdist_group("virtuoso"))]
)


@FREEBASE_STORES
async def test_a_node_without_a_name_is_searched_next_by_its_id(store: str, request: pytest.FixtureRequest) -> None:
    settings: Settings = request.getfixturevalue(store)
    text = await call("search", {"entity": "m.0w4gdrb", "direction": "outgoing"}, settings)
    assert sorted(rows(text)) == [
        "people.sibling_relationship.sibling||m.01w4bt1|Elijah Blue Allman",
        "people.sibling_relationship.sibling||m.0br66|Chaz Bono",
        "people.sibling_relationship.since||1976|",
    ]


async def test_a_file_whose_nodes_without_a_name_are_mediators_gives_the_same_rows(tmp_path: Path) -> None:
    load([write_freebase(tmp_path / "f.nt")], tmp_path / "f.kg", LoadOptions(mediators="unnamed"))
    arguments = {
        "entity": "m.01w4bt1",
        "direction": "outgoing",
        "properties_to_filter_for": ["people.person.sibling_s"],
    }
    found = rows(await call("search", arguments, served(str(tmp_path / "f.kg"))))
    assert found == [f"fb:people.person.sibling_s|Siblings|fb:m.{key}|" for key in ("0w4gdrb", "0vvfthw")]


@pytest.mark.parametrize("properties", [["no.such.property"], ["people.person.parents", "no.such.property"]])
async def test_an_unknown_property_has_no_rows_and_is_no_error(graph_file: Settings, properties: list[str]) -> None:
    given = {"entity": "m.0br66", "direction": "outgoing", "properties_to_filter_for": properties}
    known = ["people.person.parents|Parents|m.01vtj38|Cher"] if len(properties) > 1 else []
    assert rows(await call("search", given, graph_file)) == known


async def test_an_entity_without_triples_there_has_no_rows(graph_file: Settings) -> None:
    text = await call("search", {"entity": "m.05zppz", "direction": "outgoing"}, graph_file)
    assert text == "\n".join(["0 rows:", *HEADINGS])


async def test_a_hub_prints_its_distinct_properties_and_counts_single_triples(graph_file: Settings) -> None:
    four = served(graph_file.graphs["g"].location, hub_threshold=4)
    arguments = {"entity": "m.0fsb8", "direction": "outgoing"}
    assert await call("search", arguments, four) == (
        "2 rows:\nproperty|propertyLabel\n--|--\ncommon.topic.topical_webpage|Topical webpage\n"
        "travel.travel_destination.tourist_attractions|Tourist attractions"
    )
    siblings = {"entity": "m.01w4bt1", "direction": "outgoing"}
    assert len(rows(await call("search", siblings, four))) == 4


@pytest.fixture(scope="module")
def wikidata(oxigraph: Oxigraph, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The Ganges and the glacier, with an identifier elsewhere, qualifiers, and a value that two statements have."""
    path = tmp_path_factory.mktemp("papers") / "wikidata.nt"
    wikibase, number = Wikibase(), 0
    lines: list[str] = []
    names = {"Q5089": "Ganges", "Q11573": "metre"}
    labels = {"P646": "Freebase ID", "P580": "start time", "P2043": "length", "P1448": "official name"}
    for table in WIKIDATA_TABLES:
        for line in table.lines:
            relation, label, value, name = (cell.removeprefix("wdt:").removeprefix("wd:") for cell in line.split("|"))
            labels[relation], names[value] = label, name
            number += 1
            since = ("P580", Value("time", f"{1800 + number}-01-01T00:00:00Z", "9"))
            for repeated in range(2 if relation == "P17" else 1):
                lines += wikibase.statement(
                    table.entity[3:], relation, Value("item", value), [since], number=100 * repeated + number
                )
    lines += wikibase.statement("Q5089", "P646", Value("string", "/m/0c8l"), number=90)
    lines += wikibase.statement("Q5089", "P2043", Value("quantity", "2525", "Q11573"), number=91)
    for n, (name, language) in enumerate([("Gange", "fr"), ("Ganges River", "en"), ("Ganges", "de")]):
        lines += wikibase.statement("Q5089", "P1448", Value("text", name, language), number=92 + n)
    for key, label in labels.items():
        kind = {"P646": "external-id", "P580": "time", "P2043": "quantity", "P1448": "text"}.get(key, "item")
        lines += wikibase.property(key, kind, [(label, "en")])
    for key, name in names.items():
        lines += wikibase.item(key, [(name, "en")])
    path.write_text("".join(lines), encoding="utf-8")
    oxigraph.load(path, WIKIDATA_GRAPH)
    return served(f"wikidata+{oxigraph.url}?default-graph-uri={WIKIDATA_GRAPH}")


_ELSEWHERE = {
    "wd:Q5089": ["wdt:P646|Freebase ID|/m/0c8l|", "wdt:P2043|length|2525|", "wdt:P1448|official name|Ganges River|"]
}
"""Rows besides those that the paper prints."""


@pytest.mark.parametrize("table", WIKIDATA_TABLES, ids=lambda table: table.entity)
async def test_on_wikidata_search_prints_the_papers_tables_of_bare_values(wikidata: Settings, table: Table) -> None:
    text = await call("search", {"entity": table.entity, "direction": "outgoing"}, wikidata)
    assert sorted(rows(text)) == sorted([*table.lines, *_ELSEWHERE.get(table.entity, [])])


@pytest.mark.parametrize(
    ("languages", "name"), [(("de", "en"), "Ganges"), (("it", "fr"), "Gange"), (("it",), "Ganges")]
)
async def test_on_wikidata_a_text_stands_once_in_the_preferred_language_that_there_is(
    wikidata: Settings, languages: tuple[str, ...], name: str
) -> None:
    arguments = {"entity": "wd:Q5089", "direction": "outgoing", "properties_to_filter_for": ["wdt:P1448"]}
    text = await call("search", arguments, wikidata.model_copy(update={"languages": languages}))
    assert [row.split("|")[2] for row in rows(text)] == [name]


async def test_on_wikidata_tools_without_a_papers_format_read_statements_with_their_qualifiers(
    wikidata: Settings,
) -> None:
    every = wikidata.model_copy(update={"toolsets": ("sog", "plans", "linking")})
    usual = every.model_copy(update={"paper_format": False})
    plan = {"plan": "MATCH (a {id: 'wd:Q691557'})-[r:`wdt:P17`]->(b) RETURN b, r"}
    answer = await call("run_plan", plan, every)
    assert "start time: 18" in answer
    assert answer == await call("run_plan", plan, usual)
    assert await call("describe_graph", {"name": "wdt:P17"}, every) == await call(
        "describe_graph", {"name": "wdt:P17"}, usual
    )


async def test_on_wikidata_an_answer_read_as_a_bare_value_is_connected_by_its_statement(wikidata: Settings) -> None:
    async with client(wikidata.model_copy(update={"toolsets": ("sog", "trail", "ark")})) as connected:

        async def ask(tool: str, **given: object) -> str:
            result = await connected.call_tool(tool, given)
            assert not result.is_error, text_of(result)
            return text_of(result)

        trail = (await ask("start_trail", question="Where?", topic_entities=["wd:Q691557"])).split()[1]
        await ask("search", entity="wd:Q691557", direction="outgoing", trail=trail)
        verdict = await ask("check_answer", trail=trail, answers=["wd:Q668"])
        assert "|connected|" in verdict
        assert "Changed" not in verdict


async def test_on_wikidata_graphwalker_lists_properties_and_triples_by_name(wikidata: Settings) -> None:
    text = await call("get_relations", {"entity": "wd:Q691557"}, wikidata)
    assert set(text.split(", ")) == {"wdt:P4552", "wdt:P31", "wdt:P17", "wdt:P885"}
    given = {"entity": "wd:Q691557", "relations": ["wdt:P17", "wdt:P885"]}
    assert await call("get_triples", given, wikidata) == (
        "[wd:Q691557, wdt:P17, India],\n[Ganges, wdt:P885, wd:Q691557]".replace("wd:Q691557", "Gangotri Glacier")
    )


async def test_a_file_made_from_wikidata_shows_identifiers_elsewhere_too(tmp_path: Path) -> None:
    wikibase = Wikibase()
    lines = [
        *wikibase.property("P646", "external-id", [("Freebase ID", "en")]),
        *wikibase.item("Q5089", [("Ganges", "en")]),
        *wikibase.statement("Q5089", "P646", Value("string", "/m/0c8l"), number=1),
    ]
    (tmp_path / "w.nt").write_text("".join(lines), encoding="utf-8")
    load([tmp_path / "w.nt"], tmp_path / "w.kg")
    arguments = {"entity": "wd:Q5089", "direction": "outgoing"}
    shown = rows(await call("search", arguments, served(str(tmp_path / "w.kg"))))
    assert "wdt:P646|Freebase ID|/m/0c8l|" in shown
    usual = await call("search", arguments, served(str(tmp_path / "w.kg"), paper_format=False))
    assert "/m/0c8l" not in usual


# GraphWalker ----------------------------------------------------------------------------------------------------------


def _one_line(text: str) -> str:
    return " ".join(text.split())


@FREEBASE_STORES
async def test_get_triples_prints_the_papers_observation(store: str, request: pytest.FixtureRequest) -> None:
    settings: Settings = request.getfixturevalue(store)
    given = {"entity": "1946 World Series", "relations": WALK_RELATIONS.split(", ")}
    assert _one_line(await call("get_triples", given, settings)) == WALK


@FREEBASE_STORES
async def test_get_relations_prints_ids_of_both_directions(store: str, request: pytest.FixtureRequest) -> None:
    settings: Settings = request.getfixturevalue(store)
    text = await call("get_relations", {"entity": "1946 World Series"}, settings)
    assert set(text.split(", ")) - {"type.object.name"} == set(WALK_RELATIONS.split(", "))


async def test_a_node_without_a_name_is_flattened_to_two_hop_relations_literals_too(freebase: Settings) -> None:
    relation = "people.person.sibling_s"
    two_hops = f"{relation}.people.sibling_relationship"
    offered = (await call("get_relations", {"entity": "m.01w4bt1"}, freebase)).split(", ")
    assert {f"{two_hops}.sibling", f"{two_hops}.since"} <= set(offered)
    text = await call("get_triples", {"entity": "m.01w4bt1", "relations": [relation]}, freebase)
    assert sorted(text.split(",\n")) == [
        f"[Elijah Blue Allman, {two_hops}.sibling, Chaz Bono]",
        f"[Elijah Blue Allman, {two_hops}.since, 1976]",
    ]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A hub with 130 relations that leave it, 120 that point at it, and 45 spokes of one relation."""
    folder = tmp_path_factory.mktemp("wheel")
    edges = [("hub", f"out{n:03}", f"o{n}") for n in range(130)] + [(f"i{n}", f"in{n:03}", "hub") for n in range(120)]
    edges += [("hub", "spoke", f"s{n:02}") for n in range(45)]
    (folder / "wheel.tsv").write_text("".join("\t".join(edge) + "\n" for edge in edges))
    load([folder / "wheel.tsv"], folder / "wheel.kg")
    return served(str(folder / "wheel.kg"))


async def test_a_hundred_relations_are_listed_in_each_direction(wheel: Settings) -> None:
    listed = (await call("get_relations", {"entity": "hub"}, wheel)).split(", ")
    assert listed == [f"out{n:03}" for n in range(100)] + [f"in{n:03}" for n in range(100)]


async def test_the_first_four_relations_are_followed_to_five_triples_each(wheel: Settings) -> None:
    relations = ["spoke", "out000", "in000", "out001", "out002", "out003"]
    text = await call("get_triples", {"entity": "hub", "relations": relations}, wheel)
    assert text.split(",\n") == [
        *(f"[hub, spoke, s{n:02}]" for n in range(5)),
        "[hub, out000, o0]",
        "[i0, in000, hub]",
        "[hub, out001, o1]",
    ]


async def test_relations_that_the_entity_does_not_have_are_our_error(wheel: Settings) -> None:
    error = await refused("get_triples", {"entity": "hub", "relations": ["spokes"]}, wheel)
    assert error.startswith("Not found: 'hub' has no relation 'spokes'")
    assert "Nearest: spoke" in error


# GraphWalk ------------------------------------------------------------------------------------------------------------

_STATEMENTS = (
    "CREATE (:Person {name: 'John Smith', age: 30, id: 'person_123'}), (:Company {name: 'Pfizer'}), "
    "(:Company {name: 'Johnson & Johnson'}), (:Company {name: 'Merck'}), "
    "(:Person {name: 'Ann', tags: ['a', 'a']})",
    "MATCH (a:Person {name: 'John Smith'}), (b:Company {name: 'Merck'}), (c:Person {name: 'Ann'}) "
    "CREATE (a)-[:WORKS_AT {since: 2001}]->(b), (c)-[:MET_IN {year: '2020'}]->(a), (c)-[:MET_IN {year: '2021'}]->(b)",
    "MATCH (a:Person {name: 'John Smith'}) UNWIND range(1, 300) AS n CREATE (a)-[:OWNS]->(:Thing {number: n})",
)


@pytest.fixture(scope="module")
def people(neo4j: Neo4j) -> Settings:
    neo4j.clear()
    for statement in _STATEMENTS:
        write(neo4j, statement)
    return served(neo4j.url)


@pytest.fixture(scope="module")
def people_file(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The same people and companies as a graph file."""
    folder = tmp_path_factory.mktemp("people")
    nodes = [":ID,:LABEL,name,age:int,id,tags:string[]", "j,Person,John Smith,30,person_123,", "a,Person,Ann,,,a;a"]
    nodes += ["p,Company,Pfizer,,,", "x,Company,Johnson & Johnson,,,", "m,Company,Merck,,,"]
    edges = [":START_ID,:TYPE,:END_ID,since:int,year", "j,WORKS_AT,m,2001,", "a,MET_IN,j,,2020", "a,MET_IN,m,,2021"]
    things = [":ID,:LABEL,number:int", *(f"t{n},Thing,{n}" for n in range(1, 301))]
    owned = [":START_ID,:TYPE,:END_ID", *(f"j,OWNS,t{n}" for n in range(1, 301))]
    files = {"nodes": nodes, "edges": edges, "things": things, "owned": owned}
    for name, lines in files.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    load([folder / f"{name}.csv" for name in files], folder / "people.kg")
    return served(str(folder / "people.kg"))


JOHN = {"label": "Person", "property_name": "name", "property_value": "John Smith"}
STORES = pytest.mark.parametrize(
    "store", [pytest.param("people", marks=pytest.mark.xdist_group("neo4j")), "people_file"]
)


@STORES
async def test_a_node_is_an_object_with_all_its_properties(store: str, request: pytest.FixtureRequest) -> None:
    settings: Settings = request.getfixturevalue(store)
    text = await call("get_node_by_property", JOHN, settings)
    assert json.loads(text) == [{"name": "John Smith", "age": 30, "id": "person_123"}]
    ann = await call("get_node_by_property", {**JOHN, "property_value": "Ann"}, settings)
    assert json.loads(ann) == [{"name": "Ann", "tags": ["a", "a"]}]
    assert json.loads(await call("get_node_by_property", {**JOHN, "property_value": "Nobody"}, settings)) == []


@STORES
async def test_all_nodes_of_a_value_are_given_with_all_properties(store: str, request: pytest.FixtureRequest) -> None:
    settings: Settings = request.getfixturevalue(store)
    given = {"label": "Thing", "property_name": "number", "property_value": 7}
    assert json.loads(await call("get_node_by_property", given, settings)) == [{"number": 7}]


@STORES
async def test_all_neighbours_are_given_beyond_the_threshold_of_hubs_and_the_budget(
    store: str, request: pytest.FixtureRequest
) -> None:
    settings: Settings = request.getfixturevalue(store)
    text = await call("get_all_nearest_neighbors", JOHN, settings)
    found = json.loads(text)
    assert count_tokens(text) > settings.budget
    assert sorted(one["neighbor"]["number"] for one in found if one["labels"] == ["Thing"]) == [*range(1, 301)]
    assert [one for one in found if one["labels"] != ["Thing"]] == [
        {
            "neighbor": {"name": "Merck"},
            "labels": ["Company"],
            "relationship": {"type": "WORKS_AT", "direction": "outgoing", "properties": {"since": 2001}},
        },
        {
            "neighbor": {"name": "Ann", "tags": ["a", "a"]},
            "labels": ["Person"],
            "relationship": {"type": "MET_IN", "direction": "incoming", "properties": {"year": "2020"}},
        },
    ]


@STORES
async def test_distinct_values_are_objects_of_values(store: str, request: pytest.FixtureRequest) -> None:
    settings: Settings = request.getfixturevalue(store)
    companies = {"property_name": "name", "entity_name": "Company", "entity_type": "Node"}
    assert await call("get_unique_property_values", companies, settings) == (
        '[{"values": "Johnson & Johnson"}, {"values": "Merck"}, {"values": "Pfizer"}]'
    )
    years = {"property_name": "year", "entity_name": "MET_IN", "entity_type": "Relationship"}
    text = await call("get_unique_property_values", years, settings)
    assert text == '[{"values": "2020"}, {"values": "2021"}]'


@pytest.mark.parametrize("row_limit", [1000, 7])
async def test_values_are_read_to_the_end_however_long_a_page_is(people_file: Settings, row_limit: int) -> None:
    settings = served(people_file.graphs["g"].location, row_limit=row_limit)
    given = {"property_name": "number", "entity_name": "Thing", "entity_type": "node"}
    values = [one["values"] for one in json.loads(await call("get_unique_property_values", given, settings))]
    assert values == [*range(1, 301)]


async def test_more_than_twenty_nodes_are_given_with_all_their_properties(tmp_path: Path) -> None:
    lines = [":ID,:LABEL,kind,number:int", *(f"n{n},Thing,same,{n}" for n in range(450))]
    (tmp_path / "n.csv").write_text("\n".join(lines) + "\n")
    load([tmp_path / "n.csv"], tmp_path / "n.kg")
    given = {"label": "Thing", "property_name": "kind", "property_value": "same"}
    found = json.loads(await call("get_node_by_property", given, served(str(tmp_path / "n.kg"))))
    assert sorted(one["number"] for one in found) == [*range(450)]
    assert all(one["kind"] == "same" for one in found)
    error = await refused("get_all_nearest_neighbors", given, served(str(tmp_path / "n.kg")))
    assert "must be complete" in error


async def test_a_thought_comes_back_unchanged() -> None:
    assert await call("think", {"thought": "First,\n  then."}, DEMO) == "First,\n  then."


# The mode -------------------------------------------------------------------------------------------------------------


async def test_above_a_megabyte_an_answer_is_an_error_with_the_next_step_and_never_cut(tmp_path: Path) -> None:
    text = "x" * 2_000
    lines = [":ID,:LABEL,name,long", "hub,Hub,hub,", *(f"n{n},Thing,n{n},{text}" for n in range(600))]
    (tmp_path / "n.csv").write_text("\n".join(lines) + "\n")
    edges = [":START_ID,:TYPE,:END_ID", *(f"hub,HAS,n{n}" for n in range(600))]
    (tmp_path / "e.csv").write_text("\n".join(edges) + "\n")
    values = "".join(f'<urn:hub> <urn:says> "{n}{"y" * 3_000}" .\n' for n in range(400))
    (tmp_path / "v.nt").write_text(values)
    load([tmp_path / "n.csv", tmp_path / "e.csv"], tmp_path / "n.kg")
    load([tmp_path / "v.nt"], tmp_path / "v.kg")
    settings = served(str(tmp_path / "n.kg"))
    hub = {"label": "Hub", "property_name": "name", "property_value": "hub"}
    error = await refused("get_all_nearest_neighbors", hub, settings)
    assert error.startswith("Too large: the answer has more than 1,000,000 bytes")
    assert "Next: Narrow the neighbours" in error
    values_of = {"property_name": "long", "entity_name": "Thing", "entity_type": "node"}
    few = json.loads(await call("get_unique_property_values", values_of, settings))
    assert few == [{"values": text}]
    said = {"entity": "urn:hub", "direction": "outgoing", "properties_to_filter_for": ["urn:says"]}
    assert (await refused("search", said, served(str(tmp_path / "v.kg")))).startswith("Too large")
    half = await call("search", said, served(str(tmp_path / "v.kg"), row_limit=300))
    assert 900_000 < len(half) < MAX_BYTES
    assert all(len(row) > 3_000 for row in rows(half))


async def test_a_cursor_is_refused() -> None:
    given = {"entity": "zundert", "direction": "outgoing", "cursor": "x"}
    assert "have no cursor" in await refused("search", given, DEMO)


async def test_other_tools_answer_as_usual() -> None:
    for tool, given in (("find_node", {"hint": "van Gogh"}), ("describe_graph", {})):
        assert await call(tool, given, DEMO) == await call(tool, given)


async def test_instructions_and_tool_texts_promise_no_completeness_lines() -> None:
    async with client(DEMO) as connected:
        assert "have the formats of their papers" in (connected.instructions or "")
        assert "first line" not in (connected.instructions or "")
        texts = {tool.name: tool.description or "" for tool in (await connected.list_tools()).tools}
    assert not [name for name in ("search", "get_relations", "get_triples") if "first line" in texts[name]]
    assert "JSON list" in texts["get_all_nearest_neighbors"]


async def test_prompts_and_instructions_hold_in_the_papers_formats_too() -> None:
    async with client(DEMO) as connected:
        names = [prompt.name for prompt in (await connected.list_prompts()).prompts]
        texts = [(await connected.get_prompt(name, {"question": "who?"})).model_dump_json() for name in names]
        texts.append(connected.instructions or "")
    assert {"search_on_graph", "graphwalker", "graphwalk"} <= set(names)
    for promise in ("first line", "with counts"):
        assert not [text[:60] for text in texts if promise in text], promise


async def test_structured_answers_have_no_papers_format() -> None:
    with pytest.raises(ConfigurationError, match="--structured and --paper-format cannot be combined"):
        App(Settings(paper_format=True, structured=True))


async def test_a_recorded_call_keeps_what_the_papers_answer_showed(graph_file: Settings) -> None:
    settings = served(graph_file.graphs["g"].location, toolsets=("sog", "graphwalker", "graphwalk", "trail"))
    async with client(settings) as connected:
        started = await connected.call_tool("start_trail", {"question": "Sons?", "topic_entities": ["m.01vtj38"]})
        trail = text_of(started).partition("\n")[0].removeprefix("trail: ")
        arguments = {"entity": "m.01vtj38", "direction": "outgoing", "trail": trail}
        assert len(rows(text_of(await connected.call_tool("search", arguments)))) == 4
        checked = await connected.call_tool("check_answer", {"trail": trail, "answers": ["Chaz Bono", "m.017k6"]})
    assert [line.split("|")[:2] for line in text_of(checked).splitlines() if line.startswith(("Chaz", "m.017k6"))] == [
        ["Chaz Bono", "connected"],
        ["m.017k6", "never seen"],
    ]
