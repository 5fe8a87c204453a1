"""Completion in the shell: what it offers, and how it is set up."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import SCRIPTS, Kgnav


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("ZDOTDIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def _completed(words: str, program: str = "kgnav", variable: str = "_KGNAV_COMPLETE") -> list[str]:
    """What bash is offered for the last of these words."""
    count = len(words.split(" ")) - 1
    environment = {**os.environ, variable: "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(count)}
    result = subprocess.run([SCRIPTS / program], env=environment, capture_output=True, text=True, check=True)
    return result.stdout.splitlines()


@pytest.mark.slow
def test_graphs_of_the_configuration_and_files_complete_a_graph() -> None:
    Path("kgnav.toml").write_text(
        '[graphs.films]\nlocation = "f.kg"\n[graphs.people]\nlocation = "p.kg"\n', encoding="utf-8"
    )
    assert _completed("kgnav call find_node --graph f") == ["plain,films", "file,f"]
    assert _completed("kgnav install cursor --graph ") == ["plain,films", "plain,people", "plain,demo", "file,"]
    assert _completed("kgnav-mcp --graph d", "kgnav-mcp", "_KGNAV_MCP_COMPLETE") == ["plain,demo", "file,d"]


def test_a_broken_configuration_leaves_files_to_complete() -> None:
    Path("kgnav.toml").write_text("[graphs", encoding="utf-8")
    assert _completed("kgnav doctor --graph ") == ["plain,demo", "file,"]


def test_clients_and_commands_are_completed() -> None:
    assert _completed("kgnav install v") == ["plain,vscode"]
    assert "plain,completion" in _completed("kgnav comp")


@pytest.mark.parametrize(
    ("shell", "script", "startup"),
    [
        ("bash", ".local/share/kgnav/completion.bash", ".bashrc"),
        ("zsh", ".local/share/kgnav/completion.zsh", ".zshrc"),
        ("fish", "config/fish/completions/kgnav.fish", None),
    ],
)
def test_one_command_sets_it_up_once(shell: str, script: str, startup: str | None, kgnav: Kgnav, home: Path) -> None:
    if startup:
        (home / startup).write_text("alias ll='ls -l'", encoding="utf-8")
    for _ in range(2):
        result = kgnav("completion", shell, "--install")
        assert result.exit_code == 0, result.output
    printed = kgnav("completion", shell).output
    assert (home / script).read_text(encoding="utf-8") == printed
    assert "_KGNAV_COMPLETE" in printed
    assert "_KGNAV_MCP_COMPLETE" in printed
    if startup:
        lines = (home / startup).read_text(encoding="utf-8").splitlines()
        assert lines == ["alias ll='ls -l'", f". '{home / script}'  # completion of kgnav"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not there")
def test_bash_reads_the_script_and_completes(kgnav: Kgnav, home: Path) -> None:
    kgnav("completion", "bash", "--install")
    shown = subprocess.run(
        ["bash", "-c", ". ~/.bashrc; complete -p kgnav kgnav-mcp"],
        env={**os.environ, "HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.splitlines() == [
        "complete -o nosort -F _kgnav_completion kgnav",
        "complete -o nosort -F _kgnav_mcp_completion kgnav-mcp",
    ]
