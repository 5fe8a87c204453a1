"""Queries sent, in batches that the endpoint takes and answers whole; what it cut or left out is said."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.sparql.results import Answer, Term
from kgnav_mcp.adapters.sparql.terms import Terms, batches, fill, values
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.ids import Ids
from kgnav_mcp.adapters.wikidata.options import Wikidata
from kgnav_mcp.model import Stop
from kgnav_mcp.port import AdapterOptions

Row = Mapping[str, Term]

_PLACEHOLDER = re.compile(r"\$([A-Za-z_]\w*)")
_BATCH = 200
"""Entities of one list in a query."""
_BRANCHES = 40
"""Branches of one union."""


class Selects(Protocol):
    """What of a SPARQL client is used here."""

    async def select(self, query: str) -> Answer: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Read:
    """Rows, and why there are no more of them."""

    rows: tuple[Row, ...]
    stop: Stop = Stop.COMPLETE

    @classmethod
    def together(cls, reads: Iterable[Read]) -> Read:
        """Several reads as one, which is complete where each of them is."""
        parts = list(reads)
        return cls(tuple(row for part in parts for row in part.rows), worst(part.stop for part in parts))


def worst(stops: Iterable[Stop]) -> Stop:
    """The first of several reasons to stop that is not completeness."""
    return next((stop for stop in stops if stop is not Stop.COMPLETE), Stop.COMPLETE)


class Store:
    """The endpoint with the terms that mean the same in every query: what every reader asks through."""

    def __init__(self, client: Selects, wikidata: Wikidata, ids: Ids, options: AdapterOptions) -> None:
        self.wikidata = wikidata
        self.ids = ids
        self.languages = options.languages
        self._client = client
        self._known: dict[str, URIRef | Literal | int | Terms] = {
            "best": queries.RANKED if wikidata.every_rank else queries.BEST,
            "value": Literal(f"{ids.base}/prop/statement/P"),
            "qualifier": Literal(f"{ids.base}/prop/qualifier/P"),
            "entities": Literal(ids.entities),
            "instance": ids.direct(wikidata.instance_of),
        }

    def filled(self, template: str, **terms: URIRef | Literal | int | Terms) -> str:
        """A query, or a part of one, with its terms and those that mean the same in every query."""
        wanted = set(_PLACEHOLDER.findall(template))
        known = {name: term for name, term in self._known.items() if name in wanted and name not in terms}
        return fill(template, **known, **terms)

    def part(self, template: str, **terms: URIRef | Literal | int | Terms) -> Terms:
        """A filled fragment, to stand in a query."""
        return Terms(self.filled(template, **terms))

    async def select(self, template: str, **terms: URIRef | Literal | int | Terms) -> Read:
        """The rows of one query."""
        answer = await self._client.select(queries.PREFIXES + self.filled(template, **terms))
        if answer.partial:
            return Read(answer.rows, Stop.TIME_OUT)
        return Read(answer.rows, Stop.COMPLETE if answer.row_cap is None else Stop.ROW_CAP)

    async def number(self, template: str, **terms: URIRef | Literal | int | Terms) -> int:
        """The number that a query counts."""
        rows = (await self.select(template, **terms)).rows
        return number(rows[0], "n") if rows else 0

    async def over(
        self, template: str, key: str, asked: Sequence[URIRef], **terms: URIRef | Literal | int | Terms
    ) -> Read:
        """The rows of a query over a list of IRIs, asked in batches; a batch whose answer was cut is halved."""

        async def read(batch: Sequence[URIRef]) -> Read:
            answer = await self.select(template, **{key: values(*batch)}, **terms)
            if answer.stop is not Stop.ROW_CAP or len(batch) == 1:
                return answer
            half = len(batch) // 2
            return Read.together([await read(batch[:half]), await read(batch[half:])])

        return Read.together(await asyncio.gather(*(read(batch) for batch in batches(asked, _BATCH))))

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
        """So many rows of a query, also where that is more than the endpoint gives at once."""
        rows: list[Row] = []
        while len(rows) < most:
            answer = await self.select(template, skip=skip + len(rows), most=most - len(rows), **terms)
            rows += answer.rows
            if answer.stop is not Stop.ROW_CAP:
                return Read(tuple(rows), answer.stop)
        return Read(tuple(rows))


def number(row: Row, variable: str) -> int:
    """A count in a row; 0 where the endpoint leaves it out."""
    term = row.get(variable)
    return int(term) if isinstance(term, Literal) else 0


def address(row: Row, variable: str) -> URIRef:
    """The IRI in a row."""
    return URIRef(str(row[variable]))
