"""Alternatives that a value equals one of several constants become one list, with the same rows."""

from __future__ import annotations

import pytest

from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.navigation.plans.pushdown.alternatives import with_lists


@pytest.mark.parametrize(
    ("alternatives", "merged"),
    [
        ("n.a = 1 OR n.a = 2", "n.a IN [1, 2]"),
        ("n.a = 'x' OR n.a IN ['y', 'x'] OR n.a = 'z'", "n.a IN ['x', 'y', 'z']"),
        ("n.a = 1 OR n.a = 2.5 OR n.a = 'x' OR n.a = 'y'", "n.a IN [1, 2.5] OR n.a IN ['x', 'y']"),
        ("n.a = 1 OR n.b = 2 OR n.a = 3", "n.a IN [1, 3] OR n.b = 2"),
        ("n.a = 1 OR (n.a = 2 OR n.a = 3)", "n.a IN [1, 2, 3]"),
        ("n.c AND (n.a = 1 OR n.a = 2)", "n.c AND n.a IN [1, 2]"),
        ("EXISTS { (n)-[:R]->(m) WHERE m.a = 1 OR m.a = 2 }", "EXISTS { (n)-[:R]->(m) WHERE m.a IN [1, 2] }"),
    ],
)
def test_equal_values_become_a_list(alternatives: str, merged: str):
    found = with_lists(parse_cypher(f"MATCH (n) WHERE {alternatives} RETURN n"))
    assert found == parse_cypher(f"MATCH (n) WHERE {merged} RETURN n")


@pytest.mark.parametrize(
    "condition",
    [
        "n.a = 1 AND n.a = 2",
        "n.a = 1 XOR n.a = 2",
        "n.a = true OR n.a = false",
        "n.a = null OR n.a = 1",
        "n.a = n.b OR n.a = n.c",
        "n.a <> 1 OR n.a <> 2",
        "n.a = 1 OR n.b = 1",
    ],
)
def test_other_conditions_stay(condition: str):
    plan = parse_cypher(f"MATCH (n) WHERE {condition} RETURN n")
    assert with_lists(plan) == plan
