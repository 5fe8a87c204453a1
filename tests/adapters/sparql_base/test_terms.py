"""Whatever a value holds, it enters a query as one term and comes out of it unchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pyoxigraph
import pytest
from rdflib import XSD, BNode, Literal, URIRef

from kgnav_mcp.adapters.ids.rdf import iri
from kgnav_mcp.adapters.sparql_base.terms import (
    MAX_TERMS,
    Fragment,
    comma_separated,
    fill,
    rows,
    sendable,
    values,
)
from kgnav_mcp.errors import InvalidArgument

HOSTILE = [
    'quo"te',
    "back\\slash",
    "ends in a backslash\\",
    "line\nbreak\r\nand\ttab",
    '"""',
    'a line\nand a quote"',
    'a line\n\\"',
    '\n""""\\',
    "'single' and '''three'''",
    '" } ; DELETE WHERE { ?s ?p ?o } #',
    "# no comment",
    "\\u0022 \\U00000022",
    "$other $value ${value}",
    "?variable",
    "<http://x/> {} []",
    " \u00a0\u2028 é 中文 😀",
    "\x01\x07\x7f",
    "",
]


def evaluated(query: str) -> pyoxigraph.Literal:
    """What a SPARQL engine makes of the one row and column of a query."""
    solutions = cast("pyoxigraph.QuerySolutions", pyoxigraph.Store().query(query))
    (solution,) = solutions
    return cast("pyoxigraph.Literal", solution[0])


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_comes_out_of_a_query_as_it_went_in(text: str):
    value = evaluated(fill("SELECT ($value AS ?v) { }", value=Literal(text)))

    assert value.value == text


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_that_a_query_can_carry_is_told_from_one_that_it_cannot(text: str):
    assert sendable(text)
    for character in "\0\ud800\udfff":
        assert not sendable(f"{text}{character}")


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_stays_one_term_between_two_others(text: str):
    query = fill(
        "SELECT (CONCAT($value, $other, $value) AS ?v) { }", value=Literal(text), other=Literal(' } "$value" ')
    )

    assert evaluated(query).value == f'{text} }} "$value" {text}'
    assert "\n" not in query


@pytest.mark.parametrize("text", HOSTILE)
def test_language_and_type_stay_with_their_text(text: str):
    tagged = evaluated(fill("SELECT ($value AS ?v) { }", value=Literal(text, lang="en-GB")))
    typed = evaluated(fill("SELECT ($value AS ?v) { }", value=Literal(text, datatype="http://x/type")))

    assert (tagged.value, tagged.language) == (text, "en-gb")
    assert (typed.value, typed.datatype.value) == (text, "http://x/type")


def test_a_language_tag_brings_no_line_break_with_it():
    assert fill("$value", value=Literal("x", lang="en\n")) == '"x"@en'


def test_numbers_and_dates_keep_the_form_they_were_written_in():
    assert fill("$v", v=Literal("007", datatype=XSD.integer, normalize=False)) == f'"007"^^<{XSD.integer}>'
    assert fill("LIMIT $limit", limit=50) == "LIMIT 50"


@pytest.mark.parametrize(
    ("text", "encoded"),
    [
        ("http://x/a b", "http://x/a%20b"),
        ('http://x/"Heroes"', "http://x/%22Heroes%22"),
        ("http://x/> } ; DELETE { <a", "http://x/%3E%20%7D%20;%20DELETE%20%7B%20%3Ca"),
        ("http://x/a\\u003E", "http://x/a%5Cu003E"),
        ("http://x/é", "http://x/é"),
        ("http://x/100%25", "http://x/100%25"),
        ("urn:isbn:1", "urn:isbn:1"),
        ("nodeID://b10000", "nodeID://b10000"),
    ],
)
def test_characters_that_an_iri_cannot_have_are_encoded(text: str, encoded: str):
    assert fill("$node", node=iri(text)) == f"<{encoded}>"


@pytest.mark.parametrize("text", ["m.0abc", "", "/people/person", "a b:c", "http://x/\n", "http://x/\x00", "x:\ud800"])
def test_what_is_no_full_iri_is_refused(text: str):
    with pytest.raises(InvalidArgument, match="no full IRI"):
        iri(text)


@pytest.mark.parametrize("text", ["http://x/>", "relative", 'http://x/"', "http://x/\n"])
def test_an_iri_made_elsewhere_is_checked_again(text: str):
    with pytest.raises(InvalidArgument, match="is not a valid IRI in a query"):
        fill("$node", node=URIRef(text))
    with pytest.raises(InvalidArgument, match="is not a valid IRI in a query"):
        fill("$value", value=Literal("x", datatype=URIRef(text)))


@pytest.mark.parametrize("text", ["nul\x00", "half \ud83d"])
def test_a_text_that_cannot_be_sent_is_refused(text: str):
    with pytest.raises(InvalidArgument, match="invalid in a query"):
        fill("$value", value=Literal(text))


def test_a_dollar_that_begins_no_name_stays():
    assert fill('FILTER REGEX(?x, "^$v$") # $5', v=3) == 'FILTER REGEX(?x, "^3$") # $5'


@pytest.mark.parametrize("value", ["text", b"bytes", 1.5, None, True, BNode("b"), ["list"], ("a",)])
def test_nothing_but_terms_is_accepted(value: object):
    with pytest.raises(TypeError):
        fill("$value", value=cast("Literal", value))
    with pytest.raises(TypeError):
        values(cast("Literal", value))


@pytest.mark.parametrize("given", [{}, {"a": 1}, {"a": 1, "b": 2, "c": 3}])
def test_a_query_and_its_values_must_fit(given: dict[str, int]):
    with pytest.raises(ValueError, match="the query has"):
        fill("$a $b", **given)


def test_a_limit_is_not_negative():
    with pytest.raises(ValueError, match="LIMIT"):
        fill("LIMIT $n", n=-1)


def test_lists_have_the_form_of_their_place_in_a_query():
    a, b = iri("http://x/a"), Literal("b, c")

    assert fill("VALUES ?x { $t }", t=values(a, b, b, a)) == 'VALUES ?x { <http://x/a> "b, c" }'
    assert fill("?x IN ($t)", t=comma_separated(a, b)) == '?x IN (<http://x/a>, "b, c")'
    assert fill("VALUES (?x ?y) { $t }", t=rows((a, b), (b, a))) == (
        'VALUES (?x ?y) { (<http://x/a> "b, c") ("b, c" <http://x/a>) }'
    )


def column(*terms: URIRef) -> Fragment:
    return rows(*((term,) for term in terms))


@pytest.mark.parametrize("made", [values, comma_separated, column])
def test_a_list_holds_one_to_a_thousand_terms(made: Callable[..., Fragment]):
    term = iri("http://x/a")

    made(*[term] * MAX_TERMS)
    for size in (0, MAX_TERMS + 1):
        with pytest.raises(ValueError, match="one query takes"):
            made(*[term] * size)


def test_rows_have_one_width():
    with pytest.raises(ValueError, match="one width"):
        rows((iri("http://x/a"),), (iri("http://x/a"), iri("http://x/b")))
