"""Short ways to write plans in tables."""

from __future__ import annotations

from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.plan import (
    Column,
    Compare,
    Comparison,
    Connective,
    Constant,
    EdgePattern,
    Expression,
    Joined,
    Match,
    NodePattern,
    PathLength,
    Pipeline,
    Plan,
    Project,
    Property,
    Scalar,
    Variable,
)

A, B, C = NodePattern("a"), NodePattern("b"), NodePattern("c")
ONE = Constant(1)
A_X, A_Y, B_X = Property("a", "x"), Property("a", "y"), Property("b", "x")


def equal(left: Expression, right: Scalar) -> Compare:
    return Compare(left, Comparison.EQUAL, Constant(right))


def both(*conditions: Expression) -> Joined:
    return Joined(Connective.AND, conditions)


def edge(source: str, target: str, *relations: str, name: str = "@1", either: bool = False) -> EdgePattern:
    return EdgePattern(name, source, target, relations, either)


def path(length: PathLength, *relations: str, name: str = "@1", either: bool = False) -> EdgePattern:
    return EdgePattern(name, "a", "b", relations, either, length)


def columns(*names: str) -> Project:
    return Project(tuple(Column(name, Variable(name)) for name in names))


def pattern(text: str) -> Match:
    """The match of `MATCH <text>`."""
    first = parse_cypher(f"MATCH {text} RETURN 1").pipelines[0].clauses[0]
    assert isinstance(first, Match)
    return first


def condition(text: str) -> Expression | None:
    """The condition that a text is behind `MATCH (a)-[r]->(b) WHERE`."""
    return pattern(f"(a)-[r]->(b) WHERE {text}").where


def value(text: str) -> Expression:
    """The value that a text is, of nodes `a` and `b`, an edge `r`, a path `p`."""
    plan = parse_cypher(f"MATCH p = (a)-[r]->(b) WITH *, [1] AS xs RETURN {text} AS value")
    return plan.pipelines[0].result.columns[0].value


def plan(*clauses: Match | Project) -> Plan:
    return Plan((Pipeline(clauses),))
