"""Ids are shortened and expanded in one way, for graph files and for SPARQL stores, as the documentation says."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters.ids.prefixes import Prefixes
from kgnav_mcp.adapters.ids.rdf import FreebaseIds, RdfIds
from kgnav_mcp.adapters.wellknown import FREEBASE, PREFIXES
from kgnav_mcp.adapters.wikidata.store import WikibaseIds
from kgnav_mcp.navigation.references import rewritten_ids, spellings
from tests.adapters.documented_ids import Forms, documented_ids

OBO = "http://purl.obolibrary.org/obo/"


@pytest.mark.parametrize(
    ("iri", "short"),
    [
        (f"{OBO}DOID_734", "DOID:734"),
        (f"{OBO}HP_0000118", "HP:0000118"),
        (f"{OBO}NCBITaxon_Union_0000023", "NCBITaxon_Union:0000023"),
        (f"{OBO}NCIT_C3262", "NCIT:C3262"),
        (f"{OBO}doid#cancer_slim", f"{OBO}doid#cancer_slim"),
        (f"{OBO}has_part", "obo:has_part"),
        ("http://xmlns.com/foaf/0.1/name", "foaf:name"),
    ],
)
def test_both_kinds_of_stores_print_the_same_and_accept_it(iri: str, short: str) -> None:
    prefixes = {"foaf": "http://xmlns.com/foaf/0.1/", "obo": OBO}
    file, store = Prefixes(prefixes), RdfIds(prefixes)
    assert (file.short(iri), store.short(iri)) == (short, short)
    assert file.keys(short)[-1] == iri
    assert str(store.iri(short)) == iri


def test_the_form_with_the_prefix_obo_is_still_accepted() -> None:
    assert Prefixes({"obo": OBO}).keys("obo:DOID_734")[-1] == f"{OBO}DOID_734"
    assert str(RdfIds({"obo": OBO}).iri("obo:DOID_734")) == f"{OBO}DOID_734"


def test_a_prefix_of_the_graph_wins_over_the_rule_of_the_foundry() -> None:
    prefixes = {"DOID": "http://other.example/", "obo": OBO}
    for short in (Prefixes(prefixes).short, RdfIds(prefixes).short):
        assert short(f"{OBO}DOID_734") == "obo:DOID_734"
        assert short("http://other.example/734") == "DOID:734"


def test_an_iri_that_looks_like_such_an_id_is_printed_in_brackets_by_a_store() -> None:
    ids = RdfIds({})
    assert ids.short("PMID:1") == "<PMID:1>"
    assert str(ids.iri("<PMID:1>")) == "PMID:1"
    assert ids.short("tel:123") == "tel:123"


def _printed_and_resolved(store: str, stored: str, text: str) -> tuple[str, set[str]]:
    match store:
        case "graph file":
            file = Prefixes(PREFIXES)
            return file.short(stored), set(file.keys(text))
        case "Wikidata":
            wikidata = WikibaseIds("http://www.wikidata.org")
            return wikidata.shown(stored), {str(wikidata.entity(text))}
        case _:
            ids = FreebaseIds(FREEBASE) if store == "Freebase" else RdfIds(PREFIXES)
            return ids.short(stored), {str(ids.iri(form)) for form in spellings(text)}


@pytest.mark.parametrize("forms", [each for each in documented_ids() if each.store != "Neo4j"], ids=str)
def test_each_documented_form_is_printed_or_accepted(forms: Forms) -> None:
    for text in (forms.printed, *forms.accepted):
        printed, resolved = _printed_and_resolved(forms.store, forms.stored, text)
        assert printed == forms.printed
        assert forms.stored in resolved


def test_the_first_of_two_tables_of_prefixes_counts_and_is_printed() -> None:
    ids = RdfIds({"a": "http://x/", "b": "http://y/"}, {"b": "http://z/", "c": "http://x/"})
    assert [ids.short(f"http://{host}/1") for host in "xyz"] == ["a:1", "b:1", "http://z/1"]
    assert [str(ids.iri(text)) for text in ("a:1", "b:1", "c:1")] == ["http://x/1", "http://y/1", "http://x/1"]


@pytest.mark.parametrize("wrong", ["doid:0000162", "DOID:0162", "DOID:00162", "doid:162"])
def test_an_id_in_another_letter_case_or_with_other_zeros_is_near(wrong: str) -> None:
    assert "DOID:162" in rewritten_ids(wrong)
    assert wrong not in rewritten_ids(wrong)


def test_an_id_with_another_number_is_not_near_and_words_have_none() -> None:
    assert "DOID:162" not in rewritten_ids("DOID:1621")
    assert rewritten_ids("Waking Life") == rewritten_ids("Apollo 13") == []
