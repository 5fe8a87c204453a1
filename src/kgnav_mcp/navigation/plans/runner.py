"""Checks plans, and runs them in the store or, if it cannot run them, evaluates them here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from time import monotonic

from kgnav_mcp.concurrency import Progress, reporting
from kgnav_mcp.errors import (
    InvalidPlan,
    PlanOverBudget,
    PlanTooLarge,
    StepLimitReached,
    StoreTimeout,
    Unsupported,
)
from kgnav_mcp.model import Certainty, Count, PartSize, PlanPage, PlanRow, Stop
from kgnav_mcp.navigation.plans.budget import Budget, Deadline, known, time_limit
from kgnav_mcp.navigation.plans.check.checker import CheckedPlan, check
from kgnav_mcp.navigation.plans.check.estimates import estimated_steps, max_joined_values, sizes_of
from kgnav_mcp.navigation.plans.check.schema_names import SchemaNames
from kgnav_mcp.navigation.plans.check.smaller_plans import over_budget, over_steps, refused, timed_out
from kgnav_mcp.navigation.plans.evaluate.evaluator import evaluate
from kgnav_mcp.navigation.plans.evaluate.independent_patterns import independent_counts, refuse_products
from kgnav_mcp.navigation.plans.explain.empty_answers import (
    empty_answer_note,
    is_empty_answer,
    is_zero_count,
    named_nodes_note,
    reversed_edge_note,
    zero_count_note,
)
from kgnav_mcp.navigation.plans.explain.first_rows import (
    counting_without_limit,
    cut_tie_note,
    first_rows_note,
    limit_note,
    number_of_rows,
    with_extra_row,
    without_extra_row,
)
from kgnav_mcp.navigation.plans.lookups import Lookups
from kgnav_mcp.navigation.plans.pushdown.proofs import count_of_grouped_rows, with_edge_columns, with_proof
from kgnav_mcp.plan import Plan
from kgnav_mcp.port import AdapterOptions, Capability, GraphAdapter
from kgnav_mcp.port.lists import items_before
from kgnav_mcp.store_limits import StoreLimits, limited_to, store_limits

MAX_HELD_ROWS = 100_000
"""Rows that are held outside the store at most."""
_MAX_PROBED_ROWS = 20_000
"""Rows that are held at most to learn whether an edge leads from a label to a label."""


_PRODUCT = 10_000_000
"""Rows of a product of independent sets that a store is asked to sort: it has no time for more."""
_MAX_STEPS = 10_000_000
"""Estimated work of a plan, in edges and sorted values, up to which only time limits its questions: ten seconds."""
_STORE_STEPS = 200_000_000
"""Steps of the store's engine for each question of a plan whose estimate is higher: one second. The estimate may be
wrong, or the store may know a better way. Only a store that counts its steps stops there."""
_CHEAP_STEPS = 1_000_000
"""Estimated work of a plan up to which the rows behind its limit are counted, too, if they may belong to a tie."""
_MAX_JOINED = 100_000
"""Values that a plan joins to one text or list up to which it runs in the store, whose memory they may use up."""
_SIZES_SECONDS = 0.25
"""Seconds for the sizes that an error names. They are known from the check, as a rule."""
_UNEXPLAINED = "There was no time to find out more about this answer."
_NOTE_SECONDS = 2.0
"""Seconds for each note on an answer that has rows, or as many as the answer took: the rows are valid without it."""
TOTAL_SECONDS = 0.25
"""Seconds for the number of rows that a plan has without its limit: the answer is complete without it."""
_COUNTING = 2.0
"""Time in which the rows behind the first page are counted, relative to that of the page: sorting takes longer."""
_MAX_TOTAL_STEPS = 200_000
"""Estimated work of that count, in edges and sorted values, up to which it is made."""
_NO_PROOF = "Ask without proof, or for the proof of one row alone, by the ids of its nodes."
_EVALUATED = "evaluated:"
"""Prefix of positions in answers that were evaluated here. Their next page is evaluated here, too: the store's own
positions differ."""


@dataclass(slots=True)
class PlanRunner:
    """Checks a plan on one graph, and runs it: what the check has read is not read again."""

    graph: GraphAdapter
    bound: int = MAX_HELD_ROWS
    by_store: bool = True
    """Whether the store runs plans if it can. False: plans are evaluated here, and the size of each part is known."""
    progress: Progress | None = None
    """Receives progress messages of a plan that runs for more than a second."""
    deadline: Deadline | None = None
    """When check and run must have ended; None gives each of them the default time-out of a graph."""
    _lookups: Lookups = field(init=False)

    def __post_init__(self) -> None:
        self._lookups = Lookups(self.graph)

    async def check(self, plan: Plan, one_node: frozenset[str] = frozenset()) -> CheckedPlan:
        """The plan with the graph's own ids, and its problems.

        Raises:
            StoreTimeout: the check did not end in time.
        """
        position = lambda: "checking the plan"  # noqa: E731
        async with time_limit(self._deadline(), position), reporting(self.progress, position):
            has_rows = partial(_has_rows, self.graph, self._lookups)
            return await check(self.graph, plan, has_rows, self._lookups, one_node=one_node)

    async def run(self, plan: Plan, *, limit: int, after: str | None = None, proof: bool = False) -> PlanPage:
        """A page of rows of a checked plan. If it has none, the note says why; of a count of zero, if the plan is why.

        Raises:
            PlanTooLarge: it needs more rows at once than the bound; the error has the sizes of its parts.
            PlanOverBudget: it makes or compares too many values, or takes too many steps of the store.
            StoreTimeout: the plan did not end in time.
            InvalidCursor: the rows have changed since the cursor was made.
        """
        deadline, extended = self._deadline(), plan if proof or after is not None else with_extra_row(plan, limit)
        begun = monotonic()
        try:
            page = await self._page(extended, limit, deadline, after, proof=proof)
            if after is None and page.stop is Stop.LIMIT and page.total.certainty is Certainty.AT_LEAST:
                page = await self._with_total(plan, page, monotonic() - begun, deadline)
        except PlanTooLarge as error:
            sizes = known(error.sizes) or await self._sizes(plan)
            full = PlanTooLarge(error.bound, sizes, need=error.need, next_step=error.next_step)
            raise refused(full, plan) from error
        except PlanOverBudget as error:
            raise over_budget(error, plan) from error
        except StepLimitReached as error:
            raise over_steps(error, plan, await self._sizes(plan)) from error
        except StoreTimeout as error:
            raise timed_out(error, plan, await self._sizes(plan)) from error
        if after is not None:
            return page
        return await self._explained(plan, extended, page, deadline, max(monotonic() - begun, _NOTE_SECONDS))

    async def _explained(
        self, plan: Plan, extended: Plan, page: PlanPage, deadline: Deadline, seconds: float
    ) -> PlanPage:
        """The first page of a plan with notes, as far as there is time for them: `seconds` for each if it has rows."""
        has_answer = partial(self._has_answer, deadline)

        async def unless_late(explanation: Awaitable[str]) -> str:
            limit = asyncio.timeout(None if is_empty_answer(page) else seconds)
            try:
                async with time_limit(deadline, lambda: "explaining the answer"), limit:
                    return await explanation
            except (InvalidPlan, PlanTooLarge, PlanOverBudget, StepLimitReached, Unsupported):
                return ""
            except TimeoutError:
                return _UNEXPLAINED if limit.expired() else ""
            except StoreTimeout:
                return _UNEXPLAINED

        page, behind = (page, None) if extended is plan else without_extra_row(plan, page)
        if not is_empty_answer(page):
            notes = [page.note, await unless_late(first_rows_note(self.graph, plan, page))]
            if behind is not None and estimated_steps(await SchemaNames.of(self.graph), plan) <= _CHEAP_STEPS:
                tie = cut_tie_note(plan, page, behind, lambda one: self._page(one, 2, deadline))
                notes.append(await unless_late(tie))
            notes.append(await unless_late(self._without_limit(plan, page, deadline)))
        elif is_zero_count(page):
            zero = await unless_late(zero_count_note(plan, has_answer))
            notes = [page.note, zero if page.stop is Stop.COMPLETE else ""]
        else:
            notes = [page.note or await unless_late(empty_answer_note(plan, has_answer))]
        if is_empty_answer(page):
            notes.append(await unless_late(named_nodes_note(self.graph, self._lookups, plan)))
            notes.append(await unless_late(reversed_edge_note(plan, has_answer)))
        return replace(page, note=" ".join(dict.fromkeys(filter(None, notes))))

    async def _without_limit(self, plan: Plan, page: PlanPage, deadline: Deadline) -> str:
        """The sentence with the number of rows without LIMIT, if it cut some and the store counts them quickly."""
        counting = counting_without_limit(plan, page)
        if counting is None or Capability.PLANS not in self.graph.capabilities:
            return ""
        if estimated_steps(await SchemaNames.of(self.graph), counting) > _MAX_TOTAL_STEPS:
            return ""
        async with asyncio.timeout(TOTAL_SECONDS):
            return await limit_note(counting, page, lambda one: self._page(one, 2, deadline, by_store_only=True))

    async def _with_total(self, plan: Plan, page: PlanPage, seconds: float, deadline: Deadline) -> PlanPage:
        """The first page with the number of all rows, if the store counts them soon. `seconds`: what the page took."""
        if Capability.PLANS not in self.graph.capabilities or _COUNTING * seconds > deadline.seconds_left():
            return page
        with suppress(
            InvalidPlan, PlanTooLarge, PlanOverBudget, StepLimitReached, StoreTimeout, Unsupported, TimeoutError
        ):
            async with asyncio.timeout(max(_COUNTING * seconds, TOTAL_SECONDS)):
                total = await number_of_rows(plan, lambda one: self._page(one, 2, deadline, by_store_only=True))
            if total is not None and total >= page.total.value:
                return replace(page, total=Count(total))
        return page

    async def _page(
        self,
        plan: Plan,
        limit: int,
        deadline: Deadline,
        after: str | None = None,
        *,
        proof: bool = False,
        by_store_only: bool = False,
    ) -> PlanPage:
        """A page of rows. Raises Unsupported if the store cannot run the plan and it has to, `by_store_only`."""
        parts = independent_counts(plan) if after is None and not proof else []
        if parts:
            pages = [await self._page(part, limit, deadline, by_store_only=by_store_only) for part in parts]
            return self._product(plan, pages)
        evaluated = after is not None and after.startswith(_EVALUATED)
        limits = await self._step_limits(plan, after)
        compiled = with_edge_columns(plan) if proof else plan
        by_store = self.by_store and Capability.PLANS in self.graph.capabilities
        if by_store and compiled and not evaluated and max_joined_values(plan) <= _MAX_JOINED:
            position = lambda: "the store is at work"  # noqa: E731
            # what the store cannot express is evaluated here
            with nullcontext() if by_store_only else suppress(Unsupported):
                async with time_limit(deadline, position), reporting(self.progress, position):
                    for pipeline in () if plan.only_exists else plan.pipelines:
                        await refuse_products(self.graph, Budget(_PRODUCT), pipeline.clauses, self._lookups)
                    with limited_to(limits):
                        if proof:
                            return await self._proved(plan, compiled, limit, after)
                        return await self.graph.run(plan, limit=limit, after=after)
        shown = 0 if after is None or evaluated else _rows_before(after)
        with limited_to(limits):
            page = await evaluate(
                self.graph,
                plan,
                limit=shown + limit,
                after=after.removeprefix(_EVALUATED) if after is not None and evaluated else None,
                proof=proof,
                bound=self.bound,
                deadline=deadline,
                progress=self.progress,
                by_store=self.by_store,
                lookups=self._lookups,
            )
        positions = tuple(f"{_EVALUATED}{position}" for position in page.positions[shown:])
        return replace(page, items=page.items[shown:], positions=positions)

    async def _step_limits(self, plan: Plan, after: str | None) -> StoreLimits:
        """The limits of each question to the store: if the estimate of the plan is too high, each has few steps."""
        limits = store_limits()
        if (
            plan.only_exists
            or after is not None
            or estimated_steps(await SchemaNames.of(self.graph), plan) <= _MAX_STEPS
        ):
            return limits
        return replace(limits, steps=_STORE_STEPS)

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
        counting = count_of_grouped_rows(plan)
        page = None if counting is None else await self.graph.run(counting, limit=1)
        rows = sum(cell for row in (page.items if page else ()) for cell in row.cells if isinstance(cell, int))
        if rows > self.bound:
            raise PlanTooLarge(self.bound, (PartSize("the proof of its counts", Count(rows)),), next_step=_NO_PROOF)
        return with_proof(await self.graph.run(compiled, limit=limit, after=after), plan.columns)

    async def _has_answer(self, deadline: Deadline, plan: Plan) -> bool:
        return not is_empty_answer(await self._page(plan, 1, deadline))

    async def _sizes(self, plan: Plan) -> tuple[PartSize, ...]:
        """The sizes of the labels and relations of a plan that failed; none if they are not known by now."""
        with suppress(StoreTimeout, TimeoutError):
            async with asyncio.timeout(_SIZES_SECONDS):
                return await sizes_of(self.graph, plan)
        return ()

    def _deadline(self) -> Deadline:
        return self.deadline or Deadline.after(AdapterOptions().timeout)


def _rows_before(position: str) -> int:
    """The number of rows that the store has shown. A plan's rows have the same order in the store and here."""
    return items_before(position.partition(".")[0])


async def _has_rows(graph: GraphAdapter, lookups: Lookups, plan: Plan) -> bool | None:
    try:
        page = await evaluate(graph, plan, limit=1, bound=_MAX_PROBED_ROWS, lookups=lookups)
    except (PlanTooLarge, StoreTimeout):
        return None  # too much to read: an unknown answer is no reason to refuse the plan
    return bool(page.items)
