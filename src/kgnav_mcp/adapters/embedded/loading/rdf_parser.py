"""Parses RDF with pyoxigraph into batches: small sources in this process, large ones in a process of their own.

Parsing and staging take about the same time, so that a second process halves the time of reading on two cores.
`parser_process` describes what that process writes. Its memory is limited. JSON-LD can copy contexts at every level,
so that only very small JSON-LD sources are parsed in this process.
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
from kgnav_mcp.adapters.embedded.loading.guard import DEEPEST, MOST_PREFIXES, BracketGuard, Guard, JsonLdGuard, depth
from kgnav_mcp.adapters.embedded.loading.quad_encoding import Batch, Encoder
from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader, blocks
from kgnav_mcp.adapters.embedded.loading.xml_guard import XmlGuard
from kgnav_mcp.errors import LoadError

OX_FORMATS = {  # by the name of the format
    "nt": ox.RdfFormat.N_TRIPLES,
    "nq": ox.RdfFormat.N_QUADS,
    "ttl": ox.RdfFormat.TURTLE,
    "trig": ox.RdfFormat.TRIG,
    "n3": ox.RdfFormat.N3,
    "rdf": ox.RdfFormat.RDF_XML,
    "jsonld": ox.RdfFormat.JSON_LD,
}
GUARDS: dict[str, type[Guard]] = {"rdf": XmlGuard, "jsonld": JsonLdGuard}
"""Guards by format; all other formats use `BracketGuard`."""

LINE_FORMATS = ("nt", "nq")

PROCESS = "kgnav_mcp.adapters.embedded.loading.parser_process"

QUADS = 20_000
"""Quads in a batch: enough that most repetitions of a node fall into one, few enough for the CPU cache."""

LINES_BYTES = 1 << 17
"""Bytes of lines that are parsed at once, so few that their terms stay in the CPU cache until they are numbered."""

PIPE_BYTES = 1 << 20
"""Bytes of the pipe and of its buffer, so that the processes rarely wait for each other."""

LARGE = 32 * 1024 * 1024
"""Sources of at least this many bytes on disk are parsed in a process of their own. Starting it takes 0.2 s."""

LARGE_JSON = 64 * 1024
"""The same for JSON-LD. A compressed file counts as large at any size."""

PARSER_MEMORY = 1 << 30
"""Bytes of address space that the parser's process may use. Python and pyoxigraph alone take a tenth of it."""

PLACE = re.compile(r"^Parser error (at|between) line \d+[^:]*: ")
"""The start of pyoxigraph's messages. It is removed, because errors carry the line number separately."""


def batches(source: Source, index: int, prefixes: dict[str, str], *, skip_bad: bool) -> Iterator[Batch]:
    """Yields the batches of a source in its order, and adds its declared prefixes to `prefixes`.

    Raises:
        SyntaxError: raised by pyoxigraph for an error that is not skipped.
        OSError: the source cannot be read; EOFError and zlib.error for a broken gzip file.
    """
    json_limit = 0 if source.compressed else LARGE_JSON
    if source.form.name in OX_FORMATS and source.size >= (json_limit if source.form.name == "jsonld" else LARGE):
        return _parse_in_process(source, index, prefixes, skip_bad=skip_bad)
    return parse(source, index, prefixes, skip_bad=skip_bad)


def reason(error: SyntaxError) -> str:
    """Returns pyoxigraph's message without the line."""
    return PLACE.sub("", error.msg)


def parse(source: Source, index: int, prefixes: dict[str, str], *, skip_bad: bool) -> Iterator[Batch]:
    """Like `batches`, but always in this process."""
    encoder = Encoder(index)
    with source.open() as reader:
        if source.form.name in LINE_FORMATS:
            yield from _parse_blocks(source, reader, encoder, skip_bad=skip_bad)
        else:
            yield from _parse_document(source, reader, encoder, prefixes)


def _parse_document(
    source: Source, reader: SourceReader, encoder: Encoder, prefixes: dict[str, str]
) -> Iterator[Batch]:
    """Parses a format whose statements may span lines, through a guard. Errors in it cannot be skipped."""
    guard = GUARDS.get(source.form.name, BracketGuard)(source, reader)
    parser = ox.parse(cast("IO[bytes]", guard), OX_FORMATS[source.form.name], lenient=True)
    try:
        for first in parser:
            batch = encoder.encode(chain((first,), islice(parser, QUADS - 1)), 0, bulk.BATCH_TEXT)
            batch.position = reader.position
            yield batch
    except MemoryError:
        guard.too_long()
    _add_prefixes(guard.prefixes | parser.prefixes, prefixes)


def _add_prefixes(declared: Mapping[str, str], prefixes: dict[str, str]) -> None:
    """Adds prefixes. Of two namespaces for one prefix, in the same source or in two, the first counts."""
    for prefix, namespace in islice(declared.items(), MOST_PREFIXES):
        prefixes.setdefault(prefix, namespace)


def _parse_blocks(source: Source, reader: SourceReader, encoder: Encoder, *, skip_bad: bool) -> Iterator[Batch]:
    """Reads N-Triples or N-Quads in blocks, and line by line where a block has errors."""
    form = OX_FORMATS[source.form.name]
    first = 1
    for block in blocks(source, reader, LINES_BYTES):
        rejected: list[tuple[int | None, str]] = []
        try:
            good = _parse_lines(block, form)
        except SyntaxError as error:
            if not skip_bad:
                raise SyntaxError(error.msg, (None, first - 1 + (error.lineno or 1), None, None)) from None
            good, rejected = _good_lines(block, form, first)
        batch = encoder.encode(good, reader.position)
        batch.rejected = rejected
        yield batch
        first += block.count(b"\n")


def _parse_lines(lines: bytes, form: ox.RdfFormat) -> list[ox.Quad]:
    """Returns the quads of lines.

    Raises:
        SyntaxError: a line is invalid, or nests triples so deeply that the parser would crash.
    """
    if lines.count(b"<<") > DEEPEST:
        for number, line in enumerate(lines.split(b"\n"), 1):
            if depth(line) > DEEPEST:
                raise SyntaxError(
                    f"more than {DEEPEST:,} levels are nested within each other", (None, number, None, None)
                )
    return list(ox.parse(lines, form, lenient=True))


def _good_lines(block: bytes, form: ox.RdfFormat, first: int) -> tuple[list[ox.Quad], list[tuple[int | None, str]]]:
    """Returns the quads of the valid lines, and number (counted from `first`) and reason of each invalid one."""
    good: list[ox.Quad] = []
    rejected: list[tuple[int | None, str]] = []
    for number, line in enumerate(block.split(b"\n"), first):
        try:
            good += _parse_lines(line, form)
        except SyntaxError as error:
            rejected.append((number, reason(error)))
    return good, rejected


def _parse_in_process(source: Source, index: int, prefixes: dict[str, str], *, skip_bad: bool) -> Iterator[Batch]:
    command = [sys.executable, "-m", PROCESS, str(source.path), source.form.name, str(index), str(int(skip_bad))]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    child = subprocess.Popen(  # noqa: S603 - our own module
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # native code that runs out of memory would print there
        env=environment,
        bufsize=PIPE_BYTES,
        pipesize=PIPE_BYTES,
    )
    with child:
        pipe = cast("IO[bytes]", child.stdout)
        try:
            while isinstance(batch := _receive(pipe, source), Batch):
                yield batch
            _add_prefixes(cast("dict[str, str]", _receive(pipe, source)), prefixes)
        finally:
            child.kill()


def _receive(pipe: IO[bytes], source: Source) -> object:
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
