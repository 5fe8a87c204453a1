from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kgnav_mcp.config import HttpSettings, Settings
from kgnav_mcp.server import transport
from tests.cli.conftest import Command, Kgnav

Served = list[tuple[str, Settings]]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Served:
    """What would have been served, instead of serving it."""
    calls: Served = []

    def note(name: str) -> None:
        def serve(settings: Settings) -> None:
            calls.append((name, settings))

        monkeypatch.setattr(transport, name, serve)

    note("serve_stdio")
    note("serve_http")
    return calls


def test_without_anything_the_demo_graph_is_served_over_stdio(kgnav: Kgnav, served: Served) -> None:
    assert kgnav("serve").exit_code == 0
    assert served == [("serve_stdio", Settings())]


def test_every_kind_of_flag_reaches_the_settings(kgnav: Kgnav, served: Served) -> None:
    for name in ("films.kg", "b.kg"):
        Path(name).touch()
    flags = "--hub-threshold 10 --timeout 2.5 --languages de,en --structured --log-level info -g films.kg -g w=b.kg"
    kgnav("serve", *flags.split())

    [(_, settings)] = served
    assert (settings.hub_threshold, settings.timeout, settings.languages) == (10, 2.5, ("de", "en"))
    assert settings.structured
    assert settings.log_level == "INFO"
    assert {name: graph.location for name, graph in settings.graphs.items()} == {"films": "films.kg", "w": "b.kg"}


@pytest.mark.parametrize("graph", ["nope.kg", "films=nope.kg"])
def test_a_graph_file_named_on_the_command_line_that_does_not_exist_is_wrong_usage(
    kgnav: Kgnav, served: Served, graph: str
) -> None:
    result = kgnav("serve", "-g", graph, "-g", "demo")
    assert (result.exit_code, served) == (2, [])
    assert result.stderr.startswith(
        "Error: the graph file nope.kg does not exist\nMake it from its sources: kgnav load"
    )


def test_the_papers_formats_are_announced_on_stderr(kgnav: Kgnav, served: Served) -> None:
    announced = kgnav("serve", "--paper-format")
    assert announced.exit_code == 0
    assert "no completeness lines, cursors and token budget" in announced.stderr
    assert announced.stdout == ""
    assert kgnav("serve").stderr == ""
    assert [settings.paper_format for _, settings in served] == [True, False]


def test_a_switch_of_the_file_can_be_turned_off_by_a_flag(kgnav: Kgnav, served: Served) -> None:
    Path("my.toml").write_text("structured = true\ntop_k = 3\n", encoding="utf-8")
    kgnav("serve", "--config", "my.toml", "--no-structured")

    [(_, settings)] = served
    assert (settings.structured, settings.top_k) == (False, 3)


@pytest.mark.parametrize(
    ("arguments", "host", "port"),
    [
        (["--http"], "127.0.0.1", 8365),
        (["--http", "--graph", "demo"], "127.0.0.1", 8365),
        (["--http", "192.0.2.1:80"], "192.0.2.1", 80),
        (["--http", ":9000"], "127.0.0.1", 9000),
        (["--http", "example.org"], "example.org", 8365),
        (["--http", "[::1]:9000"], "::1", 9000),
        (["--http", "[::1]"], "::1", 8365),
        (["--http", ":9000", "--http-port", "9001"], "127.0.0.1", 9001),
    ],
)
def test_http_takes_an_address_or_the_configured_one(
    arguments: list[str], host: str, port: int, kgnav: Kgnav, served: Served
) -> None:
    assert kgnav("serve", *arguments).exit_code == 0
    [(name, settings)] = served
    assert name == "serve_http"
    assert settings.http == HttpSettings(host=host, port=port)


def test_a_port_that_is_no_number_is_refused(kgnav: Kgnav, served: Served) -> None:
    result = kgnav("serve", "--http", "localhost:web")
    assert result.exit_code == 2
    assert "--http-port = 'web': this must be a whole number" in result.stderr
    assert not served


@pytest.mark.slow
def test_stdout_carries_the_protocol_and_nothing_else(command: Command) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }

    result = command("kgnav-mcp", "--log-level", "DEBUG", stdin=json.dumps(hello) + "\n")

    [answer] = result.stdout.splitlines()
    assert json.loads(answer)["result"]["serverInfo"]["name"] == "kgnav"
    assert result.returncode == 0


@pytest.mark.slow
def test_the_start_of_the_server_waits_for_no_parser_and_no_driver() -> None:
    heavy = "{'rdflib', 'pyoxigraph', 'tqdm', 'neo4j', 'SPARQLWrapper', 'pydantic_settings'}"
    start = f"import sys, kgnav_mcp.cli, kgnav_mcp.server.transport; print(sorted({heavy} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"
