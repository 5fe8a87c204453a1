"""Constrained random walks over the server's tools (GraphWalker, algorithm 1 and equation 1).

A walk follows one sampled path and, beside it, the frontier: all entities that its relations reach, which the question
asks for. A path never visits an entity twice, and no hop of the frontier leads back to a topic.
"""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, Sequence, Set
from contextlib import aclosing
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Protocol

from kgnav_bench.walks.patterns import FORMS, Form
from kgnav_bench.walks.session import OPPOSITE, UNNAMED, Direction, RelationRow, Relations, Triples
from kgnav_bench.walks.sharegpt import NamedEntity, PathHop, Shape

_TRIES = 4
"""Relations that are tried at an entity, and, for each hop of a path, in the walk."""
_CHARACTERS_BESIDE = 1_400
_CHARACTERS_OF_HOP = 450
"""Characters of a conversation beside the observations, and of a hop's thoughts and calls, as word templates write."""
_ROWS_PER_END = 2
"""Maximum triples that may lead an entity to the same neighbour, as several mediators do."""


class DroppedError(Exception):
    """A walk is not kept. The message is the reason, by which dropped walks are counted."""


class Graph(Protocol):
    """The part of a session that sampling needs."""

    async def relations(self, entities: Sequence[str], question: str | None = None) -> Relations:
        """The relations of entities."""
        ...

    async def triples(self, entities: Sequence[str], relation: str) -> Triples:
        """The triples of a relation at entities."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of walks."""

    d_min: int = 1
    """Minimum number of neighbours of the path's entity along a sampled relation (equation 1)."""
    d_max: int = 20
    """Maximum number of neighbours of the path's entity along a sampled relation (equation 1)."""
    frontier: int = 40
    """Maximum number of entities between the topics and the answers at any hop."""
    answers: int = 20
    """Maximum answers of a question."""
    characters: int = 16_000
    """Maximum characters of a conversation: about the paper's 4,096 tokens (appendix G)."""
    allow: tuple[str, ...] = ()
    """Glob patterns of relation ids that may be followed; all if empty."""
    forbid: tuple[str, ...] = ()
    """Glob patterns of relation ids that are never followed."""

    def permits(self, relation: str) -> bool:
        """Whether walks may follow a relation."""
        allowed = not self.allow or any(fnmatchcase(relation, each) for each in self.allow)
        return allowed and not any(fnmatchcase(relation, each) for each in self.forbid)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a walk is: its entity, and all entities that the relations so far reach."""

    here: str
    frontier: frozenset[str]
    visited: frozenset[str]
    """The entities of the path so far."""
    characters: int
    """Characters of the conversation so far."""


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
        self._reads_left = 0

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
            DroppedError: the walk reached a dead end, or is not within the limits.
        """
        form = FORMS[shape]
        self._names[topic.id] = topic.name
        self._reads_left = _TRIES * (form.branches[0] + form.tail)
        start = _Place(topic.id, frozenset([topic.id]), frozenset([topic.id]), _CHARACTERS_BESIDE)
        reaches = self._reaches(form)
        first, meeting = await self._chain(start, {topic.id}, reaches[: form.branches[0]])
        if len(form.branches) == 1:
            return first
        second, meeting = await self._second_branch(meeting, first)
        tail, _ = await self._chain(meeting, {topic.id, second.start}, reaches[form.branches[0] :])
        return [*first, second, *tail]

    async def _chain(self, start: _Place, topics: Set[str], reaches: Sequence[_Reach]) -> tuple[list[PathHop], _Place]:
        """Hops one after the other, and where they lead. Where none leads on, the walk goes back a hop.

        Raises:
            DroppedError: there is no such way, or it takes too many reads to find one.
        """
        found = await self._onward(start, topics, reaches)
        if found is None:
            raise DroppedError("dead end: no relation within the limits")
        return found

    async def _onward(
        self, start: _Place, topics: Set[str], reaches: Sequence[_Reach]
    ) -> tuple[list[PathHop], _Place] | None:
        if not reaches:
            return [], start
        async with aclosing(self._hops(start, topics, reaches[0])) as hops:
            async for hop, end in hops:
                if (found := await self._onward(end, topics, reaches[1:])) is not None:
                    rest, last = found
                    return [hop, *rest], last
        return None

    def _reaches(self, form: Form) -> Sequence[_Reach]:
        """How many entities each hop with a drawn relation may reach, in the order of exploration.

        The last hop reaches the answers. Where paths meet, the second topic must leave at least one of two entities.
        """
        limits = self._limits
        reaches = [_Reach(1, limits.frontier)] * (form.branches[0] + form.tail)
        if len(form.branches) > 1:
            reaches[form.branches[0] - 1] = _Reach(2, limits.frontier)
        if len(form.branches) == 1 or form.tail:
            reaches[-1] = _Reach(1, min(limits.frontier, limits.answers))
        return reaches

    async def _hops(self, place: _Place, topics: Set[str], reach: _Reach) -> AsyncGenerator[tuple[PathHop, _Place]]:
        """Hops along relations that are drawn from those of the path's entity, and where they lead.

        Relations whose counts show that the hop would not be within the limits are not read: a triple or two of each
        entity may lead to the same one, but no more than that.
        """
        listed = await self._graph.relations(sorted(place.frontier))
        characters = place.characters + listed.characters + _CHARACTERS_OF_HOP
        if characters > self._limits.characters:
            return
        tries = 0
        async with aclosing(self._drawn(place, listed.rows, reach)) as drawn:
            async for row in drawn:
                if tries == _TRIES or not self._reads_left:
                    return
                tries += 1
                self._reads_left -= 1
                triples = await self._graph.triples(sorted(place.frontier), row.relation)
                led = self._led(place, topics, reach, row, triples)
                if led is None or characters + triples.characters > self._limits.characters:
                    continue
                onward, reached = led
                self._note(row, triples)
                end = self._chance.choice(onward)
                hop = PathHop(start=place.here, relation=row.relation, direction=row.direction, end=end)
                yield hop, _Place(end, reached, place.visited | {end}, characters + triples.characters)

    def _led(
        self, place: _Place, topics: Set[str], reach: _Reach, row: RelationRow, triples: Triples
    ) -> tuple[list[str], frozenset[str]] | None:
        """Where a relation leads the path, and all entities that it reaches; None if that is not within the limits."""
        ends = triples.ends(place.frontier, row.relation, row.direction)
        near = ends.get(place.here, {})
        onward = sorted(near.keys() - place.visited)
        reached = {end: name for each in ends.values() for end, name in each.items() if end not in topics}
        within = (
            triples.complete
            and onward
            and self._limits.d_min <= len(near) <= self._limits.d_max
            and reach.fewest <= len(reached) <= reach.most
            and not any(name in UNNAMED for name in reached.values())
        )
        return (onward, frozenset(reached)) if within else None

    async def _drawn(self, place: _Place, rows: Sequence[RelationRow], reach: _Reach) -> AsyncGenerator[RelationRow]:
        """The relations of the path's entity whose counts allow a hop, in a random order.

        They are drawn from `rows`, those of all entities that the path's relations reach. Those of the path's entity
        itself are listed only if a drawn relation is not one of all of these entities.
        """
        near_most = _ROWS_PER_END * self._limits.d_max
        most = near_most * len(place.frontier)
        listed = [row for row in self._followed(rows) if reach.fewest <= row.rows <= most]
        own: set[tuple[str, Direction]] | None = None
        for row in self._chance.sample(listed, len(listed)):
            if row.entities < len(place.frontier):
                if own is None:
                    at_entity = await self._graph.relations([place.here])
                    own = {(each.relation, each.direction) for each in at_entity.rows if each.rows <= near_most}
                if (row.relation, row.direction) not in own:
                    continue
            yield row

    def _followed(self, rows: Sequence[RelationRow]) -> list[RelationRow]:
        """The relations that may be followed. Those to mediators are not: their two-hop relations are listed, too."""
        names = {row.relation for row in rows}
        halves = {half for name in names for half in _halves(name)}
        return [row for row in rows if self._limits.permits(row.relation) and row.relation not in halves]

    async def _second_branch(self, place: _Place, first: Sequence[PathHop]) -> tuple[PathHop, _Place]:
        """Find a second topic from which one hop leads to where the walk is, and keep what both reach."""
        back = (first[-1].relation, OPPOSITE[first[-1].direction])
        listed = self._followed((await self._graph.relations([place.here])).rows)
        for row in self._chance.sample(listed, min(_TRIES, len(listed))):
            triples = await self._graph.triples([place.here], row.relation)
            near = triples.ends([place.here], row.relation, row.direction).get(place.here, {})
            topics = sorted(
                end
                for end in near.keys() - place.visited
                if near[end] not in UNNAMED and not ((row.relation, row.direction) == back and end == first[-1].start)
            )
            if not topics:
                continue
            topic = self._chance.choice(topics)
            toward: Direction = OPPOSITE[row.direction]
            reached = await self._reached(topic, row.relation, toward)
            shared = place.frontier & reached - {first[0].start, topic}
            # Otherwise one of the topics is not needed to answer.
            if place.here in shared and shared < place.frontier - {topic} and shared < reached - {first[0].start}:
                self._note(row, triples)
                hop = PathHop(start=topic, relation=row.relation, direction=toward, end=place.here)
                return hop, replace(place, frontier=shared, visited=place.visited | {topic})
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
