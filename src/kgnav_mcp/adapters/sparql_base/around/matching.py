"""Searches the rows around entities by their far ends: one query with a branch per relation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rdflib import URIRef

from kgnav_mcp.adapters.paging.counts import far_relation, near_relation
from kgnav_mcp.adapters.paging.positions import Place, Segment, SegmentPart
from kgnav_mcp.adapters.sparql_base import matching
from kgnav_mcp.adapters.sparql_base.around import queries
from kgnav_mcp.adapters.sparql_base.around.blocks import Block, Found
from kgnav_mcp.adapters.sparql_base.around.counts import Anchor, CountReader, Path
from kgnav_mcp.adapters.sparql_base.around.far_ends import term_order
from kgnav_mcp.adapters.sparql_base.around.rows import RowReader
from kgnav_mcp.adapters.sparql_base.matching import SearchRequest, branch, searched
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, Row, iri_in, number_in
from kgnav_mcp.adapters.sparql_base.terms import MAX_TERMS, Fragment, values
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import Entity, Stop, Triple
from kgnav_mcp.port import FarEndKind
from kgnav_mcp.port.lists import batches

Placed = tuple[Segment[Anchor, URIRef], Found]
_NO_LIMIT = 1_000_000
"""More rows than one triple can have: no limit."""


class RowSearch(matching.RowSearch[Placed, Placed]):
    """Searches rows at entities. Rows that end at a blank node are left out, because no query can name it."""

    def __init__(self, reader: Reader, rows: RowReader, counts: CountReader, question: SearchRequest) -> None:
        super().__init__(question)
        self._reader = reader
        self._rows = rows
        self._counts = counts

    async def find(self) -> tuple[Sequence[Placed], Stop]:
        iris = [anchor for anchor in self._anchors if isinstance(anchor, URIRef)]
        if len(iris) < len(self._anchors):
            raise Unsupported("a query cannot refer to a blank node", next_step="Read its rows.")
        paths: Sequence[Path] | None = self._paths
        if paths is None:
            counts = await self._counts.one_hop(iris, self._direction, FarEndKind.ENTITY)
            paths = await in_thread(len(iris), lambda: list(counts.by_path()))
        paths = [path for path in paths if all(map(self._counts.shows, path))]
        fitting = self._far.part(self._reader, "?o", naming="$named", typing="$typed")
        branches = [
            self._branch(number, path, values(*batch), fitting)
            for number, path in enumerate(paths)
            for batch in batches(iris, MAX_TERMS)
        ]
        read = await searched(self._reader, branches)
        return await in_thread(len(read.rows), lambda: self._in_order(read.rows, paths)), read.stop

    def _branch(self, number: int, path: Path, iris: Fragment, fitting: Fragment) -> str:
        side = self._direction
        if len(path) == 1:
            pattern = self._reader.part(queries.BY[side], s=iris, p=path[0])
        else:
            pattern = self._reader.part(
                queries.THROUGH_BY[side], s=iris, near=near_relation(path, side), far=far_relation(path, side)
            )
        row = Fragment("?s ?o" if len(path) == 1 else "?s ?m ?o")
        kind = self._counts.ends(side, FarEndKind.ENTITY)
        return branch(
            self._reader, number=number, row=row, by=Fragment(f"{pattern.text} . {kind.text}"), fitting=fitting
        )

    def _in_order(self, read: Iterable[Row], paths: Sequence[Path]) -> list[Placed]:
        """Sort the rows by entity, then by relation."""
        places = {one: place for place, one in enumerate(self._anchors)}
        ids = {path: (len(path), self._rows.ids(path)) for path in paths}
        found: list[tuple[tuple[object, ...], Placed]] = []
        for row in read:
            if not isinstance(end := row["o"], URIRef):
                continue
            anchor, path = iri_in(row, "s"), paths[number_in(row, "number")]
            via = str(row["m"]) if "m" in row else ""
            mediator = Entity(self._rows.ids((URIRef(via),))[0], mediator=True) if via else None
            segment: Segment[Anchor, URIRef] = Segment(places[anchor], anchor, path, 1)
            order = places[anchor], ids[path], via, term_order(end)
            found.append((order, (segment, Found(end, mediator))))
        return [placed for _, placed in sorted(found, key=lambda one: one[0])]

    async def rows(self, found: Sequence[Placed]) -> Sequence[Sequence[Placed]]:
        direct = [placed for placed in found if placed[1].via is None]
        blocks = [Block(SegmentPart(segment, Place(), _NO_LIMIT), [row.far]) for segment, row in direct]
        stated = iter(await self._rows.rows_for_page(blocks))
        return [
            [placed] if placed[1].via is not None else [(placed[0], row) for row, _ in next(stated).items]
            for placed in found
        ]

    async def triples(self, rows: Sequence[Placed]) -> Sequence[Triple]:
        return await self._rows.triples(rows)
