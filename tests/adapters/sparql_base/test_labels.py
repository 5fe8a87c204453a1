"""The label to show is the preferred language's, and the same at every call."""

from __future__ import annotations

from itertools import permutations

import pyoxigraph
import pytest
from rdflib import Literal

from kgnav_mcp.adapters.sparql_base.names import in_languages, preferred
from kgnav_mcp.adapters.sparql_base.terms import fill

BEST_FIRST = [
    Literal("Köln", lang="de"),
    Literal("Köln (AT)", lang="de-AT"),
    Literal("Cologne", lang="EN"),
    Literal("Koeln"),
    Literal("Colonia", lang="es"),
    Literal("Cologne", lang="fr"),
]


def test_languages_come_in_their_order_then_none_then_any():
    for shown in range(len(BEST_FIRST)):
        for labels in permutations(BEST_FIRST[shown:]):
            assert preferred(labels, ("de", "en")) == BEST_FIRST[shown]


def test_equals_are_ordered_by_their_text():
    assert preferred([Literal("b", lang="en"), Literal("a", lang="en")], ("en",)) == Literal("a", lang="en")


def test_no_label_is_none():
    assert preferred([], ("en",)) is None


def test_the_condition_keeps_the_languages_and_texts_without_one():
    store = pyoxigraph.Store()
    node, name = pyoxigraph.NamedNode("http://x/a"), pyoxigraph.NamedNode("http://x/name")
    for label in BEST_FIRST:
        store.add(pyoxigraph.Quad(node, name, pyoxigraph.Literal(str(label), language=label.language)))

    kept = store.query(fill("SELECT ?l { ?s ?p ?l FILTER ($spoken) }", spoken=in_languages("?l", ("de", 'e"n'))))

    assert isinstance(kept, pyoxigraph.QuerySolutions)
    assert {str(row["l"].value) for row in kept if row["l"]} == {"Köln", "Köln (AT)", "Koeln"}


def test_a_variable_is_not_a_text():
    with pytest.raises(ValueError, match="is not a variable"):
        in_languages("?l) } DELETE", ("en",))
