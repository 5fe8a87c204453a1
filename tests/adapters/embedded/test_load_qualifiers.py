from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.embedded.loaded import loaded

SINCE = {"http://x/since": [["1990", "xsd:integer", None]]}


@pytest.mark.parametrize(
    "text",
    [
        ":a :knows :b {| :since 1990 |} .",
        ":a :knows :b . << :a :knows :b >> :since 1990 .",
        ":a :knows :b . :r rdf:reifies <<( :a :knows :b )>> ; :since 1990 .",
        ":a :knows :b ~ :r . :r :since 1990 .",
        ":a :knows :b . :r a rdf:Statement ; rdf:subject :a ; rdf:predicate :knows ; rdf:object :b ; :since 1990 .",
        "[] rdf:subject :a ; rdf:predicate :knows ; rdf:object :b ; :since 1990 . :a :knows :b .",
    ],
)
def test_every_notation_of_a_statement_about_a_triple_becomes_its_qualifier(tmp_path: Path, text: str) -> None:
    graph = loaded(tmp_path, {"g.ttl": text})
    assert graph.qualified_edges() == [("http://x/a", "http://x/knows", "http://x/b", 0, SINCE)]
    assert set(graph.nodes()) == {"http://x/a", "http://x/b"}
    assert graph.report.triples == 1
    assert graph.rows("SELECT key FROM relation ORDER BY key") == [("http://x/knows",), ("http://x/since",)]
    assert graph.rows("SELECT r.key, q.key, q.n FROM edge_qualifier q JOIN relation r ON r.id = q.p") == [
        ("http://x/knows", "http://x/since", 1)
    ]


def test_a_triple_with_a_literal_tail_has_qualifiers_as_well(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.ttl": ':a :age 5 {| :source "me" |} ; :age 6 .'})
    assert graph.rows("SELECT text, n, qualifiers FROM attribute ORDER BY n") == [
        ("6", 0, None),
        ("5", 1, '{"http://x/source":[["me",null,null]]}'),
    ]
    assert graph.rows("SELECT key FROM edge_qualifier") == [("http://x/source",)]


def test_the_datatypes_of_qualifiers_are_counted_those_of_literals_and_of_other_triples_together(
    tmp_path: Path,
) -> None:
    text = ':a :p :b {| :q 1, 2, :c |}, :d {| :q "x", "y"@en |} . :p a :R . :a :p 5 {| :q 3 |} .'
    graph = loaded(tmp_path, {"g.ttl": text})
    assert graph.rows("SELECT datatype, n FROM edge_qualifier ORDER BY n DESC, datatype") == [
        ("xsd:integer", 3),
        ("langString", 1),
        ("node", 1),
        ("string", 1),
    ]


def test_a_statement_about_a_literal_in_the_older_notation_is_a_qualifier(tmp_path: Path) -> None:
    text = ":a :age 5 . :st rdf:subject :a ; rdf:predicate :age ; rdf:object 5 ; :by :me ."
    graph = loaded(tmp_path, {"g.ttl": text})
    assert graph.rows("SELECT text, qualifiers FROM attribute") == [("5", '{"http://x/by":[{"id":"http://x/me"}]}')]


def test_a_qualifiers_node_is_named_by_the_key_it_has_in_the_file(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.ttl": ":a :p :b {| :by :c, _:d |} . _:d :size 1 ."})
    ((*_, qualifiers),) = graph.qualified_edges()
    named = [value["id"] for value in qualifiers["http://x/by"]]
    assert set(named) < set(graph.nodes())
    assert "http://x/c" in named


def test_two_statements_about_one_triple_stay_apart_as_parallel_edges(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.ttl": ":a :wed :b {| :from 1964 ; :to 1974 |} {| :from 1975 ; :to 1976 |} ."})
    edges = graph.qualified_edges()
    assert [number for *_, number, _ in edges] == [0, 1]
    assert [[values[0][0] for values in qualifiers.values()] for *_, qualifiers in edges] == [
        ["1964", "1974"],
        ["1975", "1976"],
    ]


@pytest.mark.parametrize("first", ["[] a rdf:Statement ; {} .", ":st {} ."])
def test_a_statement_without_qualifiers_beside_others_is_an_edge_of_its_own(tmp_path: Path, first: str) -> None:
    edge, value = (f"rdf:subject :a ; rdf:predicate {rest}" for rest in (":p ; rdf:object :b", ":age ; rdf:object 5"))
    text = f":a :p :b, :c ; :age 5 . {first.format(edge)} [] {edge} ; :q 1 . [] {value} . [] {value} ; :q 2 ."
    graph = loaded(tmp_path, {"g.ttl": text})
    assert sorted(graph.edges()) == [
        ("http://x/a", "http://x/p", "http://x/b"),
        ("http://x/a", "http://x/p", "http://x/b"),
        ("http://x/a", "http://x/p", "http://x/c"),
    ]
    assert sum(qualifiers is not None for *_, qualifiers in graph.qualified_edges()) == 1
    assert graph.rows("SELECT text, qualifiers IS NULL FROM attribute ORDER BY 2") == [("5", 0), ("5", 1)]


@pytest.mark.parametrize("qualifier", ["", "; :q 1"])
def test_each_of_several_equal_statements_is_an_edge(tmp_path: Path, qualifier: str) -> None:
    edge, value = (f"rdf:subject :a ; rdf:predicate {rest}" for rest in (":p ; rdf:object :b", ":age ; rdf:object 5"))
    text = ":a :p :b, :c ; :age 5, 6 ." + f"[] {edge} {qualifier} . [] {value} {qualifier} ." * 3
    graph = loaded(tmp_path, {"g.ttl": text})
    assert sorted(tail for _, _, tail in graph.edges()) == ["http://x/b"] * 3 + ["http://x/c"]
    assert sum(qualifiers is not None for *_, qualifiers in graph.qualified_edges()) == 3 * bool(qualifier)
    values = graph.rows("SELECT text, qualifiers IS NOT NULL FROM attribute ORDER BY 1")
    assert values == [("5", bool(qualifier))] * 3 + [("6", 0)]


def test_an_axiom_without_annotations_beside_others_is_no_edge_of_its_own(tmp_path: Path) -> None:
    axiom = "[] a owl:Axiom ; owl:annotatedSource :a ; owl:annotatedProperty :p ; owl:annotatedTarget :b"
    prefix = "@prefix owl: <http://www.w3.org/2002/07/owl#> ."
    graph = loaded(tmp_path, {"g.ttl": f"{prefix} :a :p :b . {axiom} . {axiom} ; :q 1 . {axiom} ; :q 2 ."})
    assert graph.edges() == [("http://x/a", "http://x/p", "http://x/b")]


@pytest.mark.parametrize(
    "text",
    [
        "<< :earth :shape :flat >> :said_by :x .",
        ":st a rdf:Statement ; rdf:subject :earth ; rdf:predicate :shape ; rdf:object :flat ; :said_by :x .",
    ],
)
def test_what_is_only_quoted_is_not_shown_as_a_fact(tmp_path: Path, text: str) -> None:
    graph = loaded(tmp_path, {"g.ttl": text})
    assert ("http://x/earth", "http://x/shape", "http://x/flat") not in graph.edges()
    assert {"http://x/x", "http://x/earth", "http://x/flat"} <= {tail for _, _, tail in graph.edges()}


def test_a_statement_that_others_refer_to_stays_a_node(tmp_path: Path) -> None:
    text = ":a :p :b . :st rdf:subject :a ; rdf:predicate :p ; rdf:object :b ; :conf 1 . :m :about :st ."
    graph = loaded(tmp_path, {"g.ttl": text})
    assert ("http://x/m", "http://x/about", "http://x/st") in graph.edges()
    assert graph.attributes("http://x/st") == [("http://x/conf", "1", "xsd:integer", None)]
    assert [q for *_, q in graph.qualified_edges() if q] == [{"http://x/conf": [["1", "xsd:integer", None]]}]


def test_a_triple_as_the_tail_of_another_relation_is_kept_as_text(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.ttl": ":x :quotes <<( :a :b :c )>> ."})
    assert graph.attributes("http://x/x")[0][1] == "<http://x/a> <http://x/b> <http://x/c>"
