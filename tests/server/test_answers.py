"""What a model reads: each tool's answer and error on the demo graph, word for word."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.server.clients import call, refused, without_cursors

ANSWERS: dict[str, tuple[str, dict[str, object]]] = {
    "an entity is shown whole": ("search", {"entity": "zundert", "direction": "outgoing"}),
    "a hub collapses": ("search", {"entity": "the_netherlands", "direction": "outgoing"}),
    "a hub is ranked by a question": (
        "search",
        {"entity": "the_netherlands", "direction": "incoming", "question": "Which rivers flow there?"},
    ),
    "a filter shows rows": (
        "search",
        {"entity": "the_netherlands", "direction": "outgoing", "properties_to_filter_for": ["capital"]},
    ),
    "qualifiers stand in a fifth column": (
        "search",
        {"entity": "vincent_van_gogh", "direction": "outgoing", "properties_to_filter_for": ["lived_in"]},
    ),
    "a unique name is as good as an id": ("search", {"entity": "Zundert", "direction": "incoming"}),
    "nothing is there": ("search", {"entity": "the_starry_night", "direction": "incoming"}),
    "rows of several entities": (
        "search",
        {
            "entity": ["Zundert", "the_starry_night", "rembrandt", "vincent_van_gogh"],
            "direction": "outgoing",
            "properties_to_filter_for": ["born_in", "lived_in"],
        },
    ),
    "several entities are a hub": (
        "search",
        {"entity": ["the_netherlands", "zundert", "the_starry_night"], "direction": "incoming"},
    ),
    "a hub is searched by words": (
        "search",
        {"entity": "the_netherlands", "direction": "incoming", "match": "Amsterdam"},
    ),
    "a hub is searched by misspelt words and a label": (
        "search",
        {"entity": "the_netherlands", "direction": "incoming", "match": "amsterdm", "node_type": "City"},
    ),
    "nothing matches": ("search", {"entity": "zundert", "direction": "outgoing", "match": "nothing like it"}),
    "neighbours narrowed to a label": (
        "get_all_nearest_neighbors",
        {
            "label": "Country",
            "property_name": "id",
            "property_value": "the_netherlands",
            "direction": "incoming",
            "relationship": "flows_through",
            "neighbor_label": "River",
        },
    ),
    "relations of several entities": ("get_relations", {"entity": ["zundert", "the_starry_night"]}),
    "triples of several entities": (
        "get_triples",
        {"entity": ["zundert", "the_starry_night", "vincent_van_gogh"], "relations": ["born_in", "located_in"]},
    ),
    "relations of both directions": ("get_relations", {"entity": "zundert"}),
    "relations ranked by a question": (
        "get_relations",
        {"entity": "vincent_van_gogh", "question": "Where was Vincent van Gogh born?"},
    ),
    "triples of either direction": ("get_triples", {"entity": "zundert", "relations": ["born_in", "located_in"]}),
    "a node by property": (
        "get_node_by_property",
        {"label": "Painter", "property_name": "born", "property_value": 1853},
    ),
    "no node by property": (
        "get_node_by_property",
        {"label": "Painter", "property_name": "born", "property_value": 1},
    ),
    "nearest neighbours": (
        "get_all_nearest_neighbors",
        {"label": "City", "property_name": "name", "property_value": "Zundert"},
    ),
    "nearest neighbours of a hub": (
        "get_all_nearest_neighbors",
        {"label": "Country", "property_name": "id", "property_value": "the_netherlands"},
    ),
    "values of nodes": (
        "get_unique_property_values",
        {"property_name": "technique", "entity_name": "Painting", "entity_type": "node"},
    ),
    "values of relationships": (
        "get_unique_property_values",
        {"property_name": "office", "entity_name": "ruler_of", "entity_type": "relationship"},
    ),
    "a thought": ("think", {"thought": "Zundert lies in the Netherlands."}),
    "a misspelt name": ("find_node", {"hint": "Vincnet van Gohg", "limit": 3}),
    "a name in another language": ("find_node", {"hint": "La Ronde de nuit", "limit": 3}),
    "an ambiguous name": ("find_node", {"hint": "William II"}),
    "a name of one type": ("find_node", {"hint": "Groningen", "node_type": "Province"}),
    "the graph": ("describe_graph", {}),
    "a label": ("describe_graph", {"name": "Painting"}),
    "a relation": ("describe_graph", {"name": "ruler_of"}),
}

ERRORS: dict[str, tuple[str, dict[str, object]]] = {
    "an unknown entity": ("search", {"entity": "vincent_van_gog", "direction": "outgoing"}),
    "an ambiguous entity": ("search", {"entity": "William II", "direction": "outgoing"}),
    "unknown and ambiguous entities among several": (
        "get_relations",
        {"entity": ["zundert", "vincent_van_gog", "William II", "nothing like it at all"]},
    ),
    "a relation that none of several entities has": (
        "get_triples",
        {"entity": ["zundert", "the_starry_night"], "relations": ["locatedin"]},
    ),
    "an unknown property": (
        "search",
        {"entity": "zundert", "direction": "outgoing", "properties_to_filter_for": ["locatedin"]},
    ),
    "a property of the other direction": (
        "search",
        {"entity": "zundert", "direction": "outgoing", "properties_to_filter_for": ["born_in"]},
    ),
    "an unknown relation": ("get_triples", {"entity": "zundert", "relations": ["birth_place"]}),
    "an unknown label": (
        "get_node_by_property",
        {"label": "Painters", "property_name": "born", "property_value": 1853},
    ),
    "an unknown property of nodes": (
        "get_node_by_property",
        {"label": "Painter", "property_name": "birth", "property_value": 1853},
    ),
    "an unknown type": ("find_node", {"hint": "Vermeer", "node_type": "painterr"}),
    "an empty hint": ("find_node", {"hint": "  "}),
    "an unknown schema name": ("describe_graph", {"name": "Paintng"}),
    "a foreign cursor": ("search", {"entity": "zundert", "direction": "outgoing", "cursor": "AAAAAAAAMDo"}),
    "a wrong direction": ("search", {"entity": "zundert", "direction": "both"}),
    "an unknown argument": ("search", {"entity": "zundert", "direction": "outgoing", "filter": ["x"]}),
    "a missing argument": ("search", {"entity": "zundert"}),
    "no relations": ("get_triples", {"entity": "zundert", "relations": []}),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_an_answer_reads_as_it_always_did(name: str, snapshot: SnapshotAssertion) -> None:
    tool, arguments = ANSWERS[name]
    assert without_cursors(await call(tool, arguments)) == snapshot


@pytest.mark.parametrize("name", ERRORS)
async def test_an_error_reads_as_it_always_did(name: str, snapshot: SnapshotAssertion) -> None:
    tool, arguments = ERRORS[name]
    text = await refused(tool, arguments)
    assert "http" not in text, "no links into a library's documentation"
    assert text == snapshot


@pytest.mark.parametrize("name", ANSWERS)
async def test_the_same_call_gives_the_same_answer(name: str) -> None:
    tool, arguments = ANSWERS[name]
    assert await call(tool, arguments) == await call(tool, arguments)
