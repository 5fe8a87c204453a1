"""What kind of thing a variable is, through lists, functions and projections: only nodes and edges have properties."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.demo import demo_graph_path
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.navigation.plans.check.scopes import Edge, Kind, Members, Node, Scope, Value, kind_of
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import Expression, Project
from kgnav_mcp.port import AdapterOptions

SCOPE: Scope = {"n": Node((("Painter",),)), "m": Node(), "r": Edge(("painted",)), "rs": Members(Edge()), "v": Value()}


def expression(text: str) -> Expression:
    (*_, project) = (
        parse_cypher(f"MATCH (n)-[r]->(m), p = (n)-[rs*1..2]->() WITH *, 1 AS v RETURN {text} AS x")
        .pipelines[0]
        .clauses
    )
    assert isinstance(project, Project)
    return project.columns[0].value


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("n", SCOPE["n"]),
        ("n.name", Value()),
        ("nodes(p)", Members(Node())),
        ("relationships(p)", Members(Edge())),
        ("startNode(r)", Node()),
        ("head(rs)", Edge()),
        ("last(nodes(p))", Node()),
        ("head(labels(n))", Value()),
        ("collect(r)", Members(Edge(("painted",)))),
        ("collect(n.name)", Value()),
        ("max(n)", SCOPE["n"]),
        ("coalesce(n, null)", SCOPE["n"]),
        ("coalesce(n, m)", Node()),
        ("coalesce(r, head(rs))", Edge()),
        ("coalesce(n, 1)", Value()),
        ("[n, m]", Members(Node())),
        ("[n, 1]", Value()),
        ("[]", Value()),
    ],
)
def test_the_kind_of_an_expression_follows_from_its_parts(text: str, kind: Kind):
    assert kind_of(expression(text), SCOPE) == kind


LIVED = "MATCH (a {id: 'vincent_van_gogh'})-[r:lived_in]->(b)"
DIRECT = f"{LIVED} RETURN b.name AS name, r.from AS since"


@pytest.mark.parametrize("by_store", [True, False], ids=["compiled", "evaluated"])
@pytest.mark.parametrize(
    "cypher",
    [
        f"{LIVED} WITH b, collect(r) AS rs UNWIND rs AS e RETURN b.name AS name, e.from AS since",
        f"{LIVED} WITH r, [a, b] AS ends WITH r, last(`ends`) AS c RETURN c.name AS name, r.from AS since",
        f"MATCH p = {LIVED[6:]} UNWIND relationships(p) AS e WITH e, endNode(e) AS c "
        "RETURN coalesce(c.name, '') AS name, e.from AS since",
    ],
)
async def test_nodes_and_edges_have_their_properties_also_behind_a_list_or_a_function(cypher: str, *, by_store: bool):
    async with open_adapter(str(demo_graph_path()), AdapterOptions()) as graph:
        direct, indirect = [await PlanRunner(graph).check(parse_cypher(text)) for text in (DIRECT, cypher)]
        runner = PlanRunner(graph, by_store=by_store)
        expected, found = [await runner.run(checked.plan, limit=99) for checked in (direct, indirect)]
    assert not indirect.problems
    assert len(expected.items) == 13
    assert sorted(map(repr, found.items)) == sorted(map(repr, expected.items))


async def test_a_property_of_a_list_is_told_to_be_one_of_its_members():
    async with open_adapter(str(demo_graph_path()), AdapterOptions()) as graph:
        checked = await PlanRunner(graph).check(parse_cypher(f"{LIVED} WITH collect(r) AS rs RETURN rs.from"))
    assert [(one.place, one.reason, one.alternatives) for one in checked.problems] == [
        ("rs.from", "rs is a list of edges", ("UNWIND rs AS edge",))
    ]
