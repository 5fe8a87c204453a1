"""`kgnav install` for each client, in its real file format and place on three systems."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from mcp import Client as McpClient
from mcp import StdioServerParameters, stdio_client

from kgnav_mcp.cli.clients import CLIENTS, Machine, System
from kgnav_mcp.config import environment_without_settings
from tests.cli.conftest import SCRIPTS, Kgnav

COMMAND = str(SCRIPTS / "kgnav-mcp")
SUPPORT = "home/Library/Application Support"
PACKAGE = "local/Packages/Claude_abc/LocalCache/Roaming/Claude/claude_desktop_config.json"

PLACES: Mapping[tuple[str, System], str] = {
    ("claude-desktop", "linux"): "home/.config/Claude/claude_desktop_config.json",
    ("claude-desktop", "macos"): f"{SUPPORT}/Claude/claude_desktop_config.json",
    ("claude-desktop", "windows"): "roaming/Claude/claude_desktop_config.json",
    ("claude-code", "linux"): "home/.claude.json",
    ("claude-code", "macos"): "home/.claude.json",
    ("claude-code", "windows"): "home/.claude.json",
    ("vscode", "linux"): "home/.config/Code/User/mcp.json",
    ("vscode", "macos"): f"{SUPPORT}/Code/User/mcp.json",
    ("vscode", "windows"): "roaming/Code/User/mcp.json",
    ("cursor", "linux"): "home/.cursor/mcp.json",
    ("cursor", "macos"): "home/.cursor/mcp.json",
    ("cursor", "windows"): "home/.cursor/mcp.json",
    ("codex", "linux"): "home/.codex/config.toml",
    ("codex", "macos"): "home/.codex/config.toml",
    ("codex", "windows"): "home/.codex/config.toml",
    ("goose", "linux"): "home/.config/goose/config.yaml",
    ("goose", "macos"): "home/.config/goose/config.yaml",
    ("goose", "windows"): "roaming/Block/goose/config/config.yaml",
    ("gemini-cli", "linux"): "home/.gemini/settings.json",
    ("gemini-cli", "macos"): "home/.gemini/settings.json",
    ("gemini-cli", "windows"): "home/.gemini/settings.json",
}

REMOTE: Mapping[str, Mapping[str, object]] = {
    "claude-code": {"type": "http", "url": "http://h:8365/mcp"},
    "vscode": {"type": "http", "url": "http://h:8365/mcp"},
    "cursor": {"url": "http://h:8365/mcp"},
    "codex": {"url": "http://h:8365/mcp"},
    "goose": {"type": "streamable_http", "uri": "http://h:8365/mcp", "enabled": True, "name": "kgnav"},
    "gemini-cli": {"httpUrl": "http://h:8365/mcp"},
}


def _machine(system: System, root: Path) -> Machine:
    windows = {"APPDATA": str(root / "roaming"), "LOCALAPPDATA": str(root / "local")}
    return Machine(system, root / "home", windows if system == "windows" else {})


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    """A home of the test's own, and none of the clients' programs on PATH."""
    made = _machine("linux", tmp_path)
    monkeypatch.setattr(Machine, "current", lambda: made)
    monkeypatch.setenv("PATH", "")
    return made


def _entry(client: str, machine: Machine, name: str = "kgnav") -> dict[str, Any]:
    known = CLIENTS[client]
    values = known.syntax.parse(known.file(machine).read_text(encoding="utf-8"))
    return cast("dict[str, Any]", values[known.table][name])


def _started(entry: Mapping[str, Any]) -> tuple[str, list[str]]:
    return entry.get("command") or entry["cmd"], entry["args"]


def test_every_client_has_its_place_on_every_system(tmp_path: Path) -> None:
    places = {(name, system): tmp_path / place for (name, system), place in PLACES.items()}
    systems: list[System] = ["linux", "macos", "windows"]
    assert places == {
        (name, system): client.file(_machine(system, tmp_path))
        for name, client in CLIENTS.items()
        for system in systems
    }


def test_the_packaged_claude_desktop_reads_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / "local" / "Packages" / "Claude_abc").mkdir(parents=True)
    assert CLIENTS["claude-desktop"].file(_machine("windows", tmp_path)) == tmp_path / PACKAGE


@pytest.mark.parametrize("system", ["linux", "macos", "windows"])
@pytest.mark.parametrize("client", CLIENTS)
async def test_a_client_starts_the_written_command_and_calls_a_tool(
    client: str, system: System, kgnav: Kgnav, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machine = _machine(system, tmp_path)
    monkeypatch.setattr(Machine, "current", lambda: machine)

    first = kgnav("install", client, "--graph", "paintings=demo")

    assert first.exit_code == 0, first.output
    assert f"Next: {CLIENTS[client].restart}" in first.output
    file = CLIENTS[client].file(machine)
    before = file.read_bytes()
    again = kgnav("install", client, "--graph", "paintings=demo")
    assert "kgnav is already there; nothing was changed." in again.output
    assert file.read_bytes() == before

    command, arguments = _started(_entry(client, machine))
    assert (command, arguments) == (COMMAND, ["--graph", "paintings=demo"])
    if (client, system) == (next(iter(CLIENTS)), "linux"):  # the command is the same of all on all
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        server = StdioServerParameters(
            command=command, args=arguments, env=environment_without_settings(), cwd=str(elsewhere)
        )
        async with McpClient(stdio_client(server)) as session:
            answer = await session.call_tool("find_node", {"hint": "Vincent van Gogh"})
        assert "vincent_van_gogh" in answer.content[0].text  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]

    assert "kgnav was removed." in kgnav("install", client, "--remove").output
    assert "kgnav is not there; nothing was changed." in kgnav("install", client, "--remove").output
    values = CLIENTS[client].syntax.parse(file.read_text(encoding="utf-8"))
    assert not values.get(CLIENTS[client].table)


@pytest.mark.parametrize("client", REMOTE)
def test_a_running_server_is_entered_by_its_address(client: str, kgnav: Kgnav, machine: Machine) -> None:
    kgnav("install", client, "--graph", "demo")
    result = kgnav("install", client, "--http", "http://h:8365/mcp")
    assert result.exit_code == 0, result.output
    entry = _entry(client, machine)
    assert REMOTE[client].items() <= entry.items()
    assert not {"command", "cmd", "args"} & set(entry)


def test_claude_desktop_refuses_an_address_with_the_way(kgnav: Kgnav, machine: Machine) -> None:
    result = kgnav("install", "claude-desktop", "--http", "http://h:8365/mcp")
    assert result.exit_code == 2
    assert "Settings > Connectors" in result.output
    assert not CLIENTS["claude-desktop"].file(machine).exists()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("h:8365", "is not the address of a server"),
        ("http://h:8365", "Write: --http http://h:8365/mcp"),
        ("http://me:secret@h/mcp", "contains a user or password"),
    ],
)
def test_a_wrong_address_is_refused(url: str, message: str, kgnav: Kgnav) -> None:
    result = kgnav("install", "cursor", "--http", url)
    assert result.exit_code == 1
    assert message in result.output
    assert "secret" not in result.output


def test_paths_are_absolute_and_names_of_the_configuration_need_its_file(
    kgnav: Kgnav, machine: Machine, tmp_path: Path
) -> None:
    for name in ("films.kg", "people.kg"):
        (tmp_path / name).touch()
    (tmp_path / "kgnav.toml").write_text('[graphs.people]\nlocation = "people.kg"\n', encoding="utf-8")

    assert kgnav("install", "cursor", "--graph", "films.kg", "--graph", "people").exit_code == 0

    config = ["--config", str(tmp_path / "kgnav.toml")]
    assert _entry("cursor", machine)["args"] == [
        *config,
        "--graph",
        f"films={tmp_path / 'films.kg'}",
        "--graph",
        "people",
    ]
    kgnav("install", "cursor")
    assert _entry("cursor", machine)["args"] == config


def test_graphs_of_the_environment_are_entered_too(
    kgnav: Kgnav, machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "films.kg").touch()
    monkeypatch.setenv("KGNAV_GRAPH", "films.kg")
    kgnav("install", "cursor")
    assert _entry("cursor", machine)["args"] == ["--graph", f"films={tmp_path / 'films.kg'}"]


def test_a_missing_graph_file_is_refused(kgnav: Kgnav, machine: Machine) -> None:
    result = kgnav("install", "cursor", "--graph", "nix.kg")
    assert result.exit_code == 2
    assert "the graph file nix.kg does not exist" in result.output
    assert not CLIENTS["cursor"].file(machine).exists()


@pytest.mark.parametrize(
    ("client", "reference"),
    [
        ("vscode", {"env": {"KGNAV_GRAPH": "${env:KGNAV_GRAPH}"}}),
        ("cursor", {"env": {"KGNAV_GRAPH": "${env:KGNAV_GRAPH}"}}),
        ("gemini-cli", {"env": {"KGNAV_GRAPH": "$KGNAV_GRAPH"}}),
        ("codex", {"env_vars": ["KGNAV_GRAPH"]}),
        ("goose", {"env_keys": ["KGNAV_GRAPH"]}),
        ("claude-code", {"args": []}),
    ],
)
def test_a_password_is_never_written(
    client: str, reference: Mapping[str, object], kgnav: Kgnav, machine: Machine
) -> None:
    result = kgnav("install", client, "--graph", "db=bolt://reader:s3cret@db.example")
    assert result.exit_code == 0, result.output
    assert "Set KGNAV_GRAPH to the location" in result.output
    entry = _entry(client, machine)
    assert reference.items() <= entry.items()
    assert entry["args"] == []
    assert "s3cret" not in result.output + CLIENTS[client].file(machine).read_text(encoding="utf-8")


@pytest.mark.parametrize("client", ["vscode", "cursor", "gemini-cli"])
def test_a_reference_is_removed_with_the_graph_that_needed_it(client: str, kgnav: Kgnav, machine: Machine) -> None:
    kgnav("install", client, "--graph", "db=bolt://reader:s3cret@db.example")
    kgnav("install", client, "--graph", "demo")
    entry = _entry(client, machine)
    assert (entry["args"], entry["env"]) == (["--graph", "demo"], {})


@pytest.mark.parametrize("client", ["codex", "cursor"])
def test_an_address_replaces_what_only_a_command_may_have(client: str, kgnav: Kgnav, machine: Machine) -> None:
    kgnav("install", client, "--graph", "db=bolt://reader:s3cret@db.example")
    kgnav("install", client, "--http", "http://h:8365/mcp")
    assert _entry(client, machine) == REMOTE[client]


def test_a_password_for_claude_desktop_is_refused_with_the_way(kgnav: Kgnav) -> None:
    result = kgnav("install", "claude-desktop", "--graph", "bolt://reader:s3cret@db.example")
    assert result.exit_code == 2
    assert "kgnav install claude-desktop --config kgnav.toml" in result.output
    assert "s3cret" not in result.output


def test_a_dry_run_shows_the_entry_and_no_secret_of_the_file(kgnav: Kgnav, machine: Machine) -> None:
    file = CLIENTS["cursor"].file(machine)
    file.parent.mkdir(parents=True)
    text = '{"mcpServers": {"kgnav": {"command": "old", "env": {"KGNAV_LLM__API_KEY": "s3cret"}}}}'
    file.write_text(text, encoding="utf-8")
    result = kgnav("install", "cursor", "--graph", "demo", "--dry-run")
    assert f'"command": "{COMMAND}"' in result.output
    assert "s3cret" not in result.output
    assert file.read_text(encoding="utf-8") == text
    assert "would be removed" in kgnav("install", "cursor", "--remove", "--dry-run").output
    assert file.read_text(encoding="utf-8") == text


def test_other_servers_stay(kgnav: Kgnav, machine: Machine) -> None:
    file = CLIENTS["codex"].file(machine)
    file.parent.mkdir(parents=True)
    file.write_text('# mine\nmodel = "m"\n\n[mcp_servers.docs]\nurl = "https://d.example/mcp"\n', encoding="utf-8")
    kgnav("install", "codex", "--graph", "demo", "--name", "paintings")
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# mine\n")
    servers = tomllib.loads(text)["mcp_servers"]
    assert servers == {
        "docs": {"url": "https://d.example/mcp"},
        "paintings": {"command": COMMAND, "args": ["--graph", "demo"]},
    }


def test_a_broken_file_is_refused_and_stays(kgnav: Kgnav, machine: Machine) -> None:
    file = CLIENTS["claude-desktop"].file(machine)
    file.parent.mkdir(parents=True)
    file.write_text('{\n  "mcpServers": {\n}', encoding="utf-8")
    result = kgnav("install", "claude-desktop")
    assert result.exit_code == 2
    assert f"{file}, line 3: not valid JSON" in result.output
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_another_file_of_the_client_can_be_named(kgnav: Kgnav) -> None:
    kgnav("install", "vscode", "--graph", "demo", "--file", ".vscode/mcp.json")
    written = json.loads(Path(".vscode/mcp.json").read_text(encoding="utf-8"))
    assert written["servers"]["kgnav"]["args"] == ["--graph", "demo"]


def _program(folder: Path, body: str) -> None:
    folder.mkdir()
    program = folder / "claude"
    program.write_text(f"#!/bin/sh\necho \"$@\" >> '{folder}/calls'\n{body}", encoding="utf-8")
    program.chmod(0o755)


def test_claude_code_is_told_by_its_own_program(kgnav: Kgnav, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(tmp_path / "bin", "exit 0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}/bin{os.pathsep}/usr/bin")
    assert kgnav("install", "claude-code", "--graph", "demo").exit_code == 0
    [call] = (tmp_path / "bin" / "calls").read_text(encoding="utf-8").splitlines()
    start = "mcp add-json --scope user kgnav "
    assert call.startswith(start)
    fields = json.loads(call.removeprefix(start))
    assert fields == {"type": "stdio", "command": COMMAND, "args": ["--graph", "demo"]}


def test_keys_that_the_user_added_stay_and_are_no_arguments_of_a_program(
    kgnav: Kgnav, machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _program(tmp_path / "bin", "exit 0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}/bin{os.pathsep}/usr/bin")
    file = CLIENTS["claude-code"].file(machine)
    file.parent.mkdir(parents=True)
    file.write_text('{"mcpServers": {"kgnav": {"command": "x", "env": {"KEY": "s3cret"}}}}', encoding="utf-8")
    assert kgnav("install", "claude-code", "--graph", "demo").exit_code == 0
    entry = _entry("claude-code", machine)
    assert (entry["command"], entry["env"]) == (COMMAND, {"KEY": "s3cret"})
    assert not (tmp_path / "bin" / "calls").exists()


def test_a_program_that_fails_is_an_error_with_the_other_way(
    kgnav: Kgnav, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _program(tmp_path / "bin", "echo 'not signed in' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}/bin{os.pathsep}/usr/bin")
    result = kgnav("install", "claude-code", "--graph", "demo")
    assert result.exit_code == 2
    assert "mcp add-json failed: not signed in" in result.output
    assert "--file ~/.claude.json" in result.output


def _in_cache_of_uv(monkeypatch: pytest.MonkeyPatch, uvx: str | None) -> None:
    def which(name: str, path: str | None = None) -> str | None:
        return uvx if name == "uvx" and path is None else None

    monkeypatch.setattr("sys.prefix", "/home/me/.cache/uv/archive-v0/k3Jx")
    monkeypatch.setattr("shutil.which", which)


def test_what_uvx_started_is_started_by_uvx_again(
    kgnav: Kgnav, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    _in_cache_of_uv(monkeypatch, "/opt/uvx")
    assert kgnav("install", "cursor", "--graph", "demo").exit_code == 0
    entry = _entry("cursor", machine)
    assert entry["command"] == "/opt/uvx"
    start, requirement, *rest = entry["args"]
    assert (start, rest) == ("--from", ["kgnav-mcp", "--graph", "demo"])
    assert requirement.startswith("kgnav-mcp")


def test_an_environment_that_vanishes_is_not_entered(
    kgnav: Kgnav, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    _in_cache_of_uv(monkeypatch, None)
    monkeypatch.delenv("UV", raising=False)
    result = kgnav("install", "cursor", "--graph", "demo")
    assert result.exit_code == 2
    assert "Install it permanently: uv tool install " in result.output
    assert not CLIENTS["cursor"].file(machine).exists()
