from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from threading import Thread

import pytest

from kgnav_mcp import __version__
from tests.cli.conftest import Command, Kgnav


def test_a_sound_installation_is_shown_with_its_versions_and_the_size_of_its_graphs(command: Command) -> None:
    result = command("kgnav", "doctor")
    assert (result.returncode, result.stderr) == (0, "")
    versions, drivers, extras, file, graph = result.stdout.splitlines()[:5]
    assert versions.startswith(f"kgnav-mcp {__version__}, Python 3.")
    assert f"SQLite {sqlite3.sqlite_version} with FTS5" in versions
    assert drivers == f"drivers: SPARQLWrapper {version('SPARQLWrapper')}, neo4j {version('neo4j')}"
    assert extras.count("semantic (") == 1
    assert file == "configuration file: none"
    assert graph.startswith("graph demo (demo): ok: ")
    assert " entities, " in graph


def test_the_configuration_file_in_use_is_named(kgnav: Kgnav) -> None:
    Path("kgnav.toml").write_text("top_k = 3\n", encoding="utf-8")
    assert "configuration file: kgnav.toml\n" in kgnav("doctor").stdout


def test_a_graph_file_that_is_missing_is_reported_beside_one_that_is_there(kgnav: Kgnav) -> None:
    result = kgnav("doctor", "--graph", "nix.kg", "--graph", "demo")
    assert result.exit_code == 1
    assert "graph nix (nix.kg): DOES NOT ANSWER: " in result.stdout
    assert "graph demo (demo): ok: " in result.stdout
    assert "Traceback" not in result.output


@pytest.mark.parametrize("content", [b"", b"this is no graph", b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_broken_graph_file_is_reported_with_the_way_to_mend_it(content: bytes, kgnav: Kgnav) -> None:
    Path("broken.kg").write_bytes(content)
    result = kgnav("doctor", "--graph", "broken.kg")
    assert result.exit_code == 1
    assert "graph broken (broken.kg): DOES NOT ANSWER: " in result.stdout
    assert "kgnav load" in result.stdout


def test_a_password_in_a_location_is_not_printed(kgnav: Kgnav) -> None:
    result = kgnav("doctor", "--graph", "db=nosuchstore://user:hidden@localhost/db")
    assert result.exit_code == 1
    assert "graph db (nosuchstore://localhost/db): DOES NOT ANSWER: " in result.stdout
    assert "hidden" not in result.output


def test_a_configuration_that_cannot_be_read_is_said_without_a_traceback(kgnav: Kgnav) -> None:
    Path("kgnav.toml").write_text("graphs = \n", encoding="utf-8")
    result = kgnav("doctor")
    assert result.exit_code == 2
    assert "kgnav.toml is not valid TOML" in result.stderr


def test_wikidata_without_a_contact_is_reported_with_the_setting_that_is_missing(kgnav: Kgnav) -> None:
    result = kgnav("doctor", "--graph", "wd=wikidata+https://query.wikidata.org/sparql")
    assert result.exit_code == 1
    assert "graph wd (wikidata+https://query.wikidata.org/sparql): DOES NOT ANSWER: " in result.stdout
    assert "no contact is set" in result.stdout
    assert "KGNAV_CONTACT" in result.stdout
    assert "Traceback" not in result.output


def test_a_contact_that_reaches_nobody_is_reported(kgnav: Kgnav) -> None:
    result = kgnav("doctor", "--contact", "me", "--graph", "wd=wikidata+https://query.wikidata.org/sparql")
    assert result.exit_code == 1
    assert "'me' is not an e-mail address or web address" in result.stdout


def test_an_address_where_no_wikidata_is_says_how_to_correct_it(kgnav: Kgnav, web_page: str) -> None:
    result = kgnav("doctor", "--graph", f"wd=wikidata+{web_page}")
    assert result.exit_code == 1
    assert "DOES NOT ANSWER: " in result.stdout
    assert "a web page instead of a SPARQL result" in result.stdout
    assert "Correct the graph's address" in result.stdout


@pytest.fixture
def web_page() -> Iterator[str]:
    """The address of a server that answers everything with a web page."""

    class Page(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            body = b"<html>Welcome</html>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class has the name
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()
