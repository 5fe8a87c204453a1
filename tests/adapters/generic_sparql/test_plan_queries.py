"""How many queries a plan costs on an endpoint, once it is open and its schema is known."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from unittest.mock import AsyncMock, patch

import pytest
from cachetools import TTLCache

from kgnav_mcp.adapters.generic_sparql import catalogue, pattern_writer
from kgnav_mcp.adapters.generic_sparql.reification import ReifierFacts
from kgnav_mcp.adapters.sparql_base.dialect import Dialect
from kgnav_mcp.adapters.sparql_base.dialects import FUSEKI, OXIGRAPH
from kgnav_mcp.errors import PlanTooLarge, StoreTimeout
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.model import Count, PlanPage
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import GraphAdapter
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import InProcess, opened_over
from tests.navigation.plans.writing import rows

RDF = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#"
PEOPLE = f"""
@prefix ex: <http://ex.example/> .
ex:ada a ex:Person ; ex:town "York" ; ex:title "Ada" ; ex:knows ex:ben, ex:cyd .
ex:ben a ex:Person ; ex:town "York" ; ex:title "Ben" ; ex:knows ex:cyd, ex:dan .
ex:cyd a ex:Person ; ex:town "Rome" ; ex:title "Cyd", "Sid" ; ex:knows ex:dan .
ex:dan a ex:Person ; ex:town "Rome" .
[] a {RDF}Statement> ; {RDF}subject> ex:ada ; {RDF}predicate> ex:knows ; {RDF}object> ex:ben ; ex:season "spring" .
[] a {RDF}Statement> ; {RDF}subject> ex:ben ; {RDF}predicate> ex:knows ; {RDF}object> ex:dan ; ex:season "spring" .
"""
IN_YORK = "MATCH (a:Person {town: 'York'})"


async def answer(graph: GraphAdapter, cypher: str) -> PlanPage:
    runner = PlanRunner(graph)
    checked = await runner.check(parse_cypher(cypher))
    assert not checked.problems
    return await runner.run(checked.plan, limit=9)


ROWS: Mapping[str, tuple[list[tuple[object, ...]], int]] = {
    f"{IN_YORK} RETURN a.title ORDER BY a.title": ([("Ada",), ("Ben",)], 2),
    f"{IN_YORK}-[:knows]->(b) RETURN DISTINCT b.title": ([("Ben",), (("Cyd", "Sid"),), (None,)], 2),
    f"{IN_YORK} OPTIONAL MATCH (a)-[r:knows]->({{town: 'Rome'}}) RETURN a.title, count(r)": (
        [("Ada", 1), ("Ben", 2)],
        4,
    ),
    f"{IN_YORK} OPTIONAL MATCH (a)<-[r:knows]-() RETURN a.title, count(r)": ([("Ada", 0), ("Ben", 1)], 3),
    f"{IN_YORK} WHERE NOT EXISTS {{ (a)<-[:knows]-() }} RETURN a.title": ([("Ada",)], 2),
    "MATCH (a:Person)-[r:knows]->(b) RETURN b.town, count(r)": ([("Rome", 4), ("York", 1)], 1),
    "MATCH (:Person)-[r:knows]->() RETURN count(DISTINCT r)": ([(5,)], 1),
    "MATCH (a)-[r:knows]->(b) RETURN a.town, count(DISTINCT r)": ([("Rome", 1), ("York", 4)], 1),
    "MATCH (a:Person)-[:knows {season: 'spring'}]->(b) RETURN a.title, b.title": ([("Ada", "Ben"), ("Ben", None)], 1),
    "MATCH p = shortestPath((a {title: 'Ada'})-[:knows*1..3]->(b {title: 'Sid'})) RETURN length(p)": ([(1,)], 3),
    "MATCH (a:Person {title: 'Ada'})-[*1..2]->(b:Person) RETURN DISTINCT b.town": ([("Rome",), ("York",)], 6),
}
"""The rows of each plan, and the most queries that it may cost."""


@pytest.mark.parametrize("cypher", ROWS)
async def test_a_plan_costs_few_queries(cypher: str):
    rows, queries = ROWS[cypher]
    client = InProcess(PEOPLE)
    async with opened_over(client, HERE) as graph:
        await answer(graph, cypher)
        client.queries.clear()
        page = await answer(graph, cypher)
    assert sorted((row.cells for row in page.items), key=repr) == sorted(rows, key=repr)
    assert len(client.queries) <= queries, client.queries


async def test_the_store_counts_edges_of_an_optional_pattern_without_listing_their_far_ends():
    client = InProcess(PEOPLE)
    async with opened_over(client, HERE) as graph:
        text = "MATCH (a:Person) OPTIONAL MATCH (a)-[r:knows]->(b) RETURN a, count(r), count(b), count(*)"
        page = await answer(graph, text)
    assert [row.cells[1:] for row in page.items] == [(2, 2, 2), (2, 2, 2), (1, 1, 1), (0, 0, 1)]
    counted = [query for query in client.queries if "knows> ?" in query and "COUNT(*)" in query]
    assert [query.partition(" (COUNT")[0] for query in counted if query.startswith("SELECT ?n")] == ["SELECT ?n0"]


async def test_a_search_from_both_ends_of_a_path_counts_no_edges_before_it_reads_few():
    path = "MATCH p = shortestPath((a {title: 'Ada'})-[:knows*1..3]->(b {title: '_'})) RETURN length(p)"
    client = InProcess(f'{PEOPLE} ex:dan ex:title "Dan" .')
    async with opened_over(client, HERE) as graph:
        await answer(graph, "MATCH ({title: 'Dan'})-[:knows]->(b) RETURN b")
        for end, length, queries in (("Dan", 2, 4), ("Ben", 1, 3)):
            client.queries.clear()
            page = await answer(graph, path.replace("_", end))
            assert [row.cells for row in page.items] == [(length,)]
            assert len(client.queries) == queries, client.queries


@pytest.mark.parametrize(("dialect", "nested"), [(OXIGRAPH, True), (FUSEKI, False)])
async def test_a_label_within_a_condition_does_not_begin_it_where_a_store_would_join_all_nodes_with_the_label(
    dialect: Dialect, nested: bool
):
    client = InProcess(PEOPLE, dialect=dialect)
    async with opened_over(client, HERE) as graph:
        page = await answer(graph, "MATCH (a:Person) WHERE EXISTS { (a)-[:knows]->(:Person) } RETURN a.title AS t")
    assert len(page.items) == 3
    (query,) = (one for one in client.queries if "knows> ?" in one and "EXISTS {" in one)
    label = f"{RDF}type> <http://ex.example/Person> ."
    assert query.count(label) == (1 if nested else 2)
    assert ("FILTER(?type IN" in query) is nested


async def test_values_are_read_of_the_nodes_with_the_largest_counts_alone():
    fans = [f'ex:star{n} ex:title "Star {n}" .' for n in range(300)]
    fans += [f"ex:fan{n} ex:likes {', '.join(f'ex:star{star}' for star in range(300 // n))} ." for n in range(1, 5)]
    client = InProcess("\n".join((PEOPLE, *fans)))
    async with opened_over(client, HERE) as graph:
        page = await answer(
            graph, "MATCH (a)-[r:likes]->(b) WITH b, count(r) AS c RETURN b.title AS t, c ORDER BY c DESC, t LIMIT 9"
        )
    first = sorted(f"Star {n}" for n in range(75))[:9]
    assert [row.cells for row in page.items] == [(title, 4) for title in first]
    assert "star74>" in " ".join(client.queries)
    assert "star75>" not in " ".join(client.queries)


@pytest.mark.parametrize("nodes", [2, 1_001])
async def test_nodes_with_a_value_are_matched_by_one_query_that_looks_it_up(nodes: int):
    towns = [f'ex:p{n} a ex:Person ; ex:town "Oslo" ; ex:title "{n}" .' for n in range(nodes)]
    client = InProcess("\n".join((PEOPLE, *towns)))
    async with opened_over(client, HERE) as graph:
        plan = "MATCH (a:Person {town: 'Oslo'}) WHERE NOT EXISTS { (a)-[:knows]->() } RETURN count(*)"
        await answer(graph, plan)
        client.queries.clear()
        page = await answer(graph, plan)
    assert [row.cells for row in page.items] == [(nodes,)]
    assert ['VALUES ?v0 { "Oslo" }' in query for query in client.queries] == [True]


async def test_a_value_that_is_the_name_of_more_nodes_than_a_list_has_finds_all_nodes_with_it():
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    seats = [f'ex:p{n} ex:seat ex:t{n} . ex:t{n} {label} "Oslo" .' for n in range(60)]
    client = InProcess("\n".join((PEOPLE, *seats, 'ex:q ex:seat "Oslo" , "Rome" .')))
    async with opened_over(client, HERE) as graph:
        page = await answer(graph, "MATCH (a {seat: 'Oslo'}) RETURN count(a)")
    assert [row.cells for row in page.items] == [(61,)]


@pytest.mark.parametrize(
    ("cypher", "rows"),
    [
        ("MATCH (p)-[r:knows]->(q) WHERE r.season IS NOT NULL RETURN p.title", [("Ada",), ("Ben",)]),
        ("MATCH ()-[:knows]->(q) WHERE q.title CONTAINS 'Q' RETURN q", []),
        ("MATCH (p) WHERE EXISTS { (p)-[:knows]->({title: 'Sid'}) } RETURN p.title", [("Ada",), ("Ben",)]),
        ("MATCH (p) WHERE COUNT { (p)-[:knows]->() } >= 2 RETURN p.title", [("Ada",), ("Ben",)]),
    ],
)
async def test_a_plan_without_a_known_node_begins_with_its_edges_and_not_with_all_nodes(
    cypher: str, rows: list[tuple[object, ...]]
):
    async with opened_over(InProcess(PEOPLE), HERE) as graph:
        with patch.object(type(graph), "node_ids", autospec=True, side_effect=type(graph).node_ids) as listed:
            page = await answer(graph, cypher)
    assert sorted(row.cells for row in page.items) == rows
    assert not [call for call in listed.call_args_list if call.args[1:] == (None, None, None)]


async def test_an_answer_without_rows_names_the_condition_that_leaves_none():
    async with opened_over(InProcess(PEOPLE), HERE) as graph:
        page = await answer(graph, "MATCH ()-[:knows]->(q) WHERE q.title CONTAINS 'Q' RETURN q")
    assert "Nothing matches the condition q.title CONTAINS 'Q'." in page.note


async def test_a_plan_is_refused_as_too_large_before_its_nodes_are_looked_up():
    async with opened_over(InProcess(PEOPLE), HERE) as graph:
        kind = type(graph)
        with (
            patch.object(kind, "has_more_rows", autospec=True, return_value=True),
            patch.object(kind, "run", autospec=True, side_effect=kind.run) as matched,
            pytest.raises(PlanTooLarge),
        ):
            await answer(graph, "MATCH (a)-[r:knows]->()-[s:knows]->(b) WITH a, b, r.season AS x RETURN a, b, x")
    assert not [call for call in matched.call_args_list if call.args[1].in_any_order]


def _statements(values: Sequence[str], relation: str = "knows") -> str:
    """A person for each list of values, who knows Ada since then."""
    return "\n".join(
        f"ex:p{n} a ex:Person ; ex:{relation} ex:ada . [] a {RDF}Statement> ; {RDF}subject> ex:p{n} ; "
        f"{RDF}predicate> ex:{relation} ; {RDF}object> ex:ada ; ex:since {own} ."
        for n, own in enumerate(values)
    )


_SINCE = [
    "1840",
    "1840.0",
    '"1840"',
    '"1840"^^ex:year',
    "1841, 1842",
    "1840, 1840.0",
    '"spring"',
    '"spring"@en',
    "true",
]
_BLANK = (
    f"[] ex:knows _:b . _:b ex:knows ex:ada . [] {RDF}subject> _:b ; {RDF}predicate> ex:knows ; "
    f"{RDF}object> ex:ada ; ex:since 1840 ."
)
QUALIFIED = PEOPLE + _statements(_SINCE) + _BLANK
PLACES = [
    "MATCH (a)-[r:knows {{since: {}}}]->(b) RETURN a, b",
    "MATCH (a)-[r {{since: {}}}]->(b) RETURN type(r), count(*)",
    "MATCH (a)-[r:knows|likes]->(b) WHERE r.since IN [{}, 1842] RETURN count(*)",
    "MATCH (b {{id: 'ex:ada'}})<-[r:knows]-(a) WHERE r.since = {} RETURN a",
    "MATCH (a {{id: 'ex:p0'}})-[:knows]->(b)<-[r {{since: {}}}]-(c) RETURN c",
    "MATCH (a)-[r:knows {{since: {}}}]->(b)-[:knows]->(c) RETURN c, count(r)",
    "MATCH (a)-[r:knows {{since: {}}}]->(b) WHERE toLower(a.title) IS NULL RETURN a",
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("value", ["1840", "1840.0", "1841", "'1840'", "'spring'", "'true'", "1", "7"])
@pytest.mark.parametrize("more", ["", _statements(["1840", "ex:spring"], "likes") + 'ex:spring rdfs:label "spring" .'])
async def test_edges_with_a_qualifier_are_those_that_the_evaluator_finds(place: str, value: str, more: str):
    prefix = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
    async with opened_over(InProcess(prefix + QUALIFIED + more), HERE) as graph:
        runner = PlanRunner(graph)
        checked = await runner.check(parse_cypher(place.format(value)))
        found = rows(await evaluate(graph, checked.plan, limit=50))
        assert found == rows(await evaluate(graph, checked.plan, limit=50, by_store=False))


@pytest.mark.parametrize("value", ["1840", "'spring'"])
async def test_edges_are_selected_by_a_qualifier_within_the_query_of_their_pattern(value: str):
    for place, matches in (
        ("(a)-[r:knows {since: _}]->(b)", True),
        ("(a)-[r:knows {since: _}]->({id: 'ex:ada'})", False),
    ):
        client = InProcess(QUALIFIED)
        async with opened_over(client, HERE) as graph:
            await graph.schema(limit=9)
            runner = PlanRunner(graph)
            checked = await runner.check(parse_cypher(f"MATCH {place.replace('_', value)} RETURN a"))
            client.queries.clear()
            await runner.run(checked.plan, limit=9)
        assert len([query for query in client.queries if "ex.example/since" in query]) == 1
        assert any("SELECT DISTINCT" in query for query in client.queries) is matches


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("value", ["1840", "1841", "1842.0", "'spring'", "'1840'", "7"])
async def test_edges_are_found_by_the_values_that_equal_a_constant_if_a_qualifier_has_many(
    monkeypatch: pytest.MonkeyPatch, place: str, value: str
):
    monkeypatch.setattr(pattern_writer, "_MAX_FILTERED", 0)
    client = InProcess(QUALIFIED)
    async with opened_over(client, HERE) as graph:
        runner = PlanRunner(graph)
        checked = await runner.check(parse_cypher(place.format(value)))
        found = rows(await evaluate(graph, checked.plan, limit=50))
        looked_up = any("SELECT DISTINCT ?v WHERE" in query for query in client.queries)
        begins_with_id = "'ex:" in place
        if found or not begins_with_id:  # otherwise the edges are asked for alone, to name the part without a match
            assert looked_up is (not begins_with_id and value != "'1840'")  # which may be a year
        assert found == rows(await evaluate(graph, checked.plan, limit=50, by_store=False))


@pytest.fixture
def uncounted(monkeypatch: pytest.MonkeyPatch):
    """Statements about triples are not counted, as those of a large graph."""

    async def late(*given: object) -> ReifierFacts:
        del given
        raise StoreTimeout(1)

    monkeypatch.setattr(catalogue, "reifier_facts", late)


@pytest.mark.usefixtures("uncounted")
async def test_a_qualifier_whose_uses_were_not_counted_selects_edges_by_its_values():
    client = InProcess(QUALIFIED)
    async with opened_over(client, HERE) as graph:
        runner = PlanRunner(graph)
        checked = await runner.check(parse_cypher("MATCH (a)-[r:knows {season: 'spring'}]->(b) RETURN a, b"))
        found = rows(await runner.run(checked.plan, limit=9))
    assert any('WHERE {  VALUES ?v1 { "spring" } ?v1r ' in query for query in client.queries)
    assert found == [("ex:ada", "ex:ben"), ("ex:ben", "ex:dan")]


@pytest.mark.usefixtures("uncounted")
@pytest.mark.parametrize(("statement", "is_blank"), [("[]", True), ("ex:statement", False)])
async def test_heads_with_an_iri_are_no_statements_where_only_blank_nodes_are(statement: str, is_blank: bool):
    of_ada = f"{statement} {RDF}subject> ex:ada ; {RDF}predicate> ex:knows ; {RDF}object> ex:cyd ; ex:knows ex:dan ."
    client = InProcess(PEOPLE + of_ada)
    async with opened_over(client, HERE) as graph:
        page = await answer(graph, "MATCH (a)-[r:knows]->(b:Person) RETURN a, count(r)")
    assert rows(page) == [("ex:ada", 2), ("ex:ben", 2), ("ex:cyd", 1)]
    assert any("|| NOT EXISTS" in query for query in client.queries) is is_blank


@pytest.mark.usefixtures("uncounted")
@pytest.mark.parametrize(
    ("cypher", "expected"),
    [
        ("MATCH (a:Person)-->(:Person) RETURN count(DISTINCT a)", [(3,)]),
        ("MATCH (:Person)-->(b) RETURN count(DISTINCT b)", [(4,)]),
        ("MATCH (a:Person)--(b) RETURN count(DISTINCT b)", [(6,)]),
        ("MATCH (a)-->(b:Person) RETURN a.town, count(DISTINCT b)", [("Rome", 1), ("York", 3), (None, 1)]),
        ("MATCH (a:Person {title: 'Ada'})-->(b) RETURN count(DISTINCT b)", [(3,)]),
        ("MATCH (a:Person)-->(b)-->(:Person) RETURN count(DISTINCT a)", [(2,)]),
        ("MATCH (a:Person)-[r]->(b), (a)-[s]->(b) RETURN count(DISTINCT a)", [(1,)]),
        ("MATCH (a:Person)-->(b) RETURN count(DISTINCT a), count(*)", [(4, 10)]),
    ],
)
async def test_distinct_ends_of_edges_of_any_relation_are_counted_whatever_statements_there_are(
    cypher: str, expected: Sequence[tuple[object, ...]]
):
    again = f"[] a {RDF}Statement> ; {RDF}subject> ex:ada ; {RDF}predicate> ex:knows ; {RDF}object> ex:ben ."
    async with opened_over(InProcess(f"{PEOPLE} {again} ex:town1 ex:home ex:ada ."), HERE) as graph:
        checked = await PlanRunner(graph).check(parse_cypher(cypher))
        by_store = await evaluate(graph, checked.plan, limit=9)
        assert rows(by_store) == rows(await evaluate(graph, checked.plan, limit=9, by_store=False)) == expected


@pytest.mark.usefixtures("uncounted")
async def test_distinct_ends_of_edges_of_any_relation_are_counted_by_the_store():
    client = InProcess(PEOPLE)
    async with opened_over(client, HERE) as graph:
        for _ in range(2):
            client.queries.clear()
            assert rows(await answer(graph, "MATCH (a:Person)-->(:Person) RETURN count(DISTINCT a)")) == [(3,)]
    counting = [query for query in client.queries if "?n" in query and "?p0" in query]
    assert len(counting) == 1, client.queries
    assert len(client.queries) <= 2, client.queries


@pytest.mark.parametrize(
    ("cypher", "number", "restricted"),
    [
        ("MATCH ()-[r]->() RETURN count(r)", 9, True),
        ("MATCH (:Person)-[r]->() RETURN count(r)", 9, False),
        ("MATCH (:Person)-->(:Person)-->(:Person) RETURN count(*)", 4, False),
        ("MATCH (a:Person) WHERE EXISTS { (a)-->(:Person) } RETURN count(*)", 3, False),
    ],
)
async def test_edges_of_any_relation_are_restricted_to_those_between_nodes_only_where_any_node_matches(
    cypher: str, number: int, restricted: bool
):
    client = InProcess(PEOPLE)
    async with opened_over(client, HERE) as graph:
        assert rows(await answer(graph, cypher)) == [(number,)]
    matching = [query for query in client.queries if re.search(r"\?n\d+ \?p\d+ \?n\d+", query)]
    assert matching
    assert all(("?p0 IN (" in query) is restricted for query in matching), matching


async def test_if_parallel_statements_are_not_counted_in_time_those_of_the_relations_of_a_plan_are():
    twice = f"[] {RDF}subject> ex:cyd ; {RDF}predicate> ex:likes ; {RDF}object> ex:dan ; ex:season 1 ."
    client = InProcess(f"{PEOPLE} ex:cyd ex:likes ex:dan . {twice} {twice}", slow=[r"HAVING \(COUNT\(\?r\) > 1\)"])
    async with opened_over(client, HERE) as graph:
        relations = {one.relation.id: one.count for one in (await graph.schema(limit=9)).relations}
        knows = await answer(graph, "MATCH (a)-[:knows {season: 'spring'}]->(b) RETURN a, b")
        likes = await answer(graph, "MATCH (a)-[:likes]->(b) RETURN count(*)")
    assert relations["ex:knows"] == Count.at_least(5)
    assert rows(knows) == [("ex:ada", "ex:ben"), ("ex:ben", "ex:dan")]
    assert rows(likes) == [(2,)]


async def test_parallel_statements_that_were_not_counted_in_time_are_counted_again_after_ten_minutes(
    monkeypatch: pytest.MonkeyPatch,
):
    now = 0.0
    monkeypatch.setattr(catalogue, "TTLCache", partial(TTLCache[object, object], timer=lambda: now))
    of_relation, of_all = r"LIMIT 500000 } } GROUP BY \?s \?o", r"HAVING \(COUNT\(\?r\) > 1\)"
    client = InProcess(PEOPLE, slow=[of_relation, of_all])
    counts: list[int] = []
    async with opened_over(client, HERE) as graph:
        for now in (0.0, 599.0, 601.0, 602.0):  # noqa: B007 - the clock
            client.queries.clear()
            page = await answer(graph, "MATCH (a)-[r:knows]->(b {title: 'Ben'}) RETURN a, count(r)")
            assert rows(page) == [("ex:ada", 1)]
            counts.append(sum(re.search(of_relation, query) is not None for query in client.queries))
            client.mend()
    assert counts == [1, 0, 1, 0]


AGES = (
    PEOPLE
    + """
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
ex:ada ex:age 7, 7.0 . ex:ben ex:age "07"^^xsd:int . ex:cyd ex:age "7e0"^^xsd:integer . ex:dan ex:age 8, "7" .
"""
)


@pytest.mark.parametrize(
    "pattern", ["(a:Person {age: 7})", "(a {age: 7})", "(a {age: 7})-[:knows]->()", "(a {age: 9})"]
)
@pytest.mark.parametrize("unusual", [100, 0])
async def test_nodes_are_found_by_a_number_and_their_other_values_are_not_compared(
    monkeypatch: pytest.MonkeyPatch, pattern: str, unusual: int
):
    monkeypatch.setattr(catalogue, "_MAX_UNUSUAL", unusual)  # zero: the value in an unusual form is one too many
    client = InProcess(AGES)
    async with opened_over(client, HERE) as graph:
        plan = f"MATCH {pattern} RETURN DISTINCT a"
        first = rows(await answer(graph, plan))
        client.queries.clear()
        page = await answer(graph, plan)
    assert rows(page) == first == ([] if "9" in pattern else [("ex:ada",), ("ex:ben",), ("ex:cyd",)])
    one_query = "Person" in pattern or "knows" in pattern
    assert any("DATATYPE(?value)" in query for query in client.queries) is (not unusual and one_query)


async def test_edges_are_found_by_the_name_of_a_node_that_qualifies_them_without_reading_the_others():
    spring = 'ex:spring rdfs:label "spring" . ex:may rdfs:label "May" .'
    seasons = _statements([*["ex:may"] * 9, "ex:spring"])
    client = InProcess(f"@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . {PEOPLE} {spring} {seasons}")
    async with opened_over(client, HERE) as graph:
        page = await answer(graph, "MATCH (a)-[r:knows {since: 'spring'}]->(b) RETURN a, b")
    assert rows(page) == [("ex:p9", "ex:ada")]
    assert any("VALUES ?v1 { <http://ex.example/spring> } ?v1r " in query for query in client.queries)
    assert not any("ex.example/p1" in query for query in client.queries)


_MANY = 1_100
_RELATIONS = [f"r{number:02}" for number in range(8)]
OWNED = [
    *(f"ex:p{n} a ex:Person ; ex:{_RELATIONS[n % 8]} ex:t{n} . ex:t{n} a ex:Town ." for n in range(_MANY)),
    "ex:p0 ex:r01 ex:p1 . ex:p1099 ex:r05 ex:p2 .",
]


@pytest.mark.parametrize("stopped", [False, True])
async def test_a_pattern_without_such_an_edge_is_found_by_few_queries_however_many_nodes_and_relations_there_are(
    stopped: bool, monkeypatch: pytest.MonkeyPatch
):
    client = InProcess("\n".join((PEOPLE, *OWNED)))
    async with opened_over(client, HERE) as graph:
        await graph.schema(limit=100)
        client.queries.clear()
        if stopped:  # then pages of nodes are read until the answer is known
            monkeypatch.setattr(type(graph), "run", AsyncMock(side_effect=StoreTimeout(1)))
        checked = await PlanRunner(graph).check(parse_cypher("MATCH (a:Person)-[:r00]->(b:Person) RETURN a"))
    (problem,) = checked.problems
    assert "no such edge leads from :ex:Person to :ex:Person" in problem.reason
    assert set(problem.alternatives) == {"ex:r01", "ex:r05", "ex:knows"}
    assert stopped or len(client.queries) <= 16, client.queries
    assert not stopped or len(client.queries) > 50, client.queries
