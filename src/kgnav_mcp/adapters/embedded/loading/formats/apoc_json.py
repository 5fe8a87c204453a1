"""Reads APOC's JSON exports that are one document: an array, or an object with nodes and relationships.

[{"type": "node", "id": "0", "labels": ["Film"], "properties": {...}}, {"type": "relationship", ...}]
{"nodes": [{"type": "node", ...}], "rels": [{"type": "relationship", ...}]}
{"nodes": {"0": {"type": "node", ...}}, "rels": {"0": {"type": "relationship", ...}}}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from kgnav_mcp.adapters.embedded.loading.findings import Findings
from kgnav_mcp.adapters.embedded.loading.formats.beginnings import json_keys
from kgnav_mcp.adapters.embedded.loading.json_stream import JsonStream
from kgnav_mcp.adapters.embedded.loading.network import Edge, Entry, Node, as_mapping, network_format
from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader

_ENTERED = frozenset(((), ("nodes",), ("rels",)))
_ENTRY = re.compile(rb'"type"\s*:\s*"(node|relationship)"')
_ARRAY = re.compile(rb'\s*\[\s*\{\s*"(?:type|id)"\s*:')


def _entries(source: Source, reader: SourceReader, findings: Findings) -> Iterator[tuple[int, Entry]]:
    for line, _, value in JsonStream(source, reader).values(_ENTERED.__contains__):
        try:
            yield line, _entry(as_mapping(value))
        except ValueError as error:
            findings.reject(source.name, line, str(error))


def _entry(given: dict[str, object]) -> Entry:
    properties = as_mapping(given.get("properties"))
    if given.get("type") == "node":
        labels = cast("list[object]", given.get("labels") or [])
        return Node(given.get("id"), properties, tuple(map(str, labels)))
    if given.get("type") != "relationship":
        raise ValueError("the value is no JSON object with a type of node or relationship")
    relation = given.get("label")
    if not isinstance(relation, str) or not relation:
        raise ValueError("the relationship has no label")
    start, end = (as_mapping(given.get(end)).get("id") for end in ("start", "end"))
    return Edge(start, end, properties, relation=relation)


def _begins(start: bytes) -> bool:
    return bool(_ENTRY.search(start)) and bool(_ARRAY.match(start) or "nodes" in json_keys(start))


APOC_JSON = network_format("apoc-json", "an export of APOC as one JSON document", (), _begins, _entries)
