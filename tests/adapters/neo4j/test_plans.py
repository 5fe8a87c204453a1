"""A plan in Cypher answers what the oracle or the evaluator answers, cell by cell, in one page and in many."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from neo4j import GraphDatabase

from kgnav_bench.graphwalk.graphs import Shape, generate
from kgnav_bench.graphwalk.questions import questions
from kgnav_bench.graphwalk.stores import write_files
from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.errors import InvalidArgument, InvalidCursor, Unsupported
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans.evaluate.evaluator import evaluate
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import Expression, Plan
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.neo4j_service import Neo4j
from tests.plans.cases import CASES, PEOPLE
from tests.plans.comparing import ALL, all_rows, of_answer, of_oracle, same_by_parts, same_proof
from tests.plans.graph import Graph
from tests.plans.oracle import answer
from tests.plans.oracle.values import Kind
from tests.plans.short import cmp, edge, give, matching, no, node, null, of, plan, sum_up
from tests.plans.stored import ask, fill
from tests.plans.strategies import plans_by_chance, words_of
from tests.sampling import extended, sampled

IDS = "CREATE CONSTRAINT IF NOT EXISTS FOR (n:Person) REQUIRE n.id IS UNIQUE"
LEFT_OUT = ("=~", "Nobody", "2 ^ 3", "toString(1.0)", "[1, 2] = 1")
"""What of the cases is evaluated: words that Cypher lacks, or means otherwise."""
IN_CYPHER = [(cypher, each) for cypher, each in CASES if not any(word in cypher for word in LEFT_OUT)]


@pytest.fixture(scope="module")
def people(neo4j: Neo4j) -> str:
    """The graph of the cases. Some of its nodes are called by a key, others by the store's own ids."""
    with GraphDatabase.driver(neo4j.url, notifications_min_severity="OFF") as driver:  # pyright: ignore[reportUnknownMemberType]
        neo4j.clear()
        fill(driver, PEOPLE)
        ask(driver, IDS)
    return neo4j.url


@pytest.fixture(scope="module")
def stored(people: str) -> Graph:
    """The same as the oracle reads it, with the ids that the store's adapter prints."""
    with GraphDatabase.driver(people) as driver:  # pyright: ignore[reportUnknownMemberType]
        found = ask(driver, "MATCH (n) RETURN n.id, CASE WHEN n:Person THEN 'Person:id=' + n.id ELSE elementId(n) END")
    ids = {str(own): str(printed) for own, printed in found}
    nodes = {ids[own]: replace(node, id=ids[own]) for own, node in PEOPLE.nodes.items()}
    return Graph(nodes, tuple(replace(edge, head=ids[edge.head], tail=ids[edge.tail]) for edge in PEOPLE.edges))


@pytest.fixture
async def graph(people: str) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(people, AdapterOptions()) as opened:
        yield opened


async def answers(graph: GraphAdapter, each: Plan, expected: Sequence[tuple[object, ...]]) -> None:
    """The store answers so, in pages of any size."""
    for size in (ALL, 3):
        assert await all_rows(lambda limit, after: graph.run(each, limit=limit, after=after), size) == expected


async def held(graph: GraphAdapter, each: Plan) -> None:
    """The store answers what the evaluator does."""
    evaluated = (await evaluate(graph, each, limit=ALL, by_store=False)).items
    await answers(graph, each, [tuple(map(of_answer, row.cells)) for row in evaluated])


@pytest.mark.parametrize("each", sampled([each for _, each in IN_CYPHER], 4), ids=[cypher for cypher, _ in IN_CYPHER])
async def test_a_plan_in_cypher_answers_what_the_oracle_does(graph: GraphAdapter, stored: Graph, each: Plan):
    await answers(graph, each, [tuple(map(of_oracle, row)) for row in answer(stored, each)])


@pytest.mark.parametrize("number", [1, extended(6)])
async def test_parts_of_a_plan_by_chance_in_cypher_answer_what_the_evaluator_does_alone(
    graph: GraphAdapter, stored: Graph, number: int
):
    for each in plans_by_chance(words_of(stored), number):
        await same_by_parts(graph, each)


@pytest.mark.parametrize("word", LEFT_OUT)
async def test_what_cypher_means_otherwise_is_refused_before_it_runs(graph: GraphAdapter, word: str):
    for cypher, each in CASES:
        if word in cypher:
            with pytest.raises(Unsupported):
                await graph.run(each, limit=1)


@pytest.mark.parametrize("cases", [IN_CYPHER[::5], extended(IN_CYPHER)], ids=["some", "all"])
async def test_the_rows_of_one_query_rest_on_the_edges_that_the_evaluator_says(
    graph: GraphAdapter, cases: Sequence[tuple[str, Plan]]
):
    run = [cypher for cypher, each in cases if await same_proof(graph, each)]
    assert len(run) > len(cases) / 2


async def test_a_number_beyond_64_bits_is_the_same_error_as_on_other_stores(graph: GraphAdapter):
    asked = plan(give({"sum": sum_up(2**63 - 1, "+", 1)}))
    with pytest.raises(Unsupported):
        await graph.run(asked, limit=1)
    with pytest.raises(InvalidArgument, match="is not a 64-bit integer"):
        await PlanRunner(graph).run(asked, limit=1)


async def test_a_node_is_found_by_the_id_that_is_printed(graph: GraphAdapter):
    ids = ("Person:id=ada", "Person:id=nobody", "4:no-such-id")
    asked = plan(matching(node("n"), where=cmp(of("elementId", ".n"), "IN", ids)), give({"n": ".n"}))
    page = await graph.run(asked, limit=5)
    assert [of_answer(row.cells[0]) for row in page.items] == [(Kind.NODE, "Person:id=ada")]


OLD = cmp(".n.age", ">", 36)
INNER = (no(OLD), null(".n.age"), cmp(".n.age", "IN", (36, 41)), cmp(".n.tag", "=", "night"), null(".n.tag"), OLD)


@pytest.mark.parametrize("one", sampled(INNER, 3))
async def test_conditions_of_conditions_are_read_with_their_brackets(
    graph: GraphAdapter, stored: Graph, one: Expression
):
    outer = (null(one), no(null(one)), cmp(one, "IN", (True, None)), cmp(one, "<", True), cmp(True, "=", one))
    for condition in (*outer, *(cmp(one, "<>", other) for other in INNER)):
        asked = plan(matching(node("n"), where=condition), give({"n": ".n.id", "value": condition}))
        await answers(graph, asked, [tuple(map(of_oracle, row)) for row in answer(stored, asked)])


async def test_a_path_that_an_optional_match_does_not_find_is_null_and_sorted_last(graph: GraphAdapter):
    await held(graph, parse_plan("MATCH (n) OPTIONAL MATCH p = (n)-[:KNOWS]->() RETURN p, n").plan)


async def test_edges_of_a_pattern_may_be_one_where_they_need_not_differ(graph: GraphAdapter):
    pattern = (edge("a-r->b", "KNOWS"), edge("c-s->b", "KNOWS"))
    for differ in (True, False):
        for optional in (True, False):
            for where in (None, cmp(".a", "=", ".c")):
                match = matching(*pattern, where=where, optional=optional, edges_differ=differ)
                await held(graph, plan(match, give({"a": ".a", "b": ".b", "c": ".c"})))


async def test_dates_and_lists_of_values_are_compared_and_sorted_as_the_evaluator_does(neo4j: Neo4j, people: str):
    with GraphDatabase.driver(neo4j.url) as driver:  # pyright: ignore[reportUnknownMemberType]
        ask(driver, "MATCH (n:Person) SET n.born = date('1815-12-10') + duration({days: coalesce(n.age, 0)})")
        ask(driver, "MATCH ()-[r:KNOWS]->() WHERE r.since > 1830 SET r.seen = ['b', 'a'], r.on = date('1850-01-01')")
    async with open_adapter(people, AdapterOptions()) as opened:
        for stated in ("1816", "1816-01", "1816-01-15"):
            for comparison in ("=", "<>", "<", ">="):
                match = matching(node("n"), where=cmp(".n.born", comparison, stated))
                await held(opened, plan(match, give({"n": ".n.born", "year": of("year", ".n.born")})))
        for tag in ("night", "clocks", "x"):
            for comparison in ("=", "<>", "CONTAINS"):
                match = matching(node("n"), where=cmp(".n.tag", comparison, tag))
                await held(opened, plan(match, give({"n": ".n.tag", "level": ".n.level"})))
        await held(opened, plan(matching(edge("a-r->b", "KNOWS")), give({"r": ".r"})))


async def test_an_empty_answer_names_the_first_edge_that_nothing_matches(graph: GraphAdapter):
    match = matching(node("c", "City"), edge("a-l->c", "LIVES_IN"), edge("c-k->d", "KNOWS"))
    page = await PlanRunner(graph).run(plan(match, give({"a": ".a"})), limit=5)
    assert (page.items, page.note) == ((), "Nothing matches (c:City)-[k:KNOWS]->(d).")


async def test_a_page_behind_a_row_that_is_another_one_now_is_refused(graph: GraphAdapter):
    asked = plan(matching(node("n", "Person")), give({"n": ".n"}))
    page = await graph.run(asked, limit=2)
    other = plan(matching(node("n", "City")), give({"n": ".n"}))
    for position in (page.positions[0], "x", "3", "99." + page.positions[0].partition(".")[2]):
        with pytest.raises(InvalidCursor):
            await graph.run(other, limit=2, after=position)


async def test_the_questions_of_the_templates_are_answered_by_cypher(neo4j: Neo4j, tmp_path: Path):
    synthetic = generate(Shape.of(100), 1)
    neo4j.load(write_files(synthetic, tmp_path))
    async with open_adapter(neo4j.url, AdapterOptions()) as opened:
        runner = PlanRunner(opened)
        for question in questions(synthetic):
            checked = await runner.check(parse_plan(question.cypher).plan)
            page = await opened.run(checked.plan, limit=ALL)
            rows, truth = Counter(row.cells for row in page.items), Counter(question.truth)
            assert rows <= truth if question.template.one_answer else rows == truth, question.cypher
            assert page.items


async def test_the_id_of_a_node_with_several_keys_names_the_first_label_that_has_one(neo4j: Neo4j):
    keys = AdapterOptions(extra={"keys": {"Ship": "imo", "Boat": "name", "Wreck": "name"}})
    with GraphDatabase.driver(neo4j.url, notifications_min_severity="OFF") as driver:  # pyright: ignore[reportUnknownMemberType]
        neo4j.clear()
        ask(driver, "CREATE (:Ship:Boat {imo: 7, name: 'Vega'}), (:Ship:Wreck {imo: 2.5, name: 'Vega'})")
        ask(driver, "CREATE (:Boat:Wreck {name: 'Vega'})")
    printed = ("Ship:imo=7", "Ship:imo=2.5", "Boat:name=Vega", "Wreck:name=Vega")
    found: dict[str, list[object]] = {}
    async with open_adapter(neo4j.url, keys) as graph:
        for each in printed:
            asked = plan(matching(node("n"), where=cmp(of("elementId", ".n"), "IN", (each,))), give({"n": ".n"}))
            page = await graph.run(asked, limit=5)
            found[each] = [of_answer(row.cells[0]) for row in page.items]
    assert found == {each: [(Kind.NODE, each)] * (each != "Ship:imo=2.5") for each in printed}


async def test_rows_are_sorted_by_a_property_that_other_or_deleted_nodes_have_in_several_languages(neo4j: Neo4j):
    with GraphDatabase.driver(neo4j.url, notifications_min_severity="OFF") as driver:  # pyright: ignore[reportUnknownMemberType]
        neo4j.clear()
        ask(driver, "CREATE (:Gone {`motto@nl`: 'Weg'})")
        ask(driver, "MATCH (n) DELETE n")
        ask(driver, "CREATE (:Ship {motto: 'Vast'}), (:Ship {motto: 'Aan'}), (:Port {`harbour@nl`: 'Haven'})")
        ask(driver, "CREATE (:Boat {motto: 'Zee', harbour: 'Veere'}), (:Boat {motto: 'Wind', harbour: 'Goes'})")
    by_label = plan(matching(node("n", "Boat")), give({"harbour": ".n.harbour"}, ".n.harbour"))
    by_any = plan(matching(node("n")), give({"motto": ".n.motto"}, ".n.motto"))
    async with open_adapter(neo4j.url, AdapterOptions()) as opened:
        await answers(opened, by_label, [((Kind.TEXT, "Goes"),), ((Kind.TEXT, "Veere"),)])
        texts = [(Kind.TEXT, text) for text in ("Aan", "Vast", "Wind", "Zee")]
        await answers(opened, by_any, [*((each,) for each in texts), ((Kind.NULL,),)])


_ALL = "MATCH (a:A|B|C)-[r:R]-(b)-[s:R]-(:A|B|C)"
_TWICE = "MATCH (a:A|B|C)-[r:R]-(b) MATCH (b)-[s:R]-(:A|B|C) WHERE r <> s"
Labelled = tuple[dict[int, set[str]], set[tuple[int, int]]]
"""The labels of nodes by their numbers, and edges between these."""


@pytest.fixture(scope="module")
def labelled(neo4j: Neo4j) -> Labelled:
    """A random graph in the store, whose nodes have one or two of three labels."""
    chance = random.Random(7)  # noqa: S311 - repeatable
    labels = {number: set(chance.choice(["A", "B", "AB", "C"])) for number in range(150)}
    edges = {(chance.randrange(150), chance.randrange(150)) for _ in range(212)}
    with GraphDatabase.driver(neo4j.url, notifications_min_severity="OFF") as driver:  # pyright: ignore[reportUnknownMemberType]
        neo4j.clear()
        for number, own in labels.items():
            ask(driver, f"CREATE (:{':'.join(sorted(own))} {{number: $number}})", number=number)
        create = "UNWIND $pairs AS e MATCH (a {number: e[0]}), (b {number: e[1]}) CREATE (a)-[:R]->(b)"
        ask(driver, create, pairs=[list(edge) for edge in sorted(edges)])
    return labels, edges


@pytest.mark.parametrize(
    ("pattern", "has_b"),
    [
        (f"{_ALL} WHERE a:B", True),
        ("MATCH (a:B&(A|B|C))-[r:R]-(b)-[s:R]-(:A|B|C)", True),
        ("MATCH (a)-[r:R]-(b)-[s:R]-(:A|B|C) WHERE (a:A OR a:B OR a:C) AND a:B", True),
        ("MATCH (a)-[r:R]-(b)-[s:R]-(:A|B|C) WHERE (a:A OR a:B OR a:C) AND NOT a:B", False),
        (f"{_ALL} WHERE NOT a:B", False),
        (f"{_TWICE} AND a:B", True),
        (f"{_TWICE} WITH a, b WHERE NOT a:B", False),
        (f"MATCH (a:B) {_ALL}", True),
    ],
)
async def test_labels_that_others_imply_or_exclude_lose_no_rows(
    neo4j: Neo4j, labelled: Labelled, pattern: str, has_b: bool
):
    labels, edges = labelled
    ends = [(one, other, (one, other)) for one, other in edges]
    ends += [(other, one, edge) for one, other, edge in ends if one != other]
    expected = sum(
        ("B" in labels[a]) is has_b for a, b, first in ends for end, _, second in ends if end == b and first != second
    )
    async with open_adapter(neo4j.url, AdapterOptions()) as opened:
        runner = PlanRunner(opened)
        checked = await runner.check(parse_plan(f"{pattern} RETURN count(*)").plan)
        assert [row.cells for row in (await runner.run(checked.plan, limit=2)).items] == [(expected,)]
