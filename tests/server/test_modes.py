"""Settings change the answers as they say: structure, the paper's table, thresholds, budgets, several graphs."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp import Client
from mcp_types import TextContent

from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.app import App
from kgnav_mcp.config import GraphSettings, Settings
from kgnav_mcp.demo import demo_graph_path
from kgnav_mcp.render.text import count_tokens
from kgnav_mcp.server import build_server
from tests.server.clients import DEMO, call, client, example, refused, text_of

ZUNDERT = {"entity": "zundert", "direction": "outgoing"}
HUB = {"entity": "the_netherlands", "direction": "outgoing"}


async def test_structured_answers_hold_the_same_facts_with_one_line_of_text() -> None:
    chosen = {**HUB, "properties_to_filter_for": ["capital", "borders"]}
    markdown = await call("search", chosen)
    async with client(Settings(structured=True)) as connected:
        result = await connected.call_tool("search", chosen)
    assert isinstance(result.content[0], TextContent)
    assert result.content[0].text == markdown.splitlines()[0] == "3 rows"
    facts = result.structured_content
    assert facts is not None
    assert facts["completeness"]["total"] == 3
    rows = [(row["property"]["id"], row["value"]["id"], row["value"]["label"]) for row in facts["rows"]]
    assert [f"{name}|{name}|{value}|{label}" for name, value, label in rows] == markdown.splitlines()[3:]


async def test_every_tool_says_how_its_structure_looks_only_where_it_gives_one() -> None:
    async with client(Settings(structured=True)) as connected:
        assert all(tool.output_schema for tool in (await connected.list_tools()).tools)
    async with client() as connected:
        assert not any(tool.output_schema for tool in (await connected.list_tools()).tools)


async def test_servers_share_an_apps_graphs_and_the_last_one_closes_them() -> None:
    app = App(DEMO)
    async with Client(build_server(app)):
        async with app.graph().adapter() as first:
            pass
        async with Client(build_server(app, structured=True)) as script:
            assert (await script.call_tool("search", ZUNDERT)).structured_content
        async with app.graph().adapter() as again:
            assert again is first


async def test_a_text_is_sent_once() -> None:
    async with client() as connected:
        result = await connected.call_tool("search", ZUNDERT)
    assert result.structured_content is None
    assert len(result.content) == 1


async def test_the_papers_table_has_nothing_but_the_table() -> None:
    settings = Settings(paper_format=True)
    assert await call("search", {**HUB, "properties_to_filter_for": ["capital"]}, settings) == (
        "1 rows:\nproperty|propertyLabel|value|valueLabel\n--|--|--|--\ncapital||amsterdam|Amsterdam"
    )
    assert (await call("search", HUB, settings)).splitlines()[:3] == ["8 rows:", "property|propertyLabel", "--|--"]


async def test_the_papers_table_is_cut_at_p_rows_and_not_at_the_budget() -> None:
    settings = Settings(paper_format=True, row_limit=40, budget=500)
    text = await call("search", {**HUB, "properties_to_filter_for": ["contains"]}, settings)
    assert text.startswith("40 rows:\n")
    assert len(text.splitlines()) == 43


async def test_the_hub_threshold_decides_what_collapses() -> None:
    assert (await call("search", HUB, Settings(hub_threshold=500))).splitlines()[1].startswith("property|")
    assert "too many neighbours to list" in await call("search", ZUNDERT, Settings(hub_threshold=3))


async def test_a_small_row_limit_pages_through_everything_once() -> None:
    settings = Settings(row_limit=7)
    chosen: dict[str, object] = {**HUB, "properties_to_filter_for": ["contains", "borders"]}
    rows: list[str] = []
    cursor = ""
    while True:
        text = await call("search", {**chosen, "cursor": cursor}, settings)
        rows += text.splitlines()[3:]
        if 'next: cursor "' not in text:
            break
        cursor = text.partition('next: cursor "')[2].partition('"')[0]
    assert text.splitlines()[0] == "showing rows 57 to 57 of 57 rows; that is the end"
    assert len(rows) == len(set(rows)) == 57
    assert rows == (await call("search", chosen)).splitlines()[3:]


async def test_every_cell_of_a_candidate_keeps_the_literal_limit(tmp_path: Path) -> None:
    rows = [(":ID", ":LABEL", "name", "aka", "description")]
    rows += [("e1", ";".join(f"Type{n:02}" for n in range(30)), "Elephant " + "n" * 400, "trunk " * 80, "grey " * 600)]
    (tmp_path / "zoo.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    load([tmp_path / "zoo.csv"], tmp_path / "zoo.kg")
    settings = Settings(graphs={"zoo": GraphSettings(location=str(tmp_path / "zoo.kg"))}, literal_limit=40)
    line = (await call("find_node", {"hint": "trunk"}, settings)).splitlines()[3]
    entity, name, types, description, _, _, matched = line.split("|")
    assert entity == "e1"
    assert name == f"Elephant {'n' * 31}... (409 characters)"
    assert types == "Type00, Type01, Type02, Type03, Type04, Type05, and 24 more"
    assert description.endswith(" grey ... (3,000 characters)")
    assert matched.endswith("... (480 characters)")
    assert all(len(cell) < 70 for cell in (name, types, description, matched))


@pytest.mark.parametrize("budget", [500, 700, 1500])
async def test_no_answer_is_over_the_budget(budget: int) -> None:
    settings = Settings(budget=budget, hub_threshold=1000)
    long: list[tuple[str, dict[str, object]]] = [
        ("get_triples", {"entity": "the_netherlands", "relations": ["contains", "country"]}),
        ("get_all_nearest_neighbors", {"label": "*", "property_name": "id", "property_value": "the_netherlands"}),
        ("get_unique_property_values", {"property_name": "name", "entity_name": "*", "entity_type": "node"}),
        ("find_node", {"hint": "van", "limit": 100}),
    ]
    async with client(settings) as connected:
        offered = [tool.name for tool in (await connected.list_tools()).tools]
        for tool, arguments in (*((name, example(name)) for name in offered), *long):
            result = await connected.call_tool(tool, arguments)
            assert not result.is_error, tool
            assert count_tokens(text_of(result)) <= budget, tool


async def test_top_k_cuts_ranked_relations_and_a_cursor_shows_the_rest() -> None:
    arguments = {"entity": "vincent_van_gogh", "question": "Where was he born?"}
    settings = Settings(top_k=5)
    first = await call("get_relations", arguments, settings)
    assert first.startswith("showing 5 of 23 relations")
    shown = {tuple(line.split("|")[::2]) for line in first.splitlines()[4:-1]}
    while 'next: cursor "' in first:
        cursor = first.partition('next: cursor "')[2].partition('"')[0]
        first = await call("get_relations", {**arguments, "cursor": cursor}, settings)
        shown |= {tuple(line.split("|")[::2]) for line in first.splitlines()[3:-1]}
    assert len(shown) == 23


async def test_a_list_that_cannot_be_gone_on_with_gives_no_cursor() -> None:
    text = await call("find_node", {"hint": "van Gogh", "limit": 2})
    assert text.startswith("showing 2 of ")
    assert "cursor" not in text
    assert text.endswith("or a larger limit.")


async def test_a_hubs_relations_cut_by_the_budget_give_the_cursor_of_its_neighbours_only() -> None:
    arguments: dict[str, object] = {"label": "Country", "property_name": "id", "property_value": "the_netherlands"}
    settings = Settings(budget=500)
    text = await call("get_all_nearest_neighbors", arguments, settings)
    assert "cursor" not in text.splitlines()[0]
    cursor = text.partition('with cursor "')[2].partition('"')[0]
    rows = await call("get_all_nearest_neighbors", {**arguments, "cursor": cursor}, settings)
    assert rows.splitlines()[1].startswith("direction|relationship|neighbor|")


async def test_white_and_black_lists_narrow_what_graphwalker_offers() -> None:
    text = await call("get_relations", {"entity": "zundert"}, Settings(white_list=("*_in",), black_list=("lived*",)))
    assert [line.split("|")[0] for line in text.splitlines()[3:-1]] == ["located_in", "born_in"]
    error = await refused("get_triples", {"entity": "zundert", "relations": ["lived_in"]}, Settings(black_list=("l*",)))
    assert "has no relation 'lived_in'" in error


async def test_several_graphs_are_chosen_by_an_argument(tmp_path: Path) -> None:
    gone = GraphSettings(location=str(tmp_path / "gone.kg"))
    settings = Settings(graphs={"art": GraphSettings(location="demo"), "gone": gone})
    async with client(settings) as connected:
        tools = (await connected.list_tools()).tools
    assert all(tool.input_schema["properties"]["graph"]["enum"] == ["art", "gone"] for tool in tools)
    assert await call("search", {**ZUNDERT, "graph": "art"}, settings) == await call("search", ZUNDERT, DEMO)
    assert (await refused("search", {**ZUNDERT, "graph": "gone"}, settings)).startswith("Store down: ")
    assert (await refused("search", {**ZUNDERT, "graph": "atr"}, settings)).startswith("Not found: unknown graph")


async def test_one_graph_needs_no_argument_to_choose_it() -> None:
    async with client() as connected:
        assert all("graph" not in tool.input_schema["properties"] for tool in (await connected.list_tools()).tools)


async def test_a_broken_graph_is_said_by_every_tool_and_works_once_it_is_mended(tmp_path: Path) -> None:
    file = tmp_path / "films.kg"
    file.write_text("this is no graph")
    settings = Settings(graphs={"films": GraphSettings(location=str(file))})
    async with client(settings) as connected:
        for tool in (await connected.list_tools()).tools:
            result = await connected.call_tool(tool.name, example(tool.name))
            assert result.is_error
            assert isinstance(result.content[0], TextContent)
            assert "kgnav load" in result.content[0].text, tool.name
        file.write_bytes(demo_graph_path().read_bytes())
        assert not (await connected.call_tool("search", ZUNDERT)).is_error


async def test_a_property_that_is_absent_is_named_beside_the_rows_of_the_others_in_text_and_structure() -> None:
    given = {**ZUNDERT, "properties_to_filter_for": ["country", "locatedin", "born_in"]}
    notes = [
        "No outgoing relation 'locatedin'; nearest: located_in,",
        "No outgoing relation 'born_in', but an incoming one: search with direction=incoming.",
    ]
    lines = (await call("search", given)).splitlines()
    assert lines[0] == "1 row"
    assert [line.startswith(note) for line, note in zip(lines[1:3], notes, strict=True)] == [True, True]
    async with client(Settings(structured=True)) as connected:
        facts = (await connected.call_tool("search", given)).structured_content
    assert facts is not None
    assert [row["value"]["id"] for row in facts["rows"]] == ["the_netherlands"]
    assert facts["notes"] == lines[1:3]
