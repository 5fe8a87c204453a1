"""Recognises the format of a file by its suffix and first lines, unless the user states it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from kgnav_mcp.adapters.embedded.loading import layout
from kgnav_mcp.adapters.embedded.loading.formats import BY_SUFFIX, FORMATS, LOADED, format_named
from kgnav_mcp.adapters.embedded.loading.formats.apoc import APOC
from kgnav_mcp.adapters.embedded.loading.formats.rdf import JSON_LD
from kgnav_mcp.adapters.embedded.loading.formats.refused import JSON_LINES
from kgnav_mcp.adapters.embedded.loading.formats.tables import EDGES, PROPERTY_GRAPH, SIF, TABLES, TRIPLES
from kgnav_mcp.adapters.embedded.loading.headers import parse_header
from kgnav_mcp.adapters.embedded.loading.layout import Layout, typed_layout
from kgnav_mcp.adapters.embedded.loading.options import LoadOptions, LoadProblems
from kgnav_mcp.adapters.embedded.loading.sources import (
    BLOCK_BYTES,
    UTF8,
    FileFormat,
    Source,
    rows,
    split_suffix,
    translated,
)
from kgnav_mcp.clipping import clipped, echoed
from kgnav_mcp.errors import LoadError

LONGEST_HEADER = 1 << 20
PEEK_BYTES = 65_536
ADMIN_HEADER = re.compile(r":(ID|START_ID|END_ID)\b|(^|[\t,;|])\"?~(id|from)\b")
"""Only found in the headers of files for neo4j-admin or Amazon Neptune."""

_JSON_LD_KEY = re.compile(rb'"(@|[A-Za-z][\w.+-]*:[^"\s]*"\s*:)')
"""A keyword, or a property given by its IRI."""


def recognise(path: Path, options: LoadOptions) -> list[Source]:
    """Returns the source at a path, in the format of the options or the one of its suffix and first lines.

    A workbook has a source for each sheet.

    Raises:
        LoadError: it is missing, a folder, empty, unreadable, or of unknown format.
    """
    forced = options.source_format
    source, start = _open_source(path, forced)
    if source.form.open_tables is not None:
        return _typed_sources(source, options)
    if source.form.other_encoding:
        return [replace(source, encoding=options.tables.encoding or _encoding_of_file(source))]
    if source.form not in TABLES:
        return [source]
    source = replace(source, encoding=options.tables.encoding or _guessed_encoding([start], "cp1252"))
    lines = _first_lines(source, start)
    detected = (
        layout.chosen_layout(source.name, lines, options.tables.columns, options.tables.separator) if lines else None
    )
    detected = detected or _layout(source, lines, forced=forced is not None)
    if (
        source.encoding == "cp1252"
        and not options.tables.encoding
        and (detected.header is None or detected.header.admin)
    ):
        source = replace(source, encoding=UTF8)  # other programs than spreadsheets write these
    form = source.form
    if detected.header is not None:
        form = PROPERTY_GRAPH if detected.header.admin else TRIPLES
    elif detected.edges:
        form = EDGES
    return [_with_quotes(replace(source, form=form, layout=detected))]


def _with_quotes(source: Source) -> Source:
    """Returns a table with its quotation marks as ordinary characters, if more of its rows can be read so.

    Some programs quote fields that are separated by tabs, others never do.
    """
    header = source.layout.header
    if header is None or header.admin or header.dialect.delimiter != layout.TAB or not _has_quotes(source):
        return source
    plain = replace(header, dialect=replace(header.dialect, quoted=False))
    note = "quotation marks are characters like any other"
    unquoted = replace(source, layout=replace(source.layout, header=plain, ambiguity_note=note))
    bad_rows = _bad_rows(source)
    return unquoted if bad_rows and _bad_rows(unquoted) < bad_rows else source


def _has_quotes(source: Source) -> bool:
    with translated(source), source.open() as reader:
        return any(b'"' in block for block in iter(partial(reader.stream.read, BLOCK_BYTES), b""))


def _bad_rows(source: Source) -> int:
    """Returns how many rows of a table cannot be read."""
    problems = LoadProblems(skip_bad=True)
    with translated(source), source.open() as reader:
        for _ in rows(source, reader, problems):
            pass
    return problems.bad_lines


def _encoding_of_file(source: Source) -> str:
    """Returns the encoding of a whole file, which the first bytes of a network do not show."""
    with translated(source), source.open() as reader:
        blocks = iter(partial(reader.stream.read, BLOCK_BYTES), b"")
        return _guessed_encoding(chain(blocks, (b"",)), source.form.other_encoding)


def _guessed_encoding(blocks: Iterable[bytes], other: str) -> str:
    """Returns UTF-16 for its byte order mark, UTF-8 for what it can be, else the other encoding.

    The bytes are cut somewhere unless they end with an empty block.
    """
    strict, lenient = (codecs.getincrementaldecoder(UTF8)(errors) for errors in ("strict", "ignore"))
    is_valid, has_characters = True, False
    for number, block in enumerate(blocks):
        if number == 0 and block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        has_characters = has_characters or not lenient.decode(block).isascii()
        try:
            strict.decode(block, final=not block)
        except UnicodeDecodeError:
            is_valid = False
        # One wrong byte among characters of UTF-8 is a bad line, and not another encoding.
        if not is_valid and has_characters:
            break
    return UTF8 if is_valid or has_characters else other


def _layout(source: Source, lines: list[str], *, forced: bool) -> Layout:
    """Returns the layout of a table, by its first lines or as the user states it."""
    if source.form is PROPERTY_GRAPH or (not forced and ADMIN_HEADER.search(lines[0])):
        return Layout(parse_header(source.name, lines[0]))
    if source.form is TRIPLES and not forced:
        return layout.layout_of(source.name, lines, tabs=".csv" not in map(str.lower, source.path.suffixes))
    if source.form is SIF:
        layout.check_no_table(source.name, [line.split(layout.TAB) for line in lines])
        return layout.TRIPLES
    header = layout.named_columns(lines)
    if header is not None and header.relationships:
        return Layout(header)
    without_header = layout.edges_without_header if source.form is EDGES else layout.triples_without_header
    return without_header(source.name, lines)


def check_together(sources: Sequence[Source], *, nodes_from_edges: bool) -> None:
    """Checks that sources which need each other are complete.

    Raises:
        LoadError: there are neo4j-admin edge files but no node file, or tables of nodes but no edges.
    """
    edges = [source for source in sources if source.form is PROPERTY_GRAPH and not source.has_nodes]
    if len(edges) == len(sources) and not nodes_from_edges:
        raise LoadError(
            f"{edges[0].name} has edges, but no source has their nodes",
            next_step="Add the file of nodes, with an :ID column. Or load with --nodes-from-edges, which creates a "
            "node for each id of an edge.",
        )
    nodes = [source for source in sources if source.form is TRIPLES and source.has_nodes and not source.header.chosen]
    if len(nodes) == len(sources):
        raise LoadError(
            f"{nodes[0].name} is a table of nodes, but no source has edges",
            next_step="Add the table of edges; its columns are, for instance, source, target and type. If there is "
            "none, rename the column of ids to :ID, as for neo4j-admin import. If the first line is a triple: "
            "--format triples.",
        )


def recognise_names(path: Path) -> Source:
    """Returns the file of names at a path: RDF, or a table of ids and names.

    Raises:
        LoadError: as `recognise`.
    """
    return _open_source(path, None)[0]


def _open_source(path: Path, forced: str | None) -> tuple[Source, bytes]:
    """Returns the source in the forced format or that of its suffix, and its first bytes.

    Raises:
        LoadError: as `recognise`.
    """
    if path.is_dir():
        raise LoadError(f"{path.name} is a folder", next_step="Give the files in it, for instance with a wildcard.")
    if not path.exists():
        raise LoadError(f"{path} does not exist", next_step="Check the path.")
    if not path.is_file():
        raise LoadError(
            f"{path} is not a regular file", next_step="Write the data into a file first: it is read twice."
        )
    suffix, compressed = split_suffix(path)
    stated = _stated_format(forced)
    form = stated or BY_SUFFIX.get(suffix)
    source = Source(path, path.name, form or TRIPLES, compressed, path.stat().st_size)
    with translated(source), source.open() as reader:
        start = reader.stream.readline(LONGEST_HEADER) + reader.stream.read(PEEK_BYTES)
    seen = _format_of(start[:PEEK_BYTES].removeprefix(codecs.BOM_UTF8))
    _check_format(path, seen, stated, form)
    if seen is None:
        _check_json(path, form, start[:PEEK_BYTES].lstrip())
    form = seen or form
    if form is None:
        suffixes = " ".join(sorted(suffix for format_ in LOADED for suffix in format_.suffixes))
        raise LoadError(
            f"the format of {path.name} is unknown: the suffix is {clipped(repr(suffix), 20)}",
            next_step=f"Known suffixes: {suffixes}, each also with .gz or .bz2. Or give the format with --format.",
        )
    if not start.strip():
        raise LoadError(f"{path.name} is empty", next_step="Check that the export was finished.")
    return replace(source, form=form), start


def _stated_format(name: str | None) -> FileFormat | None:
    if name is None:
        return None
    try:
        return format_named(name)
    except KeyError:
        names = ", ".join(form.name for form in LOADED)
        raise LoadError(f"{echoed(name)} is not a known format", next_step=f"Use one of: {names}.") from None


def _format_of(start: bytes) -> FileFormat | None:
    """Returns the format that the first bytes of a file show; None if they show none."""
    return next((form for form in FORMATS if form.begins is not None and form.begins(start)), None)


def _check_format(path: Path, seen: FileFormat | None, stated: FileFormat | None, form: FileFormat | None) -> None:
    """Checks that a file may be in the format that the user states, or in that of its suffix.

    Raises:
        LoadError: it is in a format that is not loaded, or in another than the user states.
    """
    if seen is not None and not seen.refuse and seen is not stated and stated is not None:
        raise LoadError(
            f"{path.name} looks like {seen.title}, not like {stated.title}",
            next_step=f"Load it without --format {stated.name}.",
        )
    refused = seen or form
    if refused is not None and refused.refuse:
        raise LoadError(
            f"{path.name} looks like {refused.title}, which is not loaded",
            next_step=refused.refuse.replace("FILE", path.name),
        )


def _check_json(path: Path, form: FileFormat | None, text: bytes) -> None:
    """Refuses JSON that is in no known format."""
    if form not in {None, APOC, JSON_LD} or text[:1] not in {b"{", b"["}:
        return
    what = None
    if form is JSON_LD:
        what = None if _JSON_LD_KEY.search(text) else "JSON without the keywords of JSON-LD, such as @context"
    elif text.startswith(b"["):
        what = "a JSON array"
    elif len(text.partition(b"\n")[0].strip()) == 1:
        what = "JSON over several lines"
    if what is not None:
        raise LoadError(
            f"{path.name} looks like {what}, which is not loaded", next_step=JSON_LINES.replace("FILE", path.name)
        )


def _first_lines(source: Source, start: bytes) -> list[str]:
    """Returns the first lines of a file, without blank ones and without a last line that may be cut.

    Raises:
        LoadError: the file is not in its encoding.
    """
    if source.encoding != UTF8:
        with translated(source):
            start = codecs.getincrementaldecoder(source.encoding)().decode(start).encode()
    raw_lines = start.split(b"\n")
    complete = raw_lines[:-1] if len(raw_lines) > 1 and len(start) >= PEEK_BYTES else raw_lines
    lines = (raw.decode("utf-8-sig", "replace").rstrip("\r") for raw in complete)
    return [line for line in lines if line.strip()]


def _typed_sources(source: Source, options: LoadOptions) -> list[Source]:
    """Returns a source for each table in a file of typed tables.

    Raises:
        LoadError: it cannot be read, its reader is not installed, or its columns are not understood.
    """
    form = source.form
    if form.open_tables is None:
        raise TypeError(f"{form.name} has no typed tables")
    try:
        tables = form.open_tables(source.path, options.tables.sheets)
    except ImportError as error:
        raise LoadError(
            f"{source.name} needs the package {error.name}, which is not installed",
            next_step=f"Install the extra: pip install 'kgnav-mcp[{form.extra}]'. Or save the table as CSV.",
        ) from error
    return [
        replace(
            source,
            name=name,
            size=source.size // len(tables),
            layout=typed_layout(table, name, source.name, options),
            table=table,
        )
        for name, table in tables
    ]
