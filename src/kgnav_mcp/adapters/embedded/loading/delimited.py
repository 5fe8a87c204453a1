"""Rows of a delimited file with their line numbers; a row of another width than the header is a bad line."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from kgnav_mcp.adapters.embedded.loading.headers import Header
from kgnav_mcp.adapters.embedded.loading.rejects import Rejects
from kgnav_mcp.adapters.embedded.loading.sources import LONGEST_LINE, Source, SourceReader, too_long
from kgnav_mcp.errors import LoadError


def rows(source: Source, header: Header, rejects: Rejects, reader: SourceReader) -> Iterator[tuple[int, list[str]]]:
    """The line each row begins on, and its fields, as many as the header has. Empty lines are left out."""
    lines = _Lines(source, reader)
    if header.written:
        lines.pass_header()
    begin = lines.number + 1
    found = header.dialect.rows(lines)
    while True:
        try:
            row = next(found, None)
        except csv.Error as error:
            rejects.add(source.name, begin, f"no valid CSV: {error}")
            row = []
        if row is None:
            return
        if lines.not_utf8:
            rejects.add(source.name, lines.not_utf8, "the line is not UTF-8")
            lines.not_utf8 = 0
        elif len(row) == header.width:
            yield begin, row
        elif row:
            rejects.add(source.name, begin, f"{header.width} fields are expected, {len(row)} found")
        begin = lines.number + 1


class _Lines:
    """The lines of a file as text. `number` is that of the last one read."""

    def __init__(self, source: Source, reader: SourceReader) -> None:
        self._source = source
        self._stream = reader.stream
        self.number = 0
        self.not_utf8 = 0
        """The number of a line that is not UTF-8, until the reader of the rows has told it."""

    def pass_header(self) -> None:
        """Go on behind the first line that is not blank.

        Raises:
            LoadError: it is not UTF-8, so that the names of the columns are not to be trusted.
        """
        while not next(self).strip():
            pass
        if self.not_utf8:
            raise LoadError(f"the header of {self._source.name} is not UTF-8", next_step="Convert the file.")

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._stream.readline(LONGEST_LINE + 1)
        if not line:
            raise StopIteration
        if len(line) > LONGEST_LINE:
            raise too_long(self._source)
        self.number += 1
        encoding = "utf-8-sig" if self.number == 1 else "utf-8"
        try:
            return line.decode(encoding)
        except UnicodeDecodeError:
            self.not_utf8 = self.number
            return line.decode(encoding, "replace")
