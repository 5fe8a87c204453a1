"""Oxigraph: an RDF store with a strict SPARQL 1.1 endpoint and RDF 1.2's statements about statements.

Its behaviour was observed on version 0.5.13. Files are loaded while it runs, by the Graph Store protocol: each of them
whole or, if it has an error, not at all.
"""

from __future__ import annotations

import gzip
import http.client
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlencode

from . import pypi
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

_PACKAGE = "oxigraph>=0.5.13,<0.6"
_PROGRAM = "oxigraph"
_PORT = "KGNAV_OXIGRAPH_PORT"

_STOP_TIMEOUT, _LOAD_TIMEOUT = 60.0, 3_600.0
"""Most seconds to stop, and to load one file."""

_TRIPLES = {".nt": "application/n-triples", ".ttl": "text/turtle"}
_QUADS = {".nq": "application/n-quads", ".trig": "application/trig"}
_TYPES = {**_TRIPLES, **_QUADS}
_ZIPPED = ".gz"
_LENIENT = "lenient"
"""Terms are not validated: real dumps have language tags and IRIs that the standards do not allow."""
_BULK = "no_transaction"


class Oxigraph(GraphStore):
    """Oxigraph: an RDF store with a SPARQL endpoint that keeps to the standard."""

    graph: ClassVar[str | None] = None
    formats: ClassVar[tuple[str, ...]] = (*_TYPES, *(name + _ZIPPED for name in _TYPES))
    flags: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "load": {"bulk": "three times as fast; where a file holds an error, a part of it may stay"}
    }

    def __init__(self, home: Path) -> None:
        self._home = home
        self._database = home / "database"
        self._log = home / "output.log"
        self._process = DetachedProcess(home / "process.id", str(self._database), self._log)

    @property
    def url(self) -> str:
        with exclusive(self._home):
            return _url(self._instance())

    def pid(self) -> int | None:
        return self._process.pid()

    def start(self) -> str:
        program = pypi.ensure(_PROGRAM, _PACKAGE)
        with exclusive(self._home):
            instance = self._instance()
            if self._process.pid() is None:
                self._launch(program, instance)
            address = f"{_url(instance)}?query=ASK%7B%7D"
            self._process.wait_until(lambda: answers(address), _STOP_TIMEOUT)
            return _url(instance)

    def stop(self) -> bool:
        with exclusive(self._home):
            return self._process.stop(_STOP_TIMEOUT)

    def load(self, files: Sequence[Path], graph: str | None) -> None:
        """Load files into a graph while the store runs. Files of quads name their graphs themselves.

        Raises:
            ServiceError: it does not run, or a file is missing, has another format or an error. Of a file
                with an error nothing is loaded, except in bulk; the files before it are loaded.
        """
        checked_files(files, self.formats)
        for file in files:
            if graph is not None and _suffix(file) in _QUADS:
                raise ServiceError(f"{file} names its graphs itself; load it without --graph-iri")
        named = None if graph is None else checked_iri(graph)
        with exclusive(self._home):
            instance = self._running()
            for file in files:
                self._load(instance, file, named)

    def clear(self, graph: str | None) -> None:
        named = None if graph is None else checked_iri(graph)
        with exclusive(self._home):
            status, response = _send(self._running(), "DELETE", _place(named))
            if status not in {http.client.NO_CONTENT, http.client.NOT_FOUND}:  # a graph that does not exist is empty
                raise ServiceError(f"the graph could not be emptied: {response}")

    def _instance(self) -> Instance:
        return instance_of(self._home, _PORT, runs=self._process.pid() is not None)

    def _launch(self, program: Path, instance: Instance) -> None:
        if not is_free(instance.port):
            raise ServiceError(f"another program listens on port {instance.port} of this instance, {self._home}")
        address = f"{HOST}:{instance.port}"
        command = [str(program), "serve", "--location", str(self._database), "--bind", address]
        self._process.start(command, self._home)

    def _load(self, instance: Instance, file: Path, graph: str | None) -> None:
        suffix = _suffix(file)
        path = f"/store?{_LENIENT}" if suffix in _QUADS else f"{_place(graph)}&{_LENIENT}"
        if "bulk" in self.chosen:
            path += f"&{_BULK}"
        status, response = _send(instance, "POST", path, file, _TYPES[suffix])
        if status not in {http.client.OK, http.client.CREATED, http.client.NO_CONTENT}:
            raise ServiceError(f"{file} could not be loaded: {response}")

    def _running(self) -> Instance:
        instance = load_instance(self._home, Instance)
        if instance is None or self._process.pid() is None:
            raise ServiceError(f"it does not run; start it: scripts/service oxigraph start --home {self._home}")
        return instance


def _url(instance: Instance) -> str:
    return f"http://{HOST}:{instance.port}/query"


def _place(graph: str | None) -> str:
    """The URL path of a graph in the Graph Store protocol."""
    return "/store?default" if graph is None else f"/store?{urlencode({'graph': graph})}"


def _suffix(file: Path) -> str:
    return Path(file.name.removesuffix(_ZIPPED)).suffix


def _send(
    instance: Instance, method: str, path: str, file: Path | None = None, content_type: str | None = None
) -> tuple[int, str]:
    """Send one request, with a file as its body in chunks. Returns the status and the text of the response."""
    connection = http.client.HTTPConnection(HOST, instance.port, timeout=_LOAD_TIMEOUT)
    headers = {} if content_type is None else {"Content-Type": content_type}
    try:
        if file is None:
            connection.request(method, path, headers=headers)
        else:
            with gzip.open(file) if file.name.endswith(_ZIPPED) else file.open("rb") as body:
                connection.request(method, path, body, {**headers, "Transfer-Encoding": "chunked"}, encode_chunked=True)
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace").strip()
    except (http.client.HTTPException, OSError) as error:
        raise ServiceError(f"it broke off: {error}") from error
    finally:
        connection.close()
