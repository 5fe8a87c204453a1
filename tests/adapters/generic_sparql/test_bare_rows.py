"""Bare rows are ids and values: no label, type or qualifier is read for them. Of a long list nothing is read singly."""

from __future__ import annotations

import re

import pytest

from kgnav_mcp.adapters.generic_sparql import counts
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.model import Direction, Entity, Stop
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import FarEndKind
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import InProcess, opened_over

REIFIES = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>"
REIFIERS_OF = f"[] {REIFIES} <<( ex:n0 ex:next ex:n1 )>> ; ex:since 1840 ."
TWICE = f"{REIFIERS_OF} [] {REIFIES} <<( ex:n0 ex:next ex:n1 )>> ; ex:since 1850 ."
SIZE = 60
ABOUT_EDGES = re.compile(r"ex\.example/n\d.*reifies", re.DOTALL)


def ring(said: str) -> InProcess:
    """Nodes in a ring, each with a name and a number, and what is said of the first edge."""
    nodes = (
        f'ex:n{n} ex:next ex:n{(n + 1) % SIZE} ; a ex:Node ; rdfs:label "node {n}" ; ex:age {n} .' for n in range(SIZE)
    )
    prefixes = "@prefix ex: <http://ex.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
    return InProcess("\n".join([prefixes, *nodes, said]))


@pytest.mark.parametrize(
    ("plan", "statements"),
    [
        ("MATCH (a {id: 'ex:n0'})-[:`ex:next`]->(b) RETURN b.`ex:age` AS age", False),
        ("MATCH (a {id: 'ex:n0'})-[*1..2]->(b:Node) RETURN b.`ex:age` AS age", False),
        ("MATCH (a {id: 'ex:n0'}), p = (a)-[*1..2]->(b {id: 'ex:n2'}) RETURN length(p) AS length", False),
        ("MATCH (a {id: 'ex:n0'}), p = (a)-[*1..2]->(b {id: 'ex:n2'}) RETURN p", True),
        ("MATCH (a {id: 'ex:n0'})-[r:`ex:next`]->(b) RETURN r.`ex:since` AS since", True),
    ],
)
async def test_a_plan_reads_the_statements_about_triples_only_if_it_uses_the_edges(plan: str, *, statements: bool):
    client = ring(REIFIERS_OF)
    async with opened_over(client, HERE) as graph:
        runner = PlanRunner(graph)
        checked = await runner.check(parse_cypher(plan))
        client.queries.clear()
        page = await runner.run(checked.plan, limit=9)
    assert page.items
    assert any(ABOUT_EDGES.search(query) and "?r ?q ?v" in query for query in client.queries) is statements


@pytest.mark.parametrize("value", ["1840", "1840.0", "'about 1840'", "'1840'"])
async def test_an_edge_with_a_certain_qualifier_is_looked_for_by_the_qualifier_unless_it_is_a_date(value: str):
    client = ring(REIFIERS_OF)
    plan = f"MATCH (a:Node)-[:`ex:next` {{`ex:since`: {value}}}]->(b) RETURN a.`ex:age` AS age"
    async with opened_over(client, HERE) as graph:
        runner = PlanRunner(graph)
        client.queries.clear()
        page = await runner.run((await runner.check(parse_cypher(plan))).plan, limit=9)
    assert [row.cells for row in page.items] == ([(0,)] if value.startswith("1840") else [])
    assert any("<http://ex.example/since> ?v" in query for query in client.queries) is (value != "'1840'")


@pytest.mark.parametrize(("said", "edges"), [(REIFIERS_OF, 1), (TWICE, 2)])
async def test_a_triple_is_as_many_bare_rows_as_statements_are_about_it(said: str, edges: int):
    async with opened_over(ring(said), HERE) as graph:
        await graph.schema(limit=9)
        outgoing = await graph.neighbour_ids(["ex:n0"], Direction.OUTGOING, relation_paths=[("ex:next",)], limit=9)
        around = await graph.neighbour_ids(["ex:n0"], None, far_end_kind=FarEndKind.ENTITY, limit=9)
        between = await graph.edge_ids(["ex:n0"], ["ex:n1"], limit=9)
    for triples in ([link.triple for link in outgoing.items], [link.triple for link in around.items], between.items):
        assert [triple.tail for triple in triples].count(Entity("ex:n1")) == edges


async def test_bare_rows_have_the_values_of_full_ones_and_cost_no_look_up_of_names():
    client = ring(REIFIERS_OF)
    async with opened_over(client, HERE) as graph:
        ids = [f"ex:n{n}" for n in range(SIZE)]
        full = await graph.neighbours(ids, Direction.OUTGOING, limit=500)
        await graph.schema(limit=9)
        client.queries.clear()
        bare = await graph.neighbour_ids(ids, Direction.OUTGOING, limit=500)
        nodes = await graph.node_ids("Node", "ex:age", "7", limit=9)
    assert [(one.anchor.id, one.triple.relation.id) for one in bare.items] == [
        (one.anchor.id, one.triple.relation.id) for one in full.items
    ]
    assert [getattr(one.far_end, "id", one.far_end) for one in bare.items] == [
        getattr(one.far_end, "id", one.far_end) for one in full.items
    ]
    assert [node.id for node in nodes.items] == ["ex:n7"]
    assert not [query for query in client.queries if "LANGMATCHES" in query]


async def test_a_list_with_too_many_statements_to_count_is_still_read_in_large_parts(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(counts, "_MAX_FOR_PARALLELS", 5)
    client = ring(TWICE)
    async with opened_over(client, HERE) as graph:
        ids = [f"ex:n{n}" for n in range(SIZE)]
        page = await graph.neighbours(ids, Direction.OUTGOING, relation_paths=[("ex:next",), ("ex:age",)], limit=500)
        assert (len(page.items), page.stop) == (2 * SIZE + 1, Stop.COMPLETE)
        client.queries.clear()
        page = await graph.neighbours(ids, None, far_end_kind=FarEndKind.ENTITY, limit=500)
    assert len(page.items) == 3 * SIZE + 2
    assert len(client.queries) < SIZE / 2
