"""Dates as their parts: in UTC, and none that cannot be."""

from __future__ import annotations

import pytest

from kgnav_mcp.values.comparison import Moment, date_parts, equal, less
from kgnav_mcp.values.scalars import Date


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("2020", (2020,)),
        ("2020-02", (2020, 2)),
        ("2020-02-29", (2020, 2, 29)),
        ("2020-02-29T23:59", (2020, 2, 29, 23, 59)),
        ("2020-02-29T23:59:60.5Z", (2020, 2, 29, 23, 59, 60.5)),
        ("-0044-03-15", (-44, 3, 15)),
        ("0044-03-15 BCE (Julian)", (-44, 3, 15)),
        ("1900-02-29 (Julian)", (1900, 2, 29)),
        ("0005-02-29 BCE", (-5, 2, 29)),
        ("0000-01-01", (0, 1, 1)),
        ("12020-02-29", (12020, 2, 29)),
        ("13798000000 BCE", (-13798000000,)),
        ("2020-01-31+14:00", (2020, 1, 31)),
    ],
)
def test_a_date_has_the_parts_that_are_given(text: str, parts: Moment):
    assert date_parts(text) == parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("2020-01-31T23:00:00-02:00", (2020, 2, 1, 1, 0, 0)),
        ("2020-03-01T00:30:00+01:00", (2020, 2, 29, 23, 30, 0)),
        ("2019-03-01T00:30:00+01:00", (2019, 2, 28, 23, 30, 0)),
        ("1900-02-28T23:00-02:00", (1900, 3, 1, 1, 0)),
        ("1900-02-28T23:00-02:00 (Julian)", (1900, 2, 29, 1, 0)),
        ("2020-12-31T23:30:00.5-0100", (2021, 1, 1, 0, 30, 0.5)),
        ("2021-01-01T00:00:00+14:00[Pacific/Kiritimati]", (2020, 12, 31, 10, 0, 0)),
        ("2020-01-31T12:00:00+05:30", (2020, 1, 31, 6, 30, 0)),
        ("2020-12-31T24:00:00Z", (2021, 1, 1, 0, 0, 0)),
        ("9999-12-31T23:00-02:00", (10000, 1, 1, 1, 0)),
        ("12020-01-01T00:00+02:00", (12019, 12, 31, 22, 0)),
        ("0001-01-01T00:00+02:00", (0, 12, 31, 22, 0)),
        ("-0001-12-31T23:00-02:00", (0, 1, 1, 1, 0)),
        ("0001-12-31T23:00-02:00 BCE", (1, 1, 1, 1, 0)),
        ("-99999-12-31T23:00-02:00", (-99998, 1, 1, 1, 0)),
    ],
)
def test_a_time_with_a_zone_is_in_utc_across_the_ends_of_days_months_and_years(text: str, parts: Moment):
    assert date_parts(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "2020-13-45",
        "2020-13",
        "2020-00-01",
        "2020-01-00",
        "2020-01-32",
        "2019-02-29",
        "1900-02-29",
        "0004-02-29 BCE",
        "2020-01-01T25:00",
        "2020-01-01T24:00:01",
        "2020-01-01T12:60",
        "2020-01-01T12:00:61",
        "2020-01-01T12:00+24:00",
        "2020-01-01T12:00+01:60",
        pytest.param("9" * 5000, id="5000 digits"),
        "June 2020",
    ],
)
def test_a_text_that_can_be_no_date_is_none(text: str):
    assert date_parts(text) is None


def test_times_of_two_zones_are_compared_across_the_end_of_a_month():
    late = Date("2020-01-31T23:00:00-02:00")
    assert equal(late, "2020-02-01T01:00:00Z") is True
    assert equal(late, "2020-02") is True
    assert less(late, "2020-02-01T00:59:59Z") is False
    assert less("2020-01-31T23:59:59Z", late) is True


def test_a_date_is_compared_with_an_impossible_one_as_a_text():
    assert equal(Date("2020-02-30"), "2020-02") is False
    assert equal(Date("2020-02-30"), "2020-02-30") is True
