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


PATH = "MATCH p = (a {id: 'vincent_van_gogh'})-[:lived_in]->(b)"
RESULT = "t changes with each member in reduce(t = ...), so no facts of the graph are read for it"


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("CASE WHEN n.name < t.name THEN n ELSE t END", "t.name"),
        ("CASE WHEN t:Painter THEN n ELSE t END", "t:Painter"),
        ("CASE WHEN EXISTS { (t)-->() } THEN n ELSE t END", "EXISTS { (t)-->() }"),
        ("CASE WHEN 'Painter' IN labels(t) THEN n ELSE t END", "labels(t)"),
        ("[x IN [t, n] WHERE COUNT { (x)-->() } > 1][0]", "[x IN [t, n] WHERE COUNT { (x)-->() } > 1]"),
    ],
)
async def test_facts_of_the_result_of_a_reduction_are_refused(value: str, part: str):
    async with open_adapter(str(demo_graph_path()), AdapterOptions()) as graph:
        text = f"{PATH} RETURN reduce(t = a, n IN nodes(p) | {value}) AS v"
        checked = await PlanRunner(graph).check(parse_cypher(text))
    assert [(problem.place, problem.reason) for problem in checked.problems] == [(part, RESULT)]


@pytest.mark.parametrize("by_store", [True, False], ids=["compiled", "evaluated"])
async def test_facts_of_the_members_of_a_reduction_are_read(*, by_store: bool):
    async with open_adapter(str(demo_graph_path()), AdapterOptions()) as graph:
        plans = PlanRunner(graph, by_store=by_store)
        value = "reduce(t = 0, n IN nodes(p) | t + COUNT { (n)-[:lived_in]->() } + size([x IN [t] | toString(x)]))"
        places = (await plans.run((await plans.check(parse_cypher(f"{PATH} RETURN b"))).plan, limit=99)).items
        checked = await plans.check(parse_cypher(f"{PATH} RETURN DISTINCT {value} AS v"))
        page = await plans.run(checked.plan, limit=9)
    assert [row.cells for row in page.items] == [(len(places) + 2,)]
