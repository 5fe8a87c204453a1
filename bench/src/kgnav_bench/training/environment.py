"""The live server as the environment of attempts: the observation after each turn (GraphWalker, section 2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from kgnav_bench.client import BareClient, ServerEndedError, ToolFailedError, server_command
from kgnav_bench.records import Question
from kgnav_bench.training.conversations import Message
from kgnav_bench.walks.actions import UnreadableActionError, observed, read_turn
from kgnav_bench.walks.sharegpt import NamedEntity
from kgnav_bench.walks.wording import INSTRUCTIONS, human

_TOOLSETS = "graphwalker,linking"


@dataclass(frozen=True, slots=True)
class Reaction:
    """The reaction to a turn of the model: the final answer, or the next observation. The other one is None."""

    answers: tuple[str, ...] | None = None
    observation: str | None = None
    called: bool = False
    """Whether a tool was called."""


class Environment:
    """The server with GraphWalker's tools, started as a child process. One call at a time."""

    def __init__(self, graph: str, questions: Iterable[Question], *, ranked: bool) -> None:
        """Start the server.

        Args:
            graph: a graph file or the URL of a store.
            questions: those that attempts are made at.
            ranked: whether relations are ranked by the question.

        Raises:
            ServerEndedError: the server does not start. The reason is on stderr.
        """
        self._ranking = {human_text(question): question.text for question in questions} if ranked else {}
        try:
            self._client = BareClient([*server_command(graph), "--toolsets", _TOOLSETS])
        except BrokenPipeError as error:
            raise ServerEndedError("the server ended before it answered initialize") from error

    def react(self, prompt: Sequence[Message], turn: str) -> Reaction:
        """The reaction to a turn. A turn without a valid action, or a call that fails, is answered with the reason.

        Raises:
            ServerEndedError: the server has ended.
        """
        try:
            action = read_turn(turn)
        except UnreadableActionError as error:
            return Reaction(observation=observed(str(error)))
        if action.call is None:
            return Reaction(answers=action.answer)
        question = self._ranking.get(prompt[-1]["content"])
        try:
            text = self._client.call(action.call.tool, action.call.arguments(question))
        except ToolFailedError as error:
            text = str(error)
        except BrokenPipeError as error:
            raise ServerEndedError(f"the server ended before it answered {action.call.tool}") from error
        return Reaction(observation=observed(text), called=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()


def prompt(question: Question) -> list[Message]:
    """The prompt of a question, in the form of the walks that the model was fine-tuned on."""
    return [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": human_text(question)}]


def human_text(question: Question) -> str:
    """The question with its topic entities, in the form of walks."""
    topics = [NamedEntity(id=topic.id, name=topic.name or topic.id) for topic in question.topics]
    return human(question.text, topics)
