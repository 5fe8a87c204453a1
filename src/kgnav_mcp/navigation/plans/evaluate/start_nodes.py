"""Where the matching of a pattern starts: sets of nodes, their sizes, and patterns of conditions put in front."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Count
from kgnav_mcp.navigation.plans.evaluate.fact_reader import Reader
from kgnav_mcp.navigation.plans.evaluate.scans import Scan
from kgnav_mcp.navigation.plans.evaluate.values import Node
from kgnav_mcp.plan import (
    NAME,
    Call,
    Clause,
    Column,
    Compare,
    Comparison,
    Connective,
    Constant,
    CountOf,
    Exists,
    Expression,
    Function,
    IsNull,
    Joined,
    Match,
    NodePattern,
    Not,
    Project,
    Property,
    Variable,
)
from kgnav_mcp.plan.walking import conjuncts, id_condition, node_patterns, variables_of
from kgnav_mcp.port.pattern_conditions import equal_constants, text_part
from kgnav_mcp.values.comparison import date_parts

_LABELS = 50
"""Labels of a group by which nodes are read at most, one label after the other."""

_TEXTS = 50
"""Texts of a list by which nodes are read at most, one text after the other."""

_MIN = {Comparison.AT_LEAST: 1, Comparison.GREATER: 0, Comparison.EQUAL: 1}
"""For each comparison of a number of matches: the least constant for which there must be a match."""


@dataclass(frozen=True, slots=True)
class Start:
    """A set that contains every node that can match a node pattern: those with some ids, and those of some scans."""

    ids: tuple[str, ...] = ()
    scans: tuple[Scan, ...] = ()
    labelled: bool = False
    """Whether all of its nodes have the labels of the pattern."""
    narrowed: bool = False
    """Whether the pattern has further conditions on the node."""
    condition: Expression | None = None
    """The condition that selects all of its nodes, if it is not one on ids."""

    @property
    def selective(self) -> bool:
        """Whether it is selected by ids or property values, not by a label only."""
        return all(scan.by_value for scan in self.scans)

    @property
    def is_everything(self) -> bool:
        """Whether it is all nodes of the graph."""
        return Scan() in self.scans

    @property
    def whole(self) -> bool:
        """Whether all of its nodes match the node pattern, apart from other parts of the pattern."""
        return self.labelled and not self.narrowed

    async def count(self, reader: Reader) -> Count:
        """The number of nodes."""
        counts = await gathered(*map(reader.scans.count, self.scans))
        return Count.sum([Count(len(self.ids)), *counts])

    async def nodes(self, reader: Reader, part: NodePattern) -> list[Node]:
        """The nodes."""
        found = dict.fromkeys(await reader.nodes_by_id(self.ids))
        for scan in self.scans:
            found |= dict.fromkeys(await reader.scans.nodes(scan, part))
        return list(found)


@dataclass(frozen=True, slots=True)
class _Selected:
    """What a condition selects a node by: ids, and scans of any label."""

    ids: tuple[str, ...] = ()
    scans: tuple[Scan, ...] = ()
    condition: Expression | None = None
    """The condition, if it is not one on ids."""


def start_of(node: NodePattern, conditions: Sequence[Expression]) -> Start:
    """The smallest set that a store can look up by itself. The conditions must still be checked."""
    groups: tuple[str | None, ...] = (None,)
    if node.labels and len(min(node.labels, key=len)) <= _LABELS:
        groups = min(node.labels, key=len)
    labelled = len(node.labels) <= (None not in groups)
    selected = [one for each in conditions if (one := _selected(each, node.variable)) is not None]
    best = min(selected, key=lambda one: (bool(one.scans), any(scan.part for scan in one.scans)), default=None)
    if best is None:
        return Start((), tuple(Scan(label) for label in groups), labelled, narrowed=bool(conditions))
    scans = tuple(replace(each, label=label) for label in groups for each in best.scans)
    labelled = labelled and not best.ids and bool(scans)
    return Start(best.ids, scans, labelled, narrowed=True, condition=best.condition)


def _selected(condition: Expression, variable: str) -> _Selected | None:
    """What a condition selects a node by; None if it may be true for others."""
    ids = id_condition(condition)
    if ids is not None:
        return _Selected(ids[1]) if ids[0] == variable else None
    match condition:
        case Joined(Connective.OR, parts):
            found = [one for each in parts if (one := _selected(each, variable)) is not None]
            scans = tuple(scan for one in found for scan in one.scans)
            if len(found) < len(parts) or len(scans) > _TEXTS:
                return None
            return _Selected(tuple(dict.fromkeys(each for one in found for each in one.ids)), scans, condition)
        case Joined(Connective.AND, parts):
            return next((one for each in parts if (one := _selected(each, variable)) is not None), None)
        case _:
            scans = _scans(condition, variable)
            return _Selected((), scans, condition) if scans else None


def start_of_single(node: NodePattern, conditions: Sequence[Expression]) -> Start:
    """As `start_of`, for a node without edges: one of any label begins with the nodes that have a needed property."""
    start = start_of(node, conditions)
    if start.is_everything:
        for owned in map(_needed_property, conditions):
            if owned is not None and owned.owner == node.variable and (owned.ids or owned.name == NAME):
                scans = tuple(Scan(None, relation) for relation in owned.ids) or (Scan(part=""),)
                return replace(start, scans=scans)
    return start


def _needed_property(condition: Expression) -> Property | None:
    """A property that a node must have for a condition to be true; None if the condition needs none by itself."""
    match condition:
        case Compare(Property() as owned, _, _) | Compare(_, _, Property() as owned) | Not(IsNull(Property() as owned)):
            return owned
        case Compare(Call(Function.LOWER | Function.UPPER | Function.TRIM, (Property() as owned,)), _, _):
            return owned
        case _:
            return None


def _scans(condition: Expression, variable: str) -> tuple[Scan, ...]:
    """The look-ups for a condition that a property equals a text or number, or contains a text; none for others.

    Dates are excluded because they are compared by their precision.
    """
    part = text_part(condition)
    if part is not None and part[1] and part[0].owner == variable:
        return tuple(Scan(None, relation, part=part[1]) for relation in part[0].ids or (None,))
    equal = equal_constants(condition)
    if equal is None or equal[0].owner != variable:
        return ()
    texts = [one for one in equal[1] if isinstance(one, str)]
    numbers = tuple(one for one in equal[1] if not isinstance(one, str))
    if numbers:
        return tuple(Scan(None, relation, numbers) for relation in equal[0].ids)
    if len(texts) > _TEXTS or any(map(date_parts, texts)):
        return ()
    return tuple(Scan(None, relation, text) for relation in equal[0].ids for text in dict.fromkeys(texts))


def with_start_pattern(clauses: Sequence[Clause]) -> Sequence[Clause]:
    """The clauses with a pattern in front that finds the node with which they begin, if a condition has one.

    `MATCH (p) WHERE EXISTS { (p)-[:r]->() }` begins with the nodes that have the edge, and not with all nodes.
    """
    match clauses:
        case (Match(nodes=(NodePattern(variable, labels=()) as node,), edges=(), optional=False) as first, *_):
            pass
        case _:
            return clauses
    conditions = conjuncts(first.where)
    if start_of(node, conditions).selective:
        return clauses
    for pattern in map(_required, conditions):
        if pattern is not None and any(variable in (edge.source, edge.target) for edge in pattern.edges):
            ends = Project((Column(variable, Variable(variable)),), distinct=True)
            return (replace(pattern, optional=False), ends, *clauses)
    return clauses


def has_no_start(match: Match, bound: Collection[str]) -> bool:
    """Whether no node of a pattern is given, or selected by a label, an id or a value."""
    conditions = [(variables_of(each), each) for each in conjuncts(match.where)]
    return not any(
        name in bound
        or node.labels
        or start_of(node, [one for of, one in conditions if of == frozenset((name,))]).selective
        for name, node in node_patterns(match).items()
    )


def _required(condition: Expression) -> Match | None:
    """The pattern that has a match where a condition is true; None if the condition says nothing of the kind."""
    match condition:
        case Exists(pattern):
            return pattern
        case Compare(CountOf(pattern), comparison, Constant(int() as number)) if number >= _MIN.get(
            comparison, number + 1
        ):
            return pattern
        case _:
            return None
