"""The formats of sources. A format is one module here that says how it is recognised and read, and a line in FORMATS.

The first entry whose `begins` accepts the first bytes of a file is its format. If none does, its suffix decides.
"""

from __future__ import annotations

from kgnav_mcp.adapters.embedded.loading.formats import (
    apoc,
    columnar,
    cytoscape,
    databases,
    dot,
    gexf,
    gml,
    graphml,
    json_graph,
    node_link,
    obo,
    obographs,
    pajek,
    rdf,
    refused,
    tables,
    wikidata_json,
    workbooks,
)
from kgnav_mcp.adapters.embedded.loading.sources import FileFormat

FORMATS: tuple[FileFormat, ...] = (
    workbooks.WORKBOOK,
    columnar.PARQUET,
    columnar.FEATHER,
    databases.SQLITE,
    databases.DUCKDB,
    apoc.APOC_CSV,
    *refused.FILES,
    *rdf.SYNTAXES,
    obo.OBO_FILE,
    apoc.APOC_JSON,
    apoc.APOC,
    wikidata_json.WIKIDATA_JSON,
    obographs.OBOGRAPHS,
    *refused.JSON_BEFORE_JSON_LD,
    rdf.JSON_LD,
    cytoscape.CYTOSCAPE,
    node_link.NODE_LINK,
    json_graph.JSON_GRAPH,
    *refused.JSON,
    graphml.GRAPHML,
    gexf.GEXF,
    gml.GML,
    pajek.PAJEK,
    dot.DOT,
    *tables.TABLES,
)
"""All formats, loaded or refused, in the order in which they are tried."""

LOADED = tuple(form for form in FORMATS if not form.refuse)
BY_SUFFIX = {suffix: form for form in reversed(FORMATS) for suffix in form.suffixes}

_BY_NAME = {form.name: form for form in LOADED}


def format_named(name: str) -> FileFormat:
    """Returns the format that is loaded under a name. Raises KeyError if there is none."""
    return _BY_NAME[name]
