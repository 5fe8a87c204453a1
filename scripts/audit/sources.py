"""The graphs of the audit, with their files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from . import films, ontology, property_graph, reified, wikidata
from .mixes import FILMS, WIKIDATA
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


def _property_graph_as_rdf(place: Place) -> Source:
    folder = place.folder / "reified"
    folder.mkdir(exist_ok=True)
    property_graph.write(folder, place.seed, 120 if place.small else 400, 60)
    graph = reified.as_sets(property_graph.read(folder))
    file = folder / reified.FILE
    reified.write(graph, file)
    return Source(graph, (file,), (file,))


def _ontology(place: Place) -> Source:
    file = ontology.write(place.folder, place.seed, 120 if place.small else 1_200)
    folded = ontology.fold(file)
    return Source(ontology.read(folded), (file,), (folded,))


def _films(place: Place) -> Source:
    table = place.data / films.FILE
    graph = films.read(table)
    triples = place.folder / "films.nt"
    films.write_rdf(graph, triples)
    return Source(graph, (table,), (triples,), property_graph=True, mix=FILMS)


def _wikidata(place: Place) -> Source:
    files = [place.data / name for name in wikidata.FILES]
    return Source(wikidata.read(files), files, files, scheme="wikidata", mix=WIKIDATA)


SOURCES: Mapping[str, Callable[[Place], Source]] = {
    "property-graph": _property_graph,
    "property-graph-rdf": _property_graph_as_rdf,
    "ontology": _ontology,
    "films": _films,
    "wikidata": _wikidata,
}
"""Each graph by its name on the command line."""
