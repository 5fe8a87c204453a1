"""The toy graph in a live store of each kind, as a server reaches it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from tests.contract import toy_files, toy_views, toy_wikibase

GRAPH = "http://toy.example/served"
FILE = "file"
SERVICES = {"endpoint": "oxigraph", "wikidata": "oxigraph", "freebase": "virtuoso", "neo4j": "neo4j"}
"""The fixture that has each kind of store."""


@dataclass(frozen=True)
class Place:
    """A store with the toy graph, and the ids of an entity and of a relation there."""

    location: str
    entity: str
    relation: str


def load_toy(kind: str, service: Any, folder: Path) -> Place:
    """Load the toy graph into a store of this kind, or a graph file."""
    if kind == FILE:
        load(toy_files.write_rdf(folder), folder / "toy.kg", LoadOptions(mediators="unnamed"))
        return Place(str(folder / "toy.kg"), toy_views.RDF.node_id("cyd"), toy_views.RDF.relation_id("age"))
    if kind == "neo4j":
        service.load(toy_files.write_property_graph(folder), full_text=True)
        return Place(service.url, "Person:id=cyd", "age")
    writers: dict[str, Callable[[Path], list[Path]]] = {
        "endpoint": toy_files.write_rdf,
        "wikidata": lambda into: [toy_wikibase.write(into)],
        "freebase": toy_files.write_freebase,
    }
    graph = f"{GRAPH}/{kind}"
    for path in writers[kind](folder):
        service.load(path, graph)
    scheme, style = {
        "endpoint": ("sparql", toy_views.RDF),
        "wikidata": ("wikidata", toy_views.WIKIDATA),
        "freebase": ("freebase", toy_views.FREEBASE),
    }[kind]
    prefixes = "".join(f"&prefix.{name}={iri}" for name, iri in toy_files.NAMESPACES.items() if "toy.example" in iri)
    options = f"#mediators=unnamed{prefixes}" if kind == "endpoint" else ""
    location = f"{scheme}+{service.url}?default-graph-uri={graph}{options}"
    return Place(location, style.node_id("cyd"), style.relation_id("age"))
