"""Results become terms, and what is no result becomes an error, never an empty list."""

from __future__ import annotations

import json
import logging

import pytest
from rdflib import XSD, BNode, Literal, URIRef

from kgnav_mcp.adapters.sparql_base.results import NoResults, Term, read_rows, read_truth

from .stub import table

INTEGER = str(XSD.integer)


def read(cell: dict[str, str]) -> Term:
    (row,) = read_rows(table(["v"], [{"v": cell}]).encode())
    return row["v"]


def test_a_triple_in_the_place_of_a_term_is_a_text_and_damages_nothing():
    triple = {
        "subject": {"type": "uri", "value": "http://x/a"},
        "predicate": {"type": "uri", "value": "http://x/b"},
        "object": {"type": "literal", "value": "c", "xml:lang": "en"},
    }
    rows = read_rows(table(["v"], [{"v": {"type": "triple", "value": triple}}]).encode())
    assert rows == ({"v": Literal('<<( <http://x/a> <http://x/b> "c"@en )>>')},)
    for broken in ("text", {"subject": 3}):
        with pytest.raises(NoResults):
            read_rows(table(["v"], [{"v": {"type": "triple", "value": broken}}]).encode())


@pytest.mark.parametrize(
    ("cell", "term"),
    [
        ({"type": "uri", "value": "http://x/a"}, URIRef("http://x/a")),
        ({"type": "uri", "value": "http://x/odd|one"}, URIRef("http://x/odd|one")),
        ({"type": "bnode", "value": "b0"}, BNode("b0")),
        ({"type": "bnode", "value": "nodeID://b10000"}, BNode("nodeID://b10000")),
        ({"type": "uri", "value": "nodeID://b10000"}, BNode("nodeID://b10000")),
        ({"type": "literal", "value": "a\nb"}, Literal("a\nb")),
        ({"type": "literal", "value": "x", "xml:lang": "en-gb"}, Literal("x", lang="en-gb")),
        ({"type": "literal", "value": "x", "xml:lang": "en-GB"}, Literal("x", lang="en-GB")),
        ({"type": "literal", "value": "x", "xml:lang": "en_US"}, Literal("x", lang="en-US")),
        ({"type": "literal", "value": "x", "xml:lang": "no tag"}, Literal("x")),
        ({"type": "literal", "value": "x", "xml:lang": ""}, Literal("x")),
        ({"type": "typed-literal", "value": "7", "datatype": INTEGER}, Literal("7", datatype=XSD.integer)),
        ({"type": "literal", "value": "7", "datatype": INTEGER}, Literal("7", datatype=XSD.integer)),
        ({"type": "literal", "value": "x", "datatype": "http://x/t"}, Literal("x", datatype=URIRef("http://x/t"))),
    ],
)
def test_every_kind_of_cell_is_a_term(cell: dict[str, str], term: Term):
    read_term = read(cell)

    assert (type(read_term), read_term) == (type(term), term)


@pytest.mark.parametrize(("text", "truth"), [("1", "true"), ("0", "false"), ("true", "true"), ("false", "false")])
def test_booleans_have_the_words_of_xsd(text: str, truth: str):
    assert str(read({"type": "typed-literal", "value": text, "datatype": str(XSD.boolean)})) == truth


@pytest.mark.parametrize(
    ("text", "datatype"),
    [("007", "integer"), ("1.50", "decimal"), ("2012-03", "gYearMonth"), ("no date", "date"), ("+1E3", "double")],
)
def test_values_keep_the_form_the_store_gave_them(text: str, datatype: str):
    assert str(read({"type": "typed-literal", "value": text, "datatype": str(XSD[datatype])})) == text


def test_ill_formed_values_of_a_graph_are_not_logged(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.DEBUG):
        read({"type": "typed-literal", "value": "no date", "datatype": str(XSD.date)})
        read({"type": "uri", "value": "http://x/odd|one"})

    assert caplog.records == []


def test_an_unbound_variable_is_absent():
    rows = read_rows(table(["a", "b"], [{"a": {"type": "literal", "value": "x"}}, {}]).encode())

    assert rows == ({"a": Literal("x")}, {})


def test_variables_may_have_the_names_of_the_parts_of_a_cell():
    row = {"type": {"type": "uri", "value": "http://x/a"}, "value": {"type": "literal", "value": "uri"}}
    assert read_rows(table(["type", "value"], [row]).encode()) == (
        {"type": URIRef("http://x/a"), "value": Literal("uri")},
    )


def test_rows_of_equal_cells_have_the_same_terms():
    first, second = read_rows(
        table(["v"], [{"v": {"type": "literal", "value": "7", "datatype": INTEGER}}] * 2).encode()
    )
    assert first["v"] is second["v"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"head": {}}',
        b'{"head": {"vars": []}, "boolean": true}',
        b'{"results": {"bindings": null}}',
        b'{"results": {"bindings": [1]}}',
        b'{"results": {"bindings": [[]]}}',
        b'{"results": {"bindings": [{"v": "text"}]}}',
        b'{"results": {"bindings": [{"v": {"type": "uri"}}]}}',
        b'{"results": {"bindings": [{"v": {"value": "x"}}]}}',
        b'{"results": {"bindings": [{"v": {"type": "uri", "value": 5}}]}}',
        b'{"results": {"bindings": [{"v": {"type": "literal", "value": null}}]}}',
        b'{"results": {"bindings": [{"v": {"type": "triple", "value": {}}}]}}',
        b'{"results": {"bindings": [{"v": {"type": "literal", "value": "cut',
        b"\xff\xfe",
        b"[" * 100_000,
        b"<html></html>",
    ],
)
def test_what_is_no_rows_is_an_error(body: bytes):
    with pytest.raises(NoResults):
        read_rows(body)


@pytest.mark.parametrize("value", ["true", "false"])
def test_a_truth_is_read_as_the_standard_writes_it(value: str):
    assert read_truth(f'{{"head": {{}}, "boolean": {value}}}'.encode()) is json.loads(value)


def test_a_truth_is_read_as_virtuoso_writes_it():
    def body(*values: str) -> bytes:
        cells = [{"__ASK_RETVAL": {"type": "typed-literal", "datatype": INTEGER, "value": value}} for value in values]
        return table(["__ASK_RETVAL"], cells).encode()

    assert read_truth(body("1"))
    assert not read_truth(body())
    assert not read_truth(body("0"))


@pytest.mark.parametrize(
    "body", [b"", b"{}", b'{"boolean": 1}', b'{"boolean": "true"}', b'{"boolean": null}', table(["v"], []).encode()]
)
def test_what_is_no_truth_is_an_error(body: bytes):
    with pytest.raises(NoResults):
        read_truth(body)
