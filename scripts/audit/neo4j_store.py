"""Fills a Neo4j by statements of its own: the project's loader would share code with what is audited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, LiteralString, TypeVar, cast

from neo4j import GraphDatabase, Session
from neo4j.time import Date, DateTime

from .raw_graph import Day, Edge, Node, Properties, RawGraph, Value

T = TypeVar("T")

_BATCH = 5_000
_ONLY_LABEL = "Thing"
"""The label of nodes without one: Neo4j has constraints and indexes on labels only."""

_DELETE = "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS"
_CONSTRAINTS = "SHOW CONSTRAINTS YIELD name RETURN name AS value"
_UNIQUE = "CREATE CONSTRAINT IF NOT EXISTS FOR (n:`{name}`) REQUIRE n.`{key}` IS UNIQUE"
_NODES = "UNWIND $rows AS row CREATE (n{name}) SET n = row RETURN elementId(n) AS value"
_EDGES = (
    "UNWIND $rows AS row MATCH (a) WHERE elementId(a) = row.head MATCH (b) WHERE elementId(b) = row.tail "
    "CREATE (a)-[r:`{name}`]->(b) SET r = row.properties"
)
_INDEX = "CREATE FULLTEXT INDEX names IF NOT EXISTS FOR (n:{name}) ON EACH [n.name]"


def fill(url: str, graph: RawGraph) -> str:
    """Load a graph in place of what is there. Returns the location for `kgnav serve`."""
    with GraphDatabase.driver(url) as driver, driver.session() as session:  # pyright: ignore[reportUnknownMemberType]
        store = _Store(session)
        store.clear()
        labels = sorted(graph.by_label) or [_ONLY_LABEL]
        for label in labels:
            store.run(_UNIQUE, name=label, key=graph.key or "key")
        places = store.nodes(graph.nodes.values())
        for relation, edges in graph.by_relation.items():
            store.edges(relation, edges, places)
        store.run(_INDEX, name="|".join(f"`{label}`" for label in labels))
        store.run("CALL db.awaitIndexes(300) RETURN 0 AS value")
    return url


class _Store:
    """Runs the statements of this module."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def run(self, statement: str, rows: Sequence[object] = (), **names: str) -> list[str]:
        """The column `value` of a statement with names filled in."""
        for name, text in names.items():
            statement = statement.replace("{" + name + "}", text)
        result = self._session.run(cast("LiteralString", statement), rows=list(rows))
        return [str(row.get("value")) for row in result]

    def clear(self) -> None:
        """Delete everything."""
        self.run(_DELETE)
        for name in self.run(_CONSTRAINTS):
            self.run("DROP CONSTRAINT {name}", name=name)
        self.run("DROP INDEX names IF EXISTS")

    def nodes(self, nodes: Iterable[Node]) -> Mapping[str, str]:
        """Create nodes. Returns their ids in the store by their keys."""
        groups: dict[tuple[str, ...], list[Node]] = {}
        for node in nodes:
            groups.setdefault(tuple(sorted(node.labels)) or (_ONLY_LABEL,), []).append(node)
        places: dict[str, str] = {}
        for labels, members in groups.items():
            for batch in _batches(members):
                made = self.run(
                    _NODES,
                    rows=[_stored(node.properties) for node in batch],
                    name="".join(f":`{label}`" for label in labels),
                )
                places.update(zip((node.key for node in batch), made, strict=True))
        return places

    def edges(self, relation: str, edges: Iterable[Edge], places: Mapping[str, str]) -> None:
        """Create the edges of a relation."""
        for batch in _batches(edges):
            rows = [
                {"head": places[e.head], "tail": places[e.tail], "properties": _stored(e.properties)} for e in batch
            ]
            self.run(_EDGES, rows=rows, name=relation)


def _stored(properties: Properties) -> dict[str, object]:
    return {name: _value(value) for name, value in properties.items()}


def _value(value: Value) -> object:
    if isinstance(value, tuple):
        return [_value(part) for part in value]
    if isinstance(value, Day):
        made: Any = DateTime if "T" in value else Date
        return made.from_iso_format(value)
    return value


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, _BATCH)):
        yield batch
