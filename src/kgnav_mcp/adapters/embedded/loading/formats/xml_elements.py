"""Reads the elements of an XML source one after the other. Entity bombs, deep nesting and endless texts are refused."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping

from kgnav_mcp.adapters.embedded.loading.guard import XmlGuard
from kgnav_mcp.adapters.embedded.loading.network import Edge, Node
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader


class NetworkXml(XmlGuard):
    """Parses a network in XML. Subclasses append its nodes and edges to `entries`. Prefixes of names are ignored."""

    def __init__(self, source: Source, reader: SourceReader) -> None:
        super().__init__(source, reader)
        self._parser.buffer_text = True
        self._parser.CharacterDataHandler = self.text
        self.entries: list[tuple[int, Node | Edge]] = []
        self._parts: list[str] | None = None

    @classmethod
    def entries_of(cls, source: Source, reader: SourceReader, _: LoadProblems) -> Iterator[tuple[int, Node | Edge]]:
        """Yields nodes and edges of a source with their lines.

        Raises:
            BadLine: it is no well-formed XML, or something in it is too long or too deep.
        """
        network = cls(source, reader)
        while block := network.block():
            reader.given += len(block)
            yield from network.entries
            network.entries.clear()

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        super().opened(name, attributes)
        self.begin(name.rpartition(":")[2], attributes)

    def closed(self, name: str) -> None:
        self.end(name.rpartition(":")[2])
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

    @property
    def current_line(self) -> int:
        return self._parser.CurrentLineNumber

    @abstractmethod
    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        """Called at the start of an element, with its name without a prefix."""

    @abstractmethod
    def end(self, name: str) -> None:
        """Called at the end of an element."""
