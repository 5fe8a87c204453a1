from __future__ import annotations

from pathlib import Path

import pyoxigraph as ox
import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions
from kgnav_mcp.errors import LoadError
from tests.adapters.embedded.loaded import PREFIXES, Loaded, loaded, write

SMALL = """
:a :knows :b .
:a :age 5 .
:b rdfs:label "Bee"@en .
_:x :knows :a .
"""
FORMATS = {
    ".nt": ox.RdfFormat.N_TRIPLES,
    ".nq": ox.RdfFormat.N_QUADS,
    ".ttl": ox.RdfFormat.TURTLE,
    ".trig": ox.RdfFormat.TRIG,
    ".n3": ox.RdfFormat.N3,
    ".rdf": ox.RdfFormat.RDF_XML,
    ".owl": ox.RdfFormat.RDF_XML,
    ".xml": ox.RdfFormat.RDF_XML,
    ".jsonld": ox.RdfFormat.JSON_LD,
}


def in_format(suffix: str) -> str:
    text = ox.serialize(ox.parse(PREFIXES + SMALL, ox.RdfFormat.TURTLE), format=FORMATS[suffix])
    assert text is not None
    return text.decode()


def holds_the_small_graph(graph: Loaded) -> None:
    (blank,) = [key for key in graph.nodes() if key.startswith("_:")]
    assert sorted(graph.edges()) == [
        (blank, "http://x/knows", "http://x/a"),
        ("http://x/a", "http://x/knows", "http://x/b"),
    ]
    assert graph.attributes("http://x/a") == [("http://x/age", "5", "xsd:integer", None)]
    assert graph.nodes()["http://x/b"][0] == "Bee"
    assert (graph.report.entities, graph.report.triples) == (3, 4)


@pytest.mark.parametrize("suffix", [*FORMATS, *(f"{suffix}.gz" for suffix in FORMATS), ".ttl.bz2"])
def test_every_rdf_format_gives_the_same_graph_compressed_or_not(tmp_path: Path, suffix: str) -> None:
    text = in_format(suffix.removesuffix(".gz").removesuffix(".bz2"))
    holds_the_small_graph(loaded(tmp_path, {f"small{suffix}": text}))


def test_a_named_format_overrides_the_suffix(tmp_path: Path) -> None:
    source = {"small.data": in_format(".nt")}
    holds_the_small_graph(loaded(tmp_path, source, LoadOptions(source_format="nt")))


def test_json_with_a_context_is_json_ld(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.json": '{"@context": {"@vocab": "http://x/"}, "@id": "http://x/a", "age": 5}'})
    assert graph.attributes("http://x/a") == [("http://x/age", "5", "xsd:integer", None)]


def test_a_context_on_the_web_is_refused_and_nothing_is_fetched(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="context on the Web") as caught:
        loaded(tmp_path, {"g.jsonld": '{"@context": "https://schema.org/", "@id": "http://x/a", "age": 5}'})
    assert "N-Triples" in caught.value.next_step


def test_equal_triples_in_several_graphs_and_files_are_one(tmp_path: Path) -> None:
    quads = "".join(
        f'<http://x/a> <http://x/p> <http://x/b> <http://g/{n}> .\n<http://x/a> <http://x/q> "v" .\n' for n in "12"
    )
    graph = loaded(tmp_path, {"g.nq": quads, "again.ttl": ":a :p :b ; :q 'v' ."})
    assert graph.edges() == [("http://x/a", "http://x/p", "http://x/b")]
    assert graph.report.triples == 2
    assert graph.rows("SELECT edges, attributes FROM relation ORDER BY key") == [(1, 0), (0, 1)]


def test_blank_nodes_of_two_files_stay_apart_and_keep_their_ids_in_a_second_load(tmp_path: Path) -> None:
    files = {"one.ttl": "_:x :p :a . :b :q [ :r 1 ] .", "two.ttl": "_:x :p :a ."}
    first = loaded(tmp_path, files).edges()
    assert len({head for head, _, _ in first if head.startswith("_:")}) == 2
    assert loaded(tmp_path, files).edges() == first


def test_the_preferred_name_follows_languages_then_none_then_the_tag_in_order(tmp_path: Path) -> None:
    text = """
    :a rdfs:label "Zahl"@de, "Number"@en, "nombre"@fr . :b rdfs:label "drei"@de, "three" .
    :c rdfs:label "vier"@de, "quatre"@fr, "neli"@et . :d rdfs:label "colour"@en-GB, "Farbe"@de, "plain" .
    """
    nodes = loaded(tmp_path, {"g.ttl": text}, LoadOptions(languages=("nl", "en"))).nodes()
    assert [nodes[f"http://x/{key}"][0] for key in "abcd"] == ["Number", "three", "vier", "colour"]
    graph = loaded(tmp_path, {"g.ttl": text}, LoadOptions(languages=("fr",)))
    assert graph.nodes()["http://x/a"][0] == "nombre"
    assert graph.rows("SELECT language FROM node WHERE label = 'nombre'") == [("fr",)]


def test_names_aliases_and_descriptions_go_where_they_are_searched_and_stay_attributes(tmp_path: Path) -> None:
    text = ':a skos:prefLabel "A" ; rdfs:label "Ay"@nl ; skos:altLabel "Alef" ; schema:description "The first."@en .'
    graph = loaded(tmp_path, {"g.ttl": text})
    assert graph.names("http://x/a") == [(0, None, "A"), (0, "nl", "Ay"), (1, None, "Alef"), (2, "en", "The first.")]
    assert graph.nodes()["http://x/a"][:2] == ("A", "The first.")
    assert len(graph.attributes("http://x/a")) == 4
    assert graph.rows("SELECT rowid FROM name_words('alef')") == [(3,)]


def test_a_name_given_by_two_relations_is_one(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.ttl": ':a rdfs:label "A"@en ; skos:prefLabel "A"@en .'})
    assert graph.names("http://x/a") == [(0, "en", "A")]


def test_an_entity_without_a_name_has_no_label_and_is_found_by_its_iris_end(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.nt": "<http://x/Eiffel_Tower> <http://x/in> <http://x/y#Caf%C3%A9> .\n"})
    assert graph.nodes()["http://x/Eiffel_Tower"][0] is None
    assert graph.names("http://x/Eiffel_Tower") == [(3, None, "Eiffel Tower")]
    assert graph.names("http://x/y#Caf%C3%A9") == [(3, None, "Café")]


def test_an_entity_with_no_name_in_a_language_that_was_requested_is_found_by_its_iris_words_too(tmp_path: Path) -> None:
    text = (
        ':FourSeasons rdfs:label "Quatro Estações"@pt . :Plain rdfs:label "Plain" . :Plain2 skos:altLabel "Other"@en .'
    )
    graph = loaded(tmp_path, {"g.ttl": text})
    assert graph.nodes()["http://x/FourSeasons"][0] == "Quatro Estações"
    found = [(0, "pt", "Quatro Estações"), (3, None, "FourSeasons"), (3, None, "Four Seasons")]
    assert graph.names("http://x/FourSeasons") == found
    assert graph.names("http://x/Plain") == [(0, None, "Plain")]
    assert graph.names("http://x/Plain2") == [(1, "en", "Other"), (3, None, "Plain2")]


def test_classes_are_labels_and_the_type_stays_an_edge(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.ttl": ':a a :Film . :b a :Film, :Book . :Film rdfs:label "film"@en .'})
    assert graph.rows("SELECT key, name, nodes FROM label ORDER BY key") == [
        ("http://x/Book", None, 1),
        ("http://x/Film", "film", 2),
    ]
    assert graph.node_labels("http://x/b") == ["http://x/Book", "http://x/Film"]
    assert len(graph.edges()) == 3


def test_other_type_relations_can_be_named(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.ttl": ":a :kind :K ; a :T ."}, LoadOptions(type_relations=("http://x/kind",)))
    assert graph.node_labels("http://x/a") == ["http://x/K"]


def test_a_relation_takes_the_name_its_iri_has_as_a_node(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.ttl": ':a :knows :b . :knows rdfs:label "kennt"@de, "knows"@en .'})
    assert graph.rows("SELECT label FROM relation WHERE key = 'http://x/knows'") == [("knows",)]
    assert graph.nodes()["http://x/knows"][0] == "knows"


MEDIATED = ':a :p _:m . _:m :q :b . :c :p _:n . _:n rdfs:label "named" . :a :r :d . _:lone :size 1 .'


@pytest.mark.parametrize(("option", "mediators"), [("blank", 1), ("unnamed", 5), ("none", 0)])
def test_mediators_are_the_nodes_without_a_name_that_the_option_says_and_have_an_edge(
    tmp_path: Path, option: str, mediators: int
) -> None:
    graph = loaded(tmp_path, {"g.ttl": MEDIATED}, LoadOptions(mediators=option))  # pyright: ignore[reportArgumentType]
    assert graph.rows("SELECT count(*) FROM node WHERE mediator = 1") == [(mediators,)]
    assert graph.rows("SELECT count(*) FROM node WHERE mediator = 1 AND label IS NOT NULL") == [(0,)]


def test_declared_prefixes_are_kept_and_well_known_ones_added(tmp_path: Path) -> None:
    meta = loaded(tmp_path, {"g.ttl": "@prefix foaf: <http://mine/> . :a foaf:p :b ."}).meta("prefixes")
    assert '"": "http://x/"' in meta
    assert '"foaf": "http://mine/"' in meta
    assert '"owl": "http://www.w3.org/2002/07/owl#"' in meta


def test_names_can_come_from_an_rdf_file_of_their_own(tmp_path: Path) -> None:
    labels = write(
        tmp_path,
        "names.nt",
        '<http://x/a> <http://www.w3.org/2000/01/rdf-schema#label> "Ay"@en .\n<http://x/z> <http://x/p> "no"  .\n',
    )
    graph = loaded(tmp_path, {"g.ttl": ":a :p :b ."}, LoadOptions(labels=(labels,)))
    assert graph.nodes()["http://x/a"][0] == "Ay"
    assert "http://x/z" not in graph.nodes()


def test_language_tags_and_iris_that_only_a_validator_minds_are_kept(tmp_path: Path) -> None:
    text = '<http://x/a b> <http://x/p> "x"@simple-longersubtag .\n'
    assert loaded(tmp_path, {"g.nt": text}).attributes("http://x/a b") == [
        ("http://x/p", "x", None, "simple-longersubtag")
    ]
