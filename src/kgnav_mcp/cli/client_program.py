"""Runs a client's own program to edit its file, where a running client writes that file too."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from kgnav_mcp.cli.clients import Client
from kgnav_mcp.cli.config_files import ConfigFile
from kgnav_mcp.errors import ConfigurationError

_SECONDS = 60


def program_of(client: Client) -> str | None:
    """The absolute path of the client's own program; None if it has none or it is not on PATH."""
    return shutil.which(client.command) if client.command else None


def add_with_program(program: str, name: str, fields: Mapping[str, object], file: ConfigFile) -> None:
    """Add an entry for all projects of the user, in place of an older one of this name."""
    if ConfigFile(file.path, file.syntax).value(("mcpServers", name)) is not None:
        remove_with_program(program, name)
    _run([program, "mcp", "add-json", "--scope", "user", name, json.dumps(fields)])


def remove_with_program(program: str, name: str) -> None:
    """Remove the user's entry."""
    _run([program, "mcp", "remove", "--scope", "user", name])


def _run(command: Sequence[str]) -> None:
    try:
        result = subprocess.run(  # noqa: S603 - the client's program, with arguments of ours
            command, capture_output=True, text=True, timeout=_SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigurationError(f"{command[0]} cannot be run: {error}", next_step=_by_file()) from error
    if result.returncode:
        said = (result.stderr or result.stdout).strip().splitlines()
        reason = said[0][:200] if said else f"exit code {result.returncode}"
        raise ConfigurationError(f"{command[0]} mcp {command[2]} failed: {reason}", next_step=_by_file())


def _by_file() -> str:
    return "Write its file instead: add --file ~/.claude.json to this command."
