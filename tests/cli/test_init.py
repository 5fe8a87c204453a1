"""`kgnav init`: what it asks, what it finds, and that the server reads what it writes."""

from __future__ import annotations

import socket
import tomllib
from pathlib import Path

import ladybug
import pytest
from click.testing import CliRunner

from kgnav_mcp.cli import main
from kgnav_mcp.cli.clients import CLIENTS, Machine
from kgnav_mcp.config import load_settings
from tests.cli.conftest import Kgnav


@pytest.fixture
def films_graph(kgnav: Kgnav, films: Path) -> Path:
    assert kgnav("load", str(films), "-o", "films.kg").exit_code == 0
    return Path("films.kg")


def _written(file: str = "kgnav.toml") -> str:
    return Path(file).read_text(encoding="utf-8")


def test_a_graph_file_gives_a_configuration_that_the_server_reads(kgnav: Kgnav, films_graph: Path) -> None:
    result = kgnav("init", str(films_graph), "--yes", "--language", "nl,en")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "The graph answers: graph file films.kg, 2 entities, " in result.output
    assert 'location = "films.kg"' in _written()
    settings = load_settings()
    assert list(settings.graphs) == ["films"]
    assert settings.languages == ("nl", "en")
    assert "Alien" in kgnav("call", "find_node", "hint=Alien").output


def test_a_store_in_a_file_is_configured_by_its_whole_path(kgnav: Kgnav) -> None:
    with ladybug.Database("people.lbug") as database, ladybug.Connection(database) as connection:
        connection.execute("CREATE NODE TABLE Person(id STRING, name STRING, PRIMARY KEY(id))")
        connection.execute("CREATE (:Person {id: 'ada', name: 'Ada'})")
    result = kgnav("init", "ladybug+file:people.lbug", "--yes")
    assert (result.exit_code, result.stderr) == (0, "")
    graph = tomllib.loads(_written())["graphs"]["people"]
    assert graph["location"] == f"ladybug+file:{Path('people.lbug').absolute()}"
    assert "Person:id=ada" in kgnav("call", "find_node", "hint=Ada").output


def test_questions_are_asked_where_flags_are_missing(films_graph: Path) -> None:
    answers = f"{films_graph}\nmovies\nen\nnone\n"
    result = CliRunner().invoke(main, ["init"], input=answers)
    assert result.exit_code == 0, result.output
    assert "Where is the graph" in result.output
    assert list(tomllib.loads(_written())["graphs"]) == ["movies"]


def test_an_existing_file_is_not_replaced_without_consent(kgnav: Kgnav, films_graph: Path) -> None:
    Path("kgnav.toml").write_text("top_k = 3\n", encoding="utf-8")
    result = kgnav("init", str(films_graph), "--yes")
    assert result.exit_code == 1
    assert "kgnav.toml exists" in result.output
    refused = CliRunner().invoke(main, ["init", str(films_graph)], input="n\n")
    assert refused.exit_code == 1
    assert _written() == "top_k = 3\n"
    assert kgnav("init", str(films_graph), "--yes", "--force").exit_code == 0
    assert "films.kg" in _written()


def test_sources_are_answered_with_the_command_that_loads_them(kgnav: Kgnav, films: Path) -> None:
    result = kgnav("init", str(films), "--yes")
    assert result.exit_code == 1
    assert f"Run: kgnav load {films} -o {films.with_suffix('.kg')}" in result.output
    assert not Path("kgnav.toml").exists()


def test_sources_are_loaded_where_the_user_wants_it(kgnav: Kgnav, films: Path) -> None:
    assert kgnav("init", str(films), "--yes", "--load").exit_code == 0
    assert load_settings().graphs["films"].location == "films.kg"
    assert "Alien" in kgnav("call", "find_node", "hint=Alien").output


def test_a_folder_stands_for_its_graph_file(kgnav: Kgnav, films_graph: Path) -> None:
    folder = Path("data")
    folder.mkdir()
    films_graph.rename(folder / "films.kg")
    assert kgnav("init", "data", "--yes").exit_code == 0
    assert 'location = "data/films.kg"' in _written()


def test_a_store_that_does_not_answer_leaves_no_file_and_no_password(kgnav: Kgnav) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}"
    result = kgnav("init", f"bolt://reader:s3cret@{place}", "--yes", "--name", "db")
    assert result.exit_code == 1
    assert "does not answer" in result.output
    assert "s3cret" not in result.output
    assert not Path("kgnav.toml").exists()

    wanted = CliRunner().invoke(main, ["init", f"bolt://reader:s3cret@{place}", "--name", "db"], input="\ny\nnone\n")
    assert wanted.exit_code == 0, wanted.output
    assert "Set KGNAV_GRAPHS__DB__OPTIONS__PASSWORD to the password" in wanted.output
    assert "s3cret" not in wanted.output + _written()
    graph = tomllib.loads(_written())["graphs"]["db"]
    assert graph == {"location": f"bolt://{place}", "options": {"user": "reader"}}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.kg"], "there is no file or folder nowhere.kg"),
        (["gopher://x"], "no adapter for locations of the kind 'gopher'"),
        (["https://abc.databases.neo4j.io"], "neo4j+s://abc.databases.neo4j.io"),
        (["demo", "--key", "Person=id"], "keys cannot be used for a graph of the kind file"),
        (["bolt://localhost:1", "--user", "x", "--key", "Person"], "--key takes LABEL=PROPERTY"),
        ([], "LOCATION is required"),
        (["demo", "-o", "films.nt/kgnav.toml"], "films.nt/kgnav.toml cannot be written: "),
        (["demo", "--name", "9"], "'9' is not a valid name of a graph"),
    ],
)
def test_wrong_answers_are_refused(arguments: list[str], message: str, kgnav: Kgnav) -> None:
    Path("films.nt").touch()
    result = kgnav("init", *arguments, "--yes")
    assert result.exit_code in {1, 2}
    assert message in result.output
    assert not Path("kgnav.toml").exists()


def test_the_server_is_added_to_a_client(
    kgnav: Kgnav, films_graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Machine, "current", lambda: Machine("linux", tmp_path / "home", {}))
    assert kgnav("init", str(films_graph), "--yes", "--install", "cursor").exit_code == 0
    text = CLIENTS["cursor"].file(Machine.current()).read_text(encoding="utf-8")
    assert CLIENTS["cursor"].syntax.parse(text)["mcpServers"]["kgnav"]["args"] == [
        "--config",
        str(tmp_path / "kgnav.toml"),
    ]
