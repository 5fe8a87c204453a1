"""Checks plans, and runs them in the store or, if it cannot run them, evaluates them here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from time import monotonic

from kgnav_mcp.errors import InvalidPlan, PlanOverBudget, PlanTooLarge, StoreTimeout, Unsupported
from kgnav_mcp.model import Count, PartSize, PlanPage, PlanRow, Stop
from kgnav_mcp.navigation.plans.budget import Budget, known
from kgnav_mcp.navigation.plans.check.checker import CheckedPlan, check
from kgnav_mcp.navigation.plans.check.estimates import steps_of, values_joined
from kgnav_mcp.navigation.plans.check.schema_names import SchemaNames
from kgnav_mcp.navigation.plans.check.sizes import sizes_of
from kgnav_mcp.navigation.plans.check.smaller_plans import refused, timed_out
from kgnav_mcp.navigation.plans.evaluate.evaluator import evaluate
from kgnav_mcp.navigation.plans.evaluate.independent_patterns import factors, refuse_products
from kgnav_mcp.navigation.plans.explain.empty_answers import (
    explained,
    fits_turned,
    is_empty_answer,
    is_zero_count,
    zero_explained,
)
from kgnav_mcp.navigation.plans.explain.first_rows import (
    about_cut_tie,
    about_first_rows,
    about_limit,
    counting_without_limit,
    with_one_more,
    without_one_more,
)
from kgnav_mcp.navigation.plans.explain.named_nodes import about_named_nodes
from kgnav_mcp.navigation.plans.lookups import Lookups
from kgnav_mcp.navigation.plans.pushdown.proofs import collected, proved, with_proof
from kgnav_mcp.navigation.progress import Progress, reporting
from kgnav_mcp.plan import Plan
from kgnav_mcp.port import Capability, GraphAdapter
from kgnav_mcp.port.lists import items_before

BOUND = 100_000
"""Rows that are held outside the store at most."""
_PROBE_BOUND = 20_000
"""Rows that are held at most to learn whether an edge leads from a label to a label."""


_PRODUCT = 10_000_000
"""Rows of a product of independent sets that a store is asked to sort: it has no time for more."""
_MOST_STEPS = 10_000_000
"""Estimated work of a plan, in edges and sorted values, up to which it gets the store's whole time: ten seconds."""
_MOST_JOINED = 100_000
"""Values that a plan joins to one text or list up to which it runs in the store, whose memory they may use up."""
_AT_ONCE_S = 0.8
"""Seconds for a plan whose estimate is higher: the estimate may be wrong, or the store may know a better way."""
_EVALUATED_S = 100.0
"""Seconds for a plan that is evaluated here: hosts stop waiting for a tool after a few minutes."""
_CHEAP_S = 1.0
"""Seconds of a plan whose rows behind its limit are counted, too, if they may belong to a tie."""
COUNTED_S = 0.25
"""Seconds of a plan whose rows without its limit are counted by one more query, and seconds of that query."""
_COUNTED_STEPS = 200_000
"""Estimated work of that count, in edges and sorted values, up to which it is made."""
_EXPLAINED_S = 10.0
"""Seconds for each explanation of an empty answer."""
_NO_PROOF = "Ask without proof, or for the proof of one row alone, by the ids of its nodes."
_EVALUATED = "evaluated:"
"""Prefix of positions in answers that were evaluated here. Their next page is evaluated here, too: the store's own
positions differ."""


@dataclass(slots=True)
class PlanRunner:
    """Checks a plan on one graph, and runs it: what the check has read is not read again."""

    graph: GraphAdapter
    bound: int = BOUND
    by_store: bool = True
    """Whether the store runs plans if it can. False: plans are evaluated here, and the size of each part is known."""
    progress: Progress | None = None
    """Receives progress messages of a plan that runs for more than a second."""
    _lookups: Lookups = field(init=False)

    def __post_init__(self) -> None:
        self._lookups = Lookups(self.graph)

    async def check(self, plan: Plan, one_node: frozenset[str] = frozenset()) -> CheckedPlan:
        """The plan with the graph's own ids, and its problems."""
        async with reporting(self.progress, lambda: "checking the plan"):
            has_rows = partial(_has_rows, self.graph)
            return await check(self.graph, plan, has_rows, self._lookups, one_node=one_node)

    async def run(self, plan: Plan, *, limit: int, after: str | None = None, proof: bool = False) -> PlanPage:
        """A page of rows of a checked plan. If it has none, the note says why; of a count of zero, if the plan is why.

        Raises:
            PlanTooLarge: it needs more rows at once than the bound; the error has the sizes of its parts.
            StoreTimeout: the store did not answer in time.
            InvalidCursor: the rows have changed since the cursor was made.
        """
        began, asked = monotonic(), plan if proof or after is not None else with_one_more(plan, limit)
        try:
            page = await self._page(asked, limit, after, proof=proof)
        except PlanTooLarge as error:
            sizes = known(error.sizes) or await sizes_of(self.graph, plan)
            raise refused(PlanTooLarge(error.bound, sizes, next_step=error.next_step), plan) from error
        except StoreTimeout as error:
            raise timed_out(error, plan, await sizes_of(self.graph, plan)) from error
        if after is not None:
            return page
        page, behind = (page, None) if asked is plan else without_one_more(plan, page)
        if not is_empty_answer(page):
            notes = [page.note, await self._explanation_or_nothing(about_first_rows(self.graph, plan, page))]
            if monotonic() - began < _CHEAP_S:
                tie = about_cut_tie(plan, page, behind, lambda one: self._page(one, 1))
                notes.append(await self._explanation_or_nothing(tie))
            if monotonic() - began < COUNTED_S:
                notes.append(await self._explanation_or_nothing(self._without_limit(plan, page)))
            return replace(page, note=" ".join(filter(None, notes)))
        if is_zero_count(page):
            zero = await self._explanation_or_nothing(zero_explained(plan, self._has_answer))
            why = " ".join(filter(None, (page.note, zero if page.stop is Stop.COMPLETE else "")))
        else:
            why = page.note or await self._explanation_or_nothing(explained(plan, self._has_answer))
        of_nodes = await self._explanation_or_nothing(about_named_nodes(self.graph, self._lookups, plan))
        direction_hint = await self._explanation_or_nothing(fits_turned(plan, self._has_answer))
        return replace(page, note=" ".join(filter(None, (why, of_nodes, direction_hint))))

    async def _without_limit(self, plan: Plan, page: PlanPage) -> str:
        """The sentence with the number of rows without LIMIT, if it cut some and they are counted quickly."""
        counting = counting_without_limit(plan, page)
        if counting is None or Capability.PLANS not in self.graph.capabilities:  # it would need several queries
            return ""
        if steps_of(await SchemaNames.of(self.graph), counting) > _COUNTED_STEPS:
            return ""
        async with asyncio.timeout(COUNTED_S):
            return await about_limit(counting, page, lambda one: self._page(one, 1))

    async def _page(self, plan: Plan, limit: int, after: str | None = None, *, proof: bool = False) -> PlanPage:
        parts = factors(plan) if after is None and not proof else []
        if parts:
            return self._product(plan, [await self._page(part, 1) for part in parts])
        evaluated = after is not None and after.startswith(_EVALUATED)
        compiled = proved(plan) if proof else plan
        by_store = self.by_store and Capability.PLANS in self.graph.capabilities
        if by_store and compiled and not evaluated and values_joined(plan) <= _MOST_JOINED:
            for pipeline in () if plan.only_exists else plan.pipelines:
                await refuse_products(self.graph, Budget(_PRODUCT), pipeline.clauses)
            with suppress(Unsupported):  # the store cannot express a part of the plan: it is evaluated here
                async with reporting(self.progress, lambda: "the store is at work"):
                    if proof:
                        work = partial(self._proved, plan, compiled, limit, after)
                    else:
                        work = partial(self.graph.run, plan, limit=limit, after=after)
                    return await self._in_time(plan, after, work)
        shown = 0 if after is None or evaluated else _rows_before(after)
        work = partial(
            evaluate,
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

    async def _in_time(self, plan: Plan, after: str | None, work: Callable[[], Awaitable[PlanPage]]) -> PlanPage:
        """The result of `work`. If the estimate of the plan is too high, it must come at once.

        Raises:
            PlanTooLarge: the estimate is too high, and the result did not come at once.
        """
        if plan.only_exists or after is not None or steps_of(await SchemaNames.of(self.graph), plan) <= _MOST_STEPS:
            return await work()
        try:
            async with asyncio.timeout(_AT_ONCE_S):
                return await work()
        except TimeoutError as error:
            raise PlanTooLarge(self.bound, await sizes_of(self.graph, plan)) from error

    @staticmethod
    def _product(plan: Plan, counts: Sequence[PlanPage]) -> PlanPage:
        """One row with the product of the counts."""
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
        """The rows of a plan with the edges that prove them. These are counted first.

        Raises:
            PlanTooLarge: there are too many edges to collect.
        """
        counting = collected(plan)
        page = None if counting is None else await self.graph.run(counting, limit=1)
        rows = sum(cell for row in (page.items if page else ()) for cell in row.cells if isinstance(cell, int))
        if rows > self.bound:
            raise PlanTooLarge(self.bound, (PartSize("the proof of its counts", Count(rows)),), next_step=_NO_PROOF)
        return with_proof(await self.graph.run(compiled, limit=limit, after=after), plan.columns)

    async def _has_answer(self, plan: Plan) -> bool:
        return not is_empty_answer(await self._page(plan, 1))

    @staticmethod
    async def _explanation_or_nothing(explanation: Awaitable[str]) -> str:
        """The explanation of an empty answer; empty if it is not found in time: the answer is valid without it."""
        try:
            async with asyncio.timeout(_EXPLAINED_S):
                return await explanation
        except (InvalidPlan, PlanTooLarge, PlanOverBudget, StoreTimeout, Unsupported, TimeoutError):
            return ""


def _rows_before(position: str) -> int:
    """The number of rows that the store has shown. A plan's rows have the same order in the store and here."""
    return items_before(position.partition(".")[0])


async def _has_rows(graph: GraphAdapter, plan: Plan) -> bool | None:
    try:
        page = await evaluate(graph, plan, limit=1, bound=_PROBE_BOUND)
    except (PlanTooLarge, StoreTimeout):
        return None  # too much to read: an unknown answer is no reason to refuse the plan
    return bool(page.items)
