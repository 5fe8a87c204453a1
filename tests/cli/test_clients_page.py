"""docs/clients.md says what the commands do: each of them runs, and its table of files is theirs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from kgnav_mcp.cli.clients import CLIENTS, Machine
from tests.cli.conftest import Kgnav

PAGE = (Path(__file__).parents[2] / "docs" / "clients.md").read_text(encoding="utf-8")
_COMMAND = re.compile(r"(?:^|`)(kgnav install [^`\n]+?)(?:`|$)", re.MULTILINE)
COMMANDS = sorted({command.strip() for command in _COMMAND.findall(PAGE) if "CLIENT" not in command})


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    made = Machine("linux", tmp_path / "home", {})
    monkeypatch.setattr(Machine, "current", lambda: made)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "films.kg").touch()
    (tmp_path / "kgnav.toml").write_text('[graphs.films]\nlocation = "films.kg"\n', encoding="utf-8")
    return made


def test_the_page_shows_every_form_of_the_command() -> None:
    shown = " ".join(COMMANDS)
    for flag in ("--graph", "--http", "--name", "--file", "--config", "--skill", "--dry-run", "--remove"):
        assert flag in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_its_commands_run(command: str, kgnav: Kgnav) -> None:
    words = [str(Path(word).expanduser()) if word.startswith("~") else word for word in shlex.split(command)[1:]]
    result = kgnav(*words, "--dry-run")
    assert result.exit_code == 0, result.output
    assert "PASSWORD" not in result.output.replace("bolt://USER:PASSWORD@HOST", "")


@pytest.mark.parametrize("name", CLIENTS)
def test_its_table_has_each_clients_files(name: str) -> None:
    client = CLIENTS[name]
    [row] = [line for line in PAGE.splitlines() if line.startswith(f"| {client.title} | `~")]
    linux, macos, windows, key = (cell.strip() for cell in row.strip("|").split("|")[1:])
    home = Path("~")
    places = {
        "linux": client.file(Machine("linux", home, {})),
        "macos": client.file(Machine("macos", home, {})),
    }
    assert linux == f"`{places['linux']}`"
    assert macos in {f"`{places['macos']}`", "the same"}
    assert (macos == "the same") == (places["linux"] == places["macos"])
    on_windows = client.file(Machine("windows", home, {"APPDATA": "%APPDATA%"}))
    written = str(on_windows).replace("/", "\\")
    assert windows.startswith(f"`{written}`") or (windows == "the same" and on_windows == places["linux"])
    assert key == f"`{client.table}`"
