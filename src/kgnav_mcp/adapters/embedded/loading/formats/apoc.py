"""Reads APOC's JSON exports: nodes and relationships, one a line, or in one document.

    {"type": "node", "id": "0", "labels": ["Film"], "properties": {"name": "Jaws", "year": 1975}}
    {"type": "relationship", "id": "0", "label": "ACTED_IN", "start": {"id": "1"}, "end": {"id": "0"}, "properties": {}}

A document is an array of them, or an object with arrays or objects of them:

    {"nodes": [{"type": "node", ...}], "rels": [{"type": "relationship", ...}]}
    {"nodes": {"0": {"type": "node", ...}}, "rels": {"0": {"type": "relationship", ...}}}

The export's `id` is the node's key; a property `id` stays a property.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import cast

from kgnav_mcp.adapters.embedded.loading.entries import lines
from kgnav_mcp.adapters.embedded.loading.formats.beginnings import json_keys
from kgnav_mcp.adapters.embedded.loading.json_stream import JsonStream
from kgnav_mcp.adapters.embedded.loading.load_problems import LoadProblems
from kgnav_mcp.adapters.embedded.loading.network import Edge, Entry, Node, as_mapping, network_format
from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader

LONGEST_JSON = 16 * 1024 * 1024
"""Characters of a line, at most. Its parsed lists and objects take up to 25 times as much memory."""

NO_OBJECT = "this is no JSON object with a type of node or relationship"
_ENTERED = frozenset(((), ("nodes",), ("rels",)))


def _lines(source: Source, reader: SourceReader, findings: LoadProblems) -> Iterator[tuple[int, Entry]]:
    for number, line in lines(source, reader, findings):
        try:
            yield number, _entry(_parsed(line))
        except ValueError as error:
            findings.reject(source.name, number, str(error))


def _document(source: Source, reader: SourceReader, findings: LoadProblems) -> Iterator[tuple[int, Entry]]:
    for line, _, value in JsonStream(source, reader).values(_ENTERED.__contains__):
        try:
            yield line, _entry(value)
        except ValueError as error:
            findings.reject(source.name, line, str(error))


def _parsed(line: str) -> object:
    if len(line) > LONGEST_JSON:
        raise ValueError(f"the line is longer than {LONGEST_JSON // 2**20} MB")
    try:
        value: object = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"{NO_OBJECT}: {error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise ValueError(f"{NO_OBJECT}: it is nested too deeply") from error
    if "\\ud" in line.lower():
        _check_surrogates(value)
    return value


def _check_surrogates(value: object) -> None:
    """Raises ValueError for a lone surrogate, which JSON allows as an escape but UTF-8 cannot encode."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError("the line escapes half a character (a lone surrogate)") from error


def _entry(value: object) -> Entry:
    """Returns the node or the relationship that a JSON value is.

    Raises:
        ValueError: it is neither, or not as APOC writes them.
    """
    given = as_mapping(value)
    attributes = as_mapping(given.get("properties"))
    if not attributes and given.get("properties") not in (None, {}):
        raise ValueError("properties are no JSON object")
    match given.get("type"):
        case "node":
            labels = given.get("labels")
            names = cast("list[object]", labels) if isinstance(labels, list) else []
            return Node(given.get("id"), attributes, tuple(map(str, names)))
        case "relationship":
            relation = given.get("label")
            if not isinstance(relation, str) or not relation:
                raise ValueError("the relationship has no label")
            start, end = (as_mapping(given.get(end)).get("id") for end in ("start", "end"))
            return Edge(start, end, attributes, relation=relation)
        case _:
            raise ValueError(NO_OBJECT)


_ENTRY = re.compile(rb'"type"\s*:\s*"(node|relationship)"')
_FIRST = re.compile(rb'\s*\{\s*"type"\s*:\s*"(node|relationship)"')


def _begins_with_line(start: bytes) -> bool:
    """Whether the first line is an entry. Its properties may have any name, such as `@id`."""
    return bool(_FIRST.match(start) or ("type" in json_keys(start) and _ENTRY.search(start)))


_ARRAY = re.compile(rb'\s*\[\s*\{\s*"(?:type|id)"\s*:')


def _begins_document(start: bytes) -> bool:
    return bool(_ENTRY.search(start)) and bool(_ARRAY.match(start) or "nodes" in json_keys(start))


APOC = network_format(
    "apoc", "an export of APOC in JSON", (".json", ".jsonl"), _begins_with_line, _lines, names_by_id=False
)
APOC_JSON = network_format(
    "apoc-json", "an export of APOC as one JSON document", (), _begins_document, _document, names_by_id=False
)
