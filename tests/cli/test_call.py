from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from kgnav_mcp.cli import main
from tests.cli.conftest import Command, Kgnav


@pytest.mark.slow
def test_the_answer_is_printed_as_a_model_sees_it(command: Command) -> None:
    result = command(
        "kgnav", "call", "search", "entity=the_netherlands", "direction=outgoing", "properties_to_filter_for=capital"
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines()[0] == "1 row"
    assert "capital|capital|amsterdam|Amsterdam" in result.stdout


def test_an_error_answer_is_printed_alone_with_exit_code_1(kgnav: Kgnav) -> None:
    result = kgnav("call", "search", "entity=no such thing", "direction=outgoing")
    assert result.exit_code == 1
    assert result.stdout.startswith("Not found: ")
    assert result.stderr == ""


@pytest.mark.parametrize(
    "given",
    [
        ["relations=located_in"],
        ['relations=["located_in"]'],
        ["relations=located_in", "relations=located_in"],
    ],
)
def test_a_list_is_json_or_one_element_or_repeated(given: list[str], kgnav: Kgnav) -> None:
    result = kgnav("call", "get_triples", "entity=zundert", *given)
    assert result.exit_code == 0
    assert "zundert|Zundert|located_in|north_brabant|North Brabant" in result.stdout


def test_text_that_looks_like_json_stays_text_where_text_is_wanted(kgnav: Kgnav) -> None:
    assert kgnav("call", "think", 'thought=["a", 1]').stdout == '["a", 1]\n'
    assert kgnav("call", "think", "thought=a=b").stdout == "a=b\n"


def test_a_number_is_a_number_where_one_is_wanted(kgnav: Kgnav) -> None:
    result = kgnav("call", "find_node", "hint=van gogh", "limit=1")
    assert result.exit_code == 0
    assert "vincent_van_gogh" in result.stdout


def test_structured_answers_are_json(kgnav: Kgnav) -> None:
    result = kgnav("call", "search", "entity=zundert", "direction=outgoing", "--structured")
    facts = json.loads(result.stdout)
    assert facts["completeness"]["stop"] == "complete"
    assert any(row["value"] == {"id": "the_netherlands", "label": "The Netherlands"} for row in facts["rows"])


def test_an_unknown_tool_is_wrong_usage_and_the_nearest_is_named(kgnav: Kgnav) -> None:
    result = kgnav("call", "find_nodes", "hint=x")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "unknown tool 'find_nodes'. Did you mean find_node?" in result.stderr


def test_a_tool_of_a_toolset_that_is_off_is_named_with_the_option_that_adds_it(kgnav: Kgnav) -> None:
    arguments = ("call", "fetch_neighbors", "nodes=zundert", "edge_type=located_in")
    error = kgnav(*arguments).stderr
    assert "the tool 'fetch_neighbors' is in the toolset 'graphrunner', which is not enabled." in error
    option = error.partition("Add ")[2].split()
    assert "north_brabant" in kgnav(*arguments, *option).stdout


def test_a_tool_like_no_other_is_answered_with_all_there_are(kgnav: Kgnav) -> None:
    assert "The tools are: " in kgnav("call", "qqqqqqqq").stderr


def test_an_argument_without_a_value_is_wrong_usage(kgnav: Kgnav) -> None:
    result = kgnav("call", "find_node", "vincent")
    assert result.exit_code == 2
    assert "'vincent' is not NAME=VALUE." in result.stderr


def test_an_unknown_argument_is_the_servers_to_refuse(kgnav: Kgnav) -> None:
    result = kgnav("call", "find_node", "hint=x", "lmit=3")
    assert result.exit_code == 1
    assert "Did you mean 'limit'?" in result.stdout


def test_a_graph_file_that_is_missing_is_an_error_answer(kgnav: Kgnav) -> None:
    result = kgnav("call", "describe_graph", "--graph", "nix.kg")
    assert result.exit_code == 1
    assert result.stdout.startswith("Store down: ")


def test_a_loaded_file_can_be_called_at_once(films: Path, kgnav: Kgnav) -> None:
    assert kgnav("load", str(films), "-o", "films.kg").exit_code == 0
    result = kgnav("call", "search", "entity=Alien", "direction=outgoing", "--graph", "films.kg")
    assert "Ridley Scott" in result.stdout


@pytest.mark.slow
def test_every_example_of_the_help_works(kgnav: Kgnav, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    help_text = main.commands["call"].epilog or ""
    examples = [line for line in map(str.strip, help_text.splitlines()) if line.startswith("kgnav call ")]
    assert len(examples) > 5
    for example in examples:
        result = kgnav(*shlex.split(example)[1:])
        assert result.exit_code == 0, (example, result.output)
