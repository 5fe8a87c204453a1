"""Independent patterns of a plan: their rows are a product, which can be counted without being computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import prod

from kgnav_mcp.model import Count
from kgnav_mcp.navigation.plans.budget import Budget
from kgnav_mcp.navigation.plans.check.schema_names import SchemaNames
from kgnav_mcp.navigation.plans.evaluate.fact_reader import Reader
from kgnav_mcp.navigation.plans.evaluate.patterns import has_specific_edges
from kgnav_mcp.navigation.plans.evaluate.start_nodes import start_of
from kgnav_mcp.navigation.plans.lookups import Lookups
from kgnav_mcp.navigation.plans.pushdown.store_counts import edges_of
from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Clause,
    EdgePattern,
    Match,
    NodePattern,
    Pipeline,
    Plan,
    Project,
)
from kgnav_mcp.plan.walking import aggregates, conjunction, conjuncts, node_patterns, only_counts_rows, variables_of
from kgnav_mcp.port import GraphAdapter


def independent_counts(plan: Plan) -> list[Plan]:
    """For a plan that only counts rows: plans whose counts multiply to its count. Empty if it is not a product."""
    match plan.pipelines:
        case (Pipeline((*matches, Project() as project)),) if not plan.only_exists:
            pass
        case _:
            return []
    patterns = [clause for clause in matches if isinstance(clause, Match) and not clause.optional and not clause.paths]
    never_null = {name for pattern in patterns for name in node_patterns(pattern)}
    never_null |= {edge.variable for pattern in patterns for edge in pattern.edges if edge.path is None}
    if len(patterns) < len(matches) or not only_counts_rows(project, never_null):
        return []
    groups = _separated(patterns)
    return [Plan((Pipeline((*part, project_of_rows(project))),)) for part in groups] if len(groups) > 1 else []


def project_of_rows(project: Project) -> Project:
    """A projection with the number of rows as its only column, named like the first column."""
    count = replace(project.columns[0], value=Aggregate(AggregateFunction.COUNT, None))
    return Project((count,))


def _separated(patterns: Sequence[Match], *, nearly: bool = False) -> list[tuple[Match, ...]]:
    """The patterns in groups that share no variables, no conditions, and no edges that must differ.

    With `nearly`, edges that must differ may be in different groups, so the product has a few rows too many.
    """
    groups: list[set[str]] = []

    def connect(names: set[str] | frozenset[str]) -> None:
        joined = set(names).union(*(group for group in groups if not group.isdisjoint(names)))
        groups[:] = [group for group in groups if group.isdisjoint(names)] + [joined]

    own = {name for pattern in patterns for name in node_patterns(pattern)}
    own |= {edge.variable for pattern in patterns for edge in pattern.edges}
    for pattern in patterns:
        for name in node_patterns(pattern):
            connect({name})
        for edge in pattern.edges:
            connect({edge.source, edge.variable, edge.target})
        for condition in conjuncts(pattern.where):
            used = variables_of(condition) & own
            if not used:
                return []
            connect(used)
        for edge, other in combinations(pattern.edges if pattern.edges_differ and not nearly else (), 2):
            if _may_be_one(edge, other):
                connect({edge.variable, other.variable})
    if len(groups) < 2:
        return [tuple(patterns)]
    found = [tuple(part for pattern in patterns if (part := _within(pattern, group)).nodes) for group in groups]
    return [part for part in found if part]


def _may_be_one(edge: EdgePattern, other: EdgePattern) -> bool:
    """Whether the same edge of the graph could match both, which is not allowed."""
    disjoint = edge.relations and other.relations and set(edge.relations).isdisjoint(other.relations)
    return has_specific_edges(edge) and has_specific_edges(other) and not disjoint


def _within(pattern: Match, group: set[str]) -> Match:
    """The parts of a pattern with these variables."""
    return replace(
        pattern,
        nodes=tuple(node for name, node in node_patterns(pattern).items() if name in group),
        edges=tuple(edge for edge in pattern.edges if edge.variable in group),
        where=conjunction([each for each in conjuncts(pattern.where) if variables_of(each) & group]),
    )


async def refuse_products(graph: GraphAdapter, budget: Budget, clauses: Sequence[Clause], lookups: Lookups) -> None:
    """Refuse a plan that begins with a large product. The sets are counted before any of them is read.

    Raises:
        PlanTooLarge: the product has more rows than the bound.
    """
    patterns: list[Match] = []
    for clause in clauses:
        match clause:
            case Match(optional=False) if not any(
                node_patterns(clause).keys() & node_patterns(each).keys() for each in patterns
            ):
                patterns.append(clause)
            case Project() if _keeps_rows(clause):
                continue
            case _:
                break
    groups = _separated(patterns, nearly=True)
    if len(groups) < 2:
        return
    rows = 1
    for group in groups:
        sizes = await _sizes(graph, group[0], lookups) if len(group) == 1 else None
        if sizes is None:
            return  # the number of its rows is unknown before it is read
        budget.sizes |= sizes
        rows *= prod(size.value for size in sizes.values())
        budget.check(rows)


async def _sizes(
    graph: GraphAdapter, pattern: Match, lookups: Lookups
) -> dict[NodePattern | EdgePattern, Count] | None:
    """The sizes of the sets whose product a pattern is; None if it is no product, or if they must be read."""
    nodes = list(node_patterns(pattern).values())
    if pattern.edges:
        (edge, *other_edges), labelled = pattern.edges, any(node.labels for node in nodes)
        plain = not other_edges and not labelled and len(nodes) == 2 and pattern.where is None
        count = (await edges_of(graph, edge) or await _most_of_one_relation(graph, edge)) if plain else None
        return {edge: count} if count is not None else None
    own = {node.variable for node in nodes}
    conditions = [(variables_of(each) & own, each) for each in conjuncts(pattern.where)]
    starts = [start_of(node, [each for of, each in conditions if of == frozenset((node.variable,))]) for node in nodes]
    if not all(start.whole for start in starts) or any(len(of) != 1 for of, _ in conditions):
        return None
    reader = Reader(graph, Budget(0), lookups)
    return {node: await start.count(reader) for node, start in zip(nodes, starts, strict=True)}


async def _most_of_one_relation(graph: GraphAdapter, edge: EdgePattern) -> Count | None:
    """The number of edges of the largest relation, which an edge of any relation has at least; None for others."""
    if edge.relations or edge.path is not None or edge.source == edge.target:
        return None
    relations = (await SchemaNames.of(graph)).whole.relations
    return Count.at_least(max((facts.count.value for facts in relations), default=0))


def _keeps_rows(project: Project) -> bool:
    """Whether a projection gives exactly one row for each row."""
    changes = project.distinct or project.skip or project.limit is not None or project.where is not None
    return not changes and not any(aggregates(column.value) for column in project.columns)
