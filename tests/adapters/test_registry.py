"""Locations find their adapters, and say what to do where there is none."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

import kgnav_mcp.adapters as registry
from kgnav_mcp.adapters import open_adapter, scheme_of
from kgnav_mcp.adapters.embedded.adapter import EmbeddedAdapter
from kgnav_mcp.app import App
from kgnav_mcp.config import GraphSettings, Settings
from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.port import AdapterOptions


@pytest.mark.parametrize(
    ("location", "scheme"),
    [
        ("films.kg", "file"),
        ("./a b/films?.kg", "file"),
        ("C:\\graphs\\films.kg", "file"),
        ("C:/graphs/films.kg", "file"),
        ("bolt:films.kg", "file"),
        ("file:films.kg", "file"),
        ("file:///films.kg", "file"),
        ("bolt://localhost:7687", "bolt"),
        ("neo4j+s://db.example", "neo4j+s"),
        ("Freebase+HTTPS://example.org/sparql", "freebase+https"),
        ("wikidata+http://localhost", "wikidata+http"),
        ("ladybug+file:people.lbug", "ladybug+file"),
        ("ladybug+file:///people.lbug", "ladybug+file"),
    ],
)
def test_a_location_names_its_entry_point(location: str, scheme: str):
    assert scheme_of(location) == scheme


def test_a_path_is_read_as_a_graph_file_that_need_not_be_there_yet():
    assert isinstance(open_adapter("no/such/films.kg", AdapterOptions()), EmbeddedAdapter)


def test_the_url_of_an_endpoint_without_its_kind_of_store_is_refused_with_the_kinds():
    with pytest.raises(ConfigurationError) as refused:
        open_adapter("http://user:secret@localhost/query", AdapterOptions())
    assert refused.value.next_step == (
        "Write which store it is at the beginning of the URL: freebase+http://, sparql+http://, wikidata+http://."
    )


def test_an_unknown_scheme_is_refused_with_the_known_ones():
    with pytest.raises(ConfigurationError, match="gopher") as caught:
        open_adapter("gopher://example.org", AdapterOptions())
    assert "file:" in caught.value.next_step


def installed(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    points = EntryPoints([EntryPoint(name, value, registry.GROUP)])
    monkeypatch.setattr(registry, "installed_adapters", lambda: points)


def test_what_is_installed_is_read_once_and_anew_where_the_search_path_has_changed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    before = registry.installed_adapters()
    assert registry.installed_adapters() is before
    package = tmp_path / "late-1.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: late\nVersion: 1\n")
    (package / "entry_points.txt").write_text(f"[{registry.GROUP}]\nlate = late:open_adapter\n")
    monkeypatch.syspath_prepend(str(tmp_path))  # pyright: ignore[reportUnknownMemberType]
    assert registry.installed_adapters().names == before.names | {"late"}


DRIVERS = {
    "bolt": "neo4j",
    "sparql+http": "SPARQLWrapper",
    "freebase+http": "SPARQLWrapper",
    "wikidata+http": "SPARQLWrapper",
}


@pytest.mark.slow
def test_a_missing_driver_is_named_in_the_answer_to_a_call():
    """In a process of its own, where nothing has imported the drivers yet."""
    script = f"""
import sys
from kgnav_mcp.cli import main
sys.modules |= dict.fromkeys({sorted(set(DRIVERS.values()))})
for scheme in {list(DRIVERS)}:
    try:
        main(["call", "find_node", "hint=x", "--graph", scheme + "://127.0.0.1:1/"])
    except SystemExit as ended:
        print(ended.code)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "".join(
        f"Not set up: the adapter for {scheme!r} cannot be imported: {driver} is missing.\n"
        "Next: Reinstall kgnav-mcp with all packages that it requires.\n1\n"
        for scheme, driver in DRIVERS.items()
    )


async def test_a_driver_that_is_imported_when_the_graph_opens_is_named_as_well(monkeypatch: pytest.MonkeyPatch):
    async def open_graph(_: object) -> None:
        raise ModuleNotFoundError("No module named 'late'", name="late")

    monkeypatch.setattr(EmbeddedAdapter, "open", open_graph)
    async with App(Settings(graphs={"films": GraphSettings(location="films.kg")})) as app:
        with pytest.raises(ConfigurationError, match="late is missing"):
            async with app.graph().adapter():
                pytest.fail("there is no such driver")


def test_an_adapter_of_somebody_else_that_cannot_be_imported_says_what_is_missing(monkeypatch: pytest.MonkeyPatch):
    installed(monkeypatch, "store", "no_such_package.adapter:open_adapter")
    with pytest.raises(ConfigurationError, match="no_such_package is missing"):
        open_adapter("store://host", AdapterOptions())


def test_a_mistake_inside_an_adapter_is_not_taken_for_a_missing_driver(monkeypatch: pytest.MonkeyPatch):
    installed(monkeypatch, "store", "kgnav_mcp.adapters.no_such_adapter:open_adapter")
    with pytest.raises(ModuleNotFoundError):
        open_adapter("store://host", AdapterOptions())


def test_opening_the_registry_imports_neither_an_adapter_nor_a_driver():
    script = (
        "import sys, kgnav_mcp.adapters.embedded as e; from kgnav_mcp.port import AdapterOptions; "
        "import kgnav_mcp.adapters; "
        "names = {'sqlite3', 'rapidfuzz', 'rdflib', 'pyoxigraph', 'neo4j', 'SPARQLWrapper'}; "
        "sys.exit(', '.join(names & set(sys.modules)) or 0)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_opening_a_graph_file_needs_no_package_but_this_one():
    script = (
        "import sys; from kgnav_mcp.adapters import open_adapter; from kgnav_mcp.port import AdapterOptions; "
        "open_adapter('films.kg', AdapterOptions()); names = {'rapidfuzz', 'rdflib', 'pyoxigraph', 'neo4j'}; "
        "sys.exit(', '.join(names & set(sys.modules)) or 0)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(("level", "shown"), [("INFO", False), ("DEBUG", True)])
def test_what_drivers_log_of_a_dead_store_is_shown_at_the_level_of_debugging_alone(level: str, shown: bool):
    command = ["call", "find_node", "hint=x", "--graph", "neo4j://127.0.0.1:1/", "--log-level", level]
    script = f"from kgnav_mcp.cli import main; main({command})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ("<POOL>" in done.stderr, bool(done.stderr)) == (shown, shown)
    assert "Neo4j does not answer at 127.0.0.1:1" in done.stdout
