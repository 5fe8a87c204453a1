"""Oxigraph: an RDF store with a strict SPARQL 1.1 endpoint and RDF 1.2's statements about statements.

Its behaviour was observed on version 0.5.13. Files are loaded while it runs, by the Graph Store protocol: each of them
whole or, if it has an error, not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlencode

from . import pypi
from .instance import HOST
from .rdf_server import RdfServer

_PACKAGE = "oxigraph>=0.5.13,<0.6"
_PROGRAM = "oxigraph"
_LENIENT = "lenient"
"""Terms are not validated: real dumps have language tags and IRIs that the standards do not allow."""
_BULK = "no_transaction"


class Oxigraph(RdfServer):
    """Oxigraph: an RDF store with a SPARQL endpoint that keeps to the standard."""

    name: ClassVar[str] = "oxigraph"
    query_path: ClassVar[str] = "/query"
    flags: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "load": {"bulk": "three times as fast; where a file holds an error, a part of it may stay"}
    }

    def command(self, port: int, data: Path) -> Sequence[str]:
        program = pypi.ensure(_PROGRAM, _PACKAGE)
        return (str(program), "serve", "--location", str(data), "--bind", f"{HOST}:{port}")

    def graph_path(self, graph: str | None) -> str:
        return self._store("default" if graph is None else urlencode({"graph": graph}))

    def dataset_path(self) -> str:
        return self._store()

    def _store(self, *parameters: str) -> str:
        bulk = (_BULK,) if "bulk" in self.chosen else ()
        return f"/store?{'&'.join((*parameters, _LENIENT, *bulk))}"
