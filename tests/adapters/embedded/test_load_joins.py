"""Tables and other sources become one graph, or the load says that they do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions
from tests.adapters.embedded.loaded import loaded

OBO = "http://purl.obolibrary.org/obo/"
DISEASES = (
    f'<{OBO}DOID_734> <http://www.w3.org/2000/01/rdf-schema#label> "fibroma" .\n'
    f'<{OBO}DOID_9999> <http://www.w3.org/2000/01/rdf-schema#label> "asthma" .\n'
)
GENES = "source,target,type,score\nTP53,DOID:734,causes,0.9\nALK,DOID:99999,causes,0.5\n"


def test_short_ids_of_a_table_are_the_terms_of_the_ontology(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"d.nt": DISEASES, "genes.csv": GENES})
    assert [(head, tail) for head, _, tail in graph.edges()] == [("ALK", "DOID:99999"), ("TP53", f"{OBO}DOID_734")]
    assert graph.nodes()[f"{OBO}DOID_734"][0] == "fibroma"
    assert graph.names(f"{OBO}DOID_734") == [(0, None, "fibroma")]
    assert graph.report.notes[1:] == (
        f"joined: 1 of 4 ids of tables with other sources, e.g. DOID:734 is {OBO}DOID_734",
        "no other source describes 2 of 2 heads of edges of tables, e.g. TP53, ALK",
        "no other source describes 1 of 2 tails of edges of tables, e.g. DOID:99999; nearest: DOID:9999",
    )
    assert graph.report.warnings == ()


def test_a_table_that_joins_nothing_is_a_warning_with_the_option_that_helps(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"d.nt": DISEASES, "genes.csv": "source,target\nTP53,MONDO_1\n"})
    assert [warning.partition(",")[0] for warning in graph.report.warnings] == [
        "no other source describes 1 of 1 heads of edges of tables",
        "no other source describes 1 of 1 tails of edges of tables",
        "the tables and the other sources have no id in common (--prefix X=IRI says what the short form X:id means)",
    ]


def test_a_prefix_that_a_source_declares_or_the_user_gives_always_counts(tmp_path: Path) -> None:
    graph = loaded(
        tmp_path,
        {"g.ttl": ':a rdfs:label "A" .', "t.tsv": "h:1\tx:p\th:2\nh:1\th:q\th:1\n"},
        LoadOptions(prefixes={"h": "http://h/", "x": "http://x/"}),
    )
    assert graph.edges() == [("http://h/1", "http://h/q", "http://h/1"), ("http://h/1", "http://x/p", "http://h/2")]


def test_nothing_is_guessed_where_no_source_has_the_iri(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"d.nt": DISEASES, "t.tsv": "HGNC:1\twdt:P31\twd:Q5\n"})
    assert ("HGNC:1", "wdt:P31", "wd:Q5") in graph.edges()


def test_a_table_alone_keeps_its_ids_as_they_are_written(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"t.tsv": "DOID:1\tp\trdfs:label\n"})
    assert graph.edges() == [("DOID:1", "p", "rdfs:label")]
    assert graph.report.notes == ()


def test_relations_of_a_table_join_as_well(tmp_path: Path) -> None:
    relation = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
    graph = loaded(
        tmp_path, {"d.nt": f"<{OBO}A_1> <{relation}> <{OBO}A_2> .\n", "t.tsv": "A:3\trdfs:subClassOf\tA:1\n"}
    )
    assert graph.edges() == [("A:3", relation, f"{OBO}A_1"), (f"{OBO}A_1", relation, f"{OBO}A_2")]
    assert graph.rows("SELECT count(*) FROM relation") == [(1,)]


@pytest.mark.parametrize("budget", [10, 10**9])
def test_joining_does_not_depend_on_the_memory_for_keys(tmp_path: Path, budget: int) -> None:
    graph = loaded(tmp_path, {"d.nt": DISEASES, "t.tsv": "A\tp\tDOID:734\nB\tp\tDOID:734\n"}, term_budget=budget)
    assert [(head, tail) for head, _, tail in graph.edges()] == [("A", f"{OBO}DOID_734"), ("B", f"{OBO}DOID_734")]
