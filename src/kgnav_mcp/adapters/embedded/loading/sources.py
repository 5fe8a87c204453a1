"""Sources: which format a file has, and reading it with its bytes counted and its errors translated."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, cast

from kgnav_mcp.adapters.embedded.loading.rejects import Rejects
from kgnav_mcp.errors import LoadError


class Format(StrEnum):
    """What a source is written in. The value is what `source_format` takes."""

    N_TRIPLES = "nt"
    N_QUADS = "nq"
    TURTLE = "ttl"
    TRIG = "trig"
    N3 = "n3"
    RDF_XML = "rdf"
    JSON_LD = "jsonld"
    TRIX = "trix"
    TABLE = "triples"
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
    )
)

SUFFIXES = {
    ".nt": Format.N_TRIPLES,
    ".nq": Format.N_QUADS,
    ".ttl": Format.TURTLE,
    ".turtle": Format.TURTLE,
    ".trig": Format.TRIG,
    ".n3": Format.N3,
    ".rdf": Format.RDF_XML,
    ".xml": Format.RDF_XML,
    ".owl": Format.RDF_XML,
    ".jsonld": Format.JSON_LD,
    ".trix": Format.TRIX,
    ".json": Format.APOC,
    ".jsonl": Format.APOC,
    ".csv": Format.PROPERTY_GRAPH,
    ".tsv": Format.TABLE,
    ".txt": Format.TABLE,
}

PEEK_BYTES = 65_536
ADMIN_HEADER = re.compile(r":(ID|START_ID|END_ID)\b")
"""What neo4j-admin's headers, and nothing else, have in their first line."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file to load: `name` is its file name, used in messages and kept in the graph file."""

    path: Path
    name: str
    form: Format
    compressed: bool
    size: int

    def open(self) -> SourceReader:
        return SourceReader(self)


class SourceReader:
    """An open source. `stream` gives its bytes unpacked; `position` counts those read from disk."""

    def __init__(self, source: Source) -> None:
        self._file = source.path.open("rb")
        unpacked = gzip.GzipFile(fileobj=self._file, mode="rb") if source.compressed else self._file
        self.stream = cast("IO[bytes]", unpacked)

    @property
    def position(self) -> int:
        return self._file.tell()

    def __enter__(self) -> SourceReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()
        self._file.close()


def recognise(path: Path, forced: str | None = None) -> Source:
    """The source at a path, its format told by suffix and first line, or by `forced`.

    Raises:
        LoadError: it is missing, a folder, empty, unreadable, or of no known format.
    """
    if path.is_dir():
        raise LoadError(f"{path.name} is a folder", next_step="Name the files in it, for instance with a wildcard.")
    if not path.exists():
        raise LoadError(f"{path} does not exist", next_step="Check the path.")
    if not path.is_file():
        raise LoadError(f"{path} is no regular file", next_step="Write the data into a file first: it is read twice.")
    if forced is not None and forced not in FORMATS:
        raise LoadError(f"{forced!r} is no format", next_step=f"Use one of: {', '.join(FORMATS)}.")
    compressed = path.suffix.lower() == ".gz"
    suffix = (Path(path.stem) if compressed else path).suffix.lower()
    form = Format(forced) if forced is not None else SUFFIXES.get(suffix)
    if form is None:
        known = " ".join(sorted(SUFFIXES))
        raise LoadError(
            f"the format of {path.name} is not known by its suffix {suffix!r}",
            next_step=f"Known suffixes: {known}, each also with .gz. Or name the format with --format.",
        )
    source = Source(path, path.name, form, compressed, path.stat().st_size)
    with translated(source), source.open() as reader:
        start = reader.stream.read(PEEK_BYTES)
    if not start.strip():
        raise LoadError(f"{path.name} is empty", next_step="Check that the export was finished.")
    if forced is None:
        source = Source(path, path.name, _look_closer(source, start), compressed, source.size)
    return source


def _look_closer(source: Source, start: bytes) -> Format:
    first_line = start.split(b"\n", 1)[0].decode("utf-8", "replace")
    if source.form is Format.TABLE and ADMIN_HEADER.search(first_line):
        return Format.PROPERTY_GRAPH
    if source.form is Format.PROPERTY_GRAPH and not ADMIN_HEADER.search(first_line):
        raise LoadError(
            f"the header of {source.name} has no :ID or :START_ID column",
            next_step="Write the header as for neo4j-admin import: a node file has :ID, an edge file :START_ID, "
            ":END_ID and :TYPE. Triples without a header go into a .tsv file: head, relation, tail.",
        )
    if source.form is Format.APOC and (b'"@context"' in start or b'"@id"' in start):
        return Format.JSON_LD
    return source.form


@contextmanager
def translated(source: Source) -> Generator[None]:
    """Turn what can go wrong with reading a file into a LoadError that names it."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        what = "is cut short" if isinstance(error, EOFError) else "is no whole gzip file"
        raise LoadError(f"{source.name} {what}", next_step="Fetch or compress the file again.") from error
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise LoadError(f"{source.name}: {reason}", next_step="Check the file and its permissions.") from error


def lines(source: Source, reader: SourceReader, rejects: Rejects) -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of every line that is UTF-8; others are bad lines. Blank lines are left out."""
    first = 1
    for block in blocks(source, reader):
        try:
            texts: Sequence[str] = block.decode("utf-8-sig" if first == 1 else "utf-8").split("\n")
        except UnicodeDecodeError:
            texts = _readable(block, source, first, rejects)
        for number, text in enumerate(texts, first):
            stripped = text.rstrip("\r")
            if stripped:
                yield number, stripped
        first += block.count(b"\n")


def _readable(block: bytes, source: Source, first: int, rejects: Rejects) -> list[str]:
    texts: list[str] = []
    for number, line in enumerate(block.split(b"\n"), first):
        try:
            texts.append(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except UnicodeDecodeError:
            rejects.add(source.name, number, "the line is not UTF-8")
            texts.append("")
    return texts


BLOCK_BYTES = 1 << 20


LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of a line: more than any literal has, and no file without line ends shall fill the memory."""


def blocks(source: Source, reader: SourceReader, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """The source in whole lines, about `size` bytes at a time.

    Raises:
        LoadError: a line is longer than LONGEST_LINE.
    """
    begun: list[bytes] = []
    while chunk := reader.stream.read(size):
        end = chunk.rfind(b"\n") + 1
        if end:
            begun.append(chunk[:end])
            yield b"".join(begun)
            begun = [chunk[end:]]
        else:
            begun.append(chunk)
            if len(begun) * size > LONGEST_LINE:
                raise LoadError(
                    f"{source.name} has a line of more than {LONGEST_LINE // 2**20} MB",
                    next_step="Check that it is a text file with one statement or row a line, ended by a line feed.",
                )
    if rest := b"".join(begun):
        yield rest
