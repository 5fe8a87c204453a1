"""How many nodes, or edges, have each value of a property: counted where that takes little beside reading values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rdflib import BNode, Literal, URIRef

from kgnav_mcp.adapters.sparql import queries
from kgnav_mcp.adapters.sparql.reading import Read, Reader, Row, number
from kgnav_mcp.adapters.sparql.terms import Terms, batches, values
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Certainty, Count, Stop

_SHARE = 0.3
"""Of a call's time: values are known without."""
_PARTS = 10
"""Rows of one value, at most: a number may have several units."""
_NUMBER = "n"


@dataclass(frozen=True, slots=True)
class ValueCounter:
    """Counts what has the values that meet some conditions: `$counted` in a query of values `?value`."""

    reader: Reader
    query: str
    variable: str
    conditions: Terms
    counted: Terms

    async def all(self, most: int, *, share: float = 1.0) -> Read:
        """The values, `most` at most, with their numbers. Raises StoreTimeout."""
        return await self.reader.slice(
            self.query, 0, most, share=share, conditions=self.conditions, counted=self.counted
        )

    async def all_or(self, read: Read, most: int) -> Read:
        """As `all`, where it takes little time; else what was read without numbers."""
        try:
            found = await self.all(most, share=_SHARE)
        except StoreTimeout:
            return read
        return found if found.stop is read.stop else read

    async def of_page(self, rows: Sequence[Row]) -> Sequence[Row]:
        """The rows of a page with their numbers, where these are counted in little time."""
        terms = dict.fromkeys(term for row in rows if not isinstance(term := row[self.variable], BNode))
        try:
            reads = await gathered(*map(self._among, batches(list(terms), self.reader.dialect.texts)))
        except StoreTimeout:
            return rows
        known = {
            frozenset(without_number(row).items()): row
            for read in reads
            if read.stop is Stop.COMPLETE
            for row in read.rows
        }
        return [known.get(frozenset(row.items()), row) for row in rows]

    async def _among(self, terms: Sequence[URIRef | Literal]) -> Read:
        """The numbers of some values: each may come with several parts, such as units."""
        value = Terms(f"?{self.variable}")
        among = await in_thread(
            len(terms), lambda: self.reader.filled(queries.AMONG, variable=value, terms=values(*terms))
        )
        return await self.reader.select(
            self.query,
            share=_SHARE,
            conditions=Terms(f"{among} {self.conditions.text}"),
            counted=self.counted,
            skip=0,
            most=_PARTS * len(terms),
        )


def without_number(row: Row) -> Row:
    """The value in a row."""
    return {name: term for name, term in row.items() if name != _NUMBER}


def count_in(row: Row) -> Count:
    """The number in a row."""
    return Count(number(row, _NUMBER)) if _NUMBER in row else Count.unknown()


def of_either(one: Count, other: Count) -> Count:
    """How many have one or the other of two terms with the same text: some may have both."""
    known = Certainty.UNKNOWN not in (one.certainty, other.certainty)
    return Count.at_least(max(one.value, other.value)) if known else Count.unknown()
