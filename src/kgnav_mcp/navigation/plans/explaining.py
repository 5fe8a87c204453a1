"""Explains an empty answer or a count of zero: the first part of the plan that has no match."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from kgnav_mcp.clipping import clipped
from kgnav_mcp.model import PlanPage
from kgnav_mcp.navigation.plans.property_checks import ANY_ROW
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
from kgnav_mcp.plan.walking import conjunction, conjuncts, rewritten, variables_of
from kgnav_mcp.spelling.cypher import write_part

Part = NodePattern | EdgePattern | Expression
_MOST = 12
"""Parts of a plan that are tried one after the other."""
_MOST_TURNED = 4
"""Edges of an empty plan that are tried in the other direction."""
_TEXT = 300
"""Characters of a condition that are shown."""


def is_empty_answer(page: PlanPage) -> bool:
    """Whether an answer has no rows, or a single row of only zero counts, nulls and empty lists."""
    return all(cell in (0, None, ()) for row in page.items for cell in row.cells) and len(page.items) < 2


def nothing_fits(plan: Plan, part: Part) -> str:
    """The sentence about the first part without a match. An edge or node is shown with the conditions on its name."""
    of_pattern = isinstance(part, NodePattern | EdgePattern)
    text = write_part(_with_context(plan, part) if of_pattern else part)
    return f"Nothing fits {'' if of_pattern else 'the condition '}{clipped(text, _TEXT)}."


def _with_context(plan: Plan, part: NodePattern | EdgePattern) -> Match:
    """A part of a plan as a pattern, with the labels of its nodes and the conditions on their ids and names."""
    names = {part.variable} if isinstance(part, NodePattern) else {part.source, part.target}
    for match in (match for pipeline in plan.pipelines for match in pipeline.matches):
        if part in (*match.nodes, *match.edges):
            nodes = tuple(node for node in match.nodes if node.variable in names)
            on_identity = [
                each for each in conjuncts(match.where) if _is_on_identity(each) and variables_of(each) <= names
            ]
            return Match(nodes, () if isinstance(part, NodePattern) else (part,), where=conjunction(on_identity))
    return Match((part,)) if isinstance(part, NodePattern) else Match((), (part,))


async def fits_turned(plan: Plan, has_answer: Callable[[Plan], Awaitable[bool]]) -> str:
    """The sentence about the first edge that gives an empty plan an answer if it is reversed; empty if none does."""
    for edge, other in islice(_reversed(plan), _MOST_TURNED):
        if await has_answer(other):
            return f"The other way round, {clipped(write_part(edge), _TEXT)}, it has an answer."
    return ""


def _reversed(plan: Plan) -> Iterator[tuple[EdgePattern, Plan]]:
    """For each edge with a direction: the reversed edge, and the plan with it."""
    for match in (match for pipeline in plan.pipelines for match in pipeline.matches if not match.optional):
        for edge in match.edges:
            if not edge.either and edge.source != edge.target:
                other = replace(edge, source=edge.target, target=edge.source)
                yield other, rewritten(plan, lambda part, edge=edge, other=other: other if part is edge else None)


async def explained(plan: Plan, any_row: Callable[[Plan], Awaitable[bool]]) -> str:
    """The sentence about the first part with which the plan has no rows. `any_row` runs plans that grow by parts."""
    for part, clauses in islice(_prefixes(plan.pipelines[0].clauses), _MOST):
        if not await any_row(Plan((Pipeline((*clauses, ANY_ROW)),), only_exists=True)):
            return nothing_fits(plan, part)
    return ""


def _prefixes(clauses: Sequence[Clause]) -> Iterator[tuple[Part, Sequence[Clause]]]:
    """The parts of a plan, each with the clauses up to and including it."""
    for place, clause in enumerate(clauses):
        match clause:
            case Match(optional=False):
                yield from ((part, (*clauses[:place], smaller)) for part, smaller in _pattern_prefixes(clause))
            case Project(where=where) if where is not None:
                conditions = conjuncts(where)
                for count, condition in enumerate(conditions, 1):
                    yield condition, (*clauses[:place], replace(clause, where=conjunction(conditions[:count])))
            case _:
                pass


def _pattern_prefixes(match: Match) -> Iterator[tuple[Part, Match]]:
    """Ever larger parts of a pattern: its edges, then its lone nodes, each followed by conditions that it completes.

    A condition on a node's id or name is not a step of its own: it belongs to the part with the node.
    """
    ends = {end for edge in match.edges for end in (edge.source, edge.target)}
    lone_nodes = [node for node in match.nodes if node.variable not in ends]
    own = ends.union(
        (node.variable for node in match.nodes),
        (edge.variable for edge in match.edges),
        (path.variable for path in match.paths),
    )
    pending = [(variables_of(each) & own, each) for each in conjuncts(match.where)]
    bound: set[str] = set()
    applied: list[Expression] = []
    nodes: list[NodePattern] = []
    edges: list[EdgePattern] = []
    for part in (*match.edges, *lone_nodes):
        if isinstance(part, EdgePattern):
            edges.append(part)
            bound |= {part.variable, part.source, part.target}
            nodes += (node for node in match.nodes if node.variable in (part.source, part.target) and node not in nodes)
        else:
            nodes.append(part)
            bound.add(part.variable)
        ready = [each for needed, each in pending if needed <= bound]
        pending = [(needed, each) for needed, each in pending if not needed <= bound]
        applied += filter(_is_on_identity, ready)
        smaller = replace(match, nodes=tuple(nodes), edges=tuple(edges), paths=())
        yield part, replace(smaller, where=conjunction(applied))
        for condition in ready:
            if not _is_on_identity(condition):
                applied.append(condition)
                yield condition, replace(smaller, where=conjunction(applied))
    applied += (each for _, each in pending)
    if pending:
        yield pending[-1][1], replace(match, where=conjunction(applied))


def _is_on_identity(condition: Expression) -> bool:
    """Whether a condition is on a node's id or name."""
    match condition:
        case Compare(Call(Function.ID)) | Compare(Property(_, "name"), Comparison.EQUAL, Constant()):
            return True
        case _:
            return False
