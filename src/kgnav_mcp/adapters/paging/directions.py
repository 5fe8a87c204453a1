"""Joins rows and relations of both directions into one list, for stores that are queried one direction at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kgnav_mcp.concurrency import gathered, gathered_for, in_thread
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import (
    AnchoredPage,
    Count,
    Direction,
    Entity,
    Link,
    Page,
    RelationFacts,
    Stop,
    Triple,
    anchored,
)
from kgnav_mcp.port import FarEndKind, GraphAdapter
from kgnav_mcp.port.lists import invalid_cursor

Paths = Sequence[tuple[str, ...]] | None
"""Relations to follow, as in `GraphAdapter.neighbours`."""


def no_rows(direction: Direction, far_end_kind: FarEndKind | None) -> bool:
    """Whether no row can match: incoming triples have no literals at their far end."""
    return direction is Direction.INCOMING and far_end_kind is FarEndKind.LITERAL


@dataclass(frozen=True, slots=True)
class RelationRequest:
    """The arguments of `GraphAdapter.relations`, for one direction."""

    ids: Sequence[str]
    direction: Direction
    hops: int
    far_end_kind: FarEndKind | None
    examples: int
    limit: int

    @property
    def is_empty(self) -> bool:
        """Whether the answer must be empty, whatever the graph contains."""
        return not self.ids or no_rows(self.direction, self.far_end_kind)


@dataclass(frozen=True, slots=True)
class RowRequest:
    """The arguments of `GraphAdapter.neighbours`, for one direction."""

    ids: Sequence[str]
    direction: Direction
    relation_paths: Paths
    far_end_kind: FarEndKind | None
    limit: int
    after: str | None
    all_or_none: bool
    bare: bool = False
    """Whether only ids and values are needed, as in `GraphAdapter.neighbour_ids`."""

    @property
    def is_empty(self) -> bool:
        """Whether the answer must be empty, whatever the graph contains."""
        return not self.ids or self.relation_paths == [] or no_rows(self.direction, self.far_end_kind)


class DirectedAdapter(GraphAdapter):
    """Base class of adapters that read one direction at a time.

    For the first page both directions are read concurrently, since the page rarely ends before the incoming rows. A
    position in a list of both directions is `<direction>|<position within that direction>`.
    """

    @abstractmethod
    async def relations_in(self, request: RelationRequest) -> Page[RelationFacts]:
        """`relations` in one direction."""

    @abstractmethod
    async def rows_in(self, request: RowRequest) -> Page[Triple]:
        """`neighbours` in one direction, as triples."""

    def printed_ids(self, ids: Sequence[str]) -> Mapping[str, str]:
        """The ids as answers print them, by the id as given. Texts that cannot be an id of the graph are omitted."""
        return {each: each for each in ids}

    async def relations(
        self,
        ids: Sequence[str],
        direction: Direction | None,
        *,
        hops: int = 1,
        far_end_kind: FarEndKind | None = None,
        examples: int = 0,
        limit: int,
    ) -> AnchoredPage[RelationFacts]:
        sides = Direction if direction is None else (direction,)
        request = (RelationRequest(ids, side, hops, far_end_kind, examples, limit) for side in sides)
        pages, known = await gathered(gathered_for(request, self.relations_in), self._described(ids))
        page = merge_relation_pages(pages, limit)
        if isinstance(known, StoreTimeout):
            time_out = known
            known = await in_thread(len(ids), lambda: self._entities_with_rows(ids, page, time_out))
        return anchored(page, known)

    async def _described(self, ids: Sequence[str]) -> Mapping[str, Entity] | StoreTimeout:
        """The entities that the ids mean; or the time-out, returned so that relations read meanwhile are not lost."""
        try:
            return await self.describe(ids)
        except StoreTimeout as error:
            return error

    def _entities_with_rows(
        self, ids: Sequence[str], page: Page[RelationFacts], time_out: StoreTimeout
    ) -> Mapping[str, Entity]:
        """The ids that have rows, as entities without a label: their rows prove that they exist.

        Raises:
            StoreTimeout: no direction has any rows yet.
        """
        ids_with_rows = {entity for facts in page.items for entity in facts.per_entity}
        anchors = {given: Entity(short) for given, short in self.printed_ids(ids).items() if short in ids_with_rows}
        if not anchors:
            raise time_out
        return anchors

    async def neighbours(
        self,
        ids: Sequence[str],
        direction: Direction | None,
        *,
        relation_paths: Paths = None,
        far_end_kind: FarEndKind | None = None,
        limit: int,
        after: str | None = None,
        all_or_none: bool = False,
    ) -> AnchoredPage[Link]:
        request = RowRequest(
            ids, direction or Direction.OUTGOING, relation_paths, far_end_kind, limit, after, all_or_none
        )
        page = await self._links(direction, request)
        anchors, others = await in_thread(max(limit, len(ids)), lambda: self._anchors_in(page, ids))
        if after is None and others and (page.items or page.stop is not Stop.LIMIT):
            anchors |= await self.describe(others)
        return anchored(page, anchors)

    async def neighbour_ids(
        self,
        ids: Sequence[str],
        direction: Direction | None,
        *,
        relation_paths: Paths = None,
        far_end_kind: FarEndKind | None = None,
        limit: int,
        after: str | None = None,
    ) -> Page[Link]:
        side = direction or Direction.OUTGOING
        request = RowRequest(ids, side, relation_paths, far_end_kind, limit, after, all_or_none=False, bare=True)
        return await self._links(direction, request)

    async def _links(self, direction: Direction | None, request: RowRequest) -> Page[Link]:
        """The rows of a request, in a direction or in both (None)."""
        if direction is None:
            return await self._rows_in_both(request)
        page = await self.rows_in(request)
        return await in_thread(request.limit, lambda: _as_links(direction, page))

    def _anchors_in(self, page: Page[Link], ids: Sequence[str]) -> tuple[dict[str, Entity], list[str]]:
        """The entities among the ids that the page already names as anchors, and the ids that are left."""
        anchors_by_id = {link.anchor.id: link.anchor for link in page.items}
        printed = self.printed_ids(ids)
        anchors = {given: anchors_by_id[short] for given, short in printed.items() if short in anchors_by_id}
        return anchors, [given for given in printed if given not in anchors]

    async def _rows_in_both(self, request: RowRequest) -> Page[Link]:
        incoming = replace(request, direction=Direction.INCOMING, after=None)
        if request.after is None:
            pages = await gathered(self.rows_in(request), self.rows_in(incoming))
            total = Count.sum(page.total for page in pages)
            refused = any(page.stop is Stop.LIMIT and not page.items for page in pages)
            if request.all_or_none and (refused or total.value > request.limit):
                return Page((), (), total, Stop.LIMIT, _notes(pages))
            return await in_thread(request.limit, lambda: _merge_row_pages(pages, request.limit))
        side, separator, inner_position = request.after.partition("|")
        if side not in set(Direction) or not separator:
            raise invalid_cursor(request.after)
        if side == Direction.OUTGOING:
            first = await self.rows_in(replace(request, after=inner_position))
            # The incoming rows are needed even if none fits on the page: the total is of the whole list.
            second = await self.rows_in(replace(incoming, limit=max(request.limit - len(first.items), 1)))
        else:
            first, second = await gathered(
                self.rows_in(replace(request, after=None, limit=1)),
                self.rows_in(replace(incoming, after=inner_position)),
            )
            first = replace(first, items=(), positions=(), stop=Stop.COMPLETE)
        return await in_thread(request.limit, lambda: _merge_row_pages((first, second), request.limit))


def _as_links(direction: Direction, page: Page[Triple]) -> Page[Link]:
    links = tuple(Link(direction, triple) for triple in page.items)
    return Page(links, page.positions, page.total, page.stop, page.note)


def _merge_row_pages(pages: Sequence[Page[Triple]], limit: int) -> Page[Link]:
    items: list[Link] = []
    positions: list[str] = []
    stop = Stop.COMPLETE
    for side, page in zip(Direction, pages, strict=True):
        remaining = limit - len(items) if stop is Stop.COMPLETE else 0
        items += [Link(side, triple) for triple in page.items[:remaining]]
        positions += [f"{side}|{position}" for position in page.positions[:remaining]]
        if stop is Stop.COMPLETE:
            stop = Stop.LIMIT if remaining < len(page.items) else page.stop
    return Page(tuple(items), tuple(positions), Count.sum(page.total for page in pages), stop, _notes(pages))


def merge_relation_pages(pages: Sequence[Page[RelationFacts]], limit: int) -> Page[RelationFacts]:
    """Merge pages of relations, one for each direction, into one page of at most `limit`."""
    if len(pages) == 1:
        return pages[0]
    items = [facts for page in pages for facts in page.items]
    stop = next((page.stop for page in pages if page.stop is not Stop.COMPLETE), Stop.COMPLETE)
    if stop is Stop.COMPLETE and len(items) > limit:
        stop = Stop.LIMIT
    positions = tuple(f"{facts.direction}|{facts.relation.id}" for facts in items[:limit])
    return Page(tuple(items[:limit]), positions, Count.sum(page.total for page in pages), stop, _notes(pages))


def _notes(pages: Sequence[Page[Triple]] | Sequence[Page[RelationFacts]]) -> str:
    return " ".join(dict.fromkeys(page.note for page in pages if page.note))
