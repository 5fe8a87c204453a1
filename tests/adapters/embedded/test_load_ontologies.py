"""Ontologies are graphs of their terms, whatever format they are written in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions
from kgnav_mcp.config import GraphSettings, Settings
from kgnav_mcp.errors import BadLine
from tests.adapters.embedded.loaded import Loaded, loaded
from tests.server.clients import call

OBO = "http://purl.obolibrary.org/obo/"
OBO_IN_OWL = "http://www.geneontology.org/formats/oboInOwl#"
OWL = "http://www.w3.org/2002/07/owl#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"

TURTLE = """
@prefix obo: <http://purl.obolibrary.org/obo/> .
@prefix oboInOwl: <http://www.geneontology.org/formats/oboInOwl#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
obo:toy.owl a owl:Ontology .
obo:RO_0002202 a owl:ObjectProperty ; rdfs:label "develops from" .
obo:CL_1 a owl:Class ; rdfs:label "cell" ; oboInOwl:id "CL:1" .
obo:CL_2 a owl:Class ; rdfs:label "neuron" ; oboInOwl:id "CL:2" ; oboInOwl:hasAlternativeId "CL:9" ;
    obo:IAO_0000115 "A nerve \\"cell\\"." ; rdfs:comment "Checked." ;
    oboInOwl:hasExactSynonym "nerve cell" ; oboInOwl:hasBroadSynonym "excitable cell" ;
    oboInOwl:hasDbXref "MESH:D009474" ; rdfs:subClassOf obo:CL_1 ,
    [ a owl:Restriction ; owl:onProperty obo:RO_0002202 ; owl:someValuesFrom obo:CL_3 ] .
obo:CL_3 a owl:Class ; rdfs:label "neuroblast" ; oboInOwl:id "CL:3" ; owl:equivalentClass
    [ a owl:Class ; owl:intersectionOf ( obo:CL_1
        [ a owl:Restriction ; owl:onProperty obo:RO_0002202 ; owl:someValuesFrom obo:CL_4 ] ) ] .
obo:CL_4 a owl:Class ; rdfs:label "stem cell" ; oboInOwl:id "CL:4" ; owl:deprecated true ; obo:IAO_0100001 obo:CL_1 .
[] a owl:Axiom ; owl:annotatedSource obo:CL_2 ; owl:annotatedProperty obo:IAO_0000115 ;
    owl:annotatedTarget "A nerve \\"cell\\"." ; oboInOwl:hasDbXref "PMID:1" , "url:http://x.example/a,b" .
[] a owl:Axiom ; owl:annotatedSource obo:CL_2 ; owl:annotatedProperty rdfs:subClassOf ;
    owl:annotatedTarget obo:CL_1 ; oboInOwl:source "PMID:2" .
"""

OBO_TEXT = r"""format-version: 1.2
ontology: toy

[Term]
id: CL:1
name: cell

[Term]
id: CL:2
name: neuron
alt_id: CL:9
def: "A nerve \"cell\"." [PMID:1, url:http\://x.example/a\,b]
comment: Checked.
synonym: "nerve cell" EXACT []
synonym: "excitable cell" BROAD []
xref: MESH:D009474
is_a: CL:1 {source="PMID:2"} ! cell
relationship: develops_from CL:3 ! neuroblast

[Term]
id: CL:3
name: neuroblast
intersection_of: CL:1 ! cell
intersection_of: develops_from CL:4 ! stem cell

[Term]
id: CL:4
name: stem cell
is_obsolete: true
replaced_by: CL:1

[Typedef]
id: develops_from
name: develops from
xref: RO:0002202
"""


def _node(number: int, label: str, **meta: object) -> dict[str, object]:
    return {"id": f"{OBO}CL_{number}", "lbl": label, "type": "CLASS", "meta": meta}


GRAPHS = {
    "graphs": [
        {
            "id": f"{OBO}toy.owl",
            "nodes": [
                _node(1, "cell"),
                _node(
                    2,
                    "neuron",
                    definition={"val": 'A nerve "cell".', "xrefs": ["PMID:1", "url:http://x.example/a,b"]},
                    comments=["Checked."],
                    synonyms=[
                        {"pred": "hasExactSynonym", "val": "nerve cell"},
                        {"pred": "hasBroadSynonym", "val": "excitable cell"},
                    ],
                    xrefs=[{"val": "MESH:D009474"}],
                    basicPropertyValues=[{"pred": f"{OBO_IN_OWL}hasAlternativeId", "val": "CL:9"}],
                ),
                _node(3, "neuroblast"),
                _node(
                    4,
                    "stem cell",
                    deprecated=True,
                    basicPropertyValues=[{"pred": f"{OBO}IAO_0100001", "val": f"{OBO}CL_1"}],
                ),
                {"id": f"{OBO}RO_0002202", "lbl": "develops from", "type": "PROPERTY", "propertyType": "OBJECT"},
            ],
            "edges": [
                {
                    "sub": f"{OBO}CL_2",
                    "pred": "is_a",
                    "obj": f"{OBO}CL_1",
                    "meta": {"basicPropertyValues": [{"pred": f"{OBO_IN_OWL}source", "val": "PMID:2"}]},
                },
                {"sub": f"{OBO}CL_2", "pred": f"{OBO}RO_0002202", "obj": f"{OBO}CL_3"},
            ],
            "logicalDefinitionAxioms": [
                {
                    "definedClassId": f"{OBO}CL_3",
                    "genusIds": [f"{OBO}CL_1"],
                    "restrictions": [{"propertyId": f"{OBO}RO_0002202", "fillerId": f"{OBO}CL_4"}],
                }
            ],
        }
    ]
}
FORMATS = {"toy.ttl": TURTLE, "toy.obo": OBO_TEXT, "toy.json": json.dumps(GRAPHS)}


def _names(graph: Loaded, number: int) -> set[tuple[int, str]]:
    return {(kind, text) for kind, _, text in graph.names(f"{OBO}CL_{number}")}


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_of_an_ontology_gives_the_same_graph(tmp_path: Path, name: str) -> None:
    graph = loaded(tmp_path, {name: FORMATS[name]})
    edges = [
        (head.removeprefix(OBO), relation.rpartition("/")[2], tail.removeprefix(OBO), qualifiers)
        for head, relation, tail, _, qualifiers in graph.qualified_edges()
        if head.startswith(f"{OBO}CL") and not relation.endswith("type")
    ]
    assert sorted(edges, key=str) == [
        ("CL_2", "RO_0002202", "CL_3", None),
        ("CL_2", "rdf-schema#subClassOf", "CL_1", {f"{OBO_IN_OWL}source": [["PMID:2", None, None]]}),
        ("CL_3", "RO_0002202", "CL_4", None),
        ("CL_3", "rdf-schema#subClassOf", "CL_1", None),
        ("CL_4", "IAO_0100001", "CL_1", None),
    ]
    assert _names(graph, 2) == {
        (0, "neuron"),
        (1, "nerve cell"),
        (1, "excitable cell"),
        (2, 'A nerve "cell".'),
        (2, "Checked."),
    }
    assert graph.rows("SELECT description FROM node WHERE key = ?", f"{OBO}CL_2") == [('A nerve "cell".',)]
    values = {(relation.rpartition("#")[2], text) for relation, text, _, _ in graph.attributes(f"{OBO}CL_2")}
    assert {("hasAlternativeId", "CL:9"), ("hasDbXref", "MESH:D009474"), ("id", "CL:2")} < values
    (qualified,) = graph.rows("SELECT qualifiers FROM attribute WHERE qualifiers IS NOT NULL")
    references = [text for text, _, _ in json.loads(qualified[0])[f"{OBO_IN_OWL}hasDbXref"]]
    assert sorted(references) == ["PMID:1", "url:http://x.example/a,b"]
    assert graph.rows("SELECT nodes FROM label WHERE key = ?", f"{OWL}Class") == [(4,)]
    assert not [key for key in graph.nodes() if key.startswith("_:") or key.endswith(("Axiom", "Restriction"))]
    assert graph.nodes()[f"{OBO}CL_4"][0] == "obsolete: stem cell"
    assert _names(graph, 4) == {(0, "stem cell"), (1, "obsolete: stem cell")}


async def test_is_a_of_obo_and_subclass_of_of_owl_are_one_relation_that_both_names_find(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {name: FORMATS[name] for name in ("toy.ttl", "toy.obo")})
    edges = [(head, tail) for head, relation, tail in graph.edges() if relation == f"{RDFS}subClassOf"]
    assert edges == [(f"{OBO}CL_2", f"{OBO}CL_1"), (f"{OBO}CL_3", f"{OBO}CL_1")]
    settings = Settings(graphs={"g": GraphSettings(location=str(graph.path))})
    for name in ("is_a", "rdfs:subClassOf", "subClassOf"):
        answer = await call("get_triples", {"entity": "CL:2", "relations": [name]}, settings)
        assert "CL:2|neuron|rdfs:subClassOf|CL:1|cell|source: PMID:2" in answer
        answer = await call("run_plan", {"plan": f"MATCH (a)-[:`{name}`]->(b) RETURN a, b"}, settings)
        assert answer.splitlines()[0] == "2 rows"


async def test_a_relation_that_is_called_is_a_is_found_before_subclass_of(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"toy.obo": OBO_TEXT, "own.csv": "source,type,target\nCL:5,IS_A,CL:2\n"})
    settings = Settings(graphs={"g": GraphSettings(location=str(graph.path))})
    answer = await call("run_plan", {"plan": "MATCH (a)-[:is_a]->(b) RETURN a"}, settings)
    assert answer.splitlines()[0] == "1 row"
    assert "CL:5" in answer


def test_the_summary_counts_what_was_folded_and_names_the_flag_that_does_not(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"toy.ttl": TURTLE})
    assert graph.report.notes == (
        "ontology: 1 x SubClassOf (p some X) and 1 definitions became edges; 2 owl:Axiom annotations became qualifiers "
        "of the triples that they annotate (--owl raw loads the triples as they are)",
    )


def test_raw_loads_the_triples_of_an_ontology_as_they_are(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"toy.ttl": TURTLE}, LoadOptions(owl="raw"))
    assert graph.rows("SELECT nodes FROM label WHERE key = ?", f"{OWL}Axiom") == [(2,)]
    assert graph.rows("SELECT nodes FROM label WHERE key = ?", f"{OWL}Restriction") == [(2,)]
    assert graph.rows("SELECT edges FROM relation WHERE key = ?", f"{OBO}RO_0002202") == []
    assert graph.report.notes == ()


def test_expressions_that_say_no_single_edge_stay_but_are_not_classes(tmp_path: Path) -> None:
    graph = loaded(
        tmp_path,
        {
            "g.ttl": """@prefix owl: <http://www.w3.org/2002/07/owl#> . :Salt a owl:Class . :p a owl:ObjectProperty .
            :Dish a owl:Class ; rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:allValuesFrom :Salt ] ;
            owl:equivalentClass [ a owl:Class ; owl:intersectionOf (
                :Food [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :Salt ]
                [ a owl:Class ; owl:complementOf :Air ] ) ] ."""
        },
    )
    named = [edge for edge in graph.edges() if edge[0] == "http://x/Dish" and not edge[2].startswith("_:")]
    assert named == [
        ("http://x/Dish", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", f"{OWL}Class"),
        ("http://x/Dish", f"{RDFS}subClassOf", "http://x/Food"),
        ("http://x/Dish", "http://x/p", "http://x/Salt"),
    ]
    kept = [relation for _, relation, _ in graph.edges()]
    assert kept.count(f"{OWL}allValuesFrom") == kept.count(f"{OWL}complementOf") == 1
    assert kept.count(f"{OWL}intersectionOf") == 1
    assert graph.rows("SELECT key, nodes FROM label ORDER BY key") == [(f"{OWL}Class", 2), (f"{OWL}ObjectProperty", 1)]
    assert "other class expressions, kept as nameless nodes: 4" in graph.report.notes[0]
    assert f"{OWL}Restriction" not in graph.nodes()


def test_an_annotation_of_a_subclass_statement_with_some_qualifies_the_edge(tmp_path: Path) -> None:
    graph = loaded(
        tmp_path,
        {
            "g.ttl": """@prefix owl: <http://www.w3.org/2002/07/owl#> .
            :A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :B ] .
            [] a owl:Axiom ; owl:annotatedSource :A ; owl:annotatedProperty rdfs:subClassOf ; :source "me" ;
            owl:annotatedTarget [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :B ] ."""
        },
    )
    assert graph.qualified_edges() == [
        ("http://x/A", "http://x/p", "http://x/B", 0, {"http://x/source": [["me", None, None]]})
    ]
    assert set(graph.nodes()) == {"http://x/A", "http://x/B"}


AXIOMS = """@prefix owl: <http://www.w3.org/2002/07/owl#> . :A rdfs:subClassOf :B ; :definition "one" , "two" .
    [] a owl:Axiom ; owl:annotatedSource :A ; owl:annotatedProperty rdfs:subClassOf ; owl:annotatedTarget :B ;
        :evidence "x" , "y" ; :by :me .
    [] a owl:Axiom ; owl:annotatedSource :A ; owl:annotatedProperty rdfs:subClassOf ; owl:annotatedTarget :B ;
        :evidence "y" , "z" ; :year 1999 .
    :st a rdf:Statement ; rdf:subject :A ; rdf:predicate rdfs:subClassOf ; rdf:object :B ; :evidence "apart" .
    [] a owl:Axiom ; owl:annotatedSource :A ; owl:annotatedProperty :definition ; owl:annotatedTarget "one" ; :ref 1 .
    [] a owl:Axiom ; owl:annotatedSource :A ; owl:annotatedProperty :definition ; owl:annotatedTarget "one" ; :ref 2 .
    [] a owl:Axiom ; owl:annotatedSource :A ; owl:annotatedProperty :definition ; owl:annotatedTarget "two" ; :ref 3 .
"""


def test_all_axioms_about_one_triple_qualify_one_triple_with_every_value(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.ttl": AXIOMS})
    texts = {"evidence": [["x", None, None], ["y", None, None], ["z", None, None]]}
    merged = texts | {"by": [{"id": "http://x/me"}], "year": [["1999", "xsd:integer", None]]}
    edges = [(head, tail, qualifiers) for head, _, tail, _, qualifiers in graph.qualified_edges()]
    assert sorted(edges, key=str) == [
        ("http://x/A", "http://x/B", {f"http://x/{name}": values for name, values in merged.items()}),
        ("http://x/A", "http://x/B", {"http://x/evidence": [["apart", None, None]]}),
    ]
    attributes = graph.rows("SELECT text, qualifiers FROM attribute WHERE qualifiers IS NOT NULL ORDER BY text")
    references = [(text, [value for value, *_ in json.loads(each)["http://x/ref"]]) for text, each in attributes]
    assert references == [("one", ["1", "2"]), ("two", ["3"])]
    assert not [key for key in graph.nodes() if key.startswith("_:")]


def test_an_axiom_about_a_triple_that_no_source_states_stays_a_node(tmp_path: Path) -> None:
    graph = loaded(
        tmp_path,
        {
            "g.ttl": """@prefix owl: <http://www.w3.org/2002/07/owl#> . :b :p :c .
            :x a owl:Axiom ; owl:annotatedSource :a ; owl:annotatedProperty :p ; owl:annotatedTarget :b ; :by "me" ."""
        },
    )
    assert ("http://x/a", "http://x/p", "http://x/b") not in graph.edges()
    assert ("http://x/x", f"{OWL}annotatedSource", "http://x/a") in graph.edges()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("def: A text without quotation marks", "a text in quotation marks is expected"),
        ("no tag here", "a tag, a colon and a value are expected"),
        ("is_a:", "an id is expected"),
    ],
)
def test_a_wrong_line_of_an_obo_file_is_named_or_skipped(tmp_path: Path, line: str, reason: str) -> None:
    text = f"[Term]\nid: A:1\n{line}\nname: one\n"
    with pytest.raises(BadLine, match=f"g.obo:3: {reason}"):
        loaded(tmp_path, {"g.obo": text})
    graph = loaded(tmp_path, {"g.obo": text}, LoadOptions(skip_bad=True))
    assert graph.report.bad_lines == 1
    assert graph.nodes()[f"{OBO}A_1"][0] == "one"


def test_clauses_of_obo_keep_their_escapes_modifiers_comments_and_values(tmp_path: Path) -> None:
    graph = loaded(
        tmp_path,
        {
            "g.obo": r"""format-version: 1.4
default-namespace: plants
idspace: ex http://example.org/
ontology: toy

[Term]
id: A:1 ! comment
name: a\: b! {c}
synonym: "old" [] {comment="why \"old\""}
xref: ex:7 "seven" ! comment
property_value: ex:size "3" xsd:integer
property_value: ex:near A:2
subset: small
"""
        },
    )
    one = f"{OBO}A_1"
    values = {(relation.rpartition("/")[2], text, datatype) for relation, text, datatype, _ in graph.attributes(one)}
    assert values == {
        ("oboInOwl#id", "A:1", None),
        ("rdf-schema#label", "a: b! {c}", None),
        ("oboInOwl#hasRelatedSynonym", "old", None),
        ("oboInOwl#hasDbXref", "ex:7", None),
        ("oboInOwl#hasOBONamespace", "plants", None),
        ("size", "3", "xsd:integer"),
    }
    assert (one, "http://example.org/near", f"{OBO}A_2") in graph.edges()
    assert (one, f"{OBO_IN_OWL}inSubset", f"{OBO}toy#small") in graph.edges()
    qualifiers = dict(graph.rows("SELECT text, qualifiers FROM attribute WHERE qualifiers IS NOT NULL"))
    assert json.loads(qualifiers["old"]) == {f"{OBO_IN_OWL}comment": [['why "old"', None, None]]}
    assert json.loads(qualifiers["ex:7"]) == {f"{RDFS}label": [["seven", None, None]]}


def test_json_that_is_no_graph_of_obo_behind_its_first_keys_is_a_bad_file(tmp_path: Path) -> None:
    with pytest.raises(BadLine, match="this is not obographs JSON"):
        loaded(tmp_path, {"g.json": '{"graphs": [{"nodes": [{"lbl": "no id"}]}]}'})


def test_labels_of_skos_are_names_and_aliases_and_the_definition_comes_before_a_comment(tmp_path: Path) -> None:
    graph = loaded(
        tmp_path,
        {
            "g.ttl": """@prefix skos: <http://www.w3.org/2004/02/skos/core#> . :a a skos:Concept ;
            skos:prefLabel "Moons"@en ; skos:altLabel "satellites"@en ; skos:hiddenLabel "mooons"@en ;
            rdfs:comment "Comment."@en ; skos:definition "Bodies around planets."@en ."""
        },
    )
    assert [(kind, text) for kind, _, text in graph.names("http://x/a")][:3] == [
        (0, "Moons"),
        (1, "satellites"),
        (1, "mooons"),
    ]
    assert graph.rows("SELECT description FROM node WHERE key = 'http://x/a'") == [("Bodies around planets.",)]
