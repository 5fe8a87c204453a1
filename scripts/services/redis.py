"""Redis, in which several servers share trails. It runs in memory only: stopping it loses its content.

Its behaviour was observed on version 7.0.15, Debian's package.
"""

from __future__ import annotations

import socket
from pathlib import Path

from . import packages
from .failure import ServiceError
from .instance import HOST, Instance, exclusive, instance_of, is_free
from .process import DetachedProcess
from .service import Service

_PACKAGE = "redis-server"
_PROGRAM = "redis-server"
_PORT = "KGNAV_REDIS_PORT"

_STOP_TIMEOUT = 60.0
"""Maximum seconds to stop."""


class Redis(Service):
    """Redis: a store of keys and values in memory, for trails."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._process = DetachedProcess(home / "process.id", str(home), home / "output.log")

    @property
    def url(self) -> str:
        with exclusive(self._home):
            return _url(self._instance())

    def pid(self) -> int | None:
        return self._process.pid()

    def start(self) -> str:
        packages.ensure((_PROGRAM,), _PACKAGE)
        with exclusive(self._home):
            instance = self._instance()
            if self._process.pid() is None:
                self._launch(instance)
            self._process.wait_until(lambda: _answers_ping(instance.port), _STOP_TIMEOUT)
            return _url(instance)

    def stop(self) -> bool:
        with exclusive(self._home):
            return self._process.stop(_STOP_TIMEOUT)

    def _instance(self) -> Instance:
        return instance_of(self._home, _PORT, runs=self._process.pid() is not None)

    def _launch(self, instance: Instance) -> None:
        if not is_free(instance.port):
            raise ServiceError(f"another program listens on port {instance.port} of this instance, {self._home}")
        settings = {
            "bind": HOST,
            "port": str(instance.port),
            "dir": str(self._home),
            "save": "",
            "appendonly": "no",
            "set-proc-title": "no",  # keeps the command line, by which the process is found again
        }
        options = [part for name, value in settings.items() for part in (f"--{name}", value)]
        self._process.start([_PROGRAM, *options], self._home)


def _url(instance: Instance) -> str:
    return f"redis://{HOST}:{instance.port}/0"


def _answers_ping(port: int) -> bool:
    """Whether a Redis answers at this port."""
    try:
        with socket.create_connection((HOST, port), timeout=5) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(7) == b"+PONG\r\n"
    except OSError:
        return False
