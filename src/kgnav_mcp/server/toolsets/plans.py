"""Plans: queries for a whole pattern of the graph in one call, checked before they run."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Annotated, ClassVar

from pydantic import Field, WithJsonSchema

from kgnav_mcp.navigation.sample_walks import SampleWalk, Walk
from kgnav_mcp.render.plans import CYPHER
from kgnav_mcp.render.table import Answer
from kgnav_mcp.server.arguments import CURSOR_DESCRIPTION, Arguments
from kgnav_mcp.server.prompts import PromptSpec
from kgnav_mcp.server.tool import ToolCall, ToolSpec
from kgnav_mcp.server.toolsets import Toolset
from kgnav_mcp.server.worked_examples import ExampleCall

_FORMS = {"anyOf": [{"type": "string"}, {"type": "object"}, {"type": "array", "items": {"type": "object"}}]}
GivenParams = Annotated[dict[str, object] | None, WithJsonSchema({"type": "object"})]
GivenPlan = Annotated[object, WithJsonSchema(_FORMS)]


class PlanArguments(Arguments):
    """Arguments with a plan."""

    max_characters: ClassVar[int] = 20_000

    plan: GivenPlan = Field(description="Cypher, a pattern or a list of steps.")
    params: GivenParams = Field(default=None, description="Values of $name.")


class RunPlan(PlanArguments):
    """Arguments of `run_plan`."""

    proof: bool = Field(default=False, description="Show the edges behind each row.")
    cursor: str | None = Field(default=None, description=CURSOR_DESCRIPTION)


async def run_plan(call: ToolCall, arguments: RunPlan) -> Answer:
    """Run a plan and answer with its rows."""
    await _import_plan_runner()
    from kgnav_mcp.server import plan_runner  # noqa: PLC0415 - half of a start would be spent on what runs plans

    return await plan_runner.run_plan(call, arguments.plan, arguments.params, arguments.cursor, proof=arguments.proof)


async def check_plan(call: ToolCall, arguments: PlanArguments) -> Answer:
    """Check a plan without running it (GraphRunner's verification, 3.3)."""
    await _import_plan_runner()
    from kgnav_mcp.server import plan_runner  # noqa: PLC0415 - as above

    return await plan_runner.check_plan(call, arguments.plan, arguments.params)


async def _import_plan_runner() -> None:
    """Import what runs plans in a thread: the first time that takes 0.2 s, in which other calls are served."""
    await asyncio.to_thread(import_module, "kgnav_mcp.server.plan_runner")


_RUN = """\
Answer a question over several hops or many entities in one call: joins, counts, negation, paths, rankings. \
`plan` is one of
1. Read-only Cypher: EXISTS { }, COUNT { }, -[:r*1..3]->, shortestPath, UNION, CASE, lists, $params. \
Labels, relations and properties by id or name. {name: "..."} matches any name or alias, {id: "..."} an id. \
Edge properties are qualifiers. A condition on several values holds if one fits (<>, NOT: none); size([] + n.p) counts \
them.
MATCH (f {name: "Up"})<-[:directed]-(p)-[:directed]->(g) WHERE g <> f RETURN p, count(g) AS n ORDER BY n DESC
2. A pattern: {"nodes":{"f":{"name":"Up"},"g":{"label":"Film","is_not":"f","where":{"year":{">=":1990}}}},\
"edges":[{"from":"p","edge":"directed","to":"f"},{"from":"p","edge":"directed","to":"g","as":"r"}],\
"not":[{"from":"p","edge":"born_in","to":"x"}],"return":["g","count(r)"],"order":"-count(r)","limit":10}. Edges \
also take "either":true, "where", "hops":[1,3], "distance", "optional":true, "at_least":2, "as_of":1999.
3. Steps: [{"as":"f","find_node":{"name":"Up"}},{"as":"p","fetch_neighbors":{"from":"f","edge_type":"directed",\
"direction":"incoming"}},{"as":"g","fetch_neighbors":{"from":"p","edge_type":"directed","except":"f"}},\
{"return":["g"]}]; find_node also takes "hint", "node_type", "label", "where"; fetch_neighbors "label", "where", \
"edge_where", "edge_as"; {"as":"c","find_common_nodes":[["p","born_in"],["q","born_in"]]}."""

_EXAMPLE = "MATCH (p:Painter)-[:born_in]->(c {id: 'zundert'}) RETURN p"
_TOOLS = (
    ToolSpec(
        name="run_plan",
        title="Run a plan over the graph",
        description=_RUN,
        arguments=RunPlan,
        run=run_plan,
        tables=(),  # the columns depend on the plan
        example={"plan": _EXAMPLE},
    ),
    ToolSpec(
        name="check_plan",
        title="Check a plan",
        description=(
            "Check a plan of run_plan against the graph without running it: all mistakes at once, with corrections."
        ),
        arguments=PlanArguments,
        run=check_plan,
        tables=((CYPHER,),),
        example={"plan": _EXAMPLE},
    ),
)

_METHOD = """You answer a question with one plan over a knowledge graph, or with few.

1. Read the schema: which labels, which relations between them, which way they lead.
2. Write the whole question as one Cypher pattern for run_plan: start from what the question names, join what it asks
   for, count or sort where it asks how many or which is most.
3. A mistake comes back with what would be right: fix it and run it again. Nothing found? The answer names the first
   part that nothing fits: look at that with search or describe_graph.
4. Walk with search or get_triples only where you cannot say the pattern beforehand."""


def _walk_calls(walk: SampleWalk) -> list[str]:
    """One plan for the whole walk, in each of the three languages."""
    from kgnav_mcp.server import plan_examples  # noqa: PLC0415 - as above

    return plan_examples.walk_calls(walk)


def _example_calls(walk: Walk) -> list[ExampleCall]:
    """One plan for the whole walk."""
    from kgnav_mcp.server import plan_examples  # noqa: PLC0415 - as above

    reason = "The schema has these relations, so that one plan answers the whole question."
    return [ExampleCall(reason, "run_plan", {"plan": plan_examples.walk_plan(walk)}, walk[-1])]


TOOLSET = Toolset(
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
            example_calls=_example_calls,
        ),
    ),
)
