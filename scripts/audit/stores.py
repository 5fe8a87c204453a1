"""The stores that hold the graphs: each started and filled by its own means."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import neo4j_store
from .mixes import GENERAL, Mix
from .raw_graph import RawGraph

SERVICE = Path(__file__).parents[1] / "service"
SPARQL_STORES = ("oxigraph", "virtuoso", "blazegraph", "rdf4j", "fuseki")
GRAPH_FILE, NEO4J = "file", "neo4j"
STORES = (GRAPH_FILE, NEO4J, *SPARQL_STORES)


class StoreError(Exception):
    """A store could not be started or filled. The text is what it printed."""


@dataclass(frozen=True)
class Source:
    """A raw graph, its files, and how stores take it."""

    graph: RawGraph
    files: Sequence[Path]
    """What `kgnav load` takes."""
    rdf: Sequence[Path] = ()
    """The same as RDF, for SPARQL stores; none if it has no such form."""
    options: Sequence[str] = ()
    """Further arguments of `kgnav load`."""
    scheme: str = "sparql"
    """The adapter of SPARQL stores."""
    location: str = ""
    """What follows the address of a SPARQL store."""
    property_graph: bool = False
    """Whether Neo4j holds it."""
    mix: Mix = GENERAL
    """Which questions are asked about it."""


def stores_of(source: Source) -> Sequence[str]:
    """The stores that can hold a graph."""
    return (GRAPH_FILE, *((NEO4J,) if source.property_graph else ()), *(SPARQL_STORES if source.rdf else ()))


@contextmanager
def running(store: str, home: Path) -> Generator[Callable[[Source, Path], str]]:
    """A running store, as the function that fills it with a graph and returns its location for `kgnav serve`."""
    if store == GRAPH_FILE:
        yield lambda source, kgnav: _graph_file(source, home, kgnav)
        return
    folder = home / store
    url = _service(store, "start", folder)
    try:
        if store == NEO4J:
            yield lambda source, _kgnav: neo4j_store.fill(url, source.graph)
        else:
            yield lambda source, _kgnav: _fill_sparql(store, folder, url, source)
    finally:
        _service(store, "stop", folder)


def _graph_file(source: Source, home: Path, kgnav: Path) -> str:
    home.mkdir(parents=True, exist_ok=True)
    file = home / f"{source.graph.name.replace(' ', '_')}.kg"
    _run([kgnav, "load", *source.files, *source.options, "-o", file, "--quiet", "--force"])
    return str(file)


def _fill_sparql(store: str, home: Path, url: str, source: Source) -> str:
    graph = f"http://audit.example/{source.graph.name.replace(' ', '-')}"
    _service(store, "clear", home, "--graph-iri", graph)
    _service(store, "load", home, *map(str, source.rdf), "--graph-iri", graph)
    return f"{source.scheme}+{url}?default-graph-uri={graph}{source.location}"


def _service(store: str, command: str, home: Path, *arguments: str) -> str:
    return _run([SERVICE, store, command, "--home", home, *arguments]).strip()


def _run(command: Sequence[Path | str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - this module's commands
    if done.returncode:
        raise StoreError(f"{' '.join(map(str, command[:4]))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout
