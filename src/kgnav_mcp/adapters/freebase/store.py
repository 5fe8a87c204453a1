"""Queries sent, in batches that the endpoint takes and answers whole; what it cut or left out is said."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Generic, Protocol, TypeVar

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.options import Freebase
from kgnav_mcp.adapters.sparql import errors
from kgnav_mcp.adapters.sparql.results import Answer, Term
from kgnav_mcp.adapters.sparql.terms import MAX_TERMS, Terms, batches, fill, values
from kgnav_mcp.model import Stop

K = TypeVar("K")
V = TypeVar("V")
Row = Mapping[str, Term]

SAMPLE = 1_000
"""Rows of a relation that are looked at to say what it leads to."""
_BRANCHES = 40
"""Branches of one union: its cost grows faster than their number."""
_FRESH = 60.0
"""Seconds that counts are kept, so that the pages of one list do not count it again and again."""


class Selects(Protocol):
    """What of the SPARQL client is used here."""

    async def select(self, query: str) -> Answer: ...


@dataclass(frozen=True, slots=True)
class Read:
    """Rows, and why there are no more of them."""

    rows: tuple[Row, ...]
    stop: Stop = Stop.COMPLETE

    def whole(self) -> tuple[Row, ...]:
        """The rows of an answer that would be wrong in part: one without names, say, makes mediators of entities.

        Raises:
            StoreTimeout: the endpoint's time was over before all of them were there.
        """
        if self.stop is Stop.TIME_OUT:
            raise errors.stopped()
        return self.rows

    @classmethod
    def together(cls, reads: Iterable[Read]) -> Read:
        """Several reads as one, which is complete where each of them is."""
        parts = list(reads)
        return cls(tuple(row for part in parts for row in part.rows), worst(part.stop for part in parts))


def worst(stops: Iterable[Stop]) -> Stop:
    """The first of several reasons to stop that is not completeness."""
    return next((stop for stop in stops if stop is not Stop.COMPLETE), Stop.COMPLETE)


class Recent(Generic[K, V]):
    """The values used last, at most so many, none older than so many seconds."""

    def __init__(self, most: int, seconds: float = _FRESH) -> None:
        self._most = most
        self._seconds = seconds
        self._kept: OrderedDict[K, tuple[float, V]] = OrderedDict()

    def get(self, key: K) -> V | None:
        kept = self._kept.get(key)
        if kept is None or monotonic() - kept[0] > self._seconds:
            return None
        self._kept.move_to_end(key)
        return kept[1]

    def put(self, key: K, value: V) -> None:
        self._kept[key] = (monotonic(), value)
        self._kept.move_to_end(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)


class Store:
    """The endpoint with the meanings of the graph's relations: what every reader asks through."""

    def __init__(self, client: Selects, freebase: Freebase, languages: Sequence[str]) -> None:
        self.freebase = freebase
        self.ids = freebase.ids
        self.languages = tuple(languages)
        self._client = client
        namespace = freebase.ids.namespace
        self._beginnings = (f"{namespace}m.", f"{namespace}g.")
        self._known: dict[str, URIRef | Literal | int] = {
            **freebase.relations,
            "length": len(namespace) + len("m."),
            "topics": Literal(self._beginnings[0]),
            "guids": Literal(self._beginnings[1]),
        }

    def begins_topic(self, text: str) -> bool:
        """Whether the IRIs of entities and mediators begin with this text."""
        return text in self._beginnings

    def filled(self, template: str, **terms: URIRef | Literal | int | Terms) -> str:
        """A query, or a part of one, with its terms and those that mean the same in every query."""
        known = {name: term for name, term in self._known.items() if f"${name}" in template}
        return fill(template, **known, **terms)

    def part(self, template: str, **terms: URIRef | Literal | int | Terms) -> Terms:
        """A filled fragment, to stand in a query."""
        return Terms(self.filled(template, **terms))

    async def select(self, template: str, **terms: URIRef | Literal | int | Terms) -> Read:
        """The rows of one query."""
        return await self._read(self.filled(template, **terms))

    async def over(
        self,
        template: str,
        key: str,
        asked: Sequence[URIRef],
        *,
        size: int = MAX_TERMS,
        **terms: URIRef | Literal | int | Terms,
    ) -> Read:
        """The rows of a query over a list of IRIs, asked in batches; a batch whose answer was cut is halved."""

        async def read(batch: Sequence[URIRef]) -> Read:
            answer = await self.select(template, **{key: values(*batch)}, **terms)
            if answer.stop is not Stop.ROW_CAP or len(batch) == 1:
                return answer
            half = len(batch) // 2
            return Read.together([await read(batch[:half]), await read(batch[half:])])

        return Read.together(await asyncio.gather(*(read(batch) for batch in batches(asked, size))))

    async def union(self, branches: Sequence[str]) -> Read:
        """The rows of several queries that are asked as branches of a union."""
        return Read.together(
            await asyncio.gather(
                *(
                    self.select(queries.UNION, branches=Terms(" UNION ".join(batch)))
                    for batch in batches(branches, _BRANCHES)
                )
            )
        )

    async def slice(self, template: str, skip: int, most: int, **terms: URIRef | Literal | int | Terms) -> Read:
        """So many rows of an ordered query, also where that is more than the endpoint gives at once."""
        rows: list[Row] = []
        while len(rows) < most:
            answer = await self.select(template, skip=skip + len(rows), most=most - len(rows), **terms)
            rows += answer.rows
            if answer.stop is not Stop.ROW_CAP:
                return Read(tuple(rows), answer.stop)
        return Read(tuple(rows))

    async def _read(self, query: str) -> Read:
        answer = await self._client.select(query)
        if answer.partial:
            return Read(answer.rows, Stop.TIME_OUT)
        return Read(answer.rows, Stop.COMPLETE if answer.row_cap is None else Stop.ROW_CAP)


def number(row: Row, variable: str) -> int:
    """A count in a row; 0 where Virtuoso leaves it out, as it does for sums of nothing."""
    term = row.get(variable)
    return int(term) if isinstance(term, Literal) else 0


def address(row: Row, variable: str) -> URIRef:
    """The IRI in a row; a blank node stands by the IRI that Virtuoso takes for it."""
    return URIRef(str(row[variable]))
