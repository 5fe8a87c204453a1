"""Selects what can be pushed down to the store: clauses, patterns and conditions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise

from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Clause,
    Column,
    Compare,
    ComparisonChain,
    Constant,
    EdgePattern,
    Expression,
    HasLabel,
    IsNull,
    Joined,
    ListOf,
    Match,
    NodePattern,
    Not,
    PathKind,
    PathLength,
    Project,
    Property,
    Unwind,
    Variable,
)
from kgnav_mcp.plan.walking import conjuncts, id_condition, node_patterns, parts, variables_of
from kgnav_mcp.port.pattern_conditions import can_push, qualifier_condition

_CHAIN = 4
"""Edges of the chain that stands for a path without an upper bound."""
_FEW_EDGES = 3
"""Edges of paths of which each length is a pattern of its own at most."""
Conditions = tuple[Expression, ...]
_SIMPLE = (Joined, Not, Compare, ComparisonChain, IsNull, HasLabel, Constant, ListOf, Variable, Property)
"""The expressions of conditions that every store that compiles plans has."""
_NUMBERS = frozenset((AggregateFunction.COUNT, AggregateFunction.SUM, AggregateFunction.AVERAGE))


def condition_splits(
    match: Match, outer: frozenset[str], values: frozenset[str]
) -> list[tuple[Conditions, Conditions]]:
    """Ways to split the conditions of a pattern into those for the store and the others, best first.

    The store gets all conditions, or those that compare values, or those that every store takes, with or without
    texts and numbers. `outer` are the variables of the rows around the pattern, and `values` those of them that are no
    nodes, which the store does not know.
    """
    every = conjuncts(match.where)
    known = (frozenset(node_patterns(match)) | outer) - values
    own = tuple(one for one in every if variables_of(one).isdisjoint(values))
    simple = tuple(one for one in own if all(isinstance(part, _SIMPLE) for part in parts(one, patterns=True)))
    of_patterns = [
        pushed_to_every_store(match, known, numbers=numbers, texts=texts)
        for texts, numbers in ((True, True), (False, True), (False, False))
    ]
    with_edges = (with_edge_conditions(match, one, unequal=each) for one in of_patterns[:2] for each in (True, False))
    ways = dict.fromkeys((own, simple, *with_edges, *of_patterns))
    return [(pushed, tuple(one for one in every if one not in pushed)) for pushed in ways]


def pushed_to_every_store(
    match: Match, known: frozenset[str], *, numbers: bool = True, texts: bool = False
) -> Conditions:
    """The conditions on `known` nodes that each store takes that matches patterns; also on numbers, or on texts."""
    return tuple(one for one in conjuncts(match.where) if can_push(one, known, numbers=numbers, texts=texts))


def edge_conditions(match: Match, *, unequal: bool = False) -> Conditions:
    """The conditions that a property of an edge, not of a path, equals a constant or a node's id.

    With `unequal`, also those that it does not equal a constant.
    """
    edges = {edge.variable for edge in match.edges if edge.path is None}
    found = ((condition, qualifier_condition(condition)) for condition in conjuncts(match.where))
    return tuple(one for one, own in found if own and own.owned.owner in edges and (unequal or not own.unequal))


def with_edge_conditions(match: Match, pushed: Conditions, *, unequal: bool) -> Conditions:
    """Some conditions of a pattern, and those of `edge_conditions`."""
    of_edges = edge_conditions(match, unequal=unequal)
    return tuple(one for one in conjuncts(match.where) if one in pushed or one in of_edges)


def is_open(match: Match, wanted: Sequence[str], given: Sequence[str]) -> bool:
    """Whether pairs of nodes are wanted of a pattern of several edges that begins with no known node.

    Single nodes are no more than the graph has, and are not found faster than they are counted.
    """
    anchored = any(id_condition(one) for one in conjuncts(match.where))
    return len(match.edges) > 1 and len(wanted) > 1 and not given and not anchored


def with_chains(match: Match) -> Match:
    """The pattern with a chain of edges in place of each path. The chain has a length that the path may have."""
    chained = match
    for edge in match.edges:
        if edge.path is not None:
            longest = _CHAIN if edge.path.longest is None else edge.path.longest
            chained = _with_chain(chained, edge, max(min(longest, _CHAIN), edge.path.shortest, 1))
    return replace(chained, paths=(), optional=False)


def by_length(match: Match) -> Sequence[Match]:
    """Patterns for each length of the only path, with a chain of edges in its place; none if it may be longer than 3.

    The longest come first, of which there may be too many.
    Together they have the matches of the pattern, without the edges of the path.
    """
    match [edge for edge in match.edges if edge.path is not None]:
        case [EdgePattern(either=False, path=PathLength(PathKind.TRAILS, shortest, int() as longest)) as edge] if (
            shortest and longest <= _FEW_EDGES and (match.edges_differ or len(match.edges) == 1)
        ):
            edges_differ = replace(match, edges_differ=True)
            return [_with_chain(edges_differ, edge, length) for length in range(longest, shortest - 1, -1)]
        case _:
            return ()


def _with_chain(match: Match, path: EdgePattern, length: int) -> Match:
    between = [f"{path.variable}\0{place}" for place in range(1, length)]
    ends = pairwise((path.source, *between, path.target))
    chain = [
        replace(path, variable=f"{path.variable}\0{place}-", source=source, target=target, path=None)
        for place, (source, target) in enumerate(ends)
    ]
    place = match.edges.index(path)
    edges = (*match.edges[:place], *chain, *match.edges[place + 1 :])
    return replace(match, nodes=(*match.nodes, *map(NodePattern, between)), edges=edges)


def returns_plain_columns(clauses: Sequence[Clause]) -> bool:
    """Whether all columns of the last clause, a projection, are nodes or numbers."""
    plain: set[str] = set()
    names: set[str] = set()
    for clause in clauses:
        match clause:
            case Match():
                plain |= node_patterns(clause).keys() - names
                names |= variables_of(clause)
            case Unwind():
                names.add(clause.variable)
            case Project():
                plain = {column.name for column in clause.columns if _is_plain(column, plain)}
                names = {column.name for column in clause.columns}
    return plain == names


def _is_plain(column: Column, plain: Collection[str]) -> bool:
    match column.value:
        case Variable(name):
            return name in plain
        case Aggregate(function):
            return function in _NUMBERS
        case _:
            return False
