"""Values as a person reads them, and the values that a printed text may mean."""

from __future__ import annotations

from typing import Any, cast

import pytest
from neo4j.spatial import CartesianPoint, WGS84Point
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector

from kgnav_mcp.adapters.cypher.dialect import VECTOR_SIZE, split_key
from kgnav_mcp.adapters.neo4j.dialect import BOLT

date_time = cast("Any", DateTime.from_iso_format)  # pyright: ignore[reportUnknownMemberType]

VALUES = [
    ("text", "text", None),
    (True, "true", "boolean"),
    (36, "36", "integer"),
    (1.71, "1.71", "float"),
    (float("inf"), "Infinity", "float"),
    (Date(1815, 12, 10), "1815-12-10", "date"),
    (date_time("1842-01-05T08:30:00Z"), "1842-01-05T08:30:00Z", "datetime"),
    (date_time("2024-02-29T23:59:59.120000000+02:00"), "2024-02-29T23:59:59.12+02:00", "datetime"),
    (date_time("2024-02-29T23:59:59"), "2024-02-29T23:59:59", "localdatetime"),
    (Time(12, 30, 0), "12:30:00", "localtime"),
    (Duration(months=14, days=3, hours=4), "1 year 2 months 3 days 4 hours", "duration"),
    (Duration(seconds=1.5), "1.5 seconds", "duration"),
    (Duration(months=-13), "-1 year -1 month", "duration"),
    (Duration(), "0 seconds", "duration"),
    (WGS84Point((12.5, 55.7)), "latitude 55.7, longitude 12.5", "point"),
    (WGS84Point((12.5, 55.7, 9.0)), "latitude 55.7, longitude 12.5, height 9.0", "point"),
    (CartesianPoint((1.0, 2.5)), "x 1.0, y 2.5", "point"),
    (b"\x00" * 2000, "2,000 bytes", "bytes"),
]


@pytest.mark.parametrize(("value", "text", "datatype"), VALUES)
def test_a_value_is_shown_as_a_person_would_read_it(value: object, text: str, datatype: str | None) -> None:
    shown = BOLT.literal(value)

    assert (shown.text, shown.datatype) == (text, datatype)


@pytest.mark.parametrize(
    "value", [value for value, _, kind in VALUES if kind not in ("bytes", "datetime") and value != float("inf")]
)
def test_a_printed_value_means_the_value_again(value: object) -> None:
    assert value in BOLT.possible_values(BOLT.literal(value).text)


def test_a_list_is_its_items_and_a_vector_its_length() -> None:
    assert [one.text for one in BOLT.literals("tags", ["a", "b"])] == ["a", "b"]
    assert [one.text for one in BOLT.literals("embedding", [0.5] * VECTOR_SIZE)] == [f"vector of {VECTOR_SIZE} numbers"]
    assert [one.text for one in BOLT.literals("embedding", None, 1536)] == ["vector of 1,536 numbers"]
    assert BOLT.literal(Vector.from_native([1.0] * 3, "f32")).text == "vector of 3 numbers"
    assert BOLT.literals("marks", [1.0, 2.0])[1].text == "2.0"


def test_a_key_may_say_the_language_of_its_value() -> None:
    assert split_key("name@pt-BR") == ("name", "pt-BR")
    assert split_key("e@mail address") == ("e@mail address", None)
    assert BOLT.literals("name@nl", "Huis")[0].language == "nl"


def test_texts_that_only_look_like_other_values_mean_themselves() -> None:
    for text in (
        "007",
        "1e",
        "--1",
        "2024-13-45",
        "25:99",
        "P",
        "",
        "nan",
        "3 yearss",
        "2024-07-01T12:00:00+02:00[No/Where]",
        "99999999999999999999",
    ):
        assert BOLT.possible_values(text)[0] == text
        assert all(
            not isinstance(value, int | Date) or isinstance(value, bool) for value in BOLT.possible_values(text)[1:]
        )
