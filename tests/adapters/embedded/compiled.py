"""Plans that run as one query, beside the evaluator."""

from __future__ import annotations

from kgnav_mcp.errors import InvalidPlan, Unsupported
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.plan import Plan
from kgnav_mcp.port import GraphAdapter
from tests.plans.comparing import ALL, all_rows, of_answer


async def same(adapter: GraphAdapter, query: Plan) -> bool:
    """Whether a plan was run by a query; it has the rows of the evaluator then, whole and in pages.

    False also if the evaluator refuses it for a property with several values in a row that the query does not read.
    """
    try:
        page = await adapter.run(query, limit=ALL)
        expected = await evaluate(adapter, query, limit=ALL, by_store=False)
    except (Unsupported, InvalidPlan):
        return False
    assert [row.cells for row in page.items] == [row.cells for row in expected.items], query
    assert (page.columns, page.total, page.stop) == (expected.columns, expected.total, expected.stop)
    if 1 < len(page.items) < 100:
        whole = [tuple(map(of_answer, row.cells)) for row in page.items]
        assert await all_rows(lambda limit, after: adapter.run(query, limit=limit, after=after), 3) == whole
    return True
