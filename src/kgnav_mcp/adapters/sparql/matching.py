"""Rows whose far ends have a label, or words in their names, searched by the store in one query for many relations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.paging.positions import Place
from kgnav_mcp.adapters.sparql import queries
from kgnav_mcp.adapters.sparql.reading import Read, Reader
from kgnav_mcp.adapters.sparql.terms import Terms, listed
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.model import Count, Direction, Link, Page, Stop, Triple
from kgnav_mcp.port.lists import items_before
from kgnav_mcp.port.matching import MOST_READ, Words

_SHARE = 0.5
"""Of a call's time: where the search takes longer, rows are read and compared."""
_ACCENTS = "Letters with accents were looked for as other letters."

F = TypeVar("F")
"""What a query finds."""
R = TypeVar("R")
"""A row of it."""


@dataclass(frozen=True, slots=True)
class FarEndFilter:
    """What is asked of far ends: words, each in some spellings, and one of some types; None: any."""

    words: Sequence[Sequence[str]] | None
    types: Sequence[URIRef] | None

    @classmethod
    def of(cls, words: str | None, types: Sequence[URIRef] | None) -> FarEndFilter:
        """The filter for words as they were asked for."""
        return cls(None if words is None else Words(words).spellings, types)

    def part(self, reader: Reader, node: str, *, naming: str, typing: str) -> Terms:
        """The conditions on a variable; `naming` and `typing` lead to names and to types."""
        end, found = Terms(node), list[str]()
        if self.types is not None:
            types = listed(*self.types)
            found.append(reader.filled(queries.OF_ONE_TYPE, node=end, typing=reader.part(typing), types=types))
        if self.words:
            every = " && ".join(
                f"({' || '.join(reader.filled(queries.IN_NAME, node=end, word=Literal(one)) for one in spellings)})"
                for spellings in self.words
            )
            found.append(reader.filled(queries.CALLED, node=end, naming=reader.part(naming), every=Terms(every)))
        return Terms(" ".join(found))


@dataclass(frozen=True, slots=True)
class SearchQuestion:
    """Rows that are searched: those of some paths (None: of all of one hop) at entities, as an adapter knows them."""

    anchors: Sequence[Any]
    paths: Sequence[Any] | None
    direction: Direction
    far: FarEndFilter


class RowSearch(ABC, Generic[F, R]):
    """Searches the rows of one question, once for all of its pages."""

    def __init__(self, asked: SearchQuestion) -> None:
        self._anchors = asked.anchors
        self._paths = asked.paths
        self._direction = asked.direction
        self._far = asked.far
        self._read: tuple[Sequence[F], Stop] | None = None

    @abstractmethod
    async def find(self) -> tuple[Sequence[F], Stop]:
        """What fits, in its order, and why some may be missing.

        Raises:
            Unsupported: what is asked for has no form in a query.
            StoreTimeout: it was not found in time.
        """

    @abstractmethod
    async def rows(self, found: Sequence[F]) -> Sequence[Sequence[R]]:
        """The rows that each stands for: several statements may be about one triple."""

    @abstractmethod
    async def triples(self, rows: Sequence[R]) -> Sequence[Triple]:
        """Rows with the names of all that is in them."""

    async def page(self, limit: int, after: str | None) -> Page[Link]:
        """At most so many rows behind a position. Raises as `find` does, and InvalidCursor."""
        group, _, row = (after or "0.0").partition(".")
        start = Place(items_before(group), items_before(row))
        if self._far.types == ():
            return Page((), (), Count(0))
        if self._read is None:
            self._read = await self.find()
        found, stop = self._read
        some = found[start.group : start.group + limit]
        placed: list[tuple[R, Place]] = []
        for n, rows in enumerate(await self.rows(some), start.group):
            behind = [Place(n, i) for i in range(1, len(rows))]
            placed += (one for one in zip(rows, [*behind, Place(n + 1)], strict=True) if one[1] > start)
        shown = placed[:limit]
        links = tuple(Link(self._direction, triple) for triple in await self.triples([row for row, _ in shown]))
        more = len(placed) > limit or start.group + len(some) < len(found)
        return Page(
            links,
            tuple(f"{place.group}.{place.row}" for _, place in shown),
            Count.at_least(len(found)),
            Stop.LIMIT if more else stop,
            _ACCENTS if self._far.words else "",
        )


def branch(reader: Reader, *, number: int, row: Terms, by: Terms, fitting: Terms) -> str:
    """The search of the rows that a pattern binds, told from others by a number."""
    return reader.filled(queries.FITTING, number=number, row=row, by=by, fitting=fitting, most=MOST_READ + 1)


async def searched(reader: Reader, branches: Sequence[str]) -> Read:
    """The rows of some branches; of more than are looked at, the stop says that they were cut.

    Raises:
        StoreTimeout: they were not there in time.
    """
    read = await reader.union(branches, share=_SHARE)
    if read.stop is Stop.TIME_OUT and not read.rows:
        read.whole()
    cut = len(read.rows) > MOST_READ
    rows = await in_thread(len(read.rows), lambda: read.rows[:MOST_READ])
    return Read(rows, Stop.ROW_CAP if cut else read.stop)
