"""The records that datasets, agents, walks and scores exchange: a question with its true answers, and an attempt at it.

Both are written as JSON Lines, one record per line.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class UnreadableRecordsError(Exception):
    """A line of a file is not a record of this kind. The message has the line's number and the reason."""


class Record(BaseModel):
    """A record of one line. Unknown fields are refused, so that a misspelt one is noticed."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Entity(Record):
    """An entity of the graph: its id as the server prints it, and its name."""

    id: str
    name: str = ""


class Answer(Record):
    """One true answer: an entity or a value. Each of its names is accepted; the first one is the usual name."""

    names: tuple[str, ...] = Field(min_length=1)
    id: str | None = None
    """The entity's id; None if the answer is a value or the dataset gives no ids."""


class AnswerKind(StrEnum):
    """The kind of a question's true answers."""

    ENTITIES = "entities"
    """Entities or values. The order does not matter."""
    BOOLEAN = "boolean"
    """One answer, named True or False."""
    TEXT = "text"
    """One free text."""


class Question(Record):
    """A question of a dataset."""

    id: str
    """Unique within its dataset and split."""
    text: str
    answers: tuple[Answer, ...]
    """The true answers. Empty if the graph has none."""
    topics: tuple[Entity, ...] = ()
    """The entities that the question mentions, where the dataset gives them."""
    kind: str = ""
    """The dataset's own kind of question, such as `2-hop` or `composition`. Scores are reported by it."""
    answer_kind: AnswerKind = AnswerKind.ENTITIES
    dataset: str = ""
    split: str = ""
    relations: tuple[str, ...] = ()
    """The gold path from the topic, one relation per hop, with `^` before a relation that is followed backwards."""
    query: str | None = None
    """The gold query, in SPARQL or Cypher."""


class ToolCall(Record):
    """One call of a tool by a model, with the answer as the model saw it."""

    tool: str
    arguments: Mapping[str, Any] | str
    """The arguments or, if the model did not write a JSON object, its text."""
    result: str
    is_error: bool = False
    seconds: float = 0.0


class Tokens(Record):
    """Tokens as the endpoint counts them."""

    prompt: int = 0
    """All tokens of the prompt, cached ones included."""
    completion: int = 0
    cached: int = 0
    """Tokens of the prompt that were read from a cache."""


class Turn(Record):
    """One request to the model, and its reply."""

    phase: str = ""
    """The part of the method that this turn belongs to, such as `plan` or `verify`; empty if there is only one."""
    text: str = ""
    """The text of the reply."""
    calls: tuple[ToolCall, ...] = ()
    """The calls of this turn with their answers."""
    tokens: Tokens = Tokens()
    seconds: float = 0.0
    """Time until the reply was complete, without the calls."""
    finish: str = ""
    """Why the model stopped, in the endpoint's words."""


class Outcome(StrEnum):
    """How an attempt ended."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"
    """The model stated that it has no answer (ARK-V1's None)."""
    UNREADABLE = "unreadable"
    """The final output has no answer in the required form."""
    EXHAUSTED = "exhausted"
    """The limit of turns, calls or tokens was reached before an answer."""
    REFUSED = "refused"
    """The model declined."""
    FAILED = "failed"
    """The endpoint or the server failed. `error` says why."""


class Attempt(Record):
    """One attempt at a question by one arm with one model."""

    question: str
    """The question's id."""
    arm: str
    model: str = ""
    repeat: int = 0
    """Number of the repetition, from 0."""
    outcome: Outcome
    answers: tuple[str, ...] = ()
    """The names or ids of the final answer."""
    text: str = ""
    """The final output, as the model wrote it."""
    error: str = ""
    turns: tuple[Turn, ...] = ()
    seconds: float = 0.0
    price: float | None = None
    """The price in US dollars; None if no prices are configured."""


R = TypeVar("R", bound=Record)


def read_records(path: Path, kind: type[R]) -> Iterator[R]:
    """The records of a JSON Lines file, which may be gzipped (`.gz`). Empty lines are skipped.

    Raises:
        UnreadableRecordsError: a line is not a record of this kind, or the file is not text.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        number = 0
        try:
            for number, line in enumerate(lines, 1):  # noqa: B007 - the error names it
                if line.strip():
                    yield kind.model_validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            reason = f"{place}: {first['msg']}" if place else first["msg"]
            message = f"line {number} of {path} cannot be read as {_with_article(kind.__name__.lower())}: {reason}"
            raise UnreadableRecordsError(message) from error
        except (UnicodeDecodeError, gzip.BadGzipFile, EOFError) as error:
            raise UnreadableRecordsError(f"{path} cannot be read after line {number}: {error}") from error


def _with_article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def write_records(path: Path, records: Iterable[Record]) -> int:
    """Write a JSON Lines file, gzipped if its name ends in `.gz`. Returns the number of records. Omits defaults."""
    opened = gzip.open if path.suffix == ".gz" else open
    count = 0
    with opened(path, "wt", encoding="utf-8") as file:
        for record in records:
            file.write(record.model_dump_json(exclude_defaults=True) + "\n")
            count += 1
    return count
