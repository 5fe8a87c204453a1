"""Values of properties as a person reads them, and texts as the values they may mean."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, cast

from neo4j.spatial import CartesianPoint, Point, WGS84Point
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector

from kgnav_mcp.model import Literal

VECTOR = 64
"""A list of so many floating point numbers is a vector: only its length is shown."""

_LANGUAGE = re.compile(r"(?P<name>.+)@(?P<language>[A-Za-z]{2,3}(-[A-Za-z0-9]+)*)")
"""`name@nl`: a value in a language, as the headers of `kgnav load` write it."""

_DATE_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+")
_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_LARGEST = 2**63
_FRACTION = re.compile(r"(\.[0-9]*?)0+(?=[Z+\-\[]|$)")
_COORDINATE = re.compile(r"(latitude|longitude|height|x|y|z) (-?[0-9.]+(?:e[+-]?[0-9]+)?)")
_PARTS = re.compile(r"(-?[0-9.]+) (year|month|day|hour|minute|second)s?")
_MONTHS = 12
_MINUTE, _HOUR = 60, 3600
_NANO = 10**9


@lru_cache(maxsize=10_000)
def split_key(key: str) -> tuple[str, str | None]:
    """The property and the language of a key: `name@nl` is `name` in Dutch."""
    match = _LANGUAGE.fullmatch(key)
    return (match["name"], match["language"]) if match else (key, None)


def literals(key: str, value: object, length: int | None = None) -> list[Literal]:
    """The values under a key: the items of a list each by itself, but of a vector of that `length` only its length."""
    if length is not None:
        return [_vector(length)]
    language = split_key(key)[1]
    if not isinstance(value, list):
        return [literal(value, language)]
    items = cast("list[object]", value)
    if len(items) >= VECTOR and all(isinstance(item, float) for item in items):
        return [_vector(len(items))]
    return [literal(item, language) for item in items]


def literal(value: object, language: str | None = None) -> Literal:
    """One value with its datatype."""
    if isinstance(value, str):
        return Literal(value, None, language)
    for kinds, write, datatype in _WRITERS:
        if isinstance(value, kinds):
            return Literal(write(value), datatype(value) if callable(datatype) else datatype)
    return Literal(str(value), type(value).__name__.lower())


def meant(text: str) -> list[object]:
    """The values that a printed text may stand for, itself among them.

    Not times with a zone: the driver's Rust extension, where somebody has it, ends the process over some of them. The
    store compares these as text.
    """
    found: list[object] = [text]
    if _INTEGER.fullmatch(text) and -_LARGEST <= int(text) < _LARGEST:
        found.append(int(text))
    elif text.lower() in {"true", "false"}:
        found.append(text.lower() == "true")
    for read in (_float, _date, _time, _local, _duration, _point):
        try:
            value = read(text)
        except (ValueError, OverflowError):
            continue  # It is not written as one of these.
        if value is not None:
            found.append(value)
    return found


def sendable(text: str) -> str:
    """The text as Bolt can carry it: half a surrogate pair, which no stored text has, becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _vector(length: int) -> Literal:
    return Literal(f"vector of {length:,} numbers", "vector")


def _number(value: float) -> str:
    return str(value) if math.isfinite(value) else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")


def _temporal(value: Any) -> str:  # noqa: ANN401 - one of the driver's temporal values
    """ISO 8601 without zeros that say nothing, and with the name of the time zone where it has one."""
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
        names = ("longitude", "latitude", "height")
        found = dict(zip(names, value, strict=False))
        order = ("latitude", "longitude", "height")
        return ", ".join(f"{name} {_number(float(found[name]))}" for name in order if name in found)
    return ", ".join(f"{name} {_number(float(part))}" for name, part in zip("xyz", value, strict=False))


def _zoned(zoned: str, local: str) -> Callable[[Any], str]:
    return lambda value: local if value.tzinfo is None else zoned


_WRITERS: Sequence[tuple[type | tuple[type, ...], Callable[[Any], str], str | Callable[[Any], str]]] = (
    (bool, lambda value: str(value).lower(), "boolean"),
    (int, str, "integer"),
    (float, _number, "float"),
    (DateTime, _temporal, _zoned("datetime", "localdatetime")),
    (Date, lambda value: value.iso_format(), "date"),
    (Time, _temporal, _zoned("time", "localtime")),
    (Duration, _duration_text, "duration"),
    (Point, _point_text, "point"),
    ((bytes, bytearray), lambda value: f"{len(value):,} bytes", "bytes"),
    (Vector, lambda value: _vector(len(value)).text, "vector"),
)
"""In the order they are tried: True is an int to Python, too."""


def _float(text: str) -> float | None:
    if _INTEGER.fullmatch(text) or not re.fullmatch(r"-?[0-9]*\.?[0-9]+(e[+-]?[0-9]+)?|-?Infinity", text):
        return None
    return float(text)


def _date(text: str) -> Date | None:
    return Date.from_iso_format(text) if re.fullmatch(r"-?[0-9]{4}-[0-9]{2}-[0-9]{2}", text) else None


def _time(text: str) -> Time | None:
    return Time.from_iso_format(text) if re.match(r"[0-9]{2}:[0-9]{2}", text) else None


def _local(text: str) -> DateTime | None:
    return _date_time(text) if _DATE_TIME.fullmatch(text) else None


def _date_time(text: str) -> DateTime:
    value: DateTime = DateTime.from_iso_format(text)  # pyright: ignore[reportUnknownMemberType] - the driver's own
    return value


def _duration(text: str) -> Duration | None:
    parts = _PARTS.findall(text)
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
