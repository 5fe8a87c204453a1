"""The graph that a trail has shown: the entities and triples of its answers, the paths, and the part for a picture."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from kgnav_mcp.model import (
    Candidate,
    Direction,
    Entity,
    Link,
    Literal,
    Node,
    NodeProperties,
    Path,
    PlanRow,
    Relation,
    RelationFacts,
    Role,
    Subgraph,
    SubgraphEdge,
    SubgraphNode,
    Trail,
    TrailStep,
    Triple,
)
from kgnav_mcp.navigation.maze import mark_order

CHECK_TOOL = "check_answer"
"""The tool whose answer is this evidence. Its calls are steps of the trail, too, and show the connected answers."""

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
        stored = self.nodes.get(key)
        if stored is None or (
            isinstance(node, Entity) and isinstance(stored, Entity) and _describes_more(node, stored)
        ):
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


def _describes_more(entity: Entity, other: Entity) -> bool:
    return (entity.label is not None, len(entity.types)) > (other.label is not None, len(other.types))


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
    return list(dict.fromkeys(id_ for step in trail.steps if not step.failed for id_ in step.visited))


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


def entities_and_triples(
    shown: Iterable[object], about: Sequence[Entity] = ()
) -> tuple[tuple[Entity, ...], tuple[Triple, ...]]:
    """The distinct entities and triples in an answer, in their order. `about` are the entities of the call.

    The examples of a relation are recorded as triples if the call is about a single entity and the relation has one
    hop, otherwise as entities.
    """
    parts = dict.fromkeys(part for item in shown for part in _parts(item, about))
    entities = tuple(part for part in parts if isinstance(part, Entity))
    return entities, tuple(part for part in parts if isinstance(part, Triple))


def _parts(item: object, about: Sequence[Entity]) -> Iterator[Entity | Triple]:
    match item:
        case Entity() | Triple():
            yield item
        case Link():
            yield item.triple
        case Candidate():
            yield item.entity
        case NodeProperties():
            yield item.entity
            yield from item.properties
        case RelationFacts():
            yield from _examples(item, about)
        case Path():
            yield from item.nodes
            yield from item.edges
        case PlanRow():
            yield from _each((*item.cells, *item.proof), about)
        case tuple():
            yield from _each(cast("tuple[object, ...]", item), about)
        case _:
            pass  # numbers, texts and counts are not nodes or edges


def _each(items: Iterable[object], about: Sequence[Entity]) -> Iterator[Entity | Triple]:
    for item in items:
        yield from _parts(item, about)


def _examples(facts: RelationFacts, about: Sequence[Entity]) -> Iterator[Entity | Triple]:
    relation = Relation(facts.relation.id, facts.relation.label)
    for example in facts.examples:
        if len(about) != 1 or len(facts.hops) != 1:
            if isinstance(example, Entity):
                yield example
        elif facts.direction is Direction.OUTGOING:
            yield Triple(about[0], relation, example)
        elif not isinstance(example, Literal):
            yield Triple(example, relation, about[0])


MAX_NODES = 60
MAX_EDGES = 120
"""More would be unreadable; Mermaid draws 500 edges at most."""
MAX_ROWS = 5
"""Maximum further neighbours drawn for a node. The others are one node with a count."""

_Ends = tuple[NodeKey, NodeKey]


def walked_subgraph(
    trail: Trail, most_nodes: int = MAX_NODES, most_edges: int = MAX_EDGES, most_rows: int = MAX_ROWS
) -> Subgraph:
    """The nodes and edges that a trail has shown, at most this many, and at most `most_rows` further neighbours a node.

    Priority: topics, connected answers, visited nodes and the paths to answers; then nodes that connect several of
    these; then their other neighbours, taken from each in turn; then the rest. A node without an edge is left out
    unless the walk was about it.
    """
    walked = WalkedGraph.of(trail)
    checks = [step for step in trail.steps if step.tool == CHECK_TOOL and not step.failed]
    edges = defaultdict[_Ends, list[Triple]](list)
    for triple in walked.triples:
        edges[_ends(triple)].append(triple)
    proof = {_ends(triple) for step in checks for triple in step.triples}
    roles = _roles(trail, checks, walked)
    neighbours = _neighbours(edges)
    keys = [*roles, *(end for ends in proof for end in ends), *_by_priority(walked, neighbours, roles, most_rows)]
    chosen = set(list(dict.fromkeys(keys))[:most_nodes])
    places = {key: place for place, key in enumerate(key for key in walked.nodes if key in chosen)}
    inside = [ends for ends in edges if ends[0] in places and ends[1] in places]
    inside.sort(key=lambda ends: ends not in proof)  # stable: otherwise edges stay in the order shown
    return Subgraph(
        trail.question,
        tuple(
            SubgraphNode(walked.nodes[key], roles.get(key, Role.SEEN), len(neighbours[key] - places.keys()))
            for key in places
        ),
        tuple(
            SubgraphEdge(places[ends[0]], places[ends[1]], tuple(edges[ends]), ends in proof)
            for ends in inside[:most_edges]
        ),
        len(walked.nodes) - len(places),
        len(edges) - len(inside[:most_edges]),
    )


def _ends(triple: Triple) -> _Ends:
    return node_key(triple.head), node_key(triple.tail)


def _roles(trail: Trail, checks: Iterable[TrailStep], walked: WalkedGraph) -> Mapping[NodeKey, Role]:
    """The roles of all nodes that the walk was about: topics, answers, visited nodes."""
    answers = (answer for step in checks for answer in _connected_answers(step))
    groups = (
        (Role.TOPIC, (topic.id for topic in trail.topics)),
        (Role.ANSWER, answers),
        (Role.VISITED, visited(trail)),
    )
    roles: dict[NodeKey, Role] = {}
    for role, keys in groups:
        for key in keys:
            if key in walked.nodes:
                roles.setdefault(key, role)
    return roles


def _connected_answers(step: TrailStep) -> Iterable[NodeKey]:
    """The connected answers of a check: the entities that it showed, and the literals that it was asked about."""
    yield from (entity.id for entity in step.entities)
    answer_texts = {text.strip().casefold() for text in cast("Sequence[str]", step.arguments.get("answers", ()))}
    for triple in step.triples:
        if isinstance(triple.tail, Literal) and triple.tail.text.casefold() in answer_texts:
            yield node_key(triple.tail)


def _neighbours(edges: Iterable[_Ends]) -> Mapping[NodeKey, Collection[NodeKey]]:
    neighbours = defaultdict[NodeKey, set[NodeKey]](set)
    for head, tail in edges:
        neighbours[head].add(tail)
        neighbours[tail].add(head)
    return neighbours


def _by_priority(
    walked: WalkedGraph,
    neighbours: Mapping[NodeKey, Collection[NodeKey]],
    walk: Collection[NodeKey],
    most_rows: int,
) -> Sequence[NodeKey]:
    """The nodes with an edge: first those that connect nodes of the walk, then neighbours of each of these in turn.

    A node of the walk has at most `most_rows` of these, and one more if it is the last; nodes that connect several
    count for each, and are there as long as one of them has fewer.
    """
    keys = sorted(neighbours, key=lambda key: isinstance(walked.nodes[key], Literal))
    hubs = {key: [neighbour for neighbour in neighbours[key] if neighbour in walk] for key in keys if key not in walk}
    rows = Counter(hub for ends in hubs.values() for hub in ends)
    most = {hub: most_rows + 1 if count == most_rows + 1 else most_rows for hub, count in rows.items()}
    turns = Counter[NodeKey]()
    order: dict[NodeKey, int] = {}
    for key in sorted(hubs, key=lambda key: len(hubs[key]) < 2):
        if not hubs[key]:
            order[key] = len(walked.nodes)
        elif any(turns[hub] < most[hub] for hub in hubs[key]):
            turns.update(hubs[key])
            order[key] = 0 if len(hubs[key]) > 1 else turns[hubs[key][0]]
    return sorted(order, key=order.__getitem__)
