"""A whole graph is read only where the store can be stopped or the graph is small; else a sample is, and it says so."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from kgnav_mcp.adapters.generic_sparql import catalogue, lists
from kgnav_mcp.adapters.generic_sparql.catalogue import CatalogueCache, SchemaReader
from kgnav_mcp.adapters.generic_sparql.names import Names
from kgnav_mcp.adapters.sparql_base import lists as node_lists
from kgnav_mcp.adapters.sparql_base.dialect import PLAIN, Dialect
from kgnav_mcp.adapters.sparql_base.dialects import BLAZEGRAPH, FUSEKI, OXIGRAPH, RDF4J
from kgnav_mcp.errors import StoreUnavailable, UnknownName, Unsupported
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Certainty, Count, Schema, Stop
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import ValueOwner
from tests.adapters.generic_sparql.films import matches_in
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import InProcess, opened_over
from tests.contract.faults.catalogue import RELATION_COUNTS

from .inprocess import lists_of, store_of

FANS = 60
TURTLE = "PREFIX ex: <http://ex.example/>\n" + "\n".join(
    f"ex:fan{n} a ex:Person ; ex:likes ex:york ; ex:age {n} ." for n in range(FANS)
)
TRIPLES = 3 * FANS
UNLIMITED = (OXIGRAPH, RDF4J, PLAIN)
LIMITED = (BLAZEGRAPH, FUSEKI)
WHOLE = re.compile(r"GROUP BY|COUNT")
"""Queries that read all that they match."""


@pytest.fixture
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph of `TRIPLES` is a large one."""
    monkeypatch.setattr(catalogue, "_MAX_UNSTOPPABLE", TRIPLES - 1)
    monkeypatch.setattr(lists, "_MAX_COUNTED", FANS // 2)


async def overview(endpoint: InProcess) -> Schema:
    store = await store_of(endpoint)
    names = Names(store)
    return await SchemaReader(store, names, CatalogueCache(store, names)).overview(50)


@pytest.mark.parametrize("dialect", UNLIMITED, ids=lambda dialect: dialect.name)
@pytest.mark.usefixtures("small_bounds")
async def test_where_no_limit_can_be_set_the_overview_of_a_large_graph_is_a_sample_and_says_so(dialect: Dialect):
    endpoint = InProcess(TURTLE, dialect=replace(dialect, max_matches=FANS))
    schema = await overview(endpoint)
    assert schema.sampled is not None
    assert "relations are those of some 100,000 triples: the graph has more than" in schema.sampled
    assert "this store could not be stopped" in schema.sampled
    counts = [schema.triples, *(facts.count for facts in (*schema.relations, *schema.labels, *schema.properties))]
    assert {count.certainty for count in counts} == {Certainty.AT_LEAST}
    unbounded = [query for query in endpoint.queries if WHOLE.search(query) and "LIMIT" not in query]
    assert [query for query in unbounded if "VALUES" not in query] == []


@pytest.mark.parametrize("dialect", UNLIMITED, ids=lambda dialect: dialect.name)
async def test_the_overview_of_a_small_graph_is_exact_on_every_store(dialect: Dialect):
    schema = await overview(InProcess(TURTLE, dialect=dialect))
    assert schema.triples == Count(TRIPLES)
    assert {facts.label: facts.count for facts in schema.labels} == {"Person": Count(FANS)}


@pytest.mark.parametrize("dialect", LIMITED, ids=lambda dialect: dialect.name)
@pytest.mark.usefixtures("small_bounds")
async def test_a_store_that_stops_in_time_counts_a_large_graph(dialect: Dialect):
    assert (await overview(InProcess(TURTLE, dialect=dialect))).triples == Count(TRIPLES)


@pytest.mark.usefixtures("small_bounds")
async def test_the_few_types_of_a_large_graph_are_all_counted():
    schema = await overview(InProcess(TURTLE, dialect=replace(OXIGRAPH, max_matches=FANS + 1)))
    assert schema.triples.certainty is Certainty.AT_LEAST
    assert {facts.label: facts.count for facts in schema.labels} == {"Person": Count(FANS)}


@pytest.mark.usefixtures("small_bounds")
async def test_nodes_of_a_large_graph_are_counted_to_a_bound_where_no_limit_can_be_set():
    reader = await lists_of(InProcess(TURTLE))
    assert (await reader.nodes("Person", None, None, 0, None)).total == Count.at_least(FANS // 2)


async def test_nodes_of_a_small_graph_are_counted_exactly_where_no_limit_can_be_set():
    reader = await lists_of(InProcess(TURTLE))
    assert (await reader.nodes("Person", None, None, 0, None)).total == Count(FANS)


@pytest.mark.usefixtures("small_bounds")
async def test_a_name_that_is_not_in_the_sample_is_not_said_to_be_unknown():
    reader = await lists_of(InProcess(TURTLE))
    with pytest.raises(Unsupported, match="only a sample of its names was read"):
        await reader.nodes("Robot", None, None, 5, None)
    with pytest.raises(UnknownName):
        await (await lists_of(InProcess(TURTLE, dialect=FUSEKI))).nodes("Robot", None, None, 5, None)


ROBOTS = TURTLE + "\nex:r2 a ex:Robot ; ex:serves ex:fan1 ; ex:mass 9 . ex:c3 a ex:Robot ."


@pytest.mark.parametrize(
    ("name", "label", "relation", "is_property"),
    [
        ("Person", "Person", None, False),
        ("Robot", "Robot", None, False),
        ("http://ex.example/Robot", "Robot", None, False),
        ("serves", None, "ex:serves", False),
        ("ex:mass", None, "ex:mass", True),
    ],
)
@pytest.mark.usefixtures("small_bounds")
async def test_a_name_that_the_sample_lacks_is_looked_up_in_the_graph(
    monkeypatch: pytest.MonkeyPatch, name: str, label: str | None, relation: str | None, is_property: bool
):
    monkeypatch.setattr(catalogue, "_SAMPLE", 1)
    store = await store_of(InProcess(ROBOTS, dialect=replace(OXIGRAPH, max_matches=FANS)))
    names = Names(store)
    reader = SchemaReader(store, names, CatalogueCache(store, names))
    assert len((await reader.overview(50)).labels) == 1
    found = await reader.around(name, 50)
    assert {facts.label for facts in found.labels} == ({label} if label else set())
    if relation:
        uses = found.properties if is_property else found.relations
        assert [(facts.relation.id, facts.count) for facts in uses] == [(relation, Count.at_least(1))]
        assert not (found.relations if is_property else found.properties)


@pytest.mark.usefixtures("small_bounds")
async def test_an_id_that_the_graph_does_not_use_is_unknown_though_only_a_sample_was_read():
    reader = await lists_of(InProcess(TURTLE))
    for name in ("ex:Robot", "http://ex.example/Robot"):
        with pytest.raises(UnknownName):
            await reader.nodes(name, None, None, 5, None)


PLURAL = "".join(f"[] rdf:subject ex:fan{n} ; rdf:predicate ex:likes ; rdf:object ex:york . " for n in range(FANS))
REIFIED = "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>\n" + TURTLE + "\n" + PLURAL


@pytest.mark.parametrize(
    ("more", "edges", "is_one_query"),
    [
        ("", FANS, True),
        ("[] rdf:subject ex:fan0 ; rdf:predicate ex:likes ; rdf:object ex:york .", FANS + 1, False),
    ],
    ids=["one statement about each triple", "two statements about one triple"],
)
@pytest.mark.usefixtures("small_bounds")
async def test_edges_with_statements_are_counted_by_one_query_if_each_triple_is_one_edge(
    more: str, edges: int, is_one_query: bool
):
    endpoint = InProcess(REIFIED + more)
    async with opened_over(endpoint, HERE) as graph:
        for _ in range(2):
            page = await PlanRunner(graph).run(parse_plan("MATCH ()-[r:`ex:likes`]->() RETURN count(r)").plan, limit=5)
            assert [row.cells for row in page.items] == [(edges,)]
    assert bool(matches_in(endpoint)) is is_one_query
    assert len([query for query in endpoint.queries if "SUM(?c)" in query]) == 1


async def test_a_name_that_a_cut_catalogue_lacks_is_no_time_out_once_the_store_is_down(
    monkeypatch: pytest.MonkeyPatch,
):
    endpoint = InProcess(TURTLE, slow=[RELATION_COUNTS])
    store = await store_of(endpoint)
    cache = CatalogueCache(store, Names(store))
    assert (await cache.get()).stop is Stop.TIME_OUT

    async def refuse(*_: object, **__: object) -> None:
        raise StoreUnavailable("nothing listens at http://127.0.0.1:1/sparql")

    monkeypatch.setattr(endpoint, "select", refuse)
    with pytest.raises(StoreUnavailable, match="nothing listens at"):
        await cache.get()


async def test_a_long_list_is_counted_for_its_first_page_and_not_for_the_next_ones(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(node_lists, "MAX_SORTED", 5)
    client = InProcess("".join(f"<http://x/{n}> a <http://x/Thing> .\n" for n in range(20)))
    async with opened_over(client, HERE) as graph:
        first = await graph.nodes("Thing", None, None, limit=8)
        client.queries.clear()
        second = await graph.nodes("Thing", None, None, limit=8, after=first.positions[-1])
        assert not any("COUNT" in query for query in client.queries)
        await graph.nodes("Thing", None, None, limit=8)
        assert any("COUNT" in query for query in client.queries)
    assert (first.total, second.total) == (Count(20), Count(20))
    assert len({one.id for page in (first, second) for one in page.items}) == 16


def stated(parallel: int) -> str:
    """Persons who know each other, each edge with a statement, and the first `parallel` edges with one more."""
    prefix = "PREFIX ex: <http://ex.example/> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>"
    edges = [(n, (n * 7 + 1) % FANS) for n in range(FANS)]
    about = [(n, *edge) for n, edge in enumerate([*edges, *edges[:parallel]])]
    statements = (
        f"[] a rdf:Statement ; rdf:subject ex:p{one} ; rdf:predicate ex:knows ; rdf:object ex:p{other} ; ex:since {n} ."
        for n, one, other in about
    )
    return "\n".join((prefix, *(f"ex:p{n} a ex:Person ; ex:knows ex:p{m} ." for n, m in edges), *statements))


@pytest.mark.parametrize("parallel", [0, 4])
@pytest.mark.usefixtures("small_bounds")
async def test_edges_of_any_relation_are_counted_by_a_store_with_too_many_statements_to_count_all(parallel: int):
    endpoint = InProcess(stated(parallel), dialect=OXIGRAPH)
    text = "MATCH (a:Person)-->(b:Person)-->(c:Person) RETURN count(*) AS n"
    async with opened_over(endpoint, HERE) as adapter:
        runner = PlanRunner(adapter)
        page = await runner.run((await runner.check(parse_plan(text).plan)).plan, limit=1)
    edges = [(n, (n * 7 + 1) % FANS) for n in range(FANS)]
    edges += edges[:parallel]
    expected = sum(one[1] == other[0] for one in edges for other in edges)
    loops = sum(edge[0] == edge[1] for edge in edges)  # a path does not have the same edge twice
    assert page.items[0].cells == (expected - loops,)
    by_store = [query for query in endpoint.queries if re.search(r"COUNT\(\*\) AS \?n\).*\?p0 .*\?p1 ", query)]
    assert bool(by_store) is not parallel


@pytest.mark.usefixtures("small_bounds")
async def test_whether_there_is_an_edge_of_any_relation_needs_no_number_of_statements():
    endpoint = InProcess(stated(4), dialect=OXIGRAPH)
    text = "MATCH (a:Person) WHERE EXISTS { (a)-->(:Person) } RETURN count(*) AS n"
    async with opened_over(endpoint, HERE) as adapter:
        runner = PlanRunner(adapter)
        page = await runner.run((await runner.check(parse_plan(text).plan)).plan, limit=1)
    assert page.items[0].cells == (FANS,)
    assert any("EXISTS" in query and "?p0" in query for query in endpoint.queries)
    assert not any("SUM(?c)" in query for query in endpoint.queries)


async def test_the_nodes_of_a_graph_are_not_counted_to_find_an_edge_of_a_label():
    endpoint = InProcess(TURTLE)
    async with opened_over(endpoint, HERE) as adapter:
        checked = await PlanRunner(adapter).check(
            parse_plan("MATCH (p:Person)-[:likes]->() RETURN 1 AS one LIMIT 1").plan
        )
        page = await evaluate(adapter, checked.plan, limit=1)
    assert [row.cells for row in page.items] == [(1,)]
    assert not any("?any" in query for query in endpoint.queries)


async def test_whether_a_node_has_several_values_of_a_property_is_read_once():
    endpoint = InProcess(TURTLE, dialect=replace(OXIGRAPH, counts_fast=False))
    async with opened_over(endpoint, HERE) as adapter:
        found = [await adapter.has_several_values("ex:age", ValueOwner.NODE) for _ in range(3)]
    assert found == [False] * 3
    assert sum("sameTerm(?a, ?b)" in query for query in endpoint.queries) == 1
