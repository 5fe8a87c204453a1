"""The graphs of the audit, with their files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from . import films, ontology, property_graph
from .stores import Source


@dataclass(frozen=True)
class Place:
    """Where the graphs come from and where their files go."""

    folder: Path
    """For files that are made."""
    data: Path
    """The folder of shared test data."""
    seed: int
    small: bool
    """Whether to make small graphs, for a quick run."""


def _property_graph(place: Place) -> Source:
    people, samples = (120, 60) if place.small else (400, 13_000)
    files = property_graph.write(place.folder, place.seed, people, samples)
    return Source(property_graph.read(place.folder), files, property_graph=True)


def _ontology(place: Place) -> Source:
    file = ontology.write(place.folder, place.seed, 120 if place.small else 1_200)
    return Source(ontology.read(file), (file,), (file,))


def _films(place: Place) -> Source:
    table = place.data / films.FILE
    graph = films.read(table)
    triples = place.folder / "films.nt"
    films.write_rdf(graph, triples)
    return Source(graph, (table,), (triples,), property_graph=True)


SOURCES: Mapping[str, Callable[[Place], Source]] = {
    "property-graph": _property_graph,
    "ontology": _ontology,
    "films": _films,
}
"""Each graph by its name on the command line."""
