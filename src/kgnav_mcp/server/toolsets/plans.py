"""Plans: queries for a whole pattern of the graph in one call, checked before they run."""

from __future__ import annotations

import json
from typing import Annotated, ClassVar

from pydantic import Field, WithJsonSchema

from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.model import Literal
from kgnav_mcp.navigation.plans.checking import CheckedPlan
from kgnav_mcp.navigation.plans.running import PlanRunner
from kgnav_mcp.navigation.plans.sizes import sizes_of, sizes_to_tell
from kgnav_mcp.navigation.sampling import SampleWalk
from kgnav_mcp.plan import Constant
from kgnav_mcp.render.columns import Column
from kgnav_mcp.render.plans import duplicates_note, plan_table, sizes_line
from kgnav_mcp.render.table import Answer, row_answer
from kgnav_mcp.render.text import clean
from kgnav_mcp.server.arguments import Arguments
from kgnav_mcp.server.call import ToolCall
from kgnav_mcp.server.prompts import PromptSpec
from kgnav_mcp.server.tool import ToolSpec
from kgnav_mcp.server.toolset import Toolset
from kgnav_mcp.server.toolsets.descriptions import CURSOR
from kgnav_mcp.spelling import ParsedPlan, parse_plan
from kgnav_mcp.spelling.correcting import corrected_json
from kgnav_mcp.spelling.cypher import quoted, write_cypher, write_part

_FORMS = {"anyOf": [{"type": "string"}, {"type": "object"}, {"type": "array", "items": {"type": "object"}}]}
_CYPHER = Column("cypher")
_MEND = "Mend it and call again. describe_graph(name) shows what is around a label or a relation."
GivenPlan = Annotated[object, WithJsonSchema(_FORMS)]


class PlanArguments(Arguments):
    """Arguments with a plan."""

    max_characters: ClassVar[int] = 20_000

    plan: GivenPlan = Field(description="Cypher text, a pattern object, or a list of steps.")


class RunPlan(PlanArguments):
    """Arguments of `run_plan`."""

    proof: bool = Field(default=False, description="Give each row the edges that it rests on.")
    cursor: str | None = Field(default=None, description=CURSOR)


def runner(call: ToolCall) -> PlanRunner:
    """What checks the plan of a call, and runs it."""
    return PlanRunner(call.adapter, progress=call.progress)


async def check_written_plan(plans: PlanRunner, written: ParsedPlan) -> CheckedPlan:
    """The checked plan, with names resolved to the graph's own ids.

    Raises:
        InvalidPlan: it cannot run. The error lists every problem.
    """
    found = await plans.check(written.plan, written.single_node_variables)
    if not found.problems:
        return found
    mended, in_cypher = None, False
    if found.mended is not None:
        mended = corrected_json(written, found.mended) if written.source_json is not None else None
        in_cypher = written.source_json is not None and mended is None
        mended = mended or write_cypher(found.mended)
    raise InvalidPlan(found.problems, mended=mended, in_cypher=in_cypher, next_step=_MEND)


async def _parse_and_check(plans: PlanRunner, given: object) -> tuple[ParsedPlan, CheckedPlan]:
    """The given plan as parsed, and as checked.

    Raises:
        InvalidPlan: it cannot run. For a plan with syntax problems the error lists unknown names, too.
    """
    try:
        written = parse_plan(given)
    except InvalidPlan as error:
        if error.plan is None:
            raise
        found = await plans.check(error.plan)
        if not found.problems:
            raise
        raise InvalidPlan((*error.problems, *found.problems), next_step=_MEND) from error
    return written, await check_written_plan(plans, written)


async def check_plan(call: ToolCall, given: PlanArguments) -> Answer:
    """Check a plan without running it (GraphRunner's verification)."""
    _, found = await _parse_and_check(runner(call), given.plan)
    cypher = write_cypher(found.plan)
    notes = [*filter(None, (sizes_line(await sizes_of(call.adapter, found.plan)), *found.notes))]
    lines = ["valid: run_plan will run it.", f"In the graph's own ids: {cypher}", *notes]
    return row_answer("\n".join(map(clean, lines)), (_CYPHER,), (cypher,), notes)


async def run_plan(call: ToolCall, given: RunPlan) -> Answer:
    """Run a plan and answer with its rows."""
    start = call.start(given.cursor)
    plans = runner(call)
    written, found = await _parse_and_check(plans, given.plan)
    page = await plans.run(found.plan, limit=call.limits.row_limit, after=start.after, proof=given.proof)
    repeated = (
        duplicates_note(page) if written.source_json is None else ()
    )  # rows of patterns and steps are always distinct
    notes = (*found.notes, *repeated)
    sizes = () if start.offset else await sizes_to_tell(call.adapter, found.plan, page)
    return call.answer(plan_table(page, start.offset, intro=sizes_line(sizes), notes=notes), page.positions)


_RUN = """\
Answer a question about many nodes, or over several hops, in one call: joins, counts, negation, paths, top ten. It is \
checked first: a mistake comes back with what would be right. `plan` is one of
1. Cypher, reading clauses only, on any graph: MATCH, OPTIONAL MATCH, WHERE (NOT, IN, CONTAINS, EXISTS { }, \
COUNT { }), -[:r*1..3]->, shortestPath, WITH, UNION, RETURN DISTINCT, count sum avg min max collect, ORDER BY, SKIP, \
LIMIT. Labels, relations and properties by id or name, in backticks where they have blanks. {name: "..."} is any name \
or alias, {id: "..."} an id as printed. An edge's properties are its qualifiers; compare text with text, numbers with \
numbers.
   MATCH (f {name: "Up"})<-[:directed]-(p)-[:directed]->(g) WHERE g <> f RETURN p, count(g) AS n ORDER BY n DESC
2. A pattern: {"nodes": {"f": {"name": "Up"}, "g": {"label": "Film", "is_not": "f", "where": {"year": {">=": 1990}}}}, \
"edges": [{"from": "p", "edge": "directed", "to": "f"}, {"from": "p", "edge": "directed", "to": "g", "as": "r"}], \
"not": [{"from": "p", "edge": "born_in", "to": "x"}], "return": ["g", "count(r)"], "order": "-count(r)", "limit": 10}. \
Edges lie as the graph stores them; an edge takes "either": true, "where", "hops": [1, 3], "distance": [1, 2], \
"optional": true, "at_least": 2 (its far end is only counted), "as_of": 1999. Each edge of "not" is denied by \
itself; several together are a list in it: "not": [[e1, e2]]. A row is one choice for each variable returned or \
counted; rows are distinct.
3. Steps: [{"as": "f", "find_node": {"name": "Up"}} (or {"label": "Film", "where": {...}}), {"as": "p", \
"fetch_neighbors": {"from": "f", "edge_type": "directed", "direction": "incoming"}}, {"as": "g", "fetch_neighbors": \
{"from": "p", "edge_type": "directed", "except": "f"}}, {"return": ["g"]}]; also "label" and "where" of the neighbors, \
"edge_where" of their edges, "edge_as": "r" to return "count(r)"; {"find_common_nodes": [["p", "born_in"], \
["q", "born_in"]]}. A direction is outgoing (when left out), incoming or either. Every step is a set, and all must \
hold together; "except" leaves out a whole set.
An answer that is empty or cut says how large each label and relation of the plan is."""

_TOOLS = (
    ToolSpec(
        name="run_plan",
        title="Run a plan over the graph",
        description=_RUN,
        arguments=RunPlan,
        run=run_plan,
        tables=(),  # the columns depend on the plan
    ),
    ToolSpec(
        name="check_plan",
        title="Check a plan",
        description=(
            "Check a plan (as run_plan takes it) against the graph without running it: every wrong name, direction and "
            "type of value at once, each with what would be right."
        ),
        arguments=PlanArguments,
        run=check_plan,
        tables=((_CYPHER,),),
    ),
)

_METHOD = """You answer a question with one plan over a knowledge graph, or with few.

1. Read the schema: which labels, which relations between them, which way they lead.
2. Write the whole question as one Cypher pattern for run_plan: start from what the question names, join what it asks
   for, count or sort where it asks how many or which is most.
3. A mistake comes back with what would be right: mend it and run it again. Nothing found? The answer names the first
   part that nothing fits: look at that with search or describe_graph.
4. Walk with search or get_triples only where you cannot say the pattern beforehand."""


def _walk_calls(walk: SampleWalk) -> list[str]:
    """One plan for the whole walk, in each of the three languages."""
    last = walk.steps[-1]
    value = isinstance(last.tail, Literal)
    hops = walk.steps[:-1] if value else walk.steps
    names = [walk.start.id, *(f"x{n}" for n in range(1, len(hops) + 1))]
    end = names[-1] if hops else "x0"
    wanted = f"{end}.{quoted(last.relation.id)}" if value else end
    arrows = "".join(f"-[:{quoted(hop.relation.id)}]->({name})" for hop, name in zip(hops, names[1:], strict=True))
    cypher = f"MATCH (x0 {{id: {write_part(Constant(walk.start.id))}}}){arrows} RETURN {wanted}"
    sets = ["x0", *names[1:]]
    edges = [
        {"from": source, "edge": hop.relation.id, "to": target}
        for source, hop, target in zip(sets, hops, sets[1:], strict=False)
    ]
    returned = f"{end}.{last.relation.id}" if value else end
    pattern = {"nodes": {"x0": {"id": walk.start.id}}, "edges": edges, "return": [returned]}
    hops_out = ({"from": one["from"], "edge_type": one["edge"], "direction": "outgoing"} for one in edges)
    hop_steps = [{"as": one["to"], "fetch_neighbors": hop} for one, hop in zip(edges, hops_out, strict=True)]
    steps = [{"as": "x0", "find_node": {"id": walk.start.id}}, *hop_steps, {"return": [returned]}]
    return [f"run_plan(plan={json.dumps(plan, ensure_ascii=False)})" for plan in (cypher, pattern, steps)]


TOOLSET = Toolset(
    name="plans",
    title="Plans (GraphRunner)",
    instructions=(
        "Plan: where the question fixes a pattern (several hops, many entities, how many, which most, not), "
        "run_plan(plan) answers it in one call, in Cypher on any graph; walk where you must look first."
    ),
    tools=_TOOLS,
    prompts=(
        PromptSpec(
            name="graphrunner",
            title="GraphRunner: a whole plan, checked, then run",
            description="Answer a question with a plan over the graph instead of one entity a call.",
            method=_METHOD,
            example_lines=_walk_calls,
        ),
    ),
)
