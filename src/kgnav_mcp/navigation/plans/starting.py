"""Where a pattern begins: the sets of nodes that its conditions name, and how large they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Count
from kgnav_mcp.navigation.plans.reading import Reader
from kgnav_mcp.navigation.plans.values import Node
from kgnav_mcp.plan import (
    Call,
    Compare,
    Comparison,
    Constant,
    Expression,
    Function,
    ListOf,
    NodePattern,
    Property,
    Variable,
)
from kgnav_mcp.port.comparing import moment

_LABELS = 50
"""Labels of a group by which nodes are read, one after the other."""


@dataclass(frozen=True, slots=True)
class Scan:
    """Nodes by label, and by a property's value."""

    label: str | None = None
    relation: str | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """A set of nodes that holds all that may stand for a node of a pattern: of these ids, or of these scans."""

    ids: tuple[str, ...] | None = None
    scans: tuple[Scan, ...] = ()
    labelled: bool = False
    """Whether all of them have the labels of the pattern."""
    narrowed: bool = False
    """Whether there are conditions on them."""

    @property
    def selective(self) -> bool:
        """Whether it is by an id or a value, not by a label alone."""
        return self.ids is not None or all(scan.relation is not None for scan in self.scans)

    @property
    def whole(self) -> bool:
        """Whether all of its nodes stand for the node of the pattern, but for what other parts ask of them."""
        return self.labelled and not self.narrowed

    async def count(self, reader: Reader) -> Count:
        """How many they are."""
        if self.ids is not None:
            return Count(len(self.ids))
        counts = await gathered(*(reader.count(scan.label, scan.relation, scan.value) for scan in self.scans))
        return Count.sum(counts)

    async def nodes(self, reader: Reader, part: NodePattern) -> list[Node]:
        """The nodes."""
        if self.ids is not None:
            return await reader.identified(self.ids)
        found: dict[Node, None] = {}
        for scan in self.scans:
            found |= dict.fromkeys(await reader.scanned(scan.label, scan.relation, scan.value, part))
        return list(found)


def start_of(node: NodePattern, conditions: Sequence[Expression]) -> Start:
    """The smallest set that can be asked of a store without reading another; all its conditions still apply."""
    groups: tuple[str | None, ...] = (None,)
    if node.labels and len(min(node.labels, key=len)) <= _LABELS:
        groups = min(node.labels, key=len)
    labelled = len(node.labels) <= (None not in groups)
    equal: tuple[tuple[str, str], ...] = ()
    for condition in conditions:
        ids = _ids(condition, node.variable)
        if ids is not None:
            return Start(ids)
        equal = equal or _values(condition, node.variable)
    if equal:
        return Start(None, tuple(Scan(label, *each) for label in groups for each in equal), labelled, narrowed=True)
    return Start(None, tuple(Scan(label) for label in groups), labelled, narrowed=bool(conditions))


def _ids(condition: Expression, variable: str) -> tuple[str, ...] | None:
    """The ids that a condition names for a node, if it names any."""
    its_id = Call(Function.ID, (Variable(variable),))
    match condition:
        case Compare(left, Comparison.EQUAL, Constant(str() as value)) if left == its_id:
            return (value,)
        case Compare(Constant(str() as value), Comparison.EQUAL, right) if right == its_id:
            return (value,)
        case Compare(left, Comparison.IN, ListOf(items)) if left == its_id:
            texts = tuple(item.value for item in items if isinstance(item, Constant) and isinstance(item.value, str))
            return texts if len(texts) == len(items) else None
        case _:
            return None


def _values(condition: Expression, variable: str) -> tuple[tuple[str, str], ...]:
    """The relations and the text that a condition says a node's property has; only what a store finds by its text.

    Not numbers, which are written in many ways, nor dates, which are compared by their precision.
    """
    match condition:
        case Compare(Property() as owned, Comparison.EQUAL, Constant(str() as value)) | Compare(
            Constant(str() as value), Comparison.EQUAL, Property() as owned
        ) if owned.owner == variable and owned.ids and moment(value) is None:
            return tuple((relation, value) for relation in owned.ids)
        case _:
            return ()
