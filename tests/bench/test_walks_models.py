"""A model writes and scores questions, and its own attempts are kept only where they are right."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from kgnav_bench.models import Message, Reply, Tool
from kgnav_bench.records import Answer, Entity, Question
from kgnav_bench.walks.actions import Call, written
from kgnav_bench.walks.authors import ModelAuthor, masked_path
from kgnav_bench.walks.making import Made
from kgnav_bench.walks.overlap import KnownTests, similarities
from kgnav_bench.walks.patterns import pattern
from kgnav_bench.walks.rolling import Roller
from kgnav_bench.walks.sampling import DroppedError
from kgnav_bench.walks.session import Answered
from kgnav_bench.walks.sharegpt import NamedEntity, PathHop, Shape

PATH = [
    PathHop(start="Up", relation="directed_by", direction="outgoing", end="Ann"),
    PathHop(start="Ann", relation="directed_by", direction="incoming", end="Off"),
]
TOPICS = [NamedEntity(id="Up", name="Up")]


@dataclass
class FakeModel:
    """A model that replies by a function of the messages."""

    reply: Callable[[Sequence[Message]], str]
    asked: list[Sequence[Message]] = field(default_factory=list[Sequence[Message]])
    name: str = "fake"

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        temperature: float | None = None,
        max_tokens: int | None = None,
        stop: Sequence[str] = (),
    ) -> Reply:
        del tools, temperature, max_tokens, stop
        self.asked.append(messages)
        return Reply(self.reply(messages))


def author(question: str, score: str) -> ModelAuthor:
    """An author that always writes this question, and scores it so."""
    return ModelAuthor(
        FakeModel(lambda messages: score if "<score>" in messages[0].text else f"<question>{question}</question>")
    )


def ask(one: ModelAuthor) -> tuple[str, float]:
    async def asked() -> tuple[str, float]:
        chance = random.Random(1)  # noqa: S311 - not a secret
        text, scores = await one.question(pattern(Shape.CHAIN_2, PATH), TOPICS, lambda relation: relation, chance)
        assert scores is not None
        return text, scores.mean

    return asyncio.run(asked())


def test_a_question_is_kept_from_an_average_score_of_nine():
    good = "Which other films have the director of Up?"
    assert ask(author(good, "<score>9</score>")) == (good, 9.0)
    with pytest.raises(DroppedError, match="scored below 9"):
        ask(author(good, "<score>8.5</score>"))
    with pytest.raises(DroppedError, match="no score"):
        ask(author(good, "nine"))


@pytest.mark.parametrize(
    "text", ["Who? And why Up?", "What did entity1 of Up do?", "Which films has the director?", ""]
)
def test_a_question_with_a_placeholder_or_without_its_topic_is_dropped(text: str):
    with pytest.raises(DroppedError):
        ask(author(text, "<score>10</score>"))


def test_the_prompt_for_a_question_has_no_entity_on_the_way():
    text = masked_path(pattern(Shape.CHAIN_2, PATH), TOPICS, lambda relation: relation.replace("_", " "))
    assert text == '"Up" -[directed_by (directed by)]-> entity1 <-[directed_by (directed by)]- the answer'


class FakeSession:
    """A server with one answer."""

    async def answer(self, tool: str, arguments: object) -> Answered:
        del tool, arguments
        return Answered(
            "1 triple\nhead|headLabel|relation|tail|tailLabel\n--|--|--|--|--\nUp|Up|directed_by|Ann|Ann", False
        )


def roll(*replies: str) -> Made:
    left = iter(replies)
    roller = Roller(FakeSession(), "[]", FakeModel(lambda _: next(left)), turns=3)  # pyright: ignore[reportArgumentType]
    question = Question(id="1", text="Who?", answers=(Answer(names=("Ann",)),), topics=(Entity(id="Up"),), kind="1-hop")
    return asyncio.run(roller.roll(0, question))


CALL = written("Look.", Call("get_triples", ("Up",), ("directed_by",)))


def test_an_attempt_is_kept_if_its_answer_is_right_and_was_shown():
    made = roll("no action", CALL, written("Done.", ["Ann"]))
    assert made.conversation is not None
    told = made.conversation.conversations[3].value
    assert "No action was read: write one <kg-query>" in told
    assert made.conversation.metadata.shape is Shape.OTHER


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        ((written("I know.", ["Ann"]),), "an answer that was not shown"),
        ((CALL, written("Done.", ["Ann", "Up"])), "a wrong or incomplete answer"),
        ((CALL, CALL, CALL), "no answer within the turns"),
    ],
)
def test_other_attempts_are_dropped_and_counted(replies: tuple[str, ...], reason: str):
    made = roll(*replies)
    assert made.conversation is None
    assert dict(made.dropped) == {reason: 1}


def test_questions_overlap_by_words_path_entities_or_meaning():
    def question(text: str, relation: str, answer: str) -> Question:
        return Question(
            id=text, text=text, topics=(Entity(id="Up"),), relations=(relation,), answers=(Answer(names=(answer,)),)
        )

    known = KnownTests([question("Who directed Up?", "directed_by", "Ann")])
    same_words = known.exact(question("who directed  up", "x", "y"))
    same_path = known.exact(question("a", "directed_by", "y"))
    same_entities = known.exact(question("b", "x", "ann"))
    other = known.exact(question("c", "x", "y"))
    assert [same_words.text, same_path.path, same_entities.entities] == [True] * 3
    assert not other.flagged(0.85)
    numpy = pytest.importorskip("numpy")
    vectors = {"a": [1.0, 0.0], "b": [0.6, 0.8], "t": [1.0, 0.0], "u": [0.0, 1.0]}
    found = similarities(lambda texts: numpy.array([vectors[text] for text in texts]), ["a", "b"], ["t", "u"])
    assert found == pytest.approx([1.0, 0.8])
