"""Patterns of plans as queries of an endpoint: the answers are those of the evaluator, which walks edge by edge."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from kgnav_mcp.errors import InvalidPlan, PlanTooLarge, Unsupported
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.navigation.plans.pushdown import store_matching
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import (
    AggregateFunction,
    Call,
    Compare,
    Comparison,
    Exists,
    Function,
    GivenNodes,
    HasLabel,
    Not,
    Order,
    PathKind,
    Plan,
    Variable,
)
from kgnav_mcp.port import AdapterOptions
from tests.adapters.generic_sparql.films import COUNT, STARRED, answered, films, matches_in
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import InProcess, opened_over
from tests.contract import toy_files, toy_views
from tests.contract.example import DictAdapter
from tests.navigation.plans.writing import compared as compare
from tests.navigation.plans.writing import (
    descending,
    edge,
    give,
    is_id,
    matches_of,
    matching,
    named,
    node,
    of,
    path,
    plan,
    rows,
    total,
)
from tests.plans.comparing import ALL, all_rows
from tests.plans.strategies import plans_by_chance, words_of
from tests.plans.toys import plain, random_toy
from tests.sampling import sampled

TOY = "sparql+http://127.0.0.1/sparql#" + "&".join(
    f"prefix.{name}={namespace}" for name, namespace in toy_files.NAMESPACES.items() if "toy" in namespace
)


@pytest.mark.parametrize("seed", sampled(range(3), 3))
async def test_a_plan_by_chance_answers_what_the_evaluator_alone_answers(seed: int, tmp_path: Path):
    nodes, edges = random_toy(seed)
    simple = list(dict.fromkeys(replace(one, qualifiers=()) for one in edges))
    (path,) = toy_files.write_rdf(tmp_path, nodes, simple)
    client = InProcess(path.read_text(encoding="utf-8"))
    words = words_of(plain(toy_views.view(toy_views.RDF, nodes, simple), nodes))
    async with opened_over(client, TOY) as graph:
        by_store, alone = PlanRunner(graph), PlanRunner(graph, by_store=False)
        for asked in plans_by_chance(words, 15, of_nodes=True):
            with suppress(InvalidPlan):  # which values are refused depends on the rows that are met before
                answers = [
                    await all_rows(
                        lambda limit, after, one=one, asked=asked: one.run(asked, limit=limit, after=after), ALL
                    )
                    for one in (by_store, alone)
                ]
                assert answers[0] == answers[1], asked
    assert len(matches_in(client)) > 5


async def test_the_most_frequent_are_counted_by_the_store_however_many_edges_there_are():
    client = films(["ada", "ben", "cyd"], ["ada", "ben"], ["ada", "cyd"], ["ada"])
    most = give("a", named("n", COUNT), order=(descending("n"),), limit=2)
    assert await answered(client, plan(matching(STARRED), most), bound=3) == [("ex:ada", 4), ("ex:ben", 2)]
    async with opened_over(client, HERE) as graph:
        with pytest.raises(PlanTooLarge):
            await evaluate(graph, plan(matching(STARRED), most), limit=9, bound=3, by_store=False)


async def test_a_long_list_of_the_most_frequent_is_not_sorted_by_the_store():
    client = films(["ada", "ben"], ["ada"])
    most = give("a", named("n", COUNT), order=(descending("n"),), limit=1_000_000)
    assert await answered(client, plan(matching(STARRED), most)) == [("ex:ada", 2), ("ex:ben", 1)]
    assert "ORDER BY" not in matches_in(client)[0]


async def test_all_that_are_as_frequent_as_the_last_are_told_so_that_their_order_is_the_same_everywhere():
    cast = [f"actor{n:03}" for n in range(400)]
    client = films(cast, cast, ["star"], ["star", "once"], ["star"])
    most = give("a", named("n", COUNT), order=(descending("n"),), limit=3)
    found = await answered(client, plan(matching(STARRED), most))
    assert found == [("ex:star", 3), ("ex:actor000", 2), ("ex:actor001", 2)]
    assert any("ORDER BY DESC(?n)" in query for query in matches_in(client))
    assert any("HAVING (COUNT(*) >= 2)" in query for query in matches_in(client))


async def test_the_most_frequent_nodes_are_read_even_if_all_exceed_the_bound(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(store_matching, "_PROBED_AFTER_S", 0)
    client = films([f"actor{n:03}" for n in range(300)], ["actor007"])
    most = give("a", named("n", COUNT), order=(descending("n"),), limit=1)
    assert await answered(client, plan(matching(STARRED), most), bound=250) == [("ex:actor007", 2)]
    counts, sorted_later = give("a", named("n", COUNT)), give("a", "n", order=(descending("n"),), limit=1)
    assert await answered(client, plan(matching(STARRED), counts, sorted_later), bound=250) == [("ex:actor007", 2)]


async def test_different_nodes_are_counted_by_the_store():
    client = films(["ada", "ben", "cyd"], ["ada", "ben"], ["cyd"])
    pairs = matching(edge("f", "ex:starred", "a"), edge("f", "ex:starred", "b", "s"))
    partners = give("a", named("n", total(AggregateFunction.COUNT, "b", distinct=True)))
    assert await answered(client, plan(pairs, partners), bound=3) == [("ex:ada", 2), ("ex:ben", 2), ("ex:cyd", 2)]
    assert len(matches_in(client)) == 1


async def test_edges_are_counted_as_rows_where_they_are_never_null():
    client = films(["ada", "ben"], ["ada"])
    number = give("a", named("n", total(AggregateFunction.COUNT, "r")))
    assert await answered(client, plan(matching(STARRED), number), bound=2) == [("ex:ada", 2), ("ex:ben", 1)]


async def test_rows_are_as_many_as_the_ways_in_which_the_pattern_matches():
    client = films(["ada", "ben"], ["ada", "ben"], ["ada"])
    partners = matching(edge("f", "ex:starred", "a"), edge("f", "ex:starred", "b", "s"), where=is_id("a", "ex:ada"))
    assert await answered(client, plan(partners, give("b"))) == [("ex:ben",), ("ex:ben",)]
    assert await answered(client, plan(partners, give("b", distinct=True))) == [("ex:ben",)]


async def test_conditions_on_nodes_are_part_of_the_query_and_others_filter_its_rows():
    older = "\n".join(f"ex:{name} ex:age {age} ." for name, age in (("ada", 36), ("ben", 41)))
    client = films(["ada", "ben", "cyd"], ["cyd"], more=older)
    also = matching(edge("g", "ex:starred", "a", "s"), where=Compare(Variable("g"), Comparison.UNEQUAL, Variable("f")))
    alone = Compare(Variable("f"), Comparison.UNEQUAL, Variable("a"))
    once = matching(STARRED, where=Not(Exists(also)))
    assert await answered(client, plan(once, give("a"))) == [("ex:ada",), ("ex:ben",)]
    assert "EXISTS" in matches_in(client)[0]
    labelled = matching(STARRED, where=HasLabel("a", ("ex:Actor",)))
    assert len(await answered(client, plan(labelled, give("a", distinct=True)))) == 3
    assert len(await answered(client, plan(matching(STARRED, where=alone), give("f", "a")))) == 4


async def test_numbers_are_compared_by_the_store_whatever_their_datatypes():
    values = {"ada": "36", "ben": '"41.5"^^xsd:double', "cyd": '"50"', "dan": "3.5, 60"}
    ages = [f"ex:{name} ex:age {value} ." for name, value in values.items()]
    client = films(list(values), more="\n".join(["@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .", *ages]))
    for comparison, number, expected in ((">", 36, ["ben", "dan"]), ("<=", 36.0, ["ada", "dan"]), ("=", 41.5, ["ben"])):
        older = matching(STARRED, where=compare("a.ex:age", comparison, number))
        assert await answered(client, plan(older, give("a"))) == [(f"ex:{name}",) for name in expected]
    of_label = matching(node("a", "ex:Actor"), where=compare("a.ex:age", ">=", 41))
    assert await answered(client, plan(of_label, give(named("n", COUNT)))) == [(2,)]
    for query in matches_in(client):
        assert ("EXISTS { VALUES ?relation" in query) is ("VALUES ?v0 " not in query), (
            query
        )  # an equal one is looked up
    never = matching(STARRED, where=Not(compare("a.ex:age", ">", 36)))
    assert await answered(client, plan(never, give("a"))) == [("ex:ada",)]


async def test_relations_through_mediators_are_matched_with_these():
    married = [
        f"ex:wedding{n} ex:of ex:{name} . ex:{name} ex:in ex:wedding{n} ." for n, name in ((1, "ada"), (1, "ben"))
    ]
    client = films(["ada", "ben"], more="\n".join(married) + " ex:wedding1 ex:year 1840 . ex:cyd ex:in ex:club . ")
    wives = matching(edge("f", "ex:starred", "a"), edge("a", "ex:in.ex:of", "b", "s"))
    async with opened_over(client, f"{HERE}&mediators=unnamed") as graph:
        for by_store in (True, False):
            page = await evaluate(graph, plan(wives, give("a", "b", named("n", COUNT))), limit=9, by_store=by_store)
            assert rows(page) == [("ex:ada", "ex:ben", 1), ("ex:ben", "ex:ada", 1)]
    assert len(matches_in(client)) == 1


async def test_what_a_path_of_any_length_leads_to_is_one_query_cycles_and_nodes_themselves_included():
    ways = ["ab", "bc", "ca", "cd", "de", "xy"]
    client = InProcess(
        "\n".join(f"<http://ex.example/{a}> <http://ex.example/to> <http://ex.example/{b}> ." for a, b in ways)
    )
    for shortest, expected in ((1, "abcde"), (0, "abcde")):
        onward = matching(path("s", "ex:to", "t", PathKind.REACHABLE, shortest), where=is_id("s", "ex:a"))
        assert await answered(client, plan(onward, give("t"))) == [(f"ex:{name}",) for name in expected]
    last = matching(
        path("s", "ex:to", "t", PathKind.REACHABLE), edge("t", "ex:to", "u", "q"), where=is_id("s", "ex:d", "ex:b")
    )
    await answered(client, plan(last, give("s", "u", named("n", COUNT))))
    assert len(matches_in(client)) == 3
    leaf = matching(path("s", "ex:to", "t", PathKind.REACHABLE), where=is_id("s", "ex:d"))
    assert await answered(client, plan(leaf, give("t"))) == [("ex:e",)]
    every = matching(path("s", "ex:to", "t", PathKind.REACHABLE, 0))
    await answered(client, plan(every, give("s", "t")))
    assert len(matches_in(client)) == 4


async def test_later_patterns_are_matched_around_the_nodes_of_the_rows():
    client = films(["ada", "ben"], ["ada", "cyd"], ["cyd"])
    first = matching(STARRED, where=is_id("a", "ex:ada"))
    then = matching(edge("f", "ex:starred", "b", "s"))
    assert await answered(client, plan(first, give("f"), then, give("b", named("n", COUNT)))) == [
        ("ex:ada", 2),
        ("ex:ben", 1),
        ("ex:cyd", 1),
    ]
    maybe = matching(edge("g", "ex:starred", "f", "t"), optional=True)
    assert await answered(client, plan(first, maybe, give("f", "g"))) == [("ex:film0", None), ("ex:film1", None)]
    assert "VALUES (?n" in "".join(matches_in(client))


async def test_nodes_with_a_value_are_looked_up_by_it():
    client = films(["ada", "ben"], ["cyd"], more='ex:film0 ex:title "Waking Life" .')
    asked = matching(STARRED, where=compare("f.ex:title", "=", "Waking Life"))
    assert await answered(client, plan(asked, give("a"))) == [("ex:ada",), ("ex:ben",)]
    assert 'VALUES ?v0 { "Waking Life" }' in matches_in(client)[0]


async def test_an_adapter_that_matches_no_patterns_says_so():
    async with DictAdapter("tests.contract.example_graph", AdapterOptions()) as graph:
        with pytest.raises(Unsupported):
            await graph.run(matches_of(matching(STARRED), ["a"]), limit=9)


async def test_nodes_are_told_once_with_the_times_that_the_pattern_matches_around_them():
    client = films(["ada", "ben"], ["ada"])
    async with opened_over(client, HERE) as graph:
        asked = matches_of(matching(STARRED), ["a"], GivenNodes(("f",), (("ex:film0",), ("ex:film1",))))
        page = await graph.run(asked, limit=9)
    assert sorted(rows(page)) == [("ex:film0", "ex:ada", 1), ("ex:film0", "ex:ben", 1), ("ex:film1", "ex:ada", 1)]


async def queries_of(client: InProcess, asked: Plan) -> list[str]:
    """What a plan asks of an open endpoint that gives the same answer as the evaluator alone."""
    await answered(client, asked)
    async with opened_over(client, HERE) as graph:
        await evaluate(graph, asked, limit=50)
        client.queries.clear()
        await evaluate(graph, asked, limit=50)
        return list(client.queries)


async def test_values_of_nodes_come_with_the_matches():
    titles = ['"Alien", "8 passengers"@en', "451", "ex:film0", '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>']
    client = films(
        *(["ada"] for _ in range(5)), more="\n".join(f"ex:film{n} ex:title {each} ." for n, each in enumerate(titles))
    )
    title, year = named("title", of("f.ex:title")), named("year", of("f.ex:year"))
    by_title = give("title", "a", order=(Order(Call(Function.HEAD, (Variable("title"),))),))
    for clauses in (
        [give(title, year)],
        [give("f", named("n", COUNT)), give("n", title, year)],
        [give("a", title), by_title],
    ):
        queries = await queries_of(client, plan(matching(STARRED), *clauses))
        assert len([query for query in queries if "/starred>" in query]) == 1
        assert len([query for query in queries if "/title>" in query]) == 1


async def test_values_without_an_id_are_read_by_queries_of_their_own():
    client = films(["ada"], more='ex:film0 ex:title [ ex:note "nobody" ] .')
    ((title,),) = await answered(client, plan(matching(STARRED), give(named("t", of("f.ex:title")))))
    assert str(title).startswith("_:")


async def test_values_that_came_with_some_of_the_matches_only_are_read_for_all():
    count = 1_500
    titles = "\n".join(f'ex:film{n} ex:title "Film {n}" .' for n in range(count))
    client = films(
        *([f"actor{n:04}"] for n in range(count)), more=f"{titles} ex:film{count - 1} ex:title [ ex:by ex:film0 ] ."
    )
    actors = give("a", order=(Order(Variable("a")),))
    casts = plan(
        matching(STARRED), actors, matching(edge("g", "ex:starred", "a", "s")), give(named("t", of("g.ex:title")))
    )
    async with opened_over(client, HERE) as graph:
        page = await evaluate(graph, casts, limit=count)
    shown = [row.cells[0] for row in page.items]
    assert (len(shown), sum(isinstance(cell, tuple) for cell in shown)) == (count, 1)


async def test_a_condition_that_selected_the_nodes_is_not_applied_again():
    client = films(["ada"], ["ben"], more='ex:film0 ex:title "Alien", "Aliens" . ex:film1 ex:title "451" .')
    asked = plan(matching(STARRED, where=compare("f.ex:title", "=", "Alien")), give("a"))
    assert await answered(client, asked) == [("ex:ada",)]
    assert len([query for query in await queries_of(client, asked) if "/title>" in query]) == 1


async def test_numbers_are_found_by_their_text_but_are_not_equal_to_it():
    numbers = films(["ada"], ["ben"], more='ex:film0 ex:title 451 . ex:film1 ex:title "451" .')
    asked = plan(matching(STARRED, where=compare("f.ex:title", "=", "451")), give("a"))
    assert await answered(numbers, asked) == [("ex:ben",)]
