"""Real stores for tests: each worker of a test run has instances of its own.

They are started and stopped by `scripts/service` as a person does, and filled by what that script calls, in this
process: a new one for each file would import a driver each time.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import ClassVar, TypeVar

import pytest
from scripts.services import blazegraph as blazegraph_service
from scripts.services import fuseki as fuseki_service
from scripts.services import pypi
from scripts.services import rdf4j as rdf4j_service
from scripts.services.cli import STORES
from scripts.services.failure import ServiceError
from scripts.services.service import GraphStore
from scripts.services.service import Service as Store

from tests import service_guard

SCRIPT = Path(__file__).parents[1] / "scripts" / "service"


S = TypeVar("S", bound="Service")

SHORT_LIVED = {
    "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:CompileThresholdScaling=0.5 -XX:+UseSerialGC -Xmn256m "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
}
"""Environment of a Java server that lives for minutes: it is done sooner if Java compiles less, but early, and
trusts the jars."""
WATCHED_S = 40
"""How long a query is watched: less than the 60 seconds that the store gives one of whose time nothing is said."""


class Service:
    """One instance of a store with a home of its own. What fails is a `ServiceError` with what the script says."""

    store: ClassVar[str]

    def __init__(self, home: Path) -> None:
        self.home = home

    @cached_property
    def url(self) -> str:
        """Its address; the same after a restart."""
        return self._run("url").strip()

    @property
    def process(self) -> int:
        """The id of its process. Asking for it while it does not run is a fault of the test's."""
        process = self._pid()
        assert process is not None
        return process

    def start(self, *arguments: str, **variables: str) -> None:
        """Start it unless it runs, and wait until it answers."""
        self.url = self._run("start", *arguments, **variables).strip()

    def stop(self) -> None:
        """End it as an operator does, and wait."""
        self._run("stop")

    def kill(self) -> None:
        """End it as a crash does. What was loaded before stays; `start` brings it back."""
        os.kill(self.process, signal.SIGKILL)
        while self._pid():
            time.sleep(0.01)

    def remove(self) -> None:
        """Leave nothing behind: what it would write on its way out is not waited for."""
        service_guard.remove_service(self.home)

    def script(self, command: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """One command of `scripts/service` on this instance, whatever comes of it."""
        if command == "start":
            service_guard.watch(self.home)
        own = f"KGNAV_{self.store.upper()}_"
        environment = {name: value for name, value in os.environ.items() if not name.startswith(own)}
        return subprocess.run(
            [SCRIPT, self.store, command, "--home", self.home, *arguments],
            env={**environment, **variables},
            capture_output=True,
            text=True,
            check=False,
        )

    def _run(self, command: str, *arguments: str, **variables: str) -> str:
        done = self.script(command, *arguments, **variables)
        if done.returncode:
            raise ServiceError(done.stderr.strip() or done.stdout.strip())
        return done.stdout

    def _pid(self) -> int | None:
        return self._store().pid()

    def _store(self, *flags: str) -> Store:
        store = STORES[self.store](self.home)
        store.chosen = flags
        return store


class GraphService(Service):
    """A store of graphs."""

    def _graphs(self, *flags: str) -> GraphStore:
        store = self._store(*flags)
        assert isinstance(store, GraphStore)
        return store


class RdfService(GraphService):
    """A store of named graphs."""

    def load(self, path: Path, graph_iri: str | None = None) -> None:
        """Load a file into a graph; where none is named, into the default graph."""
        self._graphs().load([path], graph_iri)

    def load_text(self, name: str, turtle: str) -> str:
        """Load a graph of its own, written in Turtle; returns its location, with the prefix `ex`."""
        namespace = "http://ex.example/"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{name}.ttl"
            path.write_text(turtle, encoding="utf-8")
            self.load(path, f"{namespace}{name}")
        return f"sparql+{self.url}?default-graph-uri={namespace}{name}#prefix.ex={namespace}"

    def clear(self, graph_iri: str) -> None:
        """Empty a graph."""
        self._graphs().clear(graph_iri)


def _put(settings: Path, text: str) -> None:
    """Put a text in the place of a file, with a later time: within one second Virtuoso takes it for the same."""
    later = settings.stat().st_mtime + 2
    part = settings.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    os.utime(part, (later, later))
    part.replace(settings)


class Virtuoso(RdfService):
    """Virtuoso, which indexes the words of what it loads."""

    store: ClassVar[str] = "virtuoso"

    def load(self, path: Path, graph_iri: str | None = None) -> None:
        """Load a file into a graph, by a process of its own: it may start the server anew."""
        self._run("load", str(path), *(() if graph_iri is None else ("--graph-iri", graph_iri)))

    @contextmanager
    def limits(self, **limits: int) -> Generator[None]:
        """Other limits of its SPARQL endpoint in this block: it reads them anew for every query."""
        settings = self.home / "virtuoso.ini"
        usual = text = settings.read_text(encoding="utf-8")
        for name, value in limits.items():
            text, changed = re.subn(rf"(?m)^{name} = .*$", f"{name} = {value}", text)
            assert changed == 1, name
        _put(settings, text)
        try:
            yield
        finally:
            _put(settings, usual)

    def until(self, *, busy: bool) -> float:
        """Seconds until it works on a query, or on none, whoever waits for the answer."""
        began = time.monotonic()
        while self._is_busy() is not busy:
            assert time.monotonic() - began < WATCHED_S
            time.sleep(0.1)
        return time.monotonic() - began

    def _is_busy(self) -> bool:
        """Whether one of its threads runs beside the one that is asked."""
        kept = json.loads((self.home / "instance.json").read_text(encoding="utf-8"))
        command = ["isql-vt", f"127.0.0.1:{kept['sql_port']}", "dba", kept["password"], "VERBOSE=OFF"]
        said = subprocess.run(command, input="status('');\n", capture_output=True, text=True, check=True).stdout
        running = re.search(r"Currently (\d+) threads running", said)
        assert running, said
        return int(running[1]) > 1


class Oxigraph(RdfService):
    """Oxigraph, which loads into its default graph unless another is named."""

    store: ClassVar[str] = "oxigraph"

    def load_much(self, path: Path, graph_iri: str) -> None:
        """Load a large file without an error into a graph."""
        self._graphs("bulk").load([path], graph_iri)


class JavaRdfService(RdfService):
    """A store of named graphs that runs on Java."""

    def start(self, *arguments: str, **variables: str) -> None:
        super().start(*arguments, **SHORT_LIVED, **variables)


class Blazegraph(JavaRdfService):
    """Blazegraph, which loads into its default graph unless another is named."""

    store: ClassVar[str] = "blazegraph"


class Fuseki(JavaRdfService):
    """Fuseki, which loads into its default graph unless another is named."""

    store: ClassVar[str] = "fuseki"


class Rdf4j(JavaRdfService):
    """RDF4J, whose queries without a graph see all graphs."""

    store: ClassVar[str] = "rdf4j"


class Redis(Service):
    """Redis, which keeps all in memory."""

    store: ClassVar[str] = "redis"


@contextmanager
def running(service: S) -> Generator[S]:
    """A service that runs in this block, and leaves nothing behind."""
    try:
        service.start()
        yield service
    finally:
        service.remove()


def need_virtuoso() -> None:
    """Skip where Virtuoso is not installed. On CI it is never skipped: the script installs it or the test fails."""
    if not os.environ.get("CI") and not shutil.which("virtuoso-t"):
        pytest.skip("virtuoso-t is not installed; `scripts/service virtuoso start` installs it, as root, with apt-get")


@pytest.fixture(scope="session")
def virtuoso(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Virtuoso]:
    """A running Virtuoso, shared by the session: load into a graph of your own, and leave it running."""
    need_virtuoso()
    with running(Virtuoso(tmp_path_factory.mktemp("virtuoso"))) as service:
        yield service


@pytest.fixture
def own_virtuoso(tmp_path: Path) -> Iterator[Virtuoso]:
    """An instance of one test's own, not started yet, that may be stopped and killed."""
    need_virtuoso()
    service = Virtuoso(tmp_path / "own")
    try:
        yield service
    finally:
        service.remove()


def need_oxigraph() -> None:
    """Skip where Oxigraph is not installed. On CI it is never skipped: the script installs it or the test fails."""
    if not os.environ.get("CI") and not pypi.place("oxigraph").exists():
        pytest.skip("oxigraph is not installed; `scripts/service oxigraph start` installs it from PyPI, for itself")


@pytest.fixture(scope="session")
def oxigraph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oxigraph]:
    """A running Oxigraph, shared by the session: load into a graph of your own, and leave it running."""
    need_oxigraph()
    with running(Oxigraph(tmp_path_factory.mktemp("oxigraph"))) as service:
        yield service


@pytest.fixture
def own_oxigraph(tmp_path: Path) -> Iterator[Oxigraph]:
    """An instance of one test's own, not started yet, that may be stopped and killed."""
    need_oxigraph()
    service = Oxigraph(tmp_path / "own")
    try:
        yield service
    finally:
        service.remove()


def need_jars(store: str) -> None:
    """Skip where the jars of a store are missing. On CI it is never skipped: the script downloads them or it fails."""
    folders = {"blazegraph": blazegraph_service.jars, "fuseki": fuseki_service.jars, "rdf4j": rdf4j_service.jars}
    if not os.environ.get("CI") and not folders[store]().is_dir():
        pytest.skip(f"{store} is not there; `scripts/service {store} start` downloads it with Maven")


@contextmanager
def running_jars(service: S) -> Generator[S]:
    """A service from Maven that runs in this block; skipped where its jars are missing."""
    need_jars(service.store)
    with running(service):
        yield service


@pytest.fixture(scope="session")
def blazegraph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Blazegraph]:
    """A running Blazegraph, shared by the session: load into a graph of your own, and leave it running."""
    with running_jars(Blazegraph(tmp_path_factory.mktemp("blazegraph"))) as service:
        yield service


@pytest.fixture
def own_blazegraph(tmp_path: Path) -> Iterator[Blazegraph]:
    """An instance of one test's own, not started yet, that may be stopped and killed."""
    need_jars(Blazegraph.store)
    service = Blazegraph(tmp_path / "own")
    try:
        yield service
    finally:
        service.remove()


@pytest.fixture(scope="session")
def fuseki(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuseki]:
    """A running Fuseki, shared by the session: load into a graph of your own, and leave it running."""
    with running_jars(Fuseki(tmp_path_factory.mktemp("fuseki"))) as service:
        yield service


@pytest.fixture(scope="session")
def rdf4j(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rdf4j]:
    """A running RDF4J, shared by the session: load into a graph of your own, and leave it running."""
    with running_jars(Rdf4j(tmp_path_factory.mktemp("rdf4j"))) as service:
        yield service


def need_redis() -> None:
    """Skip where Redis is not installed. On CI it is never skipped: the script installs it or the test fails."""
    if not os.environ.get("CI") and not shutil.which("redis-server"):
        pytest.skip("redis-server is not installed; `scripts/service redis start` installs it, as root, with apt-get")


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running Redis, shared by the session: empty it before use, and leave it running."""
    need_redis()
    with running(Redis(tmp_path_factory.mktemp("redis"))) as service:
        yield service.url
