"""Ids are shortened and expanded in one way, for graph files and for SPARQL stores."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters.ids.prefixes import Prefixes
from kgnav_mcp.adapters.ids.rdf import RdfIds

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
