"""Rows of `neighbours` without names and qualifiers, for plans: a query for each table, not for each pair of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kgnav_mcp.adapters.cypher.builder import quoted
from kgnav_mcp.adapters.cypher.counts import RowFilter
from kgnav_mcp.adapters.cypher.entities import relation_of
from kgnav_mcp.adapters.ladybug import queries
from kgnav_mcp.adapters.ladybug.rows import TableEntities, TableRows
from kgnav_mcp.adapters.ladybug.tables import EdgeTable, key_of
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.model import Count, Direction, Entity, Link, Node, Page, Triple

_Row = tuple[str, str, int, Node]
"""Id of the near node, relation, whether it is an edge, and the far end."""


class BareRowReader:
    """Answers `neighbour_ids` for lists of one page."""

    def __init__(self, entities: TableEntities, rows: TableRows) -> None:
        self._entities = entities
        self._rows = rows

    async def page(self, ids: Sequence[str], wanted: RowFilter, limit: int) -> Page[Link] | None:
        """All rows in the order of `neighbours`; None if there are more than `limit`, or ids in other forms."""
        if not await in_thread(len(ids), lambda: all(map(self._entities.is_printed, ids))):
            return None
        nodes = list(dict.fromkeys(ids))
        places = {node_id: place for place, node_id in enumerate(nodes)}
        types = wanted.types(self._entities.tables.current)
        links: list[Link] = []
        for side in wanted.directions:
            rows: list[_Row] = []
            if wanted.has_values(side):
                for node_id, own in (await self._rows.values_at(nodes, wanted)).items():
                    rows += ((node_id, name, 0, literal) for name, literals in own.items() for literal in literals)
            rows += await self._edges(nodes, side, types, limit + 1)
            if len(links) + len(rows) > limit:
                return None
            links += await in_thread(len(rows), lambda side=side, rows=rows: _links(side, places, rows))
        positions = tuple(str(place) for place in range(1, len(links) + 1))
        return Page(tuple(links), positions, Count(len(links)))

    async def _edges(self, nodes: Sequence[str], side: Direction, types: Sequence[str] | None, most: int) -> list[_Row]:
        by_table: dict[str, tuple[Mapping[str | int, str], list[EdgeTable]]] = {}
        for link, keys in await self._rows.links_at(nodes, side, types):
            by_table.setdefault(link.near(side).name, (keys, []))[1].append(link)
        found: list[_Row] = []
        for label, (keys, links) in by_table.items():
            near = self._entities.tables.current.tables[label]
            far = {table.name: table for table in (link.far(side) for link in links)}
            kinds = "|".join(quoted(name) for name in dict.fromkeys(link.type for link in links))
            left, right = ("-", "->") if side is Direction.OUTGOING else ("<-", "-")
            pattern = f"(n:{quoted(label)}){left}[r:{kinds}]{right}(m:{'|'.join(map(quoted, far))})"
            rest = queries.BARE_EDGES.format(key=near.key_text, far=key_of("m", list(far.values())))
            for key, kind, far_label, far_key in await self._rows.at(pattern, near, list(keys), rest, most=most):
                node = Entity(f"{far_label}:{far[far_label].key.name}={far_key}", types=(far_label,))
                found.append((keys[key], kind, 1, node))
        return found


def _links(side: Direction, places: Mapping[str, int], rows: list[_Row]) -> list[Link]:
    """The rows as links, by node and relation, values before edges."""
    rows.sort(key=lambda row: (places[row[0]], row[1:3]))
    found: list[Link] = []
    for node_id, name, _, far in rows:
        near = Entity(node_id)
        if side is Direction.OUTGOING:
            found.append(Link(side, Triple(near, relation_of(name), far)))
        elif isinstance(far, Entity):
            found.append(Link(side, Triple(far, relation_of(name), near)))
    return found
