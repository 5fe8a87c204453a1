"""Kinds of questions about a synthetic graph, in Cypher (for plans and for Neo4j), SQL and SPARQL."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from string import Template

from kgnav_bench.plans import sparql, sql
from kgnav_bench.plans.choices import literal, occurring_value, two_hops, way
from kgnav_bench.plans.synthetic import Graph, Value


@dataclass(frozen=True, slots=True)
class Kind:
    """A question as a template, with placeholders such as `$a` for names and `$value` for values."""

    name: str
    cypher: str
    sql: str
    sparql: str


@dataclass(frozen=True, slots=True)
class Places:
    """The names and values for the placeholders of all kinds of questions."""

    names: Mapping[str, str]
    """Labels, types of relationships and properties, by placeholder."""
    values: Mapping[str, Value]
    relations: tuple[str, ...]
    """All types of relationships."""

    def plan(self, kind: Kind) -> str:
        """The question with its values as literals, as a model writes it."""
        written = {name: literal(value) for name, value in self.values.items()}
        return Template(kind.cypher).substitute(self.names, **written)

    def cypher(self, kind: Kind) -> str:
        """The question with its values as parameters, as a program sends it."""
        return Template(kind.cypher).safe_substitute(self.names)


_NEAR = "MATCH (x:$a {name: $name})-[:$r1]->(y:$b)"

KINDS = (
    Kind(
        "look-up by property",
        "MATCH (x:$a {$property: $value}) RETURN x.name AS name ORDER BY name",
        sql.LOOK_UP,
        sparql.LOOK_UP,
    ),
    Kind("one hop from a name", f"{_NEAR} RETURN y.name AS name ORDER BY name", sql.ONE_HOP, sparql.ONE_HOP),
    Kind(
        "two hops",
        f"{_NEAR}-[:$r2]->(z:$c) RETURN DISTINCT z.name AS name ORDER BY name",
        sql.TWO_HOPS,
        sparql.TWO_HOPS,
    ),
    Kind(
        "others with the same end",
        f"{_NEAR}<-[:$r1]-(z:$a) WHERE z <> x RETURN DISTINCT z.name AS name ORDER BY name",
        sql.SAME_END,
        sparql.SAME_END,
    ),
    Kind(
        "top ten of counts",
        "MATCH (x:$a)-[r:$r1]->(y:$b) WITH y, count(r) AS count RETURN y.name AS name, count "
        "ORDER BY count DESC, name LIMIT 10",
        sql.TOP_TEN,
        sparql.TOP_TEN,
    ),
    Kind(
        "filter by qualifier",
        "MATCH (x:$a)-[:$r1 {$qualifier: $said}]->(y:$b) RETURN x.name AS head, y.name AS tail ORDER BY head, tail",
        sql.BY_QUALIFIER,
        sparql.BY_QUALIFIER,
    ),
    Kind(
        "not exists",
        "MATCH (x:$a {$property: $value}) WHERE NOT EXISTS { (x)-[:$r1]->() } RETURN x.name AS name ORDER BY name",
        sql.WITHOUT,
        sparql.WITHOUT,
    ),
    Kind(
        "counts with zeros",
        "MATCH (x:$a {$property: $value}) OPTIONAL MATCH (x)-[r:$r1]->() RETURN x.name AS name, count(r) AS count "
        "ORDER BY count, name",
        sql.WITH_ZEROS,
        sparql.WITH_ZEROS,
    ),
    Kind(
        "one to three hops",
        "MATCH (x:$a {name: $name})-[*1..3]->(z:$c) RETURN DISTINCT z.name AS name ORDER BY name",
        sql.THREE_HOPS,
        sparql.THREE_HOPS,
    ),
    Kind(
        "shortest path",
        "MATCH (x:$a {name: $name}), (z:$c {name: $end}), p = shortestPath((x)-[:$r1|$r2*1..4]->(z)) "
        "RETURN length(p) AS length",
        sql.SHORTEST,
        sparql.SHORTEST,
    ),
    Kind(
        "union",
        "MATCH (x:$a {$property: $value}) RETURN x.name AS name UNION MATCH (x:$b {$other: $stated}) "
        "RETURN x.name AS name",
        sql.EITHER,
        sparql.EITHER,
    ),
    Kind("how many of a class", "MATCH (x:$a) RETURN count(x) AS count", sql.HOW_MANY, sparql.HOW_MANY),
)


def places(graph: Graph, seed: int = 1) -> Iterator[Places]:
    """Endless names and values that occur in the graph. Every call yields the same sequence."""
    chance = random.Random(seed)  # noqa: S311 - a choice of samples, not a secret
    while True:
        first, second = two_hops(chance, graph)
        nodes = way(chance, first, second)
        if nodes is None:
            continue
        (name, value), (other, stated) = (occurring_value(chance, each) for each in (first.source, first.target))
        yield Places(
            names={
                "a": first.source.label,
                "b": first.target.label,
                "c": second.target.label,
                "r1": first.type,
                "r2": second.type,
                "property": name,
                "other": other,
                "qualifier": first.pool.name,
            },
            values={
                "name": graph.name(nodes[0]),
                "end": graph.name(nodes[2]),
                "value": value,
                "stated": stated,
                "said": first.pool.values[chance.choice(first.column)],
            },
            relations=tuple(each.type for each in graph.relations),
        )
