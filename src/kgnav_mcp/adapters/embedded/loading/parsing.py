"""Parsing RDF, with pyoxigraph, into batches: here for a small source, in a process of its own for a large one.

Parsing and staging cost about the same, so that a second process halves the time of reading where there is a
second core. What that process writes is in `parser_process`. Its memory has a limit, which is why JSON-LD, whose
contexts can be copied at every level, is only parsed here where it is too small to fill this one's.
"""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import IO, cast

import pyoxigraph as ox

from kgnav_mcp.adapters.embedded.loading import bulk
from kgnav_mcp.adapters.embedded.loading.encoding import Batch, Encoder
from kgnav_mcp.adapters.embedded.loading.guard import DEEPEST, MOST_PREFIXES, BracketGuard, Guard, JsonLdGuard, depth
from kgnav_mcp.adapters.embedded.loading.sources import Format, Source, SourceReader, blocks
from kgnav_mcp.adapters.embedded.loading.trix import TriX
from kgnav_mcp.adapters.embedded.loading.xml_guard import XmlGuard
from kgnav_mcp.errors import LoadError

OX_FORMATS = {
    Format.N_TRIPLES: ox.RdfFormat.N_TRIPLES,
    Format.N_QUADS: ox.RdfFormat.N_QUADS,
    Format.TURTLE: ox.RdfFormat.TURTLE,
    Format.TRIG: ox.RdfFormat.TRIG,
    Format.N3: ox.RdfFormat.N3,
    Format.RDF_XML: ox.RdfFormat.RDF_XML,
    Format.JSON_LD: ox.RdfFormat.JSON_LD,
}
GUARDS: dict[Format, type[Guard]] = {Format.RDF_XML: XmlGuard, Format.JSON_LD: JsonLdGuard}
"""The guard of each format; `BracketGuard` is the default."""

LINE_FORMATS = (Format.N_TRIPLES, Format.N_QUADS)

PROCESS = "kgnav_mcp.adapters.embedded.loading.parser_process"

QUADS = 20_000
"""Quads in a batch: enough to hold most repetitions of a node, few enough for the CPU cache."""

LINES_BYTES = 1 << 17
"""Bytes of lines that are split at once: their terms stay in the CPU cache until they are numbered."""

PIPE_BYTES = 1 << 20
"""Room in the pipe and before it, so that neither process waits for the other's every page."""

LARGE = 32 * 1024 * 1024
"""Sources of at least so many bytes on disk are parsed in a process of their own; starting it takes 0.2 s."""

LARGE_JSON = 64 * 1024
"""The same for JSON-LD. A compressed file counts as large at any size."""

PARSER_MEMORY = 1 << 30
"""Bytes of address space that a process of its own may take; Python and pyoxigraph alone take a tenth of it."""

PLACE = re.compile(r"^Parser error (at|between) line \d+[^:]*: ")
"""How a message of pyoxigraph begins. Errors carry the line number separately."""


def batches(source: Source, index: int, prefixes: dict[str, str], *, skip_bad: bool) -> Iterator[Batch]:
    """The batches of a source, in its order. Prefixes that it declares are added to `prefixes`.

    Raises:
        SyntaxError: pyoxigraph's, for an error that is not skipped.
        OSError: the source cannot be read; EOFError and zlib.error for a broken gzip file.
    """
    json_limit = 0 if source.compressed else LARGE_JSON
    if source.form in OX_FORMATS and source.size >= (json_limit if source.form is Format.JSON_LD else LARGE):
        return _from_process(source, index, prefixes, skip_bad=skip_bad)
    return parse(source, index, prefixes, skip_bad=skip_bad)


def reason(error: SyntaxError) -> str:
    """What pyoxigraph found wrong, without the place."""
    return PLACE.sub("", error.msg)


def parse(source: Source, index: int, prefixes: dict[str, str], *, skip_bad: bool) -> Iterator[Batch]:
    """The same in this process."""
    encoder = Encoder(index)
    with source.open() as reader:
        if source.form in LINE_FORMATS:
            yield from _lines(source, reader, encoder, skip_bad=skip_bad)
        else:
            yield from _document(source, reader, encoder, prefixes)


def _document(source: Source, reader: SourceReader, encoder: Encoder, prefixes: dict[str, str]) -> Iterator[Batch]:
    """A source in which statements span lines, read through a guard. Nothing of it can be skipped."""
    if source.form is Format.TRIX:
        guard = trix = TriX(source, reader)
        statements, declared = trix.quads(), lambda: trix.prefixes
    else:
        guard = GUARDS.get(source.form, BracketGuard)(source, reader)
        statements = parser = ox.parse(cast("IO[bytes]", guard), OX_FORMATS[source.form], lenient=True)
        declared = lambda: guard.prefixes | parser.prefixes  # noqa: E731 - one line beside its twin
    try:
        for first in statements:
            batch = encoder.encode(chain((first,), islice(statements, QUADS - 1)), 0, bulk.BATCH_TEXT)
            batch.position = reader.position
            yield batch
    except MemoryError:
        guard.too_long()
    _add(declared(), prefixes)


def _add(declared: Mapping[str, str], prefixes: dict[str, str]) -> None:
    """Add prefixes; of two namespaces for one prefix, in the same source or in two, the first one counts."""
    for prefix, namespace in islice(declared.items(), MOST_PREFIXES):
        prefixes.setdefault(prefix, namespace)


def _lines(source: Source, reader: SourceReader, encoder: Encoder, *, skip_bad: bool) -> Iterator[Batch]:
    """Block by block: split where the lines are plain, parsed where not, line by line where there are bad ones."""
    form = OX_FORMATS[source.form]
    first = 1
    for block in blocks(source, reader, LINES_BYTES):
        batch = encoder.encode_lines(block, reader.position) if source.form is Format.N_TRIPLES else None
        if batch is None:
            rejected: list[tuple[int | None, str]] = []
            try:
                good = _parsed(block, form)
            except SyntaxError as error:
                if not skip_bad:
                    raise SyntaxError(error.msg, (None, first - 1 + (error.lineno or 1), None, None)) from None
                good, rejected = _good_lines(block, form, first)
            batch = encoder.encode(good, reader.position)
            batch.rejected = rejected
        yield batch
        first += block.count(b"\n")


def _parsed(lines: bytes, form: ox.RdfFormat) -> list[ox.Quad]:
    """The quads of lines, parsed only where their triples in triples are not so deep as to end the process."""
    if lines.count(b"<<") > DEEPEST:
        for number, line in enumerate(lines.split(b"\n"), 1):
            if depth(line) > DEEPEST:
                raise SyntaxError(
                    f"more than {DEEPEST:,} levels are nested within each other", (None, number, None, None)
                )
    return list(ox.parse(lines, form, lenient=True))


def _good_lines(block: bytes, form: ox.RdfFormat, first: int) -> tuple[list[ox.Quad], list[tuple[int | None, str]]]:
    """The quads of the good lines; numbers, counted from `first`, and reasons of the bad ones."""
    good: list[ox.Quad] = []
    rejected: list[tuple[int | None, str]] = []
    for number, line in enumerate(block.split(b"\n"), first):
        try:
            good += _parsed(line, form)
        except SyntaxError as error:
            rejected.append((number, reason(error)))
    return good, rejected


def _from_process(source: Source, index: int, prefixes: dict[str, str], *, skip_bad: bool) -> Iterator[Batch]:
    command = [sys.executable, "-m", PROCESS, str(source.path), source.form, str(index), str(int(skip_bad))]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    child = subprocess.Popen(  # noqa: S603 - our own module
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # where native code aborts for want of memory, it says so there
        env=environment,
        bufsize=PIPE_BYTES,
        pipesize=PIPE_BYTES,
    )
    with child:
        pipe = cast("IO[bytes]", child.stdout)
        try:
            while isinstance(batch := _received(pipe, source), Batch):
                yield batch
            _add(cast("dict[str, str]", _received(pipe, source)), prefixes)
        finally:
            child.kill()


def _received(pipe: IO[bytes], source: Source) -> object:
    try:
        message: object = pickle.load(pipe)  # noqa: S301 - written by our own module
    except (EOFError, pickle.UnpicklingError) as error:
        raise LoadError(
            f"the process that parsed {source.name} was ended: it may take {PARSER_MEMORY // 2**30} GB of memory",
            next_step="See whether the system ran out of memory, or convert the file to N-Triples, which needs little.",
        ) from error
    if isinstance(message, Exception):
        raise message
    return message
