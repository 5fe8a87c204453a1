"""Searches rows by the label or the name of their far ends: the store does it in one query for many relations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.paging.rows import Place
from kgnav_mcp.adapters.sparql_base import queries
from kgnav_mcp.adapters.sparql_base.query_reader import Read, Reader
from kgnav_mcp.adapters.sparql_base.terms import Fragment, comma_separated
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.model import Count, Direction, Link, Page, Stop, Triple
from kgnav_mcp.port.far_end_filters import MAX_READ, Words
from kgnav_mcp.port.lists import items_before

_SHARE = 0.5
"""The fraction of a call's time that a search may take. After that, rows are read and compared instead."""
_ACCENTS = "Letters with accents were searched as different letters."

F = TypeVar("F")
"""What `find` returns: a group of rows."""
R = TypeVar("R")
"""One row of a group."""


@dataclass(frozen=True, slots=True)
class FarEndTerms:
    """A filter for far ends: `words`, each with its spellings, and `types`. A condition that is None is not applied."""

    words: Sequence[Sequence[str]] | None
    types: Sequence[URIRef] | None

    @classmethod
    def of(cls, words: str | None, types: Sequence[URIRef] | None) -> FarEndTerms:
        """Create a filter from the text and the types that the user entered."""
        return cls(None if words is None else Words(words).spellings, types)

    def part(self, reader: Reader, node: str, *, naming: str, typing: str) -> Fragment:
        """The SPARQL conditions on the variable `node`. `naming` and `typing` are the relations to names and types."""
        end, found = Fragment(node), list[str]()
        if self.types is not None:
            types = comma_separated(*self.types)
            found.append(reader.filled(queries.OF_ONE_TYPE, node=end, typing=reader.part(typing), types=types))
        if self.words:
            all_words = " && ".join(
                f"({' || '.join(reader.filled(queries.IN_NAME, node=end, word=Literal(each)) for each in spellings)})"
                for spellings in self.words
            )
            found.append(reader.filled(queries.CALLED, node=end, naming=reader.part(naming), every=Fragment(all_words)))
        return Fragment(" ".join(found))


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search of the rows at `anchors` by `relation_paths` (None: all of one hop), in the adapter's own types."""

    anchors: Sequence[Any]
    relation_paths: Sequence[Any] | None
    direction: Direction
    far: FarEndTerms


class RowSearch(ABC, Generic[F, R]):
    """Runs one search, once for all of its pages."""

    def __init__(self, request: SearchRequest) -> None:
        self._anchors = request.anchors
        self._relation_paths = request.relation_paths
        self._direction = request.direction
        self._far = request.far
        self._read: tuple[Sequence[F], Stop] | None = None

    @abstractmethod
    async def find(self) -> tuple[Sequence[F], Stop]:
        """Run the search. Returns the matches in order, and why some may be missing.

        Raises:
            Unsupported: a query cannot express the search.
            StoreTimeout: it took too long.
        """

    @abstractmethod
    async def rows(self, found: Sequence[F]) -> Sequence[Sequence[R]]:
        """The rows of each match: several if several statements are about one triple."""

    @abstractmethod
    async def triples(self, rows: Sequence[R]) -> Sequence[Triple]:
        """Convert rows to triples with names."""

    async def page(self, limit: int, after: str | None) -> Page[Link]:
        """Up to `limit` rows after a position. Raises as `find` does, and InvalidCursor."""
        group, _, row = (after or "0.0").partition(".")
        start = Place(items_before(group), items_before(row))
        if self._far.types == ():
            return Page((), (), Count(0))
        if self._read is None:
            self._read = await self.find()
        found, stop = self._read
        matches = found[start.group : start.group + limit]
        placed: list[tuple[R, Place]] = []
        for n, rows in enumerate(await self.rows(matches), start.group):
            places = [Place(n, i) for i in range(1, len(rows))]
            placed += (
                placed_row for placed_row in zip(rows, [*places, Place(n + 1)], strict=True) if placed_row[1] > start
            )
        shown = placed[:limit]
        links = tuple(Link(self._direction, triple) for triple in await self.triples([row for row, _ in shown]))
        more = len(placed) > limit or start.group + len(matches) < len(found)
        return Page(
            links,
            tuple(f"{place.group}.{place.row}" for _, place in shown),
            Count.at_least(len(found)),
            Stop.LIMIT if more else stop,
            _ACCENTS if self._far.words else "",
        )


def branch(reader: Reader, *, number: int, row: Fragment, by: Fragment, condition: Fragment) -> str:
    """The query for the rows of pattern `by` that meet the condition `condition`, as branch `number` of a union."""
    return reader.filled(queries.ROWS_THAT_MEET, number=number, row=row, by=by, condition=condition, most=MAX_READ + 1)


async def searched(reader: Reader, branches: Sequence[str]) -> Read:
    """Run a union of branches. Rows beyond MAX_READ are omitted, with Stop.ROW_CAP.

    Raises:
        StoreTimeout: no row was found in time.
    """
    read = await reader.union(branches, share=_SHARE)
    if read.stop is Stop.TIME_OUT and not read.rows:
        read.all_rows()
    too_many = len(read.rows) > MAX_READ
    rows = await in_thread(len(read.rows), lambda: read.rows[:MAX_READ])
    return Read(rows, Stop.ROW_CAP if too_many else read.stop)
