"""WD50K and CoDEx-M written as Wikidata's RDF, the gold SPARQL taken apart, and what a walk makes of rows."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from rdflib import RDF, Graph, Literal, URIRef

from kgnav_bench import wikidata
from kgnav_bench.cli import main
from kgnav_bench.gold_sparql import Direct, Qualified, Step, UnreadableQueryError, parse
from kgnav_bench.wikidata_plans import PlanWalker, gold_plan
from kgnav_bench.wikidata_walk import Walker, qualifier_values

BASE = "http://www.wikidata.org"
ONTOLOGY = "http://wikiba.se/ontology#"
STATEMENTS = "Q1,P1,Q2,P9,Q3,P9,Q4\nQ1,P1,Q2,P9,Q5\nQ1,P1,Q2,P9,Q5\nQ6,P2,Q1\n"
TRIPLES = "Q1\tP1\tQ2\nQ1\tP2\tQ7\n"
NAMES = "Q1\tOne\nP1\tfirst\nP9\tplace\n"
ITEM = """@prefix ps: <x> .
s:a a wikibase:Statement ;
\tps:P569 "1952-03-11T00:00:00Z"^^xsd:dateTime ;
\tps:P214 "113230702" ;
\tps:P18 <http://commons.wikimedia.org/wiki/Special:FilePath/A.jpg> ;
\tpq:P1545 "1" ;
\tpq:P585 "2008-10-24T00:00:00Z"^^xsd:dateTime .
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data set of a few statements, in the files of the real one."""
    question = {"question": "what?", "sparql": "SELECT ?x WHERE { wd:Q1 wdt:P1 ?x }", "answers": ["Q2"]}
    for name, text in (
        ("wd50k.csv", STATEMENTS),
        ("codex-m.tsv", TRIPLES),
        ("labels.tsv", NAMES),
        ("questions.jsonl", json.dumps(question) + "\n"),
        ("Q42.ttl", ITEM),
        ("Q513.ttl", ""),
    ):
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    return tmp_path


@pytest.fixture
def graph(folder: Path) -> Graph:
    """What the command writes, as a store reads it."""
    target = folder / "out.nt.gz"
    result = CliRunner().invoke(main, ["convert", "--dataset", "wikidata", str(folder), str(target)])
    assert result.exit_code == 0, result.output
    text = gzip.decompress(target.read_bytes()).decode()
    assert result.output == f"{text.count(chr(10)):,} triples\n"
    return Graph().parse(data=text, format="nt")


def prop(folder: str, name: str) -> URIRef:
    return URIRef(f"{BASE}/prop/{folder}{name}")


def item(name: str) -> URIRef:
    return URIRef(f"{BASE}/entity/{name}")


def test_each_statement_is_written_once_with_its_qualifiers_rank_and_direct_claim(graph: Graph) -> None:
    found = sorted(
        sorted(str(value).rpartition("/")[2] for value in graph.objects(node, prop("qualifier/", "P9")))
        for node in graph.objects(item("Q1"), prop("", "P1"))
    )
    assert found == [["Q3", "Q4"], ["Q5"]]
    for node in graph.objects(item("Q1"), prop("", "P1")):
        assert (node, RDF.type, URIRef(f"{ONTOLOGY}BestRank")) in graph
        assert (node, URIRef(f"{ONTOLOGY}rank"), URIRef(f"{ONTOLOGY}NormalRank")) in graph
    assert list(graph.objects(item("Q1"), prop("direct/", "P1"))) == [item("Q2")]


def test_a_triple_of_the_second_source_that_the_first_has_is_not_written_again(graph: Graph) -> None:
    assert len(list(graph.objects(item("Q1"), prop("", "P1")))) == 2
    assert list(graph.objects(item("Q1"), prop("direct/", "P2"))) == [item("Q7")]


def test_properties_are_described_with_their_datatypes_read_from_values(graph: Graph) -> None:
    kinds = {
        str(name).rpartition("/")[2]: str(kind).rpartition("#")[2]
        for name, kind in graph.subject_objects(URIRef(f"{ONTOLOGY}propertyType"))
    }
    assert kinds == {
        "P1": "WikibaseItem",
        "P2": "WikibaseItem",
        "P9": "WikibaseItem",
        "P18": "CommonsMedia",
        "P214": "ExternalId",
        "P569": "Time",
        "P585": "Time",
        "P1545": "String",
    }
    assert graph.value(item("P9"), URIRef(f"{ONTOLOGY}qualifier")) == prop("qualifier/", "P9")
    label = URIRef("http://www.w3.org/2000/01/rdf-schema#label")
    assert graph.value(item("P1"), label) == Literal("first", lang="en")


@pytest.mark.parametrize(
    ("sparql", "patterns"),
    [
        ("SELECT ?x { wd:Q1 wdt:P1 ?x . ?x wdt:P2 wd:Q2}", [
            Direct("Q1", (Step("P1"),), "?x"), Direct("?x", (Step("P2"),), "Q2")
        ]),
        ("SELECT ?x { ?x wdt:P1 wd:Q1; wdt:P31/wdt:P279* wd:Q2. }", [
            Direct("?x", (Step("P1"),), "Q1"), Direct("?x", (Step("P31"), Step("P279", "*")), "Q2")
        ]),
        ("SELECT ?x { wd:Q1 wdt:P1|wdt:P2 ?x. }", [Direct("Q1", (Step("P1"), Step("P2")), "?x", either=True)]),
        ("SELECT ?x { wd:Q1 p:P1 ?s . ?s ps:P1 ?x . ?s pq:P2 wd:Q2 . ?s pq:P3 ?y }", [
            Qualified("Q1", "P1", "?x", [("P2", "Q2"), ("P3", "?y")])
        ]),
        ("SELECT ?x { wd:Q1 p:P1 ?y. ?y pq:P2 ?x. }", [Qualified("Q1", "P1", None, [("P2", "?x")])]),
    ],
)  # fmt: skip
def test_the_gold_queries_are_taken_apart(sparql: str, patterns: list[object]) -> None:
    (branch,) = parse(sparql).branches
    assert list(branch) == patterns


def test_counts_limits_unions_and_what_must_differ_are_seen() -> None:
    counted = parse("SELECT (COUNT(?x) AS ?value ) { ?x wdt:P1 wd:Q1 }")
    assert (counted.counted, counted.variables) == (True, ("?x",))
    assert parse("SELECT ?x { wd:Q1 wdt:P1 ?x. } LIMIT 5").limited
    assert len(parse("SELECT ?x { { ?x wdt:P1 wd:Q1. } UNION { ?x wdt:P2 wd:Q1. } }").branches) == 2
    assert parse("SELECT ?x { wd:Q1 wdt:P1 ?x; wdt:P2 ?y. FILTER(?x NOT IN(?y)) }").excluded == ("?x", "?y")


@pytest.mark.parametrize("sparql", ["ASK", "SELECT ?x { ?x ?p }", "SELECT ?x { ?x wdt:P1 ?y FILTER(?x > 3) }"])
def test_a_query_of_another_form_is_refused(sparql: str) -> None:
    with pytest.raises(UnreadableQueryError):
        parse(sparql)


@pytest.mark.parametrize(
    ("sparql", "plan"),
    [
        (
            "SELECT ?x { wd:Q1 p:P1 ?s . ?s ps:P1 ?y . ?s pq:P2 wd:Q2 . ?s pq:P3 ?x }",
            "MATCH (q1 {id: 'wd:Q1'}), (q1)-[r0:P1]->(y) WHERE r0.P2 = 'wd:Q2' AND r0.P3 IS NOT NULL "
            "RETURN DISTINCT r0.P3 AS x",
        ),
        (
            "SELECT (COUNT(?x) AS ?value ) { ?x wdt:P31/wdt:P279* wd:Q2 }",
            "MATCH (q2 {id: 'wd:Q2'}), (x)-[:P31]->()-[:P279*0..]->(q2) RETURN count(DISTINCT x) AS x",
        ),
        (
            "SELECT ?x { { ?x wdt:P1 wd:Q1. } UNION { ?x wdt:P2|wdt:P3 wd:Q1. } }",
            "MATCH (q1 {id: 'wd:Q1'}), (x)-[:P1]->(q1) RETURN DISTINCT x UNION "
            "MATCH (q1 {id: 'wd:Q1'}), (x)-[:P2|P3]->(q1) RETURN DISTINCT x",
        ),
        (
            "SELECT ?x { wd:Q1 wdt:P1 ?x; wdt:P2 ?y. FILTER(?x NOT IN(?y)) }",
            "MATCH (q1 {id: 'wd:Q1'}), (q1)-[:P1]->(x), (q1)-[:P2]->(y) WHERE x <> y RETURN DISTINCT x",
        ),
    ],
)
def test_the_gold_queries_are_written_as_plans(sparql: str, plan: str) -> None:
    assert gold_plan(parse(sparql)) == plan


def test_qualifiers_are_read_from_their_cell_by_label() -> None:
    cell = "place: Rome (wd:Q220); place: wd:Q5; since: 1957; place of burial: Paris (wd:Q90)"
    assert qualifier_values(cell, "place") == ["Q220", "Q5"]
    assert qualifier_values(cell, "since") == []


class Answers:
    """A server that shows what it is told."""

    def __init__(self, *rows: str) -> None:
        self.rows = rows

    def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        assert tool == "search"
        name = arguments.get("properties_to_filter_for")
        rows = [row for row in self.rows if not name or row.split("|")[0] in str(name)]
        table = "property|propertyLabel|value|valueLabel|qualifiers\n--|--|--|--|--"
        return "\n".join([f"{len(rows)} rows{'' if rows else ': none'}", *([table, *rows] if rows else [])])


def test_a_walk_says_what_was_not_offered_and_what_was_not_shown(folder: Path) -> None:
    (question,) = wikidata.questions(folder)
    good = Walker(Answers("wdt:P1|first|wd:Q2|Two|"), folder).walk(question)
    assert good.reached
    assert not good.surplus
    missing = Walker(Answers("wdt:P2|second|wd:Q7|Seven|"), folder).walk(question)
    assert (missing.not_offered, missing.missing, missing.reached) == ([("Q1", "P1")], {"Q2"}, False)
    wrong = Walker(Answers("wdt:P1|first|wd:Q3|Three|"), folder).walk(question)
    assert (wrong.missing, wrong.surplus, wrong.reached) == ({"Q2"}, {"Q3"}, False)


class Planned:
    """A server that answers every plan by one id."""

    def __init__(self, found: str) -> None:
        self.found = found

    def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        assert (tool, list(arguments)) == ("run_plan", ["plan"])
        return f"1 row\nx|xLabel\n--|--\nwd:{self.found}|Two"


def test_a_plan_says_what_was_not_found_and_what_else_was(folder: Path) -> None:
    (question,) = wikidata.questions(folder)
    good = PlanWalker(Planned("Q2")).walk(question)
    assert (good.reached, good.surplus, good.calls) == (True, frozenset(), 1)
    wrong = PlanWalker(Planned("Q3")).walk(question)
    assert (wrong.missing, wrong.surplus, wrong.reached) == ({"Q2"}, {"Q3"}, False)
