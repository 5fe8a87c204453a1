"""Makes the calls that answer a question along its path, and collects the answers: the environment (phase 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from kgnav_bench.client import ToolFailedError
from kgnav_bench.walks.patterns import Pattern
from kgnav_bench.walks.sampling import DroppedError, Limits
from kgnav_bench.walks.session import (
    GET_RELATIONS,
    GET_TRIPLES,
    UNNAMED,
    Session,
    read_relations,
    read_triples,
    relations_arguments,
    triples_arguments,
)
from kgnav_bench.walks.sharegpt import NamedEntity, PathHop

Place = Literal["start", "second topic", "meeting", "onward"]
"""Where a call starts: the first topic, the second one, where two branches meet, or the ends of the hop before."""


@dataclass(frozen=True, slots=True)
class Step:
    """One call of the agent, and the server's answer."""

    tool: str
    entities: tuple[NamedEntity, ...]
    relation: str
    """The relation to follow; for `get_relations`, the one to find in the answer."""
    direction: str
    place: Place
    observation: str
    listed: int = 0
    """Number of relations that `get_relations` listed."""

    @property
    def arguments(self) -> Mapping[str, object]:
        """The arguments as the agent writes them. The question that ranks relations is added by the environment."""
        ids = [each.id for each in self.entities]
        return relations_arguments(ids, None) if self.tool == GET_RELATIONS else triples_arguments(ids, [self.relation])


@dataclass(slots=True)
class Exploration:
    """All steps, and the answers that they lead to."""

    steps: list[Step] = field(default_factory=list[Step])
    sides: list[tuple[NamedEntity, ...]] = field(default_factory=list[tuple[NamedEntity, ...]])
    """The entities that each branch reaches."""
    answers: tuple[NamedEntity, ...] = ()


class Explorer:
    """Follows a path, and all entities that its relations reach, with two calls per hop."""

    def __init__(self, session: Session, limits: Limits, question: str | None) -> None:
        """`question` ranks the relations; None: they are listed unranked."""
        self._session = session
        self._limits = limits
        self._question = question
        self._names: dict[str, str] = {}

    async def explore(self, found: Pattern, topics: Sequence[NamedEntity]) -> Exploration:
        """Make the calls from the topics to all answers.

        Raises:
            DroppedError: an answer is incomplete, or not within the limits.
        """
        self._names.update((topic.id, topic.name) for topic in topics)
        explored = Exploration()
        ids = frozenset(topic.id for topic in topics)
        frontiers: list[frozenset[str]] = []
        for number, branch in enumerate(found.branches):
            frontier = frozenset([branch[0].start])
            for place, hop in enumerate(branch):
                begun: Place = "onward" if place else ("second topic" if number else "start")
                frontier = await self._follow(explored, hop, frontier, ids, begun)
            frontiers.append(frontier)
            explored.sides.append(self._named(frontier))
        reached = frontiers[0].intersection(*frontiers[1:])
        if len(frontiers) > 1 and any(reached == side for side in frontiers):
            raise DroppedError("no second topic that narrows the answers")
        for hop in found.tail:
            reached = await self._follow(explored, hop, reached, ids, "meeting")
        if not reached or len(reached) > self._limits.answers:
            raise DroppedError("too many answers" if reached else "no answers")
        explored.answers = self._named(reached)
        return explored

    async def _follow(
        self, explored: Exploration, hop: PathHop, frontier: frozenset[str], topics: frozenset[str], place: Place
    ) -> frozenset[str]:
        entities = self._named(frontier)
        ids = [each.id for each in entities]
        listing = await self._text(GET_RELATIONS, relations_arguments(ids, self._question))
        relations = read_relations(listing).rows
        if not any((row.relation, row.direction) == (hop.relation, hop.direction) for row in relations):
            raise DroppedError("the relation is not among the listed ones")
        explored.steps.append(
            Step(GET_RELATIONS, entities, hop.relation, hop.direction, place, listing, listed=len(relations))
        )
        answer = await self._text(GET_TRIPLES, triples_arguments(ids, [hop.relation]))
        triples = read_triples(answer)
        explored.steps.append(
            Step(GET_TRIPLES, entities, hop.relation, hop.direction, place, answer, listed=len(relations))
        )
        if not triples.complete:
            raise DroppedError("an answer with several pages")
        ends = {
            end: name
            for each in triples.ends(frontier, hop.relation, hop.direction).values()
            for end, name in each.items()
        }
        reached = ends.keys() - topics
        if len(reached) > self._limits.frontier:
            raise DroppedError("too many entities between topics and answers")
        if any(ends[end] in UNNAMED for end in reached):
            raise DroppedError("an entity without a name")
        if hop.end not in reached:
            raise DroppedError("the path leads back to a topic")
        self._names.update(ends)
        return frozenset(reached)

    async def _text(self, tool: str, arguments: Mapping[str, object]) -> str:
        try:
            return await self._session.text(tool, arguments)
        except ToolFailedError as error:
            raise DroppedError(f"{tool} answered with an error") from error

    def _named(self, entities: frozenset[str]) -> tuple[NamedEntity, ...]:
        return tuple(NamedEntity(id=each, name=self._names[each]) for each in sorted(entities))
