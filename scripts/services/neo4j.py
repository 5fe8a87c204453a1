"""Neo4j Community from Maven: a server without Docker and without a system service.

Its behaviour was observed on version 5.26.30 with Java 17.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from . import neo4j_jars
from .failure import ServiceError
from .instance import (
    HOST,
    Instance,
    checked_files,
    exclusive,
    free_port,
    is_free,
    load_instance,
    save_instance,
    wanted_port,
)
from .process import DetachedProcess
from .service import GraphStore

_PORT = "KGNAV_NEO4J_PORT"
_PASSWORD = "KGNAV_NEO4J_PASSWORD"  # noqa: S105 - the name of a variable
"""If it is set at the first start, its value is the password of the instance's only user, `neo4j`, from then on."""

_STOP_TIMEOUT = 60.0
"""Maximum seconds to stop."""

_MAIN = Path(__file__).with_name("Neo4jServer.java")
_JAVA = (
    "java",
    "-Xmx1g",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
)
_PYTHON = Path(__file__).parents[2] / ".venv" / "bin" / "python"
_CONFIGURATION = """\
server.bolt.enabled=true
server.bolt.listen_address={host}:{port}
server.bolt.advertised_address={host}:{port}
server.http.enabled=false
server.https.enabled=false
server.memory.pagecache.size=512m
dbms.security.auth_enabled={secured}
dbms.security.procedures.unrestricted=apoc.*
dbms.usage_report.enabled=false
internal.server.bolt.thread_pool_shutdown_wait_time=1s
"""
"""By default, stopping waits for threads that wait for clients, and so takes eight seconds longer."""
_HELLO = bytes.fromhex("6060b017 00000005 00000004 00000000 00000000")
"""Bolt's handshake: the magic number, and the major versions that the client supports."""
_ANSWER = 4


@dataclass(frozen=True)
class _Instance(Instance):
    """`secured`: whether the password has been set on the server."""

    password: str = ""
    secured: bool = False


class Neo4j(GraphStore):
    """Neo4j 5.26 Community: a property graph store that speaks Bolt."""

    graph: ClassVar[str | None] = None
    data: ClassVar[str | None] = "data"
    formats: ClassVar[tuple[str, ...]] = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
    flags: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "start": {"apoc": "with the APOC procedures"},
        "load": {"no-full-text": "make no full-text index of the nodes' names"},
    }

    def __init__(self, home: Path) -> None:
        self._home = home
        self._log = home / "output.log"
        self._ready = home / "ready"
        self._process = DetachedProcess(home / "process.id", str(home), self._log)

    @property
    def url(self) -> str:
        """The URL for clients, the same at every start."""
        with exclusive(self._home):
            return _url(self._instance())

    def pid(self) -> int | None:
        """Its process id; None if it does not run."""
        return self._process.pid()

    def start(self) -> str:
        """Start it unless it runs, wait until it answers clients, and return its URL.

        Raises:
            ServiceError: it cannot be downloaded, its port is in use, or it ended or hangs.
        """
        main, server = neo4j_jars.entry_point(_MAIN), neo4j_jars.server()
        plugins = neo4j_jars.apoc() if "apoc" in self.chosen else None
        with exclusive(self._home):
            instance = self._instance()
            if self._process.pid() is None:
                self._launch(instance, main, server, plugins)
            self._process.wait_until(lambda: self._ready.exists() and _speaks_bolt(instance.port), _STOP_TIMEOUT)
            if not instance.secured:
                save_instance(self._home, replace(instance, secured=True))
            return _url(instance)

    def stop(self) -> bool:
        """Stop it and wait until it has ended. Returns whether it was running.

        Raises:
            ServiceError: it does not end.
        """
        with exclusive(self._home):
            return self._process.stop(_STOP_TIMEOUT)

    def load(self, files: Sequence[Path], graph: str | None) -> None:  # noqa: ARG002 - there is only one graph
        """Load node and edge files, with a unique constraint on the ids of every label, and index the names.

        Raises:
            ServiceError: it does not run, or a file is missing or wrong. Earlier lines may already have been loaded.
        """
        checked_files(files, self.formats)
        _with_packages()
        from .neo4j_load import load  # noqa: PLC0415 - needs packages

        with exclusive(self._home):
            instance = self._running()
            load(_url(instance), instance.password, files, full_text="no-full-text" not in self.chosen)

    def clear(self, graph: str | None) -> None:  # noqa: ARG002 - as above
        """Delete every node, relationship, constraint and index.

        Raises:
            ServiceError: it does not run.
        """
        _with_packages()
        from .neo4j_load import clear  # noqa: PLC0415 - needs packages

        with exclusive(self._home):
            instance = self._running()
            clear(_url(instance), instance.password)

    def _instance(self) -> _Instance:
        known = load_instance(self._home, _Instance)
        instance = known or _Instance(free_port(), password=os.environ.get(_PASSWORD, ""))
        port = wanted_port(_PORT)
        if port is not None and self._process.pid() is None:  # a running instance keeps its port
            instance = replace(instance, port=port)
        if instance != known:
            save_instance(self._home, instance)
        return instance

    def _launch(self, instance: _Instance, main: Path, server: Path, plugins: Path | None) -> None:
        if not is_free(instance.port):
            raise ServiceError(f"another program listens on port {instance.port} of this instance, {self._home}")
        self._ready.unlink(missing_ok=True)
        own = self._home / "plugins"
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir()
        for jar in plugins.iterdir() if plugins else ():
            (own / jar.name).symlink_to(jar)
        configuration = self._home / "conf" / "neo4j.conf"
        configuration.parent.mkdir(exist_ok=True)
        secured = str(bool(instance.password)).lower()
        configuration.write_text(
            _CONFIGURATION.format(host=HOST, port=instance.port, secured=secured), encoding="utf-8"
        )
        # Plugins are on the class path, too: with Neo4j's own plugin loader, APOC prevents the start.
        command = [*_JAVA, "-cp", f"{main}:{server}/*:{own}/*", _MAIN.stem, str(self._home)]
        secret = {} if instance.secured else {_PASSWORD: instance.password}
        self._process.start(command, self._home, secret)

    def _running(self) -> _Instance:
        instance = load_instance(self._home, _Instance)
        if instance is None or self._process.pid() is None:
            raise ServiceError(f"it does not run; start it: scripts/service neo4j start --home {self._home}")
        return instance


def _url(instance: Instance) -> str:
    return f"bolt://{HOST}:{instance.port}"


def _speaks_bolt(port: int) -> bool:
    """Whether a server at this port answers Bolt's handshake with a version."""
    try:
        with socket.create_connection((HOST, port), timeout=5) as connection:
            connection.sendall(_HELLO)
            return any(connection.recv(_ANSWER))
    except OSError:
        return False


def _with_packages() -> None:
    """Make sure that the driver and the project can be imported; if not, restart with the checkout's own Python.

    Raises:
        ServiceError: that Python does not have them, either.
    """
    if all(find_spec(package) for package in ("neo4j", "kgnav_mcp")):
        return
    if _PYTHON.is_file() and Path(sys.prefix) != _PYTHON.parents[1]:
        os.execv(_PYTHON, [str(_PYTHON), *sys.argv])  # noqa: S606 - the very same command
    raise ServiceError("loading needs the project: pip install .")
