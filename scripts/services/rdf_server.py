"""An RDF store in a process of its own, into which files are sent over HTTP while it runs."""

from __future__ import annotations

import gzip
import http.client
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

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
from .process import DetachedProcess
from .service import GraphStore

_STOP_TIMEOUT, _LOAD_TIMEOUT = 60.0, 3_600.0
"""Maximum seconds to stop, and to load one file."""

_TRIPLES = {".nt": "application/n-triples", ".ttl": "text/turtle"}
_QUADS = {".nq": "application/n-quads", ".trig": "application/trig"}
_TYPES = {**_TRIPLES, **_QUADS}
_ZIPPED = ".gz"


def with_zipped(types: Iterable[str]) -> tuple[str, ...]:
    """The suffixes of files, plain and compressed."""
    plain = tuple(types)
    return (*plain, *(suffix + _ZIPPED for suffix in plain))


class RdfServer(GraphStore):
    """The part that such stores share; a subclass says how to start one and where it takes files."""

    name: ClassVar[str]
    """As in the command, and in the environment variable for its port."""
    query_path: ClassVar[str]
    """The path of its SPARQL endpoint."""
    types: ClassVar[Mapping[str, str]] = _TYPES
    """The media types of the files that it takes, by suffix."""
    graph: ClassVar[str | None] = None
    formats: ClassVar[tuple[str, ...]] = with_zipped(_TYPES)

    def __init__(self, home: Path) -> None:
        self._home = home
        self._data = home / "database"
        self._process = DetachedProcess(home / "process.id", self.mark(self._data), home / "output.log")

    @abstractmethod
    def command(self, port: int, data: Path) -> Sequence[str]:
        """The command that starts it, with its `mark` as one argument. Installs it if it is missing."""

    @abstractmethod
    def graph_path(self, graph: str | None) -> str:
        """The path for loading triples into a graph."""

    def deletion_path(self, graph: str | None) -> str:
        """The path for deleting a graph."""
        return self.graph_path(graph)

    def dataset_path(self) -> str:
        """The path for loading quads."""
        return self.graph_path(None)

    def reason(self, response: str) -> str:
        """The reason in a response that reports an error."""
        return response

    def mark(self, data: Path) -> str:
        """The argument of its command by which its process is recognized."""
        return str(data)

    def prepare(self, port: int) -> None:
        """Do what it needs before it answers queries. Called until it does; does nothing by default."""

    @property
    def url(self) -> str:
        with exclusive(self._home):
            return self._url(self._instance())

    def pid(self) -> int | None:
        return self._process.pid()

    def start(self) -> str:
        with exclusive(self._home):
            instance = self._instance()
            if self._process.pid() is None:
                self._launch(instance)
            address = f"{self._url(instance)}?query=ASK%7B%7D"

            def ready() -> bool:
                if answers(address):
                    return True
                self.prepare(instance.port)
                return False

            self._process.wait_until(ready, _STOP_TIMEOUT)
            return self._url(instance)

    def stop(self) -> bool:
        with exclusive(self._home):
            return self._process.stop(_STOP_TIMEOUT)

    def load(self, files: Sequence[Path], graph: str | None) -> None:
        """Load files into a graph while the store runs. Files of quads name their graphs themselves.

        Raises:
            ServiceError: it does not run, or a file is missing, has another format or an error. Of a file
                with an error nothing is loaded, unless the store says otherwise; the files before it are loaded.
        """
        checked_files(files, self.formats)
        for file in files:
            if graph is not None and _suffix(file) in _QUADS:
                raise ServiceError(f"{file} names its graphs itself; load it without --graph-iri")
        named = None if graph is None else checked_iri(graph)
        with exclusive(self._home):
            port = self._running()
            for file in files:
                suffix = _suffix(file)
                path = self.dataset_path() if suffix in _QUADS else self.graph_path(named)
                status, response = send(port, "POST", path, file, self.types[suffix])
                if status not in {http.client.OK, http.client.CREATED, http.client.NO_CONTENT}:
                    raise ServiceError(f"{file} could not be loaded: {self.reason(response)}")

    def clear(self, graph: str | None) -> None:
        named = None if graph is None else checked_iri(graph)
        with exclusive(self._home):
            status, response = send(self._running(), "DELETE", self.deletion_path(named))
            if status not in {http.client.OK, http.client.NO_CONTENT, http.client.NOT_FOUND}:  # not found: it is empty
                raise ServiceError(f"the graph could not be emptied: {self.reason(response)}")

    def _url(self, instance: Instance) -> str:
        return f"http://{HOST}:{instance.port}{self.query_path}"

    def _instance(self) -> Instance:
        return instance_of(self._home, f"KGNAV_{self.name.upper()}_PORT", runs=self._process.pid() is not None)

    def _launch(self, instance: Instance) -> None:
        if not is_free(instance.port):
            raise ServiceError(f"another program listens on port {instance.port} of this instance, {self._home}")
        self._data.mkdir(exist_ok=True)
        self._process.start(self.command(instance.port, self._data), self._home)

    def _running(self) -> int:
        instance = load_instance(self._home, Instance)
        if instance is None or self._process.pid() is None:
            raise ServiceError(f"it does not run; start it: scripts/service {self.name} start --home {self._home}")
        return instance.port


def send(
    port: int, method: str, path: str, body: Path | bytes | None = None, content_type: str | None = None
) -> tuple[int, str]:
    """Send one request, with a file as its body in chunks. Returns the status and the text of the response.

    Raises:
        ServiceError: the connection fails.
    """
    connection = http.client.HTTPConnection(HOST, port, timeout=_LOAD_TIMEOUT)
    headers = {} if content_type is None else {"Content-Type": content_type}
    try:
        if isinstance(body, Path):
            with gzip.open(body) if body.name.endswith(_ZIPPED) else body.open("rb") as file:
                connection.request(method, path, file, {**headers, "Transfer-Encoding": "chunked"}, encode_chunked=True)
        else:
            connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace").strip()
    except (http.client.HTTPException, OSError) as error:
        raise ServiceError(f"it broke off: {error}") from error
    finally:
        connection.close()


def _suffix(file: Path) -> str:
    return Path(file.name.removesuffix(_ZIPPED)).suffix
