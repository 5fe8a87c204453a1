"""Ids that users write in options and in files of names: short or in full, and told where they fit nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions
from kgnav_mcp.errors import LoadError
from tests.adapters.embedded.loaded import loaded, write

WD, WDT = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
WIKIDATA = f"<{WD}Q42> <{WDT}P31> <{WD}Q5> .\n<{WD}Q42> <{WDT}P27> <{WD}Q145> .\n"


def test_a_file_of_names_may_have_short_ids_of_well_known_prefixes(tmp_path: Path) -> None:
    names = write(tmp_path, "names.tsv", f"id\tlabel\nwd:Q42\tDouglas Adams\n{WD}Q5\thuman\nwdt:P31\tinstance of\n")
    graph = loaded(tmp_path, {"g.nt": WIKIDATA}, LoadOptions(labels=(names,)))
    assert graph.nodes()[f"{WD}Q42"][0] == "Douglas Adams"
    assert graph.nodes()[f"{WD}Q5"][0] == "human"
    assert graph.rows("SELECT label FROM relation WHERE key = ?", f"{WDT}P31") == [("instance of",)]
    assert graph.report.notes == ("names.tsv: names used: 3 of 3",)
    assert graph.report.warnings == ()


def test_a_file_of_names_may_have_short_ids_of_the_sources_own_prefixes(tmp_path: Path) -> None:
    names = write(tmp_path, "names.tsv", ":a\tA\nwd:Q1\tnobody\n<http://x/b>\tB\n")
    graph = loaded(tmp_path, {"g.ttl": ":a :p :b ."}, LoadOptions(labels=(names,)))
    assert {key: label for key, (label, _, _) in graph.nodes().items()} == {"http://x/a": "A", "http://x/b": "B"}
    assert graph.report.notes == ("names.tsv: names used: 2 of 3",)


def test_an_id_that_is_stored_as_it_is_written_keeps_its_name(tmp_path: Path) -> None:
    names = write(tmp_path, "names.tsv", "wd:Q42\tDouglas Adams\n")
    graph = loaded(tmp_path, {"g.tsv": "wd:Q42\tp\twd:Q5\n"}, LoadOptions(labels=(names,)))
    assert graph.nodes()["wd:Q42"][0] == "Douglas Adams"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("names.tsv", "Q42\tDouglas Adams\nQ5\thuman\n"),
        ("names.nt", '<http://y/Q42> <http://www.w3.org/2000/01/rdf-schema#label> "Douglas Adams" .\n' * 2),
    ],
)
def test_a_file_of_names_that_fits_nothing_is_told_with_an_example_of_both_sides(
    tmp_path: Path, name: str, text: str
) -> None:
    graph = loaded(tmp_path, {"g.nt": WIKIDATA}, LoadOptions(labels=(write(tmp_path, name, text),)))
    (warning,) = graph.report.warnings
    assert warning.startswith(f"{name}: none of its 2 names is used")
    assert "Q42'" in warning
    assert warning.endswith("such as 'wd:Q42'")


def test_a_file_of_names_without_any_is_told(tmp_path: Path) -> None:
    names = write(tmp_path, "names.nt", '<http://x/a> <http://x/called> "A" .\n')
    graph = loaded(tmp_path, {"g.ttl": ":a :p :b ."}, LoadOptions(labels=(names,)))
    assert "it names no entity (--name-relation" in graph.report.warnings[0]


def test_the_names_of_the_second_file_are_counted_apart(tmp_path: Path) -> None:
    files = (write(tmp_path, "one.tsv", "a\tA\n"), write(tmp_path, "two.tsv", "z\tZ\nb\tB\np\tP\n"))
    graph = loaded(tmp_path, {"g.tsv": "a\tp\tb\n"}, LoadOptions(labels=files))
    assert graph.report.notes == ("one.tsv: names used: 1 of 1", "two.tsv: names used: 2 of 3")


@pytest.mark.parametrize("relation", ["wdt:P31", f"{WDT}P31", f"<{WDT}P31>"])
def test_a_type_relation_may_be_short(tmp_path: Path, relation: str) -> None:
    graph = loaded(tmp_path, {"g.nt": WIKIDATA}, LoadOptions(type_relations=(relation,)))
    assert graph.node_labels(f"{WD}Q42") == [f"{WD}Q5"]
    assert graph.meta("type_relations") == f'["{WDT}P31"]'
    assert graph.report.warnings == ()


def test_a_type_relation_that_no_triple_has_is_told_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(
        LoadError, match="no triple of the sources has the relation 'P31' of --type-relation"
    ) as refused:
        loaded(tmp_path, {"g.nt": WIKIDATA}, LoadOptions(type_relations=("P31",)))
    assert refused.value.next_step.startswith("Use one of the nearest there are: wdt:P31")


def test_the_usual_type_relation_may_be_missing(tmp_path: Path) -> None:
    assert loaded(tmp_path, {"g.nt": WIKIDATA}).report.warnings == ()


def test_a_name_relation_may_be_short(tmp_path: Path) -> None:
    text = f'<{WD}Q42> <http://xmlns.com/foaf/0.1/nick> "Bop Ad" .\n'
    graph = loaded(tmp_path, {"g.nt": text}, LoadOptions(name_relations=("foaf:nick",)))
    assert graph.nodes()[f"{WD}Q42"][0] == "Bop Ad"


@pytest.mark.parametrize(
    ("options", "nearest"),
    [
        (LoadOptions(name_relations=("rdfs:label", "foaf:nik")), "foaf:nick, ex:nickname"),
        (LoadOptions(name_relations=("ex:nickname",)), "http://ex/nickname."),
        (LoadOptions(name_properties=("headline",)), "The sources have none: omit --name-property."),
    ],
)
def test_a_name_relation_or_property_that_no_source_has_is_refused_with_the_nearest(
    tmp_path: Path, options: LoadOptions, nearest: str
) -> None:
    text = (
        "@prefix ex: <http://ex/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> . "
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        'ex:a foaf:nick "A" ; ex:nickname "Al" ; rdfs:label "Albert" .\n'
    )
    with pytest.raises(LoadError) as refused:
        loaded(tmp_path, {"g.ttl": text}, options)
    assert nearest in refused.value.next_step
    assert not list(tmp_path.glob("*.kg"))


def test_a_name_relation_may_be_that_of_a_file_of_names_alone(tmp_path: Path) -> None:
    names = write(tmp_path, "names.nt", f'<{WD}Q42> <http://xmlns.com/foaf/0.1/nick> "Bop Ad" .\n')
    graph = loaded(tmp_path, {"g.nt": WIKIDATA}, LoadOptions(labels=(names,), name_relations=("foaf:nick",)))
    assert graph.nodes()[f"{WD}Q42"][0] == "Bop Ad"


def test_ids_of_a_table_that_are_iris_are_short_in_answers(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.csv": f"s,p,o\n{WD}Q42,{WDT}P31,{WD}Q5\n"})
    assert '"wd": "http://www.wikidata.org/entity/"' in graph.meta("prefixes")
