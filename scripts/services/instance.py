"""The stored state of an instance in its home folder, and checks of files and ports for all stores."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import secrets
import socket
import urllib.error
import urllib.request
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from shlex import quote
from typing import TypeVar

from .failure import ServiceError

HOST = "127.0.0.1"
CHECKOUT = Path(__file__).resolve().parents[2]
"""The checkout that this script belongs to."""

_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|\\^`']+")

_PORTS = range(20_000, 30_000)
"""Below the ports of outgoing connections, so that a remembered port is rarely in use."""


@dataclass(frozen=True)
class Instance:
    """The stored state of an instance. `port` is the port for clients. Stores with more state have a subclass."""

    port: int


K = TypeVar("K", bound=Instance)


def default_home(store: str) -> Path:
    """The default home folder of a store. Each checkout has its own, so that none opens the data of another.

    Raises:
        ServiceError: as `shared_folder`.
    """
    digest = hashlib.sha256(str(CHECKOUT).encode()).hexdigest()[:8]
    return shared_folder("checkouts") / f"{CHECKOUT.name}-{digest}" / store


def shared_folder(name: str) -> Path:
    """A folder that all checkouts share, for programs that are downloaded once.

    Raises:
        ServiceError: neither the environment nor the user's account gives a folder.
    """
    named = os.environ.get("KGNAV_SERVICES")
    if named:
        return Path(named).absolute() / name
    try:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    except RuntimeError as error:  # a user without a name, as in containers
        raise ServiceError("this user has no home: name a folder with --home, or with KGNAV_SERVICES") from error
    return cache / "kgnav-mcp" / "services" / name


def claim(home: Path, store: str, data: str | None) -> bool:
    """Record that this checkout uses a home. Returns whether it had no data, which would be in its folder `data`.

    Raises:
        ServiceError: another checkout made this home, or it has data and no record of who made it.
    """
    with exclusive(home):
        is_empty = data is None or not (home / data).is_dir() or not any((home / data).iterdir())
        record = home / "checkout"
        maker = record.read_text(encoding="utf-8") if record.exists() else None
        if maker is None and is_empty:
            record.write_text(str(CHECKOUT), encoding="utf-8")
        elif maker != str(CHECKOUT):
            take_over = f"echo -n {quote(str(CHECKOUT))} > {quote(str(record))}"
            raise ServiceError(
                f"{home} was made by {maker or 'an unknown checkout'}, not by this one. Start an instance of this "
                f"checkout's own: scripts/service {store} start. Or use that data from here: {take_over}"
            )
        return is_empty


def load_instance(home: Path, kind: type[K]) -> K | None:
    """The instance stored in this home; None if there is none yet."""
    try:
        text = _file(home).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    try:
        return kind(**json.loads(text))
    except (ValueError, TypeError) as error:
        raise ServiceError(f"{_file(home)} is damaged; remove {home} to begin anew") from error


def save_instance(home: Path, instance: Instance) -> None:
    """Store an instance, readable only by its owner since it may have a password."""
    whole, part = _file(home), _file(home).with_suffix(".part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(asdict(instance), file)
    part.replace(whole)


def instance_of(home: Path, variable: str, *, runs: bool) -> Instance:
    """The instance of this home, created if there is none yet. An environment variable may choose its port.

    A running instance keeps its port.
    """
    known = load_instance(home, Instance)
    instance = known or Instance(free_port())
    port = wanted_port(variable)
    if port is not None and not runs:
        instance = Instance(port)
    if instance != known:
        save_instance(home, instance)
    return instance


def free_port() -> int:
    """A free port of the loopback address.

    Raises:
        ServiceError: none was found.
    """
    for _ in range(100):
        port = secrets.choice(_PORTS)
        if is_free(port):
            return port
    raise ServiceError(f"no free port from {_PORTS[0]} to {_PORTS[-1]}")


def is_free(port: int) -> bool:
    """Whether a server can listen here. Lingering connections of an earlier server do not count."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def wanted_port(variable: str) -> int | None:
    """The port in an environment variable; None if it is not set.

    Raises:
        ServiceError: it is not a valid port.
    """
    text = os.environ.get(variable)
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 65536:
        raise ServiceError(f"{variable} is {text!r}, not the number of a port")
    return int(text)


def accepts(port: int) -> bool:
    """Whether a server accepts connections at this port."""
    try:
        socket.create_connection((HOST, port), timeout=5).close()
    except OSError:
        return False
    return True


def answers(url: str) -> bool:
    """Whether a URL answers a query. Proxies of the environment are not used."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(url, timeout=5) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


def checked_files(files: Sequence[Path], formats: Sequence[str]) -> None:
    """Check files before any work is done with them.

    Raises:
        ServiceError: a file does not exist or has another format.
    """
    for file in files:
        if not file.is_file():
            raise ServiceError(f"there is no file {file}")
        if not file.name.endswith(tuple(formats)):
            raise ServiceError(f"{file} is none of {', '.join(formats)}")


def checked_iri(graph: str) -> str:
    """Check the name of a graph and return it.

    Raises:
        ServiceError: it is not a full IRI.
    """
    if not _IRI.fullmatch(graph):
        raise ServiceError(f"{graph!r} is no full IRI for a graph")
    return graph


@contextmanager
def exclusive(home: Path) -> Generator[None]:
    """Lock a home, so that only one command at a time works on it."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _file(home: Path) -> Path:
    return home / "instance.json"
