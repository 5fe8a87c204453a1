"""Eclipse RDF4J Server from Maven, served by Jetty: an RDF store in Java.

Its behaviour was observed on version 4.1.3 with Java 17. It has one repository, a native store: what was loaded is
kept at the next start. A file with an error is refused whole. A query that names no graph sees all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlencode

from . import maven_jars
from .failure import ServiceError
from .instance import HOST, accepts
from .maven_jars import Artifact
from .rdf_server import RdfServer, send

_VERSION = "4.1.3"
"""The newest release that Maven Central has as a war."""
_SERVER = (
    Artifact("org.eclipse.rdf4j", "rdf4j-http-server", _VERSION, type="war"),
    Artifact("org.eclipse.jetty", "jetty-runner", "9.4.48.v20220622", transitive=False),
)
_PATH = "/rdf4j-server"
_REPOSITORY = f"{_PATH}/repositories/graph"
_CONFIGURATION = """\
@prefix rep: <http://www.openrdf.org/config/repository#> .
@prefix sr: <http://www.openrdf.org/config/repository/sail#> .
@prefix sail: <http://www.openrdf.org/config/sail#> .
@prefix ns: <http://www.openrdf.org/config/sail/native#> .
[] a rep:Repository ; rep:repositoryID "graph" ; rep:repositoryImpl [
  rep:repositoryType "openrdf:SailRepository" ;
  sr:sailImpl [ sail:sailType "openrdf:NativeStore" ; ns:tripleIndexes "spoc,posc,ospc,cspo" ]
] .
"""


class Rdf4j(RdfServer):
    """RDF4J Server 4: Eclipse's SPARQL server."""

    name: ClassVar[str] = "rdf4j"
    query_path: ClassVar[str] = _REPOSITORY

    def command(self, port: int, data: Path) -> Sequence[str]:
        files = maven_jars.ensure(jars(), _SERVER)
        runner, war = next(files.glob("jetty-runner-*.jar")), next(files.glob("*.war"))
        java = ("java", "-Xmx1g", f"-Djava.io.tmpdir={data.parent}", self.mark(data), "-jar", str(runner))
        return (*java, "--host", HOST, "--port", str(port), "--path", _PATH, str(war))

    def mark(self, data: Path) -> str:
        return f"-Dorg.eclipse.rdf4j.appdata.basedir={data}"

    def prepare(self, port: int) -> None:
        """Create the repository, unless it is there."""
        if accepts(port):
            with suppress(ServiceError):  # it is still starting
                send(port, "PUT", _REPOSITORY, _CONFIGURATION.encode(), "text/turtle")

    def graph_path(self, graph: str | None) -> str:
        return f"{_REPOSITORY}/statements?{urlencode({'context': 'null' if graph is None else f'<{graph}>'})}"

    def dataset_path(self) -> str:
        return f"{_REPOSITORY}/statements"


def jars() -> Path:
    """The folder of the server's jars, which may not exist yet."""
    return maven_jars.cache("rdf4j", _VERSION) / "server"
