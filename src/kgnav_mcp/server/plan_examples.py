"""Writes walks over a graph as plans, for prompts and worked examples."""

from __future__ import annotations

import json

from kgnav_mcp.languages.cypher import quoted, write_part
from kgnav_mcp.model import Direction, Literal
from kgnav_mcp.navigation.sample_walks import SampleWalk, Walk
from kgnav_mcp.plan import Constant


def walk_calls(walk: SampleWalk) -> list[str]:
    """One plan for the whole walk, in each of the three languages."""
    last = walk.steps[-1]
    value = isinstance(last.tail, Literal)
    hops = walk.steps[:-1] if value else walk.steps
    names = [walk.start.id, *(f"x{n}" for n in range(1, len(hops) + 1))]
    end = names[-1] if hops else "x0"
    result = f"{end}.{quoted(last.relation.id)}" if value else end
    arrows = "".join(f"-[:{quoted(hop.relation.id)}]->({name})" for hop, name in zip(hops, names[1:], strict=True))
    cypher = f"MATCH (x0 {{id: {write_part(Constant(walk.start.id))}}}){arrows} RETURN {result}"
    sets = ["x0", *names[1:]]
    edges = [
        {"from": source, "edge": hop.relation.id, "to": target}
        for source, hop, target in zip(sets, hops, sets[1:], strict=False)
    ]
    returned = f"{end}.{last.relation.id}" if value else end
    pattern = {"nodes": {"x0": {"id": walk.start.id}}, "edges": edges, "return": [returned]}
    hops_out = ({"from": edge["from"], "edge_type": edge["edge"], "direction": "outgoing"} for edge in edges)
    hop_steps = [{"as": edge["to"], "fetch_neighbors": hop} for edge, hop in zip(edges, hops_out, strict=True)]
    steps = [{"as": "x0", "find_node": {"id": walk.start.id}}, *hop_steps, {"return": [returned]}]
    return [f"run_plan(plan={json.dumps(plan, ensure_ascii=False)})" for plan in (cypher, pattern, steps)]


def walk_plan(walk: Walk) -> str:
    """A worked walk as one Cypher plan that returns its ends."""
    text = f"MATCH (x0 {{id: {write_part(Constant(walk[0].entity.id))}}})"
    for number, step in enumerate(walk, 1):
        edge = f"[:{quoted(step.relation.id)}]"
        arrow = f"-{edge}->" if step.direction is Direction.OUTGOING else f"<-{edge}-"
        text += f"{arrow}(x{number})"
    return f"{text} RETURN DISTINCT x{len(walk)}"
