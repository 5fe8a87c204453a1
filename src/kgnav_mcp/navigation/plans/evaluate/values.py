"""Values and tables of a plan's evaluation, and the order of values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter

from kgnav_mcp.model import Entity, Triple
from kgnav_mcp.values.scalars import scalar


class Node:
    """A node of the graph. There is one object for each id, so that nodes are compared by object identity.

    `label` is its name once it is known.
    """

    __slots__ = ("id", "label")

    def __init__(self, name: str) -> None:
        self.id = name
        self.label: str | None = None


class Edge:
    """An edge of the graph, one object for each. `number` distinguishes edges that are equal in all their facts."""

    __slots__ = ("head", "number", "tail", "triple")

    def __init__(self, triple: Triple, head: Node, tail: Node, number: int) -> None:
        self.triple, self.head, self.tail, self.number = triple, head, tail, number

    @property
    def id(self) -> str:
        """A text that identifies the edge."""
        triple = self.triple
        own = ", ".join(f"{name}: {value}" for name, value in _qualifiers(triple))
        via = f" via {triple.via.id}" if triple.via else ""
        number = f" #{self.number + 1}" if self.number else ""
        return f"{self.head.id} {triple.relation.id} {self.tail.id}{via}{' {' + own + '}' if own else ''}{number}"

    def other(self, end: Node) -> Node:
        """The end opposite to this one."""
        return self.tail if end is self.head else self.head


@dataclass(frozen=True, slots=True)
class PathValue:
    """A path: its nodes, and the edges between them."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


class PropertyList(tuple["Value", ...]):
    """The values of a property that has several of them, or is a declared array, also of one item.

    It is a list like any other, but a condition on it is a condition on its values. Items of arrays keep their order
    and duplicates.
    """

    __slots__ = ()


Value = Node | Edge | PathValue | str | int | float | bool | tuple["Value", ...] | None
Row = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with named columns."""

    names: tuple[str, ...]
    rows: list[Row]

    @property
    def places(self) -> dict[str, int]:
        """The index of each column in a row."""
        return {name: place for place, name in enumerate(self.names)}

    @property
    def size(self) -> int:
        """The values that work on the rows has to do with: members of lists count as far as the first row shows."""
        if not self.rows:
            return 0
        members = sum(len(value) for value in self.rows[0] if isinstance(value, tuple))
        characters = sum(len(value) for value in self.rows[0] if isinstance(value, str))
        return len(self.rows) * (1 + members + characters // _CHARACTERS)

    def column(self, name: str) -> list[Value]:
        """The values of a column."""
        place = self.names.index(name)
        return [row[place] for row in self.rows]

    def pick(self, names: Sequence[str]) -> Iterable[Row]:
        """The rows with these columns only."""
        places = [self.names.index(name) for name in names]
        return (tuple(row[place] for place in places) for row in self.rows)

    def nodes(self, name: str) -> list[Node]:
        """The distinct nodes of a column, also those in lists."""
        return list(dict.fromkeys(value for value in flat(set(self.column(name))) if isinstance(value, Node)))


def flat(values: Iterable[Value]) -> Iterable[Value]:
    """The values with lists replaced by their members, recursively."""
    for value in values:
        if isinstance(value, tuple):
            yield from flat(value)
        else:
            yield value


_SLOT, _HEADER = 64, 56
"""Bytes of a member of a list beside its text, and of a text or list without its content."""
_MAX_DEPTH = 100
"""Levels of lists within lists at most: to compare and sort them takes several nested calls for each."""


def size_in_bytes(value: Value, levels: int = _MAX_DEPTH) -> int:
    """The bytes of a value, as if it shared no part with other values. Nodes, edges and numbers are taken as a slot.

    Raises:
        RecursionError: lists are nested in more levels.
    """
    if isinstance(value, str):
        return _HEADER + len(value)
    if not isinstance(value, tuple):
        return _SLOT
    if not levels:
        raise RecursionError
    size = _HEADER + _SLOT * len(value)
    for member in value:
        if isinstance(member, str):
            size += len(member)
        elif isinstance(member, tuple):
            size += size_in_bytes(member, levels - 1)
    return size


_CHARACTERS = 10_000
"""Characters of a text that take as much work as one value."""

_NODE, _EDGE, _LIST, _PATH, _TEXT, _BOOLEAN, _NUMBER, _NULL = range(8)
Rank = tuple[object, ...]


def rank(value: Value) -> Rank:  # noqa: PLR0911 - one for each kind
    """A sort key for values of any kind; equal keys mean equal content.

    Nodes come first, by id, then edges by head, relation, tail, qualifiers and mediator, lists and paths by their
    members, text by code points, booleans, numbers by size, and nulls.
    """
    match value:
        case Node():
            return _NODE, value.id
        case Edge():
            triple = value.triple
            ends = value.head.id, triple.relation.id, value.tail.id
            own = tuple((name, rank(one)) for name, one in _qualifiers(triple))
            return _EDGE, *ends, own, triple.via.id if triple.via else ""
        case tuple():
            return _LIST, tuple(rank(item) for item in value)
        case PathValue():
            steps = zip(value.edges, value.nodes[1:], strict=True)
            return _PATH, value.nodes[0].id, *((rank(edge), node.id) for edge, node in steps)
        case str():
            return _TEXT, value
        case bool():
            return _BOOLEAN, value
        case None:
            return (_NULL,)
        case _:
            return (_NUMBER, True, 0) if isinstance(value, float) and math.isnan(value) else (_NUMBER, False, value)


def identity(value: Value) -> object:
    """A key that is equal for equal values only: 1 and 1.0 are equal, 1 and true are not, nor two parallel edges."""
    if isinstance(value, tuple):
        return _LIST, *map(identity, value)
    return rank(value) if isinstance(value, bool) or (isinstance(value, float) and math.isnan(value)) else value


def in_order(values: Iterable[Value]) -> tuple[Value, ...]:
    """The distinct values of a property, numbers first."""
    found = {identity(value): value for value in values}
    return tuple(found.values()) if len(found) < 2 else tuple(sorted(found.values(), key=_numbers_first))


def property_values(values: Iterable[tuple[Value, int | None]]) -> tuple[Value, ...]:
    """The values of a property, each given with its index if it is an item of a declared array: an array, or distinct.

    Values that are in no array follow the array's items.
    """
    present = list(values)
    items = [(index, value) for value, index in present if index is not None]
    others = in_order(value for value, index in present if index is None)
    return PropertyList((*(value for _, value in sorted(items, key=itemgetter(0))), *others)) if items else others


def joined_values(properties: Sequence[tuple[Value, ...]]) -> tuple[Value, ...]:
    """The values of several properties as those of one."""
    values = chain.from_iterable(properties)
    return PropertyList(values) if any(isinstance(each, PropertyList) for each in properties) else in_order(values)


def value_or_list(values: tuple[Value, ...]) -> Value:
    """The values of a property: several, and the items of an array, as a list, a single one as it is, null if none."""
    if isinstance(values, PropertyList):
        return values
    return PropertyList(values) if len(values) > 1 else values[0] if values else None


def _numbers_first(value: Value) -> tuple[bool, Rank]:
    return isinstance(value, bool) or not isinstance(value, int | float), rank(value)


def _qualifiers(triple: Triple) -> list[tuple[str, str | int | float | bool]]:
    """The qualifiers of an edge, in an order that does not depend on the store. Items of arrays keep their order."""
    own: list[tuple[str, int, str | int | float | bool]] = []
    for one in triple.qualifiers:
        name, value = one.relation.id, one.value
        if isinstance(value, Entity):
            own.append((name, -1, value.id))
        else:
            own.append((name, -1 if value.index is None else value.index, scalar(value)))
    return [(name, value) for name, _, value in sorted(own, key=lambda each: (*each[:2], rank(each[2])))]
