"""Queries sent to any endpoint, in batches that it takes and answers whole; what it cut or left out is said."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.sparql import errors
from kgnav_mcp.adapters.sparql.dialect import PLAIN, Dialect
from kgnav_mcp.adapters.sparql.queries import SIGN, UNION
from kgnav_mcp.adapters.sparql.results import Answer, Term
from kgnav_mcp.adapters.sparql.terms import Terms, batches, fill, values
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.errors import InvalidStore, Unsupported
from kgnav_mcp.model import Certainty, Count, Stop
from kgnav_mcp.silence import answered, expect_answer

Row = Mapping[str, Term]
Value = URIRef | Literal | int | Terms
T = TypeVar("T")

_PLACEHOLDER = re.compile(r"\$([A-Za-z_]\w*)")


class Selects(Protocol):
    """What of a SPARQL client is used here."""

    async def select(self, query: str) -> Answer: ...


@dataclass(frozen=True, slots=True)
class Read:
    """Rows, and why there are no more of them."""

    rows: tuple[Row, ...]
    stop: Stop = Stop.COMPLETE

    def counted(self, number: int) -> Count:
        """A number out of these rows: a lower bound where some are missing."""
        return Count(number) if self.stop is Stop.COMPLETE else Count.at_least(number)

    def some(self) -> tuple[Row, ...]:
        """The rows of an answer of which one row is enough.

        Raises:
            StoreTimeout: there is none, which only says that the endpoint's time was over.
            Unsupported: there is none, for the endpoint gives no rows at all.
        """
        return self.rows or self.whole()

    def whole(self) -> tuple[Row, ...]:
        """The rows of an answer that would be wrong in part: one without names, say, makes mediators of entities.

        Raises:
            StoreTimeout: the endpoint's time was over before all of them were there.
            Unsupported: the endpoint's row cap left some of them out.
        """
        if self.stop is Stop.TIME_OUT:
            raise errors.stopped()
        if self.stop is Stop.ROW_CAP:
            raise errors.capped()
        return self.rows

    @classmethod
    def together(cls, reads: Iterable[Read]) -> Read:
        """Several reads as one, which is complete where each of them is."""
        parts = list(reads)
        return cls(tuple(row for part in parts for row in part.rows), Stop.first(part.stop for part in parts))


class Reader:
    """Asks an endpoint.

    `known` are the terms that mean the same in every query, `timeout` is a call's time in seconds. `prologue` stands
    before every query. How much one query is given, the `dialect` says.
    """

    def __init__(
        self,
        client: Selects,
        known: Mapping[str, Value],
        timeout: float,
        *,
        prologue: str = "",
        dialect: Dialect = PLAIN,
    ) -> None:
        self._client = client
        self._known = dict(known)
        self._timeout = timeout
        self._prologue = prologue
        self.dialect = dialect

    def batching(self, size: int) -> Reader:
        """The same reader for queries that take so many IRIs of one list."""
        reader = copy(self)
        reader.dialect = replace(self.dialect, listed=size)
        return reader

    def know(self, known: Mapping[str, Value]) -> None:
        """Terms that were learnt of the endpoint; they mean the same in every later query."""
        self._known.update(known)

    def filled(self, template: str, **terms: Value) -> str:
        """A query, or a part of one, with its terms and those that mean the same in every query."""
        wanted = set(_PLACEHOLDER.findall(template))
        known = {name: term for name, term in self._known.items() if name in wanted and name not in terms}
        return fill(template, **known, **terms)

    def part(self, template: str, **terms: Value) -> Terms:
        """A filled fragment, to stand in a query."""
        return Terms(self.filled(template, **terms))

    async def select(self, template: str, *, share: float = 1.0, **terms: Value) -> Read:
        """The rows of one query.

        Raises:
            StoreTimeout: its `share` of the call's time is over.
        """
        return await self._read(self.filled(template, **terms), share)

    async def count(self, template: str, *, most: int | None = None, share: float = 1.0, **terms: Value) -> Count:
        """The number that a query counts as ?n: a lower bound where not all was counted, or where it is `most`."""
        bound = {} if most is None else {"most": most}
        read = await self.select(template, share=share, **bound, **terms)
        counted = number(read.rows[0], "n") if read.rows else 0
        exact = read.stop is Stop.COMPLETE and (most is None or counted < most)
        return Count(counted) if exact else Count.at_least(counted)

    async def in_batches(self, template: str, key: str, asked: Sequence[URIRef], **terms: Value) -> Read:
        """The rows of a query over a list of IRIs, asked in batches; a batch whose answer was cut is halved."""

        def query(batch: Sequence[URIRef]) -> str:
            return self.filled(template, **{key: values(*batch)}, **terms)

        return await self.halving(batches(asked, self.dialect.listed), query)

    async def halving(self, lists: Iterable[Sequence[T]], query: Callable[[Sequence[T]], str]) -> Read:
        """The rows of a query over several lists, asked for each; a list whose answer the row cap cut is halved."""

        async def read(asked: Sequence[T]) -> Read:
            answer = await self._read(await in_thread(len(asked), lambda: query(asked)))
            if answer.stop is not Stop.ROW_CAP or len(asked) == 1:
                return answer
            half = len(asked) // 2
            return Read.together([await read(asked[:half]), await read(asked[half:])])

        return Read.together(await gathered(*map(read, lists)))

    async def union(self, branches: Sequence[str], *, share: float = 1.0) -> Read:
        """The rows of several queries that are asked as branches of a union.

        Raises:
            StoreTimeout: one has not answered in its `share` of the call's time.
        """
        unions = [Terms(" UNION ".join(batch)) for batch in batches(branches, self.dialect.branches)]
        return Read.together(await gathered(*(self.select(UNION, share=share, branches=union) for union in unions)))

    async def slice(self, template: str, skip: int, most: int, *, share: float = 1.0, **terms: Value) -> Read:
        """So many rows of a query, also where that is more than the endpoint gives at once.

        Raises:
            StoreTimeout: a part of them has not come in its `share` of the call's time.
        """
        rows: list[Row] = []
        while len(rows) < most:
            query = self.filled(template, skip=skip + len(rows), most=most - len(rows), **terms)
            answer = await self._read(query, share)
            rows += answer.rows
            if answer.stop is not Stop.ROW_CAP or not answer.rows:
                return Read(tuple(rows), answer.stop)
        return Read(tuple(rows))

    async def _read(self, query: str, share: float = 1.0) -> Read:
        seconds = self._timeout * share
        try:
            await expect_answer(seconds, patience=self._timeout, sign=self._sign)
            # The whole time is the client's own, which says what it was lost on.
            async with asyncio.timeout(seconds if share < 1.0 else None):
                answer = await self._client.select(self._prologue + query)
        except TimeoutError as error:
            raise errors.timed_out(seconds) from error
        answered()
        if answer.partial:
            return Read(answer.rows, Stop.TIME_OUT)
        return Read(answer.rows, Stop.COMPLETE if answer.row_cap is None else Stop.ROW_CAP)

    async def _sign(self) -> None:
        """Hear from the endpoint, whatever it says."""
        with suppress(InvalidStore, Unsupported):
            await self._client.select(SIGN)


def fits(count: Count, most: int) -> bool:
    """Whether there are no more than so many. Of what was not all counted that is not known, however few it seems."""
    return count.certainty is Certainty.EXACT and count.value <= most


def number(row: Row, variable: str) -> int:
    """A count in a row; 0 where the endpoint leaves it out, as some do for sums of nothing."""
    term = row.get(variable)
    return int(term) if isinstance(term, Literal) else 0


def iri_in(row: Row, variable: str) -> URIRef:
    """The IRI in a row; a blank node stands by the IRI that Virtuoso takes for it."""
    return URIRef(str(row[variable]))


def truth(row: Row, variable: str) -> bool:
    """A truth value in a row, in any of the ways that endpoints write it."""
    return str(row.get(variable)) in {"true", "1"}
