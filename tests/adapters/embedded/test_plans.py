"""Plans that run as one query of a graph file answer what the evaluator answers, row by row."""

from __future__ import annotations

import resource
import sqlite3
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from kgnav_bench.graphwalk.graphs import Shape, generate
from kgnav_bench.graphwalk.questions import questions
from kgnav_bench.graphwalk.stores import write_files
from kgnav_mcp.adapters.embedded import open_adapter, session
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.adapters.embedded.plans import functions, path_tables
from kgnav_mcp.adapters.embedded.session import Parameter, Row, Session
from kgnav_mcp.errors import InvalidArgument, InvalidCursor, InvalidStore, StoreTimeout, Unsupported
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Cell, Count, Literal
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import Column, Constant, Order, PathKind, PathPattern, Plan, Project, Variable
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from kgnav_mcp.port.path_search import PathSearch
from kgnav_mcp.store_limits import StoreLimits, limited_to
from tests.adapters.embedded.compiled import same
from tests.contract import toy, toy_files, toy_views
from tests.plans.cases import CASES, PEOPLE
from tests.plans.comparing import ALL, all_rows, same_by_parts, same_proof
from tests.plans.graph import Plain
from tests.plans.short import all_of, both, cmp, edge, give, hops, matching, node, of, plan
from tests.plans.strategies import plans_by_chance, words_of
from tests.plans.toys import plain, random_toy
from tests.sampling import sampled

MAX_CASES = 83
"""So many of the cases have words in SQL."""
PLANS = 40
"""By chance, on each graph."""
_KINDS: dict[type[object], toy.Kind] = {bool: "boolean", int: "integer", float: "decimal", str: "string"}


def _value(value: Plain) -> toy.Value:
    return toy.Value(str(value).lower() if isinstance(value, bool) else str(value), _KINDS[type(value)])


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The graph of the cases."""
    folder = tmp_path_factory.mktemp("people")
    nodes = [
        toy.Node(
            one.id, tuple(sorted(one.labels)), properties=tuple((name, _value(each)) for name, each in one.properties)
        )
        for one in PEOPLE.nodes.values()
    ]
    edges = [
        toy.Edge(one.head, one.relation, one.tail, tuple((name, _value(each)) for name, each in one.properties))
        for one in PEOPLE.edges
    ]
    load(toy_files.write_property_graph(folder, nodes, edges), folder / "people.kg", LoadOptions())
    return str(folder / "people.kg")


@pytest.fixture
async def opened(people: str) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(people, AdapterOptions()) as adapter:
        yield adapter


async def test_the_cases_answer_the_same_as_one_query(opened: GraphAdapter):
    run = [cypher for cypher, query in CASES if await same(opened, query)]
    assert len(run) >= MAX_CASES


async def test_the_rows_of_one_query_rest_on_the_edges_that_the_evaluator_says(opened: GraphAdapter):
    run = [cypher for cypher, query in CASES if await same_proof(opened, query)]
    assert len(run) > MAX_CASES / 2


async def test_graphwalks_templates_are_one_query_each(tmp_path: Path):
    graph = generate(Shape.of(100), 1)
    load(list(write_files(graph, tmp_path)), tmp_path / "synthetic.kg", LoadOptions())
    async with open_adapter(str(tmp_path / "synthetic.kg"), AdapterOptions()) as adapter:
        for question in questions(graph):
            checked = await PlanRunner(adapter).check(parse_plan(question.cypher).plan)
            page = await adapter.run(checked.plan, limit=ALL)
            rows, truth = Counter(row.cells for row in page.items), Counter(question.truth)
            assert rows <= truth if question.template.one_answer else rows == truth, question.cypher
            assert page.items


async def test_an_empty_answer_names_the_first_edge_that_nothing_matches(opened: GraphAdapter):
    knows, lives = edge("a-r->b", "KNOWS"), edge("b-s->c", "DISLIKES")
    empty = plan(matching(knows, lives, node("b", "Sailor")), give({"a": ".a"}))
    page = await PlanRunner(opened).run(empty, limit=9)
    assert (page.items, page.total, page.note) == ((), Count(0), "Nothing matches (b:Sailor)-[s:DISLIKES]->(c).")


async def test_what_has_no_words_in_sql_is_refused_before_anything_runs(opened: GraphAdapter):
    query = plan(matching("a-r->b"), give({"last": all_of("max", ".b")}))
    with pytest.raises(Unsupported):
        await opened.run(query, limit=9)


async def test_an_invalid_regular_expression_is_refused_where_a_text_meets_it(opened: GraphAdapter):
    with pytest.raises(InvalidArgument, match="regular expression"):
        await _run(opened, "MATCH (n) WHERE n.name =~ '(' RETURN n")


async def test_a_position_that_is_none_is_refused(opened: GraphAdapter):
    with pytest.raises(InvalidCursor):
        await opened.run(plan(matching(node("n")), give({"n": ".n"})), limit=9, after="3.abc")


async def test_an_error_in_a_function_of_a_query_is_not_reported_as_damage_alone(
    people: str, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(functions.of_values, "calculate", fail)
    query = parse_plan("MATCH (a) RETURN size(toString(a.born)) + 1 AS n").plan
    async with open_adapter(people, AdapterOptions()) as adapter:
        with pytest.raises(InvalidStore, match="or kgnav-mcp has a bug"):
            await adapter.run((await PlanRunner(adapter).check(query)).plan, limit=9)


async def _run(adapter: GraphAdapter, cypher: str) -> list[tuple[Cell, ...]]:
    runner = PlanRunner(adapter)
    page = await runner.run((await runner.check(parse_plan(cypher).plan)).plan, limit=ALL)
    return [row.cells for row in page.items]


async def test_a_list_of_constants_may_be_of_any_length(opened: GraphAdapter):
    query = parse_plan(f"MATCH (a) RETURN DISTINCT {[*range(300)]} AS n, [] AS m, ['2001-02-03', true, null] AS o").plan
    assert await same(opened, query)


@pytest.mark.parametrize(
    "value", [f"[a.name{', 1' * 200}]", f"coalesce(a.name{', 1' * 200})"], ids=["list", "function"]
)
async def test_an_expression_that_exceeds_a_limit_of_sqlite_is_evaluated(opened: GraphAdapter, value: str):
    checked = await PlanRunner(opened).check(parse_plan(f"MATCH (a:Person) RETURN {value} AS v").plan)
    with pytest.raises(Unsupported):
        await opened.run(checked.plan, limit=1)
    assert len(await _run(opened, f"MATCH (a:Person) RETURN {value} AS v")) == sum(
        "Person" in one.labels for one in PEOPLE.nodes.values()
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "cypher",
    [
        f"WITH 'name' AS a {'WITH a + a AS a ' * 40} RETURN a",
        f"WITH [1] AS a {'WITH a + a AS a ' * 40} RETURN a",
        f"WITH 1 AS a {'WITH [a, a] AS a ' * 40} RETURN a",
        f"MATCH (a) WITH a.id + '.' AS a {'WITH a + a AS a ' * 15} UNWIND {[*range(200)]} AS n RETURN collect(a) AS c",
        f"WITH 1 AS a {'WITH [[[[[[[[[[a]]]]]]]]]] AS a ' * 90} RETURN a",
        "RETURN size(range(1, 1900000)) AS n",
    ],
    ids=["text", "list", "nested list", "collected texts", "deep list", "range"],
)
async def test_values_that_grow_beyond_the_budget_of_a_plan_end_its_query(opened: GraphAdapter, cypher: str):
    checked = await PlanRunner(opened).check(parse_plan(cypher).plan)
    with pytest.raises(Unsupported, match=r"too deep or too large|this much data"):
        await opened.run(checked.plan, limit=1)


async def test_a_list_is_not_repeated_in_the_rows_of_its_members(opened: GraphAdapter, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(session, "MAX_TEMPORARY_BYTES", 2**23)
    cypher = "WITH range(1, 9000) AS all UNWIND all AS n UNWIND [1, 2, 3] AS m RETURN count(*) AS rows"
    checked = await PlanRunner(opened).check(parse_plan(cypher).plan)
    assert (await opened.run(checked.plan, limit=1)).items[0].cells == (27_000,)
    kept = await PlanRunner(opened).check(parse_plan(cypher.replace("count(*)", "sum(size(all))")).plan)
    with pytest.raises(Unsupported, match="this much data"):
        await opened.run(kept.plan, limit=1)


async def test_a_plan_without_room_for_temporary_files_is_no_query_of_the_store(opened: GraphAdapter):
    cypher = "WITH range(1, 900) AS all UNWIND all AS n UNWIND [1, 2] AS m RETURN sum(size(all)) AS n"
    checked = await PlanRunner(opened).check(parse_plan(cypher).plan)
    assert (await opened.run(checked.plan, limit=1)).items[0].cells == (1_620_000,)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, hard))
    try:
        with pytest.raises(Unsupported, match="this much data"):
            await opened.run(checked.plan, limit=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_the_budget_of_a_query_is_that_of_one_plan(opened: GraphAdapter):
    grown = f"WITH 'name' AS a {'WITH a + a AS a ' * 20} RETURN size(a) AS n"
    checked = await PlanRunner(opened).check(parse_plan(grown).plan)
    for _ in range(5):
        assert (await opened.run(checked.plan, limit=1)).items[0].cells == (4 * 2**20,)


@pytest.mark.parametrize("seed", sampled(range(4), 4))
async def test_a_plan_by_chance_answers_the_same_as_one_query(seed: int, tmp_path: Path):
    nodes, edges = random_toy(seed)
    load(toy_files.write_property_graph(tmp_path, nodes, edges), tmp_path / "random.kg", LoadOptions())
    graph = plain(toy_views.view(toy_views.PROPERTY_GRAPH, nodes, edges), nodes)
    async with open_adapter(str(tmp_path / "random.kg"), AdapterOptions()) as adapter:
        run = [await same(adapter, query) for query in plans_by_chance(words_of(graph), PLANS)]
    assert sum(run) > len(run) / 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", sampled(range(4), 4))
async def test_parts_of_a_plan_by_chance_answer_the_same_as_without_the_store(seed: int, tmp_path: Path):
    nodes, edges = random_toy(seed)
    load(toy_files.write_property_graph(tmp_path, nodes, edges), tmp_path / "random.kg", LoadOptions())
    graph = plain(toy_views.view(toy_views.PROPERTY_GRAPH, nodes, edges), nodes)
    async with open_adapter(str(tmp_path / "random.kg"), AdapterOptions()) as adapter:
        for query in plans_by_chance(words_of(graph), PLANS):
            await same_by_parts(adapter, query)


PARTLY = (
    "MATCH (a)-[r:KNOWS]->(b) RETURN max(b)",
    "MATCH (a)-[r:KNOWS]->(b) WITH b, count(*) AS n WHERE n > 1 RETURN max(b), n",
    "MATCH (a)-[r:KNOWS]->(b) WITH a, collect(b) AS bs UNWIND bs AS b MATCH (b)-[:KNOWS]->(c) RETURN a, max(c)",
    "MATCH p = (a)-[r:KNOWS*1..2]->(b) RETURN max(b), count(p)",
    "MATCH (a)-[:KNOWS]->(b) RETURN a AS x UNION MATCH (a:Person) RETURN 1 AS x",
)
"""Plans that are no single query, though their patterns are."""


@pytest.mark.parametrize("cypher", PARTLY)
async def test_a_plan_with_a_part_that_sql_lacks_reads_no_edge_by_itself(
    opened: GraphAdapter, monkeypatch: pytest.MonkeyPatch, cypher: str
):
    checked = await PlanRunner(opened).check(parse_plan(cypher).plan)
    with pytest.raises(Unsupported):
        await opened.run(checked.plan, limit=1)
    expected = await PlanRunner(opened, by_store=False).run(checked.plan, limit=ALL)
    for verb in ("neighbours", "neighbour_ids", "edges", "edge_ids"):
        monkeypatch.setattr(opened, verb, None)
    page = await PlanRunner(opened).run(checked.plan, limit=ALL)
    assert [row.cells for row in page.items] == [row.cells for row in expected.items] != []


async def test_paths_that_are_too_many_to_hold_are_left_to_the_evaluator(
    opened: GraphAdapter, monkeypatch: pytest.MonkeyPatch
):
    query = plan(matching(edge("a-r->b", path=hops(1, None, PathKind.REACHABLE))), give({"a": ".a", "b": ".b"}))
    assert await same(opened, query)
    monkeypatch.setattr(path_tables, "_MAX_HELD", 5)
    with pytest.raises(Unsupported, match="this many paths"):
        await opened.run(query, limit=ALL)


async def test_a_search_ends_when_its_time_is_over(people: str, monkeypatch: pytest.MonkeyPatch):
    query = plan(matching(edge("a-r->b", path=hops(1, None, PathKind.REACHABLE))), give({"a": ".a", "b": ".b"}))
    steps = PathSearch[int, object].add_edges

    def late(self: PathSearch[int, object], *found: Any) -> None:
        sleep(0.2)
        steps(self, *found)

    monkeypatch.setattr(PathSearch, "add_edges", late)
    async with open_adapter(people, AdapterOptions(timeout=0.1)) as adapter:
        with pytest.raises(StoreTimeout):
            await adapter.run(query, limit=ALL)


async def test_edges_that_say_the_same_leave_the_order_to_the_next_column(opened: GraphAdapter):
    twins = matching(edge("a-r->b", "LIVES_IN"), node("m", "Person"))
    assert await same(opened, plan(twins, give({"r": ".r", "m": ".m"})))


async def test_rows_that_no_path_matches_stay_where_the_pattern_is_optional(opened: GraphAdapter):
    path = edge("a-r->b", "KNOWS", path=hops(1, None, PathKind.SHORTEST))
    ways = matching(node("b", "Sailor"), path, PathPattern("p", ("a", "r", "b")), optional=True)
    assert await same(opened, plan(matching(node("a")), ways, give({"a": ".a", "b": ".b", "p": ".p"})))


async def test_an_order_may_name_old_variables_and_constants(opened: GraphAdapter):
    pattern = matching(edge("a-r->b", "KNOWS"))
    assert await same(opened, plan(pattern, give({"c": ".b", "d": 1}, "-.c.age", ".a.name", ".r.since")))
    by_constants = Project((Column("b", Variable("b")),), order=(Order(Constant(value=True)), Order(Constant(7))))
    assert await same(opened, plan(pattern, by_constants))


async def test_whether_there_is_any_row_is_answered_by_the_first_one(opened: GraphAdapter):
    falling = plan(matching(node("n", "Person")), give({"n": ".n"}, "-.n.name"))
    assert await same(opened, replace(falling, only_exists=True))
    assert await same(opened, Plan(plan(matching("a-r->b"), give({"b": ".b"})).pipelines, only_exists=True))


@pytest.fixture(scope="module")
def weighed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A graph whose edges have weights, and whose nodes share kinds."""
    folder = tmp_path_factory.mktemp("weighed")
    nodes = [
        toy.Node(
            f"n{number}",
            ("N", "M")[: 1 + number % 2],
            properties=(
                ("kind", toy.Value(f"k{number % 3}")),
                ("size", toy.Value(f"{number}.5", "decimal")),
            ),
        )
        for number in range(40)
    ]
    edges = [
        toy.Edge(f"n{number}", "TO", f"n{number * step % 40}", (("weight", toy.Value(f"{number}.{step}", "decimal")),))
        for number in range(40)
        for step in (3, 7)
    ]
    load(toy_files.write_property_graph(folder, nodes, edges), folder / "weighed.kg", LoadOptions())
    return str(folder / "weighed.kg")


@pytest.mark.parametrize("relations", [(), ("to",)])
@pytest.mark.parametrize("ends", [("hub", "few"), ("few", "hub")])
async def test_between_two_known_nodes_the_edges_of_a_hub_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: tuple[str, str], relations: tuple[str, ...]
):
    rows = [f"n{number}\tto\thub\n" for number in range(3_000)] + [f"n{number}\tto\tfew\n" for number in range(5)]
    (tmp_path / "hub.tsv").write_text("".join(rows), encoding="utf-8")
    load([tmp_path / "hub.tsv"], tmp_path / "hub.kg")
    ran: list[tuple[str, tuple[Parameter, ...]]] = []
    all_rows = Session.all

    def recorded(self: Session, query: str, *parameters: Parameter) -> list[Row]:
        ran.append((query, parameters))
        return all_rows(self, query, *parameters)

    monkeypatch.setattr(Session, "all", recorded)
    known = both(cmp(of("elementId", ".a"), "=", ends[0]), cmp(of("elementId", ".b"), "=", ends[1]))
    pattern = matching(edge("x-r->a", *relations), edge("x-s->b", *relations), where=known)
    async with open_adapter(str(tmp_path / "hub.kg"), AdapterOptions()) as adapter:
        page = await adapter.run(plan(pattern, give({"n": all_of("count")})), limit=9)
    assert [row.cells for row in page.items] == [(5,)]
    steps = 0

    def step() -> None:
        nonlocal steps
        steps += 1

    with closing(sqlite3.connect(tmp_path / "hub.kg")) as connection:
        connection.set_progress_handler(step, 1)
        query, parameters = next(each for each in ran if each[0].startswith("WITH t"))
        assert connection.execute(query, parameters).fetchone()[-1] == 5
    assert steps < 3_000


WEIGHED = matching(node("a", "N"), node("b", "M"), edge("a-r->b", "TO"), where=cmp(".r.weight", "=", 13.7))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The literals that are read as values."""
    found: list[str] = []
    scalar = functions.scalar

    def spied(literal: Literal) -> str | float | bool:
        found.append(literal.text)
        return scalar(literal)

    monkeypatch.setattr(functions, "scalar", spied)
    return found


async def test_a_qualifier_that_cannot_equal_a_number_is_not_read_as_a_value(weighed: str, read: list[str]):
    async with open_adapter(weighed, AdapterOptions()) as adapter:
        assert await same(adapter, plan(WEIGHED, give({"a": ".a", "b": ".b.kind"})))
    assert set(read) == {"13.7"}


async def test_edges_with_a_qualifier_are_read_at_their_heads_where_their_qualifiers_are(
    weighed: str, steps: list[str]
):
    async with open_adapter(weighed, AdapterOptions()) as adapter:
        assert await same(adapter, plan(WEIGHED, give({"count": all_of("count", ".r")})))
    assert any(step.endswith("USING PRIMARY KEY (s=? AND p=?)") for step in steps)
    assert not any("edge_incoming" in step for step in steps)


async def test_functions_are_defined_once_for_a_connection_and_forget_each_plan(
    weighed: str, read: list[str], monkeypatch: pytest.MonkeyPatch
):
    defined: list[Session] = []
    define = Session.define

    def spied(self: Session, **given: Any) -> None:
        defined.append(self)
        define(self, **given)

    monkeypatch.setattr(Session, "define", spied)
    async with open_adapter(weighed, AdapterOptions()) as adapter:
        for _ in range(PLANS):
            await adapter.run(plan(WEIGHED, give({"a": ".a"})), limit=10)
    assert len(defined) == len(set(defined)) < PLANS
    assert read == ["13.7"] * PLANS


async def test_edges_are_counted_for_each_node_before_its_properties_are_read(weighed: str, steps: list[str]):
    pattern = matching(node("a", "N"), edge("a-r->b", "TO"))
    query = plan(pattern, give({"kind": ".a.kind", "count": all_of("count", ".r")}, "-.count", ".kind"))
    async with open_adapter(weighed, AdapterOptions()) as adapter:
        assert await same(adapter, query)
    first = next(step for step in steps if "CORRELATED" in step or "FOR GROUP BY" in step)
    assert first.startswith("CORRELATED")


async def test_rows_that_are_grouped_by_a_node_come_node_by_node(weighed: str, steps: list[str]):
    pattern = matching(node("a", "N"), node("b", "N"), edge("a-r->b", "TO"))
    async with open_adapter(weighed, AdapterOptions()) as adapter:
        assert await same(adapter, plan(pattern, give({"b": ".b", "count": all_of("count", ".r")})))
    assert any("edge_incoming" in step for step in steps)
    assert not any("FOR GROUP BY" in step for step in steps)


async def test_of_groups_that_a_limit_leaves_out_no_property_is_read(weighed: str, read: list[str]):
    counts = give({"b": ".b", "count": all_of("count", ".r")})
    query = plan(
        matching(node("a", "N"), node("b", "N"), edge("a-r->b", "TO"), where=cmp(".r.weight", ">", 20)),
        counts,
        give({"size": ".b.size", "count": ".count"}, "-.count", ".size", skip=1, limit=3),
    )
    async with open_adapter(weighed, AdapterOptions()) as adapter:
        page = await adapter.run(query, limit=10)
        once = {text for text in read if text.endswith(".5")}
        assert await same(adapter, query)
    assert [row.cells[1] for row in page.items] == [2, 2, 2]
    assert 3 <= len(once) < 20


async def test_a_value_that_sql_cannot_hold_is_refused_on_the_first_page_wherever_its_row_is(tmp_path: Path):
    whole = ["1", "2", "3", str(2**70)]
    nodes = [
        toy.Node(f"n{place}", properties=(("size", toy.Value(text, "integer")),)) for place, text in enumerate(whole)
    ]
    load(toy_files.write_property_graph(tmp_path, nodes, []), tmp_path / "large.kg", LoadOptions())
    query = plan(matching(node("n")), give({"size": ".n.size"}, ".n"))
    async with open_adapter(str(tmp_path / "large.kg"), AdapterOptions()) as adapter:
        with pytest.raises(Unsupported):
            await adapter.run(query, limit=1)
        runner = PlanRunner(adapter)
        found = await all_rows(lambda limit, after: runner.run(query, limit=limit, after=after), 1)
    assert len(found) == len(whole)


@pytest.mark.parametrize("by_store", [True, False], ids=["compiled", "evaluated"])
async def test_integers_of_the_graph_compare_exactly_whatever_their_size(tmp_path: Path, *, by_store: bool):
    whole = [2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**70, 2**70 + 1]
    nodes = [toy.Node(f"n{n}", properties=(("size", toy.Value(str(n), "integer")),)) for n in whole]
    load(toy_files.write_property_graph(tmp_path, nodes, []), tmp_path / "large.kg", LoadOptions())
    async with open_adapter(str(tmp_path / "large.kg"), AdapterOptions()) as adapter:
        runner = PlanRunner(adapter, by_store=by_store)

        async def rows(cypher: str) -> list[tuple[Cell, ...]]:
            page = await runner.run((await runner.check(parse_plan(cypher).plan)).plan, limit=ALL)
            return [row.cells for row in page.items]

        assert await rows("MATCH (n) RETURN n.size ORDER BY n.size DESC") == [(n,) for n in reversed(whole)]
        assert await rows("MATCH (n), (m) WHERE n.size = m.size RETURN count(*)") == [(len(whole),)]
        assert await rows(f"MATCH (n) WHERE n.size > {2**53} RETURN count(n)") == [(len(whole) - 1,)]
        assert await rows(f"MATCH (n) WHERE n.size IN [{2**53 + 1}, {2**63 - 1}] RETURN count(n)") == [(2,)]
        assert await rows("MATCH (n) RETURN max(n.size), count(DISTINCT n.size)") == [(2**70 + 1, len(whole))]
        with pytest.raises(InvalidArgument, match="is not a 64-bit integer"):
            await rows("MATCH (n) RETURN sum(n.size)")


async def test_names_of_distinct_rows_are_read_once_for_all_ways_between_the_same_nodes(tmp_path: Path):
    ways = [f"a{one},in,m{place}\nm{place},out,b{one}\n" for place in range(100) for one in range(30)]
    (tmp_path / "ways.csv").write_text("source,relation,target\n" + "".join(ways), encoding="utf-8")
    load([tmp_path / "ways.csv"], tmp_path / "ways.kg", LoadOptions())
    cypher = "MATCH (a)-[:in]->(m)-[:out]->(b) RETURN DISTINCT a.name AS a, b.name AS b"
    async with open_adapter(str(tmp_path / "ways.kg"), AdapterOptions()) as graph:
        with limited_to(StoreLimits(steps=1_000_000)):  # 90,000 ways; with the names of each, 2.3 million steps
            page = await graph.run(parse_plan(cypher).plan, limit=1_000)
    assert {row.cells for row in page.items} == {(f"a{one}", f"b{other}") for one in range(30) for other in range(30)}
    assert len(page.items) == 900
