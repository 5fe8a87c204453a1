from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions
from kgnav_mcp.errors import LoadError
from tests.adapters.embedded.loaded import loaded

NODES = """id:ID,:LABEL,name,name@nl,born:int,height:float,alive:boolean,aka:string[],note:IGNORE,day:date
1,Film,Jaws,Zomer,1975,,,,x,1975-06-20
2,Person;Actor,"Roy ""R"" Scheider",,+1932,1.75,FALSE,Roy;R. S.,y,
3,,,,,,,,,
"""
EDGES = """:START_ID,:END_ID,:TYPE,roles:string[],since:int
2,1,ACTED_IN,Brody;Chief,1974
2,1,ACTED_IN,Voice,
2,3,KNOWS,,
2,3,KNOWS,,
"""


def test_node_and_edge_files_in_any_order_make_a_property_graph(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"edges.csv": EDGES, "nodes.csv": NODES})
    assert graph.meta("kind") == "property graph"
    assert graph.attributes("2") == [
        ("aka", "Roy", None, None),
        ("aka", "R. S.", None, None),
        ("alive", "false", "boolean", None),
        ("born", "1932", "integer", None),
        ("height", "1.75", "float", None),
        ("id", "2", None, None),
        ("name", 'Roy "R" Scheider', None, None),
    ]
    assert ("day", "1975-06-20", "date", None) in graph.attributes("1")
    assert (graph.node_labels("2"), graph.node_labels("3")) == (["Actor", "Person"], [])
    assert graph.rows("SELECT key, name, nodes FROM label WHERE key = 'Film'") == [("Film", None, 1)]


def test_parallel_edges_stay_apart_with_their_own_properties(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"nodes.csv": NODES, "edges.csv": EDGES})
    assert graph.qualified_edges() == [
        (
            "2",
            "ACTED_IN",
            "1",
            0,
            {"roles": [["Brody", None, None, 0], ["Chief", None, None, 1]], "since": [["1974", "integer", None]]},
        ),
        ("2", "ACTED_IN", "1", 1, {"roles": [["Voice", None, None, 0]]}),
        ("2", "KNOWS", "3", 0, None),
        ("2", "KNOWS", "3", 1, None),
    ]
    assert graph.rows(
        "SELECT key, edges, attributes FROM relation WHERE key IN ('ACTED_IN', 'roles') ORDER BY key"
    ) == [
        ("ACTED_IN", 2, 0),
        ("roles", 0, 0),
    ]


def test_names_come_from_the_first_name_property_a_node_has(tmp_path: Path) -> None:
    text = ":ID,Title,name,name@nl,alias,description\n1,T,N,Naam,A,D\n2,T2,,,,\n3,,,Alleen,,\n"
    graph = loaded(tmp_path, {"n.csv": text})
    assert graph.nodes() == {"1": ("N", "D", 0), "2": ("T2", None, 0), "3": ("Alleen", None, 0)}
    assert graph.names("1") == [(0, None, "N"), (0, "nl", "Naam"), (1, None, "A"), (2, None, "D")]
    dutch = loaded(tmp_path, {"n.csv": text}, LoadOptions(languages=("nl",)))
    assert dutch.nodes()["1"][0] == "Naam"


def test_ids_of_different_id_spaces_are_different_nodes(tmp_path: Path) -> None:
    files = {
        "people.csv": ":ID(Person),name\n1,Ann\n",
        "films.csv": "filmId:ID(Film){id-type: long},name\n1,Jaws\n",
        "edges.csv": ":START_ID(Person),:TYPE,:END_ID(Film)\n1,SAW,1\n",
    }
    graph = loaded(tmp_path, files)
    assert graph.edges() == [("Person:1", "SAW", "Film:1")]
    assert graph.attributes("Film:1") == [("filmId", "1", None, None), ("name", "Jaws", None, None)]


@pytest.mark.parametrize(("name", "delimiter"), [("n.tsv", "\t"), ("n.csv", ";"), ("n.csv", "|"), ("n.csv.gz", ",")])
def test_the_header_tells_the_delimiter(tmp_path: Path, name: str, delimiter: str) -> None:
    text = ":ID,:LABEL,name\n1,Film,Jaws\n".replace(",", delimiter)
    assert loaded(tmp_path, {name: text}).nodes()["1"][0] == "Jaws"


NEPTUNE_NODES = """~id,~label,name:String,born:Int(single),alive:Bool,aka:String[]
1,Film,Jaws,1975,,
2,Person;Actor,Roy,+1932,FALSE,Roy;R. S.
"""


def test_neptunes_gremlin_files_are_a_property_graph(tmp_path: Path) -> None:
    edges = "~id,~from,~to,~label,since:Date\ne1,2,1,ACTED_IN,1974-05-02\n"
    graph = loaded(tmp_path, {"edges.csv": edges, "nodes.csv": NEPTUNE_NODES})
    assert (graph.meta("kind"), graph.nodes()["2"][0], graph.node_labels("2")) == (
        "property graph",
        "Roy",
        ["Actor", "Person"],
    )
    assert graph.attributes("2") == [
        ("aka", "Roy", None, None),
        ("aka", "R. S.", None, None),
        ("alive", "false", "boolean", None),
        ("born", "1932", "integer", None),
        ("name", "Roy", None, None),
    ]
    assert graph.qualified_edges() == [("2", "ACTED_IN", "1", 0, {"since": [["1974-05-02", "date", None]]})]


def test_ids_of_edges_in_neptunes_opencypher_files_are_left_out(tmp_path: Path) -> None:
    edges = ":ID,:START_ID,:END_ID,:TYPE,since:Int\ne1,2,1,ACTED_IN,1974\n"
    graph = loaded(tmp_path, {"edges.csv": edges, "nodes.csv": NODES})
    assert graph.qualified_edges() == [("2", "ACTED_IN", "1", 0, {"since": [["1974", "integer", None]]})]


@pytest.mark.parametrize("header", ["~from,~to", "~id,~id", "~from,~to,~label,~label"])
def test_a_header_of_neptunes_that_lacks_or_repeats_a_column_is_refused(tmp_path: Path, header: str) -> None:
    with pytest.raises(LoadError, match="neither that of a node file nor that of an edge file") as refused:
        loaded(tmp_path, {"n.csv": f"{header}\n1,2,3,4\n"})
    assert "~id; ~from, ~to and ~label" in refused.value.next_step


def test_a_load_whose_nodes_have_no_names_tells_which_properties_could_name_them(tmp_path: Path) -> None:
    text = "~id,~label,code:String,city:String,runways:Int\n1,airport,AMS,,6\n2,airport,FRA,Frankfurt,4\n"
    (warning,) = loaded(tmp_path, {"n.csv": text}).report.warnings
    assert warning.startswith("no node has a name (one of name, label, title)")
    assert warning.endswith("--name-property takes names from another property: code, city")
    with pytest.raises(LoadError, match="no node of the sources has the property 'town'") as refused:
        loaded(tmp_path, {"n.csv": text}, LoadOptions(name_properties=("City", "town")))
    assert set(refused.value.next_step.split(": ")[1].strip(".").split(", ")) == {"city", "code", "runways"}
    by_city = loaded(tmp_path, {"n.csv": text}, LoadOptions(name_properties=("city",)))
    assert (by_city.nodes()["2"][0], by_city.report.warnings) == ("Frankfurt", ())


def test_a_field_may_span_lines_and_the_next_row_is_still_found(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"n.csv": ':ID,text\n1,"one\ntwo"\n2,three\n'})
    assert graph.attributes("1") == [("text", "one\ntwo", None, None)]
    assert graph.attributes("2") == [("text", "three", None, None)]


def test_apocs_export_is_a_property_graph_whatever_the_order_of_its_lines(tmp_path: Path) -> None:
    lines: list[dict[str, object]] = [
        {"type": "relationship", "id": "5", "label": "IN", "start": {"id": "1", "labels": []}, "end": {"id": "0"},
         "properties": {"roles": ["x", 1, 2.5, True], "none": None}},
        {"type": "node", "id": "0", "labels": ["Film"], "properties": {"name": "Jaws", "id": 7, "at": {"x": 1.0}}},
        {"type": "node", "id": 1, "labels": ["Person", "Actor"], "properties": {"title": "Bob"}},
        {"type": "node", "id": "2"},
    ]  # fmt: skip
    graph = loaded(tmp_path, {"all.jsonl": "\n".join(json.dumps(line) for line in lines)})
    roles = [
        ["x", None, None, 0],
        ["1", "integer", None, 1],
        ["2.5", "float", None, 2],
        ["true", "boolean", None, 3],
    ]
    assert graph.qualified_edges() == [("1", "IN", "0", 0, {"roles": roles})]
    assert graph.attributes("0") == [
        ("at", '{"x": 1.0}', "json", None),
        ("id", "7", "integer", None),
        ("name", "Jaws", None, None),
    ]
    assert graph.nodes() == {"0": ("Jaws", None, 0), "1": ("Bob", None, 0), "2": (None, None, 0)}
    assert graph.node_labels("1") == ["Actor", "Person"]


def test_rdf_and_a_property_graph_can_share_a_file(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"nodes.csv": NODES, "g.ttl": ":a :p :b .", "edges.csv": EDGES, "t.tsv": "1\tsees\t9\n"})
    assert graph.meta("kind") == "mixed"
    assert ("http://x/a", "http://x/p", "http://x/b") in graph.edges()
    assert ("1", "sees", "9") in graph.edges()
    assert graph.nodes()["1"][0] == "Jaws"
