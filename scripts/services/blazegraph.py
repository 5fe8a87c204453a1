"""Blazegraph: the RDF store that Wikidata's query service runs, from Maven.

Its behaviour was observed on version 2.1.4 with Java 17. It stores quads, so that one instance holds many graphs, and
has no text index, as in Wikidata's query service. Files are loaded while it runs, each of them whole or, if it has an
error, not at all.
"""

from __future__ import annotations

import gzip
import http.client
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlencode

from . import maven_jars
from .failure import ServiceError
from .instance import (
    HOST,
    Instance,
    answers,
    checked_files,
    checked_iri,
    exclusive,
    instance_of,
    is_free,
    load_instance,
)
from .maven_jars import Artifact
from .process import DetachedProcess
from .service import GraphStore

_VERSION = "2.1.4"
"""The newest one published to Maven."""
_SERVER = (Artifact("com.blazegraph", "blazegraph-jar", _VERSION),)
_PORT = "KGNAV_BLAZEGRAPH_PORT"
_PATH = "/blazegraph/namespace/kb/sparql"
"""The path of the instance's only database."""

_STOP_TIMEOUT, _LOAD_TIMEOUT = 60.0, 3_600.0
"""Most seconds to stop, and to load one file."""

_OPENED = ("java.lang", "java.nio", "java.util", "jdk.internal.ref", "sun.nio.ch")
"""Java's packages that it reads by reflection, which Java allows only on request since version 17."""
_MAIN = "com.bigdata.rdf.sail.webapp.NanoSparqlServer"
_PROPERTIES = """\
com.bigdata.journal.AbstractJournal.file={journal}
com.bigdata.journal.AbstractJournal.bufferMode=DiskRW
com.bigdata.rdf.store.AbstractTripleStore.quads=true
com.bigdata.rdf.store.AbstractTripleStore.textIndex=false
com.bigdata.rdf.store.AbstractTripleStore.statementIdentifiers=false
com.bigdata.rdf.store.AbstractTripleStore.axiomsClass=com.bigdata.rdf.axioms.NoAxioms
com.bigdata.rdf.sail.truthMaintenance=false
"""
_TYPES = {".nt": "text/turtle", ".ttl": "text/turtle"}
"""N-Triples are given as Turtle, which includes them: its own parser of N-Triples refuses what the standard allows."""
_ZIPPED = ".gz"
_DEFAULT = "http://www.bigdata.com/rdf#nullGraph"
"""The name under which it stores the triples of its default graph."""


class Blazegraph(GraphStore):
    """Blazegraph: the RDF store that Wikidata's query service runs."""

    graph: ClassVar[str | None] = None
    formats: ClassVar[tuple[str, ...]] = (*_TYPES, *(name + _ZIPPED for name in _TYPES))

    def __init__(self, home: Path) -> None:
        self._home = home
        self._properties = home / "server.properties"
        self._process = DetachedProcess(home / "process.id", str(self._properties), home / "output.log")

    @property
    def url(self) -> str:
        with exclusive(self._home):
            return _url(self._instance())

    def pid(self) -> int | None:
        return self._process.pid()

    def start(self) -> str:
        (jar,) = maven_jars.ensure(jars(), _SERVER).glob("*.jar")
        with exclusive(self._home):
            instance = self._instance()
            if self._process.pid() is None:
                self._launch(jar, instance)
            address = f"{_url(instance)}?query=ASK%7B%7D"
            self._process.wait_until(lambda: answers(address), _STOP_TIMEOUT)
            return _url(instance)

    def stop(self) -> bool:
        with exclusive(self._home):
            return self._process.stop(_STOP_TIMEOUT)

    def load(self, files: Sequence[Path], graph: str | None) -> None:
        """Load files into a graph while the store runs.

        Raises:
            ServiceError: it does not run, or a file is missing, has another format or an error. Of a file
                with an error nothing is loaded; the files before it are loaded.
        """
        checked_files(files, self.formats)
        named = None if graph is None else checked_iri(graph)
        with exclusive(self._home):
            instance = self._running()
            for file in files:
                target = {} if named is None else {"context-uri": named}
                status, response = _send(instance, "POST", target, file)
                if status != http.client.OK:
                    raise ServiceError(f"{file} could not be loaded: {_reason(response)}")

    def clear(self, graph: str | None) -> None:
        named = _DEFAULT if graph is None else checked_iri(graph)
        with exclusive(self._home):
            status, response = _send(self._running(), "DELETE", {"c": f"<{named}>"})
            if status != http.client.OK:
                raise ServiceError(f"the graph could not be emptied: {_reason(response)}")

    def _instance(self) -> Instance:
        return instance_of(self._home, _PORT, runs=self._process.pid() is not None)

    def _launch(self, jar: Path, instance: Instance) -> None:
        if not is_free(instance.port):
            raise ServiceError(f"another program listens on port {instance.port} of this instance, {self._home}")
        self._properties.write_text(_PROPERTIES.format(journal=self._home / "database.jnl"), encoding="utf-8")
        web = f"jar:{jar.as_uri()}!/war"
        properties = {
            "file.encoding": "UTF-8",
            "jetty.host": HOST,
            "jetty.home": web,
            "jetty.overrideWebXml": f"{web}/WEB-INF/override-web.xml",
        }
        command = ["java", "-Xmx1g"]
        command += [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED]
        command += [f"-D{name}={value}" for name, value in properties.items()]
        command += ["-cp", str(jar), _MAIN, str(instance.port), "kb", str(self._properties)]
        self._process.start(command, self._home)

    def _running(self) -> Instance:
        instance = load_instance(self._home, Instance)
        if instance is None or self._process.pid() is None:
            raise ServiceError(f"it does not run; start it: scripts/service blazegraph start --home {self._home}")
        return instance


def jars() -> Path:
    """The folder of the server's jar, which may not exist yet."""
    return maven_jars.cache("blazegraph", _VERSION) / "server"


def _url(instance: Instance) -> str:
    return f"http://{HOST}:{instance.port}{_PATH}"


def _reason(response: str) -> str:
    """The first line of a Java exception in a response, without the request that is repeated before it."""
    lines = response.splitlines()
    return next((line for line in lines if "Exception: " in line), response).rpartition("Exception: ")[2]


def _send(instance: Instance, method: str, target: dict[str, str], file: Path | None = None) -> tuple[int, str]:
    """Send one request, with a file as its body in chunks. Returns the status and the text of the response."""
    connection = http.client.HTTPConnection(HOST, instance.port, timeout=_LOAD_TIMEOUT)
    path = f"{_PATH}?{urlencode(target)}"
    try:
        if file is None:
            connection.request(method, path)
        else:
            headers = {
                "Content-Type": _TYPES[Path(file.name.removesuffix(_ZIPPED)).suffix],
                "Transfer-Encoding": "chunked",
            }
            with gzip.open(file) if file.name.endswith(_ZIPPED) else file.open("rb") as body:
                connection.request(method, path, body, headers, encode_chunked=True)
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace").strip()
    except (http.client.HTTPException, OSError) as error:
        raise ServiceError(f"it broke off: {error}") from error
    finally:
        connection.close()
