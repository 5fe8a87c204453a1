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
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import IO, cast

import pyoxigraph as ox

from kgnav_mcp.adapters.embedded.loading import queries
from kgnav_mcp.adapters.embedded.loading.guard import (
    MAX_DEPTH,
    MAX_PREFIXES,
    BracketGuard,
    Guard,
    JsonLdGuard,
    XmlGuard,
    depth,
)
from kgnav_mcp.adapters.embedded.loading.headers import Value
from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader, blocks
from kgnav_mcp.adapters.wellknown import RDF, RDF_REIFIES, XSD
from kgnav_mcp.errors import LoadError

WINDOW = 1 << 15
"""Number of nodes in the dictionary before it is cleared.

Common nodes occur again within it, and it fits the CPU cache.
"""

WINDOW_TEXT = 64 * 1024 * 1024
"""Maximum number of characters of these nodes and relations, because a single id may have millions."""


class Numbers(dict[str | None, int]):
    """Numbers keys in the order of first use. Looking up a new key adds it. `text`: characters of all keys."""

    text = 0

    def __missing__(self, key: str) -> int:
        number = self[key] = len(self)
        self.text += len(key)
        return number

    def clear(self) -> None:
        super().clear()
        self.text = 0

    def since(self, place: int) -> list[str]:
        """Returns the keys from a number on."""
        newest = [key for key in islice(reversed(self), len(self) - place) if key is not None]
        newest.reverse()
        return newest


def _numbers() -> array[int]:
    return array("L")


@dataclass(slots=True)
class Batch:
    """Some thousand quads, encoded. Nodes and relations are numbered in the order of first use across batches.

    Numbers of nodes start at 1, those of relations at 0.
    """

    position: int
    """The number of bytes of the source read so far."""
    restart: bool
    """Whether numbering starts again with this batch."""
    nodes: list[str] = field(default_factory=list[str])
    relations: list[str] = field(default_factory=list[str])
    """Nodes and relations used for the first time, in the order of their numbers."""
    heads: array[int] = field(default_factory=_numbers)
    links: array[int] = field(default_factory=_numbers)
    tails: array[int] = field(default_factory=_numbers)
    """Head, relation and tail of each triple with a node as tail, as three columns."""
    literals: list[tuple[int, int, Value]] = field(default_factory=list[tuple[int, int, Value]])
    reifiers: list[tuple[int, int, int, int | Value]] = field(default_factory=list[tuple[int, int, int, "int | Value"]])
    """Reifier, head, relation, and the tail: a node's number or a literal."""
    rejected: list[tuple[int | None, str]] = field(default_factory=list[tuple[int | None, str]])
    """Line and reason of each bad line."""
    text: int = 0
    """The approximate number of characters in its literals and new keys."""


class Encoder:
    """Encodes the quads of one source. `index` distinguishes its blank nodes from those of other sources."""

    def __init__(self, index: int) -> None:
        self._blank = f"_:{index}:"
        self._datatypes: dict[str, str | None] = {XSD + "string": None, RDF + "langString": None}
        self._nodes = Numbers()
        self._relations = Numbers()

    def encode(self, quads: Iterable[ox.Quad], position: int, most_text: int = sys.maxsize) -> Batch:
        """Encodes parsed quads as one batch, up to the quad with which the texts reach `most_text` characters."""
        batch, first_node, first_relation = self._new_batch(position)
        nodes, relations = self._nodes, self._relations
        number_node, number_relation, datatypes = nodes.__getitem__, relations.__getitem__, self._datatypes
        before = nodes.text + relations.text
        add_head, add_link, add_tail = batch.heads.append, batch.links.append, batch.tails.append
        add_literal, named_node, literal = batch.literals.append, ox.NamedNode, ox.Literal
        for quad in quads:
            subject, tail = quad.subject, quad.object
            head = number_node(subject.value if type(subject) is named_node else self._key(subject))
            name = quad.predicate.value
            if type(tail) is named_node:
                add_head(head)
                add_link(number_relation(name))
                add_tail(number_node(tail.value))
            elif type(tail) is literal:
                datatype = tail.datatype.value
                short = datatypes[datatype] if datatype in datatypes else self._datatype(datatype)
                text = tail.value
                add_literal((head, number_relation(name), (text, short, tail.language)))
                batch.text += len(text)
            elif isinstance(tail, ox.Triple):
                if name == RDF_REIFIES and not isinstance(tail.object, ox.Triple):
                    quoted_head = number_node(self._key(tail.subject))
                    link = number_relation(tail.predicate.value)
                    batch.reifiers.append((head, quoted_head, link, self._quoted_tail(tail.object, nodes)))
                else:  # a triple as tail of any other relation, or nested in another triple: stored as text
                    add_literal((head, number_relation(name), (str(tail), None, None)))
            else:
                add_head(head)
                add_link(number_relation(name))
                add_tail(number_node(self._key(tail)))
            if batch.text + nodes.text + relations.text - before >= most_text:
                break
        batch.text += nodes.text + relations.text - before
        batch.nodes, batch.relations = nodes.since(first_node), relations.since(first_relation)
        return batch

    def _new_batch(self, position: int) -> tuple[Batch, int, int]:
        """Returns an empty batch, and the numbers of nodes and relations known before it. Number 0 is never a node."""
        nodes, relations = self._nodes, self._relations
        restart = not nodes or len(nodes) > WINDOW or nodes.text + relations.text > WINDOW_TEXT
        if restart:
            if len(self._datatypes) > WINDOW:
                self._datatypes = {XSD + "string": None, RDF + "langString": None}
            nodes.clear()
            nodes[None] = 0
            relations.clear()
        return Batch(position, restart), len(nodes), len(relations)

    def _key(self, term: object) -> str:
        if isinstance(term, ox.NamedNode):
            return term.value
        return self._blank + term.value if isinstance(term, ox.BlankNode) else str(term)

    def _quoted_tail(self, tail: object, nodes: Numbers) -> int | Value:
        if isinstance(tail, ox.Literal):
            return tail.value, self._datatype(tail.datatype.value), tail.language
        return nodes[self._key(tail)]

    def _datatype(self, iri: str) -> str | None:
        """Returns a datatype as it is stored: XML Schema's with the prefix `xsd:`, others as their IRI."""
        if iri not in self._datatypes:
            self._datatypes[iri] = f"xsd:{iri.removeprefix(XSD)}" if iri.startswith(XSD) else iri
        return self._datatypes[iri]


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
"""Number of quads in a batch: large enough that most repetitions of a node are in one, small enough for the CPU cache.
"""

LINES_BYTES = 1 << 17
"""Bytes of lines that are parsed at once, so few that their terms are still in the CPU cache when they are numbered."""

PIPE_BYTES = 1 << 20
"""Size of the pipe and of its buffer in bytes, so large that the processes rarely wait for each other."""

LARGE = 32 * 1024 * 1024
"""Sources of at least this size in bytes on disk are parsed in a separate process. Starting it takes 0.2 s."""

LARGE_JSON = 64 * 1024
"""The same limit for JSON-LD. A compressed file counts as large at any size."""

PARSER_MEMORY = 1 << 30
"""Maximum address space of the parser's process in bytes. Python and pyoxigraph alone take a tenth of it."""

PLACE = re.compile(r"^Parser error (at|between) line \d+[^:]*: ")
"""The start of pyoxigraph's messages with the line. It is removed, because errors carry the line number separately."""


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
            batch = encoder.encode(chain((first,), islice(parser, QUADS - 1)), 0, queries.BATCH_TEXT)
            batch.position = reader.position
            yield batch
    except MemoryError:
        guard.too_long()
    _add_prefixes(guard.prefixes | parser.prefixes, prefixes)


def _add_prefixes(declared: Mapping[str, str], prefixes: dict[str, str]) -> None:
    """Adds prefixes. Of two namespaces for one prefix, in the same source or in two, the first counts."""
    for prefix, namespace in islice(declared.items(), MAX_PREFIXES):
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
    if lines.count(b"<<") > MAX_DEPTH:
        for number, line in enumerate(lines.split(b"\n"), 1):
            if depth(line) > MAX_DEPTH:
                raise SyntaxError(
                    f"more than {MAX_DEPTH:,} levels are nested within each other", (None, number, None, None)
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
