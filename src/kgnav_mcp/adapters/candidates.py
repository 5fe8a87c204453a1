"""The entities that a hint may mean, in their order, and pages of them: the same for every store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

from kgnav_mcp.adapters.likeness import ID, Likeness
from kgnav_mcp.model import Count, Page, Stop

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Match(NamedTuple):
    """The text of an entity that is most like a hint."""

    text: str
    score: float


class Candidates(Generic[K]):
    """Entities, each with its best match."""

    def __init__(self, hint: str) -> None:
        self._hint = hint
        self._likeness = Likeness(hint)
        self._best: dict[K, Match] = {}
        self.very_name = False
        """Whether something bears the hint as its very name, letter case aside."""

    def add(self, entity: K, text: str, kind: int) -> None:
        """Add a text of an entity; the kinds are those of `likeness`."""
        self.very_name |= kind != ID and text.casefold() == self._hint.casefold()
        self.add_scored(entity, Match(text, self._likeness.score(text, kind)))

    def add_scored(self, entity: K, match: Match) -> None:
        """Add a match whose score is known."""
        if entity not in self._best or match.score > self._best[entity].score:
            self._best[entity] = match

    def add_given(self, entity: K, reference: str) -> None:
        """Add the entity whose id was given."""
        self._best[entity] = Match(reference, 1.0)

    def keep(self, entities: Collection[K]) -> None:
        """Leave out all others."""
        self._best = {entity: match for entity, match in self._best.items() if entity in entities}

    def best_first(self, order: Callable[[K], Any]) -> list[K]:
        """All entities by score, then by `order`."""
        return sorted(self._best, key=lambda entity: (-self._best[entity].score, order(entity)))

    def __getitem__(self, entity: K) -> Match:
        return self._best[entity]

    def __iter__(self) -> Iterator[K]:
        return iter(self._best)

    def __len__(self) -> int:
        return len(self._best)


def first_page(items: Iterable[tuple[str, T]], found: int, limit: int, stop: Stop, note: str = "") -> Page[T]:
    """The first items of a list of which so many were found, by their ids; `stop` says why there may be others."""
    shown = list(items)
    whole = stop is Stop.COMPLETE
    return Page(
        items=tuple(item for _, item in shown),
        positions=tuple(position for position, _ in shown),
        total=Count(found) if whole else Count.at_least(found),
        stop=Stop.LIMIT if whole and found > limit else stop,
        note=note,
    )
