"""Sources: files to load, with their format. Readers count bytes and translate errors of the file system."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, TypeVar, cast

from kgnav_mcp.adapters.embedded.loading.headers import Header, Role
from kgnav_mcp.adapters.embedded.loading.layout import TRIPLES, Layout, TypedTable
from kgnav_mcp.adapters.embedded.loading.names import NameRules
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.staging_writer import PropertyStager, Staging
from kgnav_mcp.errors import LoadError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Kind = Literal["rdf", "table", "property graph"]


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format of sources: its names, and how it is recognised and read. `formats.FORMATS` lists all.

    For a property graph or a table, all nodes are read before any edge. RDF has no such order, and one reader.
    """

    name: str
    """The value of the option `source_format`."""
    title: str
    """The name in messages and in the documentation."""
    kind: Kind = "property graph"
    suffixes: tuple[str, ...] = ()
    begins: Callable[[bytes], object] | None = None
    """Whether a file that starts with these bytes is in this format. Content takes precedence over a suffix."""
    read: Callable[[Source, int, Staging, NameRules, LoadProblems], None] | None = None
    """Stages RDF. The number is the position of the source among all sources."""
    read_nodes: Callable[[Source, PropertyStager, LoadProblems], None] | None = None
    read_edges: Callable[[Source, int, PropertyStager, LoadProblems], None] | None = None
    open_tables: Callable[[Path, Sequence[str]], list[tuple[str, TypedTable]]] | None = None
    """Opens the tables of a binary file: all, or those with these names. Returns each with its name in messages."""
    extra: str = ""
    """The extra of this package that installs what its reader needs."""
    other_encoding: str = ""
    """The encoding of files that are not UTF-8; empty if there is none, or if the file states it."""
    refuse: str = ""
    """For a format that is recognised but not loaded: the next step for the user, with FILE for the file's name."""


COMPRESSIONS: dict[str, Callable[[IO[bytes]], IO[bytes]]] = {
    ".gz": lambda file: cast("IO[bytes]", gzip.GzipFile(fileobj=file, mode="rb")),
    ".bz2": lambda file: cast("IO[bytes]", bz2.BZ2File(file)),
}
"""Functions that unpack a file while it is read, by the suffix of the compression."""


def split_suffix(path: Path) -> tuple[str, str]:
    """Returns the suffix of the format and the suffix of the compression, which may be empty."""
    last = path.suffix.lower()
    return (Path(path.stem).suffix.lower(), last) if last in COMPRESSIONS else (last, "")


UTF8 = "utf-8"


@dataclass(frozen=True, slots=True)
class Source:
    """One file to load. `name` is its file name, for messages and for the graph file; `size` is in bytes on disk."""

    path: Path
    name: str
    form: FileFormat
    compressed: str
    """The suffix of its compression, one of COMPRESSIONS; empty if it has none."""
    size: int
    layout: Layout = TRIPLES
    """The layout of a table; other formats ignore it."""
    table: TypedTable | None = None
    """The rows of a table in a binary file."""
    encoding: str = UTF8
    """The encoding of a table that is text, or of a network whose format does not say it."""

    @property
    def header(self) -> Header:
        """The header of a table.

        Raises:
            TypeError: the source has no header.
        """
        if self.layout.header is None:
            raise TypeError(f"{self.name} has no header")
        return self.layout.header

    @property
    def read_twice(self) -> bool:
        """Whether the source has both nodes and edges, and is read from the start for each."""
        form = self.form
        return form.kind == "property graph" and bool(form.read_nodes and form.read_edges) and not self.layout.header

    @property
    def encoding_note(self) -> str:
        """A note on the encoding, if it is not UTF-8; otherwise empty."""
        return f"read as {self.encoding} (--encoding NAME to change it)" if self.encoding != UTF8 else ""

    @property
    def has_nodes(self) -> bool:
        """Whether it is a table with a row for each node."""
        header = self.layout.header
        return header is not None and not header.relationships

    @property
    def has_edges(self) -> bool:
        """Whether it is a table with edges in its rows. A table of nodes has them in columns that the user chose."""
        return not self.has_nodes or bool(self.header.of(Role.EDGE))

    def open(self) -> SourceReader:
        return SourceReader(self)


class SourceReader:
    """An open source. `stream` has its uncompressed bytes; `position` counts the bytes read from disk.

    Readers of entries add the uncompressed bytes of their entries to `entry_bytes`.
    """

    def __init__(self, source: Source) -> None:
        self._file = source.path.open("rb")
        unpack = COMPRESSIONS.get(source.compressed)
        self.stream: IO[bytes] = unpack(self._file) if unpack else self._file
        if source.encoding != UTF8:
            self.stream = cast("IO[bytes]", io.BufferedReader(_InUtf8(self.stream, source.encoding)))
        self.entry_bytes = 0

    @property
    def position(self) -> int:
        return self._file.tell()

    def __enter__(self) -> SourceReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()
        self._file.close()


class _InUtf8(io.RawIOBase):
    """The text of a stream in another encoding, as UTF-8."""

    def __init__(self, stream: IO[bytes], encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._pending = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        while not self._pending and not self._ended:
            block = self._stream.read(io.DEFAULT_BUFFER_SIZE)
            self._pending = self._decoder.decode(block, final=not block).encode()
            self._ended = not block
        view = memoryview(buffer)
        chunk, self._pending = self._pending[: len(view)], self._pending[len(view) :]
        view[: len(chunk)] = chunk
        return len(chunk)


@contextmanager
def translated(source: Source) -> Generator[None]:
    """Translates errors of reading a file to a LoadError that names it."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        what = "is cut short" if isinstance(error, EOFError) else "is a damaged gzip file"
        raise LoadError(f"{source.name} {what}", next_step="Download or compress the file again.") from error
    except UnicodeDecodeError as error:
        raise LoadError(
            f"{source.name} is not in the encoding {source.encoding}", next_step="Give its encoding: --encoding NAME."
        ) from error
    except OSError as error:
        if source.compressed == ".bz2" and error.strerror is None:
            raise LoadError(
                f"{source.name} is a damaged bzip2 file", next_step="Download or compress the file again."
            ) from error
        reason = error.strerror or "it cannot be read"
        raise LoadError(f"{source.name}: {reason}", next_step="Check the file and its permissions.") from error


BLOCK_BYTES = 1 << 20

LONGEST_LINE = 64 * 1024 * 1024
"""Maximum length of a line in bytes. It is longer than any literal, and short enough that no file can fill the memory.
"""


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


E = TypeVar("E")

NOT_UTF8 = "the line is not UTF-8"
NO_VALUE = r"\N"
"""A field without a value in tables that MySQL, PostgreSQL, Hive or IMDb wrote."""


def stage_entries(
    source: Source,
    staging: Staging,
    problems: LoadProblems,
    entries: Callable[[Source, SourceReader, LoadProblems], Iterable[tuple[int, E]]],
    stage: Callable[[int, E], None],
    *,
    reported: bool = False,
) -> None:
    """Passes every entry with its line number to `stage`, which raises ValueError if the entry is invalid.

    `entries` is `lines` or `rows`. `reported`: the source was read before, and what they reject is reported already.

    Raises:
        LoadError: the source cannot be read.
        BadLine: a line is wrong, and bad lines are not skipped.
    """
    with translated(source), source.open() as reader:
        counted = 0
        for number, entry in entries(source, reader, LoadProblems(skip_bad=True) if reported else problems):
            staging.text += reader.entry_bytes - counted
            counted = reader.entry_bytes
            try:
                stage(number, entry)
            except ValueError as error:
                problems.reject(source.name, number, str(error))
            if staging.full:
                staging.checkpoint(source.name, reader.position)
    staging.finish(source.name, source.size)


def lines(source: Source, reader: SourceReader, problems: LoadProblems) -> Iterator[tuple[int, str]]:
    """Yields number (from 1) and text of every line. Lines that are not UTF-8 are rejected, empty ones left out."""
    first = 1
    for block in blocks(source, reader):
        reader.entry_bytes += len(block)
        try:
            texts: Sequence[str] = block.decode("utf-8-sig" if first == 1 else "utf-8").split("\n")
        except UnicodeDecodeError:
            texts = _decode_lines(block, source, first, problems)
        if b"\r" in block:
            texts = [text.rstrip("\r") for text in texts]
        for number, text in enumerate(texts, first):
            if text:
                yield number, text
        first += block.count(b"\n")


def _decode_lines(block: bytes, source: Source, first: int, problems: LoadProblems) -> list[str]:
    texts: list[str] = []
    for number, line in enumerate(block.split(b"\n"), first):
        try:
            texts.append(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except UnicodeDecodeError:
            problems.reject(source.name, number, NOT_UTF8)
            texts.append("")
    return texts


def rows(source: Source, reader: SourceReader, problems: LoadProblems) -> Iterator[tuple[int, list[str]]]:
    """Yields first line number and fields of every row. Rows of another width than the header are rejected.

    Empty lines are left out.
    """
    header = source.header
    if source.table is not None:
        yield from source.table.rows()
        return
    table_lines = _TableLines(source, reader)
    if header.written:
        table_lines.pass_header()
    first_line = table_lines.number + 1
    parsed = header.dialect.rows(table_lines)
    while True:
        try:
            row = next(parsed, None)
        except csv.Error as error:
            problems.reject(source.name, first_line, f"invalid CSV: {error}")
            row = []
        if row is None:
            return
        if table_lines.not_utf8:
            problems.reject(source.name, table_lines.not_utf8, NOT_UTF8)
            table_lines.not_utf8 = 0
        elif len(row) == header.width:
            if NO_VALUE in row and not header.admin:
                row = ["" if field == NO_VALUE else field for field in row]
            yield first_line, header.dialect.with_empty_texts(row, table_lines.record) if header.empty_texts else row
        elif row:
            problems.reject(source.name, first_line, f"expected {header.width} fields, found {len(row)}")
        first_line = table_lines.number + 1
        table_lines.begin_record()


class _TableLines:
    """The lines of a table as text, for the csv module. `number` is the number of the last line read."""

    def __init__(self, source: Source, reader: SourceReader) -> None:
        self._source = source
        self._reader = reader
        self.number = 0
        self.not_utf8 = 0
        """The number of a line that is not UTF-8, until `rows` rejects it; else 0."""
        self._record: list[str] = []

    @property
    def record(self) -> str:
        """The lines read since `begin_record`."""
        return "".join(self._record)

    def begin_record(self) -> None:
        """Forgets the lines of the last record."""
        self._record.clear()

    def pass_header(self) -> None:
        """Skips the first line that is not blank.

        Raises:
            LoadError: that line is not UTF-8, so that the column names cannot be trusted.
        """
        while not next(self).strip():
            pass
        self.begin_record()
        if self.not_utf8:
            raise LoadError(f"the header of {self._source.name} is not UTF-8", next_step="Convert the file.")

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._reader.stream.readline(LONGEST_LINE + 1)
        if not line:
            raise StopIteration
        if len(line) > LONGEST_LINE:
            raise too_long(self._source)
        self.number += 1
        self._reader.entry_bytes += len(line)
        encoding = "utf-8-sig" if self.number == 1 else "utf-8"
        try:
            text = line.decode(encoding)
        except UnicodeDecodeError:
            self.not_utf8 = self.number
            text = line.decode(encoding, "replace")
        self._record.append(text)
        return text
