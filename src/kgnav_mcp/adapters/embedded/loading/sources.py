"""Sources: files to load, with their format. Reading counts bytes and translates errors."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, cast

from kgnav_mcp.adapters.embedded.loading.headers import Header
from kgnav_mcp.adapters.embedded.loading.layout import TRIPLES, Layout
from kgnav_mcp.errors import LoadError


class Format(StrEnum):
    """The format of a source. The values are those of the option `source_format`."""

    N_TRIPLES = "nt"
    N_QUADS = "nq"
    TURTLE = "ttl"
    TRIG = "trig"
    N3 = "n3"
    RDF_XML = "rdf"
    JSON_LD = "jsonld"
    TRIX = "trix"
    OBO = "obo"
    OBOGRAPHS = "obographs"
    TABLE = "triples"
    EDGES = "edges"
    SIF = "sif"
    PROPERTY_GRAPH = "property-graph"
    APOC = "apoc"


FORMATS = tuple(str(form) for form in Format)

RDF_FORMATS = frozenset(
    (
        Format.N_TRIPLES,
        Format.N_QUADS,
        Format.TURTLE,
        Format.TRIG,
        Format.N3,
        Format.RDF_XML,
        Format.JSON_LD,
        Format.TRIX,
        Format.OBO,
        Format.OBOGRAPHS,
    )
)

TABLES = frozenset((Format.TABLE, Format.EDGES, Format.SIF))


@dataclass(frozen=True, slots=True)
class Source:
    """One file to load. `name` is its file name, for messages and for the graph file; `size` is in bytes on disk."""

    path: Path
    name: str
    form: Format
    compressed: bool
    size: int
    layout: Layout = TRIPLES
    """The layout of a table; other formats ignore it."""

    @property
    def header(self) -> Header:
        """The header of a table. Raises TypeError if it has none."""
        if self.layout.header is None:
            raise TypeError(f"{self.name} has no header")
        return self.layout.header

    @property
    def plain(self) -> bool:
        """Whether it is a table of tab-separated triples without a header."""
        return self.form is Format.TABLE and self.layout.header is None and not self.layout.edges

    @property
    def has_nodes(self) -> bool:
        """Whether it is a table with a row for each node."""
        header = self.layout.header
        return header is not None and not header.relationships

    def open(self) -> SourceReader:
        return SourceReader(self)


class SourceReader:
    """An open source. `stream` has its uncompressed bytes; `position` counts the bytes read from disk.

    Readers of entries add the uncompressed bytes of their entries to `given`.
    """

    def __init__(self, source: Source) -> None:
        self._file = source.path.open("rb")
        unpacked = gzip.GzipFile(fileobj=self._file, mode="rb") if source.compressed else self._file
        self.stream = cast("IO[bytes]", unpacked)
        self.given = 0

    @property
    def position(self) -> int:
        return self._file.tell()

    def __enter__(self) -> SourceReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()
        self._file.close()


@contextmanager
def translated(source: Source) -> Generator[None]:
    """Translates errors of reading a file to a LoadError that names it."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        what = "is cut short" if isinstance(error, EOFError) else "is no whole gzip file"
        raise LoadError(f"{source.name} {what}", next_step="Fetch or compress the file again.") from error
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise LoadError(f"{source.name}: {reason}", next_step="Check the file and its permissions.") from error


BLOCK_BYTES = 1 << 20

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of a line, at most. Longer than any literal, and short enough that no file can fill the memory."""


def blocks(source: Source, reader: SourceReader, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """Yields the source in blocks of whole lines, about `size` bytes each.

    Raises:
        LoadError: a line is longer than LONGEST_LINE.
    """
    pending: list[bytes] = []
    while chunk := reader.stream.read(size):
        end = chunk.rfind(b"\n") + 1
        if end:
            pending.append(chunk[:end])
            yield b"".join(pending)
            pending = [chunk[end:]]
        else:
            pending.append(chunk)
            if len(pending) * size > LONGEST_LINE:
                raise too_long(source)
    if rest := b"".join(pending):
        yield rest


def too_long(source: Source) -> LoadError:
    """Returns the error for a line that is longer than LONGEST_LINE."""
    return LoadError(
        f"{source.name} has a line of more than {LONGEST_LINE // 2**20} MB",
        next_step="Check that it is a text file with one statement or row a line, ended by a line feed.",
    )
