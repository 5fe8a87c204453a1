"""Files in formats that are not loaded are refused with the name of what they look like, not misread."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.errors import LoadError
from tests.adapters.embedded.loaded import loaded, write

TRIPLE = b"<http://x/a> <http://x/b> <http://x/c> .\n"


def tar() -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        member = tarfile.TarInfo("g.nt")
        member.size = len(TRIPLE)
        archive.addfile(member, io.BytesIO(TRIPLE))
    return packed.getvalue()


def zipped(*names: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(name, "<x/>")
    return packed.getvalue()


LGL = "# node1\nnode2 1.0\nnode3 0.5\n# node2\nnode3 0.3\n"
MOVIES = "Movie,Director,Year\nJaws,Steven Spielberg,1975\nDuel,Steven Spielberg,1971\nHeat,Michael Mann,1995\n"
NODE_LINK = {"directed": False, "nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b"}]}
JGF = {"graph": {"directed": False, "nodes": {"a": {"label": "A"}}, "edges": [{"source": "a", "target": "a"}]}}
CYTOSCAPE = {"elements": {"nodes": [{"data": {"id": "a"}}], "edges": [{"data": {"source": "a", "target": "a"}}]}}
GRAPHML = '<?xml version="1.0"?>\n<!-- x -->\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">' \
    '<graph edgedefault="undirected"><node id="a"/></graph></graphml>'  # fmt: skip
GEXF = '<gexf xmlns="http://www.gexf.net/1.2draft"><graph defaultedgetype="undirected"/></gexf>'
GML = 'Creator "igraph"\ngraph [\n  directed 0\n  node [\n    id 0\n  ]\n]\n'
SPARQL_RESULTS = {"head": {"vars": ["s"]}, "results": {"bindings": [{"s": {"type": "uri", "value": "http://x/a"}}]}}
GRAPHSON = '{"@type":"g:Vertex","@value":{"id":1,"label":"person"}}\n'

CASES: list[tuple[str, str | bytes | object, str | None, str]] = [
    ("g.lgl", LGL, None, "LGL"),
    ("g.lgl", LGL, "edges", "LGL"),
    ("g.edges", LGL, None, "LGL"),
    ("n.json", NODE_LINK, "jsonld", "node-link JSON"),
    ("j.json", JGF, "jsonld", "JSON Graph Format"),
    ("c.json", CYTOSCAPE, "apoc", "Cytoscape's JSON"),
    ("s.json", SPARQL_RESULTS, "jsonld", "results of a SPARQL query"),
    ("g.json", GRAPHSON, None, "GraphSON"),
    ("g.json", GRAPHSON, "jsonld", "GraphSON"),
    ("a.json", [["a", "knows", "b"]], None, "a JSON array"),
    ("a.json", '{\n  "name": "x"\n}\n', None, "JSON over several lines"),
    ("a.jsonld", {"name": "x"}, None, "JSON without the keywords of JSON-LD"),
    ("g.gexf", GEXF, "rdf", "GEXF"),
    ("g.xml", GRAPHML, "rdf", "GraphML"),
    ("g.txt", GML, "edges", "GML"),
    ("g.net", '*Vertices 2\n1 "a"\n2 "b"\n*Edges\n1 2 1\n', "edges", "a Pajek network"),
    ("g.dot", "digraph G {\n  a -> b;\n}\n", "sif", "a DOT (Graphviz) graph"),
    ("g.trix", '<TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/"/>', None, "TriX"),
    ("x.owl", "Prefix(:=<http://x/>)\nOntology(<http://x/o>)\n", None, "OWL in functional syntax"),
    ("x.owl", '<Ontology xmlns="http://www.w3.org/2002/07/owl#"/>', None, "OWL/XML"),
    ("x.xlsx", zipped("[Content_Types].xml", "xl/workbook.xml"), None, "a workbook"),
    ("x.csv", zipped("[Content_Types].xml", "xl/workbook.xml"), None, "a workbook"),
    ("x.csv", zipped("g.csv"), "edges", "a ZIP archive"),
    ("g.tar.gz", tar(), None, "a tar archive"),
    ("g.nt.gz", tar(), None, "a tar archive"),
    ("g.tsv.gz", tar(), "edges", "a tar archive"),
    ("g.nt", gzip.compress(TRIPLE), None, "a gzip file"),
    ("p.csv", b"PAR1\x15\x04\x15\x10" + bytes(100) + b"PAR1", None, "a Parquet file"),
    ("h.nt", "<!DOCTYPE html>\n<html><body/></html>\n", None, "an HTML page"),
    ("s.sql", "CREATE TABLE e (a INT);\nINSERT INTO e VALUES (1);\n", "edges", "an SQL dump"),
    ("c.cypher", "CREATE (a)-[:KNOWS]->(b);\n", None, "a Cypher script"),
    ("t.csv", "| source | target |\n|---|---|\n| a | b |\n", None, "a Markdown table"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "stated", "look"), CASES, ids=[f"{name} {stated} {look}" for name, _, stated, look in CASES]
)
def test_a_file_in_another_format_is_refused_with_what_it_looks_like(
    tmp_path: Path, name: str, content: str | bytes | object, stated: str | None, look: str
) -> None:
    source = write(tmp_path, name, content if isinstance(content, str | bytes) else json.dumps(content))
    with pytest.raises(LoadError) as caught:
        load([source], tmp_path / "g.kg", LoadOptions(source_format=stated))
    assert caught.value.message.startswith(f"{name} looks like {look}")
    assert caught.value.next_step
    assert "\n" not in f"{caught.value.message} {caught.value.next_step}"
    assert not (tmp_path / "g.kg").exists()


@pytest.mark.parametrize("stated", ["triples", "edges", "property-graph", "sif", None])
@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_a_table_with_other_columns_is_not_read_as_edges(tmp_path: Path, stated: str | None, delimiter: str) -> None:
    name = "movies.tsv" if delimiter == "\t" else "movies.csv"
    source = write(tmp_path, name, MOVIES.replace(",", delimiter))
    with pytest.raises(LoadError) as caught:
        load([source], tmp_path / "g.kg", LoadOptions(source_format=stated, skip_bad=stated != "sif"))
    assert name in caught.value.message


def test_such_lines_are_triples_below_a_line_that_says_so(tmp_path: Path) -> None:
    options = LoadOptions(source_format="triples")
    graph = loaded(tmp_path, {"g.csv": "head,relation,tail\n" + MOVIES}, options)
    assert ("Jaws", "Steven Spielberg", "1975") in graph.edges()


def test_the_first_line_of_an_edge_list_is_shown(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.csv": "Movie,Director\nJaws,Steven Spielberg\n"}, LoadOptions(source_format="edges"))
    assert "the first line is 'Movie,Director'" in graph.report.notes[0]


@pytest.mark.parametrize("word", ["Undirected", "Mutual"])
def test_edges_declared_undirected_are_refused(tmp_path: Path, word: str) -> None:
    source = write(tmp_path, "edges.csv", f"Source,Target,Type,Weight\n1,0,Directed,1\n1,2,{word},1\n")
    with pytest.raises(LoadError, match=f"edges.csv declares edges as {word} in its column Type"):
        load([source], tmp_path / "g.kg", LoadOptions(skip_bad=True))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.trig", "GRAPH <http://x/g> { <http://x/a> <http://x/b> <http://x/c> }\n"),
        ("g.tsv", "PAR1\tinteracts\tPAR2\nPAR2\tinteracts\tF2R\n"),
        ("g.edges", "# edges\na b\n# more edges\nb c\n"),
        ("g.tsv", "ada\tborn_in\tLondon\nada\twrote\tNotes\nbob\tknows\tada\nLondon\tin\tEngland\n"),
        ("g.jsonld", '{"http://x/p": {"@id": "http://x/c"}}'),
        ("g.jsonld", '[{"@id": "http://x/a", "http://x/nodes": [{"@id": "http://x/b"}]}]'),
        ("g.jsonl", '{"type": "node", "id": "0", "properties": {"elements": 1, "graph": 2, "@id": 3}}'),
        ("g.rdf", '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:o="http://x/">'
         '<o:Ontology rdf:about="http://x/o"/></rdf:RDF>'),
    ],
)  # fmt: skip
def test_files_that_only_resemble_another_format_are_loaded(tmp_path: Path, name: str, text: str) -> None:
    assert load([write(tmp_path, name, text)], tmp_path / "g.kg").entities
