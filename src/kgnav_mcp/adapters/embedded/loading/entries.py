"""Reads sources entry by entry: lines, or rows of a table. An invalid entry counts as a bad line."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.sources import (
    LONGEST_LINE,
    Source,
    SourceReader,
    blocks,
    too_long,
    translated,
)
from kgnav_mcp.adapters.embedded.loading.staging_writer import Staging
from kgnav_mcp.errors import LoadError

E = TypeVar("E")

NOT_UTF8 = "the line is not UTF-8"


def stage_entries(
    source: Source,
    staging: Staging,
    findings: LoadProblems,
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
        for number, entry in entries(source, reader, LoadProblems(skip_bad=True) if reported else findings):
            staging.text += reader.given - counted
            counted = reader.given
            try:
                stage(number, entry)
            except ValueError as error:
                findings.reject(source.name, number, str(error))
            if staging.full:
                staging.checkpoint(source.name, reader.position)
    staging.finish(source.name, source.size)


def lines(source: Source, reader: SourceReader, findings: LoadProblems) -> Iterator[tuple[int, str]]:
    """Yields number (from 1) and text of every line. Lines that are not UTF-8 are rejected, empty ones left out."""
    first = 1
    for block in blocks(source, reader):
        reader.given += len(block)
        try:
            texts: Sequence[str] = block.decode("utf-8-sig" if first == 1 else "utf-8").split("\n")
        except UnicodeDecodeError:
            texts = _decode_lines(block, source, first, findings)
        if b"\r" in block:
            texts = [text.rstrip("\r") for text in texts]
        for number, text in enumerate(texts, first):
            if text:
                yield number, text
        first += block.count(b"\n")


def _decode_lines(block: bytes, source: Source, first: int, findings: LoadProblems) -> list[str]:
    texts: list[str] = []
    for number, line in enumerate(block.split(b"\n"), first):
        try:
            texts.append(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except UnicodeDecodeError:
            findings.reject(source.name, number, NOT_UTF8)
            texts.append("")
    return texts


def rows(source: Source, reader: SourceReader, findings: LoadProblems) -> Iterator[tuple[int, list[str]]]:
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
            findings.reject(source.name, first_line, f"invalid CSV: {error}")
            row = []
        if row is None:
            return
        if table_lines.not_utf8:
            findings.reject(source.name, table_lines.not_utf8, NOT_UTF8)
            table_lines.not_utf8 = 0
        elif len(row) == header.width:
            yield first_line, header.dialect.with_empty_texts(row, table_lines.record) if header.empty_texts else row
        elif row:
            findings.reject(source.name, first_line, f"expected {header.width} fields, found {len(row)}")
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
        self._reader.given += len(line)
        encoding = "utf-8-sig" if self.number == 1 else "utf-8"
        try:
            text = line.decode(encoding)
        except UnicodeDecodeError:
            self.not_utf8 = self.number
            text = line.decode(encoding, "replace")
        self._record.append(text)
        return text
