"""The supported MCP clients: the configuration file of each, and the form of an entry in it."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from kgnav_mcp.cli.config_files import ConfigSyntax, JsonText, StrictJsonText, TomlText, YamlText
from kgnav_mcp.cli.installation import published_or_source
from kgnav_mcp.errors import ConfigurationError

NAME = "kgnav"
"""The usual name of the entry."""

_COMMAND = "kgnav-mcp"
_UV_CACHES = ("archive-v0", "environments-v2", "builds-v0")
"""Folders of uv's cache that hold the environments of `uvx`. They vanish when the cache is cleaned."""


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """A server in a client's configuration: a command with arguments, or a URL.

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
    """The command with which a client starts this server: not one in a temporary environment of `uvx`.

    Raises:
        ConfigurationError: the command is not installed beside this Python, or uv's own command is not found.
    """
    if not any(folder in Path(sys.prefix).parts for folder in _UV_CACHES):
        return [server_command()]
    requirement = published_or_source()
    if uvx := shutil.which("uvx"):
        return [str(Path(uvx).absolute()), "--from", requirement, _COMMAND]
    if uv := os.environ.get("UV"):  # uv tells the programs that it runs where it is
        return [uv, "tool", "run", "--from", requirement, _COMMAND]
    raise ConfigurationError(
        "kgnav runs in a temporary environment of uv, and uvx is not on PATH",
        next_step=f"Install it permanently: uv tool install {shlex.quote(requirement)}",
    )


System = Literal["linux", "macos", "windows"]


@dataclass(frozen=True, slots=True)
class Machine:
    """The facts of this machine that the paths of configuration files depend on."""

    system: System
    home: Path
    environment: Mapping[str, str]

    @classmethod
    def current(cls) -> Machine:
        """The machine that this program runs on."""
        system: System = {"darwin": "macos", "win32": "windows"}.get(sys.platform, "linux")  # pyright: ignore[reportAssignmentType]
        return cls(system, Path.home(), os.environ)

    def folder(self, variable: str, *default: str) -> Path:
        """The folder that a variable names, else one below home."""
        return Path(value) if (value := self.environment.get(variable)) else self.home.joinpath(*default)

    @property
    def application_settings(self) -> Path:
        """The folder in which applications keep a user's settings."""
        if self.system == "windows":
            return self.folder("APPDATA", "AppData", "Roaming")
        if self.system == "macos":
            return self.home / "Library" / "Application Support"
        return self.folder("XDG_CONFIG_HOME", ".config")


Fields = dict[str, object]

_FORM_KEYS = frozenset({"type", "command", "cmd", "args", "url", "uri", "httpUrl"})
"""Keys for the connection to a server: those of an older entry are replaced or removed."""
_LOCAL_KEYS = frozenset({"env", "env_vars", "cwd"})
"""Keys of servers that a client starts. Codex rejects a file in which a server with a URL has them."""
_REMOTE_KEYS = frozenset({"headers", "http_headers", "env_http_headers", "bearer_token_env_var"})


@dataclass(frozen=True, slots=True)
class Client:
    """One MCP client.

    `variable` is how an entry refers to an environment variable, with {} for its name; "" if the client starts servers
    with its own environment, None if it neither does so nor has references. `remote` is None if the file takes no URLs:
    then `remote_advice` says what to do. `command` is the client's own program that edits its file.
    """

    title: str
    file: Callable[[Machine], Path]
    syntax: ConfigSyntax
    table: str
    local: Callable[[str, ServerEntry], Fields]
    remote: Callable[[str, str], Fields] | None
    variable: str | None
    restart: str
    remote_advice: str = ""
    command: str = ""

    def fields(self, name: str, entry: ServerEntry) -> Fields:
        """The keys and values of an entry. The client must take its form: see `remote` and `variable`."""
        if entry.url and self.remote is not None:
            return self.remote(name, entry.url)
        fields = self.local(name, entry)
        if entry.variables and self.variable:
            fields["env"] = {variable: self.reference(variable) for variable in entry.variables}
        return fields

    def obsolete_keys(self, entry: ServerEntry) -> frozenset[str]:
        """Keys of an older entry that must not stay beside the new one's. All others are the user's own."""
        return _FORM_KEYS | (_LOCAL_KEYS if entry.url else _REMOTE_KEYS)

    def reference(self, variable: str) -> str | None:
        """How an entry of this client refers to a variable; None if the client has no such references."""
        return self.variable.format(variable) if self.variable else None


def _stdio(_name: str, entry: ServerEntry) -> Fields:
    return {"command": entry.command, "args": list(entry.arguments)}


def _typed_stdio(name: str, entry: ServerEntry) -> Fields:
    return {"type": "stdio", **_stdio(name, entry)}


def _codex(name: str, entry: ServerEntry) -> Fields:
    forwarded: Fields = {"env_vars": list(entry.variables)} if entry.variables else {}
    return {**_stdio(name, entry), **forwarded}


def _goose(name: str, entry: ServerEntry) -> Fields:
    return {
        "enabled": True,
        "type": "stdio",
        "name": name,
        "description": "Walk a knowledge graph",
        "cmd": entry.command,
        "args": list(entry.arguments),
        "envs": {},
        "env_keys": list(entry.variables),
        "timeout": 300,
    }


def _goose_remote(name: str, url: str) -> Fields:
    return {
        "enabled": True,
        "type": "streamable_http",
        "name": name,
        "description": "Walk a knowledge graph",
        "uri": url,
        "envs": {},
        "env_keys": [],
        "headers": {},
        "timeout": 300,
    }


def _claude_desktop_file(machine: Machine) -> Path:
    """The file that Claude Desktop reads: on Windows, that of the packaged application if it is installed."""
    if machine.system == "windows":
        packages = machine.folder("LOCALAPPDATA", "AppData", "Local") / "Packages"
        for package in sorted(packages.glob("Claude_*")):
            return package / "LocalCache" / "Roaming" / "Claude" / "claude_desktop_config.json"
    return machine.application_settings / "Claude" / "claude_desktop_config.json"


def _goose_file(machine: Machine) -> Path:
    if machine.system == "windows":
        return machine.application_settings / "Block" / "goose" / "config" / "config.yaml"
    return machine.folder("XDG_CONFIG_HOME", ".config") / "goose" / "config.yaml"


CLIENTS: Mapping[str, Client] = MappingProxyType(
    {
        "claude-desktop": Client(
            "Claude Desktop",
            _claude_desktop_file,
            StrictJsonText(),
            "mcpServers",
            _stdio,
            None,
            None,
            "Quit Claude Desktop (closing its window is not enough) and start it again.",
            remote_advice="Add the address in Claude Desktop under Settings > Connectors > Add custom connector; it "
            "must be reachable from the internet by https. For one on this machine, install it with --graph instead.",
        ),
        "claude-code": Client(
            "Claude Code",
            lambda machine: machine.folder("CLAUDE_CONFIG_DIR") / ".claude.json",
            StrictJsonText(),
            "mcpServers",
            _typed_stdio,
            lambda _name, url: {"type": "http", "url": url},
            "",
            "Start a new session of `claude`; /mcp shows the server.",
            command="claude",
        ),
        "vscode": Client(
            "VS Code",
            lambda machine: machine.application_settings / "Code" / "User" / "mcp.json",
            JsonText(),
            "servers",
            _typed_stdio,
            lambda _name, url: {"type": "http", "url": url},
            "${{env:{}}}",
            "Run MCP: List Servers in VS Code's command palette, choose the server and start it.",
        ),
        "cursor": Client(
            "Cursor",
            lambda machine: machine.home / ".cursor" / "mcp.json",
            JsonText(),
            "mcpServers",
            _stdio,
            lambda _name, url: {"url": url},
            "${{env:{}}}",
            "Restart Cursor, and see under Customize > MCPs that the server is switched on.",
        ),
        "codex": Client(
            "Codex",
            lambda machine: machine.folder("CODEX_HOME", ".codex") / "config.toml",
            TomlText(),
            "mcp_servers",
            _codex,
            lambda _name, url: {"url": url},
            "",
            "Start a new session of `codex`; /mcp shows the server.",
        ),
        "goose": Client(
            "Goose",
            _goose_file,
            YamlText(),
            "extensions",
            _goose,
            _goose_remote,
            "",
            "Start a new session of Goose.",
        ),
        "gemini-cli": Client(
            "Gemini CLI",
            lambda machine: machine.home / ".gemini" / "settings.json",
            JsonText(),
            "mcpServers",
            _stdio,
            lambda _name, url: {"httpUrl": url},
            "${}",
            "Start `gemini` in a folder that it trusts; /mcp shows the server.",
        ),
    }
)
"""The clients by the names that `kgnav install` takes."""
