"""A format that is not the product's: `ada knows bob` is an edge, `ada = Ada Lovelace` names a node."""

from __future__ import annotations

from collections.abc import Iterator

from kgnav_mcp.adapters.embedded.loading.formats.beginnings import text
from kgnav_mcp.adapters.embedded.loading.network import Edge, Node, network_format
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader, lines


def _entries(source: Source, reader: SourceReader, problems: LoadProblems) -> Iterator[tuple[int, Node | Edge]]:
    for number, line in lines(source, reader, problems):
        match line.split(maxsplit=2):
            case ["#arrows"]:
                pass
            case [key, "=", name]:
                yield number, Node(key, {"name": name})
            case [start, relation, end]:
                yield number, Edge(start, end, relation=relation)
            case _:
                problems.reject(source.name, number, "three words are expected")


ARROWS = network_format("arrows", "an arrow list", (".arrows",), text(rb"#arrows\n"), _entries)
