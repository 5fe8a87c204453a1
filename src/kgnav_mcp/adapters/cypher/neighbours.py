"""The triples around nodes, page by page.

A page reads only the edges that it shows. Only the first page counts the rows of all nodes. Later pages take the total
from their position, which is refused if the graph has been written to.
"""

from __future__ import annotations

from collections.abc import Sequence

from kgnav_mcp.adapters.cypher.counts import CountReader, RowFilter, Side
from kgnav_mcp.adapters.cypher.entities import Entities
from kgnav_mcp.adapters.cypher.pages import RowPosition, changed
from kgnav_mcp.adapters.cypher.relations import RelationReader
from kgnav_mcp.adapters.cypher.rows import RowReader
from kgnav_mcp.adapters.paging.neighbours import rows_page
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.model import AnchoredPage, Count, Link, RowsOrRelations, Stop


class NeighbourReader:
    """Answers the verbs `neighbours` and `rows_or_relations`."""

    def __init__(self, entities: Entities, counts: CountReader, relations: RelationReader) -> None:
        self._entities = entities
        self._counts = counts
        self._relations = relations

    async def page(
        self, references: Sequence[str], wanted: RowFilter, limit: int, after: str | None, *, all_or_none: bool
    ) -> AnchoredPage[Link]:
        """One page of the rows at the nodes.

        Raises:
            InvalidCursor: `after` is no position of this list, or the number of rows of its relation has changed.
        """
        references = list(dict.fromkeys(references))
        source = RowReader(self._entities, self._counts, references, wanted, limit)
        return await self._page_of(source, references, wanted, limit, after, all_or_none=all_or_none)

    async def page_or_relations(
        self, references: Sequence[str], wanted: RowFilter, limit: int, examples: int, relations: int
    ) -> RowsOrRelations:
        """All rows at the nodes if they fit the limit, else their relations. Either way one query counts them."""
        references = list(dict.fromkeys(references))
        with_counts = self._relations.examples_with_counts(references, examples)
        source = RowReader(self._entities, self._counts, references, wanted, limit, examples=with_counts)
        page = await self._page_of(source, references, wanted, limit, None, all_or_none=True)
        if page.stop is not Stop.LIMIT:
            return RowsOrRelations(page)
        facts = await self._relations.counted(source.anchors, source.nodes, wanted, examples, relations)
        return RowsOrRelations(page, facts)

    async def _page_of(
        self,
        source: RowReader,
        references: Sequence[str],
        wanted: RowFilter,
        limit: int,
        after: str | None,
        *,
        all_or_none: bool,
    ) -> AnchoredPage[Link]:
        start = RowPosition.parse(after) if after is not None else None
        sides = await in_thread(
            len(references), lambda: [Side(side, reference) for side in wanted.directions for reference in references]
        )
        position = start.text if start is not None else None
        page = await rows_page(source, sides, limit=limit, after=position, all_or_none=all_or_none)
        if start is not None and source.rows_at(start.place) != start.rows:
            raise changed()
        total = start.total if start is not None else page.total.value
        triples = await source.triples(page.items)

        def build_page() -> AnchoredPage[Link]:
            segments = [segment for segment, _ in page.items]
            return AnchoredPage(
                tuple(Link(one.entity.direction, triple) for one, triple in zip(segments, triples, strict=True)),
                tuple(
                    RowPosition(total, one.rows, position).write()
                    for one, position in zip(segments, page.positions, strict=True)
                ),
                Count(total),
                page.stop,
                anchors={reference: anchor.entity for reference, anchor in source.anchors.items()},
            )

        return await in_thread(len(source.anchors) + len(triples), build_page)
