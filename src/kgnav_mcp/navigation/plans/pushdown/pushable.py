"""Selects what can be pushed down to the store: patterns and conditions that `PatternQuery` allows, and values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise

from kgnav_mcp.navigation.plans.evaluate.patterns import merged
from kgnav_mcp.navigation.plans.evaluate.required_columns import RequiredColumns
from kgnav_mcp.plan import (
    Compare,
    Comparison,
    ComparisonChain,
    Connective,
    Constant,
    EdgePattern,
    Exists,
    Expression,
    HasLabel,
    IsNull,
    Joined,
    ListOf,
    Match,
    NodePattern,
    Not,
    PathKind,
    Property,
    Variable,
)
from kgnav_mcp.plan.walking import conjuncts, id_condition, parts, variables_of
from kgnav_mcp.port.pattern_queries import (
    PatternQuery,
    QualifierCondition,
    number_condition,
    qualifier_condition,
)

_CHAIN = 4
"""Edges of the chain that stands for a path without an upper bound."""
_PROPERTIES = 4
"""Properties of nodes that are read with the matches of a pattern at most."""
Conditions = tuple[Expression, ...]
_SIMPLE = (Joined, Not, Compare, ComparisonChain, IsNull, HasLabel, Constant, ListOf, Variable, Property)
"""The expressions of conditions that every store has."""


def is_plain(match: Match, given: Collection[str], qualifiers: Sequence[QualifierCondition] = ()) -> bool:
    """Whether a pattern is connected by its edges and the given nodes, or is a single node with a label.

    A disconnected pattern would be a product of whole sets. `qualifiers` connect an edge with a node, too.
    """
    variables = [edge.variable for edge in match.edges]
    if match.paths or len(set(variables)) < len(variables) or not all(map(_is_edge_or_reachability, match.edges)):
        return False
    nodes = merged(match)
    if not match.edges:
        return len(nodes) == 1 and not any(name in given or not node.labels for name, node in nodes.items())
    if all(edge.path for edge in match.edges) and not _is_anchored(match, given):
        return False
    ties = [{edge.source, edge.target} for edge in match.edges]
    for edge, tie in zip(match.edges, ties, strict=True):
        tie |= {one.node for one in qualifiers if one.owned.owner == edge.variable and one.node is not None}
    return _joined(nodes, given, ties) >= nodes.keys()


def is_connected(match: Match, given: Collection[str]) -> bool:
    """Whether a pattern is connected by its edges and the given nodes, or is a single node; and its edges are its own.

    A disconnected pattern would be a product of whole sets.
    """
    variables = [edge.variable for edge in match.edges]
    if len(set(variables)) < len(variables) or any(name in given for name in (*variables, *_path_variables(match))):
        return False
    nodes = merged(match)
    if not match.edges:
        return len(nodes) == 1 and not any(name in given for name in nodes)
    return _joined(nodes, given, [{edge.source, edge.target} for edge in match.edges]) >= nodes.keys()


def _path_variables(match: Match) -> tuple[str, ...]:
    return tuple(path.variable for path in match.paths)


def _joined(nodes: Collection[str], given: Collection[str], ties: Sequence[Collection[str]]) -> set[str]:
    """The nodes that ties connect with the given ones, or else with the first tie."""
    joined = {name for name in nodes if name in given} or set(ties[0])
    for _ in ties:
        for tie in ties:
            if not joined.isdisjoint(tie):
                joined.update(tie)
    return joined


def splits(match: Match, outer: frozenset[str], values: frozenset[str]) -> list[tuple[Conditions, Conditions]]:
    """Ways to split the conditions of a pattern into those for a store that runs plans and the others, best first.

    The store gets all conditions, or those that every store has, or those on ids and labels. `outer` are the variables
    of the rows around the pattern, and `values` those of them that are no nodes, which the store does not know.
    """
    every = conjuncts(match.where)
    own = tuple(one for one in every if variables_of(one).isdisjoint(values))
    simple = tuple(one for one in own if all(isinstance(part, _SIMPLE) for part in parts(one, patterns=True)))
    of_nodes, _ = split(match, (frozenset(merged(match)) | outer) - values, values=False)
    ways = dict.fromkeys((own, simple, of_nodes))
    return [(pushed, tuple(one for one in every if one not in pushed)) for pushed in ways]


def qualifiers_asked(match: Match) -> tuple[QualifierCondition, ...]:
    """The conditions that a property of an edge, not of a path, equals a constant or a node's id."""
    edges = {edge.variable for edge in match.edges if edge.path is None}
    found = (qualifier_condition(condition) for condition in conjuncts(match.where))
    return tuple(one for one in found if one is not None and one.owned.owner in edges)


def _is_anchored(match: Match, given: Collection[str]) -> bool:
    """Whether an id, a label or a given node restricts an end of the paths: otherwise every node reaches itself."""
    ids = any(id_condition(condition) for condition in conjuncts(match.where))
    return ids or any(node.labels or node.variable in given for node in match.nodes)


def _is_edge_or_reachability(edge: EdgePattern) -> bool:
    """Whether it is a single edge, or a path of unbounded length of which only the ends are wanted."""
    return edge.path is None or (edge.path.kind is PathKind.REACHABLE and edge.path.longest is None)


def split(match: Match, known: frozenset[str], *, values: bool) -> tuple[Conditions, Conditions]:
    """The conditions that are pushed down to the store, with `values` also comparisons of values; and the others."""
    conditions = conjuncts(match.where)
    pushed = tuple(one for one in conditions if _can_push(one, known, values=values))
    return pushed, tuple(one for one in conditions if one not in pushed)


def _can_push(condition: Expression, known: frozenset[str], *, values: bool) -> bool:
    """Whether `PatternQuery` allows a condition, and its nodes are known.

    A comparison with a missing value is not true, and neither is its negation: so NOT of a comparison is not allowed.
    """
    match condition:
        case Joined(Connective.AND | Connective.OR, parts):
            return all(_can_push(part, known, values=values) for part in parts)
        case Not(opposite):
            return _can_push(opposite, known, values=values and isinstance(opposite, Exists))
        case Compare(Variable(one), Comparison.EQUAL | Comparison.UNEQUAL, Variable(other)):
            return {one, other} <= known
        case HasLabel(variable):
            return variable in known
        case Exists(match):
            edges = {edge.variable for edge in match.edges}
            inner = known.union(merged(match))
            conditions = conjuncts(match.where)
            plain = is_plain(match, known) and not edges & known
            return plain and all(_can_push(one, inner, values=values) for one in conditions)
        case _:
            return _is_of_node(condition, known, values=values)


def _is_of_node(condition: Expression, known: frozenset[str], *, values: bool) -> bool:
    ids, number = id_condition(condition), number_condition(condition) if values else None
    return ids[0] in known if ids is not None else number is not None and number[0].owner in known


def is_open(question: PatternQuery) -> bool:
    """Whether pairs of nodes are wanted of a pattern of several edges that begins with no known node.

    Single nodes are no more than the graph has, and are not found faster than they are counted.
    """
    if len(question.match.edges) < 2 or len(question.variables) < 2 or question.given:
        return False
    anchored = any(id_condition(one) for one in conjuncts(question.match.where))
    return not anchored and question.counted is None and question.top is None


def with_chains(match: Match) -> Match:
    """The pattern with a chain of edges in place of each path. The chain has a length that the path may have."""
    nodes, edges = list(match.nodes), list[EdgePattern]()
    for edge in match.edges:
        if edge.path is None:
            edges.append(edge)
            continue
        longest = _CHAIN if edge.path.longest is None else edge.path.longest
        length = max(min(longest, _CHAIN), edge.path.shortest, 1)
        between = [f"{edge.variable}\0{place}" for place in range(1, length)]
        ends = [edge.source, *between, edge.target]
        nodes += map(NodePattern, between)
        edges += (
            replace(edge, variable=f"{edge.variable}\0{place}-", source=source, target=target, path=None)
            for place, (source, target) in enumerate(pairwise(ends))
        )
    return replace(match, nodes=tuple(nodes), edges=tuple(edges), paths=(), optional=False)


def wanted_properties(needs: RequiredColumns, variables: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The properties to be read with the matches; none if there are many, since each makes matching slower."""
    wanted = tuple(sorted(each for each in needs.properties if each[0] in variables))
    return wanted if needs.top is None and len(wanted) <= _PROPERTIES else ()
