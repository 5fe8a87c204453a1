"""GEXF, as Gephi, networkx and igraph write it. Positions, colours and sizes for drawing (`viz:`) are left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kgnav_mcp.adapters.embedded.loading.formats.beginnings import xml_root
from kgnav_mcp.adapters.embedded.loading.formats.xml_elements import NetworkXml
from kgnav_mcp.adapters.embedded.loading.network import Edge, Node, network_format, typed
from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader

_NODE_ATTRIBUTES = ("label", "start", "end", "pid")
_EDGE_ATTRIBUTES = ("label", "kind", "weight", "start", "end")


@dataclass(slots=True)
class _Attribute:
    title: str
    datatype: str
    default: object = None

    def value(self, text: str) -> object:
        if self.datatype.startswith("list"):
            return [
                typed(item.strip(), self.datatype[4:]) for item in text.strip("[]").split("|" if "|" in text else ",")
            ]
        return typed(text, self.datatype)


@dataclass(slots=True)
class _Element:
    kind: str
    given: Mapping[str, str]
    line: int
    values: dict[str, list[object]] = field(default_factory=dict[str, "list[object]"])


class _Gexf(NetworkXml):
    def __init__(self, source: Source, reader: SourceReader) -> None:
        super().__init__(source, reader)
        self._directed = False
        self._declared: dict[str, dict[str, _Attribute]] = {"node": {}, "edge": {}}
        self._class = "node"
        self._attribute: _Attribute | None = None
        self._elements: list[_Element] = []

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        match name:
            case "node" | "edge":
                self._elements.append(_Element(name, dict(attributes), self.current_line))
            case "attvalue":
                self._add_value(attributes)
            case "graph":
                self._directed = attributes.get("defaultedgetype", "undirected") == "directed"
            case "attributes":
                self._class = attributes.get("class", "node")
            case "attribute":
                key = attributes.get("id", "")
                self._attribute = _Attribute(attributes.get("title", key), attributes.get("type", "string"))
                self._declared.setdefault(self._class, {})[key] = self._attribute
            case "default":
                self.begin_text()
            case _:
                pass

    def end(self, name: str) -> None:
        if name in {"node", "edge"}:
            self._close(self._elements.pop())
        elif name == "default" and self._attribute is not None:
            self._attribute.default = self._attribute.value(self.end_text())

    def _add_value(self, attributes: Mapping[str, str]) -> None:
        if self._elements:
            element = self._elements[-1]
            key = attributes.get("for", attributes.get("id", ""))
            attribute = self._declared[element.kind].get(key) or _Attribute(key, "string")
            element.values.setdefault(attribute.title, []).append(attribute.value(attributes.get("value", "")))

    def _close(self, element: _Element) -> None:
        values: dict[str, object] = {
            attribute.title: attribute.default
            for attribute in self._declared[element.kind].values()
            if attribute.default is not None
        }
        # More than one value of an attribute: those of a dynamic graph, at different times.
        values |= {title: each[0] if len(each) == 1 else each for title, each in element.values.items()}
        given = element.given
        for name in _NODE_ATTRIBUTES if element.kind == "node" else _EDGE_ATTRIBUTES:
            if given.get(name):
                values[name] = typed(given[name], "float") if name == "weight" else given[name]
        if element.kind == "node":
            entry = Node(given.get("id"), values)
        else:
            directed = given["type"] == "directed" if given.get("type") else self._directed
            if given.get("id"):
                values.setdefault("id", given["id"])
            entry = Edge(given.get("source"), given.get("target"), values, directed)
        self.entries.append((element.line, entry))


GEXF = network_format("gexf", "GEXF", (".gexf",), xml_root(rb"(?:\w+:)?gexf"), _Gexf.entries_of)
