"""What an answer without rows says of the nodes that its plan names."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.model import Entity
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions
from tests.contract.example import DictAdapter

NAMES = ("alien", "Scott", "scott", "drama")
GRAPH = {
    "nodes": {name: ["Thing"] for name in NAMES},
    "rows": [
        *((name, "name", (name, None, None), ()) for name in NAMES),
        ("alien", "directed_by", "Scott", ()),
        ("alien", "tagged", "scott", ()),
        ("alien", "genre", "drama", ()),
    ],
}
"""A director, and a tag that is spelt like the director but for letter case."""


@pytest.fixture
async def films() -> AsyncGenerator[PlanRunner]:
    async with DictAdapter("tests.navigation.plans.test_named_nodes", AdapterOptions()) as graph:
        yield PlanRunner(graph)


async def note(films: PlanRunner, cypher: str) -> str:
    checked = await films.check(parse_cypher(cypher))
    assert checked.problems == ()
    return (await films.run(checked.plan, limit=9)).note


async def test_a_named_node_without_the_edge_is_told_with_what_it_has_and_with_who_else_is_called_so(films: PlanRunner):
    told = await note(films, "MATCH (f)-[:directed_by]->({name: 'scott'}) RETURN f")
    assert "scott has no incoming directed_by, but incoming tagged (1). In another letter case: Scott." in told


async def test_each_edge_that_a_node_lacks_is_told_with_its_direction(films: PlanRunner):
    told = await note(films, "MATCH (f {name: 'alien'})<-[:genre|tagged]-(), (f)-[:genre]-() RETURN f")
    assert "alien has no incoming genre|tagged, but outgoing directed_by (1), outgoing genre (1)" in told


async def test_a_node_that_has_the_edge_is_not_told_of(films: PlanRunner):
    told = await note(films, "MATCH ({name: 'Scott'})<-[:directed_by]-(f)-[:genre]->({name: 'scott'}) RETURN f")
    assert "Scott has no" not in told
    assert "scott has no incoming genre, but incoming tagged (1)." in told


async def test_a_name_that_nothing_has_is_noted_where_another_alternative_may_hold(films: PlanRunner):
    for unknown in ("f.name = 'aliens'", "elementId(f) = 'aliens'"):
        checked = await films.check(parse_cypher(f"MATCH (f) WHERE f.name = 'drama' OR {unknown} RETURN f"))
        assert not checked.problems
        assert any("'aliens'" in note and "(nearest: alien)" in note for note in checked.notes), checked.notes
        page = await films.run(checked.plan, limit=9)
        assert [row.cells[0].id for row in page.items if isinstance(row.cells[0], Entity)] == ["drama"]


@pytest.mark.parametrize(
    "condition",
    [
        "f.name = 'aliens' OR f.name = 'dramas'",
        "f.name = 'aliens' AND f.name = 'drama'",
        "(f.name = 'aliens' OR f.name = 'drama') AND f.name = 'aliens'",
    ],
)
async def test_a_name_that_nothing_has_is_a_problem_where_no_alternative_may_hold(films: PlanRunner, condition: str):
    checked = await films.check(parse_cypher(f"MATCH (f) WHERE {condition} RETURN f"))
    assert any("no entity has the name 'aliens'" in problem.reason for problem in checked.problems)
