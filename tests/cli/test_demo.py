from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pytest

from kgnav_mcp.cli.clients import client_setup_text, server_command
from kgnav_mcp.errors import ConfigurationError
from tests.cli.conftest import Command


def test_the_demo_walks_to_the_answer_and_shows_every_call(command: Command) -> None:
    Path("kgnav.toml").write_text('toolsets = ["graphwalk"]\n', encoding="utf-8")  # must not reach the demo's server

    result = command("kgnav", "demo")

    assert (result.returncode, result.stderr) == (0, "")
    calls = [line for line in result.stdout.splitlines() if line.startswith("> ")]
    assert calls[0] == "> find_node(hint='Vincent van Gogh')"
    assert calls[1] == "> search(entity='vincent_van_gogh', direction='outgoing')"
    assert calls[-2] == "> search(entity='the_netherlands', direction='outgoing')"
    assert calls[-1].endswith("properties_to_filter_for=['capital'])")
    assert "The Netherlands (the_netherlands) has too many neighbours to list" in result.stdout
    assert "Final answer: {Amsterdam}" in result.stdout


def test_the_lines_to_paste_start_this_very_installation() -> None:
    lines = client_setup_text(["--graph", "my films.kg"]).splitlines()

    command = server_command()
    assert os.access(command, os.X_OK)
    assert Path(command).is_absolute()
    entry = {"command": command, "args": ["--graph", "my films.kg"]}
    desktop, code, vscode, cursor = (line.strip() for line in lines[1::2])
    assert json.loads(desktop) == json.loads(cursor) == {"mcpServers": {"kgnav": entry}}
    assert json.loads(vscode) == {"servers": {"kgnav": {"type": "stdio", **entry}}}
    assert shlex.split(code) == ["claude", "mcp", "add", "kgnav", "--", command, "--graph", "my films.kg"]


def test_an_installation_without_its_commands_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(_name: str, path: str | None = None) -> None:
        del path

    monkeypatch.setattr("shutil.which", nowhere)
    with pytest.raises(ConfigurationError, match="kgnav-mcp is not installed"):
        server_command()
