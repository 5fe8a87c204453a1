"""Graphs in memory written to Neo4j."""

from __future__ import annotations

from typing import Any, LiteralString, cast

from neo4j import Driver

from tests.plans.graph import Graph


def fill(driver: Driver, graph: Graph) -> None:
    """Empty the store, then write the graph."""
    ask(driver, "MATCH (n) DETACH DELETE n")
    for node in graph.nodes.values():
        labels = "".join(f":{label}" for label in sorted(node.labels))
        ask(driver, f"CREATE (n{labels}) SET n = $own", own=_own(node.properties))
    for edge in graph.edges:
        text = f"MATCH (a {{id: $a}}), (b {{id: $b}}) CREATE (a)-[r:{edge.relation}]->(b) SET r = $own"
        ask(driver, text, a=edge.head, b=edge.tail, own=_own(edge.properties))


def _own(own: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    return {
        name: values[0] if len(values) == 1 else values
        for name in dict(own)
        for values in [[value for each, value in own if each == name]]
    }


def ask(driver: Driver, text: str, **given: object) -> list[list[Any]]:
    """The rows of a query."""
    return [record.values() for record in driver.execute_query(cast("LiteralString", text), given).records]
