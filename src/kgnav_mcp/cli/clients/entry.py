"""The entry of this server in a client's configuration: its command, or the address of a running one."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from kgnav_mcp.cli.installation import published_or_source
from kgnav_mcp.errors import ConfigurationError

NAME = "kgnav"
"""The usual name of the entry."""

_COMMAND = "kgnav-mcp"
_UV_CACHES = ("archive-v0", "environments-v2", "builds-v0")
"""Folders of uv's cache that hold the environments of `uvx`. They vanish when the cache is cleaned."""


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """A server as a client is told of it: a command with arguments, or a URL.

    `variables` are the environment variables that the command needs. Their values are secret and never in the entry.
    """

    command: str = ""
    arguments: tuple[str, ...] = ()
    url: str = ""
    variables: tuple[str, ...] = ()


def server_command() -> str:
    """The absolute path of this installation's `kgnav-mcp`.

    Raises:
        ConfigurationError: the package is installed without its commands.
    """
    command = shutil.which(_COMMAND, path=sysconfig.get_path("scripts")) or shutil.which(_COMMAND)
    if command is None:
        raise ConfigurationError(
            f"the command {_COMMAND} is not installed beside this Python", next_step=f"Run: pip install {_COMMAND}"
        )
    return str(Path(command).absolute())


def lasting_command() -> list[str]:
    """The command with which a client starts this server, also tomorrow: not from an environment that `uvx` made."""
    if not any(folder in Path(sys.prefix).parts for folder in _UV_CACHES):
        return [server_command()]
    requirement = published_or_source()
    if uvx := shutil.which("uvx"):
        return [str(Path(uvx).absolute()), "--from", requirement, _COMMAND]
    if uv := os.environ.get("UV"):  # uv tells the programs that it runs where it is
        return [uv, "tool", "run", "--from", requirement, _COMMAND]
    raise ConfigurationError(
        "this program runs in an environment that uv will delete, and uvx is not on PATH",
        next_step=f"Install it to stay: uv tool install {shlex.quote(requirement)}",
    )
