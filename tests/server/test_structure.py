"""Structured answers: each keeps to its tool's own schema, numbers are numbers, and nothing is lost beside the text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from kgnav_mcp.config import TOOLSETS, Settings
from kgnav_mcp.server.trail_recorder import TRAIL, TrailUse
from tests.server.clients import SPECS, call, client, example, text_of

EVERY = Settings(toolsets=tuple(TOOLSETS), structured=True)
HUB = {"entity": "the_netherlands", "direction": "outgoing"}
PARIS = {"id": "paris", "label": "Paris"}
LIVED_IN = {"id": "lived_in", "label": "lived in"}
VINCENT = {"id": "vincent_van_gogh", "label": "Vincent van Gogh"}
ART = {"label": "*", "property_name": "id"}
CALLS: list[tuple[str, Mapping[str, object]]] = [
    ("start_trail", example("start_trail")),
    *((tool, example(tool)) for tool in SPECS if tool != "start_trail"),
    ("search", {"entity": "zundert", "direction": "outgoing"}),
    ("search", {"entity": "vincent_van_gogh", "direction": "outgoing"}),
    ("search", {"entity": ["zundert", "paris"], "direction": "incoming"}),
    ("search", {"entity": "zundert", "direction": "outgoing", "match": "no such words"}),
    ("search", {**HUB, "entity": ["the_netherlands", "paris"]}),
    ("get_relations", {"entity": ["zundert", "paris"], "question": "Who was born there?"}),
    ("get_triples", {"entity": "vincent_van_gogh", "relations": ["lived_in", "born_in"]}),
    ("get_triples", {"entity": ["zundert", "paris"], "relations": ["located_in"]}),
    ("get_node_by_property", {**ART, "property_value": "zundert"}),
    ("get_node_by_property", {**ART, "property_value": "nowhere at all"}),
    ("get_node_by_property", {**ART, "property_value": "zundert", "properties": ["name", "population", "poplation"]}),
    ("get_all_nearest_neighbors", {**ART, "property_value": "vincent_van_gogh"}),
    ("get_all_nearest_neighbors", {"label": "Painting", "property_name": "year", "property_value": 1889}),
    ("get_all_nearest_neighbors", {**ART, "property_value": "the_netherlands"}),
    ("get_unique_property_values", {"property_name": "year", "entity_name": "*", "entity_type": "node"}),
    ("get_unique_property_values", {"property_name": "from", "entity_name": "*", "entity_type": "relationship"}),
    ("think", {"thought": "a | b"}),
    ("find_node", {"hint": "qqqqqqqqqq"}),
    ("describe_graph", {"name": "Painter"}),
    ("fetch_neighbors", {"nodes": ["zundert", "Paris"], "edge_type": "located_in"}),
    ("fetch_neighbors", {"nodes": ["zundert"], "node_type": "Country", "max_hops": 2}),
    ("find_common_nodes", {"pairs": [["vincent_van_gogh", "lived_in"], ["Rembrandt", "died_in"]]}),
    ("run_plan", {"plan": "MATCH (p:Painter)-[:born_in]->(c) RETURN c, count(p) AS n, collect(p.name) AS names"}),
    ("run_plan", {"plan": "MATCH (p:Painter) RETURN p, p.died IS NULL AS alive LIMIT 3", "proof": True}),
    ("search", {"entity": "vincent_van_gogh", "direction": "outgoing", "trail": ""}),
    ("check_answer", {"answers": ["zundert", "Nobody"], "trail": ""}),
]
"""Every tool's example, and calls whose answers look another way; a trail is the one that was started."""


@pytest.mark.slow
@pytest.mark.parametrize("budget", [500, 8000])
async def test_every_structured_answer_keeps_to_its_tools_own_schema(budget: int) -> None:
    async with client(EVERY.model_copy(update={"budget": budget})) as connected:
        schemas = {tool.name: tool.output_schema for tool in (await connected.list_tools()).tools}
        assert set(SPECS) == set(schemas)
        trail = ""
        for tool, arguments in CALLS:
            result = await connected.call_tool(
                tool, {**arguments, **({"trail": trail} if "trail" in arguments else {})}
            )
            assert not result.is_error, (tool, text_of(result))
            schema = schemas[tool]
            assert schema is not None
            Draft202012Validator.check_schema(schema)
            validator: Any = Draft202012Validator(schema)
            validator.validate(result.structured_content)
            if tool == "start_trail":
                started: Any = result.structured_content
                trail = started["rows"][0]["trail"]


async def test_every_tools_example_is_answered_with_rows() -> None:
    readers = {name for name, spec in SPECS.items() if spec.trail is TrailUse.READ}
    async with client(EVERY) as connected:
        started = await connected.call_tool("start_trail", example("start_trail"))
        assert started.structured_content is not None
        trail = started.structured_content["rows"][0]["trail"]
        for name in sorted(SPECS.keys() - {"start_trail"}, key=readers.__contains__):
            result = await connected.call_tool(name, {**example(name), TRAIL: trail})
            assert result.structured_content is not None, (name, text_of(result))
            assert result.structured_content["rows"], name


async def answered(tool: str, arguments: Mapping[str, object], settings: Settings = EVERY) -> dict[str, Any]:
    async with client(settings) as connected:
        result = await connected.call_tool(tool, dict(arguments))
    assert result.structured_content is not None
    return result.structured_content


async def test_numbers_of_an_answer_are_numbers() -> None:
    [first, *_] = (await answered("find_node", {"hint": "Vincent van Gogh"}))["rows"]
    assert isinstance(first["degree"], int)
    assert first["score"] == 1.0
    relations = (await answered("search", HUB))["rows"]
    assert sum(row["rows"] for row in relations) > 50
    [label, *_] = (await answered("describe_graph", {}))["rows"]
    assert isinstance(label["nodes"], int)


async def test_values_of_a_plan_keep_their_types() -> None:
    plan = (
        "MATCH (c {id: 'paris'})<-[:located_in]-(m:Museum) "
        "RETURN c, count(m) AS n, count(m) > 1 AS several, 1.5 * 2 AS mean, [1, 'a|b', null] AS list, "
        "null AS nothing"
    )
    [row] = (await answered("run_plan", {"plan": plan}))["rows"]
    assert row["c"] == PARIS
    assert isinstance(row["n"], int)
    assert row["several"] in (True, False)
    assert isinstance(row["mean"], float)
    assert row["list"] == [1, "a|b", None]
    assert row["nothing"] is None


async def test_a_plans_own_column_is_not_lost_behind_one_of_ours() -> None:
    plan = {"plan": "MATCH (c {id: 'paris'}) RETURN c, 'mine' AS cLabel"}
    [row] = (await answered("run_plan", plan))["rows"]
    assert row == {"c": PARIS, "cLabel": "mine"}
    text = await call("run_plan", plan, EVERY.model_copy(update={"structured": False}))
    assert text.splitlines()[1:] == ["c|cLabel_|cLabel", "--|--|--", "paris|Paris|mine"]


async def test_edges_and_paths_of_a_plan_are_objects_with_qualifiers_and_proof_is_a_list_of_edges() -> None:
    plan = "MATCH p = (v {id: 'vincent_van_gogh'})-[r:lived_in {from: 1886}]->(c {id: 'paris'}) RETURN p, r"
    [row] = (await answered("run_plan", {"plan": plan, "proof": True}))["rows"]
    years = [{"property": {"id": name}, "value": year} for name, year in (("from", 1886), ("to", 1888))]
    edge = {"head": VINCENT, "relation": LIVED_IN, "tail": PARIS, "qualifiers": years}
    assert row == {"p": {"nodes": [VINCENT, PARIS], "edges": [edge]}, "r": edge, "proof": [edge]}


async def test_a_collected_list_is_whole_however_long_its_text_would_be() -> None:
    plan = "MATCH (p:Painter) RETURN collect(p) AS painters, count(p) AS n"
    [row] = (await answered("run_plan", {"plan": plan}))["rows"]
    assert len(row["painters"]) == row["n"] > 50
    assert all(painter["id"] and painter["label"] for painter in row["painters"])


async def test_labels_properties_and_qualifiers_are_lists_and_literals_are_values() -> None:
    node = (await answered("get_node_by_property", {**ART, "property_value": "vincent_van_gogh"}))["rows"][0]
    assert node["node"] == VINCENT
    assert node["labels"] == ["Painter", "Person"]
    assert {"property": {"id": "born"}, "value": 1853} in node["properties"]
    arguments = {"entity": "vincent_van_gogh", "relations": ["lived_in"]}
    triples = (await answered("get_triples", arguments))["rows"]
    stays = [row["qualifiers"] for row in triples if row["tail"] == PARIS]
    assert any({"property": {"id": "from"}, "value": 1886} in qualifiers for qualifiers in stays)
    relations = (await answered("describe_graph", {"name": "lived_in"}))["rows"]
    [lived] = [row for row in relations if row["kind"] == "relation"]
    assert {"property": "from", "types": ["integer"]} in lived["qualifiers"]
    assert all(isinstance(join["triples"], int) for join in lived["joins"])
