"""The triples around nodes, page by page.

Rows come node by node in the order asked for, and there relation by relation in the order of their ids; within one, a
property's values come before edges, and edges in the store's own order. A page reads the edges it shows, and what a hub
has before them is skipped by the store.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kgnav_mcp.adapters.naming import readable
from kgnav_mcp.adapters.neo4j import cypher, queries
from kgnav_mcp.adapters.neo4j.catalogue import Catalogues
from kgnav_mcp.adapters.neo4j.entities import Entities
from kgnav_mcp.adapters.neo4j.looking import Edge, Looks, Side
from kgnav_mcp.adapters.neo4j.paging import Position, changed, invalid
from kgnav_mcp.adapters.neo4j.store import Store
from kgnav_mcp.adapters.neo4j.tallies import GLANCED, Tallies, Tally, Wanted
from kgnav_mcp.adapters.neo4j.values import literals, split_key
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Count, Direction, Entity, Literal, Page, Qualifier, Relation, Stop, Triple


@dataclass(frozen=True, slots=True)
class Segment:
    """The rows of one relation at one node: `values` of the property, then `edges` of the type."""

    place: int
    tally: Tally
    relation: str

    @property
    def values(self) -> Sequence[Literal]:
        return self.tally.own.get(self.relation, ())

    @property
    def rows(self) -> int:
        return self.tally.rows(self.relation)


@dataclass(frozen=True, slots=True)
class Part:
    """What a page shows of a segment: rows `start` to `end`."""

    segment: Segment
    start: int
    end: int

    @property
    def skip(self) -> int:
        """Edges before the first one shown."""
        return max(self.start - len(self.segment.values), 0)

    @property
    def take(self) -> int:
        """Edges shown."""
        return max(self.end - len(self.segment.values), 0) - self.skip

    @property
    def whole(self) -> bool:
        """Whether all edges of the segment are shown."""
        return self.take == self.segment.rows - len(self.segment.values)


class NeighbourReader:
    """Answers `neighbours`."""

    def __init__(self, store: Store, catalogues: Catalogues, entities: Entities, tallies: Tallies) -> None:
        self._store = store
        self._catalogues = catalogues
        self._entities = entities
        self._tallies = tallies
        self._looks = Looks(entities)

    async def page(
        self, references: Sequence[str], wanted: Wanted, limit: int, after: str | None, *, whole: bool
    ) -> Page[Triple]:
        """One page of the rows at the nodes; none of a list longer than is wanted.

        Raises:
            InvalidCursor: `after` is no position of this list, or the list has another length now.
        """
        start = Position.parse(after) if after is not None else None
        seen = self._tallies.glanced(references, wanted) if start is None else None
        if seen is not None and (not seen.total or (whole and seen.total > limit)):
            return Page((), (), Count(seen.total), Stop.LIMIT if seen.total else Stop.COMPLETE)
        tallies, edges = await self._counted(references, wanted, limit, whole=whole and start is None)
        total = sum(tally.total for tally in tallies)
        if whole and start is None and total > limit:
            return Page((), (), Count(total), Stop.LIMIT)
        segments = [
            Segment(place, tally, relation) for place, tally in enumerate(tallies) for relation in tally.relations
        ]
        first = _first(segments, start, total, after or "")
        parts = _parts(segments[first:], start.row if start is not None else 0, limit)
        left = sum(segment.rows for segment in segments[first:]) - (start.row if start is not None else 0)
        found = edges if edges is not None else await self._edges(parts, wanted)
        items, positions = self._made(parts, found, wanted.direction, total)
        return Page(tuple(items), tuple(positions), Count(total), Stop.COMPLETE if left <= limit else Stop.LIMIT)

    async def _counted(
        self, references: Sequence[str], wanted: Wanted, limit: int, *, whole: bool
    ) -> tuple[list[Tally], Mapping[tuple[int, str], list[Edge]] | None]:
        """The tallies; with all edges where there is one node with so few that a page holds them."""
        catalogue = self._catalogues.now
        types = wanted.types(catalogue)
        if len(references) != 1 or types == ():
            return await self._tallies.at(references, wanted), None
        (reference,) = references
        # In case it is a hub. Of one whose rows are narrowed nothing is kept: what is asked next may not be.
        kept = whole and types is None and wanted.far_ends is None and len(catalogue.types) <= GLANCED
        counted = tuple(catalogue.types) if kept else ()
        look = await self._looks.at(reference, wanted.direction, Side(types, wanted.values, counted), limit)
        if look is None:
            return [], {}
        own = wanted.own(look.own)
        if look.degree <= limit:
            edges: dict[tuple[int, str], list[Edge]] = defaultdict(list)
            for edge in look.edges:
                edges[0, edge[0]].append(edge)
            return [Tally(look.anchor, own, {kind: len(found) for (_, kind), found in edges.items()})], edges
        if types is not None and len(types) == 1:
            return [Tally(look.anchor, own, {types[0]: look.degree})], None
        if whole:  # That it is too long is all that is asked.
            self._tallies.hub(reference, wanted.direction, look)
            return [Tally(look.anchor, own, {"": look.degree})], None
        return await self._tallies.at(references, wanted), None

    async def _edges(self, parts: Sequence[Part], wanted: Wanted) -> Mapping[tuple[int, str], list[Edge]]:
        """The edges that the parts show: those shown whole read together, slices of the other ones by themselves."""
        slices = [part for part in parts if part.take and not part.whole]
        types = sorted({part.segment.relation for part in parts if part.take and part.whole})
        nodes: dict[str, int] = {
            part.segment.tally.anchor.element: part.segment.place for part in parts if part.take and part.whole
        }
        jobs: list[Awaitable[dict[tuple[int, str], list[Edge]]]] = [
            self._slice(part, wanted.direction) for part in slices
        ]
        cut = {(part.segment.place, part.segment.relation) for part in slices}
        bounded = {place for place, _ in cut}
        inner = {element: place for element, place in nodes.items() if place not in bounded}
        if inner:
            all_types = wanted.types(self._catalogues.now)
            complete = all(_complete(parts, place) for place in inner.values())
            jobs.append(self._rows(inner, wanted.direction, all_types if complete else types))
        for element, place in nodes.items():
            if place in bounded:
                own = [part.segment.relation for part in parts if part.segment.place == place and part.take]
                kinds = [kind for kind in own if (place, kind) not in cut]
                jobs.append(self._rows({element: place}, wanted.direction, kinds))
        return {key: edges for found in await gathered(*jobs) for key, edges in found.items()}

    async def _rows(
        self, nodes: Mapping[str, int], direction: Direction, types: Sequence[str] | None
    ) -> dict[tuple[int, str], list[Edge]]:
        query = cypher.filled(queries.ROWS, edge=cypher.edge(direction, types))
        rows = await self._store.rows(query, ids=list(nodes), shown=self._entities.shown)
        places = list(nodes.values())
        found: dict[tuple[int, str], list[Edge]] = defaultdict(list)
        for place, edges in rows:
            for edge in edges:
                found[places[place], edge[0]].append(edge)
        return found

    async def _slice(self, part: Part, direction: Direction) -> dict[tuple[int, str], list[Edge]]:
        segment = part.segment
        query = cypher.filled(queries.SLICE, edge=cypher.edge(direction, [segment.relation]))
        (edges,) = await self._store.row(
            query, id=segment.tally.anchor.element, skip=part.skip, take=part.take, shown=self._entities.shown
        )
        return {(segment.place, segment.relation): edges}

    def _made(
        self, parts: Sequence[Part], edges: Mapping[tuple[int, str], list[Edge]], direction: Direction, total: int
    ) -> tuple[list[Triple], list[str]]:
        items: list[Triple] = []
        positions: list[str] = []
        for part in parts:
            segment = part.segment
            anchor = segment.tally.anchor.entity
            relation = relation_of(segment.relation)
            found = edges.get((segment.place, segment.relation), [])
            if part.take and len(found) < part.take:
                raise changed()
            shown = found[part.skip :] if len(found) > part.take else found  # a slice has nothing before it
            items += [Triple(anchor, relation, value) for value in segment.values[part.start : part.end]]
            items += [self._triple(anchor, relation, edge, direction) for edge in shown[: part.take]]
            positions += [
                Position(total, segment.place, row, segment.relation).write()
                for row in range(part.start + 1, part.end + 1)
            ]
        return items, positions

    def _triple(self, anchor: Entity, relation: Relation, edge: Edge, direction: Direction) -> Triple:
        _, properties, cell = edge
        far = self._entities.entity(cell)
        head, tail = (anchor, far) if direction is Direction.OUTGOING else (far, anchor)
        return Triple(head, relation, tail, qualifiers(properties))


@lru_cache(maxsize=10_000)
def relation_of(name: str) -> Relation:
    """A relationship type or a property as a relation."""
    return Relation(name, readable(name))


def qualifiers(properties: Mapping[str, object]) -> tuple[Qualifier, ...]:
    """An edge's own properties, ordered by id."""
    return tuple(
        Qualifier(relation_of(split_key(key)[0]), value)
        for key in sorted(properties)
        for value in literals(key, properties[key])
    )


def _first(segments: Sequence[Segment], start: Position | None, total: int, after: str) -> int:
    """The place of the segment that a page begins in."""
    if start is None:
        return 0
    for n, segment in enumerate(segments):
        if (segment.place, segment.relation) == (start.entity, start.relation) and start.row <= segment.rows:
            if start.total != total:
                raise changed()
            return n
    raise changed() if start.total != total else invalid(after)


def _parts(segments: Sequence[Segment], skipped: int, limit: int) -> list[Part]:
    """What a page of `limit` rows shows of some segments, the first `skipped` rows of the first one left out."""
    parts: list[Part] = []
    start = skipped
    for segment in segments:
        end = min(segment.rows, start + limit)
        if end > start:
            parts.append(Part(segment, start, end))
        limit -= end - start
        start = 0
        if limit <= 0:
            break
    return parts


def _complete(parts: Sequence[Part], place: int) -> bool:
    """Whether a page shows everything at the node of this place."""
    shown = [part for part in parts if part.segment.place == place]
    return bool(shown) and sum(part.end - part.start for part in shown) == shown[0].segment.tally.total
