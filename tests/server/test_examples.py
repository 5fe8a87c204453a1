"""The example of an error is a call about what was asked for; it works, and it finds something."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import patch

import pytest

from kgnav_mcp.adapters.embedded.adapter import EmbeddedAdapter
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.config import TOOLSETS, GraphSettings, Settings
from kgnav_mcp.errors import StoreTimeout, UnknownName, UnknownRelation
from kgnav_mcp.model import Entity
from kgnav_mcp.render.table import Answer
from kgnav_mcp.server.examples import Signature, working_call
from tests.server.clients import DEMO, client, refused, text_of

TWO = Settings(graphs={name: GraphSettings(location="demo") for name in ("art", "more")})
SAYS = "A call that works here: "

MENDED: list[tuple[str, dict[str, object], str]] = [
    (
        "search",
        {"entity": "vincent_van_gog", "direction": "outgoing"},
        'search(entity="vincent_van_gogh", direction="outgoing")',
    ),
    ("get_relations", {"entity": "vincent_van_gog"}, 'get_relations(entity="vincent_van_gogh")'),
    (
        "get_triples",
        {"entity": "vincent_van_gog", "relations": ["born_in"]},
        'get_triples(entity="vincent_van_gogh", relations=["born_in"])',
    ),
    (
        "get_triples",
        {"entity": "vincent_van_gog", "relations": ["bornin", "died"]},
        'get_triples(entity="vincent_van_gogh", relations=["born_in", "died"])',
    ),
    (
        "get_relations",
        {"entity": ["zundert", "vincent_van_gog", "William II"]},
        'get_relations(entity=["zundert", "vincent_van_gogh", "william_ii_of_the_netherlands"])',
    ),
    (
        "get_relations",
        {"entity": ["zundert", "vincent_van_gog"]},
        'get_relations(entity=["zundert", "vincent_van_gogh"])',
    ),
    (
        "search",
        {"entity": ["zundert", "Amsterdam"], "direction": "outgoing", "properties_to_filter_for": ["locatedin"]},
        'search(entity=["zundert", "amsterdam"], direction="outgoing", properties_to_filter_for=["located_in"])',
    ),
    (
        "search",
        {"entity": "The Stary Night", "direction": "incoming"},
        'search(entity="the_starry_night", direction="outgoing")',
    ),
    ("get_relations", {"entity": "William II"}, 'get_relations(entity="william_ii_of_the_netherlands")'),
    (
        "search",
        {"entity": "zundert", "direction": "outgoing", "properties_to_filter_for": ["locatedin"]},
        'search(entity="zundert", direction="outgoing", properties_to_filter_for=["located_in"])',
    ),
    (
        "search",
        {"entity": "zundert", "direction": "outgoing", "properties_to_filter_for": "locatedin"},
        'search(entity="zundert", direction="outgoing", properties_to_filter_for=["located_in"])',
    ),
    (
        "search",
        {"entity": "zundert", "direction": "outgoing", "properties_to_filter_for": ["borm_in", "born_in"]},
        'search(entity="zundert", direction="incoming", properties_to_filter_for=["born_in"])',
    ),
    (
        "search",
        {"entity": "the_starry_night", "direction": "incoming", "properties_to_filter_for": ["nothing_like_it"]},
        'search(entity="the_starry_night", direction="outgoing")',
    ),
    (
        "get_triples",
        {"entity": "zundert", "relations": ["locatedin", "borm_in"]},
        'get_triples(entity="zundert", relations=["located_in", "born_in"])',
    ),
    (
        "get_node_by_property",
        {"label": "Painters", "property_name": "born", "property_value": 1853},
        'get_node_by_property(label="Painter", property_name="born", property_value=1853)',
    ),
    (
        "get_all_nearest_neighbors",
        {"label": "Citty", "property_name": "name", "property_value": "Zundert"},
        'get_all_nearest_neighbors(label="City", property_name="name", property_value="Zundert")',
    ),
    (
        "get_node_by_property",
        {"label": "Painters", "property_name": "borm", "property_value": 1853},
        'get_node_by_property(label="Painter", property_name="born", property_value=1853)',
    ),
    (
        "get_unique_property_values",
        {"property_name": "techniqe", "entity_name": "Painting", "entity_type": "node"},
        'get_unique_property_values(property_name="technique", entity_name="Painting", entity_type="node")',
    ),
    (
        "get_unique_property_values",
        {"property_name": "office", "entity_name": "rulerof", "entity_type": "relationship"},
        'get_unique_property_values(property_name="office", entity_name="ruler_of", entity_type="relationship")',
    ),
    (
        "find_node",
        {"hint": "Vermeer", "node_type": "painterr", "limit": 3},
        'find_node(hint="Vermeer", node_type="Painter", limit=3)',
    ),
    ("find_node", {"hint": "Vermeer", "limit": 1000}, 'find_node(hint="Vermeer", limit=100)'),
    ("find_node", {"hint": "Vermeer", "limit": 0}, 'find_node(hint="Vermeer", limit=1)'),
    ("find_node", {"hint": "Vermeer", "limit": "many"}, 'find_node(hint="Vermeer")'),
    ("find_node", {"hint": "Vermeer", "nodetype": "Painter"}, 'find_node(hint="Vermeer", node_type="Painter")'),
    ("find_node", {"hint": "Vermeer", "language": "nl"}, 'find_node(hint="Vermeer")'),
    ("describe_graph", {"name": "Paintng"}, 'describe_graph(name="Painting")'),
    (
        "search",
        {"entity": "zundert", "direction": "outgoing", "cursor": "AAAAAAAAMDo"},
        'search(entity="zundert", direction="outgoing")',
    ),
    (
        "get_triples",
        {"entity": "zundert", "relations": ["born_in"], "cursor": "x"},
        'get_triples(entity="zundert", relations=["born_in"])',
    ),
    ("search", {"entity": "zundert"}, 'search(entity="zundert", direction="outgoing")'),
    ("search", {"entity": "the_starry_night"}, 'search(entity="the_starry_night", direction="outgoing")'),
    ("search", {"entity": "zundert", "direction": "in"}, 'search(entity="zundert", direction="incoming")'),
    ("search", {"entity": "zundert", "direction": "both"}, 'search(entity="zundert", direction="outgoing")'),
    ("get_triples", {"entity": "zundert", "relations": []}, 'get_triples(entity="zundert", relations=["aka"])'),
    ("get_triples", {"entity": "zundert"}, 'get_triples(entity="zundert", relations=["aka"])'),
]

NONE: list[tuple[str, dict[str, object]]] = [
    ("find_node", {"hint": "  "}),
    ("find_node", {}),
    ("search", {"entity": "", "direction": "outgoing"}),
    ("search", {"direction": "outgoing"}),
    ("search", {"entity": "zundert " * 100, "direction": "outgoing", "properties_to_filter_for": ["x"] * 2000}),
    ("get_node_by_property", {"label": "Painters", "property_name": "born", "property_value": 1}),
]
"""Calls that say nothing of what is wanted, or that nothing near would answer."""


SEARCHED = 'search(entity="vincent_van_gogh", direction="outgoing")'
EVERY = Settings(toolsets=tuple(TOOLSETS))
SHAPES: list[tuple[str, dict[str, object], str]] = [
    (
        "fetch_neighbors",
        {"nodes": "vincent_van_gog", "edge_type": "bornin"},
        'fetch_neighbors(nodes=["vincent_van_gogh"], edge_type="born_in")',
    ),
    (
        "fetch_neighbors",
        {"nodes": ["Zundert", "breda"], "edge_type": "locatedin"},
        'fetch_neighbors(nodes=["zundert", "breda"], edge_type="located_in")',
    ),
    (
        "fetch_neighbors",
        {"nodes": ["zundert", "breda"], "node_type": "Cuntry"},
        'fetch_neighbors(nodes=["zundert", "breda"], node_type="Country")',
    ),
    (
        "fetch_neighbors",
        {"nodes": ["zundert"], "edge_type": "locatedin", "node_type": "provinces"},
        'fetch_neighbors(nodes=["zundert"], edge_type="located_in", node_type="Province")',
    ),
    (
        "find_common_nodes",
        {"pairs": [["vincent_van_gog", "lived_inn"], ["Rembrandt", "died_in"]]},
        'find_common_nodes(pairs=[["vincent_van_gogh", "lived_in"], ["Rembrandt", "died_in"]])',
    ),
    (
        "get_all_nearest_neighbors",
        {"label": "*", "property_name": "id", "property_value": "zundert", "relationship": "locatedin"},
        'get_all_nearest_neighbors(label="*", property_name="id", property_value="zundert", relationship="located_in")',
    ),
    (
        "get_all_nearest_neighbors",
        {
            "label": "*",
            "property_name": "id",
            "property_value": "zundert",
            "direction": "outgoing",
            "relationship": "born_in",
        },
        'get_all_nearest_neighbors(label="*", property_name="id", property_value="zundert", direction="incoming", '
        'relationship="born_in")',
    ),
    (
        "get_all_nearest_neighbors",
        {"label": "Citty", "property_name": "name", "property_value": "Zundert", "direction": "either"},
        'get_all_nearest_neighbors(label="City", property_name="name", property_value="Zundert", direction="either")',
    ),
    ("search", {"entity": [" vincent_van_gog "], "direction": "outgoing"}, SEARCHED),
]


def parsed(call: str) -> tuple[str, dict[str, Any]]:
    """A call as a program reads it."""
    tree = ast.parse(call, mode="eval").body
    assert isinstance(tree, ast.Call)
    assert isinstance(tree.func, ast.Name)
    return tree.func.id, {str(given.arg): ast.literal_eval(given.value) for given in tree.keywords}


def example_of(text: str) -> str:
    return text.rpartition(SAYS)[2] if SAYS in text else ""


async def rows_of(call: str, settings: Settings) -> Sequence[object]:
    """The rows that a call is answered with."""
    tool, arguments = parsed(call)
    async with client(settings.model_copy(update={"structured": True})) as connected:
        result = await connected.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    return result.structured_content["rows"]


@pytest.mark.parametrize(("tool", "arguments", "example"), MENDED, ids=[example for _, _, example in MENDED])
async def test_the_example_is_about_what_was_requested_and_works(
    tool: str, arguments: dict[str, object], example: str
) -> None:
    assert example_of(await refused(tool, arguments)) == example
    assert await rows_of(example, DEMO)


@pytest.mark.parametrize(("tool", "arguments", "example"), SHAPES, ids=[example for _, _, example in SHAPES])
async def test_a_wrong_entity_or_relation_is_corrected_in_an_argument_of_any_shape(
    tool: str, arguments: dict[str, object], example: str
) -> None:
    assert example_of(await refused(tool, arguments, EVERY)) == example
    assert await rows_of(example, EVERY)


async def test_the_example_of_a_step_is_tried_without_being_recorded() -> None:
    wrong = {
        "anchor": "vincent_van_gog",
        "relation": "bornin",
        "triples": ["vincent_van_gog", "bornin", "zundert"],
        "inference": "He is from Zundert.",
    }
    async with client(EVERY) as connected:
        started = await connected.call_tool("start_trail", {"question": "?", "topic_entities": ["vincent_van_gogh"]})
        trail = text_of(started).split()[1]
        text = text_of(await connected.call_tool("add_step", {"trail": trail, **wrong}))
        assert text.startswith("Not found: no entity has the id or name 'vincent_van_gog'.")
        tool, arguments = parsed(example_of(text))
        assert arguments["triples"] == [["vincent_van_gogh", "born_in", "zundert"]]
        assert "\n2|" not in text_of(await connected.call_tool("show_trail", {"trail": trail}))
        assert not (await connected.call_tool(tool, arguments)).is_error


async def test_the_entities_of_an_error_do_not_replace_several_arguments() -> None:
    names = ("entity", "targets", "relation")
    signature = Signature("walk", {"properties": {name: {} for name in names}}, frozenset(names))
    arguments: dict[str, Any] = {"entity": ["a", "b"], "targets": ["c"], "relation": "bornin"}
    error = UnknownRelation([Entity("a"), Entity("b")], "bornin", None, ["born_in"])

    async def call(_: dict[str, Any]) -> Answer:
        return cast("Answer", SimpleNamespace(facts={"rows": [["a"]]}))

    example = await working_call(signature, arguments, error, call)
    assert example == 'walk(entity=["a", "b"], targets=["c"], relation="born_in")'


@pytest.mark.parametrize(("tool", "arguments"), NONE)
async def test_there_is_no_example_where_none_would_be_about_it(tool: str, arguments: dict[str, object]) -> None:
    assert SAYS not in await refused(tool, arguments)


async def test_the_example_is_on_the_graph_of_the_call() -> None:
    text = await refused("search", {"entity": "zundert", "direction": "out", "graph": "more"}, TWO)
    assert example_of(text) == 'search(entity="zundert", direction="outgoing", graph="more")'
    assert await rows_of(example_of(text), TWO)
    assert SAYS not in await refused("search", {"entity": "zundert", "direction": "outgoing", "graph": "none"}, TWO)


async def test_a_store_that_fails_meanwhile_leaves_the_error_without_an_example() -> None:
    unknown = UnknownName("label", "Paintng", ["Painting"])
    with patch.object(EmbeddedAdapter, "schema", side_effect=[unknown, StoreTimeout(1)]):
        text = await refused("describe_graph", {"name": "Paintng"})
    assert text.startswith("Not found: this graph has no label 'Paintng'.")
    assert SAYS not in text


@pytest.mark.parametrize(
    "odd", [" blanks ", "zero\u200bwidth", "back\\slash\\", "pi|pe", "pi\\|pe", 'say "hi"', "100%", "{[(, ='x']"]
)
async def test_the_example_of_an_odd_id_can_be_copied(odd: str, tmp_path: Path) -> None:
    (tmp_path / "odd.tsv").write_text(f"{odd}\tknows {odd}\tada\n", encoding="utf-8")
    load([tmp_path / "odd.tsv"], tmp_path / "odd.kg")
    settings = Settings(graphs={"odd": GraphSettings(location=str(tmp_path / "odd.kg"))})
    for given in (odd, f"{odd}x"):
        example = example_of(await refused("get_triples", {"entity": given, "relations": ["kows"]}, settings))
        assert len(await rows_of(example, settings)) == 1
