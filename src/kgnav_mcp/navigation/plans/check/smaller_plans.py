"""Smaller plans as suggestions: for a plan that is too large, or for which the store timed out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kgnav_mcp.errors import PlanOverBudget, PlanTooLarge, StepLimitReached, StoreTimeout
from kgnav_mcp.languages.cypher import write_cypher
from kgnav_mcp.model import PartSize
from kgnav_mcp.navigation.plans.budget import ADVICE
from kgnav_mcp.navigation.plans.evaluate.independent_patterns import independent_counts
from kgnav_mcp.navigation.plans.pushdown.reachability import has_unbounded_paths, with_reachability
from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Column,
    EdgePattern,
    PathKind,
    PathLength,
    PathPattern,
    Pipeline,
    Plan,
    Project,
    Variable,
)
from kgnav_mcp.plan.walking import aggregates, parts, rewritten

_EVERY_PATH = "[*] matches once for each path, as in Cypher."
_MAX_CHARACTERS = 380
"""Maximum characters of a message with its next step, without the words around them."""
_MAX_SIZES = 5
"""Maximum number of sizes of parts in a time-out error."""
_SHORT_PATH = 2
"""Steps of a shortened path: short enough even near a hub."""
_SHORTER = f"*1..{_SHORT_PATH} in place of *"
_DISTINCT = "RETURN DISTINCT, count(DISTINCT x)"


def refused(error: PlanTooLarge, plan: Plan) -> PlanTooLarge:
    """The error with smaller plans as examples, if there are any."""
    advice = error.next_step or ADVICE
    next_step = _next_step(plan, advice, len(error.message))
    return PlanTooLarge(error.bound, error.sizes, need=error.need, next_step=next_step)


def timed_out(error: StoreTimeout, plan: Plan, sizes: Sequence[PartSize]) -> StoreTimeout:
    """The time-out of a plan, with the sizes of its labels and relations and a smaller plan as an example."""
    shown = [*map(str, sizes[:_MAX_SIZES])]
    more = [f"and {len(sizes) - len(shown):,} more parts"] if len(sizes) > len(shown) else []
    named = f" (in the graph: {', '.join((*shown, *more))})" if sizes else ""
    message = f"{error.message}{named}"
    return StoreTimeout(error.seconds, message, next_step=_next_step(plan, ADVICE, len(message)))


def over_budget(error: PlanOverBudget, plan: Plan) -> PlanOverBudget:
    """The error with a smaller plan as its next step, unless it has one."""
    next_step = error.next_step or _next_step(plan, ADVICE, len(error.message))
    return PlanOverBudget(error.excess, error.part, next_step=next_step)


def over_steps(error: StepLimitReached, plan: Plan, sizes: Sequence[PartSize]) -> PlanOverBudget:
    """The refusal of a plan that takes too many steps of the store, with its largest part and a smaller plan."""
    largest = max(sizes, key=lambda size: size.count.value, default=None)
    excess = f"takes more than {error.steps:,} steps of the store"
    part = write_cypher(plan) if largest is None else str(largest)
    return PlanOverBudget(excess, part, next_step=_next_step(plan, ADVICE, len(excess) + len(part)))


def _next_step(plan: Plan, advice: str, used: int) -> str:
    """The advice with a smaller plan; two instead of it if each path of any length is a match.

    `used` are the characters of the message before it. Of plans that are too long the changed part is shown.
    """
    if has_unbounded_paths(plan) and (bounded := _shorter_paths(plan)) is not None:
        ends = _distinct(plan)
        once, shorter = write_cypher(ends) if ends is not None else "", write_cypher(bounded)
        choices = (
            (once, shorter),
            (_result(once), shorter),
            (_result(once), _SHORTER),
            (_DISTINCT if once else "", _SHORTER),
        )
        texts = [
            f"{_EVERY_PATH} {f'Each end once: {one} Or shorter' if one else 'Shorter'}: {two}" for one, two in choices
        ]
        return next((text for text in texts if used + len(text) <= _MAX_CHARACTERS), texts[-1])
    example = _count(plan) or _distances(plan) or _shorter_paths(plan)
    with_example = f"{advice} For instance: {write_cypher(example)}" if example is not None else advice
    return with_example if used + len(with_example) <= _MAX_CHARACTERS else advice


def _result(cypher: str) -> str:
    """The last clause of a plan."""
    return cypher.rpartition("\n")[2]


def _count(plan: Plan) -> Plan | None:
    """A plan that counts the rows of a product; None if the plan is not a product."""
    if len(plan.pipelines) != 1:
        return None
    *clauses, _ = plan.pipelines[0].clauses
    count = Project((Column("count(*)", Aggregate(AggregateFunction.COUNT, None)),))
    counted = Plan((Pipeline((*clauses, count)),))
    return counted if independent_counts(counted) else None


def _distinct(plan: Plan) -> Plan | None:
    """The plan with distinct rows, or counts of distinct values; None if the paths still matter then."""

    def change(part: object) -> object | None:
        match part:
            case Project(columns) if not any(aggregates(column.value) for column in columns):
                return replace(part, distinct=True)
            case Aggregate(of=value) if value is not None:
                return replace(part, distinct=True)
            case _:
                return None

    once = replace(plan, pipelines=tuple(_with_result(one, rewritten(one.result, change)) for one in plan.pipelines))
    return None if has_unbounded_paths(with_reachability(once)) else once


def _with_result(pipeline: Pipeline, result: Project) -> Pipeline:
    return replace(pipeline, clauses=(*pipeline.clauses[:-1], result))


def _distances(plan: Plan) -> Plan | None:
    """The plan with each end of a path once, at its distance; None if it uses the paths themselves, or has none."""
    users = [part for part in parts(plan, patterns=True) if isinstance(part, PathPattern | Variable)]
    named = {name for part in users for name in (part.elements if isinstance(part, PathPattern) else (part.name,))}

    def change(part: object) -> EdgePattern | None:
        match part:
            case EdgePattern(path=PathLength(PathKind.TRAILS, 1) as path) if part.variable not in named:
                return replace(part, path=replace(path, kind=PathKind.DISTANCE))
            case _:
                return None

    once = rewritten(plan, change)
    return once if once != plan else None


def _shorter_paths(plan: Plan) -> Plan | None:
    """The plan with paths of at most two steps; None if no path can be shortened."""

    def change(part: object) -> EdgePattern | None:
        match part:
            case EdgePattern(path=path) if path is not None and path.shortest <= _SHORT_PATH:
                longer = path.longest is None or path.longest > _SHORT_PATH
                return replace(part, path=replace(path, longest=_SHORT_PATH)) if longer else None
            case _:
                return None

    shorter = rewritten(plan, change)
    return shorter if shorter != plan else None
