"""Reads networks in XML: GraphML and GEXF. Entity bombs, deep nesting and very long texts are refused."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from kgnav_mcp.adapters.embedded.loading.formats.beginnings import xml_root
from kgnav_mcp.adapters.embedded.loading.guard import XmlGuard
from kgnav_mcp.adapters.embedded.loading.network import Edge, Node, network_format, typed
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader

_NODE_OR_EDGE = frozenset(("node", "edge"))


@dataclass(slots=True)
class _Element:
    """A node or an edge that is being read. Values of its attributes are in the order of the file."""

    kind: str
    attributes: Mapping[str, str]
    line: int
    values: list[tuple[str, object]] = field(default_factory=list[tuple[str, object]])
    label: str = ""

    def edge(self, values: dict[str, object], *, directed: bool, relation: str | None = None) -> Edge:
        """Returns the edge that this element is. Its id is a value like others."""
        if self.attributes.get("id"):
            values.setdefault("id", self.attributes["id"])
        return Edge(self.attributes.get("source"), self.attributes.get("target"), values, directed, relation)


class _NetworkXml(XmlGuard):
    """Parses a network in XML whose elements `node` and `edge` may be nested. Prefixes of names are ignored."""

    def __init__(self, source: Source, reader: SourceReader) -> None:
        super().__init__(source, reader)
        self._parser.buffer_text = True
        self._parser.CharacterDataHandler = self.text
        self.entries: list[tuple[int, Node | Edge]] = []
        self._elements: list[_Element] = []
        """The nodes and edges that are open, from the outermost."""
        self._parts: list[str] | None = None

    @classmethod
    def entries_of(cls, source: Source, reader: SourceReader, _: LoadProblems) -> Iterator[tuple[int, Node | Edge]]:
        """Yields nodes and edges of a source with their lines.

        Raises:
            BadLine: it is not well-formed XML, or has a text that is too long or elements that are nested too deeply.
        """
        network = cls(source, reader)
        while block := network.block():
            reader.entry_bytes += len(block)
            yield from network.entries
            network.entries.clear()

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        super().opened(name, attributes)
        local_name = name.rpartition(":")[2]
        if local_name in _NODE_OR_EDGE:
            self._elements.append(_Element(local_name, dict(attributes), self._parser.CurrentLineNumber))
        else:
            self.begin(local_name, attributes)

    def closed(self, name: str) -> None:
        local_name = name.rpartition(":")[2]
        if local_name in _NODE_OR_EDGE:
            element = self._elements.pop()
            self.entries.append((element.line, self.entry(element)))
        else:
            self.end(local_name)
        super().closed(name)

    def text(self, text: str) -> None:
        super().text(text)
        if self._parts is not None:
            self._parts.append(text)

    def begin_text(self) -> None:
        """Collects the text from here on."""
        self._parts = []

    def end_text(self) -> str:
        """Returns the text that was collected since `begin_text`."""
        text = "".join(self._parts or ())
        self._parts = None
        return text

    @abstractmethod
    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        """Called at the start of any other element, with its name without a prefix."""

    @abstractmethod
    def end(self, name: str) -> None:
        """Called at the end of any other element."""

    @abstractmethod
    def entry(self, element: _Element) -> Node | Edge:
        """Returns the node or the edge of an element that was read."""


# GraphML, as networkx, igraph, yEd, Gephi, Neo4j's APOC and NetLogo write it.

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


class _GraphMl(_NetworkXml):
    def __init__(self, source: Source, reader: SourceReader) -> None:
        super().__init__(source, reader)
        self._keys: dict[str, _Key] = {}
        self._with_default: list[_Key] = []
        self._directed: list[bool] = []
        """Of the graphs that are open, from the outermost."""
        self._key: _Key | None = None

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        match name:
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
            case "data":
                text = self.end_text()
                if self._elements and self._key is not None and self._key.name:
                    self._elements[-1].values.append((self._key.name, self._key.value(text)))
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
        is_of_yed = any(name.startswith("yfiles") for name in attributes)
        name = "" if is_of_yed else attributes.get("attr.name", key)
        datatype = attributes.get("attr.list") or attributes.get("attr.type", "string")
        is_list = "attr.list" in attributes
        self._key = self._keys[key] = _Key(name, datatype, attributes.get("for", "all"), is_list)

    def entry(self, element: _Element) -> Node | Edge:
        attributes, values = element.attributes, dict(element.values)
        for key in self._with_default:
            if key.domain in {element.kind, "all"}:
                values.setdefault(key.name, key.default)
        if element.label:
            values.setdefault("label", element.label)
        if element.kind == "node":
            labels = attributes.get(_LABELS, "")
            if labels.startswith(":"):
                values.pop(_LABELS, None)
            return Node(attributes.get("id"), values, tuple(labels.strip(":").split(":")) if labels else ())
        directed = (
            attributes["directed"] == "true" if "directed" in attributes else not self._directed or self._directed[-1]
        )
        relation = attributes.get("label")
        if relation is not None and values.get("label") == relation:
            del values["label"]
        return element.edge(values, directed=directed, relation=relation)


GRAPHML = network_format("graphml", "GraphML", (".graphml",), xml_root(rb"(?:\w+:)?graphml"), _GraphMl.entries_of)


# GEXF, as Gephi, networkx and igraph write it. Positions, colours and sizes for drawing (`viz:`) are left out.

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


class _Gexf(_NetworkXml):
    def __init__(self, source: Source, reader: SourceReader) -> None:
        super().__init__(source, reader)
        self._directed = False
        self._declared: dict[str, dict[str, _Attribute]] = {"node": {}, "edge": {}}
        self._class = "node"
        self._attribute: _Attribute | None = None

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        match name:
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
        if name == "default" and self._attribute is not None:
            self._attribute.default = self._attribute.value(self.end_text())

    def _add_value(self, attributes: Mapping[str, str]) -> None:
        if self._elements:
            element = self._elements[-1]
            key = attributes.get("for", attributes.get("id", ""))
            attribute = self._declared[element.kind].get(key) or _Attribute(key, "string")
            element.values.append((attribute.title, attribute.value(attributes.get("value", ""))))

    def entry(self, element: _Element) -> Node | Edge:
        values: dict[str, object] = {
            attribute.title: attribute.default
            for attribute in self._declared[element.kind].values()
            if attribute.default is not None
        }
        of_attributes: dict[str, list[object]] = {}
        for title, value in element.values:
            of_attributes.setdefault(title, []).append(value)
        # More than one value of an attribute: those of a dynamic graph, at different times.
        values |= {title: members[0] if len(members) == 1 else members for title, members in of_attributes.items()}
        attributes = element.attributes
        for name in _NODE_ATTRIBUTES if element.kind == "node" else _EDGE_ATTRIBUTES:
            if attributes.get(name):
                values[name] = typed(attributes[name], "float") if name == "weight" else attributes[name]
        if element.kind == "node":
            return Node(attributes.get("id"), values)
        directed = attributes["type"] == "directed" if attributes.get("type") else self._directed
        return element.edge(values, directed=directed)


GEXF = network_format("gexf", "GEXF", (".gexf",), xml_root(rb"(?:\w+:)?gexf"), _Gexf.entries_of)
