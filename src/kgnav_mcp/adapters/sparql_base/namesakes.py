"""Finds the entities with each of many names: in batches, which are halved where an answer was cut."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rdflib import URIRef

from kgnav_mcp.adapters.sparql_base.terms import batches, sendable
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Stop

L = TypeVar("L", bound=str)

_MAX_LENGTH = 1_000
"""Maximum length in characters of a name that is looked up: no name is longer."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A text of an entity: `kind` is NAME, ALIAS, DESCRIPTION or ID (see `likeness`)."""

    entity: URIRef
    text: str
    kind: int
    language: str | None = None


Hits = tuple[list[Hit], Stop]
"""Hits, and why there may be more of them."""


class SameNames:
    """Collects the hits of several names, ignoring letter case."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = [name for name in dict.fromkeys(names) if findable(name)]
        self._hits: dict[str, dict[Hit, None]] = {name.casefold(): {} for name in names}
        self._stops: dict[str, Stop] = {}
        self._requested = list(names)

    async def add(
        self,
        items: Sequence[L],
        size: int,
        ask: Callable[[Sequence[L]], Awaitable[Hits]],
    ) -> None:
        """Look up items that contain names, `size` at a time; halve a batch whose answer was cut."""
        await gathered(*(self._add(batch, ask) for batch in batches(items, size)))

    async def _add(self, items: Sequence[L], ask: Callable[[Sequence[L]], Awaitable[Hits]]) -> None:
        hits, stop = await ask(items)
        if len(items) > 1 and stop in {Stop.LIMIT, Stop.ROW_CAP}:
            half = len(items) // 2
            await gathered(self._add(items[:half], ask), self._add(items[half:], ask))
            return
        for hit in hits:
            self.take(hit)
        for item in items:
            self._stops[item.casefold()] = Stop.first((self._stops.get(item.casefold(), stop), stop))

    def take(self, hit: Hit) -> None:
        """Add a hit if its text is one of the names."""
        if (same := self._hits.get(hit.text.casefold())) is not None:
            same[hit] = None

    @property
    def unspelt(self) -> list[str]:
        """The names without a hit of exactly this spelling."""
        return [name for name in self.names if all(hit.text != name for hit in self._hits[name.casefold()])]

    @property
    def without_hits(self) -> list[str]:
        """The names without any hit."""
        return [name for name in self.names if not self._hits[name.casefold()]]

    @property
    def hits(self) -> Mapping[str, Hits]:
        """The hits of each name."""
        return {
            name: (list(self._hits[name.casefold()]), self._stops.get(name.casefold(), Stop.COMPLETE))
            for name in self._requested
        }


def findable(name: str) -> bool:
    """Whether a text can be a name: not blank, not too long, and possible in a query."""
    return bool(name.strip()) and len(name) <= _MAX_LENGTH and sendable(name)
