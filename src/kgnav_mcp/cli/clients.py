"""Instructions for adding this installation to the usual MCP clients."""

from __future__ import annotations

import json
import shlex
import shutil
import sysconfig
from collections.abc import Sequence

from kgnav_mcp.errors import ConfigurationError

NAME = "kgnav"


def server_command() -> str:
    """The absolute path of this installation's `kgnav-mcp`.

    Raises:
        ConfigurationError: the package is installed without its commands.
    """
    command = shutil.which("kgnav-mcp", path=sysconfig.get_path("scripts")) or shutil.which("kgnav-mcp")
    if command is None:
        raise ConfigurationError(
            "the command kgnav-mcp is not installed beside this Python", next_step="Run: pip install kgnav-mcp"
        )
    return command


def client_setup_text(arguments: Sequence[str] = ()) -> str:
    """The text to paste into each of the usual clients. `arguments` are the arguments of `kgnav-mcp`."""
    command = [server_command(), *arguments]
    entry = {"command": command[0], "args": command[1:]}
    servers = json.dumps({"mcpServers": {NAME: entry}})
    vscode = json.dumps({"servers": {NAME: {"type": "stdio", **entry}}})
    return "\n".join(
        [
            "Claude Desktop, in claude_desktop_config.json (Settings > Developer > Edit Config):",
            f"  {servers}",
            "Claude Code, in a terminal:",
            f"  claude mcp add {NAME} -- {shlex.join(command)}",
            "VS Code, in .vscode/mcp.json:",
            f"  {vscode}",
            "Cursor, in ~/.cursor/mcp.json:",
            f"  {servers}",
        ]
    )
