"""Makes training conversations of one shape from random walks, in the order of their numbers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter

from kgnav_bench.client import ToolFailedError
from kgnav_bench.walks import wording
from kgnav_bench.walks.actions import observed, written
from kgnav_bench.walks.authors import Author, call_of
from kgnav_bench.walks.exploration import Exploration, Explorer
from kgnav_bench.walks.grounding import ungrounded
from kgnav_bench.walks.order import in_order
from kgnav_bench.walks.patterns import Pattern, pattern, plan
from kgnav_bench.walks.sampling import DroppedError, Limits, Sampler
from kgnav_bench.walks.session import Session
from kgnav_bench.walks.sharegpt import Conversation, Message, Metadata, NamedEntity, Sender, Shape, Source

ATTEMPTS = 100
"""Maximum number of walks that are started for one number. If all are dropped, it has no conversation."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the conversations."""

    shape: Shape
    seed: int
    limits: Limits
    ranked: bool = True
    """Rank the relations by the question, as at inference (section 2.2.1, phase 3)."""


@dataclass(slots=True)
class Made:
    """The result for one number: a conversation, or None; and the walks that were dropped before, by reason."""

    number: int
    conversation: Conversation | None = None
    key: str = ""
    """The key that walks with the same question share."""
    dropped: Counter[str] = field(default_factory=Counter[str])
    seconds: float = 0.0


class Maker:
    """Makes conversations from a session."""

    def __init__(
        self, session: Session, tools: str, topics: Sequence[NamedEntity], author: Author, settings: Settings
    ) -> None:
        """`topics` are the entities that walks may begin at."""
        self._session = session
        self._tools = tools
        self._topics = topics
        self._author = author
        self._settings = settings

    async def in_order(self, first: int, concurrency: int) -> AsyncGenerator[Made]:
        """Endless results from a number on, in order. Up to `concurrency` are made concurrently."""
        async with aclosing(in_order(map(self.make, count(first)), concurrency)) as made:
            async for one in made:
                yield one

    async def make(self, number: int) -> Made:
        """The conversation of a number, which depends on nothing but the settings and the graph."""
        made = Made(number)
        start = perf_counter()
        settings = self._settings
        for attempt in range(ATTEMPTS):
            drawn = f"{settings.seed}/{settings.shape.value}/{number}/{attempt}"
            chance = random.Random(drawn)  # noqa: S311 - a choice of samples, not a secret
            try:
                made.conversation, made.key = await self._conversation(number, chance)
            except DroppedError as dropped:
                made.dropped[str(dropped)] += 1
            else:
                break
        made.seconds = perf_counter() - start
        return made

    async def _conversation(self, number: int, chance: random.Random) -> tuple[Conversation, str]:
        settings = self._settings
        sampler = Sampler(self._session, settings.limits, chance)
        try:
            path = await sampler.walk(settings.shape, chance.choice(self._topics))
        except ToolFailedError as error:
            raise DroppedError("a tool answered with an error") from error
        found = pattern(settings.shape, path)
        topics = [NamedEntity(id=topic, name=sampler.name(topic)) for topic in found.topics]
        question, scores = await self._author.question(found, topics, sampler.label, chance)
        explorer = Explorer(self._session, settings.limits, question if settings.ranked else None)
        explored = await explorer.explore(found, topics)
        await self._verify(found, explored)
        metadata = Metadata(
            source=Source.WALK,
            shape=settings.shape,
            question=question,
            topics=tuple(topics),
            path=tuple(path),
            answers=explored.answers,
            ranked=settings.ranked,
            seed=settings.seed,
            number=number,
            model=self._author.model,
            scores=scores,
        )
        return await self._written(explored, metadata, chance), found.key

    async def _verify(self, found: Pattern, explored: Exploration) -> None:
        """Compare the answers with those of one plan over the whole pattern."""
        try:
            planned = {row[0] for row in await self._session.rows(plan(found))}
        except ToolFailedError as error:
            raise DroppedError("the plan that verifies the answers failed") from error
        if planned != {answer.id for answer in explored.answers}:
            raise DroppedError("the plan and the tools find different answers")

    async def _written(self, explored: Exploration, metadata: Metadata, chance: random.Random) -> Conversation:
        messages = [
            Message(sender=Sender.SYSTEM, value=wording.INSTRUCTIONS),
            Message(sender=Sender.HUMAN, value=wording.human(metadata.question, metadata.topics)),
        ]
        for place, step in enumerate(explored.steps):
            thought = await self._author.thought(metadata.question, explored, place, chance)
            messages.append(Message(sender=Sender.GPT, value=written(thought, call_of(step))))
            messages.append(Message(sender=Sender.OBSERVATION, value=observed(step.observation)))
        thought = await self._author.thought(metadata.question, explored, len(explored.steps), chance)
        messages.append(Message(sender=Sender.GPT, value=written(thought, answer_names(metadata.answers))))
        if sum(len(message.value) for message in messages) > self._settings.limits.characters:
            raise DroppedError("the conversation is too long")
        conversation = Conversation(
            id=f"{metadata.shape.value}/{metadata.number}",
            conversations=tuple(messages),
            tools=self._tools,
            metadata=metadata,
        )
        if next(ungrounded(conversation), None) is not None:
            raise DroppedError("a thought names what is not shown yet")
        return conversation


def answer_names(answers: Sequence[NamedEntity]) -> list[str]:
    """The distinct names of a final answer, in the order of the ids."""
    return list(dict.fromkeys(answer.name for answer in answers))
