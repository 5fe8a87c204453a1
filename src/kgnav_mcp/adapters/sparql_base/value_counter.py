"""Counts the nodes or edges that have each value of a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rdflib import BNode, Literal, URIRef

from kgnav_mcp.adapters.sparql_base import queries
from kgnav_mcp.adapters.sparql_base.query_reader import Read, Reader, Row, number_in
from kgnav_mcp.adapters.sparql_base.terms import Fragment, values
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Certainty, Count, Stop
from kgnav_mcp.port.lists import batches

_SHARE = 0.3
"""The fraction of a call's time that counting may take; the values are already known."""
_MAX_ROWS_PER_VALUE = 10
"""Maximum number of rows for one value: a number may have several units."""
_NUMBER = "n"


@dataclass(frozen=True, slots=True)
class ValueCounter:
    """Counts how many `$counted` (nodes or edges) have each value that meets the conditions.

    `variable` is the name of the variable of the values.
    """

    reader: Reader
    query: str
    variable: str
    conditions: Fragment
    counted: Fragment

    async def all(self, most: int, *, share: float = 1.0) -> Read:
        """The first `most` values with their counts.

        Raises:
            StoreTimeout: counting took more than `share` of the call's time.
        """
        return await self.reader.slice(
            self.query, 0, most, share=share, conditions=self.conditions, counted=self.counted
        )

    async def all_or(self, read: Read, most: int) -> Read:
        """As `all`, if counting takes little time and is as complete; otherwise `read`, which has no counts."""
        try:
            found = await self.all(most, share=_SHARE)
        except StoreTimeout:
            return read
        return found if found.stop is read.stop else read

    async def of_page(self, rows: Sequence[Row]) -> Sequence[Row]:
        """The rows of a page with their counts if counting takes little time; otherwise without."""
        terms = dict.fromkeys(term for row in rows if not isinstance(term := row[self.variable], BNode))
        try:
            reads = await gathered(*map(self._counts_of, batches(list(terms), self.reader.dialect.max_texts)))
        except StoreTimeout:
            return rows
        counted_rows = {
            frozenset(without_number(row).items()): row
            for read in reads
            if read.stop is Stop.COMPLETE
            for row in read.rows
        }
        return [counted_rows.get(frozenset(row.items()), row) for row in rows]

    async def _counts_of(self, terms: Sequence[URIRef | Literal]) -> Read:
        """The counts of some values. Each may have several rows, such as one per unit."""
        value = Fragment(f"?{self.variable}")
        among = await in_thread(
            len(terms), lambda: self.reader.filled(queries.AMONG, variable=value, terms=values(*terms))
        )
        return await self.reader.select(
            self.query,
            share=_SHARE,
            conditions=Fragment(f"{among} {self.conditions.text}"),
            counted=self.counted,
            skip=0,
            most=_MAX_ROWS_PER_VALUE * len(terms),
        )


def without_number(row: Row) -> Row:
    """The row without its count."""
    return {name: term for name, term in row.items() if name != _NUMBER}


def count_in(row: Row) -> Count:
    """The count in a row; unknown if there is none."""
    return Count(number_in(row, _NUMBER)) if _NUMBER in row else Count.unknown()


def merged_count(one: Count, other: Count) -> Count:
    """The count for two terms with the same text: a lower bound, since some nodes may have both."""
    both_known = Certainty.UNKNOWN not in (one.certainty, other.certainty)
    return Count.at_least(max(one.value, other.value)) if both_known else Count.unknown()
