"""The second evaluator is right: what it answers is what Neo4j answers to the same plan in Cypher."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping
from typing import Any, cast

import pytest
from neo4j import Driver, GraphDatabase
from neo4j.graph import Node as StoredNode
from neo4j.graph import Path as StoredPath
from neo4j.graph import Relationship

from kgnav_mcp.languages import parse_plan
from kgnav_mcp.plan import Plan, Project
from tests.neo4j_service import Neo4j
from tests.plans.cases import CASES, PEOPLE
from tests.plans.graph import Edge
from tests.plans.oracle import answer
from tests.plans.oracle.values import Key, Value, Way, key, row_key
from tests.plans.short import with_ids
from tests.plans.stored import ask, fill


@pytest.fixture(scope="module")
def driver(neo4j: Neo4j) -> Generator[Driver]:
    """Neo4j with the graph of the cases in it."""
    with GraphDatabase.driver(neo4j.url, notifications_min_severity="OFF") as opened:  # pyright: ignore[reportUnknownMemberType]
        fill(opened, PEOPLE)
        yield opened


@pytest.fixture(scope="module")
def ids(driver: Driver) -> Mapping[str, str]:
    """Ids of nodes by the store's own."""
    return {str(own): str(id_) for own, id_ in ask(driver, "MATCH (n) RETURN elementId(n), n.id")}


def _value(found: Any, ids: Mapping[str, str]) -> Value:
    """A value of the driver's as the oracle has it. An edge tells its ends by the store's own ids alone."""
    match found:
        case StoredNode():
            return PEOPLE.nodes.get(str(found.get("id")))
        case Relationship():
            head, tail = (ids[end.element_id] if end is not None else "" for end in (found.start_node, found.end_node))
            own = found.items()
            return Edge(-1, head, found.type, tail, tuple((str(name), value) for name, value in own))
        case StoredPath():
            nodes = tuple(PEOPLE.nodes[str(node.get("id"))] for node in found.nodes)
            return Way(
                nodes, tuple(edge for each in found.relationships if isinstance(edge := _value(each, ids), Edge))
            )
        case list():
            return tuple(_value(each, ids) for each in cast("list[Any]", found))
        case _:
            return found


def _sorts(plan: Plan) -> bool:
    return any(isinstance(each, Project) and each.order for one in plan.pipelines for each in one.clauses)


def _without_order(value: Value) -> Key:
    """A value's key, a list's the same in any order of its members: nothing said in which they come."""
    return key(tuple(sorted(value, key=key)) if isinstance(value, tuple) else value)


@pytest.mark.parametrize(("cypher", "plan"), CASES, ids=[cypher for cypher, _ in CASES])
def test_the_oracle_answers_as_neo4j_does(driver: Driver, ids: Mapping[str, str], cypher: str, plan: Plan):
    of = key if _sorts(plan) else _without_order
    expected = [tuple(of(_value(cell, ids)) for cell in row) for row in ask(driver, cypher)]
    found = [tuple(of(cell) for cell in row) for row in answer(PEOPLE, plan)]
    if _sorts(plan):
        assert found == expected
    else:
        assert Counter(found) == Counter(expected)


@pytest.mark.parametrize(("cypher", "plan"), CASES, ids=[cypher for cypher, _ in CASES])
def test_a_plan_read_from_cypher_answers_the_same(cypher: str, plan: Plan):
    read = with_ids(parse_plan(cypher).plan)
    assert Counter(map(row_key, answer(PEOPLE, read))) == Counter(map(row_key, answer(PEOPLE, plan)))
