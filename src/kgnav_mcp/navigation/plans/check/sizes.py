"""Sizes of the labels and relations that a plan names, from the schema.

They show which part of a plan is large before it runs, and do not depend on the engine that runs it.
"""

from __future__ import annotations

from collections.abc import Iterator

from kgnav_mcp.languages.cypher import write_part, write_relations
from kgnav_mcp.model import Certainty, Count, PartSize, PlanPage, Stop
from kgnav_mcp.navigation.plans.check.schema_names import SchemaNames
from kgnav_mcp.navigation.plans.explain.empty_answers import is_empty_answer
from kgnav_mcp.plan import UNNAMED, EdgePattern, NodePattern, Plan
from kgnav_mcp.plan.walking import parts
from kgnav_mcp.port import GraphAdapter

_ANY = ""
"""Stands for any relation. No relation has this id."""


async def sizes_of(graph: GraphAdapter, plan: Plan) -> tuple[PartSize, ...]:
    """The size of each label and relation of a checked plan, in the plan's order, if the schema counts it."""
    vocabulary = await SchemaNames.of(graph)
    edges = {facts.relation.id: facts.count for facts in vocabulary.whole.relations}
    edges[_ANY] = Count.sum(edges.values())
    labels = {facts.id: facts.count for facts in vocabulary.whole.labels}
    named = dict.fromkeys(_names(plan))
    found = (
        (write_relations([name]) if name else "any relation", edges.get(name))
        if of_edge
        else (write_part(NodePattern(UNNAMED, ((name,),))), labels.get(name))
        for name, of_edge in named
    )
    return tuple(
        PartSize(part, count) for part, count in found if count is not None and count.certainty is not Certainty.UNKNOWN
    )


async def sizes_to_tell(graph: GraphAdapter, plan: Plan, page: PlanPage) -> tuple[PartSize, ...]:
    """The sizes if they help: for an answer that is empty, a count of zero, or incomplete."""
    return await sizes_of(graph, plan) if is_empty_answer(page) or page.stop is not Stop.COMPLETE else ()


def _names(plan: Plan) -> Iterator[tuple[str, bool]]:
    """The labels and relations of a plan's patterns, also any relation, each with whether it is a relation."""
    for part in parts(plan, patterns=True):
        match part:
            case NodePattern(labels=groups):
                yield from ((name, False) for group in groups for name in group)
            case EdgePattern(relations=relations):
                yield from ((name, True) for name in relations or (_ANY,))
            case _:
                pass
