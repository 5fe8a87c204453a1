"""Why an answer is empty, or counts nothing: the first part of the plan that nothing fits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from kgnav_mcp.clipping import clipped
from kgnav_mcp.model import PlanPage
from kgnav_mcp.navigation.plans.having import ANY_ROW
from kgnav_mcp.plan import (
    Call,
    Clause,
    Compare,
    Comparison,
    Constant,
    EdgePattern,
    Expression,
    Function,
    Match,
    NodePattern,
    Pipeline,
    Plan,
    Project,
    Property,
)
from kgnav_mcp.plan.walking import all_hold, conjuncts, rewritten, variables_of
from kgnav_mcp.spelling.cypher import write_part

Part = NodePattern | EdgePattern | Expression
_MOST = 12
"""Parts of a plan that are asked for one after the other."""
_MOST_TURNED = 4
"""Edges of an empty plan that are tried the other way round."""
_TEXT = 300
"""Characters of a condition that are told."""


def says_nothing(page: PlanPage) -> bool:
    """Whether an answer has no row, or one that only says that there was none: counts of 0 and nulls."""
    return all(cell in (0, None, ()) for row in page.items for cell in row.cells) and len(page.items) < 2


def nothing_fits(plan: Plan, part: Part) -> str:
    """The sentence for the part of a plan that left nothing: an edge or a node, with which nodes are meant."""
    of_pattern = isinstance(part, NodePattern | EdgePattern)
    text = write_part(_in_its_pattern(plan, part) if of_pattern else part)
    return f"Nothing fits {'' if of_pattern else 'the condition '}{clipped(text, _TEXT)}."


def _in_its_pattern(plan: Plan, part: NodePattern | EdgePattern) -> Match:
    """A part of a plan as a pattern of its own, with the labels of its nodes and what says which are meant."""
    names = {part.variable} if isinstance(part, NodePattern) else {part.source, part.target}
    for match in (match for pipeline in plan.pipelines for match in pipeline.matches):
        if part in (*match.nodes, *match.edges):
            nodes = tuple(node for node in match.nodes if node.variable in names)
            meant = [each for each in conjuncts(match.where) if _names_nodes(each) and variables_of(each) <= names]
            return Match(nodes, () if isinstance(part, NodePattern) else (part,), where=all_hold(meant))
    return Match((part,)) if isinstance(part, NodePattern) else Match((), (part,))


async def fits_turned(plan: Plan, has_answer: Callable[[Plan], Awaitable[bool]]) -> str:
    """The sentence for the first edge of an empty plan with which it has an answer the other way round."""
    for edge, other in islice(_turned(plan), _MOST_TURNED):
        if await has_answer(other):
            return f"The other way round, {clipped(write_part(edge), _TEXT)}, it has an answer."
    return ""


def _turned(plan: Plan) -> Iterator[tuple[EdgePattern, Plan]]:
    """A plan with one edge turned, and that edge, for each of its edges that has a direction."""
    for match in (match for pipeline in plan.pipelines for match in pipeline.matches if not match.optional):
        for edge in match.edges:
            if not edge.either and edge.source != edge.target:
                turned = replace(edge, source=edge.target, target=edge.source)
                yield turned, rewritten(plan, lambda part, edge=edge, turned=turned: turned if part is edge else None)


async def explained(plan: Plan, any_row: Callable[[Plan], Awaitable[bool]]) -> str:
    """The sentence for the first part of a plan with which it has no row, as `any_row` tells of smaller plans."""
    for part, clauses in islice(_growing(plan.pipelines[0].clauses), _MOST):
        if not await any_row(Plan((Pipeline((*clauses, ANY_ROW)),), asks=True)):
            return nothing_fits(plan, part)
    return ""


def _growing(clauses: Sequence[Clause]) -> Iterator[tuple[Part, Sequence[Clause]]]:
    """The parts of a plan, each with the clauses up to there."""
    for place, clause in enumerate(clauses):
        match clause:
            case Match(optional=False):
                yield from ((part, (*clauses[:place], smaller)) for part, smaller in _growing_pattern(clause))
            case Project(where=where) if where is not None:
                held = conjuncts(where)
                for count, condition in enumerate(held, 1):
                    yield condition, (*clauses[:place], replace(clause, where=all_hold(held[:count])))
            case _:
                pass


def _growing_pattern(match: Match) -> Iterator[tuple[Part, Match]]:
    """A pattern edge by edge, then node by node, each part before the conditions that it is the last to be asked for.

    Which node is meant is no condition by itself: it belongs to the part that has the node.
    """
    ends = {end for edge in match.edges for end in (edge.source, edge.target)}
    lone = [node for node in match.nodes if node.variable not in ends]
    own = ends.union(
        (node.variable for node in match.nodes),
        (edge.variable for edge in match.edges),
        (path.variable for path in match.paths),
    )
    waiting = [(variables_of(each) & own, each) for each in conjuncts(match.where)]
    known: set[str] = set()
    held: list[Expression] = []
    nodes: list[NodePattern] = []
    edges: list[EdgePattern] = []
    for part in (*match.edges, *lone):
        if isinstance(part, EdgePattern):
            edges.append(part)
            known |= {part.variable, part.source, part.target}
            nodes += (node for node in match.nodes if node.variable in (part.source, part.target) and node not in nodes)
        else:
            nodes.append(part)
            known.add(part.variable)
        ready = [each for needed, each in waiting if needed <= known]
        waiting = [(needed, each) for needed, each in waiting if not needed <= known]
        held += filter(_names_nodes, ready)
        smaller = replace(match, nodes=tuple(nodes), edges=tuple(edges), paths=())
        yield part, replace(smaller, where=all_hold(held))
        for condition in ready:
            if not _names_nodes(condition):
                held.append(condition)
                yield condition, replace(smaller, where=all_hold(held))
    held += (each for _, each in waiting)
    if waiting:
        yield waiting[-1][1], replace(match, where=all_hold(held))


def _names_nodes(condition: Expression) -> bool:
    """Whether it says by their ids, or by a name, which nodes are meant."""
    match condition:
        case Compare(Call(Function.ID)) | Compare(Property(_, "name"), Comparison.EQUAL, Constant()):
            return True
        case _:
            return False
