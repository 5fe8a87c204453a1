"""Networks are loaded as the programs that people make them with write them, with counts by networkx or by hand."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.config import GraphSettings, Settings
from kgnav_mcp.errors import BadLine, LoadError
from tests.adapters.embedded.loaded import Loaded, loaded, write
from tests.adapters.embedded.test_load_gml_pajek import IGRAPH
from tests.server.clients import call

nx = cast("Any", import_module("networkx"))
Graph = Any
Writer = Callable[[Graph, Path], None]


def as_json(convert: Callable[[Graph], object]) -> Writer:
    def write_json(graph: Graph, path: Path) -> None:
        path.write_text(json.dumps(convert(graph)))

    return write_json


WRITERS: dict[str, tuple[str, Writer]] = {
    "GraphML": ("g.graphml", nx.write_graphml_xml),
    "GEXF": ("g.gexf", nx.write_gexf),
    "GML": ("g.gml", nx.write_gml),
    "node-link": ("g.json", as_json(lambda graph: nx.node_link_data(graph, edges="edges"))),
    "node-link with links": ("g.json", as_json(lambda graph: nx.node_link_data(graph, edges="links"))),
    "Cytoscape": ("g.cyjs", as_json(nx.cytoscape_data)),
}


def people(kind: type[Graph]) -> Graph:
    graph = kind()
    graph.add_node("ada", name="Ada Lovelace", born=1815, tall=True, score=0.5)
    graph.add_node("bob", name="Bob & <Co> é", born=1791)
    graph.add_node("cy", name="Cy")
    graph.add_edge("ada", "bob", relation="knows", weight=2.5)
    graph.add_edge("bob", "cy", relation="taught", weight=1.0)
    graph.add_edge("ada", "ada", relation="knows", weight=4.0)
    if graph.is_multigraph():
        graph.add_edge("ada", "bob", relation="knows", weight=7.5)
    return graph


def named_edges(graph: Loaded) -> Counter[tuple[str | None, str, str | None, str]]:
    """Edges by the names of their ends, with their weight."""
    names = {key: label for key, (label, _, _) in graph.nodes().items()}
    return Counter((names[s], p, names[o], str(q["weight"][0][0])) for s, p, o, _, q in graph.qualified_edges())


def weight(number: float) -> str:
    return str(int(number)) if number == int(number) else str(number)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("writer", WRITERS)
def test_what_networkx_writes_has_all_its_nodes_edges_and_attributes(
    tmp_path: Path, writer: str, kind: type[Graph]
) -> None:
    name, write_graph = WRITERS[writer]
    graph = people(kind)
    if writer == "GEXF":
        for _, data in graph.nodes(data=True):
            data["label"] = data["name"]
    write_graph(graph, tmp_path / name)
    found = Loaded(tmp_path / "g.kg", load([tmp_path / name], tmp_path / "g.kg"))
    full = nx.get_node_attributes(graph, "name")
    by_ends = Counter(
        (frozenset((full[s], full[o])), data["relation"], weight(data["weight"]))
        for s, o, data in graph.edges(data=True)
    )
    edges = named_edges(found)
    assert Counter((frozenset((s, o)), p, weight(float(w))) for s, p, o, w in edges.elements()) == by_ends
    if graph.is_directed():
        assert {(s, o) for s, _, o, _ in edges} == {(full[s], full[o]) for s, o in graph.edges()}
    (ada,) = [key for key, (label, _, _) in found.nodes().items() if label == "Ada Lovelace"]
    attributes = {name: (text, datatype) for name, text, datatype, _ in found.attributes(ada)}
    assert attributes["born"] == ("1815", "integer")
    assert attributes["score"] == ("0.5", "float")
    assert attributes["tall"] in {("true", "boolean"), ("1", "integer")}  # GML has no booleans
    assert any("are undirected" in note for note in found.report.notes) is not graph.is_directed()
    assert found.meta("undirected") == ("" if graph.is_directed() else "all")


def test_a_known_network_has_networkxs_counts_in_each_format(tmp_path: Path) -> None:
    graph = nx.karate_club_graph()
    for name, write_graph in WRITERS.values():
        write_graph(graph, tmp_path / name)
        report = load([tmp_path / name], tmp_path / "g.kg")
        assert (report.entities, report.notes != ()) == (34, True), name
        edges = Loaded(tmp_path / "g.kg", report).edges()
        assert Counter(frozenset((s, o)) for s, _, o in edges) == Counter(
            frozenset((str(s), str(o))) for s, o in graph.edges()
        ), name


NUMBERS = {"long": ("12", " +7 ", "-0"), "double": ("12", "1.5e3", "-.5", "NaN", "INF", "-Infinity")}
NO_NUMBERS = {"long": ("1_000", "1.0", "\u0661\u0662", "x"), "double": ("1_0.5", "+-inf", "\u0661", "1e")}


def typed_network(name: str, texts: Mapping[str, Sequence[str]]) -> str:
    """A network of one node with an attribute for each text, called by its type and place."""
    own = [(f"{kind}{place}", kind, text) for kind, each in texts.items() for place, text in enumerate(each)]
    if name == "g.gexf":
        keys = "".join(f'<attribute id="{key}" title="{key}" type="{kind}"/>' for key, kind, _ in own)
        data = "".join(f'<attvalue for="{key}" value="{text}"/>' for key, _, text in own)
        return (
            f'<gexf xmlns="http://www.gexf.net/1.2draft"><graph><attributes class="node">{keys}</attributes>'
            f'<nodes><node id="a" label="A"><attvalues>{data}</attvalues></node></nodes></graph></gexf>'
        )
    keys = "".join(f'<key id="{key}" for="node" attr.name="{key}" attr.type="{kind}"/>' for key, kind, _ in own)
    data = "".join(f'<data key="{key}">{text}</data>' for key, _, text in own)
    return (
        f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys}'
        f'<graph edgedefault="directed"><node id="a">{data}</node></graph></graphml>'
    )


@pytest.mark.parametrize("name", ["g.graphml", "g.gexf"])
def test_texts_are_numbers_of_the_declared_type_as_in_networkx(tmp_path: Path, name: str) -> None:
    graph = loaded(tmp_path, {name: typed_network(name, NUMBERS)})
    read = nx.read_graphml if name == "g.graphml" else nx.read_gexf
    expected = {key: repr(value) for key, value in read(tmp_path / name).nodes["a"].items() if key != "label"}
    found = {key: (text, datatype) for key, text, datatype, _ in graph.attributes("a") if key != "label"}
    assert {
        key: repr(int(text) if kind == "integer" else float(text)) for key, (text, kind) in found.items()
    } == expected


@pytest.mark.parametrize("name", ["g.graphml", "g.gexf"])
def test_texts_that_only_python_reads_as_numbers_of_the_declared_type_remain_texts(tmp_path: Path, name: str) -> None:
    graph = loaded(tmp_path, {name: typed_network(name, NO_NUMBERS)})
    expected = [(f"{kind}{place}", text) for kind, each in NO_NUMBERS.items() for place, text in enumerate(each)]
    found = [(key, text) for key, text, datatype, _ in graph.attributes("a") if datatype is None and key != "label"]
    assert sorted(found) == sorted(expected)


BOOLEAN_TYPE = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="t" for="edge" attr.name="type" attr.type="boolean"/><key id="k" for="edge" attr.name="kind" attr.type="int"/>
<graph edgedefault="directed"><node id="a"/><node id="b"/>
<edge source="a" target="b"><data key="t">true</data></edge>
<edge source="b" target="a"><data key="t">true</data><data key="k">3</data></edge></graph></graphml>"""


def test_a_boolean_attribute_called_type_is_no_relation(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.graphml": BOOLEAN_TYPE})
    expected = nx.read_graphml(tmp_path / "g.graphml").edges(data="type")
    assert [(s, o, q["type"]) for s, _, o, _, q in graph.qualified_edges()] == [
        (s, o, [[str(value).lower(), "boolean", None]]) for s, o, value in expected
    ]
    assert [relation for _, relation, _ in graph.edges()] == ["related_to", "3"]


GEPHI = """<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://gexf.net/1.3" xmlns:viz="http://gexf.net/1.3/viz" version="1.3">
 <meta lastmodifieddate="2024-01-01"><creator>Gephi 0.10</creator></meta>
 <graph defaultedgetype="undirected" mode="static">
  <attributes class="node" mode="static"><attribute id="sex" title="Sex" type="string">
   <default>unknown</default></attribute>
   <attribute id="age" title="Age" type="integer"/></attributes>
  <nodes>
   <node id="11" label="Valjean"><attvalues><attvalue for="sex" value="m"/><attvalue for="age" value="60"/></attvalues>
    <viz:size value="10.0"/><viz:position x="1" y="2"/><viz:color r="1" g="2" b="3"/></node>
   <node id="48" label="Gavroche"/>
  </nodes>
  <edges><edge id="0" source="11" target="48" weight="3.0" label="helps" type="directed"/>
   <edge id="1" source="48" target="11"/></edges>
 </graph>
</gexf>"""


def test_gephis_gexf_has_labels_as_names_defaults_and_directions_of_single_edges(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.xml": GEPHI})
    assert {key: label for key, (label, _, _) in graph.nodes().items()} == {"11": "Valjean", "48": "Gavroche"}
    assert graph.attributes("11") == [
        ("Age", "60", "integer", None), ("Sex", "m", None, None), ("label", "Valjean", None, None)
    ]  # fmt: skip
    assert ("Sex", "unknown", None, None) in graph.attributes("48")
    assert graph.qualified_edges() == [
        ("11", "helps", "48", 0, {"id": [["0", None, None]], "weight": [["3.0", "float", None]]}),
        ("48", "related_to", "11", 0, {"id": [["1", None, None]]}),
    ]
    assert "1 of 2 edges are undirected" in graph.report.notes[1]


YED = """<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
  <key attr.name="description" attr.type="string" for="node" id="d5"/>
  <key for="node" id="d6" yfiles.type="nodegraphics"/><key for="edge" id="d10" yfiles.type="edgegraphics"/>
  <graph edgedefault="directed" id="G">
    <node id="n0"><data key="d5"><![CDATA[a person]]></data><data key="d6"><y:ShapeNode><y:Geometry x="1" y="2"/>
      <y:NodeLabel alignment="center">Alice<y:LabelModel><y:SmartNodeLabelModel/></y:LabelModel></y:NodeLabel>
      <y:Shape type="rectangle"/></y:ShapeNode></data></node>
    <node id="n1"><data key="d6"><y:ShapeNode><y:NodeLabel>Bob</y:NodeLabel></y:ShapeNode></data>
      <graph edgedefault="directed" id="n1:"><node id="n1::n0"/></graph></node>
    <edge id="e0" source="n0" target="n1"><data key="d10"><y:PolyLineEdge><y:EdgeLabel>likes</y:EdgeLabel>
      </y:PolyLineEdge></data></edge>
    <edge id="e1" source="n1::n0" target="n0"/>
  </graph>
</graphml>"""


def test_yeds_graphml_has_its_drawn_labels_as_names_and_relations(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.graphml": YED})
    names = {key: label for key, (label, _, _) in graph.nodes().items()}
    assert names == {"n0": "Alice", "n1": "Bob", "n1::n0": "n1::n0"}
    assert graph.edges() == [("n0", "likes", "n1"), ("n1::n0", "related_to", "n0")]
    assert graph.nodes()["n0"][1] == "a person"


APOC = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="name" for="node" attr.name="name"/><key id="born" for="node" attr.name="born" attr.type="long"/>
<key id="tags" for="node" attr.name="tags" attr.type="string" attr.list="string"/>
<key id="labels" for="node" attr.name="labels"/><key id="label" for="edge" attr.name="label"/>
<key id="roles" for="edge" attr.name="roles" attr.type="string" attr.list="string"/>
<graph id="G" edgedefault="directed">
<node id="n0" labels=":Movie"><data key="labels">:Movie</data><data key="name">Jaws</data></node>
<node id="n1" labels=":Person:Actor"><data key="labels">:Person:Actor</data><data key="name">Roy</data>
<data key="born">1932</data><data key="tags">["a","b"]</data></node>
<edge id="e0" source="n1" target="n0" label="ACTED_IN"><data key="label">ACTED_IN</data>
<data key="roles">["Brody"]</data></edge>
</graph></graphml>"""


def test_apocs_graphml_has_labels_types_and_lists(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.graphml": APOC})
    assert graph.node_labels("n1") == ["Actor", "Person"]
    assert [row[:3] for row in graph.attributes("n1")] == [
        ("born", "1932", "integer"), ("name", "Roy", None), ("tags", "a", None), ("tags", "b", None)
    ]  # fmt: skip
    ((*edge, qualifiers),) = graph.qualified_edges()
    assert (edge, qualifiers["roles"][0][0]) == (["n1", "ACTED_IN", "n0", 0], "Brody")


def test_a_graphml_with_an_entity_bomb_or_a_hyperedge_is_refused(tmp_path: Path) -> None:
    laughs = '<!ENTITY a "haha">' + "".join(f'<!ENTITY {b} "{f"&{a};" * 20}">' for a, b in ("ab", "bc", "cd", "de"))
    bomb = f"<!DOCTYPE graphml [{laughs}]><graphml><graph><node id='&e;'/></graph></graphml>"
    hyper = "<graphml><graph><node id='a'/>\n<hyperedge><endpoint node='a'/></hyperedge></graph></graphml>"
    for text, reason in ((bomb, "stands for more than 1,024"), (hyper, "a hyperedge has more than two ends")):
        with pytest.raises(BadLine, match=reason):
            load([write(tmp_path, "g.graphml", text)], tmp_path / "g.kg")


@pytest.mark.parametrize(("name", "text"), [("g.graphml", APOC), ("g.gexf", GEPHI), ("g.graphml", YED)])
def test_a_network_that_is_cut_short_is_refused(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(LoadError):
        load([write(tmp_path, name, text[: len(text) * 3 // 4])], tmp_path / "g.kg")
    assert not (tmp_path / "g.kg").exists()


NODES = [{"name": "Myriel", "group": 1}, {"name": "Napoleon", "group": 1}]
NODE_LINKS: list[tuple[str, object, list[tuple[str, str, str]]]] = [
    ("places", {"nodes": NODES, "links": [{"source": 1, "target": 0, "value": 8}]}, [("1", "related_to", "0")]),
    ("names", {"nodes": NODES, "links": [{"source": "Napoleon", "target": "Myriel"}]}, [("1", "related_to", "0")]),
    (
        "places of ids",
        {"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": 0, "target": 1, "type": "eats"}]},
        [("a", "eats", "b")],
    ),
    (
        "numbers as ids",
        {"nodes": [{"id": "2"}, {"id": "1"}], "links": [{"source": 1, "target": 2}]},
        [("1", "related_to", "2")],
    ),
    (
        "as d3 leaves them",
        {"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": {"id": "a", "x": 1}, "target": {"id": "b"}}]},
        [("a", "related_to", "b")],
    ),
    (
        "graphology",
        {
            "options": {"type": "undirected"}, "attributes": {},
            "nodes": [{"key": "a", "attributes": {"label": "A"}}, {"key": "b"}],
            "edges": [{"key": "e", "source": "a", "target": "b", "attributes": {"label": "sees"}}],
        },
        [("a", "sees", "b")],
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "expected"), [case[1:] for case in NODE_LINKS], ids=[case[0] for case in NODE_LINKS]
)
def test_node_link_json_names_the_ends_of_edges_by_id_place_or_name(
    tmp_path: Path, content: object, expected: list[tuple[str, str, str]]
) -> None:
    graph = loaded(tmp_path, {"g.json": json.dumps(content)})
    assert graph.edges() == expected


def test_a_place_or_name_without_a_node_is_a_bad_line_counted_once(tmp_path: Path) -> None:
    content = {
        "nodes": NODES,
        "links": [
            {"source": 0, "target": 9},
            {"source": "No", "target": 0},
            {"source": None, "target": 0},
            {"source": 0, "target": 1},
        ],
    }
    graph = loaded(tmp_path, {"g.json": json.dumps(content)}, LoadOptions(skip_bad=True))
    assert (graph.edges(), graph.report.bad_lines) == ([("0", "related_to", "1")], 3)


JGF: dict[str, Any] = {
    "graph": {
        "nodes": {"a": {"label": "Ann", "metadata": {"age": 3}}, "b": {}},
        "edges": [{"source": "a", "target": "b", "relation": "knows", "metadata": {"since": 1990}},
                  {"source": "b", "target": "a"}],
        "directed": False,
    }
}  # fmt: skip
JGF_LISTS: dict[str, Any] = {
    "graphs": [
        {"id": 1, "nodes": [{"id": "a", "label": "Ann", "metadata": {"age": 3}}, {"id": "b"}], "edges": []},
        {"directed": False, "nodes": [], "edges": [*JGF["graph"]["edges"]]},
    ]
}


@pytest.mark.parametrize("content", [JGF, JGF_LISTS])
def test_json_graph_format_has_nodes_as_object_or_list_and_metadata(tmp_path: Path, content: object) -> None:
    graph = loaded(tmp_path, {"g.json": json.dumps(content)})
    assert graph.nodes()["a"][0] == "Ann"
    assert ("age", "3", "integer", None) in graph.attributes("a")
    assert graph.qualified_edges() == [
        ("a", "knows", "b", 0, {"since": [["1990", "integer", None]]}),
        ("b", "related_to", "a", 0, None),
    ]
    assert any("all edges are undirected" in note for note in graph.report.notes)


def graphs_of_json(second: dict[str, object], **named: object) -> str:
    """Two graphs: the first has Ann, who knows Bob; the second has Bob and this node, which is near him."""
    (key,) = second
    edges = [{"source": "a", "target": "b", "relation": "knows"}]
    first = {"label": "friends", "nodes": {"a": {"label": "Ann"}, "b": {"label": "Bob"}}, "edges": edges}
    other = {"nodes": {"b": {"label": "Bob"}} | second, "edges": [{"source": "b", "target": key, "relation": "near"}]}
    return json.dumps({"graphs": [first, named | other]})


def test_equal_nodes_of_several_graphs_in_json_are_one_node(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.json": graphs_of_json({"a": {"label": "Ann"}})})
    assert {key: label for key, (label, _, _) in graph.nodes().items()} == {"a": "Ann", "b": "Bob"}
    assert graph.attributes("b") == [("label", "Bob", None, None)]
    assert graph.edges() == [("a", "knows", "b"), ("b", "near", "a")]


@pytest.mark.parametrize("skip_bad", [False, True])
def test_different_nodes_with_one_id_in_several_graphs_are_refused_with_both_graphs(
    tmp_path: Path, *, skip_bad: bool
) -> None:
    source = write(tmp_path, "g.json", graphs_of_json({"a": {"label": "Aachen"}}, id="cities"))
    with pytest.raises(
        BadLine, match=r"graph 1 \(friends\) and graph 2 \(cities\) have different nodes with"
    ) as caught:
        load([source], tmp_path / "g.kg", LoadOptions(skip_bad=skip_bad))
    assert "give one another id" in caught.value.next_step
    assert not (tmp_path / "g.kg").exists()


@pytest.mark.parametrize("last", [False, True])
def test_the_direction_of_one_graph_in_json_is_not_that_of_the_next(tmp_path: Path, *, last: bool) -> None:
    content = json.loads(graphs_of_json({"a": {"label": "Ann"}}))
    content["graphs"][last]["directed"] = False
    graph = loaded(tmp_path, {"g.json": json.dumps(content)})
    assert "g.json: 1 of 2 edges are undirected" in graph.report.notes[0]
    assert graph.meta("undirected") == "some"


ELEMENTS = [
    {"group": "nodes", "data": {"id": "a", "name": "Ann"}, "position": {"x": 1, "y": 2}},
    {"data": {"id": "b", "name": "Bob"}},
    {"data": {"id": "e", "source": "a", "target": "b", "interaction": "pp"}},
]


@pytest.mark.parametrize(
    "content", [ELEMENTS, {"elements": ELEMENTS}, {"elements": {"nodes": ELEMENTS[:2], "edges": ELEMENTS[2:]}}]
)
def test_cytoscapes_elements_are_a_list_or_two(tmp_path: Path, content: object) -> None:
    graph = loaded(tmp_path, {"g.json": json.dumps(content, indent=1)})
    assert (graph.edges(), graph.nodes()["b"][0]) == ([("a", "pp", "b")], "Bob")


PARALLEL = {
    "g.graphml": '''<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/>
        <edge id="first" source="a" target="b"/><edge id="second" source="a" target="b"/></graph></graphml>''',
    "g.gexf": '''<gexf><graph defaultedgetype="directed"><nodes><node id="a"/><node id="b"/></nodes><edges>
        <edge id="first" source="a" target="b"/><edge id="second" source="a" target="b"/></edges></graph></gexf>''',
    "g.cyjs": json.dumps([
        {"data": {"id": "a"}}, {"data": {"id": "b"}}, {"data": {"id": "first", "source": "a", "target": "b"}},
        {"data": {"id": "second", "source": "a", "target": "b"}},
    ]),
    "g.gml": """graph [ directed 1 node [ id "a" ] node [ id "b" ]
        edge [ id "first" source "a" target "b" ] edge [ id "second" source "a" target "b" ] ]""",
    "g.json": json.dumps({
        "nodes": [{"id": "a"}, {"id": "b"}],
        "links": [{"id": "first", "source": "a", "target": "b"}, {"id": "second", "source": "a", "target": "b"}],
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", PARALLEL)
def test_parallel_edges_that_differ_in_their_ids_alone_are_two_edges_with_these_ids(tmp_path: Path, name: str) -> None:
    graph = loaded(tmp_path, {name: PARALLEL[name]})
    assert graph.qualified_edges() == [
        ("a", "related_to", "b", 0, {"id": [["first", None, None]]}),
        ("a", "related_to", "b", 1, {"id": [["second", None, None]]}),
    ]


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("g.graphml", '<data key="id">own</data>'),
        ("g.gexf", '<attvalues><attvalue for="id" value="own"/></attvalues>'),
    ],
)
def test_an_edges_attribute_called_id_is_kept_in_place_of_the_id_of_its_element(
    tmp_path: Path, name: str, attribute: str
) -> None:
    text = PARALLEL[name].replace(
        'id="first" source="a" target="b"/>', f'id="x" source="a" target="b">{attribute}</edge>'
    )
    qualifiers = [each for *_, each in loaded(tmp_path, {name: text}).qualified_edges()]
    assert qualifiers == [{"id": [["own", None, None]]}, {"id": [["second", None, None]]}]


def test_a_network_is_told_by_its_content_whatever_its_suffix(
    tmp_path: Path,
) -> None:
    for name, text in (("a.txt", YED), ("b.json.bz2", json.dumps(JGF)), ("c.csv", IGRAPH), ("d.xml.gz", GEPHI)):
        assert load([write(tmp_path, name, text)], tmp_path / "g.kg").triples
    with pytest.raises(LoadError, match="looks like GraphML, not like a table"):
        load([write(tmp_path, "a.txt", YED)], tmp_path / "g.kg", LoadOptions(source_format="triples"))


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.9])
def test_json_that_is_cut_short_is_refused(tmp_path: Path, cut: float) -> None:
    text = json.dumps(nx.node_link_data(nx.karate_club_graph(), edges="edges"))
    with pytest.raises(BadLine, match=r"truncated|invalid JSON"):
        load([write(tmp_path, "g.json", text[: int(len(text) * cut)])], tmp_path / "g.kg")


def test_an_edge_to_a_node_that_is_not_there_is_a_bad_line(tmp_path: Path) -> None:
    text = json.dumps({"nodes": [{"id": "a"}], "links": [{"source": "a", "target": "b"}]})
    with pytest.raises(BadLine, match="no node has the id 'b'"):
        load([write(tmp_path, "g.json", text)], tmp_path / "g.kg")


async def test_an_overview_says_that_edges_are_undirected(tmp_path: Path) -> None:
    nx.write_graphml_xml(nx.karate_club_graph(), tmp_path / "g.graphml")
    (tmp_path / "t.csv").write_text("Source,Target,Type\na,b,Undirected\n")
    with pytest.raises(LoadError, match="declares edges as Undirected") as caught:
        load([tmp_path / "t.csv"], tmp_path / "t.kg")
    assert "--undirected" in caught.value.next_step
    load([tmp_path / "t.csv"], tmp_path / "t.kg", LoadOptions(undirected=True))
    load([tmp_path / "g.graphml"], tmp_path / "g.kg")
    load([tmp_path / "g.graphml", write(tmp_path, "d.csv", "source,target\na,b\n")], tmp_path / "s.kg")
    for name, which in (("t", "all"), ("g", "all"), ("s", "some")):
        text = await call(
            "describe_graph", {}, Settings(graphs={"g": GraphSettings(location=str(tmp_path / f"{name}.kg"))})
        )
        assert (
            f"({which} edges are undirected, and each is stored once: follow them in both directions)"
            in text.splitlines()[0]
        )
