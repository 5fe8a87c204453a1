"""SKILL.md tells clients only what the tools do: its calls and plans answer on the demo graph."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from kgnav_mcp.cli.clients import Machine
from kgnav_mcp.cli.install import skill_text
from tests.cli.conftest import Kgnav

_CALL = re.compile(r"`(\w+\([^`?]*?=[^`]*\))`")
_PLAN = re.compile(r"```cypher\n(.*?)\n```", re.DOTALL)


def _calls() -> list[str]:
    return [call for call in _CALL.findall(skill_text()) if "..." not in call]


def test_the_skill_is_short_and_has_the_front_matter_that_clients_read() -> None:
    text = skill_text()
    front = re.match(r"---\nname: (.+)\ndescription: (.+)\n---\n", text)
    assert front is not None
    assert front[1] == "kgnav"
    assert len(front[2]) <= 1024
    assert len(text.splitlines()) <= 120


@pytest.mark.parametrize("call", _calls())
def test_its_calls_answer(call: str, kgnav: Kgnav) -> None:
    tree = ast.parse(call, mode="eval").body
    assert isinstance(tree, ast.Call)
    assert isinstance(tree.func, ast.Name)
    pairs = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in tree.keywords}
    arguments = [f"{name}={value[0] if isinstance(value, list) else value}" for name, value in pairs.items()]
    result = kgnav("call", tree.func.id, *arguments)
    assert result.exit_code == 0, result.output
    assert "--|--" in result.output


@pytest.mark.parametrize("plan", _PLAN.findall(skill_text()))
def test_its_plans_have_rows(plan: str, kgnav: Kgnav) -> None:
    result = kgnav("call", "run_plan", f"plan={plan}")
    assert result.exit_code == 0, result.output
    assert re.match(r"[1-9]\d* rows?", result.output)


def test_it_has_calls_and_two_plans() -> None:
    assert len(_calls()) == 3
    assert len(_PLAN.findall(skill_text())) == 2


def test_claude_code_gets_the_skill_and_loses_it(kgnav: Kgnav, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Machine, "current", lambda: Machine("linux", tmp_path / "home", {}))
    monkeypatch.setenv("PATH", "")
    file = tmp_path / "home" / ".claude" / "skills" / "kgnav" / "SKILL.md"
    assert kgnav("install", "claude-code", "--graph", "demo", "--skill", "--dry-run").exit_code == 0
    assert not file.exists()
    assert kgnav("install", "claude-code", "--graph", "demo", "--skill").exit_code == 0
    assert file.read_text(encoding="utf-8") == skill_text() == kgnav("skill").output
    assert "nothing was changed" in kgnav("install", "claude-code", "--graph", "demo", "--skill").output
    assert kgnav("install", "claude-code", "--remove", "--skill").exit_code == 0
    assert not file.parent.exists()


def test_another_skill_of_that_name_stays(kgnav: Kgnav, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Machine, "current", lambda: Machine("linux", tmp_path / "home", {}))
    monkeypatch.setenv("PATH", "")
    file = tmp_path / "home" / ".claude" / "skills" / "kgnav" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nname: mine\n---\n", encoding="utf-8")
    result = kgnav("install", "claude-code", "--graph", "demo", "--skill")
    assert result.exit_code == 2
    assert "belongs to another skill" in result.output
    assert file.read_text(encoding="utf-8") == "---\nname: mine\n---\n"


def test_the_skill_of_other_clients_is_printed(kgnav: Kgnav) -> None:
    result = kgnav("install", "cursor", "--skill")
    assert result.exit_code == 2
    assert "kgnav skill > SKILL.md" in result.output
