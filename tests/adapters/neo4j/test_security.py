"""Nothing can be written, whatever stands in whichever parameter of whichever tool."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp import Client

from kgnav_mcp.app import App
from kgnav_mcp.config import GraphSettings, Settings
from kgnav_mcp.server import build_server
from kgnav_mcp.server.tool import ToolSpec
from kgnav_mcp.server.toolsets import load_toolsets
from tests.adapters.neo4j.graphs import SHOP, fill, write
from tests.neo4j_service import Neo4j
from tests.sampling import sampled

INJECTIONS = (
    "x'}) DETACH DELETE n //",
    'x"}) CREATE (:Pwned) RETURN 1 //',
    "`) CREATE (:Pwned) WITH 1 AS n MATCH (m) DETACH DELETE m //",
    "Product`) SET n.pwned = true RETURN n //",
    "SELLS`]->() CREATE (:Pwned) //",
    "\u0060) CREATE (:Pwned) //",
    "$values CREATE (:Pwned)",
    "} CALL { CREATE (:Pwned) } //",
    "*:* OR name:/.*/ ~ ^ \\",
    "LOAD CSV FROM 'file:///etc/passwd' AS line CREATE (:Pwned)",
    "CALL apoc.cypher.doIt('CREATE (:Pwned)', {})",
    "{seek} {cell} {edge}",
    "Product:sku=1 OR 1=1",
    "Product:sku=1}) DETACH DELETE n //",
)

GOOD: dict[str, dict[str, object]] = {
    "search": {"entity": "Product:sku=7", "direction": "outgoing"},
    "get_relations": {"entity": "Product:sku=7"},
    "get_triples": {"entity": "Product:sku=7", "relations": ["IN_CATEGORY"]},
    "get_node_by_property": {"label": "Product", "property_name": "price", "property_value": "1.75"},
    "get_all_nearest_neighbors": {"label": "Product", "property_name": "sku", "property_value": 7},
    "get_unique_property_values": {"property_name": "price", "entity_name": "SELLS", "entity_type": "relationship"},
    "think": {"thought": "nothing"},
    "find_node": {"hint": "Product 7"},
    "describe_graph": {},
    "run_plan": {"plan": "MATCH (p:Product {sku: 7})-[r]->(c) RETURN p, type(r), c"},
    "check_plan": {"plan": "MATCH (p:Product {sku: 7})-[r]->(c) RETURN p, type(r), c"},
}
"""One call of each tool that works."""
_STATE = """
MATCH (n) WITH count(n) AS nodes, sum(size(keys(n))) AS values, count(DISTINCT labels(n)) AS labels
MATCH ()-[r]->() RETURN nodes, values, labels, count(r), sum(size(keys(r)))
"""


@pytest.fixture(scope="module")
def shop(neo4j: Neo4j) -> str:
    """A small shop: each name that nobody has is compared with all names."""
    return fill(neo4j, SHOP, products=20)


def _settings(url: str) -> Settings:
    return Settings(graphs={"shop": GraphSettings(location=url)})


def _specs(url: str) -> dict[str, ToolSpec[Any]]:
    return {spec.name: spec for toolset in load_toolsets(_settings(url).toolsets).values() for spec in toolset.tools}


def _parameters(tool: str, url: str) -> list[str]:
    return list(_specs(url)[tool].arguments.model_fields)


@pytest.mark.parametrize("tool", sampled(sorted(GOOD), 4))
async def test_no_parameter_of_a_tool_writes(neo4j: Neo4j, shop: str, tool: str):
    before = write(neo4j, _STATE)
    async with Client(build_server(App(_settings(shop)))) as client:
        good = await client.call_tool(tool, GOOD[tool])
        assert not good.is_error, good
        for parameter in _parameters(tool, shop):
            for value in (*INJECTIONS, [*INJECTIONS]):
                await client.call_tool(tool, {**GOOD[tool], parameter: value})
        again = await client.call_tool(tool, GOOD[tool])
    assert again.content == good.content
    assert write(neo4j, _STATE) == before
    labels = [str(row[0]) for row in write(neo4j, "CALL db.labels() YIELD label RETURN label")]
    assert "Pwned" not in json.dumps(labels)


def test_every_tool_is_among_those_tried(shop: str):
    assert set(_specs(shop)) == set(GOOD)
