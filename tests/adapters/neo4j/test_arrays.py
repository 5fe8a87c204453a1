"""Lists in Neo4j are arrays: in order, with duplicates, also of one item, in plans pushed down or evaluated."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import LiteralString

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Direction, Literal, PropertyFacts, QualifierFacts
from kgnav_mcp.navigation.plans.evaluate.evaluator import evaluate
from kgnav_mcp.port import AdapterOptions, FarEndKind, GraphAdapter
from tests.adapters.neo4j.graphs import fill
from tests.neo4j_service import Neo4j

ARRAYS = "{numbers: [2, -2, 2], one: ['red'], texts: ['a', '', 'b'], none: [], empty: '', lines: 'one\\ntwo', zero: 0}"
GRAPH: tuple[LiteralString, ...] = (
    f"CREATE (:Thing {ARRAYS})-[:TO {ARRAYS}]->(:Thing {{mixed: [1, 2]}}), (:Thing {{mixed: 3}})",
)
EXPECTED = ((2, -2, 2), ("red",), ("a", "", "b"), None, "", "one\ntwo", 0)


@pytest.fixture(scope="module")
def things(neo4j: Neo4j) -> str:
    return fill(neo4j, GRAPH)


@pytest.fixture
async def graph(things: str) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(things, AdapterOptions()) as opened:
        yield opened


@pytest.mark.parametrize("variable", ["n", "r"])
async def test_a_plan_returns_arrays_and_texts_as_they_are_stored(variable: str, graph: GraphAdapter) -> None:
    names = ("numbers", "one", "texts", "none", "empty", "lines", "zero")
    columns = ", ".join(f"{variable}.{name}" for name in names)
    plan = parse_plan(f"MATCH (n)-[r:TO]->() RETURN {columns}").plan
    [pushed_down] = (await graph.run(plan, limit=10)).items
    [evaluated] = (await evaluate(graph, plan, limit=10)).items
    assert pushed_down.cells == EXPECTED
    assert evaluated.cells == EXPECTED


async def test_a_list_on_some_nodes_only_is_a_list_there(graph: GraphAdapter) -> None:
    plan = parse_plan("MATCH (n) WHERE n.mixed IS NOT NULL RETURN n.mixed").plan
    for page in (await graph.run(plan, limit=10), await evaluate(graph, plan, limit=10)):
        assert {row.cells for row in page.items} == {((1, 2),), (3,)}


async def test_items_of_a_list_come_with_their_places(graph: GraphAdapter) -> None:
    [thing, *_] = (await graph.nodes("Thing", "zero", None, limit=1)).items
    links = (await graph.neighbours([thing.id], Direction.OUTGOING, far_end_kind=FarEndKind.LITERAL, limit=50)).items
    found = [link.far_end for link in links if link.triple.relation.id == "numbers"]
    assert [(one.text, one.index) for one in found if isinstance(one, Literal)] == [("2", 0), ("-2", 1), ("2", 2)]


async def test_the_schema_says_which_properties_are_arrays(graph: GraphAdapter) -> None:
    schema = await graph.schema(limit=50)
    facts: dict[str, PropertyFacts | QualifierFacts] = {each.relation.id: each for each in schema.properties}
    [relation] = schema.relations
    for known in (facts, {each.id: each for each in relation.qualifiers}):
        assert known["one"].is_array
        assert (known["zero"].is_array, known["zero"].multivalued) == (False, False)
    assert (facts["mixed"].is_array, facts["mixed"].multivalued) == (False, True)
