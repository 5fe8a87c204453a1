"""Patterns of plans that an endpoint cannot fit, or not in time, or not all at once: the answer is the same."""

from __future__ import annotations

import pytest

from kgnav_mcp.errors import PlanTooLarge, Unsupported
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.plan import Function, GivenNodes
from tests.adapters.generic_sparql.films import COUNT, STARRED, answered, films, matches_in
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import opened_over
from tests.navigation.plans.writing import called, edge, give, matches_of, matching, named, node, plan, rows
from tests.navigation.plans.writing import compared as compare


async def test_a_blank_node_is_left_to_the_evaluator_for_no_other_query_can_name_it():
    client = films(["ada"], more='ex:film1 ex:starred [ ex:age 3 ; ex:note "nobody" ] .')
    found = await answered(client, plan(matching(STARRED), give("a")))
    assert len(found) == 2
    assert str(found[0][0]).startswith("_:")
    assert await answered(client, plan(matching(STARRED), give(named("n", COUNT)))) == [(2,)]


async def test_answers_of_an_endpoint_with_a_row_cap_are_read_to_their_end():
    client = films(["ada", "ben", "cyd"], ["ada", "dan", "eve"])
    client.row_cap = 2
    found = await answered(client, plan(matching(STARRED), give("a", distinct=True)))
    assert found == [(f"ex:{name}",) for name in ("ada", "ben", "cyd", "dan", "eve")]


@pytest.mark.parametrize("late", ["slow", "cut"])
async def test_a_query_that_runs_out_of_time_is_never_taken_for_the_whole(late: str):
    client = films(["ada", "ben", "cyd"])
    if late == "slow":
        client.slow = [r"SELECT \?n\d"]
    else:
        client.cut = {r"SELECT \?n\d": 1}
    assert len(await answered(client, plan(matching(STARRED), give("a")))) == 3


async def test_a_triple_that_statements_are_about_is_one_edge_unless_several_are_about_it():
    reifies = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( ex:film0 ex:starred ex:ada )>>"
    said = f"[] {reifies} ; ex:as ex:nurse ; ex:by ex:film1 ."
    client = films(["ada"], ["ada"], more=said)
    for asked in (matching(STARRED), matching(edge("f", "ex:by", "a")), matching(edge("f", "", "a"))):
        await answered(client, plan(asked, give("f", "a")))
    assert len(matches_in(client)) == 2  # no edge is `ex:by`: it belongs to the statement
    several = films(["ada"], more=f"{said} [] {reifies} ; ex:as ex:doctor .")
    assert await answered(several, plan(matching(STARRED), give("a", named("n", COUNT)))) == [("ex:ada", 2)]
    async with opened_over(several, HERE) as graph:
        with pytest.raises(Unsupported):
            await graph.run(matches_of(matching(STARRED), ["a"]), limit=9)


async def test_more_matches_than_the_bound_are_refused_by_the_first_answer():
    client = films([f"actor{n}" for n in range(20)])
    async with opened_over(client, HERE) as graph:
        with pytest.raises(PlanTooLarge):
            await evaluate(graph, plan(matching(STARRED), give("a")), limit=9, bound=10)


@pytest.mark.parametrize("proof", [False, True])
async def test_edges_that_are_too_many_to_walk_are_read_between_the_nodes_that_the_store_says(*, proof: bool):
    client = films(*([f"actor{n}", f"other{n}"] for n in range(20)), more="ex:film3 ex:directed_by ex:actor3 .")
    own = matching(STARRED, edge("f", "ex:directed_by", "a", "d"), edge("f", "ex:starred", "b", "s"))
    both = plan(own, give("f", "b", "r"))
    async with opened_over(client, HERE) as graph:
        alone = await evaluate(graph, both, limit=9, by_store=False, proof=proof)
        page = await evaluate(graph, both, limit=9, bound=3, proof=proof)
        with pytest.raises(PlanTooLarge):
            await evaluate(graph, both, limit=9, bound=3, proof=proof, by_store=False)
    assert page.items == alone.items
    assert rows(page) == [("ex:film3", "ex:other3", ("ex:film3", "ex:starred", "ex:actor3"))]
    assert {size.part: size.count.value for size in page.sizes}["(f)-[r:`ex:starred`]->(a)"] == 1
    hubs = matching(STARRED, edge("f", "ex:starred", "b", "s"))
    async with opened_over(client, HERE) as graph:
        with pytest.raises(PlanTooLarge):
            await evaluate(graph, plan(hubs, give("f", "r")), limit=9, bound=3, proof=proof)


async def test_conditions_that_sparql_cannot_express_are_applied_before_the_bound():
    titles = "\n".join(f'ex:film{n} a ex:Film ; ex:title "Film {n}" .' for n in range(20))
    client = films(*([f"actor{n}", f"other{n}"] for n in range(20)), more=titles)
    third = compare(called(Function.LOWER, "f.ex:title"), "=", "film 3")
    asked = plan(matching(node("f", "ex:Film"), edge("f", "ex:starred", "a"), where=third), give("a"))
    assert await answered(client, asked, bound=30) == [("ex:actor3",), ("ex:other3",)]


async def test_a_pattern_that_nothing_matches_names_its_first_part_that_does_not():
    client = films(["ada"])
    async with opened_over(client, HERE) as graph:
        nothing = plan(matching(STARRED, edge("a", "ex:starred", "b", "s")), give("b"))
        page = await evaluate(graph, nothing, limit=9)
    assert page.items == ()
    assert "Nothing matches (a)-[s:`ex:starred`]->(b)." in page.note


@pytest.mark.parametrize(("variables", "matches"), [(("a", "f"), 5), (("a",), 3)])
async def test_a_store_tells_whether_there_are_more_matches_than_a_number_without_reading_them(
    variables: tuple[str, ...], matches: int
):
    client = films(["ada", "ben", "cyd"], ["ada", "ben"])
    async with opened_over(client, HERE) as graph:
        asked = matches_of(matching(STARRED), variables)
        for than in (matches - 1, matches):
            client.queries.clear()
            assert await graph.has_more_rows(asked, than) is (than < matches)
            assert len([query for query in client.queries if f"LIMIT {than + 1}" in query]) == 1
        assert not await graph.has_more_rows(matches_of(matching(STARRED), ()), 0)


STATEMENT = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#{}>"
REIFIERS_OF = " ; ".join(
    [f"[] a {STATEMENT.format('Statement')}"]
    + [f"{STATEMENT.format(part)} ex:{end}" for part, end in (("subject", "film0"), ("predicate", "starred"))]
    + [f"{STATEMENT.format('object')} ex:ada ; ex:by ex:ben ."]
)
TWO_EDGES = matching(edge("f", "", "a"), edge("a", "", "b", "s"))


async def test_a_query_for_more_matches_does_not_look_up_each_head_among_statements():
    client = films(["ada"], more=f"{REIFIERS_OF} ex:ada ex:met ex:ben, ex:cyd . ex:ben ex:met [ ex:met ex:dan ] .")
    async with opened_over(client, HERE) as graph:
        assert await graph.has_more_rows(matches_of(TWO_EDGES, ("f", "b")), 3)
        client.queries.clear()
        assert not await graph.has_more_rows(matches_of(TWO_EDGES, ("f", "b")), 4), (
            "one of the five leads through a node without an IRI"
        )
        asked = [query for query in client.queries if "SELECT (COUNT(*)" in query]
    assert asked
    assert not [query for query in asked if "NOT EXISTS" in query]


async def test_only_what_may_be_no_node_is_restricted_to_nodes():
    client = films(["ada"], more=f"{REIFIERS_OF} ex:ada ex:met ex:ben .")
    async with opened_over(client, HERE) as graph:
        await graph.run(matches_of(TWO_EDGES, ["b"], GivenNodes(("f",), (("ex:film0",),))), limit=9)
    (query,) = matches_in(client)
    assert query.count("isLiteral") == 1, "of b alone: a is a head"
    assert query.count("NOT EXISTS") == 1, "of a alone: f is given"
