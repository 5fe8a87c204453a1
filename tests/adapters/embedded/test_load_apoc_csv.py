"""APOC's CSV export, in the form that its documentation prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.errors import BadLine
from tests.adapters.embedded.loaded import loaded, write

EXPORT = """"_id","_labels","name","born","tags","_start","_end","_type","roles"
"1",":Person:Actor","Keanu Reeves","1964","[""a"",""b""]","","","",""
"2",":Movie","The Matrix","","","","","",""
"","","","","","1","2","ACTED_IN","[""Neo""]"
"","","","","","1","2","LIKES",""
"""


def test_nodes_and_relationships_of_one_table_are_read(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"export.csv": EXPORT})
    assert graph.edges() == [("1", "ACTED_IN", "2"), ("1", "LIKES", "2")]
    assert graph.node_labels("1") == ["Actor", "Person"]
    assert graph.nodes()["1"][0] == "Keanu Reeves"
    assert graph.attributes("1") == [
        ("born", "1964", "integer", None),
        ("name", "Keanu Reeves", None, None),
        ("tags", "a", None, None),
        ("tags", "b", None, None),
    ]
    assert graph.attributes("2") == [("name", "The Matrix", None, None)]
    (roles,) = [qualifiers for *_, qualifiers in graph.qualified_edges() if qualifiers]
    assert roles == {"roles": [["Neo", None, None, 0]]}


def test_an_edge_without_an_end_is_a_bad_line(tmp_path: Path) -> None:
    source = write(tmp_path, "export.csv", EXPORT + '"","","","","","1","","LIKES",""\n')
    with pytest.raises(BadLine, match="the column _end is empty"):
        load([source], tmp_path / "g.kg")
