"""Locations find their adapters, and say what to do where there is none."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints

import pytest

import kgnav_mcp.adapters as registry
from kgnav_mcp.adapters import open_adapter, scheme_of
from kgnav_mcp.adapters.embedded.adapter import EmbeddedAdapter
from kgnav_mcp.errors import ConfigurationError, MissingDriver
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
    ],
)
def test_a_location_names_its_entry_point(location: str, scheme: str):
    assert scheme_of(location) == scheme


def test_a_path_is_read_as_a_graph_file_that_need_not_be_there_yet():
    assert isinstance(open_adapter("no/such/films.kg", AdapterOptions()), EmbeddedAdapter)


def test_an_unknown_scheme_is_refused_with_the_known_ones():
    with pytest.raises(ConfigurationError, match="gopher") as caught:
        open_adapter("gopher://example.org", AdapterOptions())
    assert "file:" in caught.value.next_step


def installed(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    points = EntryPoints([EntryPoint(name, value, registry.GROUP)])

    def entry_points(*, group: str) -> EntryPoints:
        return points.select(group=group)

    monkeypatch.setattr(registry, "entry_points", entry_points)


@pytest.mark.parametrize(("folder", "extra"), [("neo4j", "neo4j"), ("wikidata", "sparql"), ("endpoint", "sparql")])
def test_a_missing_driver_names_the_extra_that_brings_it(monkeypatch: pytest.MonkeyPatch, folder: str, extra: str):
    module = f"kgnav_mcp.adapters.{folder}_under_test"
    installed(monkeypatch, "store", f"kgnav_mcp.adapters.{folder}:open_adapter")

    def load(_: EntryPoint) -> object:
        raise ImportError(f"no driver for {module}", name="driver")

    monkeypatch.setattr(EntryPoint, "load", load)
    with pytest.raises(MissingDriver) as caught:
        open_adapter("store://host", AdapterOptions())
    assert caught.value.next_step == f"Run: pip install 'kgnav-mcp[{extra}]'"
    assert isinstance(caught.value.__cause__, ImportError)


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
