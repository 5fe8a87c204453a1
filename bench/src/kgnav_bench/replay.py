"""Walks gold paths with `search` alone, like a model that always chooses the right relation.

At each entity the neighbourhood is requested first. At a hub, where only relations are listed, the gold relation is
then requested by name, page after page. Only the printed answers are used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from kgnav_bench import baselines
from kgnav_bench.metaqa import Neighbours, Question, Step
from kgnav_bench.tables import Table, parse

Count = Callable[[str], int]
COUNTERS: Mapping[str, Count] = {
    "each mark by itself": baselines.separate_tokens,
    "marks in a row as one": baselines.merged_tokens,
}
"""Two ways to count tokens: as the server counts them, and one that favours formats with much punctuation."""


class Caller(Protocol):
    """The part of an MCP client that a replay needs."""

    def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        """The text of a tool's answer."""
        ...


@dataclass(frozen=True, slots=True)
class Seen:
    """The calls and answers of following one relation from one entity.

    `tables` are the parsed answers: each has rows, or the relations of a hub. `tokens` are their tokens by counter.
    """

    offered: bool
    ends: frozenset[str]
    calls: int
    tokens: tuple[int, ...]
    tables: tuple[Table, ...] = ()


@dataclass(slots=True)
class Result:
    """The result of replaying one question. It passes if `missing_relations` and `missing_answers` are empty."""

    question: Question
    calls: int = 0
    sent: int = 0
    """Number of calls that no earlier question had made."""
    tokens: list[int] = field(default_factory=lambda: [0] * len(COUNTERS))
    followed: list[tuple[str, Step]] = field(default_factory=list[tuple[str, Step]])
    missing_relations: list[tuple[str, Step]] = field(default_factory=list[tuple[str, Step]])
    missing_answers: frozenset[str] = frozenset()
    surplus_answers: frozenset[str] = frozenset()


class Replay:
    """Replays questions over one client. Identical calls are made only once."""

    def __init__(self, client: Caller, truth: Neighbours, prefix: str = "") -> None:
        """`prefix` is the part of the store's ids before the names in the questions."""
        self._client = client
        self._prefix = prefix
        self._truth = truth
        self._answers: dict[tuple[object, ...], tuple[Table, tuple[int, ...]]] = {}
        self._seen: dict[tuple[str, Step], Seen] = {}

    @property
    def calls_made(self) -> int:
        """Number of calls that were sent to the server."""
        return len(self._answers)

    def question(self, question: Question) -> Result:
        """Walk the question's gold path from its topic. As in the gold answers, no hop leads back to the topic."""
        result, made_before = Result(question), self.calls_made
        frontier = frozenset([question.topic])
        for step in question.path:
            ends: set[str] = set()
            for entity in sorted(frontier):
                seen = self.follow(entity, step)
                ends |= seen.ends
                result.calls += seen.calls
                result.tokens = [a + b for a, b in zip(result.tokens, seen.tokens, strict=True)]
                result.followed.append((entity, step))
                if not seen.offered and step.relation in self._truth[entity, step.direction]:
                    result.missing_relations.append((entity, step))
            frontier = frozenset(ends - {question.topic})
        result.missing_answers = question.answers - frontier
        result.surplus_answers = frontier - question.answers
        result.sent = self.calls_made - made_before
        return result

    def follow(self, entity: str, step: Step) -> Seen:
        """Request an entity's neighbourhood, then follow one relation to all its ends."""
        key = (entity, step)
        if key not in self._seen:
            self._seen[key] = self._follow(entity, step)
        return self._seen[key]

    def _follow(self, entity: str, step: Step) -> Seen:
        pages: list[tuple[Table, tuple[int, ...]]] = []
        offered = False
        for page in self._pages(entity, step.direction):
            pages.append(page)
            offered = offered or step.relation in page[0].column("property")
            if offered and "value" not in page[0].columns:
                break  # The relation is listed, so the rest of a hub's relations need not be read.
        if offered and "value" not in pages[-1][0].columns:
            pages += self._pages(entity, step.direction, step.relation)
        tables = tuple(table for table, _ in pages)
        ends = frozenset(
            value.removeprefix(self._prefix)
            for table in tables
            for relation, value in zip(table.column("property"), table.column("value"), strict=False)
            if relation == step.relation
        )
        tokens = tuple(sum(counts[n] for _, counts in pages) for n in range(len(COUNTERS)))
        return Seen(offered, ends, len(pages), tokens, tables)

    def _pages(self, entity: str, direction: str, *only: str) -> Iterator[tuple[Table, tuple[int, ...]]]:
        arguments: dict[str, object] = {"entity": self._prefix + entity, "direction": direction}
        if only:
            arguments["properties_to_filter_for"] = list(only)
        cursor: str | None = None
        while True:
            page = self._call((entity, direction, only, cursor), arguments | ({"cursor": cursor} if cursor else {}))
            yield page
            cursor = page[0].cursor
            if cursor is None:
                return

    def _call(self, key: tuple[object, ...], arguments: Mapping[str, object]) -> tuple[Table, tuple[int, ...]]:
        if key not in self._answers:
            text = self._client.call("search", arguments)
            self._answers[key] = parse(text), tuple(count(text) for count in COUNTERS.values())
        return self._answers[key]
