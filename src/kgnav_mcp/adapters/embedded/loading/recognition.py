"""Recognises the format of a file by its suffix and first lines, unless the user states it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kgnav_mcp.adapters.embedded.loading import layout
from kgnav_mcp.adapters.embedded.loading.headers import parse_header
from kgnav_mcp.adapters.embedded.loading.layout import Layout
from kgnav_mcp.adapters.embedded.loading.other_formats import is_obo_graph, refuse_other_formats
from kgnav_mcp.adapters.embedded.loading.sources import FORMATS, RDF_FORMATS, Format, Source, translated
from kgnav_mcp.clipping import clipped, echoed
from kgnav_mcp.errors import LoadError

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
    ".obo": Format.OBO,
    ".json": Format.APOC,
    ".jsonl": Format.APOC,
    ".csv": Format.TABLE,
    ".tsv": Format.TABLE,
    ".txt": Format.TABLE,
    ".edges": Format.EDGES,
    ".edgelist": Format.EDGES,
    ".sif": Format.SIF,
}

LONGEST_HEADER = 1 << 20
PEEK_BYTES = 65_536
ADMIN_HEADER = re.compile(r":(ID|START_ID|END_ID)\b|(^|[\t,;|])\"?~(id|from)\b")
"""Only found in the headers of files for neo4j-admin or Amazon Neptune."""

APOC_LINE = re.compile(rb'\s*\{\s*"type"\s*:\s*"(node|relationship)"')
"""How an export of APOC begins; its properties may have any name, such as `@id`."""


def recognise(path: Path, forced: str | None = None) -> Source:
    """Returns the source at a path, in the `forced` format or the one of its suffix and first lines.

    Raises:
        LoadError: it is missing, a folder, empty, unreadable, or of unknown format.
    """
    source, start = _open_source(path, forced)
    has_keywords = b'"@context"' in start or b'"@id"' in start
    if forced is None and source.form is Format.APOC and has_keywords and not APOC_LINE.match(start):
        return replace(source, form=Format.JSON_LD)
    if forced is None and source.form is Format.APOC and is_obo_graph(start) and not APOC_LINE.match(start):
        return replace(source, form=Format.OBOGRAPHS)
    if source.form in RDF_FORMATS or source.form is Format.APOC:
        return source
    found = _layout(source, _first_lines(source, start), forced=forced is not None)
    form = source.form
    if found.header is not None:
        form = Format.PROPERTY_GRAPH if found.header.admin else Format.TABLE
    elif found.edges:
        form = Format.EDGES
    return replace(source, form=form, layout=found)


def _layout(source: Source, lines: list[str], *, forced: bool) -> Layout:
    """Returns the layout of a table, by its first lines or as the user states it."""
    if source.form is Format.PROPERTY_GRAPH or (not forced and ADMIN_HEADER.search(lines[0])):
        return Layout(parse_header(source.name, lines[0]))
    if source.form is Format.TABLE and not forced:
        return layout.layout_of(source.name, lines, tabs=".csv" not in map(str.lower, source.path.suffixes))
    if source.form is Format.SIF:
        layout.check_no_table(source.name, [line.split(layout.TAB) for line in lines])
        return layout.TRIPLES
    header = layout.named_columns(lines)
    if header is not None and header.relationships:
        return Layout(header)
    without_header = layout.edges_without_header if source.form is Format.EDGES else layout.triples_without_header
    return without_header(source.name, lines)


def check_together(sources: Sequence[Source], *, nodes_from_edges: bool) -> None:
    """Checks that sources which need each other are all there.

    Raises:
        LoadError: there are neo4j-admin edge files but no node file, or tables of nodes but no edges.
    """
    edges = [source for source in sources if source.form is Format.PROPERTY_GRAPH and not source.has_nodes]
    if len(edges) == len(sources) and not nodes_from_edges:
        raise LoadError(
            f"{edges[0].name} has edges, and no source has their nodes",
            next_step="Name the file of nodes, too: it has an :ID column. Or load with --nodes-from-edges, which makes "
            "a node of each id that an edge names.",
        )
    nodes = [source for source in sources if source.form is Format.TABLE and source.has_nodes]
    if len(nodes) == len(sources):
        raise LoadError(
            f"{nodes[0].name} is a table of nodes, and no source has edges",
            next_step="Name the table of edges, too; its columns are, for instance, source, target and type. If there "
            "is none, call the column of ids :ID, as for neo4j-admin import. If the first line is a triple: "
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
        raise LoadError(f"{path.name} is a folder", next_step="Name the files in it, for instance with a wildcard.")
    if not path.exists():
        raise LoadError(f"{path} does not exist", next_step="Check the path.")
    if not path.is_file():
        raise LoadError(f"{path} is no regular file", next_step="Write the data into a file first: it is read twice.")
    if forced is not None and forced not in FORMATS:
        raise LoadError(f"{echoed(forced)} is no format", next_step=f"Use one of: {', '.join(FORMATS)}.")
    compressed = path.suffix.lower() == ".gz"
    suffix = (Path(path.stem) if compressed else path).suffix.lower()
    form = Format(forced) if forced is not None else SUFFIXES.get(suffix)
    source = Source(path, path.name, form or Format.TABLE, compressed, path.stat().st_size)
    with translated(source), source.open() as reader:
        start = reader.stream.readline(LONGEST_HEADER) + reader.stream.read(PEEK_BYTES)
    refuse_other_formats(path, form, start)
    if form is None:
        known = " ".join(sorted(SUFFIXES))
        raise LoadError(
            f"the format of {path.name} is not known by its suffix {clipped(repr(suffix), 20)}",
            next_step=f"Known suffixes: {known}, each also with .gz. Or name the format with --format.",
        )
    if not start.strip():
        raise LoadError(f"{path.name} is empty", next_step="Check that the export was finished.")
    return source, start


def _first_lines(source: Source, start: bytes) -> list[str]:
    """Returns the first lines of a file, without blank ones and without a last line that may be cut.

    Raises:
        LoadError: the file is UTF-16.
    """
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise LoadError(f"{source.name} is UTF-16, not UTF-8", next_step="Convert the file: iconv -f UTF-16 -t UTF-8.")
    raw_lines = start.split(b"\n")
    complete = raw_lines[:-1] if len(raw_lines) > 1 and len(start) >= PEEK_BYTES else raw_lines
    lines = (raw.decode("utf-8-sig", "replace").rstrip("\r") for raw in complete)
    return [line for line in lines if line.strip()]
