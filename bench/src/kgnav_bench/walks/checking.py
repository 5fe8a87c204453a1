"""Checks training conversations against a server: repeats every call, and checks the named entities and the answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from itertools import pairwise

from kgnav_bench.client import ToolFailedError
from kgnav_bench.walks.actions import Turn, UnreadableActionError, observation_text, read_turn
from kgnav_bench.walks.grounding import names_in, ungrounded
from kgnav_bench.walks.order import in_order
from kgnav_bench.walks.patterns import FORMS, Pattern, pattern, plan
from kgnav_bench.walks.session import Session
from kgnav_bench.walks.sharegpt import Conversation, Message, PathHop, Sender

_OPENING = (Sender.SYSTEM, Sender.HUMAN)
KINDS = ("malformed", "unreplayable", "ungrounded", "incomplete")
"""The kinds of faults."""
_CUT = 120
"""Maximum characters of an answer in a message."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The faults of one conversation, by kind of check. Without faults all fields are empty."""

    line: int
    malformed: tuple[str, ...] = ()
    """It is not a conversation in turns, or its path does not have its shape."""
    unreplayable: tuple[str, ...] = ()
    """The server answers a call differently now."""
    ungrounded: tuple[str, ...] = ()
    """A message names something that was not shown before."""
    incomplete: tuple[str, ...] = ()
    """The final answer is not the complete set."""
    calls: int = 0

    @property
    def faults(self) -> Iterator[str]:
        """All faults, each as a sentence that begins with its kind."""
        for kind in self.kinds:
            yield from (f"{kind}: {each}" for each in getattr(self, kind))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of faults that were found."""
        return tuple(kind for kind in KINDS if getattr(self, kind))


async def checked(session: Session, conversations: Iterable[Conversation], concurrency: int) -> AsyncGenerator[Checked]:
    """The results of checking conversations, in their order. Up to `concurrency` are checked concurrently."""
    checks = (check(session, line, each) for line, each in enumerate(conversations, 1))
    async with aclosing(in_order(checks, concurrency)) as outcomes:
        async for one in outcomes:
            yield one


async def check(session: Session, line: int, conversation: Conversation) -> Checked:
    """Check one conversation."""
    form = tuple(_form(conversation))
    if form:
        return Checked(line, malformed=form)
    replayed = [each async for each in _replayed(session, conversation)]
    return Checked(
        line,
        unreplayable=tuple(each for each in replayed if each),
        ungrounded=tuple(ungrounded(conversation)),
        incomplete=tuple([each async for each in _answers(session, conversation)]),
        calls=len(replayed),
    )


def _form(conversation: Conversation) -> Iterator[str]:
    messages = conversation.conversations
    turns = len(messages) - len(_OPENING)
    expected = (*_OPENING, *(Sender.OBSERVATION if n % 2 else Sender.GPT for n in range(turns)))
    if turns < 1 or turns % 2 == 0 or tuple(message.sender for message in messages) != expected:
        yield "not system, human, then gpt and observation in turns with gpt at the end"
        return
    if conversation.metadata.shape in FORMS and conversation.metadata.path:
        yield from _path(conversation)
    entities: set[str] = {topic.id for topic in conversation.metadata.topics}
    try:
        for message in messages[3::2]:
            entities |= names_in(observation_text(message.value))[0]
        if read_turn(messages[-1].value).answer is None:
            yield "the last message has no answer"
    except UnreadableActionError as error:
        yield str(error)
    path = {entity for hop in conversation.metadata.path for entity in (hop.start, hop.end)}
    yield from (f"no observation shows {each!r}, which is on the path" for each in sorted(path - entities))


def _path(conversation: Conversation) -> Iterator[str]:
    metadata = conversation.metadata
    try:
        found = pattern(metadata.shape, metadata.path)
    except ValueError as error:
        yield str(error)
        return
    if found.topics != tuple(topic.id for topic in metadata.topics):
        yield "the path does not begin at the topics"
    if not _joined(found):
        yield "the hops of the path are not joined"
    entities = [*found.topics, *(hop.end for branch in found.branches for hop in branch[:-1])]
    entities += [found.branches[0][-1].end, *(hop.end for hop in found.tail)]
    if len(set(entities)) < len(entities):
        yield "the path comes to an entity twice"
    if metadata.path[-1].end not in {answer.id for answer in metadata.answers}:
        yield "the path does not end at an answer"


def _joined(found: Pattern) -> bool:
    def line(hops: tuple[PathHop, ...]) -> bool:
        return all(one.end == other.start for one, other in pairwise(hops))

    meetings = {branch[-1].end for branch in found.branches}
    follows = not found.tail or found.tail[0].start in meetings
    return len(meetings) == 1 and follows and all(map(line, (*found.branches, found.tail)))


async def _replayed(session: Session, conversation: Conversation) -> AsyncGenerator[str]:
    """For each call what differs now, or an empty text."""
    metadata = conversation.metadata
    turns = conversation.conversations[len(_OPENING) :]
    for number, (said, seen) in enumerate(zip(turns[::2], turns[1::2], strict=False), 1):
        turn = _turn(said)
        if turn.call is None:
            # A rollout's message without a readable call: what it was told is not the server's answer.
            continue
        answered = await session.answer(
            turn.call.tool, turn.call.arguments(metadata.question if metadata.ranked else None)
        )
        text = observation_text(seen.value)
        if answered.text == text:
            yield ""
        else:
            yield f"call {number}, {str(turn.call)[:_CUT]}, is answered {_difference(text, answered.text)}"


def _turn(message: Message) -> Turn:
    try:
        return read_turn(message.value)
    except UnreadableActionError:
        return Turn("")


def _difference(before: str, now: str) -> str:
    lines = zip(before.split("\n"), now.split("\n"), strict=False)
    one, other = next(
        ((one, other) for one, other in lines if one != other), (f"{len(before)} characters", f"{len(now)}")
    )
    return f"{other[:_CUT]!r}, not {one[:_CUT]!r}"


async def _answers(session: Session, conversation: Conversation) -> AsyncGenerator[str]:
    metadata = conversation.metadata
    final = read_turn(conversation.conversations[-1].value).answer or ()
    named = {answer.name for answer in metadata.answers}
    if set(final) != named:
        yield f"the final answer lacks {len(named - set(final))} names and has {len(set(final) - named)} others"
    if not metadata.path:
        return
    try:
        rows = await session.rows(plan(pattern(metadata.shape, metadata.path)))
    except ToolFailedError as error:
        yield f"the plan that finds all answers failed: {str(error)[:_CUT]}"
        return
    complete = {row[0] for row in rows}
    ids = {answer.id for answer in metadata.answers}
    if complete != ids:
        yield f"{len(complete - ids)} answers are missing and {len(ids - complete)} are wrong"
