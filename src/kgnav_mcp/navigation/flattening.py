"""Mediators folded away: one triple through a mediator, its sibling roles kept together as qualifiers.

A marriage in Freebase is a node without a name (a CVT) that ties two people, a place and two dates. Seen from one of
the two it becomes one triple, (person, spouse_s.spouse, other person), with place and dates as qualifiers. GraphWalker
names such a relation `rel1.rel2`; it does not keep the siblings together, which this does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Count, Direction, Entity, Page, Qualifier, Relation, Stop, Triple
from kgnav_mcp.port import GraphAdapter, TailKind

_BATCH = 100
"""Rows folded at once where an answer has room for so many characters: what does not fit is not read."""
_LITERAL = 300
"""Characters of a literal that are counted: an answer clips it."""
_ROLES = 200
"""Triples read of each mediator: no event ties more together in known data. Of larger ones some roles are missing."""
_LACKING = {
    Stop.LIMIT: "Not all roles of the mediators are shown: there are too many.",
    Stop.ROW_CAP: "Not all roles of the mediators are shown: the store gives no more rows at once.",
    Stop.TIME_OUT: "Not all roles of the mediators are shown: the store's time was over. Repeat the call to try again.",
}
"""What an answer says where roles are missing, by the reason."""


@dataclass(frozen=True, slots=True)
class Resume:
    """A place in a flattened list: behind the store's position `after`, `skip` rows of the next edge already shown."""

    after: str | None = None
    skip: int = 0

    @classmethod
    def read(cls, text: str | None) -> Resume:
        if text is None:
            return cls()
        skip, _, after = text.partition("~")
        return cls(after or None, int(skip or 0))

    @staticmethod
    def written(text: str) -> bool:
        """Whether the text is such a place, and not one of another kind of list."""
        return "~" in text

    @staticmethod
    def write(after: str | None, skip: int = 0) -> str:
        return f"{skip or ''}~{after or ''}"


async def flattened(
    graph: GraphAdapter,
    ids: Sequence[str],
    direction: Direction,
    *,
    paths: Sequence[tuple[str, ...]] | None = None,
    far_ends: TailKind | None = None,
    limit: int,
    room: int | None = None,
    after: str | None = None,
    met: set[str] | None = None,
) -> Page[Triple]:
    """The triples at the entities in one direction, with every mediator folded away.

    `room` is the number of characters that an answer has for them: once rows fill it no more are read, because those
    of mediators cost more than others. Positions are this function's own (they may point between the rows of one
    mediator); `after` takes them back. The total is exact where the store's is and each edge gave one row, or where
    the whole list was read. `met` is given the ids of the relations as they are in the store's own rows.
    """
    flat = _Flat(graph, direction, Resume.read(after), room)
    two_hops = any(len(path) == 2 for path in paths or ())
    step = _BATCH if room is not None and two_hops else limit
    left = limit
    while True:
        page = await graph.neighbours(
            ids, direction, paths=paths, far_ends=far_ends, limit=min(step, left), after=flat.behind.after
        )
        if met is not None:
            met.update(triple.relation.id for triple in page.items)
        await flat.take(page)
        left -= len(page.items)
        if flat.full or page.stop is not Stop.LIMIT or not page.items or left < 1:
            return flat.page(page.total)


async def folded(graph: GraphAdapter, page: Page[Triple], direction: Direction) -> Page[Triple]:
    """A list's first page, which was already read, with every mediator folded away."""
    flat = _Flat(graph, direction, Resume(), None)
    await flat.take(page)
    return flat.page(page.total)


class _Flat:
    """A flattened list, as far as it was read."""

    def __init__(self, graph: GraphAdapter, direction: Direction, start: Resume, room: int | None) -> None:
        self._graph = graph
        self._direction = direction
        self._begun = start == Resume()
        self._room = room
        self._rows: list[Triple] = []
        self._positions: list[str] = []
        self._unfolded = True
        self._stop = Stop.COMPLETE
        self._note = ""
        self._lacking = ""
        self.behind = start
        """The place behind the last row."""
        self.full = False
        """Whether the answer has no room for more."""

    async def take(self, page: Page[Triple]) -> None:
        """Fold the next page of the store's, as far as there is room."""
        size = max(len(page.items), 1) if self._room is None else _BATCH
        self._stop = page.stop
        self._note = page.note
        for start in range(0, len(page.items), size):
            items, positions = page.items[start : start + size], page.positions[start : start + size]
            before = len(self._rows)
            await self._fold(items, positions)
            if self._room is not None:
                self._room -= sum(_characters(row, self._direction) for row in self._rows[before:])
                self.full = self._room < 0
            if self.full:
                self._stop = Stop.LIMIT if start + size < len(page.items) else page.stop
                return

    def page(self, total: Count) -> Page[Triple]:
        """What was taken; `total` is the number of edges in the store's whole list."""
        shown = len(self._rows)
        if not self._unfolded:
            whole = self._begun and self._stop is Stop.COMPLETE and not self._lacking
            total = Count(shown) if whole else Count.at_least(max(total.value, shown))
        note = " ".join(filter(None, (self._note, self._lacking)))
        return Page(tuple(self._rows), tuple(self._positions), total, self._stop, note)

    async def _fold(self, items: Sequence[Triple], positions: Sequence[str]) -> None:
        mediators = [entity.id for triple in items if (entity := _mediator(triple, self._direction))]
        if not mediators and not self.behind.skip:
            self._rows += items
            self._positions += map(Resume.write, positions)
            self.behind = Resume(positions[-1]) if positions else self.behind
            return
        roles = await _roles(self._graph, list(dict.fromkeys(mediators)), self._direction) if mediators else _Roles()
        self._lacking = self._lacking or _LACKING.get(roles.stop, "")
        for triple, position in zip(items, positions, strict=True):
            parts = _fold(triple, self._direction, roles)
            self._unfolded &= len(parts) == 1 and roles.stop is Stop.COMPLETE
            for i in range(self.behind.skip, len(parts)):
                self._rows.append(parts[i])
                last = i == len(parts) - 1
                self._positions.append(Resume.write(position) if last else Resume.write(self.behind.after, i + 1))
            self.behind = Resume(position)


def _characters(row: Triple, direction: Direction) -> int:
    """About as many characters of text as take the place of a row: ids have half as many to a token."""
    nodes = (row.far_end(direction), *(qualifier.value for qualifier in row.qualifiers))
    named = [row.relation, *(qualifier.relation for qualifier in row.qualifiers)]
    entities = [node for node in nodes if isinstance(node, Entity)]
    ids = sum(len(each.id) for each in (*named, *entities))
    texts = [len(each.label or "") for each in (*named, *entities)]
    texts += [min(len(node.text), _LITERAL) for node in nodes if not isinstance(node, Entity)]
    return 2 * ids + sum(texts)


@dataclass(frozen=True, slots=True)
class _Roles:
    """What is known of the mediators of a page: their triples in either direction, by mediator id.

    `stop` says why some of their triples are missing, if they are.
    """

    outgoing: dict[str, list[Triple]] = field(default_factory=lambda: defaultdict(list))
    incoming: dict[str, list[Triple]] = field(default_factory=lambda: defaultdict(list))
    stop: Stop = Stop.COMPLETE


async def _roles(graph: GraphAdapter, ids: Sequence[str], direction: Direction) -> _Roles:
    sides = list(Direction) if direction is Direction.INCOMING else [Direction.OUTGOING]
    pages = await gathered(*(graph.neighbours(ids, side, limit=_ROLES * len(ids)) for side in sides))
    known = _Roles(stop=next((page.stop for page in pages if page.stop is not Stop.COMPLETE), Stop.COMPLETE))
    classes = graph.class_relations
    for side, page in zip(sides, pages, strict=True):
        by_mediator = known.outgoing if side is Direction.OUTGOING else known.incoming
        for triple in page.items:
            mediator = triple.far_end(side.opposite)
            if isinstance(mediator, Entity) and triple.relation.id not in classes:
                by_mediator[mediator.id].append(triple)
    return known


def _mediator(triple: Triple, direction: Direction) -> Entity | None:
    if triple.via:
        return triple.via
    far = triple.far_end(direction)
    return far if isinstance(far, Entity) and far.mediator else None


def _fold(triple: Triple, direction: Direction, roles: _Roles) -> list[Triple]:
    """One row for each entity the mediator leads on to; the mediator itself where it leads nowhere."""
    mediator = _mediator(triple, direction)
    if mediator is None:
        return [triple]
    own = roles.outgoing.get(mediator.id, [])
    anchor = triple.head if direction is Direction.OUTGOING else triple.tail
    if triple.via:
        return [replace(triple, qualifiers=triple.qualifiers + _siblings(own, (triple.head, triple.tail)))]
    if direction is Direction.OUTGOING:
        onward = [role for role in own if isinstance(role.tail, Entity) and role.tail != anchor]
        onward = onward or own[:1]
        ends = [(role.head, role.tail, role) for role in onward]
    else:
        onward = [role for role in roles.incoming.get(mediator.id, []) if role.head != anchor]
        ends = [(role.head, triple.tail, role) for role in onward]
    if not ends:
        return [replace(triple, qualifiers=triple.qualifiers + _siblings(own, (anchor,)))]
    return [
        replace(
            triple,
            head=triple.head if direction is Direction.OUTGOING else head,
            relation=_path(triple, role, direction),
            tail=tail,
            qualifiers=triple.qualifiers + role.qualifiers + _siblings(own, (anchor, head, tail)),
            via=mediator,
        )
        for head, tail, role in ends
    ]


def _path(triple: Triple, role: Triple, direction: Direction) -> Relation:
    first, second = (triple, role) if direction is Direction.OUTGOING else (role, triple)
    return Relation(f"{first.relation.id}.{second.relation.id}", f"{first.relation.label} / {second.relation.label}")


def _siblings(roles: Sequence[Triple], ends: Sequence[object]) -> tuple[Qualifier, ...]:
    """The mediator's other roles; those that only lead back to an end of the triple say nothing new."""
    known = {end.id if isinstance(end, Entity) else end for end in ends}
    return tuple(
        Qualifier(role.relation, role.tail)
        for role in roles
        if (role.tail.id if isinstance(role.tail, Entity) else role.tail) not in known
    )
