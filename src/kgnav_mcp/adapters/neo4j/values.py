"""The driver's dates, times, durations and points as readable text, and such text parsed back into them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from neo4j.spatial import CartesianPoint, Point, WGS84Point
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector

from kgnav_mcp.adapters.cypher.values import ValueFormats, number, vector

_DATE_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+")
_FRACTION = re.compile(r"(\.[0-9]*?)0+(?=[Z+\-\[]|$)")
_COORDINATE = re.compile(r"(latitude|longitude|height|x|y|z) (-?[0-9.]+(?:e[+-]?[0-9]+)?)")
_DURATION_PART = re.compile(r"(-?[0-9.]+) (year|month|day|hour|minute|second)s?")
_MONTHS = 12
_MINUTE, _HOUR = 60, 3600
_NANO = 10**9


def _temporal(value: Any) -> str:  # noqa: ANN401 - one of the driver's temporal values
    """The value in ISO 8601, without trailing zeros, and with the name of its time zone if it has one."""
    text: str = _FRACTION.sub(lambda match: "" if match[1] == "." else match[1], value.iso_format())
    text = re.sub(r"[+-]00:00$", "Z", text)
    zone = getattr(value.tzinfo, "key", None) or getattr(value.tzinfo, "zone", None)
    return f"{text}[{zone}]" if zone and not text.endswith("Z") else text


def _duration_text(value: Duration) -> str:
    years, months = divmod(abs(value.months), _MONTHS)
    sign = "-" if value.months < 0 else ""
    nanos = value.seconds * _NANO + value.nanoseconds
    hours, rest = divmod(abs(nanos), _HOUR * _NANO)
    minutes, rest = divmod(rest, _MINUTE * _NANO)
    minus = "-" if nanos < 0 else ""
    seconds = f"{rest // _NANO}{f'.{rest % _NANO:09}'.rstrip('0') if rest % _NANO else ''}"
    parts = (
        (sign, str(years), "year"),
        (sign, str(months), "month"),
        ("", str(value.days), "day"),
        (minus, str(hours), "hour"),
        (minus, str(minutes), "minute"),
        (minus, seconds, "second"),
    )
    shown = [f"{minus}{size} {unit}{'' if size in {'1', '-1'} else 's'}" for minus, size, unit in parts if size != "0"]
    return " ".join(shown) or "0 seconds"


def _point_text(value: Point) -> str:
    if isinstance(value, WGS84Point):
        found = dict(zip(("longitude", "latitude", "height"), value, strict=False))
        named = [(name, found[name]) for name in ("latitude", "longitude", "height") if name in found]
    else:
        named = list(zip("xyz", value, strict=False))
    return ", ".join(f"{name} {number(float(part))}" for name, part in named)


def _zoned(zoned: str, local: str) -> Callable[[Any], str]:
    return lambda value: local if value.tzinfo is None else zoned


def _date(text: str) -> Date | None:
    return Date.from_iso_format(text) if re.fullmatch(r"-?[0-9]{4}-[0-9]{2}-[0-9]{2}", text) else None


def _time(text: str) -> Time | None:
    return Time.from_iso_format(text) if re.match(r"[0-9]{2}:[0-9]{2}", text) else None


def _date_time(text: str) -> DateTime | None:
    """A date and time without a zone.

    Texts with a zone are not parsed but compared as text: on some, the driver's Rust extension aborts the process.
    """
    if not _DATE_TIME.fullmatch(text):
        return None
    value: DateTime = DateTime.from_iso_format(text)  # pyright: ignore[reportUnknownMemberType] - the driver's own
    return value


def _duration(text: str) -> Duration | None:
    parts = _DURATION_PART.findall(text)
    if not parts or " ".join(f"{size} {unit}" for size, unit in parts) != re.sub(r"s(?= |$)", "", text):
        return None
    given: dict[str, Any] = {f"{unit}s": float(size) if unit == "second" else int(size) for size, unit in parts}
    return Duration(**given)


def _point(text: str) -> Point | None:
    found = {name: float(size) for name, size in _COORDINATE.findall(text)}
    if {"latitude", "longitude"} <= found.keys():
        return WGS84Point(_in_order(found, ("longitude", "latitude", "height")))
    if {"x", "y"} <= found.keys():
        return CartesianPoint(_in_order(found, ("x", "y", "z")))
    return None


def _in_order(found: dict[str, float], names: Iterable[str]) -> list[float]:
    return [found[name] for name in names if name in found]


BOLT = ValueFormats(
    writers=(
        (DateTime, _temporal, _zoned("datetime", "localdatetime")),
        (Date, lambda value: value.iso_format(), "date"),
        (Time, _temporal, _zoned("time", "localtime")),
        (Duration, _duration_text, "duration"),
        (Point, _point_text, "point"),
        (Vector, lambda value: vector(len(value)).text, "vector"),
    ),
    readers=(_date, _time, _date_time, _duration, _point),
)
"""Formats of the driver's own types, in addition to Python's."""
