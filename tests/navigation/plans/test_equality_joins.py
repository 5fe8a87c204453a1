"""Products under an equality are joined by keys: with the rows of a comparison of all pairs, but without that work."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import AsyncIterator
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from kgnav_mcp.adapters.embedded import open_adapter
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.errors import PlanTooLarge
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.navigation.plans.evaluate import expressions
from kgnav_mcp.navigation.plans.evaluate.comparisons import compare
from kgnav_mcp.navigation.plans.evaluate.equality_joins import keys_of_values
from kgnav_mcp.navigation.plans.evaluate.evaluator import evaluate
from kgnav_mcp.navigation.plans.evaluate.values import Node, PathValue, PropertyList, Value
from kgnav_mcp.navigation.plans.pushdown import store_matching
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import Comparison
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from kgnav_mcp.values.scalars import Date

NODES = 300
CODES = [f"é{number % 100}" if number % 3 else str(number % 100) for number in range(NODES)]
JOIN = "MATCH (a:A), (b:B) WHERE b.code = a.ref RETURN a.name AS a, b.name AS b"
CARRIED = "MATCH (a:A) WITH a MATCH (b:B) WHERE a.ref = b.code RETURN a.name AS a, b.name AS b"
TWO = "MATCH (a:A), (b:B) WHERE a.same = b.same AND b.code = a.ref RETURN a.name AS a, b.name AS b"
FOLLOWED = "MATCH (a:A)-[:to]->(x), (b:B)-[:to]->(y) WHERE b.code = a.ref RETURN a.name AS a, b.name AS b"
PAIRS = Counter((f"a{one}", f"b{two}") for one, two in product(range(NODES), repeat=2) if CODES[one] == CODES[-two])

ADA, BEN = Node("ada"), Node("ben")
ADA.label, BEN.label = "Ada", "2020"
DAY, YEAR = Date("2020-05-17"), Date("2020")
VALUES: list[Value] = [
    *(None, True, False, 0, 1, 1.0, 2, 2.5, math.nan, math.inf, 2**53, 2**53 + 1, float(2**53), 2**70),
    *("", "1", "Ada", "ada", "ādā", "ben", "2020", "2020-05", "2020-05-17", "true", DAY, YEAR, Date("2020-06")),
    *(Date("2020-05-17T00:00Z"), Date("2020-05-17T02:00+02:00"), Date("1999"), ADA, BEN, PathValue((ADA,), ())),
    *((), (1,), (1.0,), (True,), ("Ada",), (ADA,), (None,), (1, None), ((1,), "Ada"), (DAY,), ("2020",), (BEN,)),
    *(PropertyList((1, 2)), PropertyList(("Ada", "Bo")), PropertyList((ADA, BEN)), PropertyList((YEAR, 1))),
    *(PropertyList((1,)), PropertyList(("Ada",)), PropertyList(((1,), 2)), PropertyList()),
]


@pytest.mark.parametrize("others", [VALUES, [one for one in VALUES if not isinstance(one, Date)], [1, "Ada", ADA]])
def test_values_that_are_equal_have_a_key_in_common(others: list[Value]):
    keys = keys_of_values(others)
    for one, other in product(others, repeat=2):
        if compare(one, Comparison.EQUAL, other) is True:
            assert {*keys(one)} & {*keys(other)}, (one, other)


def test_other_values_have_none_in_common_as_far_as_keys_can_tell():
    distinct: list[Value] = [None, math.nan, 1, 2, "1", "Ada", "ada", "2020", "2020-05", (1,), (2,), ("1",), ()]
    keys = keys_of_values(distinct)
    assert all(not {*keys(one)} & {*keys(other)} for one, other in product(distinct, repeat=2) if one is not other)
    assert keys(None) == keys(math.nan) == ()


@pytest.fixture
async def graph(tmp_path: Path) -> AsyncIterator[GraphAdapter]:
    nodes = [f"a{one},A,a{one},,{CODES[one]},1" for one in range(NODES)]
    nodes += [f"b{one},B,b{one},{CODES[-one]},,1" for one in range(NODES)]
    (tmp_path / "nodes.csv").write_text("\n".join(["id:ID,:LABEL,name,code,ref,same", *nodes]), encoding="utf-8")
    edges = [f"{side}{one},to,a0" for one in range(NODES) for side in "ab"]
    (tmp_path / "edges.csv").write_text("\n".join([":START_ID,:TYPE,:END_ID", *edges]), encoding="utf-8")
    load([tmp_path / "nodes.csv", tmp_path / "edges.csv"], tmp_path / "g.kg")
    async with open_adapter(str(tmp_path / "g.kg"), AdapterOptions()) as adapter:
        yield adapter


async def _rows(graph: GraphAdapter, text: str, **options: Any) -> Counter[tuple[object, ...]]:
    checked = await PlanRunner(graph).check(parse_cypher(text))
    page = await evaluate(graph, checked.plan, limit=100_000, **options)
    return Counter(row.cells for row in page.items)


@pytest.mark.parametrize("by_store", [True, False])
@pytest.mark.parametrize("text", [JOIN, CARRIED, TWO, FOLLOWED])
async def test_sets_joined_by_equal_values_have_few_pairs_compared(
    graph: GraphAdapter, text: str, by_store: bool, monkeypatch: pytest.MonkeyPatch
):
    compared: list[object] = []

    def counted(*values: Any) -> bool | None:
        compared.append(values)
        return compare(*values)

    monkeypatch.setattr(expressions, "compare", counted)
    assert await _rows(graph, text, by_store=by_store, bound=2_000) == PAIRS
    assert len(compared) <= 3 * PAIRS.total()


@pytest.mark.parametrize("by_store", [True, False])
async def test_rows_without_an_equal_value_stay_where_the_pattern_is_optional(graph: GraphAdapter, by_store: bool):
    text = "MATCH (a) OPTIONAL MATCH (b:B) WHERE b.code = a.ref RETURN a.name AS a, b.name AS b"
    unmatched = Counter[tuple[object, ...]]((f"b{number}", None) for number in range(NODES))
    assert await _rows(graph, text, by_store=by_store, bound=2_000) == PAIRS + unmatched


@pytest.mark.parametrize("by_store", [True, False])
async def test_members_of_a_list_are_joined_with_nodes_that_have_them(graph: GraphAdapter, by_store: bool):
    text = "MATCH (a:A) WITH collect(a.ref) AS refs UNWIND refs AS x MATCH (b {code: x}) RETURN b.name AS b"
    expected = Counter[tuple[object, ...]]()
    for (_, name), number in PAIRS.items():
        expected[(name,)] += number
    assert await _rows(graph, text, by_store=by_store, bound=2_000) == expected


async def test_groups_of_joined_sets_are_not_read_as_groups_of_their_product(
    graph: GraphAdapter, monkeypatch: pytest.MonkeyPatch
):
    async def refused(*_: Any, **__: Any) -> Any:
        raise AssertionError("the store was asked for a product")

    monkeypatch.setattr(graph, "run", refused)
    text = "MATCH (a:A), (b:B) WHERE b.code = a.ref RETURN count(*) AS n"
    assert await _rows(graph, text) == Counter({(PAIRS.total(),): 1})


@pytest.mark.parametrize("pairs", [10_000, NODES**2])
async def test_an_equality_with_many_rows_is_not_left_to_a_store_that_would_compare_all_pairs(
    graph: GraphAdapter, pairs: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(store_matching, "_MANY_PAIRS", pairs)
    with patch.object(type(graph), "run", autospec=True, side_effect=type(graph).run) as asked:
        assert await _rows(graph, CARRIED) == PAIRS
    given = [call for call in asked.call_args_list if call.args[1].pipelines[0].given is not None]
    assert bool(given) is (pairs == NODES**2)


async def test_a_product_without_an_equality_is_refused_as_before(graph: GraphAdapter):
    with pytest.raises(PlanTooLarge):
        await _rows(graph, "MATCH (a:A), (b:B) WHERE b.code < a.ref RETURN a, b", bound=2_000)
