"""A plan from what was written to its rows: checked, then run by the store, or evaluated here where it cannot."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod

from kgnav_mcp.errors import PlanTooLarge, StoreTimeout, Unsupported
from kgnav_mcp.model import Count, PartSize, PlanPage, PlanRow, Stop
from kgnav_mcp.navigation.plans.budget import Budget
from kgnav_mcp.navigation.plans.checking import CheckedPlan, check
from kgnav_mcp.navigation.plans.estimating import steps_of
from kgnav_mcp.navigation.plans.evaluation import evaluate
from kgnav_mcp.navigation.plans.explaining import explained, fits_turned, says_nothing
from kgnav_mcp.navigation.plans.lookups import Lookups
from kgnav_mcp.navigation.plans.progress import Progress, telling
from kgnav_mcp.navigation.plans.proving import collected, proved, with_proof
from kgnav_mcp.navigation.plans.reducing import refused, timed_out
from kgnav_mcp.navigation.plans.separating import factors, refuse_products
from kgnav_mcp.navigation.plans.sizes import sizes_of
from kgnav_mcp.navigation.plans.vocabulary import Vocabulary
from kgnav_mcp.plan import Plan
from kgnav_mcp.port import Capability, GraphAdapter
from kgnav_mcp.port.lists import items_before

BOUND = 100_000
"""Rows that are held outside the store at most."""
_PROBE_BOUND = 20_000
"""Rows that are looked at to learn whether an edge leads from a label to a label."""


_PRODUCT = 10_000_000
"""Rows of sets without anything in common that a store is asked to put in order: more are more than it has time for."""
_MOST_STEPS = 10_000_000
"""Edges that a plan may come by, and values that it may sort, in the whole time of a store: ten seconds of work."""
_AT_ONCE_S = 0.8
"""Seconds for a plan that seems to be more: what the schema counts may be wrong, or the store know a better way."""
_EVALUATED_S = 100.0
"""Seconds for a plan that is evaluated here: hosts give up on a tool after a few minutes."""
_NO_PROOF = "Ask without proof, or for the proof of one row alone, by the ids of its nodes."
_EVALUATED = "evaluated:"
"""Begins the positions of pages that were evaluated here: the next page is, too, for a store's positions are others."""


@dataclass(slots=True)
class PlanRunner:
    """Checks a plan on one graph, and runs it: what the check has read is not read again."""

    graph: GraphAdapter
    bound: int = BOUND
    by_store: bool = True
    """Whether the store runs plans where it can; else each part is read here, and its size is known."""
    progress: Progress | None = None
    """Is told how far a plan is that runs for more than a second."""
    _lookups: Lookups = field(init=False)

    def __post_init__(self) -> None:
        self._lookups = Lookups(self.graph)

    async def check(self, plan: Plan, one_node: frozenset[str] = frozenset()) -> CheckedPlan:
        """The plan in the graph's own ids, or its problems."""
        async with telling(self.progress, lambda: "checking the plan"):
            has_rows = partial(_has_rows, self.graph)
            return await check(self.graph, plan, has_rows, self._lookups, one_node=one_node)

    async def run(self, plan: Plan, *, limit: int, after: str | None = None, proof: bool = False) -> PlanPage:
        """The rows of a plan that was checked; of one that has none, why.

        Raises:
            PlanTooLarge: it needs more rows at once than the bound, with the sizes of its parts.
            InvalidCursor: the rows are not those there were when the cursor was made.
        """
        try:
            page = await self._page(plan, limit, after, proof=proof)
        except PlanTooLarge as error:
            raise refused(error, plan) from error
        except StoreTimeout as error:
            raise timed_out(error, plan, await sizes_of(self.graph, plan)) from error
        if after is not None or not says_nothing(page):
            return page
        why = page.note or await self._if_it_can(explained(plan, self._has_answer))
        turned = await self._if_it_can(fits_turned(plan, self._has_answer))
        return replace(page, note=" ".join(filter(None, (why, turned))))

    async def _page(self, plan: Plan, limit: int, after: str | None = None, *, proof: bool = False) -> PlanPage:
        parts = factors(plan) if after is None and not proof else []
        if parts:
            return self._product(plan, [await self._page(part, 1) for part in parts])
        evaluated = after is not None and after.startswith(_EVALUATED)
        compiled = proved(plan) if proof else plan
        if self.by_store and compiled and Capability.PLANS in self.graph.capabilities and not evaluated:
            for pipeline in () if plan.asks else plan.pipelines:
                await refuse_products(self.graph, Budget(_PRODUCT), pipeline.clauses)
            with suppress(Unsupported):  # a part that the store has no words for: the plan is evaluated here
                async with telling(self.progress, lambda: "the store is at work"):
                    if not proof:
                        work = self.graph.run(plan, limit=limit, after=after)
                    else:
                        work = self._proved(plan, compiled, limit, after)
                    return await self._in_time(plan, after, work)
        shown = 0 if after is None or evaluated else _rows_before(after)
        work = evaluate(
            self.graph,
            plan,
            limit=shown + limit,
            after=after.removeprefix(_EVALUATED) if after is not None and evaluated else None,
            proof=proof,
            bound=self.bound,
            progress=self.progress,
            by_store=self.by_store,
            lookups=self._lookups,
        )
        try:
            async with asyncio.timeout(_EVALUATED_S):
                page = await self._in_time(plan, after, work)
        except TimeoutError as error:
            reason = f"the parts of the plan could not be read within {_EVALUATED_S:g} s, one query after the other"
            raise StoreTimeout(_EVALUATED_S, reason) from error
        positions = tuple(f"{_EVALUATED}{position}" for position in page.positions[shown:])
        return replace(page, items=page.items[shown:], positions=positions)

    async def _in_time(self, plan: Plan, after: str | None, work: Awaitable[PlanPage]) -> PlanPage:
        """The result of work on a plan; on one that is too much by what the schema counts, if it comes at once.

        Raises:
            PlanTooLarge: it does not.
        """
        if plan.asks or after is not None or steps_of(await Vocabulary.of(self.graph), plan) <= _MOST_STEPS:
            return await work
        try:
            async with asyncio.timeout(_AT_ONCE_S):
                return await work
        except TimeoutError as error:
            raise PlanTooLarge(self.bound, await sizes_of(self.graph, plan)) from error

    @staticmethod
    def _product(plan: Plan, counts: Sequence[PlanPage]) -> PlanPage:
        """One row of counts multiplied."""
        numbers = [cell for page in counts for cell in page.items[0].cells if isinstance(cell, int)]
        return replace(
            counts[0],
            items=(PlanRow((prod(numbers),) * len(plan.columns)),),
            stop=next((page.stop for page in counts if page.stop is not Stop.COMPLETE), Stop.COMPLETE),
            note=" ".join(dict.fromkeys(page.note for page in counts if page.note)),
            columns=plan.columns,
            sizes=tuple(size for page in counts for size in page.sizes),
        )

    async def _proved(self, plan: Plan, compiled: Plan, limit: int, after: str | None) -> PlanPage:
        """The rows of a plan with the edges that they rest on, once these were counted.

        Raises:
            PlanTooLarge: one row or another rests on so many that they are not to be collected.
        """
        counting = collected(plan)
        page = None if counting is None else await self.graph.run(counting, limit=1)
        rows = sum(cell for row in (page.items if page else ()) for cell in row.cells if isinstance(cell, int))
        if rows > self.bound:
            raise PlanTooLarge(self.bound, (PartSize("the proof of its counts", Count(rows)),), next_step=_NO_PROOF)
        return with_proof(await self.graph.run(compiled, limit=limit, after=after), plan.columns)

    async def _has_answer(self, plan: Plan) -> bool:
        return not says_nothing(await self._page(plan, 1))

    @staticmethod
    async def _if_it_can(told: Awaitable[str]) -> str:
        """What is told of an empty answer; nothing where that cannot be found out, for the answer stands."""
        try:
            return await told
        except (PlanTooLarge, StoreTimeout, Unsupported):
            return ""


def _rows_before(position: str) -> int:
    """The rows that a store has shown: the rows of a plan come in the same order whoever runs it."""
    return items_before(position.partition(".")[0])


async def _has_rows(graph: GraphAdapter, plan: Plan) -> bool | None:
    try:
        page = await evaluate(graph, plan, limit=1, bound=_PROBE_BOUND)
    except (PlanTooLarge, StoreTimeout):
        return None  # too much to look at: what is not known is not refused
    return bool(page.items)
