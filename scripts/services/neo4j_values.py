"""Converts the text of a field to the type that its column declares."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from neo4j.spatial import CartesianPoint, Point, WGS84Point
from neo4j.time import Date, DateTime, Duration, Time

_COORDINATE = re.compile(r"(longitude|latitude|height|x|y|z)\s*:\s*(-?[0-9.]+(?:[eE][+-]?[0-9]+)?)")


def _point(text: str) -> Point:
    """A point as neo4j-admin writes it: `{latitude: 55.7, longitude: 12.5}` or `{x: 1, y: 2, z: 3}`."""
    found = {name: float(number) for name, number in _COORDINATE.findall(text)}
    if {"longitude", "latitude"} <= found.keys():
        return WGS84Point([found[name] for name in ("longitude", "latitude", "height") if name in found])
    if {"x", "y"} <= found.keys():
        return CartesianPoint([found[name] for name in ("x", "y", "z") if name in found])
    raise ValueError(f"{text!r} is no point")


def _date_time(text: str) -> DateTime:
    made: DateTime = DateTime.from_iso_format(text)  # pyright: ignore[reportUnknownMemberType] - the driver's own
    return made


_MAKERS: Mapping[str, Callable[[str], object]] = {
    "integer": int,
    "float": float,
    "boolean": "true".__eq__,
    "date": Date.from_iso_format,
    "time": Time.from_iso_format,
    "localtime": Time.from_iso_format,
    "datetime": _date_time,
    "localdatetime": _date_time,
    "duration": Duration.from_iso_format,
    "point": _point,
}


def parse_value(text: str, datatype: str | None) -> object:
    """The value of a text in this datatype.

    Raises:
        ValueError: the text is not valid for the type.
    """
    return _MAKERS[datatype](text) if datatype is not None and datatype in _MAKERS else text
