"""Graph files made from texts and read back by plain SQL, for the tests of the loader."""

from __future__ import annotations

import bz2
import gzip
import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgnav_mcp.adapters.embedded.loading import LoadOptions, LoadReport, load
from kgnav_mcp.adapters.embedded.loading.staging_writer import TERM_BUDGET

PREFIXES = """
@prefix : <http://x/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix schema: <http://schema.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


@dataclass(frozen=True)
class Loaded:
    """A graph file with the report of its load."""

    path: Path
    report: LoadReport

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro&immutable=1", uri=True)) as connection:
            return connection.execute(statement, values).fetchall()

    def edges(self) -> list[tuple[str, str, str]]:
        return [(s, p, o) for s, p, o, _, _ in self.qualified_edges()]

    def qualified_edges(self) -> list[tuple[str, str, str, int, Any]]:
        statement = """
            SELECT s.key, p.key, o.key, e.n, e.qualifiers
            FROM edge e JOIN node s ON s.id = e.s JOIN relation p ON p.id = e.p JOIN node o ON o.id = e.o
            ORDER BY s.key, p.key, o.key, e.n
        """
        return [(*row[:4], row[4] and json.loads(row[4])) for row in self.rows(statement)]

    def attributes(self, node: str) -> list[tuple[str, str, str | None, str | None]]:
        statement = """
            SELECT p.key, a.text, a.datatype, a.language
            FROM attribute a JOIN node s ON s.id = a.node JOIN relation p ON p.id = a.p
            WHERE s.key = ? ORDER BY p.key, a.n
        """
        return self.rows(statement, node)

    def names(self, node: str) -> list[tuple[int, str | None, str]]:
        statement = "SELECT m.kind, m.language, m.text FROM name m JOIN node s ON s.id = m.node WHERE s.key = ?"
        return self.rows(f"{statement} ORDER BY m.id", node)

    def node_labels(self, node: str) -> list[str]:
        statement = """
            SELECT l.key FROM node_label x JOIN node s ON s.id = x.node JOIN label l ON l.id = x.label
            WHERE s.key = ? ORDER BY l.key
        """
        return [key for (key,) in self.rows(statement, node)]

    def nodes(self) -> dict[str, tuple[str | None, str | None, int]]:
        """Label, description and the mediator's mark by key."""
        found = self.rows("SELECT key, label, description, mediator FROM node")
        return {key: (label, description, mediator) for key, label, description, mediator in found}

    def meta(self, key: str) -> str:
        return self.rows("SELECT value FROM meta WHERE key = ?", key)[0][0]


def write(folder: Path, name: str, content: str | bytes) -> Path:
    """A file with this content, compressed where its name says so."""
    raw = content.encode() if isinstance(content, str) else content
    path = folder / name
    compress = {".gz": gzip.compress, ".bz2": bz2.compress}.get(path.suffix, bytes)
    path.write_bytes(compress(raw))
    return path


def loaded(
    folder: Path, files: dict[str, str], options: LoadOptions | None = None, term_budget: int = TERM_BUDGET
) -> Loaded:
    """A graph file of these files, in their order; Turtle gets the prefixes above."""
    sources = [write(folder, name, PREFIXES + text if ".ttl" in name else text) for name, text in files.items()]
    target = folder / "graph.kg"
    return Loaded(target, load(sources, target, options or LoadOptions(), term_budget=term_budget))
