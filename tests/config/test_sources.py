from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.config import (
    GraphSettings,
    HttpSettings,
    Settings,
    describe_settings,
    find_config_file,
    load_settings,
    user_cache_folder,
)
from tests.config.conftest import write


def test_a_flag_wins_over_a_variable_and_that_over_the_file_and_that_over_the_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(Path("kgnav.toml"), "hub_threshold = 10\nrow_limit = 10\ntop_k = 10\n")
    monkeypatch.setenv("KGNAV_HUB_THRESHOLD", "20")
    monkeypatch.setenv("KGNAV_ROW_LIMIT", "20")

    settings = load_settings({"hub_threshold": "30"})

    assert (settings.hub_threshold, settings.row_limit, settings.top_k, settings.examples) == (30, 20, 10, 2)


def test_the_sources_are_merged_inside_a_table_too(monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path("kgnav.toml"), '[http]\nhost = "file"\nport = 1\nallowed_hosts = ["file"]\n')
    monkeypatch.setenv("KGNAV_HTTP__PORT", "2")
    monkeypatch.setenv("KGNAV_HTTP__ALLOWED_HOSTS", "a.example, b.example")

    http = load_settings({"http": {"host": "flag"}}).http

    assert http == HttpSettings(host="flag", port=2, allowed_hosts=("a.example", "b.example"))


def test_a_list_is_a_list_in_the_file_and_separated_by_commas_in_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path("kgnav.toml"), 'languages = ["de", "en"]\nwhite_list = ["film.*"]\n')
    monkeypatch.setenv("KGNAV_WHITE_LIST", "people.*,film.*")

    settings = load_settings()

    assert settings.languages == ("de", "en")
    assert settings.white_list == ("people.*", "film.*")


def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGNAV_HUB_THRESHOLD", "")
    monkeypatch.setenv("KGNAV_GRAPH", "")

    assert load_settings() == Settings()


@pytest.mark.parametrize(
    ("present", "found"),
    [
        (("named", "variable", "here", "user"), "named"),
        (("variable", "here", "user"), "variable"),
        (("here", "user"), "here"),
        (("user",), "user"),
    ],
)
def test_the_first_configuration_file_that_is_there_is_the_only_one_read(
    present: tuple[str, ...], found: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    places = {
        "named": Path("named.toml"),
        "variable": Path("variable.toml"),
        "here": Path("kgnav.toml"),
        "user": tmp_path / "config" / "kgnav" / "kgnav.toml",
    }
    for n, place in enumerate(present):
        write(places[place], f"top_k = {n + 1}\n")
    if "variable" in present:
        monkeypatch.setenv("KGNAV_CONFIG", str(places["variable"]))
    named = places["named"] if "named" in present else None

    assert find_config_file(named) == places[found]
    assert load_settings(config_file=named).top_k == 1


def test_every_setting_has_a_variable_a_key_a_meaning_and_unless_it_is_secret_a_flag() -> None:
    facts = {entry.key: entry for entry in describe_settings()}

    described = {key.partition(".")[0] for key in facts}
    assert described == set(Settings.model_fields) - {"graphs"}
    assert all(entry.meaning for entry in facts.values())
    port = facts["http.port"]
    assert (port.flag, port.env, port.default) == ("--http-port", "KGNAV_HTTP__PORT", "8365")
    assert facts["toolsets"].default == "sog,graphwalker,graphwalk,linking,plans"
    assert facts["structured"].default == "false"
    key = facts["llm.api_key"]
    assert (key.flag, key.env, key.default) == ("", "KGNAV_LLM__API_KEY", "none")
    assert all(entry.flag for entry in facts.values() if entry is not key)


def test_every_described_variable_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for facts in describe_settings():
        value = {
            "log_level": "debug",
            "toolsets": "sog",
            "http.port": "1",
            "ranker": "llm",
            "relation_lists": "freebase",
            "llm.base_url": "http://model.example/v1",
            "shots": "4",
            "similarity": "0.7",
        }.get(facts.key, "true" if facts.kind is bool else "777")
        monkeypatch.setenv(facts.env, value)

    settings, defaults = load_settings(), Settings()

    for facts in describe_settings():
        changed: object = settings
        default: object = defaults
        for part in facts.path:
            changed, default = getattr(changed, part), getattr(default, part)
        assert changed != default, facts.env


def test_the_cache_folder_follows_the_users_choice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert user_cache_folder() == tmp_path / "cache" / "kgnav-mcp"


def test_with_nothing_configured_the_demo_graph_is_served_with_the_papers_thresholds() -> None:
    settings = load_settings()

    assert settings == Settings()
    assert settings.graphs == {"demo": GraphSettings(location="demo")}
    assert (settings.hub_threshold, settings.row_limit, settings.top_k) == (50, 1000, 20)
    assert settings.http == HttpSettings(host="127.0.0.1", port=8365)
