"""Writes the synthetic graph of a given size in every form that `kgnav-bench plans run` can query."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kgnav_bench.client import load
from kgnav_bench.plans.rdf import write_rdf
from kgnav_bench.plans.synthetic import Shape, generate, write


def make(folder: Path, nodes: int) -> Sequence[Path]:
    """Write the graph as a node and an edge file, a graph file, and N-Triples."""
    graph = generate(Shape.of(nodes))
    tables, target = write(graph, folder), folder / "graph.kg"
    load(tables, target)
    return *tables, target, write_rdf(graph, folder)
