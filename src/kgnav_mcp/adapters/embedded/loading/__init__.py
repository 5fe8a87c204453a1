"""The loader: `load` writes RDF, tables, networks, ontologies and property graphs into one graph file."""

from kgnav_mcp.adapters.embedded.loading.loader import load
from kgnav_mcp.adapters.embedded.loading.options import (
    LoadOptions,
    LoadReport,
    Progress,
    ProgressListener,
)

__all__ = ["LoadOptions", "LoadReport", "Progress", "ProgressListener", "load"]
