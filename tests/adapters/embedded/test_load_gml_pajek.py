"""GML and Pajek are texts in any encoding, and their counts are those of networkx."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.adapters.embedded.loading.options import TableOptions
from kgnav_mcp.errors import BadLine, LoadError
from tests.adapters.embedded.loaded import Loaded, loaded, write

nx = cast("Any", import_module("networkx"))

IGRAPH = """Creator "igraph version 0.10.4 Mon Jan 1 2024"
Version 1
graph
[
  directed 0
  node
  [
    id 0
    name "Mr Hi"
    graphics [ x 1.5 y 2 ]
  ]
  node
  [
    id 1
    name "John &quot;A&quot; B&#246;hm"
  ]
  edge
  [
    source 1
    target 0
    weight 4
  ]
  edge
  [
    source 1
    target 0
    weight 5
  ]
]
"""


def test_igraphs_gml_keeps_parallel_edges_and_unescapes_names(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.gml": IGRAPH}, LoadOptions(relation="met"))
    assert graph.qualified_edges() == [
        ("1", "met", "0", 0, {"weight": [["4", "integer", None]]}),
        ("1", "met", "0", 1, {"weight": [["5", "integer", None]]}),
    ]
    assert graph.nodes()["1"][0] == 'John "A" Böhm'
    assert [name for name, *_ in graph.attributes("0")] == ["name"]


@pytest.mark.parametrize(
    "text", ["graph [ node [ id 0 ", "graph [ node [ id 0 ] ] ]", 'graph [ node [ id "0 ] ]', "graph [ node [ id ] ]"]
)
def test_gml_with_wrong_brackets_is_refused_with_a_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadLine) as caught:
        load([write(tmp_path, "g.gml", f"\n{text}\n")], tmp_path / "g.kg")
    assert caught.value.line


LATIN_1 = b'graph [\n node [ id 1 label "Z\xfcrich" ]\n node [ id 2 ]\n edge [ source 1 target 2 ]\n directed 1\n]\n'


def test_gml_may_say_behind_its_edges_that_they_are_directed_and_be_in_latin_1(tmp_path: Path) -> None:
    source, target = write(tmp_path, "g.gml", LATIN_1), tmp_path / "g.kg"
    graph = Loaded(target, load([source], target))
    assert graph.nodes()["1"][0] == "Zürich"
    assert "g.gml: read as latin-1 (--encoding NAME to change it)" in graph.report.notes
    assert not any("undirected" in note for note in graph.report.notes)


ENCODED = {
    "g.gml": "graph [\n" + 200_000 * " \n" + ' directed 1\n node [ id 1 label "Gdańsk €" ]\n node [ id 2 ]\n]\n',
    "g.net": '*Vertices 2\n1 "Gdańsk €"\n2 "b"\n',
}


@pytest.mark.parametrize("name", ENCODED)
@pytest.mark.parametrize("encoding", ["cp1250", "utf-16", "utf-16-le"])
def test_gml_and_pajek_are_read_in_the_stated_encoding(tmp_path: Path, name: str, encoding: str) -> None:
    source, target = write(tmp_path, name, ENCODED[name].encode(encoding)), tmp_path / "g.kg"
    report = load([source], target, LoadOptions(tables=TableOptions(encoding=encoding)))
    assert Loaded(target, report).nodes()["1"][0] == "Gdańsk €"
    assert f"{name}: read as {encoding} (--encoding NAME to change it)" in report.notes


@pytest.mark.parametrize(
    ("name", "text", "guessed"),
    [("g.gml", ENCODED["g.gml"], "utf-16"), ("g.net", ENCODED["g.net"], "utf-16"),
     ("g.net", ENCODED["g.net"].replace("ń", "n"), "cp1252"),
     ("g.gml", ENCODED["g.gml"].replace("ń", "ñ").replace(" €", ""), "latin-1")],
)  # fmt: skip
def test_the_encoding_of_gml_and_pajek_is_guessed_from_the_whole_file_and_told(
    tmp_path: Path, name: str, text: str, guessed: str
) -> None:
    source, target = write(tmp_path, name, text.encode(guessed)), tmp_path / "g.kg"
    graph = Loaded(target, load([source], target))
    assert f'"{graph.nodes()["1"][0]}"' in text
    assert f"{name}: read as {guessed} (--encoding NAME to change it)" in graph.report.notes


@pytest.mark.parametrize("name", ENCODED)
def test_a_wrong_byte_among_utf_8_in_gml_or_pajek_is_refused_with_its_line(tmp_path: Path, name: str) -> None:
    raw = ENCODED[name].encode().replace(b"2", b"2 # \xfc", 2)
    with pytest.raises(BadLine, match="not UTF-8") as caught:
        load([write(tmp_path, name, raw)], tmp_path / "g.kg")
    assert caught.value.line == 1 + raw[: raw.index(b"\xfc")].count(b"\n")


@pytest.mark.parametrize("encoding", ["utf8mb4", "base64", "\0"])
def test_an_encoding_that_is_unknown_is_refused_with_names_of_known_ones(tmp_path: Path, encoding: str) -> None:
    source = write(tmp_path, "g.gml", LATIN_1)
    with pytest.raises(LoadError, match="is not a known encoding") as caught:
        load([source], tmp_path / "g.kg", LoadOptions(tables=TableOptions(encoding=encoding)))
    assert "cp1252" in caught.value.next_step


PAJEK = """% made by hand
*Network people
*Vertices 5 3
1 "Ann Lee" 0.1 0.2 0.5 ellipse ic Red age 30
2 "Bob"
4 "Ann Lee"
*Arcs :1 "likes"
1 2 1
1 2 3 l "a lot"
*Arcs :2 "knows"
2 4 -1.5
*Edges
1 5
*Edgeslist
2 4 5
*Matrix
0 1 0 0 0
"""


def test_pajek_has_every_vertex_several_relations_and_all_its_kinds_of_lines(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.net": PAJEK})
    names = {key: label for key, (label, _, _) in graph.nodes().items()}
    assert names == {"1": "Ann Lee", "2": "Bob", "3": "3", "4": "Ann Lee", "5": "5"}
    assert graph.edges() == [
        ("1", "likes", "2"), ("1", "likes", "2"), ("1", "related_to", "2"), ("1", "related_to", "5"),
        ("2", "knows", "4"), ("2", "related_to", "4"), ("2", "related_to", "5"),
    ]  # fmt: skip
    assert ("age", "30", "integer", None) in graph.attributes("1")
    assert "3 of 7 edges are undirected" in graph.report.notes[1]


def test_pajek_as_networkx_writes_it_has_its_counts(tmp_path: Path) -> None:
    graph = nx.MultiDiGraph(nx.gnp_random_graph(30, 0.2, seed=4, directed=True))
    nx.write_pajek(graph, tmp_path / "g.net")
    report = load([tmp_path / "g.net"], tmp_path / "g.kg")
    edges = Loaded(tmp_path / "g.kg", report)
    names = {key: label for key, (label, _, _) in edges.nodes().items()}
    assert Counter((names[s], names[o]) for s, _, o in edges.edges()) == Counter(
        (str(s), str(o)) for s, o in graph.edges()
    )


PAJEK_DRAWN = """*Vertices 3
1 "Ann Lee" 0.1 0.25 ellipse ic Red bc Blue x_fact 2
2 Bob 1 2 box
3 "Cy"
*Arcs
1 2 1.5 w 3 c Blue p Dashed l "a lot"
2 3 1 c Red
*Edges
3 1 2
"""


def test_pajeks_parameters_for_drawing_are_attributes_as_in_networkx(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.net": PAJEK_DRAWN})
    expected = nx.parse_pajek(PAJEK_DRAWN)
    names = {key: str(label) for key, (label, _, _) in graph.nodes().items()}
    for key, name in names.items():
        attributes = {name: text for name, text, _, _ in graph.attributes(key)}
        assert attributes.pop("label") == name
        assert attributes | {"id": key} == {name: str(value) for name, value in expected.nodes[name].items()}
    found: Counter[tuple[object, ...]] = Counter()
    for start, relation, end, _, qualifiers in graph.qualified_edges():
        values = {name: str(float(text)) if name == "weight" else text for name, ((text, *_),) in qualifiers.items()}
        if relation != "related_to":
            values["l"] = relation  # the label of an edge without another relation
        found[names[start], names[end], *sorted(values.items())] += 1
    edges = [(*ends, {name: str(value) for name, value in data.items()}) for *ends, data in expected.edges(data=True)]
    assert found == Counter((start, end, *sorted(data.items())) for start, end, data in edges)


def test_a_pajek_vertex_may_have_three_coordinates_before_its_shape(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.net": PAJEK})
    assert [row[:3] for row in graph.attributes("1")] == [
        ("age", "30", "integer"), ("ic", "Red", None), ("label", "Ann Lee", None), ("shape", "ellipse", None),
        ("x", "0.1", "float"), ("y", "0.2", "float"), ("z", "0.5", "float"),
    ]  # fmt: skip


def test_words_that_only_python_reads_as_numbers_are_texts_in_gml_and_pajek(tmp_path: Path) -> None:
    gml = "graph [ directed 1 node [ id 1 a 1_000 b 1_0.5 c 1000 d -1.5E3 e +INF f \u0661 ] ]"
    expected = [
        ("a", "1_000", None), ("b", "1_0.5", None), ("c", "1000", "integer"), ("d", "-1500.0", "float"),
        ("e", "Infinity", "float"), ("f", "\u0661", None),
    ]  # fmt: skip
    assert [row[:3] for row in loaded(tmp_path, {"g.gml": gml}).attributes("1")] == expected
    pajek = '*Vertices 1\n1 "A" box a 1_000 b 1_0.5 c 1000 d -1.5E3 e +INF f \u0661\n'
    found = [row[:3] for row in loaded(tmp_path, {"g.net": pajek}).attributes("1") if len(row[0]) == 1]
    assert found == expected


def test_the_label_of_a_pajek_line_is_a_text_though_it_looks_like_a_number(tmp_path: Path) -> None:
    pajek = '*Vertices 2\n1 "A"\n2 "B"\n*Arcs\n1 2 1 l "007"\n'
    (label,) = [data["l"] for *_, data in nx.parse_pajek(pajek).edges(data=True)]
    assert loaded(tmp_path, {"g.net": pajek}).edges() == [("1", label, "2")] == [("1", "007", "2")]


def test_a_pajek_matrix_with_a_text_is_refused_with_its_line(tmp_path: Path) -> None:
    source = write(tmp_path, "g.net", "*Vertices 2\n*Matrix\n0 1\n1_0 0\n")
    with pytest.raises(BadLine, match=r"g\.net:4.*'1_0'"):
        load([source], tmp_path / "g.kg")
