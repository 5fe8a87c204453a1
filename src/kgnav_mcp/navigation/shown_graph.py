"""The part of a graph that a trail has shown, the nodes that it visited, and the paths within it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from kgnav_mcp.model import Entity, Node, Path, Relation, Trail, Triple
from kgnav_mcp.navigation.maze import mark_order

NodeKey = str | tuple[str, str | None, str | None]
"""The identity of a node: an entity's id, or a literal's text, datatype and language."""


def node_key(node: Node) -> NodeKey:
    """The identity of a node."""
    return node.id if isinstance(node, Entity) else (node.text, node.datatype, node.language)


@dataclass(frozen=True, slots=True)
class WalkedPath:
    """A path along triples in either direction; `nodes` are its nodes, ends included."""

    nodes: tuple[NodeKey, ...]
    triples: tuple[Triple, ...]

    @property
    def between(self) -> tuple[NodeKey, ...]:
        """The nodes between the ends."""
        return self.nodes[1:-1]


class WalkedGraph:
    """The graph that a trail has shown: its nodes with their best descriptions, and its triples, each once."""

    def __init__(self, topics: Iterable[Entity], entities: Iterable[Entity], triples: Iterable[Triple]) -> None:
        self.nodes: dict[NodeKey, Node] = {}
        self._triples_at: dict[NodeKey, dict[Triple, None]] = {}
        self._triples: list[Triple] = []
        for entity in (*topics, *entities):
            self._add_node(entity)
        for triple in triples:
            self._add(triple)

    @classmethod
    def of(cls, trail: Trail) -> WalkedGraph:
        """The graph that all steps of a trail have shown."""
        entities = (entity for step in trail.steps for entity in step.entities)
        return cls(trail.topics, entities, (triple for step in trail.steps for triple in step.triples))

    @property
    def triples(self) -> Sequence[Triple]:
        """All triples, in the order in which they were first shown."""
        return self._triples

    def shortest_path(
        self,
        starts: Collection[NodeKey],
        end: NodeKey,
        *,
        through: Callable[[NodeKey], bool] = lambda _: True,
        along: Callable[[Triple], bool] = lambda _: True,
    ) -> WalkedPath | None:
        """The shortest path from any of the starts to the end; None if there is none. Ties: the one shown first.

        `through` says which entities it may pass, `along` which triples it may take. It never passes a literal: two
        entities with the same year are not connected by it. A path has at least one triple.
        """
        previous: dict[NodeKey, tuple[NodeKey, Triple]] = {}
        seen = set(starts)
        queue = deque(starts)
        while queue:
            node = queue.popleft()
            for triple in self._triples_at.get(node, ()):
                far = _other_end(triple, node)
                if far in seen or not along(triple):
                    continue
                seen.add(far)
                previous[far] = node, triple
                if far == end:
                    return _trace_path(previous, end)
                if isinstance(far, str) and through(far):
                    queue.append(far)
        return None

    def _add_node(self, node: Node) -> None:
        key = node_key(node)
        known = self.nodes.get(key)
        if known is None or (isinstance(node, Entity) and isinstance(known, Entity) and _describes_more(node, known)):
            self.nodes[key] = node

    def _add(self, triple: Triple) -> None:
        ends = node_key(triple.head), node_key(triple.tail)
        self._add_node(triple.head)
        self._add_node(triple.tail)
        for hop in _hops(triple):
            self._add_node(hop)
        bare = _without_labels(triple)
        if bare not in self._triples_at.setdefault(ends[0], {}):
            self._triples_at[ends[0]][bare] = None
            self._triples_at.setdefault(ends[1], {})[bare] = None
            self._triples.append(bare)


def _hops(triple: Triple) -> tuple[Entity, ...]:
    return () if triple.via is None else (triple.via,)


def _without_labels(triple: Triple) -> Triple:
    """The triple without labels and types of its ends, so that triples that were shown differently are equal."""
    relation = Relation(triple.relation.id, triple.relation.label)
    tail = Entity(triple.tail.id) if isinstance(triple.tail, Entity) else triple.tail
    via = None if triple.via is None else Entity(triple.via.id)
    return Triple(Entity(triple.head.id), relation, tail, triple.qualifiers, via)


def _describes_more(entity: Entity, known: Entity) -> bool:
    return (entity.label is not None, len(entity.types)) > (known.label is not None, len(known.types))


def _other_end(triple: Triple, node: NodeKey) -> NodeKey:
    head, tail = node_key(triple.head), node_key(triple.tail)
    return tail if node == head else head


def _trace_path(previous: dict[NodeKey, tuple[NodeKey, Triple]], end: NodeKey) -> WalkedPath:
    nodes, triples = [end], list[Triple]()
    while nodes[-1] in previous:
        node, triple = previous[nodes[-1]]
        nodes.append(node)
        triples.append(triple)
    return WalkedPath(tuple(reversed(nodes)), tuple(reversed(triples)))


THINK_TOOL = "think"
"""The tool that records a thought on a trail."""


def visited(trail: Trail) -> Sequence[str]:
    """The entities that the calls of a trail were about, in the order of first visit."""
    return list(dict.fromkeys(one for step in trail.steps if not step.failed for one in step.visited))


def nodes_of_path(trail: Trail) -> Sequence[str]:
    """The nodes over which a path leads: the cells of a maze that were entered, if several, else what was visited."""
    entered = [*mark_order(trail)]
    return entered if len(entered) > 1 else visited(trail)


def last_thought(trail: Trail) -> str:
    """The thought that was recorded last; empty if there is none."""
    thoughts = (step.arguments.get("thought") for step in reversed(trail.steps) if step.tool == THINK_TOOL)
    return str(next(thoughts, ""))


def connected_path(trail: Trail) -> Path | None:
    """The shortest path from the first to the last of `nodes_of_path` over these nodes only; None if there is none.

    GraphWalk's get_connected_path, whose nodes are the cells visited so far. The edges are those that were shown.
    """
    nodes = nodes_of_path(trail)
    if len(nodes) < 2:
        return None
    walked = WalkedGraph.of(trail)
    visited_keys: frozenset[NodeKey] = frozenset(nodes)
    path = walked.shortest_path([nodes[0]], nodes[-1], through=visited_keys.__contains__)
    if path is None:
        return None
    path_nodes = [walked.nodes[key] for key in path.nodes]
    return Path(tuple(node for node in path_nodes if isinstance(node, Entity)), path.triples)
