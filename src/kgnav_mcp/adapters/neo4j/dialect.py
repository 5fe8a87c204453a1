"""Neo4j's Cypher, 5.26 and later, and its driver's dates, times, durations and points as readable text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from neo4j.spatial import CartesianPoint, Point, WGS84Point
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector

from kgnav_mcp.adapters.cypher.dialect import Dialect, ValueFormats, number, vector
from kgnav_mcp.model import Direction
from kgnav_mcp.port import Capability

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
    units: dict[str, Any] = {f"{unit}s": float(size) if unit == "second" else int(size) for size, unit in parts}
    return Duration(**units)


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


APOC_FUNCTIONS = frozenset({"apoc.node.relationship.types", "apoc.node.degree.in", "apoc.node.degree.out"})
"""The functions of the APOC plugin that `APOC_DEGREES` needs."""

APOC_DEGREES = {
    side: f"[type IN apoc.node.relationship.types(n) | [type, apoc.node.degree.{name}(n, type)]]"
    for side, name in ((Direction.OUTGOING, "out"), (Direction.INCOMING, "in"))
}
"""Degrees by type with APOC: costs one look-up in the degree store for each relationship type of the node."""

WRITE = "CREATE ()"
"""Costs one write, in a transaction that is never committed. Tests whether the user has write access."""

DATABASE = "CALL db.info() YIELD id, name RETURN name, id"
"""Costs nothing."""

FUNCTIONS = "SHOW FUNCTIONS YIELD name WHERE name IN $names RETURN collect(name)"
"""Costs a read of the catalogue."""

NEO4J = Dialect(
    store="Neo4j 5.26",
    capabilities=frozenset(
        {Capability.EXACT_COUNTS, Capability.QUALIFIERS, Capability.LABELS, Capability.FUZZY_NAMES, Capability.PLANS}
    ),
    node_id="elementId({x})",
    node_id_form=re.compile(r"[0-9]+:[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}:[0-9]+"),
    labels="labels({x})",
    relationship_type="type({x})",
    properties="properties({x})",
    keys="keys({x})",
    values=BOLT,
    names="""
RETURN COLLECT { CALL db.labels() YIELD label RETURN label },
       COLLECT { CALL db.relationshipTypes() YIELD relationshipType AS type RETURN type },
       COLLECT { CALL db.propertyKeys() YIELD propertyKey AS key RETURN key }
""",
    constraints="""
SHOW CONSTRAINTS YIELD type, entityType, labelsOrTypes, properties
WHERE entityType = 'NODE' AND type IN ['UNIQUENESS', 'NODE_PROPERTY_UNIQUENESS', 'NODE_KEY']
RETURN labelsOrTypes, properties
""",
    indexes="""
SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, state
WHERE entityType = 'NODE' AND state = 'ONLINE' AND type IN ['RANGE', 'FULLTEXT']
RETURN name, type, labelsOrTypes, properties
""",
    full_text="CALL db.index.fulltext.queryNodes($index, $words, {limit: $hits}) YIELD node AS n, score",
    node_count="COUNT { () }",
    edge_count="COUNT { ()-->() }",
    label_count="COUNT { (:{label}) }",
    type_count="COUNT { ()-[:{type}]->() }",
    label_type_count="COUNT { (:{label})-[:{type}]->() } + COUNT { ()-[:{type}]->(:{label}) }",
    degree="COUNT { (n){edge}() }",
    own_degrees=None,
    subquery="CALL ({variables}) { {query} }",
    optional_subquery="OPTIONAL CALL ({variables}) { {query} }",
    collected="COLLECT { {query} }",
    exists="EXISTS { {query} }",
    count="COUNT { {query} }",
    any_shortest="{way} = ANY SHORTEST ({source}){step}{1,{longest}}({target})",
    all_shortest="{way} = ALL SHORTEST ({source}){step}{1,{longest}}({target})",
    text="toStringOrNull({x})",
    folded="toLower(normalize({x}, NFKD))",
    value_type="valueType({x})",
    is_list="valueType({x}) STARTS WITH 'LIST'",
    is_text="valueType({x}) STARTS WITH 'STRING'",
    is_text_list="valueType({x}) STARTS WITH 'LIST<STRING'",
    is_number_list="valueType({x}) STARTS WITH 'LIST<FLOAT'",
    datatypes={
        "LOCAL DATETIME": "localdatetime",
        "LOCAL TIME": "localtime",
        "ZONED DATETIME": "datetime",
        "ZONED TIME": "time",
    },
)
"""Neo4j without plugins. Counts come from the count store and the degree store."""
