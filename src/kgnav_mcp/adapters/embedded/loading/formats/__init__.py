"""The formats of sources: how each is recognised and read.

A module contains one format, or several of the same notation.

The first entry whose `begins` accepts the first bytes of a file is its format. If none does, its suffix decides.
"""

from __future__ import annotations

from kgnav_mcp.adapters.embedded.loading.formats import (
    apoc,
    databases,
    dot,
    json_networks,
    obo,
    obographs,
    rdf,
    refused,
    tables,
    text_networks,
    wikidata_json,
    xml_networks,
)
from kgnav_mcp.adapters.embedded.loading.sources import FileFormat

FORMATS: tuple[FileFormat, ...] = (
    tables.WORKBOOK,
    tables.PARQUET,
    tables.FEATHER,
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
    json_networks.CYTOSCAPE,
    json_networks.NODE_LINK,
    json_networks.JSON_GRAPH,
    *refused.JSON,
    xml_networks.GRAPHML,
    xml_networks.GEXF,
    text_networks.GML,
    text_networks.PAJEK,
    dot.DOT,
    *tables.TABLES,
)
"""All formats, loaded or refused, in the order in which they are tried."""

LOADED = tuple(form for form in FORMATS if not form.refuse)
BY_SUFFIX = {suffix: form for form in reversed(FORMATS) for suffix in form.suffixes}

_BY_NAME = {form.name: form for form in LOADED}


def format_named(name: str) -> FileFormat:
    """Returns the format that is loaded under a name.

    Raises:
        KeyError: no format has this name.
    """
    return _BY_NAME[name]
