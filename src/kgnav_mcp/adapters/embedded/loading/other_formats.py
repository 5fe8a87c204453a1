"""Recognises files in formats that are not loaded, by their first bytes, so that they are refused and not misread."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from kgnav_mcp.adapters.embedded.loading.sources import RDF_FORMATS, Format
from kgnav_mcp.errors import LoadError

_LOOKED_AT = 1 << 16
"""Bytes of a file that are looked at."""
_LINES = "Its edges as a table with the columns source, target and type can be loaded"
_JSON_LINES = (
    "JSON is loaded as APOC exports it: an object a line, with a type of node or relationship. Of a list of such "
    "objects: jq -c '.[]' FILE > FILE.jsonl"
)
_AS_CSV = "Save it as CSV."
_PAGE = "Load the data, not the page. A download may have ended at a login or an error."
_RUN = "Run it in Neo4j, and serve that, or load an export of APOC in JSON."
_CONSTRUCT = "Load what a CONSTRUCT query returns."
_UNPACK = "Unpack it and load the files in it."


@dataclass(frozen=True, slots=True)
class OtherFormat:
    """A format that is not loaded: its name, how a file in it begins, and what to do with it."""

    name: str
    begins: re.Pattern[bytes]
    next_step: str


def _binary(name: str, magic: bytes, next_step: str) -> OtherFormat:
    return OtherFormat(name, re.compile(magic, re.DOTALL), next_step)


def _text(name: str, pattern: bytes, next_step: str) -> OtherFormat:
    return OtherFormat(name, re.compile(rb"\s*" + pattern, re.IGNORECASE), next_step)


def _xml(name: str, root: bytes, next_step: str) -> OtherFormat:
    prolog = rb"(?:<\?[^>]*\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>\s*)*"
    return OtherFormat(name, re.compile(rb"\s*" + prolog + rb"<" + root + rb"[\s/>]", re.DOTALL), next_step)


_ONTOLOGY = "Convert it, for instance with ROBOT: robot convert --input FILE --output FILE.ttl"
_NETWORK = f"{_LINES}: networkx, igraph and Gephi write one."

OTHER_FORMATS = (
    _binary("a tar archive", rb".{257}ustar[\x00 ]", _UNPACK),
    _binary("an Excel workbook", rb"PK\x03\x04.*(\[Content_Types\]\.xml|xl/)", _AS_CSV),
    _binary("an old Excel workbook", rb"\xd0\xcf\x11\xe0", _AS_CSV),
    _binary("a ZIP archive", rb"PK\x03\x04", _UNPACK),
    _binary("a gzip file", rb"\x1f\x8b", "Call it FILE.gz, or unpack it: gunzip. Only one layer of gzip is read."),
    _binary("a bzip2 file", rb"BZh[1-9]1AY&SY", "Unpack it: bunzip2."),
    _binary("an xz file", rb"\xfd7zXZ", "Unpack it: unxz."),
    _binary("a Zstandard file", rb"\x28\xb5\x2f\xfd", "Unpack it: unzstd."),
    _binary("a 7z archive", rb"7z\xbc\xaf\x27\x1c", _UNPACK),
    _binary("a Parquet file", rb"PAR1[\x00-\x08\x0e-\x1f]", _AS_CSV),
    _binary("a SQLite database", rb"SQLite format 3\x00", f"{_AS_CSV} A graph file is served: --graph FILE."),
    _binary("an HDT file", rb"\$HDT", "Convert it to N-Triples: hdt2rdf."),
    _binary("a PDF document", rb"%PDF-", "Load the data, not the document."),
    _xml("GraphML", rb"graphml", _NETWORK),
    _xml("GEXF", rb"gexf", _NETWORK),
    _xml("OWL/XML", rb"Ontology", _ONTOLOGY),
    _xml("results of a SPARQL query", rb"sparql", _CONSTRUCT),
    _xml("PSI-MI XML", rb"entrySet", _NETWORK),
    _xml("SBML", rb"sbml", _NETWORK),
    _xml("an HTML page", rb"(?i:html)", _PAGE),
    _text("an HTML page", rb"<!DOCTYPE html\b", _PAGE),
    _text("OWL in functional syntax", rb"(?:Prefix|Ontology)\(", _ONTOLOGY),
    _text("OWL in Manchester syntax", rb"(?:Prefix:\s+[\w-]*:|Ontology:\s)", _ONTOLOGY),
    _text("a Pajek network", rb"(?:%[^\n]*\n\s*)*\*(?:Vertices|Network)\b", _NETWORK),
    _text("GML", rb"(?:(?:#|Creator|Version)[^\n]*\n\s*)*graph\s*\[", _NETWORK),
    _text("a DOT (Graphviz) graph", rb"(?:(?://|#)[^\n]*\n\s*)*(?:strict\s+)?(?:di)?graph[\w\"'. -]*\{", _NETWORK),
    _text("a Matrix Market file", rb"%%MatrixMarket", f"{_LINES}."),
    _text("an SQL dump", rb"(?:--[^\n]*\n\s*)*(?:CREATE TABLE|INSERT INTO|BEGIN TRANSACTION;|PRAGMA \w+=)", _AS_CSV),
    _text("a Cypher script", rb"(?::begin\n|CREATE \(|MERGE \(|CREATE CONSTRAINT )", _RUN),
    _text("a Markdown table", rb"\|[^\n]*\|[ \t]*\r?\n\|[ :|-]+\|", _AS_CSV),
)  # fmt: skip
"""Tried in this order."""

_SUFFIXES = {
    ".graphml": "GraphML", ".gexf": "GEXF", ".gml": "GML", ".net": "a Pajek network",
    ".xlsx": "an Excel workbook", ".xls": "an Excel workbook", ".dot": "a DOT (Graphviz) graph",
    ".gv": "a DOT (Graphviz) graph", ".cyjs": "Cytoscape's JSON", ".cx": "Cytoscape's CX", ".cx2": "Cytoscape's CX",
    ".mtx": "a Matrix Market file", ".ofn": "OWL in functional syntax", ".omn": "OWL in Manchester syntax",
    ".owx": "OWL/XML", ".hdt": "an HDT file", ".parquet": "a Parquet file", ".zip": "a ZIP archive",
    ".tar": "a tar archive", ".tgz": "a tar archive", ".bz2": "a bzip2 file", ".xz": "an xz file",
    ".zst": "a Zstandard file", ".sql": "an SQL dump", ".cypher": "a Cypher script",
    ".srj": "results of a SPARQL query", ".srx": "results of a SPARQL query", ".html": "an HTML page",
    ".pdf": "a PDF document",
}  # fmt: skip
"""What files with these suffixes are, for those whose first bytes do not show it."""

_NEXT_STEPS = {each.name: each.next_step for each in OTHER_FORMATS}


def refuse_other_formats(path: Path, form: Format | None, start: bytes) -> None:
    """Refuses a file that begins (`start`) as one in a format that is not loaded, or that has such a suffix.

    `form`: the format that the user states or that the suffix stands for; None if it is unknown.

    Raises:
        LoadError: it is such a file. The message says which format it looks like.
    """
    start = start[:_LOOKED_AT].removeprefix(b"\xef\xbb\xbf")
    for other in OTHER_FORMATS:
        if other.begins.match(start):
            raise _refusal(path, other.name, other.next_step)
    suffix = path.suffix.lower()
    if suffix == ".gz":
        suffix = Path(path.stem).suffix.lower()
    if suffix == ".lgl" or (form not in RDF_FORMATS and _is_lgl(start)):
        raise _refusal(path, "LGL, an adjacency list, which has no directed edges", _NETWORK)
    if form is None and suffix in _SUFFIXES:
        name = _SUFFIXES[suffix]
        raise _refusal(path, name, _NEXT_STEPS.get(name, _NETWORK))
    if form in {None, Format.APOC, Format.JSON_LD} and start.lstrip()[:1] in {b"{", b"["}:
        _refuse_other_json(path, form, start.lstrip())


def _refusal(path: Path, name: str, next_step: str) -> LoadError:
    return LoadError(
        f"{path.name} looks like {name}, which is not loaded", next_step=next_step.replace("FILE", path.name)
    )


_LGL_NODE = re.compile(r"# ?(\S+)")
_LGL_NEIGHBOR = re.compile(r"\S+( [+-]?[0-9.]+(e[+-]?[0-9]+)?)?", re.IGNORECASE)


def _is_lgl(start: bytes) -> bool:
    """Whether these are two blocks or more of a node (`# a`) and its neighbours, maybe with weights (`b 0.5`)."""
    if not start.startswith(b"#"):
        return False
    lines = start[:4096].decode("utf-8", "replace").splitlines()[: -1 if len(start) > 4096 else None]
    nodes = [place for place, line in enumerate(lines) if line.startswith("#")]
    blocks = sum(after - place > 1 for place, after in zip(nodes, [*nodes[1:], len(lines)], strict=True))
    return blocks > 1 and all((_LGL_NODE if line[:1] == "#" else _LGL_NEIGHBOR).fullmatch(line) for line in lines)


_UNDIRECTED = re.compile(rb'"directed"\s*:\s*false')
_APOC_ENTRY = re.compile(rb'"type"\s*:\s*"(node|relationship)"')
_GRAPHSON = re.compile(rb'"@type"\s*:\s*"(tinker|g):|"(in|out)V"\s*:')
_JSON_LD_KEY = re.compile(rb'"(@|[A-Za-z][\w.+-]*:[^"\s]*"\s*:)')
"""A keyword, or a property given by its IRI."""
_BY_KEYS = (
    ("node-link JSON", {"nodes", "links"}, _NETWORK),
    ("node-link JSON", {"nodes", "edges"}, _NETWORK),
    ("JSON Graph Format", {"graph"}, _NETWORK),
    ("JSON Graph Format", {"graphs"}, _NETWORK),
    ("Cytoscape's JSON", {"elements"}, _NETWORK),
    ("results of a SPARQL query", {"head", "results"}, _CONSTRUCT),
    ("GeoJSON", {"features"}, "Its features have no edges."),
)
"""Formats of JSON by keys of the outermost object."""


def is_obo_graph(text: bytes) -> bool:
    """Whether a JSON document is an ontology in the form of OBO Graphs."""
    keys = _top_keys(text.decode("utf-8", "replace"))
    return "graphs" in keys and "@graph" not in keys and re.search(rb'"(lbl|pred|sub)"\s*:', text) is not None


def _refuse_other_json(path: Path, form: Format | None, text: bytes) -> None:
    keys = _top_keys(text.decode("utf-8", "replace"))
    if form is not Format.JSON_LD and "type" in keys and _APOC_ENTRY.search(text):
        return
    if is_obo_graph(text):
        return
    if _GRAPHSON.search(text):
        raise _refusal(path, "GraphSON", _NETWORK)
    if b'"@context"' in text or b'"@id"' in text:
        return
    for name, required, next_step in _BY_KEYS:
        if keys >= required:
            undirected = " of an undirected graph" if _UNDIRECTED.search(text) else ""
            raise _refusal(path, f"{name}{undirected}", next_step)
    if b'"claims"' in text and b'"labels"' in text:
        raise _refusal(path, "Wikidata's JSON", "Load an export in Turtle or N-Triples, or serve Wikidata itself.")
    if (name := _unknown_json(form, text)) is not None:
        raise _refusal(path, name, _JSON_LINES)


def _unknown_json(form: Format | None, text: bytes) -> str | None:
    """What JSON of no known format looks like; None if it may be what `form` says."""
    if form is Format.JSON_LD:
        return None if _JSON_LD_KEY.search(text) else "JSON without the keywords of JSON-LD, such as @context"
    if text.startswith(b"["):
        return "a JSON array"
    return "JSON over several lines" if len(text.partition(b"\n")[0].strip()) == 1 else None


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"(\s*:)?|[\[\]{}]')


def _top_keys(text: str) -> frozenset[str]:
    """The keys of the outermost object that this beginning of JSON shows; none if it is an array."""
    keys: set[str] = set()
    depth = 0
    for token in _TOKEN.finditer(text):
        first = token[0][0]
        if first in "{[":
            depth += 1
        elif first in "}]":
            depth -= 1
        elif token[1] and depth == 1:
            keys.add(cast("str", json.loads(token[0][: -len(token[1])])))
    return frozenset(keys) if text.startswith("{") else frozenset()
