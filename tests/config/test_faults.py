from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kgnav_mcp.config import TOOLSETS, Settings, load_settings
from tests.config.conftest import refusal, write

*_FIRST, _LAST = map(repr, TOOLSETS)


def test_a_named_configuration_file_that_is_missing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no configuration file nix.toml" in refusal(config_file=Path("nix.toml")).message
    monkeypatch.setenv("KGNAV_CONFIG", "nowhere.toml")
    error = refusal()
    assert "nowhere.toml" in error.message
    assert "KGNAV_CONFIG" in error.next_step


def test_a_file_that_is_no_toml_is_named_with_the_place_of_the_fault() -> None:
    write(Path("kgnav.toml"), "top_k = \n")
    assert "kgnav.toml is not valid TOML" in refusal().message
    assert "line 1" in refusal().message


def test_a_file_that_is_not_text_is_refused() -> None:
    Path("kgnav.toml").write_bytes(b"\xff\xfe")
    assert "kgnav.toml is not valid TOML" in refusal().message


def test_a_misspelt_key_is_named_with_its_file_and_the_nearest_valid_key() -> None:
    write(Path("kgnav.toml"), "hub_treshold = 3\n")
    error = refusal()
    assert error.message == "hub_treshold in kgnav.toml: there is no such setting"
    assert error.next_step == "Did you mean hub_threshold?"


def test_a_key_like_no_other_is_answered_with_all_there_are() -> None:
    write(Path("kgnav.toml"), "[http]\nxyzzy = 3\n")
    assert refusal().next_step == "The settings here are: allowed_hosts, allowed_origins, connections, host, port."


def test_a_stores_own_setting_beside_the_location_is_sent_to_the_options() -> None:
    write(Path("kgnav.toml"), '[graphs.movies]\nlocation = "bolt://db"\nuser = "neo4j"\n')
    error = refusal()
    assert error.message == "graphs.movies.user in kgnav.toml: there is no such setting"
    assert "under `options`" in error.next_step


def test_a_misspelt_variable_is_refused_with_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGNAV_HUB_TRESHOLD", "3")
    error = refusal()
    assert "KGNAV_HUB_TRESHOLD" in error.message
    assert error.next_step == "Did you mean KGNAV_HUB_THRESHOLD?"


@pytest.mark.parametrize(
    "variable", ["KGNAV_HTP__PORT", "KGNAV_HTTP__PROT", "KGNAV_GRAPHS__A__LOCATOIN", "KGNAV_LLM__MODLE"]
)
def test_a_misspelt_part_of_a_nested_variable_is_refused(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "3")
    error = refusal()
    assert variable in error.message
    assert "Did you mean" in f"{error.message} {error.next_step}"


def test_a_foreign_variable_with_our_prefix_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGNAV_DATA", "somewhere")
    assert load_settings() == Settings()


@pytest.mark.parametrize(
    ("setting", "value", "reason"),
    [
        ("hub_threshold", 0, "this must be 1 or more"),
        ("hub_threshold", 1.5, "this must be a whole number"),
        ("row_limit", 0, "this must be 1 or more"),
        ("top_k", "many", "this must be a whole number"),
        ("top_k", [], "this must be a whole number"),
        ("examples", -1, "this must be 0 or more"),
        ("budget", 100, "this must be 500 or more"),
        ("literal_limit", 1, "this must be 20 or more"),
        ("timeout", 0, "this must be more than 0"),
        ("timeout", "soon", "this must be a number"),
        ("timeout", [], "this must be a number"),
        ("languages", [], "at least one is needed"),
        ("languages", 3, "this must be a list"),
        ("white_list", [3], "this must be text"),
        ("toolsets", ["sog", "mace"], f"this must be one of {', '.join(_FIRST)} or {_LAST}"),
        ("toolsets", [], "at least one is needed"),
        ("paper_format", "maybe", "this must be true or false"),
        ("structured", [], "this must be true or false"),
        ("log_level", "LOUD", "this must be one of 'DEBUG', 'INFO', 'WARNING', 'ERROR' or 'CRITICAL'"),
        ("ranker", "tfidf", "this must be one of 'bm25', 'semantic' or 'llm'"),
        ("relation_lists", "wikidata", "this must be one of 'none' or 'freebase'"),
        ("llm", 3, "this must be a table"),
        ("llm.base_url", "model.example", "this must be the address of an HTTP or HTTPS server"),
        ("llm.timeout", 0, "this must be more than 0"),
        ("http", 3, "this must be a table"),
        ("http.port", 70_000, "this must be 65535 or less"),
        ("http.host", "", "this must not be empty"),
        ("graphs", 3, "this must be a table"),
        ("graphs", {}, "at least one is needed"),
        ("graphs.a", 3, "this must be a table"),
        ("graphs.a.location", 3, "this must be text"),
        ("graphs.a.location", "", "this must not be empty"),
    ],
)
def test_a_bad_value_is_named_with_its_source_the_reason_and_the_meaning(
    setting: str, value: object, reason: str
) -> None:
    flags: Any = value
    for part in reversed(setting.split(".")):
        flags = {part: flags}

    error = refusal(flags=flags)

    assert error.message.startswith("--" + setting.replace(".", "-").replace("_", "-"))
    assert error.message.endswith(reason)
    assert error.next_step.startswith("Meaning: ")


def test_a_list_whose_only_value_is_bad_is_not_also_called_empty() -> None:
    error = refusal(flags={"toolsets": "mace"})

    assert error.message.startswith("--toolsets = 'mace': this must be one of ")
    assert "at least one" not in error.message + error.next_step


def test_a_bad_value_is_traced_to_the_source_it_came_from(monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path("kgnav.toml"), "top_k = 0\nrow_limit = 0\n[graphs.a]\n")
    monkeypatch.setenv("KGNAV_TOP_K", "none")
    monkeypatch.setenv("KGNAV_HTTP__PORT", "none")

    message = refusal(flags={"examples": "none"}).message

    assert message.startswith("5 settings are wrong:")
    for fault in ("row_limit in kgnav.toml = 0", "KGNAV_TOP_K = 'none'", "KGNAV_HTTP__PORT = 'none'"):
        assert fault in message
    assert "--examples = 'none'" in message
    assert "graphs.a.location in kgnav.toml is missing" in message


def test_a_wrong_secret_is_named_but_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path("kgnav.toml"), "[llm]\napi_key = 4711\n")
    error = refusal()
    assert error.message == "llm.api_key in kgnav.toml: this must be text"
    assert "4711" not in error.next_step
    monkeypatch.setenv("KGNAV_LLM__API_KEY", "sesame")
    assert "sesame" not in repr(load_settings())
