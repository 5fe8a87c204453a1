"""Stores generated graphs for the server: in a graph file by `kgnav load`, or in a live Neo4j."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import LiteralString, cast
from urllib.parse import unquote, urlsplit

from neo4j import GraphDatabase, Session
from neo4j.exceptions import DriverError, Neo4jError

from kgnav_bench.client import load
from kgnav_bench.graphwalk.evaluation import Row
from kgnav_bench.graphwalk.graphs import KEY, Graph, Pool, Value

_BATCH = 10_000
"""Rows sent in one transaction."""
_DELETE = "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS"
_CONSTRAINTS = "SHOW CONSTRAINTS YIELD name RETURN name"


class StoreError(Exception):
    """Neo4j does not answer, or refuses a statement."""


def write_files(graph: Graph, folder: Path) -> tuple[Path, Path]:
    """Write a node and an edge file with neo4j-admin's headers. The folder is created if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    nodes, edges = folder / "nodes.csv", folder / "edges.csv"
    own = [pool for each in graph.schema.node_classes for pool in each.pools]
    _write(
        nodes,
        (f"{KEY}:ID", ":LABEL", *map(_header, own)),
        ((node.key, node.label, *_cells(own, node.properties)) for node in graph.nodes),
    )
    shared = [pool for each in graph.schema.relationship_classes for pool in each.pools]
    _write(
        edges,
        (":START_ID", ":TYPE", ":END_ID", *map(_header, shared)),
        (
            (graph.nodes[each.source].key, each.type, graph.nodes[each.target].key, *_cells(shared, each.properties))
            for each in graph.relationships
        ),
    )
    return nodes, edges


def load_file(graph: Graph, folder: Path) -> Path:
    """Write the files of a graph, and create a graph file from them with `kgnav load`.

    Raises:
        CalledProcessError: the command failed. The reason is on stderr.
    """
    target = folder / "graph.kg"
    load(write_files(graph, folder), target)
    return target


class Neo4jStore:
    """An open Neo4j. It is loaded with one graph after another, and queried in Cypher for the true answers."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def size(self) -> int:
        """The number of nodes."""
        return self._session.run("MATCH (n) RETURN count(n) AS count").single(strict=True)["count"]

    def clear(self) -> None:
        """Delete all nodes, relationships and constraints."""
        for name in self._session.run(_CONSTRAINTS).value():
            self._run(f"DROP CONSTRAINT {name}")
        self._session.run(_DELETE).consume()

    def load(self, graph: Graph) -> None:
        """Replace the content by a graph."""
        self.clear()
        members: dict[str, list[Mapping[str, Value]]] = defaultdict(list)
        for node in graph.nodes:
            members[node.label].append({KEY: node.key, **node.properties})
        for label, rows in members.items():
            self._run(f"CREATE CONSTRAINT FOR (n:{label}) REQUIRE n.{KEY} IS UNIQUE")
            self._run_batches(f"UNWIND $rows AS row CREATE (n:{label}) SET n = row", rows)
        groups: dict[tuple[str, str, str], list[Mapping[str, object]]] = defaultdict(list)
        for each in graph.relationships:
            source, target = graph.nodes[each.source], graph.nodes[each.target]
            groups[source.label, each.type, target.label].append(
                {"source": source.key, "target": target.key, "properties": each.properties}
            )
        for (source_label, kind, target_label), rows in groups.items():
            self._run_batches(
                f"UNWIND $rows AS row MATCH (a:{source_label} {{{KEY}: row.source}}), "
                f"(b:{target_label} {{{KEY}: row.target}}) CREATE (a)-[r:{kind}]->(b) SET r = row.properties",
                rows,
            )

    def rows(self, cypher: str) -> Sequence[Row]:
        """The rows of a query."""
        return [tuple(record.values()) for record in self._session.run(cast("LiteralString", cypher))]

    def _run(self, cypher: str, **parameters: object) -> None:
        # Labels and types are generated: letters alone.
        self._session.run(cast("LiteralString", cypher), parameters).consume()

    def _run_batches(self, cypher: str, rows: Sequence[Mapping[str, object]]) -> None:
        for start in range(0, len(rows), _BATCH):
            self._run(cypher, rows=rows[start : start + _BATCH])


@contextmanager
def open_neo4j(url: str) -> Generator[Neo4jStore]:
    """Open the Neo4j at a URL, which may have a user and a password.

    Raises:
        StoreError: it does not answer, or refuses a statement.
    """
    parts = urlsplit(url)
    auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    place = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    try:
        with (
            GraphDatabase.driver(  # pyright: ignore[reportUnknownMemberType] - the driver's own keywords
                place, auth=auth, notifications_min_severity="OFF"
            ) as driver,
            driver.session() as session,  # pyright: ignore[reportUnknownMemberType] - as above
        ):
            yield Neo4jStore(session)
    except (DriverError, Neo4jError) as error:
        raise StoreError(f"{place}: {error}") from error


def _header(pool: Pool) -> str:
    return f"{pool.name}:double" if pool.numeric else pool.name


def _cells(pools: Sequence[Pool], properties: Mapping[str, Value]) -> Iterator[Value]:
    return (properties.get(pool.name, "") for pool in pools)


def _write(path: Path, header: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
