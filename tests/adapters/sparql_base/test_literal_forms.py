"""Where a property has too many values to compare, the usual spellings of a value are looked up."""

from __future__ import annotations

from rdflib import XSD

from kgnav_mcp.adapters.sparql_base.dialect import PLAIN
from kgnav_mcp.adapters.sparql_base.value_conditions import usual_terms
from kgnav_mcp.adapters.sparql_base.virtuoso import VIRTUOSO


def test_a_number_is_looked_up_in_its_usual_spellings() -> None:
    terms = {(str(term), term.datatype) for term in usual_terms("2", ["en"], PLAIN)}
    assert {("2", None), ("2", XSD.integer), ("2.0", XSD.decimal), ("2.0E0", XSD.double), ("+2", XSD.integer)} <= terms
    assert all(term.datatype is None for term in usual_terms("seven", ["en"], PLAIN))


def test_a_year_is_looked_up_with_its_months_and_days() -> None:
    terms = {(str(term), term.datatype) for term in usual_terms("1816", ["en"], PLAIN)}
    assert {("1816", XSD.gYear), ("1816-02", XSD.gYearMonth), ("1816-02-29", XSD.date)} <= terms
    assert ("1817-01-01", XSD.date) not in terms
    day = {(str(term), term.datatype) for term in usual_terms("1816-02-29", ["en"], PLAIN)}
    assert {("1816", XSD.gYear), ("1816-02-29", XSD.date), ("1816-02-29T00:00:00Z", XSD.dateTime)} <= day


def test_a_number_of_more_than_64_bits_has_no_literal_that_a_store_of_64_bits_refuses():
    kinds = {term.datatype for term in usual_terms("1e300", [], VIRTUOSO)}
    assert kinds == {None, XSD.string, XSD.double}
    assert XSD.integer in {term.datatype for term in usual_terms("1e300", [], PLAIN)}
