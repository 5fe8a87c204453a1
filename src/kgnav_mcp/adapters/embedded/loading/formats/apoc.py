"""Reads APOC's JSON-lines export: nodes and relationships, one JSON object per line.

    {"type": "node", "id": "0", "labels": ["Film"], "properties": {"name": "Jaws", "year": 1975}}
    {"type": "relationship", "id": "0", "label": "ACTED_IN", "start": {"id": "1"}, "end": {"id": "0"}, "properties": {}}

The export's `id` is the node's key; a property `id` stays a property.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TypeAlias, cast

from kgnav_mcp.adapters.embedded.loading.entries import lines, stage_entries
from kgnav_mcp.adapters.embedded.loading.findings import Findings
from kgnav_mcp.adapters.embedded.loading.formats.beginnings import json_keys
from kgnav_mcp.adapters.embedded.loading.property_graph import PropertyStager
from kgnav_mcp.adapters.embedded.loading.sources import FileFormat, Source, SourceReader

JsonObject: TypeAlias = "dict[str, object]"

LONGEST_JSON = 16 * 1024 * 1024
"""Characters of a line, at most. Its parsed lists and objects take up to 25 times as much memory."""

NO_OBJECT = "the line is no JSON object with a type of node or relationship"


def read_apoc_nodes(source: Source, stager: PropertyStager, findings: Findings) -> None:
    """Stages every node of an export. Rejects lines that are not JSON; reading the relationships then skips them.

    Raises:
        LoadError, BadLine: as `stage_entries`.
    """

    def stage(_: int, line: str) -> None:
        entry = _parse_entry(line)
        if entry["type"] == "node":
            labels = [str(label) for label in _list(entry.get("labels"))]
            stager.node(_id(entry), labels, stager.literals(_properties(entry)))

    stage_entries(source, stager.staging, findings, lines, stage)


def read_apoc_relationships(source: Source, index: int, stager: PropertyStager, findings: Findings) -> None:
    """Stages every relationship of an export.

    Raises:
        LoadError, BadLine: as `stage_entries`.
    """

    def stage(number: int, line: str) -> None:
        try:
            entry = _parse_entry(line)
        except ValueError:
            return
        if entry["type"] == "relationship":
            start, end = _id(entry.get("start")), _id(entry.get("end"))
            properties = stager.literals(_properties(entry))
            stager.relationship(start, _type(entry), end, properties, (index, number))

    def lines_once_reported(source: Source, reader: SourceReader, _: Findings) -> Iterator[tuple[int, str]]:
        """Yields the lines, without reporting those that are not UTF-8 again."""
        return lines(source, reader, Findings(skip_bad=True))

    stage_entries(source, stager.staging, findings, lines_once_reported, stage)


def _parse_entry(line: str) -> JsonObject:
    if len(line) > LONGEST_JSON:
        raise ValueError(f"the line is longer than {LONGEST_JSON // 2**20} MB")
    try:
        entry: object = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"{NO_OBJECT}: {error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise ValueError(f"{NO_OBJECT}: it is nested too deeply") from error
    if not isinstance(entry, dict):
        raise ValueError(NO_OBJECT)  # noqa: TRY004 - the line is wrong, not the caller
    checked = cast("JsonObject", entry)
    if checked.get("type") not in {"node", "relationship"}:
        raise ValueError(NO_OBJECT)
    if "\\ud" in line.lower():
        _check_surrogates(checked)
    return checked


def _check_surrogates(entry: JsonObject) -> None:
    """Raises ValueError for a lone surrogate, which JSON allows as an escape but UTF-8 cannot encode."""
    try:
        json.dumps(entry, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError("the line escapes half a character (a lone surrogate)") from error


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _id(value: object) -> str:
    key = cast("JsonObject", value).get("id") if isinstance(value, dict) else None
    if isinstance(key, bool) or not isinstance(key, (str, int)) or key == "":
        raise ValueError("a node's id is missing")
    return str(key)


def _type(entry: JsonObject) -> str:
    kind = entry.get("label")
    if not isinstance(kind, str) or not kind:
        raise ValueError("the relationship has no label")
    return kind


def _properties(entry: JsonObject) -> JsonObject:
    properties = entry.get("properties")
    if properties is None:
        return {}
    if not isinstance(properties, dict):
        raise ValueError("properties are no JSON object")  # noqa: TRY004 - as above
    return cast("JsonObject", properties)


_ENTRY = re.compile(rb'"type"\s*:\s*"(node|relationship)"')
_FIRST = re.compile(rb'\s*\{\s*"type"\s*:\s*"(node|relationship)"')


def _begins(start: bytes) -> bool:
    """Whether the first line is an entry. Its properties may have any name, such as `@id`."""
    return bool(_FIRST.match(start) or ("type" in json_keys(start) and _ENTRY.search(start)))


APOC = FileFormat(
    "apoc",
    "an export of APOC in JSON",
    suffixes=(".json", ".jsonl"),
    begins=_begins,
    read_nodes=read_apoc_nodes,
    read_edges=read_apoc_relationships,
)
