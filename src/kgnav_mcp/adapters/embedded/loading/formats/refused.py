"""Formats that are recognised but not loaded.

The error says how to convert such a file; it is never misread as another format.
"""

from __future__ import annotations

import re

from kgnav_mcp.adapters.embedded.loading.formats.beginnings import Begins, binary, json_with, text, xml_root
from kgnav_mcp.adapters.embedded.loading.sources import FileFormat

_LINES = "Its edges as a table with the columns source, target and type can be loaded"
_NETWORK = f"{_LINES}: networkx, igraph and Gephi write one."
_ONTOLOGY = "Convert it, for instance with ROBOT: robot convert --input FILE --output FILE.ttl"
_AS_CSV = "Save it as CSV."
_PAGE = "Load the data, not the page. A download may have ended at a login or an error."
_RUN = "Run it in Neo4j, and serve that, or load an export of APOC in JSON."
_CONSTRUCT = "Load what a CONSTRUCT query returns."
_UNPACK = "Unpack it and load the files in it."
_TRIX = "Convert it with rdflib, which is installed: rdfpipe -i trix -o nt FILE > FILE.nt"

JSON_LINES = (
    "JSON is loaded as APOC exports it, as objects with a type of node or relationship, and in the formats of networks "
    "and of Wikidata that docs/formats.md lists. Or write a table with the columns source, target and type."
)

_LGL_NODE = re.compile(r"# ?(\S+)")
_LGL_NEIGHBOR = re.compile(r"\S+( [+-]?[0-9.]+(e[+-]?[0-9]+)?)?", re.IGNORECASE)
_GRAPHSON = re.compile(rb'"@type"\s*:\s*"(tinker|g):|"(in|out)V"\s*:')


def _is_lgl(start: bytes) -> bool:
    """Whether these are two blocks or more of a node (`# a`) and its neighbours, maybe with weights (`b 0.5`)."""
    if not start.startswith(b"#"):
        return False
    lines = start[:4096].decode("utf-8", "replace").splitlines()[: -1 if len(start) > 4096 else None]
    nodes = [place for place, line in enumerate(lines) if line.startswith("#")]
    blocks = sum(after - place > 1 for place, after in zip(nodes, [*nodes[1:], len(lines)], strict=True))
    return blocks > 1 and all((_LGL_NODE if line[:1] == "#" else _LGL_NEIGHBOR).fullmatch(line) for line in lines)


def _is_graphson(start: bytes) -> bool:
    return start.lstrip()[:1] in {b"{", b"["} and _GRAPHSON.search(start) is not None


def _refused(title: str, begins: Begins | None, next_step: str, *suffixes: str) -> FileFormat:
    return FileFormat(title, title, suffixes=suffixes, begins=begins, refuse=next_step)


FILES = (
    _refused("a tar archive", binary(rb".{257}ustar[\x00 ]"), _UNPACK, ".tar", ".tgz"),
    _refused("a ZIP archive", binary(rb"PK\x03\x04"), _UNPACK, ".zip"),
    _refused("a gzip file", binary(rb"\x1f\x8b"), "Name it FILE.gz, or unpack it with gunzip."),
    _refused("a bzip2 file", binary(rb"BZh[1-9]1AY&SY"), "Name it FILE.bz2, or unpack it."),
    _refused("an xz file", binary(rb"\xfd7zXZ"), "Unpack it: unxz.", ".xz"),
    _refused("a Zstandard file", binary(rb"\x28\xb5\x2f\xfd"), "Unpack it: unzstd.", ".zst"),
    _refused("a 7z archive", binary(rb"7z\xbc\xaf\x27\x1c"), _UNPACK, ".7z"),
    _refused("an HDT file", binary(rb"\$HDT"), "Convert it to N-Triples: hdt2rdf.", ".hdt"),
    _refused("a PDF document", binary(rb"%PDF-"), "Load the data, not the document.", ".pdf"),
    _refused("OWL/XML", xml_root(rb"Ontology"), _ONTOLOGY, ".owx"),
    _refused("TriX", xml_root(rb"(?i:trix)"), _TRIX, ".trix"),
    _refused("results of a SPARQL query", xml_root(rb"sparql"), _CONSTRUCT, ".srx", ".srj"),
    _refused("PSI-MI XML", xml_root(rb"entrySet"), _NETWORK),
    _refused("SBML", xml_root(rb"sbml"), _NETWORK, ".sbml"),
    _refused("an HTML page", xml_root(rb"(?i:html)"), _PAGE, ".html", ".htm"),
    _refused("an HTML page", text(rb"<!DOCTYPE html\b"), _PAGE),
    _refused("OWL in functional syntax", text(rb"(?:Prefix|Ontology)\("), _ONTOLOGY, ".ofn"),
    _refused("OWL in Manchester syntax", text(rb"(?:Prefix:\s+[\w-]*:|Ontology:\s)"), _ONTOLOGY, ".omn"),
    _refused("a Matrix Market file", text(rb"%%MatrixMarket"), f"{_LINES}.", ".mtx"),
    _refused("an SQL dump",
             text(rb"(?:--[^\n]*\n\s*)*(?:CREATE TABLE|INSERT INTO|BEGIN TRANSACTION;|PRAGMA \w+=)"),
             _AS_CSV, ".sql"),
    _refused("a Cypher script", text(rb"(?::begin\n|CREATE \(|MERGE \(|CREATE CONSTRAINT )"), _RUN, ".cypher"),
    _refused("a Markdown table", text(rb"\|[^\n]*\|[ \t]*\r?\n\|[ :|-]+\|"), _AS_CSV),
    _refused("LGL, an adjacency list, which has no directed edges", _is_lgl, _NETWORK, ".lgl"),
    _refused("Cytoscape's CX", None, _NETWORK, ".cx", ".cx2"),
)  # fmt: skip

JSON_BEFORE_JSON_LD = (_refused("GraphSON", _is_graphson, _NETWORK),)
JSON = (
    _refused("results of a SPARQL query", json_with("head", "results"), _CONSTRUCT),
    _refused("GeoJSON", json_with("features"), "Its features have no edges.", ".geojson"),
)
