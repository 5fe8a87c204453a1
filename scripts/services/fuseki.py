"""Apache Jena Fuseki from Maven: an RDF store in Java with a strict SPARQL 1.1 endpoint.

Its behaviour was observed on version 5.6.0 with Java 17. The database is TDB2: what was loaded is kept at the next
start. A file with an error is refused whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlencode

from . import maven_jars
from .maven_jars import Artifact
from .rdf_server import RdfServer

_VERSION = "5.6.0"
"""The newest release that runs on Java 17."""
_SERVER = (
    Artifact("org.apache.jena", "jena-fuseki-main", _VERSION),
    # The server does not start without it, but does not name it as a dependency.
    Artifact("org.apache.logging.log4j", "log4j-slf4j2-impl", "2.25.2"),
)
_MAIN = "org.apache.jena.fuseki.main.cmds.FusekiMainCmd"
_DATASET = "/ds"


class Fuseki(RdfServer):
    """Fuseki 5: Apache Jena's SPARQL server."""

    name: ClassVar[str] = "fuseki"
    query_path: ClassVar[str] = f"{_DATASET}/query"

    def command(self, port: int, data: Path) -> Sequence[str]:
        server = maven_jars.ensure(jars(), _SERVER)
        place = (f"--port={port}", "--localhost", "--tdb2", "--loc", str(data), "--update", "--quiet", _DATASET)
        return ("java", "-Xmx1g", "-cp", f"{server}/*", _MAIN, *place)

    def graph_path(self, graph: str | None) -> str:
        return f"{_DATASET}/data?{'default' if graph is None else urlencode({'graph': graph})}"

    def dataset_path(self) -> str:
        return f"{_DATASET}/data"


def jars() -> Path:
    """The folder of the server's jars, which may not exist yet."""
    return maven_jars.cache("fuseki", _VERSION) / "server"
