"""A model that writes questions and thoughts, and scores questions (GraphWalker, section 2.2.1, phases 2 and 4)."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kgnav_bench.models import Message, Model, Role
from kgnav_bench.walks import wording
from kgnav_bench.walks.actions import Call
from kgnav_bench.walks.exploration import Exploration, Step
from kgnav_bench.walks.patterns import Pattern
from kgnav_bench.walks.sampling import DroppedError
from kgnav_bench.walks.sharegpt import NamedEntity, PathHop, Scores

LOWEST_SCORE = 9.0
"""Minimum average score of a question. Others are dropped (section 2.2.1)."""

_TAGGED = re.compile(r"<question>(.*?)</question>", re.DOTALL)
_SCORE = re.compile(r"<score>\s*(\d+(?:\.\d+)?)\s*</score>")
_THINK = re.compile(r"</?think>")

_ASK = """\
Write one question in English about a path in a knowledge graph. Its answer is what the path ends at.
- Name the entities that the path begins at, as they are written. Those called entity1, entity2 and so on are unknown:
  describe them by how they are related, and never write these placeholders.
- Say what the relations mean in everyday words instead of writing their names.
- Use every hop of the path, and nothing that the path does not say. One sentence with one question mark.
Write it as <question>...</question> and nothing else."""

_SCORE_TASK = """\
You judge a question about a path in a knowledge graph, strictly. {criterion}
Give 10 for no fault, 8 or 9 for a small one, 5 for one that matters, 0 for a useless question.
Write the number as <score>...</score> and nothing else."""

_CRITERIA: Mapping[str, str] = {
    "path": "How complete is the path: do its hops lead from the entities at its beginning to its end without a gap, a "
    "detour or a relation that makes no sense there?",
    "relevance": "How well does the question ask for what the path leads to, with all that is needed and nothing else?",
    "coherence": "How sound is the question as language: grammar, clearness, and whether a person would ask so?",
}

_THINK_TASK = """\
You write down what an agent thinks that answers a question from a knowledge graph with tools. You see the question,
what the agent has done so far, and what it does next. Write why it does this next, in two to five short sentences.
- Use only what is above. Name no entity and no relation that has not been shown yet.
- Copy names and ids exactly as shown, in double quotes.
- Do not mention that the next step was given to you, and write no tags."""


class Author(Protocol):
    """Writes the question and the thoughts of an agent along a path."""

    @property
    def model(self) -> str:
        """The model's name; empty if there is none."""
        ...

    async def question(
        self, found: Pattern, topics: Sequence[NamedEntity], label: wording.Label, chance: random.Random
    ) -> tuple[str, Scores | None]:
        """A question for a path, and its scores.

        Raises:
            DroppedError: its score is too low, or it is not a question.
        """
        ...

    async def thought(self, question: str, explored: Exploration, place: int, chance: random.Random) -> str:
        """The thought before a step, or after the last one."""
        ...


class Templates:
    """An author that uses templates."""

    model = ""

    async def question(
        self, found: Pattern, topics: Sequence[NamedEntity], label: wording.Label, chance: random.Random
    ) -> tuple[str, Scores | None]:
        """A question by a template, without scores."""
        return wording.question(found, topics, label, chance), None

    async def thought(self, question: str, explored: Exploration, place: int, chance: random.Random) -> str:
        """A thought by a template."""
        del question
        return wording.thought(explored, place, chance)


@dataclass(frozen=True, slots=True)
class ModelAuthor:
    """An author that uses a model."""

    asked: Model
    lowest: float = LOWEST_SCORE
    temperature: float | None = None
    _cut: int = field(default=6_000, repr=False)
    """Maximum characters of an observation in the prompt for a thought."""

    @property
    def model(self) -> str:
        """The model's name."""
        return self.asked.name

    async def question(
        self, found: Pattern, topics: Sequence[NamedEntity], label: wording.Label, chance: random.Random
    ) -> tuple[str, Scores | None]:
        """A question by the model, scored by it.

        Raises:
            DroppedError: the reply is not one question without placeholders, or it is scored low.
        """
        del chance
        path = masked_path(found, topics, label)
        reply = await self._reply(_ASK, path)
        match = _TAGGED.search(reply)
        text = " ".join(match[1].split()) if match else ""
        if text.count("?") != 1 or re.search(r"\bentity\d+\b", text, re.IGNORECASE):
            raise DroppedError("the model's question is not one question")
        if not all(topic.name in text for topic in topics):
            raise DroppedError("the model's question does not name the topics")
        scores = Scores.model_validate({name: await self._score(name, path, text) for name in _CRITERIA})
        if scores.mean < self.lowest:
            raise DroppedError(f"the question is scored below {self.lowest:g}")
        return text, scores

    async def thought(self, question: str, explored: Exploration, place: int, chance: random.Random) -> str:
        """A thought by the model."""
        del chance
        done = [f"Question: {question}"]
        done += [f"Call: {call_of(step)}\nAnswer:\n{step.observation[: self._cut]}" for step in explored.steps[:place]]
        following = (
            str(call_of(explored.steps[place]))
            if place < len(explored.steps)
            else f"the final answer {', '.join(wording.quoted(each.name) for each in explored.answers)}"
        )
        done.append(f"Next: {following}")
        text = _THINK.sub("", await self._reply(_THINK_TASK, "\n\n".join(done))).strip()
        if not text or "<kg-query>" in text or "<answer>" in text:
            raise DroppedError("the model's thought is empty or has an action in it")
        return text

    async def _score(self, name: str, path: str, question: str) -> float:
        task = _SCORE_TASK.format(criterion=_CRITERIA[name])
        match = _SCORE.search(await self._reply(task, f"Path:\n{path}\nQuestion: {question}", temperature=0.0))
        if match is None or float(match[1]) > 10:
            raise DroppedError("the model gave no score")
        return float(match[1])

    async def _reply(self, task: str, text: str, temperature: float | None = None) -> str:
        messages = (Message(Role.SYSTEM, task), Message(Role.USER, text))
        reply = await self.asked.complete(
            messages, temperature=self.temperature if temperature is None else temperature
        )
        return reply.text


def call_of(step: Step) -> Call:
    """The call of a step, as the agent writes it."""
    relations = (step.relation,) if "relations" in step.arguments else ()
    return Call(step.tool, tuple(each.id for each in step.entities), relations)


def masked_path(found: Pattern, topics: Sequence[NamedEntity], label: wording.Label) -> str:
    """The path for a prompt. The entities between topics and answers are `entity1`, `entity2` and so on."""
    lines: list[str] = []
    number = 0

    def along(here: str, hops: Sequence[PathHop], end: str) -> str:
        nonlocal number
        text = here
        for place, hop in enumerate(hops):
            number += place < len(hops) - 1
            there = end if place == len(hops) - 1 else f"entity{number}"
            name = f"{hop.relation} ({label(hop.relation)})"
            text += f" -[{name}]-> {there}" if hop.direction == "outgoing" else f" <-[{name}]- {there}"
        return text

    meeting = "the shared entity" if found.tail else "the answer"
    for topic, branch in zip(topics, found.branches, strict=True):
        lines.append(along(wording.quoted(topic.name), branch, meeting))
    if found.tail:
        lines.append(along(meeting, found.tail, "the answer"))
    return "\n".join(lines)
