"""Where a store cannot be told to stop, what it groups or counts is bounded, and groups that were cut are not used."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kgnav_mcp.adapters.sparql_base.dialects import FUSEKI, OXIGRAPH
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Stop
from kgnav_mcp.navigation.plans.runner import PlanRunner
from tests.adapters.generic_sparql.films import STARRED, matches_in
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import InProcess, opened_over
from tests.navigation.plans.writing import matches_of, matching, node, rows

CASTS = 3
TURTLE = "PREFIX ex: <http://ex.example/>\n" + "\n".join(
    f"ex:film{film} ex:starred ex:actor{actor} . ex:film{film} ex:year {1990 + film} ."
    for actor in range(CASTS)
    for film in range(actor + 1)
)
"""Actors with three, two and one film."""
EDGES = 6
PLANS = (
    "MATCH (f)-[:`ex:starred`]->(a) RETURN count(*)",
    "MATCH (f)-[:`ex:starred`]->(a) RETURN a, count(f) ORDER BY count(f) DESC, a LIMIT 1",
    "MATCH (f)-[:`ex:starred`]->(a) RETURN f, a, f.`ex:year`",
    "MATCH (f)-[:`ex:starred`]->(a)<-[:`ex:starred`]-(g) WHERE f <> g RETURN a, count(DISTINCT g)",
)


def store(bound: int | None) -> InProcess:
    return InProcess(TURTLE, dialect=replace(OXIGRAPH, max_matches=bound))


async def answer(client: InProcess, cypher: str) -> list[str]:
    async with opened_over(client, HERE) as graph:
        page = await PlanRunner(graph).run(parse_plan(cypher).plan, limit=50)
        assert page.stop is Stop.COMPLETE
        assert page.items
        return sorted(repr(row.cells) for row in page.items)


@pytest.mark.parametrize("cypher", PLANS)
@pytest.mark.parametrize("bound", [1, EDGES - 1, EDGES, EDGES + 1, 100])
async def test_a_plan_has_the_same_answer_whatever_the_bound(cypher: str, bound: int):
    assert await answer(store(bound), cypher) == await answer(store(None), cypher)


@pytest.mark.parametrize("cypher", PLANS[1:])
async def test_no_pattern_is_read_without_an_end_where_the_store_cannot_be_stopped(cypher: str):
    unstoppable, stoppable = store(7), InProcess(TURTLE, dialect=FUSEKI)
    await answer(unstoppable, cypher)
    await answer(stoppable, cypher)
    assert matches_in(unstoppable)
    assert all("LIMIT 7" in query for query in matches_in(unstoppable))
    assert not any("?size" in query for query in matches_in(stoppable))


@pytest.mark.parametrize(("bound", "limit", "is_read"), [(EDGES, 50, False), (EDGES + 1, 50, True), (EDGES, 2, False)])
async def test_groups_that_the_bound_may_have_cut_are_refused(bound: int, limit: int, is_read: bool):
    question = matches_of(matching(STARRED), ["a"])
    async with opened_over(store(bound), HERE) as graph:
        if is_read:
            page = await graph.run(question, limit=limit)
            assert sorted(row[-1] for row in rows(page)) == [1, 2, 3]
        else:
            with pytest.raises(Unsupported, match=f"more than {bound} matches"):
                await graph.run(question, limit=limit)


async def test_all_edges_are_counted_before_those_between_labels_if_groups_are_left_out():
    labelled = matching(node("a", "ex:Actor"), STARRED)
    types = " ".join(f"ex:actor{actor} a ex:Actor ." for actor in range(CASTS))
    client = InProcess(f"{TURTLE} {types}", dialect=replace(OXIGRAPH, max_matches=EDGES + 1))
    async with opened_over(client, HERE) as graph:
        client.queries.clear()
        await graph.run(matches_of(labelled, ["a"]), limit=1)
    sizes = [query for query in client.queries if query.startswith("SELECT (COUNT(*) AS ?size)")]
    assert len(sizes) == 1
    assert "Actor" not in sizes[0]
