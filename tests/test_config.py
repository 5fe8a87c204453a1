from __future__ import annotations

from pathlib import Path
from typing import Any

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
from kgnav_mcp.errors import ConfigurationError


@pytest.fixture(autouse=True)
def nothing_configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty folder, no user configuration, and none of our variables."""
    for facts in describe_settings():
        monkeypatch.delenv(facts.env, raising=False)
    for name in ("KGNAV_CONFIG", "KGNAV_GRAPH", "KGNAV_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def refusal(**arguments: Any) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as caught:
        load_settings(**arguments)
    assert "pydantic" not in str(caught.value)
    assert "://" not in f"{caught.value} {caught.value.next_step}"
    return caught.value


def test_with_nothing_configured_the_demo_graph_is_served_with_the_papers_thresholds() -> None:
    settings = load_settings()

    assert settings == Settings()
    assert settings.graphs == {"demo": GraphSettings(location="demo")}
    assert (settings.hub_threshold, settings.row_limit, settings.top_k) == (50, 1000, 20)
    assert settings.http == HttpSettings(host="127.0.0.1", port=8365)


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
    assert refusal().next_step == "The settings here are: allowed_hosts, allowed_origins, host, port."


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


@pytest.mark.parametrize("variable", ["KGNAV_HTP__PORT", "KGNAV_HTTP__PROT", "KGNAV_GRAPHS__A__LOCATOIN"])
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
        ("toolsets", ["sog", "maze"], "this must be one of 'sog', 'graphwalker', 'graphwalk' or 'linking'"),
        ("toolsets", [], "at least one is needed"),
        ("paper_format", "maybe", "this must be true or false"),
        ("structured", [], "this must be true or false"),
        ("log_level", "LOUD", "this must be one of 'DEBUG', 'INFO', 'WARNING', 'ERROR' or 'CRITICAL'"),
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
    assert error.next_step.startswith("It means: ")


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


def test_graphs_of_the_file_are_all_served_with_paths_as_seen_from_the_file(tmp_path: Path) -> None:
    file = write(
        tmp_path / "far" / "away.toml",
        '[graphs.films]\nlocation = "films.kg"\nlanguages = ["de"]\ntimeout = 5\n'
        '[graphs.wiki]\nlocation = "wikidata+https://query.example/sparql"\noptions = { contact = "me@example.org" }\n'
        f'[graphs.fixed]\nlocation = "{tmp_path}/fixed.kg"\n[graphs.demo]\nlocation = "demo"\n',
    )

    graphs = load_settings(config_file=file).graphs

    assert graphs["films"] == GraphSettings(location=str(tmp_path / "far" / "films.kg"), languages=("de",), timeout=5.0)
    assert graphs["wiki"].location == "wikidata+https://query.example/sparql"
    assert graphs["wiki"].options == {"contact": "me@example.org"}
    assert graphs["fixed"].location == f"{tmp_path}/fixed.kg"
    assert graphs["demo"].location == "demo"


def test_graph_flags_choose_and_add_to_the_graphs_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path("kgnav.toml"), '[graphs.films]\nlocation = "films.kg"\ntimeout = 5\n[graphs.other]\nlocation = "o.kg"\n')
    monkeypatch.setenv("KGNAV_GRAPH", "other")

    graphs = load_settings(graphs=["films", "some/my best.kg", "x=y.kg", "demo"]).graphs

    assert list(graphs) == ["films", "my_best", "x", "demo"]
    assert graphs["films"].timeout == 5.0
    assert graphs["my_best"].location == "some/my best.kg"
    assert graphs["x"].location == "y.kg"
    assert graphs["demo"].location == "demo"


def test_the_graph_variable_chooses_like_the_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path("kgnav.toml"), '[graphs.films]\nlocation = "films.kg"\n[graphs.other]\nlocation = "o.kg"\n')
    monkeypatch.setenv("KGNAV_GRAPH", "other, w=wikidata+https://query.example/sparql?a=b")

    graphs = load_settings().graphs

    assert list(graphs) == ["other", "w"]
    assert graphs["w"].location == "wikidata+https://query.example/sparql?a=b"


@pytest.mark.parametrize(
    ("location", "name"),
    [
        ("films.kg", "films"),
        ("a/b/fb15k-237.kg", "fb15k-237"),
        ("2024.kg", "graph_2024"),
        ("bolt://localhost:7687", "localhost"),
        ("sparql+https://dbpedia.org/sparql?default=x", "dbpedia_org"),
    ],
)
def test_a_graph_without_a_name_takes_it_from_its_location(location: str, name: str) -> None:
    assert load_settings(graphs=[location]).graphs == {name: GraphSettings(location=location)}


def test_a_word_that_is_neither_a_known_graph_nor_a_file_is_refused_with_the_nearest() -> None:
    write(Path("kgnav.toml"), '[graphs.films]\nlocation = "films.kg"\n')
    error = refusal(graphs=["filsm"])
    assert "no graph is called 'filsm' in kgnav.toml" in error.message
    assert error.next_step == "Did you mean films?"


def test_two_graphs_of_one_name_are_refused() -> None:
    error = refusal(graphs=["a/films.kg", "b/films.kg"])
    assert error.message == "two graphs are called 'films'"
    assert "NAME=LOCATION" in error.next_step


def test_a_graph_name_that_could_not_stand_in_an_address_is_refused() -> None:
    write(Path("kgnav.toml"), '[graphs."my films"]\nlocation = "films.kg"\n')
    assert refusal().message == "'my films' cannot be the name of a graph"


def test_a_password_can_come_from_a_variable_and_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path("kgnav.toml"), '[graphs.movies]\nlocation = "bolt://neo4j:hidden@db:7687/movies"\n')
    monkeypatch.setenv("KGNAV_GRAPHS__MOVIES__OPTIONS__PASSWORD", "secret")

    settings = load_settings()

    assert settings.graphs["movies"].options == {"password": "secret"}
    assert settings.graphs["movies"].shown_location == "bolt://db:7687/movies"
    assert "secret" not in repr(settings)
    assert "hidden" not in repr(settings)


def test_every_setting_has_a_flag_a_variable_a_key_and_a_meaning() -> None:
    facts = {entry.key: entry for entry in describe_settings()}

    described = {key.partition(".")[0] for key in facts}
    assert described == set(Settings.model_fields) - {"graphs"}
    assert all(entry.meaning for entry in facts.values())
    port = facts["http.port"]
    assert (port.flag, port.env, port.default) == ("--http-port", "KGNAV_HTTP__PORT", "8365")
    assert facts["toolsets"].default == "sog,graphwalker,graphwalk,linking"
    assert facts["structured"].default == "false"


def test_every_described_variable_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for facts in describe_settings():
        value = {"log_level": "debug", "toolsets": "sog", "http.port": "1"}.get(
            facts.key, "true" if facts.kind is bool else "777"
        )
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
