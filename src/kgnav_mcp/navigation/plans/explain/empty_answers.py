"""Explains an empty answer: by the first part of the plan without a match, or by its named nodes and their edges."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from kgnav_mcp.clipping import clipped
from kgnav_mcp.languages.cypher import write_part
from kgnav_mcp.model import Direction, Entity, PlanPage, RelationFacts, Stop
from kgnav_mcp.navigation.plans.check.properties import ANY_ROW
from kgnav_mcp.navigation.plans.lookups import Lookups
from kgnav_mcp.navigation.relation_lists import hops_of
from kgnav_mcp.plan import (
    NAME,
    Call,
    Clause,
    Compare,
    Comparison,
    ComparisonChain,
    Constant,
    During,
    EdgePattern,
    Expression,
    Function,
    Joined,
    Match,
    NodePattern,
    Pipeline,
    Plan,
    Project,
    Property,
)
from kgnav_mcp.plan.walking import aggregates, conjunction, conjuncts, id_condition, parts, rewritten, variables_of
from kgnav_mcp.port import FarEndKind, GraphAdapter

Part = NodePattern | EdgePattern | Expression
_MAX = 12
"""Parts of a plan that are tried one after the other."""
_MAX_TURNED = 4
"""Edges of an empty plan that are tried in the other direction."""
_TEXT = 300
"""Characters of a condition that are shown."""


def is_empty_answer(page: PlanPage) -> bool:
    """Whether an answer has no rows, or a single row of only zero counts, nulls and empty lists."""
    return all(cell in (0, None, ()) for row in page.items for cell in row.cells) and len(page.items) < 2


def is_zero_count(page: PlanPage) -> bool:
    """Whether an answer is a single row with a count of zero, which is explained only if the plan is the reason."""
    return is_empty_answer(page) and any(type(cell) is int for row in page.items for cell in row.cells)


def no_match_note(plan: Plan, part: Part) -> str:
    """The sentence about the first part without a match. An edge or node is shown with the conditions on its name."""
    of_pattern = isinstance(part, NodePattern | EdgePattern)
    text = write_part(_with_context(plan, part) if of_pattern else part)
    return f"Nothing matches {'' if of_pattern else 'the condition '}{clipped(text, _TEXT)}."


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


async def reversed_edge_note(plan: Plan, has_answer: Callable[[Plan], Awaitable[bool]]) -> str:
    """The sentence about the first edge that gives an empty plan an answer if it is reversed; empty if none does."""
    for edge, other in islice(_reversed(plan), _MAX_TURNED):
        if await has_answer(other):
            return f"Reversed, {clipped(write_part(edge), _TEXT)}, it has an answer."
    return ""


def _reversed(plan: Plan) -> Iterator[tuple[EdgePattern, Plan]]:
    """For each edge with a direction: the reversed edge, and the plan with it."""
    for match in (match for pipeline in plan.pipelines for match in pipeline.matches if not match.optional):
        for edge in match.edges:
            if not edge.either and edge.source != edge.target:
                other = replace(edge, source=edge.target, target=edge.source)
                yield other, rewritten(plan, lambda part, edge=edge, other=other: other if part is edge else None)


async def empty_answer_note(plan: Plan, any_row: Callable[[Plan], Awaitable[bool]]) -> str:
    """The sentence about the first part with which the plan has no rows. `any_row` runs plans that grow by parts."""
    part = await _first_without_rows(_prefixes(plan.pipelines[0].clauses), any_row)
    return "" if part is None else no_match_note(plan, part)


async def zero_count_note(plan: Plan, any_row: Callable[[Plan], Awaitable[bool]]) -> str:
    """The sentence about a comparison because of which a plan counts zero; empty if the graph alone is the reason.

    That is a comparison with a constant that no node or edge of its pattern meets, whatever else the plan asks of them.
    A comparison of several parts of the plan cannot be tried alone: it counts if the plan has rows without it.
    """
    clauses = plan.pipelines[0].clauses
    part = await _first_without_rows(_comparisons_alone(clauses), any_row)
    if part is None and (joint := list(_joint_comparisons(clauses))):
        first = await _first_without_rows(_prefixes(clauses), any_row)
        part = first if first in joint else None
    return "" if part is None else no_match_note(plan, part)


async def _first_without_rows(
    smaller_plans: Iterator[tuple[Part, Sequence[Clause]]], any_row: Callable[[Plan], Awaitable[bool]]
) -> Part | None:
    """The part of the first of these plans that has no rows; None if each of the first few has some."""
    for part, clauses in islice(smaller_plans, _MAX):
        if not await any_row(Plan((Pipeline((*clauses, ANY_ROW)),), only_exists=True)):
            return part
    return None


def _comparisons_alone(clauses: Sequence[Clause]) -> Iterator[tuple[Part, Sequence[Clause]]]:
    """The comparisons with constants of one node or edge, each with the pattern of that node or edge alone.

    The part of a comparison with an id or a name is the node that it selects.
    """
    for match in _required_matches(clauses):
        for condition in filter(_is_comparison, conjuncts(match.where)):
            alone = _pattern_of_one(match, variables_of(condition))
            if alone is not None and any(isinstance(part, Constant) for part in parts(condition)):
                on_identity = not alone.edges and _is_on_identity(condition)
                yield alone.nodes[0] if on_identity else condition, (replace(alone, where=condition),)


def _joint_comparisons(clauses: Sequence[Clause]) -> Iterator[Expression]:
    """The comparisons that cannot be tried alone: of several variables, or of columns that are no counts or sums."""
    for match in _required_matches(clauses):
        comparisons = filter(_is_comparison, conjuncts(match.where))
        yield from (each for each in comparisons if _pattern_of_one(match, variables_of(each)) is None)
    aggregated: set[str] = set()
    for project in (clause for clause in clauses if isinstance(clause, Project)):
        columns = project.columns
        aggregated = {one.name for one in columns if aggregates(one.value) or variables_of(one.value) & aggregated}
        comparisons = filter(_is_comparison, conjuncts(project.where))
        yield from (each for each in comparisons if not variables_of(each) & aggregated)


def _required_matches(clauses: Sequence[Clause]) -> Iterator[Match]:
    return (clause for clause in clauses if isinstance(clause, Match) and not clause.optional)


def _is_comparison(condition: Expression) -> bool:
    """Whether a condition selects by values. One that excludes values has no match because of what the graph has."""
    match condition:
        case Compare(_, comparison):
            return comparison is not Comparison.UNEQUAL
        case Joined(_, conditions):
            return all(map(_is_comparison, conditions))
        case _:
            return isinstance(condition, ComparisonChain | During)


def _pattern_of_one(match: Match, variables: frozenset[str]) -> Match | None:
    """The pattern of the only node, or of the only edge with its ends, that has these variables; None if none has."""
    edges = tuple(edge for edge in match.edges if edge.variable in variables)
    ends = {end for edge in edges for end in (edge.source, edge.target)}
    nodes = tuple(node for node in match.nodes if node.variable in ends | variables)
    is_edge = len(edges) == 1 and variables <= {edges[0].variable, *ends}
    is_node = not edges and len(nodes) == 1 and variables <= {nodes[0].variable}
    return Match(nodes, edges) if is_edge or is_node else None


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


_NODES = 3
"""Named nodes of a plan that are looked at."""
_SHOWN = 5
"""Entities of one name, and relations of theirs, that are shown."""
_RELATIONS = 1_000
"""Relations of named nodes that are read."""
_NAME_LIMIT = 100
"""Characters of a name that are shown."""


@dataclass(frozen=True, slots=True)
class _Named:
    """A node of a pattern that is selected by ids or by a name."""

    variable: str
    match: Match
    ids: tuple[str, ...] = ()
    name: str | None = None


async def named_nodes_note(graph: GraphAdapter, lookups: Lookups, plan: Plan) -> str:
    """The named nodes without the edges that the plan needs, and other nodes with a similar name."""
    found = [await _about(graph, lookups, named) for named in islice(_named(plan), _NODES)]
    return " ".join(dict.fromkeys(filter(None, found)))


def _named(plan: Plan) -> Iterator[_Named]:
    for match in (match for pipeline in plan.pipelines for match in pipeline.matches if not match.optional):
        for condition in conjuncts(match.where):
            ids = id_condition(condition)
            if ids is not None and 0 < len(ids[1]) <= _SHOWN:
                yield _Named(ids[0], match, ids=ids[1])
            match condition:
                case Compare(Property(variable, name), Comparison.EQUAL, Constant(str() as text)) if name == NAME:
                    yield _Named(variable, match, name=text)
                case _:
                    pass


async def _about(graph: GraphAdapter, lookups: Lookups, named: _Named) -> str:
    entities, others = await _same_names(lookups, named)
    edges = [edge for edge in named.match.edges if edge.relations and named.variable in (edge.source, edge.target)]
    missing_edges = (
        await _missing_edges(graph, entities, [_wanted(edge, named.variable) for edge in edges]) if entities else ""
    )
    if not entities or not others or (edges and not missing_edges):
        return missing_edges
    alike = ", ".join(dict.fromkeys(one.id for one in others[:_SHOWN]))
    return f"{missing_edges} In another letter case: {clipped(alike, _NAME_LIMIT)}.".lstrip()


async def _missing_edges(
    graph: GraphAdapter, entities: Sequence[Entity], wanted: Sequence[tuple[Sequence[str], Direction | None]]
) -> str:
    """The sentence about the edges that entities lack, with those that they have.

    Empty if they lack none, or if the store does not list all.
    """
    if not wanted:
        return ""
    ids = [one.id for one in entities]
    page = await graph.relations(ids, None, hops=hops_of(graph), far_end_kind=FarEndKind.ENTITY, limit=_RELATIONS)
    missing = [_edge_text(*each) for each in wanted if not _has(page.items, *each)]
    if not missing or page.stop is not Stop.COMPLETE:
        return ""
    largest = sorted(page.items, key=lambda facts: -facts.count.value)
    there = ", ".join(f"{_with_name(facts)} ({facts.count})" for facts in largest[:_SHOWN])
    more = f" and {len(largest) - _SHOWN:,} more" if len(largest) > _SHOWN else ""
    who = clipped(", ".join(one.label or one.id for one in entities), _NAME_LIMIT)
    return f"{who} has no {' and no '.join(missing)}, {f'but {there}{more}' if there else 'nor any other edge'}."


async def _same_names(lookups: Lookups, named: _Named) -> tuple[Sequence[Entity], Sequence[Entity]]:
    """The entities of a named node, and others whose names differ from theirs in letter case only."""
    by_id = [*(await lookups.by_id(named.ids)).values()]
    names = [one.label for one in by_id if one.label is not None] if named.name is None else [named.name]
    pages = await lookups.by_name(list(dict.fromkeys(names)))
    called = [(one.entity, one.name == name) for name, page in pages.items() for one in page.items]
    entities = by_id if named.name is None else [entity for entity, exactly in called if exactly][:_SHOWN]
    known = {one.id for one in entities}
    return entities, [entity for entity, exactly in called if not exactly and entity.id not in known]


def _with_name(facts: RelationFacts) -> str:
    """A relation with its direction, and with its name unless its id has it."""
    return f"{facts.direction} {facts.relation.id} {clipped(facts.relation.name, _NAME_LIMIT)}".rstrip()


def _wanted(edge: EdgePattern, variable: str) -> tuple[Sequence[str], Direction | None]:
    """The relations of an edge, and the direction in which they are asked of a node; None for either."""
    if edge.either or edge.source == edge.target:
        return edge.relations, None
    return edge.relations, Direction.OUTGOING if edge.source == variable else Direction.INCOMING


def _has(facts: Iterable[RelationFacts], relations: Sequence[str], side: Direction | None) -> bool:
    return any(one.relation.id in relations and side in {None, one.direction} for one in facts)


def _edge_text(relations: Sequence[str], side: Direction | None) -> str:
    return f"{side} {'|'.join(relations)}" if side is not None else "|".join(relations)
