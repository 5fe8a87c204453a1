"""Edits of configuration files as people and clients write them: comments, one line, Windows' line ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kgnav_mcp.cli.config_files import ConfigFile, ConfigSyntax, JsonText, StrictJsonText, TomlText, YamlText
from kgnav_mcp.errors import ConfigurationError

ENTRY = {"command": "/bin/x", "args": ["--graph", "a b.kg"]}
FORM = frozenset({"command", "args", "url"})

VSCODE = """\
{
\t// servers of this user
\t"inputs": [], /* none yet */
\t"servers": {
\t\t"github": {
\t\t\t"type": "http",
\t\t\t"url": "https://api.example/mcp/", // remote
\t\t}, // the first
\t},
}
"""
CODEX = """\
# my settings
model = "gpt-5"   # the best

[mcp_servers.docs]
command = "npx"
args = [
    "-y",  # yes
    "docs-mcp",
]

[tui]
theme = 'dark'
"""
GOOSE = """\
# Model Configuration
GOOSE_PROVIDER: "anthropic"
extensions:
  developer:
    bundled: true
    enabled: true   # needed
    name: developer
    timeout: 300
    type: builtin
    args:
    - one
    - 'two'   # last

# Search paths
GOOSE_SEARCH_PATHS:
  - "/usr/local/bin"
"""


def _edited(tmp_path: Path, syntax: ConfigSyntax, text: str, table: str = "servers") -> str:
    path = tmp_path / "file"
    path.write_bytes(text.encode())
    file = ConfigFile(path, syntax)
    assert file.merge((table, "kgnav"), ENTRY, FORM)
    file.write()
    assert not ConfigFile(path, syntax).merge((table, "kgnav"), ENTRY, FORM)
    return path.read_bytes().decode()


def _removed(tmp_path: Path, syntax: ConfigSyntax, table: str = "servers") -> str:
    file = ConfigFile(tmp_path / "file", syntax)
    assert file.remove((table, "kgnav"))
    file.write()
    return (tmp_path / "file").read_bytes().decode()


@pytest.mark.parametrize(
    ("syntax", "text", "table"),
    [(JsonText(), VSCODE, "servers"), (TomlText(), CODEX, "mcp_servers"), (YamlText(), GOOSE, "extensions")],
    ids=["jsonc", "toml", "yaml"],
)
def test_every_line_stays_and_removing_gives_the_old_text(
    syntax: ConfigSyntax, text: str, table: str, tmp_path: Path
) -> None:
    after = _edited(tmp_path, syntax, text, table)
    kept = iter(after.splitlines())
    assert all(line in kept for line in text.splitlines())  # in this order
    assert syntax.parse(after)[table]["kgnav"] == ENTRY
    assert _removed(tmp_path, syntax, table) == text


def test_a_member_is_added_behind_the_comment_of_the_last_one(tmp_path: Path) -> None:
    text = '{\n    "servers": {\n        "a": {} // the first\n    }\n}\n'
    after = _edited(tmp_path, JsonText(), text)
    assert '        "a": {}, // the first\n        "kgnav": {\n            "command": "/bin/x",' in after


@pytest.mark.parametrize("text", ["", "\n", "{}", "{ }", '{"a":1}', '{"servers":{}}', '{"servers": {"b": {"x": [1]}}}'])
def test_short_files_of_json_get_the_entry(text: str, tmp_path: Path) -> None:
    old: dict[str, Any] = json.loads(text) if text.strip() else {}
    new = json.loads(_edited(tmp_path, StrictJsonText(), text))
    assert new == {**old, "servers": {**old.get("servers", {}), "kgnav": ENTRY}}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing yet\n",
        "a: 1",
        "extensions:\n",
        "extensions: {}\nb: 2\n",
        "extensions: null # none\nb: 2\n",
        "extensions:\n# c\nb: 2\n",
        "extensions: {a: {x: 1}}\n",
        "extensions:\n    a:\n        text: |\n            one\n            two\n\nb: 2\n",
        "extensions:\n  a: {x: 1}",
    ],
)
def test_short_files_of_yaml_get_the_entry(text: str, tmp_path: Path) -> None:
    old = YamlText().parse(text)
    extensions: dict[str, object] = old.get("extensions") or {}
    after = _edited(tmp_path, YamlText(), text, "extensions")
    assert YamlText().parse(after) == {**old, "extensions": {**extensions, "kgnav": ENTRY}}
    assert text.count("#") == after.count("#")


@pytest.mark.parametrize("text", ["", "a = 1", 'mcp_servers.a.command = "x"\n', '[mcp_servers]\na = {command = "x"}\n'])
def test_short_files_of_toml_get_the_entry(text: str, tmp_path: Path) -> None:
    old = TomlText().parse(text)
    after = TomlText().parse(_edited(tmp_path, TomlText(), text, "mcp_servers"))
    assert after == {**old, "mcp_servers": {**old.get("mcp_servers", {}), "kgnav": ENTRY}}


def test_line_ends_byte_order_mark_mode_and_link_stay(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_bytes(b'\xef\xbb\xbf{\r\n  "servers": {}\r\n}\r\n')
    real.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(real)
    file = ConfigFile(link, JsonText())
    file.merge(("servers", "kgnav"), ENTRY, FORM)
    file.write()
    written = real.read_bytes()
    assert written.startswith(b"\xef\xbb\xbf{\r\n")
    assert written.count(b"\n") == written.count(b"\r\n") == 11
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640


def test_an_entry_of_this_name_is_updated_and_keeps_what_the_user_added(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text('{"servers": {"kgnav": {"url": "http://x", "trust": true, "env": {"A": "1"}}}}', encoding="utf-8")
    file = ConfigFile(path, JsonText())
    assert file.merge(("servers", "kgnav"), {**ENTRY, "env": {"B": "2"}}, FORM)
    file.write()
    assert json.loads(path.read_text(encoding="utf-8"))["servers"]["kgnav"] == {
        "trust": True,
        "env": {"A": "1", "B": "2"},
        **ENTRY,
    }


@pytest.mark.parametrize(
    "text",
    ["extensions: {a: {x: 1}}\n", "{extensions: {a: {x: 1}, b: 2}, c: 3}\n", "extensions: {\n  a: {x: 1}}\nb: 2\n"],
)
def test_yaml_in_braces_gets_the_entry_and_loses_it(text: str, tmp_path: Path) -> None:
    _edited(tmp_path, YamlText(), text, "extensions")
    assert _removed(tmp_path, YamlText(), "extensions") == text


def test_the_copy_is_of_the_file_before_its_first_change(tmp_path: Path) -> None:
    _edited(tmp_path, JsonText(), VSCODE)
    _removed(tmp_path, JsonText())
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["file", "file.before-kgnav"]
    assert (tmp_path / "file.before-kgnav").read_text(encoding="utf-8") == VSCODE


@pytest.mark.parametrize(
    ("syntax", "text", "line"),
    [
        (JsonText(), '{\n  "a": 1\n  "b": 2\n}', 3),
        (JsonText(), '{\n  "a": {\n', 3),
        (JsonText(), '{\n  "a": nil\n}', 2),
        (JsonText(), '{\n  "a": 1,\n  "a": 2\n}', 3),
        (JsonText(), "{\n}\n}", 3),
        (JsonText(), "[]", 1),
        (JsonText(), "{\n  \"a\": 'x'\n}", 2),
        (StrictJsonText(), '{\n  "a": 1, // no\n  "b": 2\n}', 2),
        (TomlText(), 'a = 1\nb = "x\n', 2),
        (YamlText(), "a: 1\nb: [1,\nc: 2\n", 4),
        (YamlText(), "a: 1\na: 2\n", 2),
        (YamlText(), "- a\n", 1),
    ],
)
def test_a_broken_file_is_refused_with_its_line(syntax: ConfigSyntax, text: str, line: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=rf"file, line {line}: not valid {syntax.name}.*nothing was changed"):
        ConfigFile(path, syntax)
    assert path.read_text(encoding="utf-8") == text


def test_a_table_that_is_no_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text('{"servers": []}', encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"servers in .*file is not a table"):
        ConfigFile(path, JsonText()).merge(("servers", "kgnav"), ENTRY, FORM)
