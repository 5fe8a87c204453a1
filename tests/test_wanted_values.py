"""A value given as text equals numbers by their size, dates by their precision, and texts by their characters."""

from __future__ import annotations

import pytest

from kgnav_mcp.model import Literal
from kgnav_mcp.values.comparison import WantedValue, period_of

_DATE, _TIME = "xsd:date", "xsd:dateTime"


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("2", Literal("2.0", "float")),
        ("2", Literal("2.0E0", "xsd:double")),
        ("2.0", Literal("2", "integer")),
        ("+2", Literal("2", "integer")),
        (".5", Literal("0.5", "xsd:decimal")),
        ("7", Literal("007", "xsd:integer")),
        ("7", Literal("7")),
        ("007", Literal("007")),
        ("1e3", Literal("1000", "integer")),
        ("9007199254740993", Literal("9007199254740993", "integer")),
        ("9007199254740992.0", Literal("9007199254740992", "integer")),
        ("true", Literal("1", "xsd:boolean")),
        ("1815", Literal("1815-12-11", _DATE)),
        ("1815-12-11", Literal("1815", "xsd:gYear")),
        ("1815-12-11", Literal("1815-12-11T08:30:00Z", _TIME)),
        ("1815-12-11", Literal("1815-12-12T01:00:00+02:00", _TIME)),
        ("1815", Literal("1815", "integer")),
    ],
)
def test_a_text_equals_the_same_text_and_equal_numbers_and_dates(text: str, literal: Literal):
    assert WantedValue.read(text).equals(literal)


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("7", Literal("007")),
        ("2", Literal("2.0")),
        ("007", Literal("7", "integer")),
        ("9007199254740993", Literal("9007199254740992.0", "float")),
        ("9007199254740993.0", Literal("9007199254740992", "integer")),
        ("1", Literal("true", "boolean")),
        ("1815", Literal("1815-12-11")),
        ("1816", Literal("1815-12-11", _DATE)),
        ("", Literal("0", "integer")),
        ("e5", Literal("0", "integer")),
        (".", Literal("0", "integer")),
        ("1e999", Literal("INF", "xsd:double")),
        ("NaN", Literal("0", "integer")),
    ],
)
def test_a_text_differs_from_other_texts_numbers_and_dates(text: str, literal: Literal):
    assert not WantedValue.read(text).equals(literal)


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        ("1815", (1815, 1, 1, 0, 0, 0.0), (1816, 1, 1, 0, 0, 0.0)),
        ("1815-12", (1815, 12, 1, 0, 0, 0.0), (1816, 1, 1, 0, 0, 0.0)),
        ("1815-11", (1815, 11, 1, 0, 0, 0.0), (1815, 12, 1, 0, 0, 0.0)),
        ("2000-02-28", (2000, 2, 28, 0, 0, 0.0), (2000, 2, 29, 0, 0, 0.0)),
        ("1999-12-31", (1999, 12, 31, 0, 0, 0.0), (2000, 1, 1, 0, 0, 0.0)),
        ("1999-12-31T23:59", (1999, 12, 31, 23, 59, 0.0), (2000, 1, 1, 0, 0, 0.0)),
        ("1999-12-31T23:59:08Z", (1999, 12, 31, 23, 59, 8.0), (1999, 12, 31, 23, 59, 8.0 + 1e-6)),
        ("2000-01-01T00:30+01:00", (1999, 12, 31, 23, 30, 0.0), (1999, 12, 31, 23, 31, 0.0)),
        ("12015-03", (12015, 3, 1, 0, 0, 0.0), (12015, 4, 1, 0, 0, 0.0)),
    ],
)
def test_a_date_covers_the_time_that_its_precision_says(text: str, first: object, after: object):
    period = period_of(text)
    assert period is not None
    assert (period.first, period.after) == (first, after)
