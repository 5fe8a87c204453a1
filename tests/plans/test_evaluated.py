"""Plans by chance on random graphs answer the same to both evaluators, in one page and in many."""

from __future__ import annotations

from collections import Counter
from itertools import cycle
from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded import open_adapter
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import AggregateFunction, PathKind, Plan, Quantifier
from kgnav_mcp.port import AdapterOptions
from tests.contract import toy_files, toy_views
from tests.plans.comparing import SIZES, hold
from tests.plans.graph import Graph
from tests.plans.oracle import RefusedError, answer
from tests.plans.strategies import plans_by_chance, words_of
from tests.plans.toys import plain, random_toy
from tests.sampling import sampled

pytestmark = pytest.mark.slow

PLANS = 20
"""On each graph; `make fuzz` tries more."""


@pytest.mark.parametrize("seed", sampled(range(6), 3))
async def test_a_plan_by_chance_answers_the_same_to_both_evaluators_in_pages_of_any_size(seed: int, tmp_path: Path):
    nodes, edges = random_toy(seed)
    load(toy_files.write_property_graph(tmp_path, nodes, edges), tmp_path / "random.kg", LoadOptions())
    graph = plain(toy_views.view(toy_views.PROPERTY_GRAPH, nodes, edges), nodes)
    async with open_adapter(str(tmp_path / "random.kg"), AdapterOptions()) as adapter:
        for plan, size in zip(plans_by_chance(words_of(graph), PLANS), cycle(SIZES), strict=False):
            await hold(PlanRunner(adapter), graph, plan, size)


def test_plans_by_chance_have_rows_and_everything_that_a_plan_can_have():
    nodes, edges = random_toy(1)
    graph = plain(toy_views.view(toy_views.PROPERTY_GRAPH, nodes, edges), nodes)
    made = plans_by_chance(words_of(graph), 400)
    assert sum(_has_rows(graph, plan) for plan in made) > 150
    written = Counter(word for plan in made for word in WORDS if word in repr(plan))
    assert set(written) == set(WORDS)


def _has_rows(graph: Graph, plan: Plan) -> bool:
    try:
        return bool(answer(graph, plan))
    except RefusedError:
        return False


WORDS = (
    *(
        f"{part}("
        for part in ("Unwind", "PathPattern", "Aggregate", "Exists", "CountOf", "During", "HasLabel", "IsNull")
    ),
    *(f"{part}(" for part in ("Joined", "ComparisonChain", "Not", "Arithmetic", "ListOf", "Call", "Order")),
    *(f"{part}(" for part in ("Case", "Element", "Slice", "Comprehension", "Quantified", "Reduction")),
    *(repr(part) for part in (*Quantifier, *AggregateFunction)),
    *(repr(kind) for kind in PathKind),
    *(
        "optional=True",
        "edges_differ=False",
        "either=True",
        "distinct=True",
        "keep_duplicates=True",
        "only_exists=True",
    ),
)
"""What is to be found among plans, as Python shows it."""
