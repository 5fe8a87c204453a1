from __future__ import annotations

import pytest

from kgnav_mcp.adapters.wikibase_values import Moment, amount, place

JULIAN = "http://www.wikidata.org/entity/Q1985786"


@pytest.mark.parametrize(
    ("moment", "shown"),
    [
        (Moment("1952-03-11T00:00:00Z", 11), "1952-03-11"),
        (Moment("1952-03-01T00:00:00Z", 10), "1952-03"),
        (Moment("1952-01-01T00:00:00Z", 9), "1952"),
        (Moment("0079-01-01T00:00:00Z", 9), "0079"),
        (Moment("1950-01-01T00:00:00Z", 8), "1950s"),
        (Moment("1955-01-01T00:00:00Z", 8), "1950s"),
        (Moment("2000-01-01T00:00:00Z", 7), "20th century"),
        (Moment("1901-01-01T00:00:00Z", 7), "20th century"),
        (Moment("0001-01-01T00:00:00Z", 7), "1st century"),
        (Moment("-0300-01-01T00:00:00Z", 7), "3rd century BCE"),
        (Moment("2000-01-01T00:00:00Z", 6), "2nd millennium"),
        (Moment("-13798000000-00-00T00:00:00Z", 3), "about 13,798,000,000 BCE"),
        (Moment("-0044-03-15T00:00:00Z", 11, JULIAN), "0044-03-15 BCE (Julian)"),
        (Moment("1842-01-05T08:30:00Z", 14), "1842-01-05T08:30:00Z"),
        (Moment("1952-03-11T00:00:00Z"), "1952-03-11"),
        (Moment("1842-01-05T08:30:00Z"), "1842-01-05T08:30:00Z"),
        (Moment("1952-00-00T00:00:00Z", 9), "1952"),
        (Moment("tomorrow"), "tomorrow"),
    ],
)
def test_a_time_is_read_as_precisely_as_it_is_known(moment: Moment, shown: str):
    assert str(moment) == shown


def test_amounts_lose_their_plus_sign_alone():
    assert (amount("+1.96"), amount("-3"), amount("0")) == ("1.96", "-3", "0")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Point(-0.14544444444444 51.566527777778)", "51.5665°N, 0.145444°W"),
        ("Point(151.2 -33.9)", "33.9°S, 151.2°E"),
        ("<http://www.wikidata.org/entity/Q405> Point(23.4 0.6)", "0.6°N, 23.4°E on Q405"),
        ("somewhere", "somewhere"),
    ],
)
def test_coordinates_are_read_as_latitude_and_longitude(text: str, shown: str):
    assert place(text) == shown
