"""What one instance of a store remembers in its home: its ports and its password."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import socket
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from .failure import ServiceError

HOST = "127.0.0.1"

_PORTS = range(20_000, 30_000)
"""Below the ports that systems give to outgoing connections, so that a remembered one is rarely taken."""


@dataclass(frozen=True)
class Instance:
    """`port` speaks HTTP, `sql_port` is the administrator's. `secured`: the store has the password already."""

    port: int
    sql_port: int
    password: str
    secured: bool = False


def default_home(store: str) -> Path:
    """Where a store's own instance lives, unless the command names another home.

    Raises:
        ServiceError: the environment names no folder, and this user has none either.
    """
    named = os.environ.get("KGNAV_SERVICES")
    if named:
        return Path(named).absolute() / store
    try:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    except RuntimeError as error:  # a user without a name, as containers have
        raise ServiceError("this user has no home: name a folder with --home, or with KGNAV_SERVICES") from error
    return cache / "kgnav-mcp" / "services" / store


def remembered(home: Path) -> Instance | None:
    """The instance that lives in this home, None where there is none yet."""
    try:
        text = _file(home).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    try:
        return Instance(**json.loads(text))
    except (ValueError, TypeError) as error:
        raise ServiceError(f"{_file(home)} is damaged; remove {home} to begin anew") from error


def remember(home: Path, instance: Instance) -> None:
    """Keep an instance, readable by its owner alone: it holds a password."""
    whole, part = _file(home), _file(home).with_suffix(".part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(asdict(instance), file)
    part.replace(whole)


def new_instance() -> Instance:
    """An instance with a password nobody knows and two ports that are free now."""
    return Instance(free_port(), free_port(), secrets.token_urlsafe(18))


def free_port() -> int:
    """A port of this machine's loopback address that nothing listens on.

    Raises:
        ServiceError: none was found.
    """
    for _ in range(100):
        port = secrets.choice(_PORTS)
        if is_free(port):
            return port
    raise ServiceError(f"no free port from {_PORTS[0]} to {_PORTS[-1]}")


def is_free(port: int) -> bool:
    """Whether a server may listen here; connections of an earlier one that linger do not count."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


@contextmanager
def exclusive(home: Path) -> Generator[None]:
    """One command at a time works on a home; the next one waits."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _file(home: Path) -> Path:
    return home / "instance.json"
