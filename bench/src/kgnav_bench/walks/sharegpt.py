"""The form of training data: conversations in ShareGPT's form, one JSON object per line.

Every field is in every line, so that each column has one type when `datasets` or a trainer reads the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, ConfigDict, Field

from kgnav_bench.records import Record, read_records, write_records


class Sender(StrEnum):
    """Who wrote a message."""

    SYSTEM = "system"
    """The instructions. The first message."""
    HUMAN = "human"
    """The question with its topic entities. The second message."""
    GPT = "gpt"
    """The agent, which is the part to learn.

    A thought in `<think>`, and a call in `<kg-query>` or a JSON list in `<answer>`.
    """
    OBSERVATION = "observation"
    """The server's answer to the call before, in `<information>`. Not to be learned."""


class Shape(StrEnum):
    """The pattern of a question: how its relations connect the topic entities and the answers (figure 3)."""

    CHAIN_2 = "chain-2"
    CHAIN_3 = "chain-3"
    CHAIN_4 = "chain-4"
    CHAIN_5 = "chain-5"
    """Composition: five hops from one topic."""
    INTERSECTION = "2i"
    """Conjunction: one hop from each of two topics to the same answer."""
    INTERSECTION_HOP = "ip"
    """`2i`, then one hop from the shared entity. Held out of training in the paper."""
    HOP_INTERSECTION = "pi"
    """Two hops from one topic and one hop from another to the same answer. Held out of training in the paper."""
    OTHER = "other"
    """A question of a data set whose pattern is not known. Its path is empty."""


class Source(StrEnum):
    """The origin of a conversation."""

    WALK = "walk"
    """Synthesized along a random walk (GraphSynth)."""
    ROLLOUT = "rollout"
    """A model's own attempt, kept because its answer is right (GraphRoll)."""


class Message(Record):
    """One message."""

    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True)

    sender: Sender = Field(validation_alias=AliasChoices("from", "sender"), serialization_alias="from")
    value: str


class NamedEntity(Record):
    """An entity: its id as the server prints it, and its name, which is the id if it has none."""

    id: str
    name: str


class PathHop(Record):
    """One edge of the sampled path, followed in a direction. Entities are ids."""

    start: str
    relation: str
    direction: Literal["outgoing", "incoming"]
    end: str


class Scores(Record):
    """A model's opinion of the question, each from 0 to 10 (section 2.2.1, phase 2)."""

    path: float = Field(ge=0, le=10)
    """Whether the path is complete."""
    relevance: float = Field(ge=0, le=10)
    """Whether the question asks for what the path leads to."""
    coherence: float = Field(ge=0, le=10)
    """Whether the question is sound language."""

    @property
    def mean(self) -> float:
        """The average, which decides whether the question is kept."""
        return (self.path + self.relevance + self.coherence) / 3


class Metadata(Record):
    """How a conversation was created."""

    source: Source
    shape: Shape
    question: str
    topics: tuple[NamedEntity, ...]
    path: tuple[PathHop, ...]
    """The hops of the sampled path in the order in which they are explored. 2I: a hop from each topic. IP: these two,
    and one from where they meet. PI: two from the first topic, one from the second. The last hop ends at an answer."""
    answers: tuple[NamedEntity, ...]
    """All ends of the pattern, sorted by id. A topic is never an answer, and no hop leads back to a topic."""
    ranked: bool
    """Whether the relations were ranked by the question, as `get_relations` does with its parameter `question`."""
    seed: int
    number: int
    """The position in the sequence that the seed and the shape determine."""
    model: str
    """The model that wrote the question and the thoughts; empty if they are templates."""
    scores: Scores | None
    """None if no model scored the question."""


class Conversation(Record):
    """One conversation: a line of the file."""

    id: str
    """Unique within the file."""
    conversations: tuple[Message, ...]
    """System, human, then gpt and observation in turns. The last is gpt, with the answer."""
    tools: str
    """The tools as JSON: a list of objects with `name`, `description` and `parameters` (JSON Schema)."""
    metadata: Metadata


def read_conversations(path: Path) -> Iterator[Conversation]:
    """The conversations of a file, which may be gzipped.

    Raises:
        UnreadableRecordsError: a line is not a conversation. The message has its number.
    """
    return read_records(path, Conversation)


def write_conversations(path: Path, conversations: Iterable[Conversation]) -> int:
    """Write a file of conversations, gzipped if it is named `.gz`. Returns their number."""
    return write_records(path, conversations)
