"""One object for each node and edge, however many answers of the store it occurs in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from kgnav_mcp.model import Direction, Entity, Link, Triple
from kgnav_mcp.model import Node as Term
from kgnav_mcp.navigation.plans.evaluate.values import Edge, Node, Value, property_values, value_or_list
from kgnav_mcp.values.scalars import scalar

Step = tuple[Node, Edge, Node]
"""An edge as it was followed: the node it was followed from, the edge, the node at the other end."""
_EdgeKey = tuple[object, ...]


class Interned:
    """The nodes and edges of one evaluation."""

    def __init__(self, *, edge_ids: bool = False) -> None:
        """`edge_ids`: qualifiers do not distinguish edges, because they are missing from some of the answers."""
        self._edge_ids = edge_ids
        self._nodes: dict[str, Node] = {}
        self._edges: dict[_EdgeKey, Edge] = {}

    def node(self, entity: Entity) -> Node:
        """The node of an entity."""
        node = self._nodes.setdefault(entity.id, Node(entity.id))
        node.label = node.label or entity.label
        return node

    def value(self, value: Term) -> tuple[Value, int | None]:
        """The value of a term in a row, and its index if it is an item of an array."""
        return (self.node(value), None) if isinstance(value, Entity) else (scalar(value), value.index)

    def grouped(self, links: Sequence[Link]) -> dict[Node, tuple[Value, ...]]:
        """The values at the far ends of links, by the node at the near end."""
        found: dict[Node, list[tuple[Value, int | None]]] = {}
        for link in links:
            found.setdefault(self.node(link.anchor), []).append(self.value(link.far_end))
        return {node: property_values(values) for node, values in found.items()}

    def properties(self, links: Sequence[Link]) -> dict[Node, tuple[Value, ...]]:
        """All properties in these links, by the node at the near end."""
        found: dict[Node, dict[str, list[tuple[Value, int | None]]]] = {}
        for link in links:
            own = found.setdefault(self.node(link.anchor), {})
            own.setdefault(link.triple.relation.id, []).append(self.value(link.far_end))
        return {node: pairs(own) for node, own in found.items()}

    def _edge(self, triple: Triple, seen: Counter[_EdgeKey]) -> Edge:
        """The edge of a triple. `seen` counts equal triples of one list, which are parallel edges."""
        key = self._edge_key(triple)
        number = seen[key]
        seen[key] += 1
        known = self._edges.get((*key, number))
        if known is None:
            tail = triple.tail
            if not isinstance(tail, Entity):
                raise TypeError(f"an edge leads to a node: {triple}")
            known = self._edges.setdefault(
                (*key, number), Edge(triple, self.node(triple.head), self.node(tail), number)
            )
        return known

    def _edge_key(self, triple: Triple) -> _EdgeKey:
        """What an edge has in common only with those parallel edges from which a number distinguishes it."""
        tail = triple.tail
        own = () if self._edge_ids else _key_of_qualifiers(triple)
        via = triple.via.id if triple.via else None
        return triple.head.id, triple.relation.id, tail.id if isinstance(tail, Entity) else tail, via, own

    def edge_of_answer(self) -> Callable[[Triple], Edge]:
        """A function that returns the edges of one answer, in which the same edge is the same object.

        Other triples that are equal to it are parallel edges.
        """
        seen: Counter[_EdgeKey] = Counter()
        known: dict[int, tuple[Triple, Edge]] = {}

        def edge(triple: Triple) -> Edge:
            found = known.get(id(triple))
            if found is None:
                found = known[id(triple)] = (triple, self._edge(triple, seen))
            return found[1]

        return edge

    def steps(self, links: Sequence[Link]) -> list[Step]:
        """Edges as they were followed. A loop occurs once, also if both directions were read."""
        seen: dict[Direction, Counter[_EdgeKey]] = {side: Counter() for side in Direction}
        both_directions = len({link.direction for link in links}) > 1
        steps: list[Step] = []
        for link in links:
            edge = self._edge(link.triple, seen[link.direction])
            outgoing = link.direction is Direction.OUTGOING
            if outgoing or not both_directions or edge.head is not edge.tail:
                steps.append((edge.head, edge, edge.tail) if outgoing else (edge.tail, edge, edge.head))
        return steps

    def numbered(self, triples: Sequence[Triple]) -> list[Step]:
        """Edges in their own direction, from head to tail."""
        seen: Counter[_EdgeKey] = Counter()
        edges = [self._edge(triple, seen) for triple in triples]
        return [(edge.head, edge, edge.tail) for edge in edges]


def pairs(own: dict[str, list[tuple[Value, int | None]]]) -> tuple[Value, ...]:
    """Properties as pairs of name and value, in the order of their names."""
    return tuple((name, value_or_list(property_values(own[name]))) for name in sorted(own))


def _key_of_qualifiers(triple: Triple) -> tuple[object, ...]:
    own = sorted(
        (one.relation.id, one.value.id, -1)
        if isinstance(one.value, Entity)
        else (one.relation.id, one.value.text, -1 if one.value.index is None else one.value.index)
        for one in triple.qualifiers
    )
    return tuple(own)
