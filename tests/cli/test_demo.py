from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.cli.clients import server_command
from kgnav_mcp.errors import ConfigurationError
from tests.cli.conftest import SCRIPTS, Command


@pytest.mark.slow
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
    assert f"{SCRIPTS / 'kgnav'} install CLIENT\n" in result.stdout
    assert "CLIENT is claude-desktop, claude-code, vscode, cursor, codex, goose, gemini-cli;" in result.stdout


def test_an_installation_without_its_commands_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(_name: str, path: str | None = None) -> None:
        del path

    monkeypatch.setattr("shutil.which", nowhere)
    with pytest.raises(ConfigurationError, match="kgnav-mcp is not installed"):
        server_command()
