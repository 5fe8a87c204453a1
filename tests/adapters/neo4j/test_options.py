"""What a location and the options of a Neo4j graph mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.adapters.neo4j.store import Neo4jOptions
from kgnav_mcp.config import load_settings
from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.port import AdapterOptions


def read(location: str, **extra: object) -> Neo4jOptions:
    return Neo4jOptions.read(location, AdapterOptions(extra=extra))


@pytest.mark.parametrize(
    ("location", "extra", "uri", "database"),
    [
        ("bolt://127.0.0.1", {}, "bolt://127.0.0.1", None),
        ("bolt://db.example:7688/films", {}, "bolt://db.example:7688", "films"),
        ("neo4j+s://x.databases.neo4j.io?database=films", {}, "neo4j+s://x.databases.neo4j.io", "films"),
        ("neo4j://db.example?policy=eu&database=films", {}, "neo4j://db.example?policy=eu", "films"),
        ("bolt://db.example/films", {"database": "people"}, "bolt://db.example", "people"),
        ("BOLT+SSC://ann:secret@db.example", {}, "bolt+ssc://db.example", None),
    ],
)
def test_a_location_names_the_server_and_the_database(
    location: str, extra: dict[str, object], uri: str, database: str | None
) -> None:
    graph = read(location, **extra)

    assert (graph.uri, graph.database) == (uri, database)


def test_credentials_come_from_the_location_from_options_or_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("from file\n")

    from_url = read("bolt://ann:s%40cret@db.example").auth
    from_options = read("bolt://ann:other@db.example", user="bob", password="told").auth  # noqa: S106 - no real one
    from_file = read("bolt://db.example", user="bob", password_file=str(file)).auth
    token = read("bolt://db.example", token_file=str(file)).auth

    assert from_url is not None
    assert (from_url.principal, from_url.credentials) == ("ann", "s@cret")
    assert from_options is not None
    assert (from_options.principal, from_options.credentials) == ("bob", "told")
    assert from_file is not None
    assert from_file.credentials == "from file"
    assert token is not None
    assert (token.scheme, token.credentials) == ("bearer", "from file")
    assert read("bolt://db.example").auth is None


def test_credentials_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGNAV_GRAPHS__FILMS__LOCATION", "bolt://db.example")
    monkeypatch.setenv("KGNAV_GRAPHS__FILMS__OPTIONS__USER", "ann")
    monkeypatch.setenv("KGNAV_GRAPHS__FILMS__OPTIONS__PASSWORD", "Secret1")

    graph = load_settings().graphs["films"]
    auth = read(graph.location, **graph.options).auth

    assert auth is not None
    assert (auth.principal, auth.credentials) == ("ann", "Secret1")
    assert "Secret1" not in repr(graph)


def test_no_secret_is_in_what_is_printed_of_a_graph_or_of_a_refusal() -> None:
    graph = read("bolt://ann:Secret1@db.example", token="Secret2")  # noqa: S106 - no real one
    assert "Secret" not in repr(graph)

    for location in ("bolt://ann:Secret1@", "bolt://ann:Secret1@db.example:port"):
        with pytest.raises(ConfigurationError) as caught:
            read(location)
        assert "Secret1" not in caught.value.message + caught.value.next_step


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        ({"pasword": "x"}, "no option 'pasword'"),
        ({"password": 1}, "'password' must be a text"),
        ({"keys": ["id"]}, "'keys' must be a table"),
        ({"keys": {"Film": 1}}, "'keys' must be a table with a property"),
        ({"names": 3}, "'names' must be a list"),
        ({"password_file": "/nowhere/at/all"}, "'password_file' cannot be read"),
        ({"ca_file": "/nowhere/at/all"}, "'ca_file' cannot be read"),
    ],
)
def test_a_wrong_option_is_refused_with_the_way_to_write_it(extra: dict[str, object], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says) as caught:
        read("bolt://db.example", **extra)
    assert caught.value.next_step


def test_names_are_a_list_for_all_nodes_or_a_table_by_label() -> None:
    assert read("bolt://x", names=["title"]).properties.names == ("title",)
    by_label = read("bolt://x", names={"Film": "headline", "Person": ["nick", "full"]}).properties
    assert by_label.names_of == {"Film": ("headline",), "Person": ("nick", "full")}
    assert "name" in by_label.names
