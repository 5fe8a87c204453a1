"""A graph of films and their actors behind an endpoint, asked for patterns of plans."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.plan import AggregateFunction, Plan
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import InProcess, opened_over
from tests.navigation.plans.writing import edge, rows, total

COUNT = total(AggregateFunction.COUNT)
STARRED = edge("f", "ex:starred", "a")


def films(*casts: Sequence[str], more: str = "") -> InProcess:
    """An endpoint with a film for each cast."""
    starred = [f"ex:film{n} ex:starred ex:{actor} ." for n, cast in enumerate(casts) for actor in cast]
    labels = [f"ex:{actor} a ex:Actor ." for actor in sorted({actor for cast in casts for actor in cast})]
    return InProcess("\n".join(["@prefix ex: <http://ex.example/> .", *starred, *labels, more]))


async def answered(client: InProcess, asked: Plan, bound: int = 100_000) -> list[tuple[object, ...]]:
    """The rows of a plan, and that they are those of the evaluator alone where nothing bounds it."""
    async with opened_over(client, HERE) as graph:
        found = rows(await evaluate(graph, asked, limit=50, bound=bound))
        assert found == rows(await evaluate(graph, asked, limit=50, by_store=False))
        return found


def matches_in(client: InProcess) -> list[str]:
    """The queries that fit a pattern, without those that only ask whether too much fits it."""
    return [query for query in client.queries if re.search(r"\?n\d", query) and "{ SELECT DISTINCT ?n" not in query]
