"""Sends queries to an endpoint in batches, and says why an answer is incomplete."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.sparql_base import errors
from kgnav_mcp.adapters.sparql_base.dialect import Dialect
from kgnav_mcp.adapters.sparql_base.queries import PING, UNION, USED
from kgnav_mcp.adapters.sparql_base.results import Answer, Term
from kgnav_mcp.adapters.sparql_base.terms import Fragment, fill, values
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.errors import InvalidStore, Unsupported
from kgnav_mcp.model import Certainty, Count, Stop
from kgnav_mcp.port.lists import batches
from kgnav_mcp.store_limits import note_answer, require_answer

Row = Mapping[str, Term]
Value = URIRef | Literal | int | Fragment
T = TypeVar("T")

_PLACEHOLDER = re.compile(r"\$([A-Za-z_]\w*)")
_GROUPED = "GROUP BY"
_UNIQUE = re.compile(rf"^SELECT DISTINCT|{_GROUPED}")
"""In a query without two equal rows."""
_BRANCH = "number"
"""The variable that identifies the branches of a union: a constant, so it is bound in a row for no group, too."""
_ZEROS = {"0", "0.0"}
_AS_IT_IS = {"each_once": "", "end_once": "", "distinct": ""}
_EACH_ONCE = {"each_once": " { SELECT DISTINCT * WHERE {", "end_once": "} }", "distinct": " DISTINCT"}
"""The texts for $each_once and $end_once around a pattern whose matches are counted, and for $distinct before columns.

By default they are empty. The others are for `match_each_once`.
"""


class Selects(Protocol):
    """The part of a SPARQL client that is used here."""

    @property
    def dialect(self) -> Dialect: ...

    async def select(self, query: str, *, seconds: float | None = None, waits: bool = True) -> Answer: ...


@dataclass(frozen=True, slots=True)
class Read:
    """The rows of an answer, and why some may be missing."""

    rows: tuple[Row, ...]
    stop: Stop = Stop.COMPLETE

    def counted(self, number: int) -> Count:
        """Convert a number computed from these rows to a count: a lower bound if rows are missing."""
        return Count(number) if self.stop is Stop.COMPLETE else Count.at_least(number)

    def any_rows(self) -> tuple[Row, ...]:
        """The rows, where one row is enough. An incomplete answer is accepted if it has any.

        Raises:
            StoreTimeout: there are no rows because the endpoint's time was over.
            Unsupported: there are no rows because the endpoint's row cap allows none.
        """
        return self.rows or self.all_rows()

    def all_rows(self) -> tuple[Row, ...]:
        """The rows, where all are needed: an entity whose name is missing would look like a mediator.

        Raises:
            StoreTimeout: rows are missing because the endpoint's time was over.
            Unsupported: rows are missing because of the endpoint's row cap.
        """
        if self.stop is Stop.TIME_OUT:
            raise errors.stopped_by_store()
        if self.stop is Stop.ROW_CAP:
            raise errors.capped()
        return self.rows

    @classmethod
    def combined(cls, reads: Iterable[Read]) -> Read:
        """Combine several reads into one, which is complete if all of them are."""
        parts = list(reads)
        return cls(tuple(row for part in parts for row in part.rows), Stop.first(part.stop for part in parts))


class Reader:
    """Sends queries to an endpoint and reads their answers.

    `known` are the terms for placeholders that are the same in every query. `timeout` is the time for a call in
    seconds. `prologue` is put before every query. The `dialect`, by default the one that the client has detected, gives
    the batch sizes.
    """

    def __init__(
        self,
        client: Selects,
        known: Mapping[str, Value],
        timeout: float,
        *,
        prologue: str = "",
        dialect: Dialect | None = None,
    ) -> None:
        self._client = client
        self._known = {**known, **_fragments(_AS_IT_IS)}
        self._timeout = timeout
        self._prologue = prologue
        self.dialect = dialect or client.dialect
        self.repeats_triples = False
        """Whether a pattern matches a triple once for each graph that has it. See `match_each_once`."""

    @property
    def stable_order(self) -> bool:
        """Whether lists may be paged by OFFSET, as far as the store's dialect is known."""
        return self.dialect.stable_order or self._client.dialect.stable_order

    @property
    def stable_rows(self) -> bool:
        """Whether the rows of a triple pattern, each of which is another triple, may be paged by OFFSET."""
        return self.stable_order and not self.repeats_triples

    @property
    def stable_distinct(self) -> bool:
        """Whether lists without duplicates may be paged by OFFSET, as far as the store's dialect is known."""
        return self.stable_order and self.dialect.stable_distinct and self._client.dialect.stable_distinct

    @property
    def nests_exists(self) -> bool:
        """Whether EXISTS may be nested within an expression, as far as the store's dialect is known."""
        return self.dialect.nests_exists and self._client.dialect.nests_exists

    @property
    def max_optionals(self) -> int | None:
        """Maximum number of values that a query reads with its rows, as far as the store's dialect is known."""
        known = (self.dialect.max_optionals, self._client.dialect.max_optionals)
        return min((each for each in known if each is not None), default=None)

    @property
    def joins_from_outside(self) -> bool:
        """Whether an EXISTS is joined from variables bound outside, as far as the store's dialect is known."""
        return self.dialect.joins_from_outside and self._client.dialect.joins_from_outside

    @property
    def nests_unions(self) -> bool:
        """Whether EXISTS may have several UNIONs, as far as the store's dialect is known."""
        return self.dialect.nests_unions and self._client.dialect.nests_unions

    @property
    def max_matches(self) -> int | None:
        """Maximum number of matches that one query groups or counts; None: the store stops any query in time."""
        bounds = (self.dialect.max_matches, self._client.dialect.max_matches)
        return None if None in bounds else min(bound for bound in bounds if bound is not None)

    def batching(self, size: int) -> Reader:
        """A copy of this reader whose lists of IRIs have at most `size` items."""
        reader = copy(self)
        reader.dialect = replace(self.dialect, max_iris=size)
        return reader

    def add_known(self, known: Mapping[str, Value]) -> None:
        """Add terms for placeholders that have the same meaning in every later query."""
        self._known.update(known)

    def match_each_once(self) -> None:
        """Let later queries count each match once, on a store that repeats a triple for each graph that has it.

        It costs 1 us per match on Virtuoso.
        """
        self.repeats_triples = True
        self._known.update(_fragments(_EACH_ONCE))

    def each_once(self, pattern: str) -> Fragment:
        """The pattern, with each of its matches once."""
        return Fragment(f"{{ SELECT DISTINCT * WHERE {{ {pattern} }} }}" if self.repeats_triples else pattern)

    def filled(self, template: str, **terms: Value) -> str:
        """Fill a query, or a part of one, with these terms and the known ones."""
        wanted = set(_PLACEHOLDER.findall(template))
        known = {name: term for name, term in self._known.items() if name in wanted and name not in terms}
        return fill(template, **known, **terms)

    def part(self, template: str, **terms: Value) -> Fragment:
        """Fill a part of a query, to be inserted into another template."""
        return Fragment(self.filled(template, **terms))

    async def select(self, template: str, *, share: float = 1.0, **terms: Value) -> Read:
        """Run one query.

        Raises:
            StoreTimeout: it took more than `share` of the call's time.
        """
        return await self._send(self.filled(template, **terms), share)

    async def count(self, template: str, *, most: int | None = None, share: float = 1.0, **terms: Value) -> Count:
        """Run a query that counts ?n. A lower bound if the answer is incomplete or the number reaches `most`."""
        bound = {} if most is None else {"most": most}
        read = await self.select(template, share=share, **bound, **terms)
        counted = number_in(read.rows[0], "n") if read.rows else 0
        exact = read.stop is Stop.COMPLETE and (most is None or counted < most)
        return Count(counted) if exact else Count.at_least(counted)

    async def in_batches(self, template: str, key: str, iris: Sequence[URIRef], **terms: Value) -> Read:
        """Run a query over a list of IRIs in batches. A batch whose answer the row cap cut is halved and run again."""

        def query(batch: Sequence[URIRef]) -> str:
            return self.filled(template, **{key: values(*batch)}, **terms)

        return await self.halving(batches(iris, self.dialect.max_iris), query)

    async def halving(self, lists: Iterable[Sequence[T]], query: Callable[[Sequence[T]], str]) -> Read:
        """Run a query for each of several lists. A list whose answer the row cap cut is halved and run again."""

        async def read(batch: Sequence[T]) -> Read:
            answer = await self._send(await in_thread(len(batch), lambda: query(batch)))
            if answer.stop is not Stop.ROW_CAP or len(batch) == 1:
                return answer
            half = len(batch) // 2
            return Read.combined([await read(batch[:half]), await read(batch[half:])])

        return Read.combined(await gathered(*map(read, lists)))

    async def union(self, branches: Sequence[str], *, share: float = 1.0) -> Read:
        """Run several queries as branches of unions.

        Raises:
            StoreTimeout: a union has not answered within `share` of the call's time.
        """
        unions = [Fragment(" UNION ".join(batch)) for batch in batches(branches, self.dialect.max_branches)]
        return Read.combined(await gathered(*(self.select(UNION, share=share, branches=union) for union in unions)))

    async def used(self, predicates: Iterable[URIRef]) -> Collection[URIRef]:
        """The predicates among `predicates` that at least one triple has."""
        branches = [self.filled(USED, p=predicate) for predicate in dict.fromkeys(predicates)]
        return {iri_in(row, "p") for row in (await self.union(branches)).all_rows()} if branches else ()

    async def slice(self, template: str, skip: int, most: int, *, share: float = 1.0, **terms: Value) -> Read:
        """Read up to `most` rows of a query after the first `skip`, in several queries if the row cap cuts an answer.

        On a store without a stable order of rows, an answer that was cut is not continued.

        Raises:
            StoreTimeout: one of these queries took more than `share` of the call's time.
            Unsupported: the order of the rows changed between the queries, so that some are repeated and others
                missing.
        """
        rows: list[Row] = []
        while (start := len(rows)) < most:
            # Always the same LIMIT: Virtuoso puts groups in another order for another.
            query = self.filled(template, skip=skip + start, most=most, **terms)
            answer = await self._send(query, share)
            rows += answer.rows[: most - start]
            if start and _UNIQUE.search(template) and len({frozenset(row.items()) for row in rows}) < len(rows):
                raise errors.reordered()
            if answer.stop is not Stop.ROW_CAP or not answer.rows or not self.stable_order:
                return Read(tuple(rows), answer.stop)
        return Read(tuple(rows))

    async def _send(self, query: str, share: float = 1.0) -> Read:
        seconds = self._timeout * share
        try:
            await require_answer(seconds, call_timeout=self._timeout, liveness_check=self.check_alive)
        except TimeoutError as error:
            raise errors.timed_out(seconds) from error
        answer = await self._client.select(self._prologue + query, seconds=seconds)
        note_answer()
        rows = answer.rows if _GROUPED not in query else tuple(row for row in answer.rows if not _is_empty_group(row))
        if answer.partial:
            return Read(rows, Stop.TIME_OUT)
        return Read(rows, Stop.COMPLETE if answer.row_cap is None else Stop.ROW_CAP)

    async def check_alive(self) -> None:
        """Send a trivial query: any answer, even an error, shows that the endpoint is alive.

        Raises:
            StoreUnavailable: nothing answers.
        """
        with suppress(InvalidStore, Unsupported):
            await self._client.select(PING, waits=False)


def _fragments(texts: Mapping[str, str]) -> dict[str, Fragment]:
    return {name: Fragment(text) for name, text in texts.items()}


def _is_empty_group(row: Row) -> bool:
    """Whether a row of a grouped query is for no group: it binds no key of a group, and counts nothing.

    Some endpoints (Corese, for one) answer with such a row where nothing matches; the standard has no row then.
    """
    return all(name == _BRANCH or (isinstance(term, Literal) and str(term) in _ZEROS) for name, term in row.items())


def is_at_most(count: Count, most: int) -> bool:
    """Whether a count is certainly at most `most`. False for a lower bound, however small."""
    return count.certainty is Certainty.EXACT and count.value <= most


def number_in(row: Row, variable: str) -> int:
    """The number in a row's column; 0 where it is unbound, as some endpoints leave an empty sum."""
    term = row.get(variable)
    return int(term) if isinstance(term, Literal) else 0


def iri_in(row: Row, variable: str) -> URIRef:
    """The IRI in a row's column. For a blank node of Virtuoso it is the IRI by which Virtuoso can look it up."""
    return URIRef(str(row[variable]))


def boolean_in(row: Row, variable: str) -> bool:
    """The truth value in a row's column, in any form that endpoints write."""
    return str(row.get(variable)) in {"true", "1"}
