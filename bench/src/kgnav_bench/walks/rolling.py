"""A model's own attempts at questions, kept if the answer is right and was shown (GraphRoll, section 2.2.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter

from kgnav_bench.models import Message as ModelMessage
from kgnav_bench.models import Model, Role
from kgnav_bench.records import Question, read_records
from kgnav_bench.walks import wording
from kgnav_bench.walks.actions import Turn, UnreadableActionError, observed, read_turn
from kgnav_bench.walks.grounding import Shown
from kgnav_bench.walks.making import Made
from kgnav_bench.walks.sampling import DroppedError
from kgnav_bench.walks.session import Session
from kgnav_bench.walks.sharegpt import Conversation, Message, Metadata, NamedEntity, Sender, Shape, Source

TITLE = "rollout"
TURNS = 10
"""Maximum turns of an attempt (section 3.1)."""

_ROLES = {
    Sender.SYSTEM: Role.SYSTEM,
    Sender.HUMAN: Role.USER,
    Sender.GPT: Role.ASSISTANT,
    Sender.OBSERVATION: Role.USER,
}


class Roller:
    """Lets a model answer questions with the tools of a session."""

    def __init__(self, session: Session, tools: str, model: Model, *, turns: int = TURNS, seed: int = 0) -> None:
        self._session = session
        self._tools = tools
        self._model = model
        self._turns = turns
        self._seed = seed

    async def roll(self, number: int, question: Question) -> Made:
        """Make one attempt. Returns a conversation if it is kept, otherwise the reason why not.

        Raises:
            EndpointError: the request to the model failed.
        """
        made = Made(number)
        start = perf_counter()
        try:
            made.conversation = await self._conversation(number, question)
            made.key = question.id
        except DroppedError as dropped:
            made.dropped[str(dropped)] += 1
        made.seconds = perf_counter() - start
        return made

    async def _conversation(self, number: int, question: Question) -> Conversation:
        topics = tuple(NamedEntity(id=each.id, name=each.name or each.id) for each in question.topics)
        messages = [
            Message(sender=Sender.SYSTEM, value=wording.INSTRUCTIONS),
            Message(sender=Sender.HUMAN, value=wording.human(question.text, topics)),
        ]
        shown = Shown(topics)
        for _ in range(self._turns):
            reply = await self._model.complete([ModelMessage(_ROLES[each.sender], each.value) for each in messages])
            messages.append(Message(sender=Sender.GPT, value=reply.text))
            turn, told = _read(reply.text)
            if turn is not None and turn.answer is not None:
                _judge(turn.answer, question, shown)
                return self._kept(number, question, topics, messages)
            if turn is not None and turn.call is not None:
                answered = await self._session.answer(turn.call.tool, turn.call.arguments(question.text))
                told = answered.text
                if not answered.is_error:
                    shown.read(told)
            messages.append(Message(sender=Sender.OBSERVATION, value=observed(told)))
        raise DroppedError("no answer within the turns")

    def _kept(
        self, number: int, question: Question, topics: tuple[NamedEntity, ...], messages: Sequence[Message]
    ) -> Conversation:
        shapes = {shape.value: shape for shape in Shape}
        metadata = Metadata(
            source=Source.ROLLOUT,
            shape=shapes.get(question.kind, Shape.OTHER),
            question=question.text,
            topics=topics,
            path=(),
            answers=tuple(NamedEntity(id=each.id or each.names[0], name=each.names[0]) for each in question.answers),
            ranked=True,
            seed=self._seed,
            number=number,
            model=self._model.name,
            scores=None,
        )
        return Conversation(id=f"{TITLE}/{number}", conversations=tuple(messages), tools=self._tools, metadata=metadata)


def _read(text: str) -> tuple[Turn | None, str]:
    """The turn of a message, or the reply to a message without an action."""
    try:
        return read_turn(text), ""
    except UnreadableActionError as error:
        return None, f"No action was read: {error}."


def _judge(answer: Sequence[str], question: Question, shown: Shown) -> None:
    """Exact match with all true answers, each of which an observation has shown."""
    if set(answer) - shown.entities:
        raise DroppedError("an answer that was not shown")
    given = {name.casefold() for name in answer}
    missing = [true for true in question.answers if not given & {name.casefold() for name in true.names}]
    known = {name.casefold() for true in question.answers for name in true.names}
    if missing or given - known:
        raise DroppedError("a wrong or incomplete answer")


def questions_of(conversations: Sequence[Conversation]) -> Iterator[Question]:
    """The questions of walks, in the form that other commands read."""
    from kgnav_bench.records import Answer, Entity  # noqa: PLC0415 - used here only
    from kgnav_bench.walks.patterns import FORMS, pattern, plan  # noqa: PLC0415 - as above

    for conversation in conversations:
        metadata = conversation.metadata
        chain = metadata.shape in FORMS and len(FORMS[metadata.shape].branches) == 1 and metadata.path
        yield Question(
            id=conversation.id,
            text=metadata.question,
            answers=tuple(Answer(names=(each.name,), id=each.id) for each in metadata.answers),
            topics=tuple(Entity(id=each.id, name=each.name) for each in metadata.topics),
            kind=metadata.shape.value,
            dataset="walks",
            relations=tuple(f"{'^' * (hop.direction == 'incoming')}{hop.relation}" for hop in metadata.path if chain),
            query=plan(pattern(metadata.shape, metadata.path)) if metadata.path else None,
        )


def read_questions(path: Path) -> list[Question]:
    """The questions of a file.

    Raises:
        UnreadableRecordsError: a line is not a question.
    """
    return list(read_records(path, Question))
