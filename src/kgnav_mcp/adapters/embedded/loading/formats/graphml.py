"""GraphML, as networkx, igraph, yEd, Gephi, Neo4j's APOC and NetLogo write it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from kgnav_mcp.adapters.embedded.loading.formats.beginnings import xml_root
from kgnav_mcp.adapters.embedded.loading.formats.xml_elements import NetworkXml
from kgnav_mcp.adapters.embedded.loading.network import Edge, Node, network_format, typed
from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader

_LABELS = "labels"
_LABEL_ELEMENTS = frozenset(("NodeLabel", "EdgeLabel"))
"""yEd's elements with the text that it draws beside a node or an edge."""


@dataclass(slots=True)
class _Key:
    """A declared attribute. Without a name it is for a program's own elements, of which only the labels are read."""

    name: str
    datatype: str
    domain: str
    is_list: bool
    default: object = None

    def value(self, text: str) -> object:
        if self.is_list:
            try:
                return cast("object", json.loads(text))
            except ValueError:
                return text
        return typed(text, self.datatype)


@dataclass(slots=True)
class _Element:
    """A node or an edge that is being read."""

    kind: str
    given: Mapping[str, str]
    line: int
    values: dict[str, object] = field(default_factory=dict[str, object])
    label: str = ""


class _GraphMl(NetworkXml):
    def __init__(self, source: Source, reader: SourceReader) -> None:
        super().__init__(source, reader)
        self._keys: dict[str, _Key] = {}
        self._with_default: list[_Key] = []
        self._directed: list[bool] = []
        """Of the graphs that are open, from the outermost."""
        self._elements: list[_Element] = []
        self._key: _Key | None = None

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        match name:
            case "node" | "edge":
                self._elements.append(_Element(name, dict(attributes), self.current_line))
            case "data":
                key = attributes.get("key", "")
                self._key = self._keys.setdefault(key, _Key(key, "string", "all", is_list=False))
                self.begin_text()
            case "key":
                self._declare(attributes)
            case "default":
                self.begin_text()
            case "graph":
                self._directed.append(attributes.get("edgedefault", "directed") != "undirected")
            case "hyperedge":
                self._set_line()
                self.refuse(
                    "a hyperedge has more than two ends, and edges have two",
                    next_step="Replace it by a node with an edge to each of them.",
                )
            case _ if name in _LABEL_ELEMENTS:
                self.begin_text()
            case _:
                pass

    def end(self, name: str) -> None:
        match name:
            case "node" | "edge":
                self._close(self._elements.pop())
            case "data":
                text = self.end_text()
                if self._elements and self._key is not None and self._key.name:
                    self._elements[-1].values[self._key.name] = self._key.value(text)
                self._key = None
            case "default":
                if self._key is not None and self._key.name:
                    self._key.default = self._key.value(self.end_text())
                    self._with_default.append(self._key)
            case "graph":
                self._directed.pop()
            case _ if name in _LABEL_ELEMENTS:
                text = self.end_text().strip()
                if self._elements and text and not self._elements[-1].label:
                    self._elements[-1].label = text
            case _:
                pass

    def _declare(self, attributes: Mapping[str, str]) -> None:
        key = attributes.get("id", "")
        own = any(name.startswith("yfiles") for name in attributes)
        name = "" if own else attributes.get("attr.name", key)
        datatype = attributes.get("attr.list") or attributes.get("attr.type", "string")
        is_list = "attr.list" in attributes
        self._key = self._keys[key] = _Key(name, datatype, attributes.get("for", "all"), is_list)

    def _close(self, element: _Element) -> None:
        for key in self._with_default:
            if key.domain in {element.kind, "all"}:
                element.values.setdefault(key.name, key.default)
        if element.label:
            element.values.setdefault("label", element.label)
        given, values = element.given, element.values
        if element.kind == "node":
            labels = given.get(_LABELS, "")
            if labels.startswith(":"):
                values.pop(_LABELS, None)
            entry = Node(given.get("id"), values, tuple(labels.strip(":").split(":")) if labels else ())
        else:
            directed = self._directed[-1] if self._directed else True
            if "directed" in given:
                directed = given["directed"] == "true"
            if given.get("id"):
                values.setdefault("id", given["id"])
            relation = given.get("label")
            if relation is not None and values.get("label") == relation:
                del values["label"]
            entry = Edge(given.get("source"), given.get("target"), values, directed, relation)
        self.entries.append((element.line, entry))


GRAPHML = network_format("graphml", "GraphML", (".graphml",), xml_root(rb"(?:\w+:)?graphml"), _GraphMl.entries_of)
