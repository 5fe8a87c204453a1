"""Search for edges whose far ends have a label, or certain words in their names. The store does the filtering."""

from __future__ import annotations

from kgnav_mcp.adapters.cypher import queries
from kgnav_mcp.adapters.cypher.builder import edge
from kgnav_mcp.adapters.cypher.entities import Entities, relation_of
from kgnav_mcp.adapters.cypher.rows import qualifiers
from kgnav_mcp.model import Count, Direction, Link, Page, Stop, Triple
from kgnav_mcp.port.far_end_filters import MatchRequest, Words
from kgnav_mcp.port.lists import items_before


class EdgeSearch:
    """Searches the edges at some nodes."""

    def __init__(self, entities: Entities) -> None:
        self._entities = entities
        self._session = entities.session

    async def page(self, asked: MatchRequest, side: Direction, most: int, after: str | None) -> Page[Link]:
        """The edges whose far ends may match, in the order of the ids, then of the relationship types."""
        catalogue, decoder = self._entities.catalogue.current, self._entities.decoder
        far, skip = asked.far, items_before(after)
        types = None if asked.paths is None else sorted(catalogue.types.keys() & {path[0] for path in asked.paths})
        anchors = await self._entities.anchors(asked.ids, queries.NODES)
        if types == [] or not anchors:
            return Page((), (), Count(0))
        label = far.label.casefold() if far.label is not None else None
        rows = await self._session.items(
            queries.MATCHING,
            {"edge": edge(side, types)},
            ids=[anchor.node_id for anchor in anchors],
            labels=None if label is None else [name for name in catalogue.labels if name.casefold() == label],
            words=list(Words(far.words).asked) if far.words is not None else [],
            shown=decoder.shown_keys,
            skip=skip,
            take=most,
        )
        heads = {anchor.node_id: anchor.entity for anchor in anchors}
        found: list[Link] = []
        for node_id, kind, properties, node in rows:
            ends = heads[node_id], decoder.entity(node)
            head, tail = ends if side is Direction.OUTGOING else ends[::-1]
            facts = qualifiers(self._session.dialect.values, properties)
            found.append(Link(side, Triple(head, relation_of(kind), tail, facts)))
        positions = tuple(str(skip + n) for n in range(1, len(found) + 1))
        stop = Stop.LIMIT if len(found) == most else Stop.COMPLETE
        return Page(tuple(found), positions, Count.at_least(skip + len(found)), stop)
