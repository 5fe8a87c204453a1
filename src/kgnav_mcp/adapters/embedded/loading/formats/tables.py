"""Tables with a row for each triple, edge or node. Their first lines tell which, and in which columns: `layout`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from kgnav_mcp.adapters.embedded.loading.edges import (
    describe_table,
    read_edges,
    read_triples,
    with_inferred_types,
)
from kgnav_mcp.adapters.embedded.loading.entries import rows, stage_entries
from kgnav_mcp.adapters.embedded.loading.formats.beginnings import Begins
from kgnav_mcp.adapters.embedded.loading.headers import Column, Role
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.property_graph import PropertyStager
from kgnav_mcp.adapters.embedded.loading.sources import FileFormat, Source
from kgnav_mcp.adapters.embedded.loading.typed_tables import TypedTable


def _read_nodes(source: Source, stager: PropertyStager, findings: LoadProblems) -> None:
    if source.has_nodes:
        _stage_nodes(source if source.header.admin else with_inferred_types(source), stager, findings)
        if not source.has_edges and not source.header.admin:
            findings.notes += describe_table(source, stager.default_relation)


def _read_edges(source: Source, index: int, stager: PropertyStager, findings: LoadProblems) -> None:
    if not source.has_edges:
        return
    if source.layout.header is None and not source.layout.edges and source.form is TRIPLES:
        read_triples(source, stager.staging, findings)
    else:
        read_edges(source, index, stager, findings)
    findings.notes += describe_table(source, stager.default_relation)


def _read_relationships(source: Source, index: int, stager: PropertyStager, findings: LoadProblems) -> None:
    if not source.has_nodes:
        _stage_relationships(source, index, stager, findings)


def _stage_nodes(source: Source, stager: PropertyStager, findings: LoadProblems) -> None:
    """Stages every node of a file.

    Raises:
        LoadError, BadLine: as `stage_entries`.
    """
    header = source.header
    key_column = header.of(Role.ID)[0]
    label_columns = header.of(Role.LABEL)
    name_columns = header.of(Role.NAME)
    read_properties = header.property_reader()

    def stage(_: int, row: list[str]) -> None:
        key = key_column.key(row)
        properties = read_properties(row)
        if key_column.name and header.admin:
            properties.insert(0, (key_column.name, (row[key_column.place], None, None, None)))
        labels = [label for column in label_columns for label in column.items(row[column.place])]
        stager.node(key, [header.label, *labels], properties)
        for column in name_columns:
            if row[column.place].strip():
                stager.name(key, row[column.place])
                stager.has_names = True

    stage_entries(source, stager.staging, findings, rows, stage)


def _stage_relationships(source: Source, index: int, stager: PropertyStager, findings: LoadProblems) -> None:
    """Stages every relationship of a file. Ends without a node are found after all sources are read.

    Raises:
        LoadError, BadLine: as `stage_entries`.
    """
    header = source.header
    start, end, kind = (header.of(role)[0] for role in (Role.START, Role.END, Role.TYPE))
    read_properties = header.property_reader()

    def stage(number: int, row: list[str]) -> None:
        properties = read_properties(row)
        stager.relationship(start.key(row), _type(kind, row), end.key(row), properties, (index, number))

    stage_entries(source, stager.staging, findings, rows, stage)


def _type(column: Column, row: list[str]) -> str:
    if not row[column.place]:
        raise ValueError("the relationship has no type")
    return row[column.place]


def typed_format(
    name: str,
    title: str,
    suffixes: tuple[str, ...],
    begins: Begins,
    *,
    open_tables: Callable[[Path, Sequence[str]], list[tuple[str, TypedTable]]],
    extra: str,
) -> FileFormat:
    """A format of files with typed tables."""
    return FileFormat(
        name,
        title,
        "table",
        suffixes,
        begins,
        read_nodes=_read_nodes,
        read_edges=_read_edges,
        open_tables=open_tables,
        extra=extra,
    )


TRIPLES = FileFormat(
    "triples", "a table", "table", (".csv", ".tsv", ".txt"), read_nodes=_read_nodes, read_edges=_read_edges
)
EDGES = FileFormat(
    "edges", "an edge list", "table", (".edges", ".edgelist"), read_nodes=_read_nodes, read_edges=_read_edges
)
SIF = FileFormat("sif", "Cytoscape's SIF", "table", (".sif",), read_edges=_read_edges)
PROPERTY_GRAPH = FileFormat(
    "property-graph",
    "tables with the headers of neo4j-admin or Amazon Neptune",
    read_nodes=_read_nodes,
    read_edges=_read_relationships,
)
TABLES = (TRIPLES, EDGES, SIF, PROPERTY_GRAPH)
"""The formats whose files have a layout."""
