"""Flattening of mediators: one triple through a mediator, with the sibling roles as qualifiers.

A marriage in Freebase is a node without a name (a compound value type) that connects two people, a place and two dates.
Seen from one of the two it becomes one triple, (person, spouse_s.spouse, other person), with place and dates as
qualifiers. GraphWalker names such a relation `rel1.rel2`; it drops the sibling roles, which are kept here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kgnav_mcp.model import AnchoredPage, Count, Direction, Entity, Link, Qualifier, Relation, Stop, Triple
from kgnav_mcp.port import ANY_FAR_END, Capability, FarEndFilter, GraphAdapter

_BATCH = 100
"""Rows per batch if the characters of an answer are limited, to read few rows that do not fit."""
_ROW_CHARACTERS = 160
"""Estimated characters of a row: the first batch has as many rows as then fit an answer."""
_LITERAL_CHARACTERS = 300
"""Maximum characters that are counted for a literal: answers clip longer ones."""
_ROLES_PER_MEDIATOR = 200
"""Maximum triples that are read of each mediator: more than any has in known data. Larger mediators lack some roles."""
_MISSING_ROLES = {
    Stop.LIMIT: "Not all roles of the mediators are shown: there are too many.",
    Stop.ROW_CAP: "Not all roles of the mediators are shown: the store returns no more rows at once.",
    Stop.UNORDERED: "Not all roles of the mediators are shown: the store could not sort them.",
    Stop.TIME_OUT: "Not all roles of the mediators are shown: the store timed out. Repeat the call to try again.",
}
"""The note of an answer that lacks some roles, by reason."""


@dataclass(frozen=True, slots=True)
class FlattenedPage(AnchoredPage[Link]):
    """A page of a flattened list.

    `edges` are all unflattened rows of the whole list, if one page of the store had them. With several paths, `without`
    are the entities that have no row of any of them. `roles` says why roles of mediators are missing, and with them
    rows to the entities of these roles; COMPLETE if none are.
    """

    edges: tuple[Link, ...] | None = None
    roles: Stop = Stop.COMPLETE


@dataclass(frozen=True, slots=True)
class FlattenedPosition:
    """A position in a flattened list: the store's position `after`, and the number of rows of the next edge to skip."""

    after: str | None = None
    skip: int = 0

    @classmethod
    def read(cls, text: str | None) -> FlattenedPosition:
        """The position that `write` wrote; of None the first one."""
        if text is None:
            return cls()
        skip, _, after = text.partition("~")
        return cls(after or None, int(skip or 0))

    @staticmethod
    def matches(text: str) -> bool:
        """Whether a text is a position of a flattened list."""
        return "~" in text

    @staticmethod
    def write(after: str | None, skip: int = 0) -> str:
        """A position as text."""
        return f"{skip or ''}~{after or ''}"


async def read_flattened(
    graph: GraphAdapter,
    ids: Sequence[str],
    direction: Direction | None,
    *,
    relation_paths: Sequence[tuple[str, ...]] | None = None,
    far: FarEndFilter = ANY_FAR_END,
    limit: int,
    characters: int | None = None,
    after: str | None = None,
    flatten: bool = True,
) -> FlattenedPage:
    """The triples at the entities in one direction, or in both (None), with every mediator flattened if `flatten`.

    `far` filters them by their far ends in the store; far ends behind a mediator are reached by two-hop paths only.
    Reading stops once the rows have this many `characters`, because mediators cost further queries. Positions are
    `FlattenedPosition`s, since a page may end between the rows of one mediator. The total is exact if the store's
    total is exact and each edge gave one row, or if the whole list was read.
    """
    flat = _FlattenedList(graph, FlattenedPosition.read(after), characters, with_anchors=len(ids) > 1, flatten=flatten)
    batch, remaining = limit if far.is_selective else _batch_size(graph, ids, relation_paths, characters, limit), limit
    while True:
        after, limit_now = flat.position.after, min(batch, remaining)
        if far.is_selective:
            page = await graph.matching(
                ids, direction, relation_paths=relation_paths, far=far, limit=limit_now, after=after
            )
        else:
            page = await graph.neighbours(
                ids, direction, relation_paths=relation_paths, far_end_kind=far.kind, limit=limit_now, after=after
            )
        await flat.take(page)
        remaining -= len(page.items)
        if flat.full or page.stop is not Stop.LIMIT or not page.items or remaining < 1:
            return flat.page(page.total)


def _batch_size(
    graph: GraphAdapter,
    ids: Sequence[str],
    relation_paths: Sequence[tuple[str, ...]] | None,
    characters: int | None,
    limit: int,
) -> int:
    """The number of rows to read at once, chosen so that few are read that do not fit the answer's characters.

    Of several entities all rows are read if the store has no exact counts: the rows then say which entities have none.
    """
    if characters is None:
        return limit
    if any(len(path) == 2 for path in relation_paths or ()):
        return _BATCH
    absences_known = len(ids) == 1 or Capability.EXACT_COUNTS in graph.capabilities
    return max(_BATCH, characters // _ROW_CHARACTERS) if absences_known else limit


async def flatten_page(graph: GraphAdapter, page: AnchoredPage[Link], *, flatten: bool = True) -> FlattenedPage:
    """The first page of a list that was already read from the store, with every mediator flattened if `flatten`."""
    flat = _FlattenedList(graph, FlattenedPosition(), None, flatten=flatten)
    await flat.take(page)
    return flat.page(page.total)


class _FlattenedList:
    """A flattened list as far as it has been read."""

    def __init__(
        self,
        graph: GraphAdapter,
        start: FlattenedPosition,
        characters: int | None,
        *,
        with_anchors: bool = False,
        flatten: bool = True,
    ) -> None:
        """`with_anchors`: each row shows its entity, too. Without `flatten`, each edge is one row."""
        self._graph = graph
        self._flatten = flatten
        self._with_anchors = with_anchors
        self._from_start = start == FlattenedPosition()
        self._characters_left = characters
        self._rows: list[Link] = []
        self._anchors: dict[str, Entity] = {}
        self._edges: tuple[Link, ...] | None = None
        self._without: tuple[Entity, ...] | None = None
        self._positions: list[str] = []
        self._one_row_each = True
        self._stop = Stop.COMPLETE
        self._note = ""
        self._roles = Stop.COMPLETE
        self.position = start
        """The position after the last row."""
        self.full = False
        """Whether the characters of the answer are used up."""

    async def take(self, page: AnchoredPage[Link]) -> None:
        """Flatten the next page of the store, until the characters of the answer are used up."""
        size = max(len(page.items), 1) if self._characters_left is None else _BATCH
        if self.position == FlattenedPosition():
            self._edges = page.items if page.stop is Stop.COMPLETE else None
            self._without = page.without
        self._stop = page.stop
        self._note = page.note
        self._anchors |= page.anchors
        for start in range(0, len(page.items), size):
            items, positions = page.items[start : start + size], page.positions[start : start + size]
            before = len(self._rows)
            await self._flatten_rows(items, positions)
            if self._characters_left is not None:
                self._characters_left -= sum(
                    _characters(link, with_anchor=self._with_anchors) for link in self._rows[before:]
                )
                self.full = self._characters_left < 0
            if self.full:
                more = start + size < len(page.items) and page.stop is not Stop.UNORDERED
                self._stop = Stop.LIMIT if more else page.stop
                return

    def page(self, total: Count) -> FlattenedPage:
        """The rows read so far as a page; `total` is the number of edges in the store's whole list."""
        row_count = len(self._rows)
        if not self._one_row_each:
            complete = self._from_start and self._stop is self._roles is Stop.COMPLETE
            total = Count(row_count) if complete else Count.at_least(max(total.value, row_count))
        note = " ".join(filter(None, (self._note, _MISSING_ROLES.get(self._roles, ""))))
        rows, positions, stop = tuple(self._rows), tuple(self._positions), self._stop
        return FlattenedPage(rows, positions, total, stop, note, self._anchors, self._without, self._edges, self._roles)

    async def _flatten_rows(self, items: Sequence[Link], positions: Sequence[str]) -> None:
        """Add the rows of some edges of the store. Those of one mediator may have been shown in part before."""
        mediators = [entity.id for link in items if (entity := _mediator(link))] if self._flatten else []
        if not mediators and not self.position.skip:
            self._rows += items
            self._positions += map(FlattenedPosition.write, positions)
            self.position = FlattenedPosition(positions[-1]) if positions else self.position
            return
        incoming = any(link.direction is Direction.INCOMING for link in items)
        roles = await _roles(self._graph, list(dict.fromkeys(mediators)), incoming) if mediators else _Roles()
        self._roles = Stop.first((self._roles, roles.stop))
        for link, position in zip(items, positions, strict=True):
            parts = _flattened_link(link, roles)
            self._one_row_each &= len(parts) == 1 and roles.stop is Stop.COMPLETE
            for i in range(self.position.skip, len(parts)):
                self._rows.append(Link(link.direction, parts[i]))
                last = i == len(parts) - 1
                after, skip = (position, 0) if last else (self.position.after, i + 1)
                self._positions.append(FlattenedPosition.write(after, skip))
            self.position = FlattenedPosition(position)


def _characters(link: Link, *, with_anchor: bool) -> int:
    """The length of a row in characters of text. Ids count double: a token holds half as many of their characters."""
    row = link.triple
    ends = (link.anchor, link.far_end) if with_anchor else (link.far_end,)
    nodes = (*ends, *(qualifier.value for qualifier in row.qualifiers))
    named = [row.relation, *(qualifier.relation for qualifier in row.qualifiers)]
    entities = [node for node in nodes if isinstance(node, Entity)]
    ids = sum(len(item.id) for item in (*named, *entities))
    texts = [len(item.label or "") for item in (*named, *entities)]
    texts += [min(len(node.text), _LITERAL_CHARACTERS) for node in nodes if not isinstance(node, Entity)]
    return 2 * ids + sum(texts)


@dataclass(frozen=True, slots=True)
class _Roles:
    """The triples of a page's mediators, by direction and mediator id. `stop` says why some are missing, if so."""

    outgoing: dict[str, list[Triple]] = field(default_factory=lambda: defaultdict(list))
    incoming: dict[str, list[Triple]] = field(default_factory=lambda: defaultdict(list))
    stop: Stop = Stop.COMPLETE


async def _roles(graph: GraphAdapter, ids: Sequence[str], incoming: bool) -> _Roles:
    """The triples of these mediators, except their classes; incoming ones only if they are wanted."""
    direction = None if incoming else Direction.OUTGOING
    page = await graph.neighbours(ids, direction, limit=_ROLES_PER_MEDIATOR * len(ids))
    roles = _Roles(stop=page.stop)
    classes = graph.class_relations
    for link in page.items:
        if link.triple.relation.id not in classes:
            by_mediator = roles.outgoing if link.direction is Direction.OUTGOING else roles.incoming
            by_mediator[link.anchor.id].append(link.triple)
    return roles


def _mediator(link: Link) -> Entity | None:
    """The mediator that a row leads through, or to; None if there is none."""
    if link.triple.via:
        return link.triple.via
    far = link.far_end
    return far if isinstance(far, Entity) and far.mediator else None


def _flattened_link(link: Link, roles: _Roles) -> list[Triple]:
    """One row for each entity that the mediator leads to; a row to the mediator itself if it leads to none."""
    triple, direction, mediator = link.triple, link.direction, _mediator(link)
    if mediator is None:
        return [triple]
    mediator_roles = roles.outgoing.get(mediator.id, [])
    anchor = link.anchor
    if triple.via:
        return [replace(triple, qualifiers=triple.qualifiers + _siblings(mediator_roles, (triple.head, triple.tail)))]
    if direction is Direction.OUTGOING:
        onward = [role for role in mediator_roles if isinstance(role.tail, Entity) and role.tail != anchor]
        onward = onward or mediator_roles[:1]
        ends = [(role.head, role.tail, role) for role in onward]
    else:
        onward = [role for role in roles.incoming.get(mediator.id, []) if role.head != anchor]
        ends = [(role.head, triple.tail, role) for role in onward]
    if not ends:
        return [replace(triple, qualifiers=triple.qualifiers + _siblings(mediator_roles, (anchor,)))]
    return [
        replace(
            triple,
            head=triple.head if direction is Direction.OUTGOING else head,
            relation=_path(triple, role, direction),
            tail=tail,
            qualifiers=triple.qualifiers + role.qualifiers + _siblings(mediator_roles, (anchor, head, tail)),
            via=mediator,
        )
        for head, tail, role in ends
    ]


def _path(triple: Triple, role: Triple, direction: Direction) -> Relation:
    """The two-hop relation of a triple to a mediator and one of its roles, in the order from head to tail."""
    first, second = (triple, role) if direction is Direction.OUTGOING else (role, triple)
    return Relation(f"{first.relation.id}.{second.relation.id}", f"{first.relation.label} / {second.relation.label}")


def _siblings(roles: Sequence[Triple], ends: Sequence[object]) -> tuple[Qualifier, ...]:
    """The mediator's other roles as qualifiers, without those that lead back to an end of the triple."""
    end_nodes = {end.id if isinstance(end, Entity) else end for end in ends}
    return tuple(
        Qualifier(role.relation, role.tail)
        for role in roles
        if (role.tail.id if isinstance(role.tail, Entity) else role.tail) not in end_nodes
    )
