"""Parses, checks and runs plans for the plan tools. Imported by the first call that has a plan."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import cast

from kgnav_mcp.concurrency import gathered
from kgnav_mcp.config import user_cache_folder
from kgnav_mcp.errors import InvalidPlan, PlanTooLarge, StoreError, Unsupported
from kgnav_mcp.languages import ParsedPlan, corrected_json, parse_plan
from kgnav_mcp.languages.cypher import write_cypher
from kgnav_mcp.languages.json_steps import MAX_OMITTED, OmittedMatches, omitted_matches
from kgnav_mcp.languages.parameters import params_of
from kgnav_mcp.model import Count, PlanPage, Stop
from kgnav_mcp.navigation.pages import Cursor
from kgnav_mcp.navigation.plans.budget import Deadline
from kgnav_mcp.navigation.plans.check.checker import CheckedPlan
from kgnav_mcp.navigation.plans.check.estimates import helpful_sizes, sizes_of
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import Plan
from kgnav_mcp.render.plans import CYPHER, duplicates_note, plan_table, sizes_line
from kgnav_mcp.render.table import Answer, row_answer
from kgnav_mcp.render.text import clean
from kgnav_mcp.server.tool import ToolCall

_CORRECT = "Correct it and call again. describe_graph(name) gives the details of a label or a relation."


def runner(call: ToolCall) -> PlanRunner:
    """The runner that checks and runs the plan of a call, both within the graph's time-out."""
    return PlanRunner(call.adapter, progress=call.progress, deadline=Deadline.after(call.graph.timeout))


async def check_written_plan(plans: PlanRunner, written: ParsedPlan) -> CheckedPlan:
    """The checked plan, with names resolved to the graph's own ids.

    Raises:
        InvalidPlan: it cannot run. The error lists every problem.
    """
    checked = await plans.check(written.plan, written.single_node_variables)
    if not checked.problems:
        return checked
    corrected, in_cypher = None, False
    if checked.corrected is not None:
        corrected = corrected_json(written, checked.corrected) if written.source_json is not None else None
        in_cypher = written.source_json is not None and corrected is None
        corrected = corrected or write_cypher(checked.corrected)
    raise InvalidPlan(checked.problems, corrected=corrected, in_cypher=in_cypher, next_step=_CORRECT)


async def _parse_and_check(
    plans: PlanRunner, plan: object, params: Mapping[str, object] | None
) -> tuple[ParsedPlan, CheckedPlan]:
    """The given plan with its parameters, parsed and checked.

    Raises:
        InvalidArgument: a parameter's value has a type that plans do not support.
        InvalidPlan: it cannot run. For a plan with syntax problems the error lists unknown names, too.
    """
    try:
        values = params_of(params)
        # in a thread: the first plan loads the parser for half a second, and a long one takes as long
        written = await asyncio.to_thread(parse_plan, plan, user_cache_folder(), values)
    except InvalidPlan as error:
        if error.plan is None:
            raise
        checked = await plans.check(error.plan)
        if not checked.problems:
            raise
        raise InvalidPlan((*error.problems, *checked.problems), next_step=_CORRECT) from error
    return written, await check_written_plan(plans, written)


async def check_plan(call: ToolCall, plan: object, params: Mapping[str, object] | None) -> Answer:
    """Check a plan without running it (GraphRunner's verification)."""
    _, checked = await _parse_and_check(runner(call), plan, params)
    cypher = write_cypher(checked.plan)
    notes = [*filter(None, (sizes_line(await sizes_of(call.adapter, checked.plan)), *checked.notes))]
    lines = ["valid: run_plan will run it.", f"In the graph's own ids: {cypher}", *notes]
    return row_answer("\n".join(map(clean, lines)), (CYPHER,), (cypher,), notes)


async def run_plan(
    call: ToolCall, plan: object, params: Mapping[str, object] | None, cursor: str | None, *, proof: bool
) -> Answer:
    """Run a plan and answer with its rows."""
    start = call.start(cursor)
    plans = runner(call)
    written, checked = await _parse_and_check(plans, plan, params)
    page, omitted = await run_queued(call, plans, checked.plan, start, steps=written.source_json, proof=proof)
    repeated = (
        duplicates_note(page) if written.source_json is None else ()
    )  # rows of patterns and steps are always distinct
    notes = (*checked.notes, *omitted, *repeated)
    sizes = () if start.offset else await helpful_sizes(call.adapter, checked.plan, page)
    return call.answer(plan_table(page, start.offset, intro=sizes_line(sizes), notes=notes), page.positions)


async def run_queued(
    call: ToolCall,
    plans: PlanRunner,
    plan: Plan,
    start: Cursor,
    *,
    steps: object,
    of_tool: bool = False,
    proof: bool = False,
) -> tuple[PlanPage, list[str]]:
    """A page of a checked plan and, on the first page, the notes on matches that its steps omit; see `omitted_notes`.

    Raises:
        RateLimited: too many plans run on the graph.
    """
    async with call.graph.plan_queue.place(call.graph.timeout):
        return await gathered(
            plans.run(plan, limit=call.limits.row_limit, after=start.after, proof=proof),
            omitted_notes(plans, None if start.offset else steps, of_tool=of_tool),
        )


OMITTED_S = 2.0
"""Time limit in seconds for counting omitted matches. It runs beside the plan and usually takes milliseconds."""


async def omitted_notes(plans: PlanRunner, steps: object, *, of_tool: bool = False) -> list[str]:
    """One sentence for each of these valid steps that omits matches because it gives no direction.

    `of_tool`: the step is a tool call, so the sentence does not name it. Plans in other languages have no such steps.
    """
    if not isinstance(steps, list):
        return []
    omitted = [*omitted_matches(cast("list[object]", steps))]
    counts = await gathered(*(_number_omitted(plans, matches) for matches in omitted))
    notes: list[str] = []
    for matches, count in zip(omitted, counts, strict=True):
        if count is not None and count == Count(0):
            continue
        number = "not counted in time" if count is None else f"{count}"
        kind = "common nodes by incoming edges" if matches.is_common else "incoming matches"
        step = "" if of_tool else f" of step {matches.step}"
        notes.append(
            f'Only outgoing edges{step}; {kind} left out: {number}. With direction "either" they are included.'
        )
    return notes


async def _number_omitted(plans: PlanRunner, omitted: OmittedMatches) -> Count | None:
    """Number of matches that a step omits; None if they were not counted in time."""
    try:
        async with asyncio.timeout(OMITTED_S):
            checked = await plans.check(omitted.count)
            if checked.problems:  # the graph has no such edge that is incoming
                return Count(0)
            page = await plans.run(checked.plan, limit=1)
    except (TimeoutError, PlanTooLarge, StoreError, Unsupported):
        return None  # the answer is valid without it
    (number,) = (cell for row in page.items for cell in row.cells if isinstance(cell, int))
    complete = page.stop is Stop.COMPLETE and number <= MAX_OMITTED
    return Count(number) if complete else Count.at_least(min(number, MAX_OMITTED))
