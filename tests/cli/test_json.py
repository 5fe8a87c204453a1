"""With --json a command prints its result as one JSON object. The documented exit codes are those of the code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from kgnav_mcp import __version__
from kgnav_mcp.cli import main
from kgnav_mcp.cli.boundary import EXIT_CODES, FAILED
from tests.cli.conftest import Command, Kgnav

COMMANDS = Path(__file__).parents[2] / "docs" / "commands.md"


def facts_of(result: Result) -> dict[str, Any]:
    return json.loads(result.stdout)


def test_the_summary_of_a_load_is_json(films: Path, kgnav: Kgnav) -> None:
    facts = facts_of(kgnav("load", str(films), "-o", "films.kg", "--json"))
    assert (facts["graph"], facts["sources"]) == ("films.kg", ["films.nt"])
    assert (facts["entities"], facts["triples"], facts["badLines"], facts["indexedByMeaning"]) == (2, 3, 0, None)


def test_bad_lines_are_in_the_summary(films: Path, kgnav: Kgnav) -> None:
    with films.open("a", encoding="utf-8") as file:
        file.write("no triple\n")
    facts = facts_of(kgnav("load", str(films), "-o", "films.kg", "--skip-bad", "--json", "--quiet"))
    assert facts["badLines"] == 1
    assert facts["firstBadLines"][0].startswith("films.nt:4")


def test_doctor_reports_graphs_that_answer_and_graphs_that_do_not(kgnav: Kgnav) -> None:
    result = kgnav("doctor", "--json", "--graph", "demo", "--graph", "nix.kg")
    assert result.exit_code == FAILED
    facts = facts_of(result)
    assert (facts["version"], facts["configurationFile"]) == (__version__, None)
    demo, missing = facts["graphs"]
    assert (demo["name"], demo["ok"], demo["entities"], demo["entitiesCertainty"]) == ("demo", True, 639, "exact")
    assert (missing["name"], missing["ok"]) == ("nix", False)
    assert missing["error"]
    assert missing["nextStep"]


def test_a_maze_is_described(kgnav: Kgnav) -> None:
    facts = facts_of(kgnav("maze", "-o", "maze.kg", "--seed", "3", "--json"))
    assert (facts["graph"], facts["cells"], facts["walls"]) == ("maze.kg", 100, 50)
    text = kgnav("maze", "-o", "maze.kg", "--seed", "3").stdout
    assert f"From {facts['start']} to {facts['goal']}; the shortest path has {facts['shortest']} steps." in text


@pytest.mark.slow
def test_the_demo_is_its_calls_and_its_answer(command: Command) -> None:
    facts = json.loads(command("kgnav", "demo", "--json").stdout)
    assert facts["answer"] == "Amsterdam"
    assert [call["tool"] for call in facts["calls"]] == ["find_node", "search", "search", "search", "search"]
    assert "capital|capital|amsterdam|Amsterdam" in facts["calls"][-1]["answer"]


def test_a_trail_is_the_json_that_format_json_writes(kgnav: Kgnav) -> None:
    store = ("--trail-store", "trails.db", "--toolsets", "sog,trail")
    started = kgnav("call", "start_trail", "question=Who?", "topic_entities=zundert", *store).stdout
    found = re.search(r"trail-[\w-]{10,}", started)
    assert found, started
    assert (
        kgnav("trail", found[0], *store, "--json").stdout == kgnav("trail", found[0], *store, "--format", "json").stdout
    )


@pytest.mark.parametrize("name", ["call", "demo", "doctor", "load", "maze", "trail"])
def test_every_command_that_prints_a_result_has_json(name: str) -> None:
    assert any("--json" in parameter.opts for parameter in main.commands[name].params)


def test_the_documented_exit_codes_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", COMMANDS.read_text(encoding="utf-8"), re.MULTILINE)
    assert {int(code): meaning for code, meaning in rows} == EXIT_CODES


@pytest.mark.parametrize("name", sorted(main.commands))
def test_every_command_is_on_the_page_of_commands(name: str) -> None:
    assert f"`kgnav {name}" in COMMANDS.read_text(encoding="utf-8")
