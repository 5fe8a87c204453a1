"""Constrained random walks over the server's tools (GraphWalker, algorithm 1 and equation 1).

A walk follows one sampled path and, beside it, the frontier: all entities that its relations reach, which is what the
question asks for. A path never comes to an entity twice, and no hop of the frontier leads back to a topic.
"""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol

from kgnav_bench.walks.patterns import FORMS, Form
from kgnav_bench.walks.session import OPPOSITE, UNNAMED, Direction, RelationRow, Triples
from kgnav_bench.walks.sharegpt import NamedEntity, PathHop, Shape

_TRIES = 4
"""Relations that are tried at an entity before the walk is given up."""
_ROWS_PER_END = 2
"""Most triples that may lead an entity to the same neighbour, as several mediators do."""


class DroppedError(Exception):
    """A walk is not kept. The message is the reason, by which dropped walks are counted."""


class Graph(Protocol):
    """The part of a session that sampling needs."""

    async def relations(self, entities: Sequence[str], question: str | None = None) -> tuple[RelationRow, ...]:
        """The relations of entities."""
        ...

    async def triples(self, entities: Sequence[str], relation: str) -> Triples:
        """The triples of a relation at entities."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What a walk may be like."""

    d_min: int = 1
    """Fewest neighbours of the path's entity along a sampled relation (equation 1)."""
    d_max: int = 20
    """Most neighbours, as above."""
    frontier: int = 40
    """Most entities between the topics and the answers at any hop."""
    answers: int = 20
    """Most answers of a question."""
    characters: int = 16_000
    """Most characters of a conversation: about the paper's 4,096 tokens (appendix G)."""
    allow: tuple[str, ...] = ()
    """Glob patterns of relation ids that may be followed; all if empty."""
    forbid: tuple[str, ...] = ()
    """Glob patterns of relation ids that are never followed."""

    def permits(self, relation: str) -> bool:
        """Whether walks may follow a relation."""
        allowed = not self.allow or any(fnmatchcase(relation, each) for each in self.allow)
        return allowed and not any(fnmatchcase(relation, each) for each in self.forbid)


@dataclass(slots=True)
class _Place:
    """Where a walk is: its entity, and all entities that the relations so far reach."""

    here: str
    frontier: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Reach:
    """How many entities a hop may lead to, from all entities that the path's relations reach."""

    fewest: int
    most: int


class Sampler:
    """Samples one walk. Every choice is drawn from `chance`, in an order that depends on the graph alone."""

    def __init__(self, graph: Graph, limits: Limits, chance: random.Random) -> None:
        self._graph = graph
        self._limits = limits
        self._chance = chance
        self._names: dict[str, str] = {}
        self._labels: dict[str, str] = {}
        self._visited: set[str] = set()

    def name(self, entity: str) -> str:
        """An entity's name, or its id."""
        name = self._names.get(entity, "")
        return entity if name in UNNAMED else name

    def label(self, relation: str) -> str:
        """A relation's name, or its id."""
        return self._labels.get(relation) or relation

    async def walk(self, shape: Shape, topic: NamedEntity) -> list[PathHop]:
        """A path of a shape that begins at a topic, in the order of exploration.

        Raises:
            DroppedError: the walk came to an end before, or it is not within the limits.
        """
        form = FORMS[shape]
        self._names[topic.id] = topic.name
        self._visited = {topic.id}
        here = _Place(topic.id, frozenset([topic.id]))
        reach = self._reaches(form)
        first = [await self._hop(here, {topic.id}, next(reach)) for _ in range(form.branches[0])]
        if len(form.branches) == 1:
            return first
        second = await self._second_branch(here, first)
        topics = {topic.id, second.start}
        return [*first, second, *[await self._hop(here, topics, next(reach)) for _ in range(form.tail)]]

    def _reaches(self, form: Form) -> Iterator[_Reach]:
        """How many entities each hop with a drawn relation may reach, in the order of exploration.

        The last hop reaches the answers. Where paths meet, the second topic must leave at least one of two entities.
        """
        limits = self._limits
        reaches = [_Reach(1, limits.frontier)] * (form.branches[0] + form.tail)
        if len(form.branches) > 1:
            reaches[form.branches[0] - 1] = _Reach(2, limits.frontier)
        if len(form.branches) == 1 or form.tail:
            reaches[-1] = _Reach(1, min(limits.frontier, limits.answers))
        return iter(reaches)

    async def _hop(self, here: _Place, topics: set[str], reach: _Reach) -> PathHop:
        """Move along a relation that is drawn from those of the path's entity.

        Relations whose counts show that the hop would not be within the limits are not read: a triple or two of each
        entity may lead to the same one, but no more than that.
        """
        limits = self._limits
        drawn = self._drawn(here, reach)
        for _ in range(_TRIES):
            row = await anext(drawn, None)
            if row is None:
                break
            triples = await self._graph.triples(sorted(here.frontier), row.relation)
            ends = triples.ends(here.frontier, row.relation, row.direction)
            near = ends.get(here.here, {})
            onward = sorted(near.keys() - self._visited)
            reached = {end: name for each in ends.values() for end, name in each.items() if end not in topics}
            if not (triples.complete and onward and limits.d_min <= len(near) <= limits.d_max):
                continue
            if not reach.fewest <= len(reached) <= reach.most or any(name in UNNAMED for name in reached.values()):
                continue
            self._note(row, triples)
            hop = PathHop(
                start=here.here, relation=row.relation, direction=row.direction, end=self._chance.choice(onward)
            )
            self._visited.add(hop.end)
            here.here, here.frontier = hop.end, frozenset(reached)
            return hop
        raise DroppedError("dead end: no relation within the limits")

    async def _drawn(self, here: _Place, reach: _Reach) -> AsyncGenerator[RelationRow]:
        """The relations of the path's entity whose counts allow a hop, in a random order.

        They are drawn from those of all entities that the path's relations reach. Those of the path's entity itself
        are listed only if a drawn relation is not one of all of these entities.
        """
        near_most = _ROWS_PER_END * self._limits.d_max
        most = near_most * len(here.frontier)
        listed = self._followed(await self._graph.relations(sorted(here.frontier)))
        listed = [row for row in listed if reach.fewest <= row.rows <= most]
        own: set[tuple[str, Direction]] | None = None
        for row in self._chance.sample(listed, len(listed)):
            if row.entities < len(here.frontier):
                if own is None:
                    rows = await self._graph.relations([here.here])
                    own = {(each.relation, each.direction) for each in rows if each.rows <= near_most}
                if (row.relation, row.direction) not in own:
                    continue
            yield row

    def _followed(self, rows: Sequence[RelationRow]) -> list[RelationRow]:
        """The relations that may be followed. Those to mediators are not: their two-hop relations are listed, too."""
        names = {row.relation for row in rows}
        halves = {half for name in names for half in _halves(name)}
        return [row for row in rows if self._limits.permits(row.relation) and row.relation not in halves]

    async def _second_branch(self, here: _Place, first: Sequence[PathHop]) -> PathHop:
        """Find a second topic from which one hop leads to where the walk is, and keep what both reach."""
        back = (first[-1].relation, OPPOSITE[first[-1].direction])
        listed = self._followed(await self._graph.relations([here.here]))
        for row in self._chance.sample(listed, min(_TRIES, len(listed))):
            triples = await self._graph.triples([here.here], row.relation)
            near = triples.ends([here.here], row.relation, row.direction).get(here.here, {})
            topics = sorted(
                end
                for end in near.keys() - self._visited
                if near[end] not in UNNAMED and not ((row.relation, row.direction) == back and end == first[-1].start)
            )
            if not topics:
                continue
            topic = self._chance.choice(topics)
            toward: Direction = OPPOSITE[row.direction]
            reached = await self._reached(topic, row.relation, toward)
            shared = here.frontier & reached - {first[0].start, topic}
            # Otherwise one of the topics is not needed to answer.
            if here.here in shared and shared < here.frontier - {topic} and shared < reached - {first[0].start}:
                self._note(row, triples)
                self._visited.add(topic)
                here.frontier = shared
                return PathHop(start=topic, relation=row.relation, direction=toward, end=here.here)
        raise DroppedError("no second topic that narrows the answers")

    async def _reached(self, topic: str, relation: str, direction: Direction) -> frozenset[str]:
        """What a relation reaches from a topic; nothing if that is not within the limits."""
        triples = await self._graph.triples([topic], relation)
        near = triples.ends([topic], relation, direction).get(topic, {})
        within = triples.complete and self._limits.d_min <= len(near) <= self._limits.d_max
        return frozenset(near) if within and not any(name in UNNAMED for name in near.values()) else frozenset()

    def _note(self, followed: RelationRow, triples: Triples) -> None:
        self._labels[followed.relation] = followed.label
        for row in triples.rows:
            self._names[row.head.id] = row.head.name
            self._names[row.tail.id] = row.tail.name


def _halves(relation: str) -> set[str]:
    """What a two-hop relation `rel1.rel2` may be made of."""
    parts = relation.split(".")
    return {".".join(half) for place in range(1, len(parts)) for half in (parts[:place], parts[place:])}
