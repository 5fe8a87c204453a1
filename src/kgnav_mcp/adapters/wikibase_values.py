"""Prints the values of a Wikibase as readable text: times with their precision, quantities, coordinates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

ONTOLOGY: Final = "http://wikiba.se/ontology#"

UNKNOWN_VALUE: Final = "unknown value"
NO_VALUE: Final = "no value"

EXTERNAL_ID: Final = "external-id"
TIME: Final = "time"
QUANTITY: Final = "quantity"

ENTITY_DATATYPES: Final = frozenset(
    {
        "wikibase-item",
        "wikibase-property",
        "wikibase-lexeme",
        "wikibase-form",
        "wikibase-sense",
    }
)
DATATYPES: Final[Mapping[str, str]] = {
    "WikibaseItem": "wikibase-item",
    "WikibaseProperty": "wikibase-property",
    "WikibaseLexeme": "wikibase-lexeme",
    "WikibaseForm": "wikibase-form",
    "WikibaseSense": "wikibase-sense",
    "ExternalId": EXTERNAL_ID,
    "String": "string",
    "Monolingualtext": "monolingualtext",
    "Time": TIME,
    "Quantity": QUANTITY,
    "GlobeCoordinate": "globe-coordinate",
    "CommonsMedia": "commonsMedia",
    "Url": "url",
    "Math": "math",
    "GeoShape": "geo-shape",
    "TabularData": "tabular-data",
    "MusicalNotation": "musical-notation",
}
"""The names of datatypes that users of Wikibase know, by their names in RDF."""

FullValue = Mapping[str, str]
"""The node of a full value: its values by predicate of the Wikibase ontology (`timePrecision`, ...)."""

_COORDINATES: Final = "globe-coordinate"
_NAMED_TYPES: Final = {
    "http://www.w3.org/2001/XMLSchema#dateTime": TIME,
    "http://www.w3.org/2001/XMLSchema#decimal": QUANTITY,
    "http://www.opengis.net/ont/geosparql#wktLiteral": _COORDINATES,
}
_UNNAMED_TYPES: Final = frozenset({"string", "monolingualtext", ""})
_NO_UNIT: Final = "Q199"

_TIME = re.compile(r"([+-]?)(\d{4,})-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d)Z?")
_POINT = re.compile(r"(?:<(?P<globe>[^>]+)>\s*)?POINT\s*\((?P<x>[-+\d.eE]+)\s+(?P<y>[-+\d.eE]+)\)", re.IGNORECASE)
_JULIAN = "Q1985786"
_DAY, _MONTH, _YEAR, _DECADE, _CENTURY, _MILLENNIUM = 11, 10, 9, 8, 7, 6


@dataclass(frozen=True, slots=True)
class Moment:
    """A time as Wikibase stores it: the time, its precision (11: day, 9: year, 8: decade, ...) and its calendar."""

    text: str
    precision: int | None = None
    calendar: str = ""

    def __str__(self) -> str:
        match = _TIME.fullmatch(self.text)
        if match is None:
            return self.text
        sign, digits, month, day, clock = match.groups()
        year, before = int(digits), sign == "-"
        precision = self.precision
        if precision is None:
            precision = _DAY if clock == "00:00:00" else _DAY + 1
        shown = _rounded_year(year, precision) if precision < _YEAR else f"{year:04d}"
        if precision >= _MONTH and month != "00":
            shown += f"-{month}"
            if precision >= _DAY and day != "00":
                shown += f"-{day}"
                if precision > _DAY:
                    shown += f"T{clock}Z"
        return shown + (" BCE" if before else "") + (" (Julian)" if self.calendar.endswith(_JULIAN) else "")


def _rounded_year(year: int, precision: int) -> str:
    """A year as text with a precision coarser than a year: `1950s`, `20th century`, `about 4,000`."""
    if precision == _DECADE:
        return f"{year // 10 * 10}s"
    if precision in {_CENTURY, _MILLENNIUM}:
        span, name = (100, "century") if precision == _CENTURY else (1000, "millennium")
        return f"{ordinal(-(-year // span))} {name}"
    return f"about {year:,}"


def ordinal(number: int) -> str:
    """A number as an ordinal: `1st`, `12th`, `23rd`."""
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def amount(text: str) -> str:
    """A quantity's number without its plus sign."""
    return text.removeprefix("+")


def place(text: str) -> str:
    """Coordinates (WKT) as latitude and longitude, with the globe unless it is the Earth."""
    match = _POINT.fullmatch(text.strip())
    if match is None:
        return text
    x, y = float(match["x"]), float(match["y"])
    shown = f"{abs(y):.6g}°{'S' if y < 0 else 'N'}, {abs(x):.6g}°{'W' if x < 0 else 'E'}"
    globe = (match["globe"] or "").rpartition("/")[2]
    return shown if globe in {"", "Q2"} else f"{shown} on {globe}"


def value_kind(datatype: str, known: str) -> str:
    """The Wikibase datatype of a literal, by its RDF datatype, or else the `known` one of its property."""
    return _NAMED_TYPES.get(datatype, known)


def datatype_of(datatype: str, language: str) -> str:
    """The Wikibase datatype of a literal by its datatype and language in RDF; `string` for external ids, too."""
    return "monolingualtext" if language else _NAMED_TYPES.get(datatype, "string")


def shown_datatype(kind: str) -> str | None:
    """The datatype that is shown beside a value; None for texts."""
    return None if kind in _UNNAMED_TYPES else kind


def readable_value(text: str, kind: str, full: FullValue, unit: str) -> str:
    """A literal of a Wikibase datatype as text. `unit` is the label of a quantity's unit; empty if it has none."""
    if kind == TIME:
        precision = full.get("timePrecision", "")
        return str(Moment(text, int(precision) if precision.isdecimal() else None, full.get("timeCalendarModel", "")))
    if kind == QUANTITY:
        return f"{amount(text)} {unit}" if unit else amount(text)
    return place(text) if kind == _COORDINATES else text


def unit_of(full: FullValue) -> str:
    """The IRI of the unit of a quantity; empty if it has none."""
    unit = full.get("quantityUnit", "")
    return "" if unit.endswith(f"/{_NO_UNIT}") else unit


def describes(full: FullValue, text: str) -> bool:
    """Whether a full value belongs to the value with this text."""
    if "quantityAmount" in full:
        return amount(full["quantityAmount"]) == amount(text)
    return full.get("timeValue", text) == text
