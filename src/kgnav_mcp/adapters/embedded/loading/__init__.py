"""The loader: RDF, tables of triples and property graphs into one graph file. `load` is all of it."""

from kgnav_mcp.adapters.embedded.loading.loader import load
from kgnav_mcp.adapters.embedded.loading.options import (
    LoadOptions,
    LoadReport,
    Progress,
    ProgressListener,
)
from kgnav_mcp.adapters.embedded.loading.sources import FORMATS

__all__ = ["FORMATS", "LoadOptions", "LoadReport", "Progress", "ProgressListener", "load"]
