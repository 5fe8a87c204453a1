"""Plans that make or compare too many values are refused, with the expression that does, before memory is used up."""

from __future__ import annotations

import gc
import math
import re
import threading
import tracemalloc
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import nullcontext

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.concurrency import in_thread, mapped_in_thread
from kgnav_mcp.demo import demo_graph_path
from kgnav_mcp.errors import PlanOverBudget, PlanTooLarge
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.navigation.plans import budget
from kgnav_mcp.navigation.plans.budget import Budget
from kgnav_mcp.navigation.plans.evaluate import table_evaluation
from kgnav_mcp.navigation.plans.evaluate.comparisons import MemberSet, compare
from kgnav_mcp.navigation.plans.evaluate.paging import answer_tag
from kgnav_mcp.navigation.plans.evaluate.values import Edge, Node, PropertyList, Row, Table, Value, size_in_bytes
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import Comparison, Variable
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from kgnav_mcp.render.problems import error_text
from kgnav_mcp.values.scalars import MAX_BYTES, Date

DOUBLED, PAIRED = "WITH a + a AS a " * 60, "WITH [a, a] AS a " * 60
NAMES = "MATCH (n) WITH collect(n.name) AS c "


@pytest.fixture
async def demo() -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(str(demo_graph_path()), AdapterOptions()) as graph:
        yield graph


@pytest.mark.parametrize("by_store", [True, False], ids=["compiled", "evaluated"])
@pytest.mark.parametrize(
    ("cypher", "part"),
    [
        (f"WITH 'name' AS a {DOUBLED} RETURN a", "a + a"),
        (f"MATCH (n) WITH n.name AS a {DOUBLED} RETURN a", "a + a"),
        (f"WITH [1] AS a {DOUBLED} RETURN size(a) AS n", "a + a"),
        (f"WITH 1 AS a {PAIRED} RETURN a", "[a, a]"),
        (
            f"{NAMES} {'WITH c + c AS c ' * 2} MATCH (m) RETURN collect(c) AS a, collect(DISTINCT c) AS b",
            "collect(DISTINCT c)",
        ),
    ],
    ids=["constant", "names", "list", "nested list", "rows with a list"],
)
async def test_texts_and_lists_that_grow_beyond_the_budget_are_refused_with_their_expression(
    demo: GraphAdapter, cypher: str, part: str, *, by_store: bool
):
    with pytest.raises(PlanOverBudget) as caught:
        await PlanRunner(demo, by_store=by_store).run(parse_cypher(cypher), limit=9)
    assert caught.value.part == part
    text = error_text(caught.value)
    assert re.search(rf"reads and creates texts, lists and facts of more than [0-9]+ MB, at {re.escape(part)}\.", text)
    assert "Next: Create shorter texts and lists" in text


async def test_a_list_counts_in_each_row_that_has_it(demo: GraphAdapter):
    plan = parse_cypher(f"{NAMES} {'WITH c + c AS c ' * 4} MATCH (m) RETURN m, c")
    with pytest.raises(PlanOverBudget, match=r"at the values of c in [0-9]+ rows"):
        await PlanRunner(demo, by_store=False).run(plan, limit=9)


NUMBERS = f"[{', '.join('1' for _ in range(4_000))}]"


@pytest.mark.parametrize(
    "cypher",
    [
        f"UNWIND range(1, 3000) AS x WITH x, {NUMBERS} AS l RETURN sum(size(l)) AS c",
        f"UNWIND range(1, 3000) AS x RETURN {NUMBERS} AS l, count(x) AS c",
        f"UNWIND range(1, 3000) AS x WITH x ORDER BY {NUMBERS}, x RETURN count(x) AS c",
    ],
    ids=["column", "group", "order"],
)
async def test_a_list_of_constants_in_each_row_is_refused_before_memory_is_taken_for_its_members(
    cypher: str, demo: GraphAdapter
):
    tracemalloc.start()
    try:
        with pytest.raises(PlanOverBudget, match=r"at the values of \[1, 1, "):
            await PlanRunner(demo, by_store=False).run(parse_cypher(cypher), limit=9)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < MAX_BYTES / 10


async def test_rows_that_share_a_list_share_its_sort_key(demo: GraphAdapter):
    plan = parse_cypher(f"UNWIND range(1, 500) AS x WITH x, {NUMBERS} AS l ORDER BY x DESC LIMIT 2 RETURN x, l[0] AS y")
    tracemalloc.start()
    try:
        rows = (await PlanRunner(demo, by_store=False).run(plan, limit=9)).items
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert {row.cells for row in rows} == {(500, 1), (499, 1)}
    assert most < MAX_BYTES / 10


@pytest.mark.parametrize(
    ("returned", "part"),
    [("p", "(p)-[:died_in]->(c)"), ("p.born", "the values of born")],
    ids=["edges", "values"],
)
async def test_what_is_read_counts_with_what_is_created(
    returned: str, part: str, demo: GraphAdapter, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(budget, "_FACT_BYTES", MAX_BYTES // 100)  # there are 81 painters
    pattern = "-[:died_in]->(c)" if returned == "p" else ""
    plan = parse_cypher(f"MATCH (p:Painter){pattern} RETURN {returned}")
    with pytest.raises(PlanOverBudget) as caught:
        await PlanRunner(demo, by_store=False).run(plan, limit=9)
    assert caught.value.part == part
    assert "Next: Read less: WITH ... LIMIT" in error_text(caught.value)


async def test_a_text_that_is_collected_many_times_is_not_created_again(demo: GraphAdapter):
    long = f"WITH 'x' AS t {'WITH t + t AS t ' * 20}"
    plan = parse_cypher(f"{long} UNWIND range(1, 200) AS i WITH t, i RETURN size(collect(t)) AS n")
    page = await PlanRunner(demo, by_store=False).run(plan, limit=9)
    assert [row.cells for row in page.items] == [(200,)]


def test_the_tag_of_an_answer_tells_lists_with_other_members_apart():
    lists: list[Value] = [("a", "b"), ("a", ("b",)), (("a", "b"),), ("a",), "a", ()]
    assert len({answer_tag([(value, 1)], 2) for value in lists}) == len(lists)
    assert answer_tag([(("a", "b"), 1)], 1) == answer_tag([(("a", "b"), 2)], 1)


LENGTHS = "MATCH (n) WITH collect(size(n.name) * 1.0) AS c"


async def test_members_of_a_list_are_counted_when_they_are_compared_one_by_one(
    demo: GraphAdapter, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(budget, "_MAX_COMPARED", 100_000)
    plan = parse_cypher(f"{LENGTHS} MATCH (m) WHERE size(m.name) + 0.5 IN c RETURN count(m) AS n")
    with pytest.raises(PlanOverBudget, match="more than 100,000 values with members of lists") as caught:
        await PlanRunner(demo, by_store=False).run(plan, limit=9)
    assert caught.value.part == "size(m.name) + 0.5 IN c"


async def test_texts_and_integers_are_found_in_a_list_without_comparing_them_one_by_one(
    demo: GraphAdapter, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(budget, "_MAX_COMPARED", 100)
    plan = parse_cypher(f"{NAMES} MATCH (m) WHERE m.name IN c AND NOT m.name + '.' IN c RETURN count(m) AS n")
    page = await PlanRunner(demo, by_store=False).run(plan, limit=9)
    everything = await PlanRunner(demo).run(parse_cypher("MATCH (m) WHERE m.name IS NOT NULL RETURN count(m)"), limit=9)
    assert page.items == everything.items


@pytest.mark.parametrize("value", ["a", 1, 1.0, True, None, math.nan, Date("2001-02-03"), "2001-02-03", 2**70, "b"])
@pytest.mark.parametrize(
    "members",
    [
        ("a", 1, "2001-02-03", 2**70),
        ("a", 1.0),
        (True, "a"),
        ("b", None),
        (Date("2001"), "c"),
        (math.nan,),
        (("a",), "a"),
        (),
    ],
)
def test_the_set_of_a_list_says_what_comparing_its_members_says(value: Value, members: tuple[Value, ...]):
    is_member = MemberSet().has(value, members)
    assert is_member in {None, compare(value, Comparison.IN, members)}


@pytest.mark.parametrize("by_store", [True, False], ids=["compiled", "evaluated"])
async def test_lists_that_are_nested_too_deeply_are_refused(demo: GraphAdapter, *, by_store: bool):
    deeper = f"WITH {'[' * 50}a{']' * 50} AS a "
    with pytest.raises(PlanOverBudget, match="nests lists too deeply"):
        await PlanRunner(demo, by_store=by_store).run(parse_cypher(f"WITH 1 AS a {deeper * 90} RETURN a"), limit=9)


@pytest.mark.parametrize("by_store", [True, False], ids=["compiled", "evaluated"])
async def test_a_text_and_a_list_of_some_megabytes_are_made(demo: GraphAdapter, *, by_store: bool):
    grown = "WITH a + a AS a, b + b AS b " * 16
    plan = parse_cypher(f"WITH 'name' AS a, [1] AS b {grown} RETURN size(a) AS a, size(b) AS b")
    page = await PlanRunner(demo, by_store=by_store).run(plan, limit=9)
    assert [row.cells for row in page.items] == [(4 * 2**16, 2**16)]


@pytest.mark.slow
@pytest.mark.parametrize("by_store", [True, False], ids=["compiled", "evaluated"])
async def test_lists_of_constants_that_are_unwound_one_by_one_are_refused_soon(demo: GraphAdapter, *, by_store: bool):
    unwound = " ".join(f"UNWIND {[*range(1_000)]} AS {name}" for name in "abc")
    with pytest.raises(PlanTooLarge):
        await PlanRunner(demo, by_store=by_store).run(parse_cypher(f"{unwound} RETURN collect(a) AS c"), limit=9)


async def test_rows_are_counted_as_a_list_is_unwound(demo: GraphAdapter):
    unwound = " ".join(f"UNWIND {[*range(1_000)]} AS {name}" for name in "ab")
    with pytest.raises(PlanTooLarge, match=r"at least 10[0-9],[0-9]{3} for b$"):
        await PlanRunner(demo, by_store=False).run(parse_cypher(f"{unwound} RETURN collect(a) AS c"), limit=9)


def test_few_rows_with_long_texts_or_lists_are_much_work():
    name, members = "x", tuple(range(1_000))
    assert Table(("n",), []).size == 0
    assert Table(("n",), [(name,)] * 5).size == 5
    assert Table(("n", "l"), [(name, members)] * 5).size > 5_000
    assert Table(("n",), [(name * 10**7,)]).size > 1_000


def test_all_parts_of_a_plan_share_one_budget():
    shared, half = Budget(10), "x" * (MAX_BYTES // 2)
    shared.make(Variable("a"), half)
    with pytest.raises(PlanOverBudget, match="at b"):
        shared.make(Variable("b"), half)


def test_a_list_is_weighed_in_each_row_but_measured_once():
    names = PropertyList(["name"] * 1_000)
    assert size_in_bytes(names) == size_in_bytes(tuple(names)) > 1_000 * len("name")
    few, many = (Table(("n", "names"), [(1, names)] * rows) for rows in (10, 2 * MAX_BYTES // size_in_bytes(names) + 1))
    Budget(10_000).check_table(few)
    with pytest.raises(PlanOverBudget, match=r"at the values of names in [0-9,]+ rows"):
        Budget(10_000).check_table(many)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("last", "refused"),
    [("RETURN x.name AS name, count(*) AS n", False), ("MATCH (y) RETURN count(y.name) AS n", True)],
    ids=["answered", "refused"],
)
async def test_the_nodes_of_a_plan_are_freed_when_it_ends_and_not_by_a_garbage_collection(
    demo: GraphAdapter, last: str, *, refused: bool
):
    plan = parse_cypher(f"MATCH (a)-[r]->(b) WITH collect(a) AS c, count(b) AS n UNWIND c AS x {last}")
    gc.collect()
    before = _nodes_and_edges()
    gc.disable()
    try:
        with pytest.raises(PlanTooLarge) if refused else nullcontext():
            assert (await PlanRunner(demo, by_store=False).run(plan, limit=9)).items
        await in_thread(1_000, lambda: None)  # the thread drops its last work when it takes another
        assert _nodes_and_edges() <= before
    finally:
        gc.enable()


def _nodes_and_edges() -> int:
    return sum(isinstance(one, Node | Edge) for one in gc.get_objects())


LISTS = "range(1, 90)", "[x IN [1] | x]", "reduce(t = 0, x IN [1] | t)", "all(x IN [1] WHERE x = 1)"


@pytest.mark.parametrize("value", LISTS)
async def test_an_expression_over_lists_is_computed_outside_the_event_loop_even_for_one_row(
    demo: GraphAdapter, monkeypatch: pytest.MonkeyPatch, value: str
):
    threads = set[int]()

    async def in_other_thread(size: int, items: Sequence[Row], work: Callable[[Row], Row]) -> list[Row]:
        def noted(row: Row) -> Row:
            threads.add(threading.get_ident())
            return work(row)

        return await mapped_in_thread(size, items, noted)

    monkeypatch.setattr(table_evaluation, "mapped_in_thread", in_other_thread)
    await PlanRunner(demo, by_store=False).run(parse_cypher(f"RETURN {value} AS v"), limit=9)
    assert threads - {threading.get_ident()}


async def test_a_list_in_a_comprehension_is_computed_once(demo: GraphAdapter):
    text = f"RETURN {'[x IN ' * 25}[1]{' | x]' * 25} AS v"
    page = await PlanRunner(demo, by_store=False).run(parse_cypher(text), limit=9)
    assert [row.cells for row in page.items] == [((1,),)]
