"""Reads the rows of each tool's structured answers into the form in which questions expect them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast
from urllib.parse import unquote

from . import films
from .question import Row, Rows, canonical
from .raw_graph import Day, Scalar

_WIKIDATA = "wd:"
"""Items of Wikidata are their own keys, without this."""

_BY_NAME = "Thing:name="
"""Films in Neo4j are identified by their unique names, behind this."""

Ids = Mapping[str, str]
"""The keys of nodes by the ids that a store prints for them."""


def read(reader: str, rows: Sequence[Mapping[str, Any]], keys: Ids, *, ordered: bool) -> Rows:
    """The rows, in a form in which equal rows are equal."""
    return Counter(_READERS[reader](row, keys, ordered) for row in rows)


def has_ids(part: object) -> bool:
    """Whether a part of an answer names nodes, relations or properties, by the ids that the store prints."""
    if isinstance(part, Mapping):
        mapping = cast("Mapping[str, Any]", part)
        return "id" in mapping or any(map(has_ids, mapping.values()))
    return isinstance(part, list | tuple) and any(map(has_ids, cast("Sequence[object]", part)))


def _plan(row: Mapping[str, Any], keys: Ids, ordered: bool) -> Row:
    return tuple(_cell(value, keys, ordered) for value in row.values())


def _nodes(row: Mapping[str, Any], keys: Ids, ordered: bool) -> Row:  # noqa: ARG001
    return (_key(row["node"], keys),)


def _values(row: Mapping[str, Any], keys: Ids, ordered: bool) -> Row:
    number = row.get("nodes", row.get("relationships", row.get("edges")))
    return (_cell(row["value"], keys, ordered), number)


def _search(row: Mapping[str, Any], keys: Ids, ordered: bool) -> Row:
    return (_cell(row["value"], keys, ordered), _qualifiers(row.get("qualifiers", [])))


def _triples(row: Mapping[str, Any], keys: Ids, ordered: bool) -> Row:
    return (_key(row["head"], keys), _cell(row["tail"], keys, ordered), _qualifiers(row.get("qualifiers", [])))


def _neighbors(row: Mapping[str, Any], keys: Ids, ordered: bool) -> Row:  # noqa: ARG001
    return (_key(row["neighbor"], keys), _qualifiers(row.get("relationshipProperties", [])))


def _degree(row: Mapping[str, Any], keys: Ids, ordered: bool) -> Row:  # noqa: ARG001
    return (row["direction"], row["triples"], row.get("triplesAtLeast", False))


_READERS: Mapping[str, Callable[[Mapping[str, Any], Ids, bool], Row]] = {
    "plan": _plan,
    "nodes": _nodes,
    "values": _values,
    "search": _search,
    "triples": _triples,
    "neighbors": _neighbors,
    "degree": _degree,
}


def _cell(value: object, keys: Ids, ordered: bool) -> object:
    if isinstance(value, Mapping):
        mapping = cast("Mapping[str, Any]", value)
        return _key(mapping, keys) if "id" in mapping else _cell(mapping["text"], keys, ordered)
    if isinstance(value, list):
        parts = cast("list[Any]", value)
        texts = tuple(cast("Scalar", part["text"] if isinstance(part, Mapping) else part) for part in parts)
        return canonical(texts, ordered=ordered)
    scalar = cast("Scalar | None", value)
    return canonical(Day(scalar) if isinstance(scalar, str) and scalar.endswith(":00Z") else scalar)


def _key(entity: Mapping[str, Any], keys: Ids) -> str:
    """The key of an entity by its printed id. Names are clipped in large answers, ids never."""
    printed = str(entity["id"])
    local = printed.removeprefix(_BY_NAME)
    return keys.get(printed) or unquote(local.removeprefix(films.ENTITY)).removeprefix(_WIKIDATA)


def _qualifiers(listed: Sequence[Mapping[str, Any]]) -> tuple[object, ...]:
    pairs: list[tuple[str, object]] = []
    for each in listed:
        value: object = each["value"]
        values = cast("list[object]", value) if isinstance(value, list) else [value]
        name = re.split("[/#:]", each["property"]["id"])[-1]
        pairs += [(name, _cell(part, {}, True)) for part in values]
    return tuple(sorted(pairs, key=repr))
