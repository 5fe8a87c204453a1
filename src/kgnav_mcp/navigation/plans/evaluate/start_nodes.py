"""Sets of nodes from which the matching of a pattern can start, and their sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Count
from kgnav_mcp.navigation.plans.evaluate.fact_reader import Reader
from kgnav_mcp.navigation.plans.evaluate.scans import Scan
from kgnav_mcp.navigation.plans.evaluate.values import Node
from kgnav_mcp.plan import (
    Compare,
    Comparison,
    Constant,
    Expression,
    NodePattern,
    Property,
)
from kgnav_mcp.plan.walking import id_condition
from kgnav_mcp.values.comparison import date_parts

_LABELS = 50
"""Labels of a group by which nodes are read at most, one label after the other."""


@dataclass(frozen=True, slots=True)
class Start:
    """A set that contains every node that can match a node pattern, given by ids or by scans."""

    ids: tuple[str, ...] | None = None
    scans: tuple[Scan, ...] = ()
    labelled: bool = False
    """Whether all of its nodes have the labels of the pattern."""
    narrowed: bool = False
    """Whether the pattern has further conditions on the node."""

    @property
    def selective(self) -> bool:
        """Whether it is selected by an id or a property value, not by a label only."""
        return self.ids is not None or all(scan.relation is not None for scan in self.scans)

    @property
    def whole(self) -> bool:
        """Whether all of its nodes match the node pattern, apart from other parts of the pattern."""
        return self.labelled and not self.narrowed

    async def count(self, reader: Reader) -> Count:
        """The number of nodes."""
        if self.ids is not None:
            return Count(len(self.ids))
        counts = await gathered(*map(reader.scans.count, self.scans))
        return Count.sum(counts)

    async def nodes(self, reader: Reader, part: NodePattern) -> list[Node]:
        """The nodes."""
        if self.ids is not None:
            return await reader.nodes_by_id(self.ids)
        found: dict[Node, None] = {}
        for scan in self.scans:
            found |= dict.fromkeys(await reader.scans.nodes(scan, part))
        return list(found)


def start_of(node: NodePattern, conditions: Sequence[Expression]) -> Start:
    """The smallest set that a store can look up by itself. The conditions must still be checked."""
    groups: tuple[str | None, ...] = (None,)
    if node.labels and len(min(node.labels, key=len)) <= _LABELS:
        groups = min(node.labels, key=len)
    labelled = len(node.labels) <= (None not in groups)
    equal: tuple[tuple[str, str], ...] = ()
    for condition in conditions:
        ids = id_condition(condition)
        if ids is not None and ids[0] == node.variable:
            return Start(ids[1])
        equal = equal or _values(condition, node.variable)
    if equal:
        return Start(None, tuple(Scan(label, *each) for label in groups for each in equal), labelled, narrowed=True)
    return Start(None, tuple(Scan(label) for label in groups), labelled, narrowed=bool(conditions))


def _values(condition: Expression, variable: str) -> tuple[tuple[str, str], ...]:
    """The relation ids with the text of a condition that a node's property equals a text; empty for others.

    Numbers are excluded because they are written in many ways, dates because they are compared by their precision.
    """
    match condition:
        case Compare(Property() as owned, Comparison.EQUAL, Constant(str() as value)) | Compare(
            Constant(str() as value), Comparison.EQUAL, Property() as owned
        ) if owned.owner == variable and owned.ids and date_parts(value) is None:
            return tuple((relation, value) for relation in owned.ids)
        case _:
            return ()
