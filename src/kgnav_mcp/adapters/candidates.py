"""Ranking of the entities that a search hint may mean, and pages of them. Shared by all stores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

from kgnav_mcp.adapters.likeness import ID, Likeness
from kgnav_mcp.model import Count, Page, Stop

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Match(NamedTuple):
    """The text (name, alias, description) of an entity that fits a hint best, with its score."""

    text: str
    score: float


class Candidates(Generic[K]):
    """Entities that may be meant by a hint, each with its best match."""

    def __init__(self, hint: str, *, is_id: bool = False) -> None:
        """`is_id`: the hint has the form of an id, so that similar texts are not accepted."""
        self._is_id = is_id
        self._hint = hint
        self._likeness = Likeness(hint)
        self._best: dict[K, Match] = {}
        self.has_exact_match = False
        """Whether some entity has exactly the hint as a name, alias or description, ignoring letter case."""

    def add(self, entity: K, text: str, kind: int) -> None:
        """Add a text of an entity and score it. `kind` is one of `likeness.NAME`, `ALIAS`, `DESCRIPTION` and `ID`.

        If the hint is an id or a code, texts that differ from it are left out: a similar id means something else.
        """
        is_exact = text.casefold() == self._hint.casefold()
        self.has_exact_match |= kind != ID and is_exact
        if not is_exact and (self._is_id or self._likeness.is_other_code(text)):
            return
        self.add_scored(entity, Match(text, self._likeness.score(text, kind)))

    def add_scored(self, entity: K, match: Match) -> None:
        """Add a match that is scored already. The best match of an entity wins."""
        if entity not in self._best or match.score > self._best[entity].score:
            self._best[entity] = match

    def add_by_id(self, entity: K, reference: str) -> None:
        """Add an entity whose id was the hint itself, with the full score 1."""
        self._best[entity] = Match(reference, 1.0)

    def restrict_to(self, entities: Collection[K]) -> None:
        """Drop all candidates but these."""
        self._best = {entity: match for entity, match in self._best.items() if entity in entities}

    def best_first(self, order: Callable[[K], Any]) -> list[K]:
        """All candidates, highest score first; equal scores by the key function `order`."""
        return sorted(self._best, key=lambda entity: (-self._best[entity].score, order(entity)))

    def __getitem__(self, entity: K) -> Match:
        return self._best[entity]

    def __iter__(self) -> Iterator[K]:
        return iter(self._best)

    def __len__(self) -> int:
        return len(self._best)


def first_page(items: Iterable[tuple[str, T]], found: int, limit: int, stop: Stop, note: str = "") -> Page[T]:
    """The first page of a list of `found` items.

    `items` are pairs of id (the position in the page) and item. Unless `stop` is COMPLETE there may be more items than
    were found: the total is a lower bound then.
    """
    shown = list(items)
    complete = stop is Stop.COMPLETE
    return Page(
        items=tuple(item for _, item in shown),
        positions=tuple(position for position, _ in shown),
        total=Count(found) if complete else Count.at_least(found),
        stop=Stop.LIMIT if complete and found > limit else stop,
        note=note,
    )
