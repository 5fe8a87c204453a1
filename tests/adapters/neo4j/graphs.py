"""Graphs of these tests, written by statements of their own: what files cannot say is in them, too."""

from __future__ import annotations

from typing import LiteralString

from neo4j import GraphDatabase

from tests.neo4j_service import Neo4j

PRODUCTS = 2_000

SHOP: tuple[LiteralString, ...] = (
    "CREATE CONSTRAINT FOR (n:Product) REQUIRE n.sku IS UNIQUE",
    "CREATE CONSTRAINT FOR (n:Supplier) REQUIRE n.name IS UNIQUE",
    """
    CREATE (:Category {categoryName: 'Drinks', description: 'All that is drunk'}),
           (:Supplier {name: 'Leaf & Co', founded: date('1901-02-03'), open: localtime('08:30'),
             notice: duration('P1M15D'), place: point({latitude: 52.5, longitude: 4.75}),
             tags: ['tea', 'herbs'], vector: [n IN range(1, 1536) | n / 10.0], seen: datetime('2024-01-02T03:04:05Z'),
             zoned: datetime('2024-07-01T12:00:00[Europe/Paris]'),
             utc: datetime('2024-07-01T12:00:00[UTC]'), local: localdatetime('2024-07-01T12:00:00.5')}),
           (:`we``ird {cell}` {name: 'Odd', `key {edge}`: 'odd value'})
    """,
    """
    MATCH (c:Category), (s:Supplier)
    UNWIND range(1, $products) AS n
    CREATE (p:Product {sku: n, productName: 'Product ' + n, price: n / 4.0})-[:IN_CATEGORY {since: 1900 + n % 100}]->(c)
    CREATE (s)-[:SELLS {price: n}]->(p)
    """,
    "MATCH (p:Product {sku: 7}), (c:Category) CREATE (p)-[:FAVOURITE_OF]->(c), (p)-[:FAVOURITE_OF]->(c)",
    "MATCH (p:Product {sku: 7}) SET p.photo = $photo",
)
"""A category without a constraint that is a hub, a supplier with values of every kind, and names that need quoting."""


def fill(service: Neo4j, statements: tuple[LiteralString, ...], products: int = PRODUCTS) -> str:
    """Empty a store, run some statements in it, and give its address. The shop has so many products.

    Neo4j counts what is in an index when it finds the time, and plans badly until then: here it is waited for.
    """
    service.clear()
    for statement in (*statements, "CALL db.prepareForReplanning()"):
        write(service, statement, products=products)
    return service.url


def write(service: Neo4j, statement: LiteralString, **parameters: object) -> list[list[object]]:
    """Run a statement that may write; its rows."""
    with GraphDatabase.driver(service.url) as driver:  # pyright: ignore[reportUnknownMemberType]
        given = {"photo": b"\x89PNG" * 500, **parameters}
        return [record.values() for record in driver.execute_query(statement, given).records]
