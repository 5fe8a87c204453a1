"""Blazegraph: the RDF store that Wikidata's query service runs, from Maven.

Its behaviour was observed on version 2.1.4 with Java 17. It stores quads, so that one instance holds many graphs, and
has no text index, as in Wikidata's query service. Files are loaded while it runs, each of them whole or, if it has an
error, not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlencode

from . import maven_jars
from .instance import HOST
from .maven_jars import Artifact
from .rdf_server import RdfServer, with_zipped

_VERSION = "2.1.4"
"""The newest one published to Maven."""
_SERVER = (Artifact("com.blazegraph", "blazegraph-jar", _VERSION),)
_PATH = "/blazegraph/namespace/kb/sparql"
"""The path of the instance's only database."""

_OPENED = ("java.lang", "java.nio", "java.util", "jdk.internal.ref", "sun.nio.ch")
"""Java's packages that it reads by reflection, which Java allows only on request since version 17."""
_MAIN = "com.bigdata.rdf.sail.webapp.NanoSparqlServer"
_PROPERTIES = """\
com.bigdata.journal.AbstractJournal.file={journal}
com.bigdata.journal.AbstractJournal.bufferMode=DiskRW
com.bigdata.rdf.store.AbstractTripleStore.quads=true
com.bigdata.rdf.store.AbstractTripleStore.inlineDateTimes=false
com.bigdata.rdf.store.AbstractTripleStore.textIndex=false
com.bigdata.rdf.store.AbstractTripleStore.statementIdentifiers=false
com.bigdata.rdf.store.AbstractTripleStore.axiomsClass=com.bigdata.rdf.axioms.NoAxioms
com.bigdata.rdf.sail.truthMaintenance=false
"""
_TYPES = {".nt": "text/turtle", ".ttl": "text/turtle"}
"""N-Triples are given as Turtle, which includes them: its own parser of N-Triples refuses what the standard allows."""
_DEFAULT = "http://www.bigdata.com/rdf#nullGraph"
"""The name under which it stores the triples of its default graph."""


class Blazegraph(RdfServer):
    """Blazegraph: the RDF store that Wikidata's query service runs."""

    name: ClassVar[str] = "blazegraph"
    query_path: ClassVar[str] = _PATH
    types: ClassVar[Mapping[str, str]] = _TYPES
    formats: ClassVar[tuple[str, ...]] = with_zipped(_TYPES)

    def command(self, port: int, data: Path) -> Sequence[str]:
        (jar,) = maven_jars.ensure(jars(), _SERVER).glob("*.jar")
        properties = _properties(data)
        properties.write_text(_PROPERTIES.format(journal=data / "database.jnl"), encoding="utf-8")
        web = f"jar:{jar.as_uri()}!/war"
        options = {
            "file.encoding": "UTF-8",
            "jetty.host": HOST,
            "jetty.home": web,
            "jetty.overrideWebXml": f"{web}/WEB-INF/override-web.xml",
        }
        command = ["java", "-Xmx1g"]
        command += [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED]
        command += [f"-D{name}={value}" for name, value in options.items()]
        return (*command, "-cp", str(jar), _MAIN, str(port), "kb", str(properties))

    def mark(self, data: Path) -> str:
        return str(_properties(data))

    def graph_path(self, graph: str | None) -> str:
        return _PATH if graph is None else f"{_PATH}?{urlencode({'context-uri': graph})}"

    def deletion_path(self, graph: str | None) -> str:
        return f"{_PATH}?{urlencode({'c': f'<{graph or _DEFAULT}>'})}"

    def reason(self, response: str) -> str:
        """The first line of a Java exception, without the request that is repeated before it."""
        lines = response.splitlines()
        return next((line for line in lines if "Exception: " in line), response).rpartition("Exception: ")[2]


def _properties(data: Path) -> Path:
    return data / "server.properties"


def jars() -> Path:
    """The folder of the server's jars, which may not exist yet."""
    return maven_jars.cache("blazegraph", _VERSION) / "server"
