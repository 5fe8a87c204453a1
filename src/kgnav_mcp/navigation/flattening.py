"""Mediators folded away: one triple through a mediator, its sibling roles kept together as qualifiers.

A marriage in Freebase is a node without a name (a CVT) that ties two people, a place and two dates. Seen from one of
the two it becomes one triple, (person, spouse_s.spouse, other person), with place and dates as qualifiers. GraphWalker
names such a relation `rel1.rel2`; it does not keep the siblings together, which this does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kgnav_mcp.model import AnchoredPage, Count, Direction, Entity, Link, Qualifier, Relation, Stop, Triple
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
    direction: Direction | None,
    *,
    paths: Sequence[tuple[str, ...]] | None = None,
    far_ends: TailKind | None = None,
    limit: int,
    room: int | None = None,
    after: str | None = None,
) -> AnchoredPage[Link]:
    """The triples at the entities in one direction, or in both (None), with every mediator folded away.

    `room` is the number of characters that an answer has for them: once rows fill it no more are read, because those
    of mediators cost more than others. Positions are this function's own (they may point between the rows of one
    mediator); `after` takes them back. The total is exact where the store's is and each edge gave one row, or where
    the whole list was read.
    """
    flat = _Flat(graph, Resume.read(after), room)
    two_hops = any(len(path) == 2 for path in paths or ())
    step = _BATCH if room is not None and two_hops else limit
    left = limit
    while True:
        page = await graph.neighbours(
            ids, direction, paths=paths, far_ends=far_ends, limit=min(step, left), after=flat.behind.after
        )
        await flat.take(page)
        left -= len(page.items)
        if flat.full or page.stop is not Stop.LIMIT or not page.items or left < 1:
            return flat.page(page.total)


async def folded(graph: GraphAdapter, page: AnchoredPage[Link]) -> AnchoredPage[Link]:
    """A list's first page, which was already read, with every mediator folded away."""
    flat = _Flat(graph, Resume(), None)
    await flat.take(page)
    return flat.page(page.total)


class _Flat:
    """A flattened list, as far as it was read."""

    def __init__(self, graph: GraphAdapter, start: Resume, room: int | None) -> None:
        self._graph = graph
        self._begun = start == Resume()
        self._room = room
        self._rows: list[Link] = []
        self._anchors: dict[str, Entity] = {}
        self._positions: list[str] = []
        self._unfolded = True
        self._stop = Stop.COMPLETE
        self._note = ""
        self._lacking = ""
        self.behind = start
        """The place behind the last row."""
        self.full = False
        """Whether the answer has no room for more."""

    async def take(self, page: AnchoredPage[Link]) -> None:
        """Fold the next page of the store's, as far as there is room."""
        size = max(len(page.items), 1) if self._room is None else _BATCH
        self._stop = page.stop
        self._note = page.note
        self._anchors |= page.anchors
        for start in range(0, len(page.items), size):
            items, positions = page.items[start : start + size], page.positions[start : start + size]
            before = len(self._rows)
            await self._fold(items, positions)
            if self._room is not None:
                self._room -= sum(map(_characters, self._rows[before:]))
                self.full = self._room < 0
            if self.full:
                self._stop = Stop.LIMIT if start + size < len(page.items) else page.stop
                return

    def page(self, total: Count) -> AnchoredPage[Link]:
        """What was taken; `total` is the number of edges in the store's whole list."""
        shown = len(self._rows)
        if not self._unfolded:
            whole = self._begun and self._stop is Stop.COMPLETE and not self._lacking
            total = Count(shown) if whole else Count.at_least(max(total.value, shown))
        note = " ".join(filter(None, (self._note, self._lacking)))
        return AnchoredPage(tuple(self._rows), tuple(self._positions), total, self._stop, note, self._anchors)

    async def _fold(self, items: Sequence[Link], positions: Sequence[str]) -> None:
        mediators = [entity.id for link in items if (entity := _mediator(link))]
        if not mediators and not self.behind.skip:
            self._rows += items
            self._positions += map(Resume.write, positions)
            self.behind = Resume(positions[-1]) if positions else self.behind
            return
        incoming = any(link.direction is Direction.INCOMING for link in items)
        roles = await _roles(self._graph, list(dict.fromkeys(mediators)), incoming) if mediators else _Roles()
        self._lacking = self._lacking or _LACKING.get(roles.stop, "")
        for link, position in zip(items, positions, strict=True):
            parts = _fold(link, roles)
            self._unfolded &= len(parts) == 1 and roles.stop is Stop.COMPLETE
            for i in range(self.behind.skip, len(parts)):
                self._rows.append(Link(link.direction, parts[i]))
                last = i == len(parts) - 1
                self._positions.append(Resume.write(position) if last else Resume.write(self.behind.after, i + 1))
            self.behind = Resume(position)


def _characters(link: Link) -> int:
    """About as many characters of text as take the place of a row: ids have half as many to a token."""
    row = link.triple
    nodes = (link.far_end, *(qualifier.value for qualifier in row.qualifiers))
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


async def _roles(graph: GraphAdapter, ids: Sequence[str], incoming: bool) -> _Roles:
    sides = None if incoming else Direction.OUTGOING
    page = await graph.neighbours(ids, sides, limit=_ROLES * len(ids))
    known = _Roles(stop=page.stop)
    classes = graph.class_relations
    for link in page.items:
        if link.triple.relation.id not in classes:
            by_mediator = known.outgoing if link.direction is Direction.OUTGOING else known.incoming
            by_mediator[link.anchor.id].append(link.triple)
    return known


def _mediator(link: Link) -> Entity | None:
    if link.triple.via:
        return link.triple.via
    far = link.far_end
    return far if isinstance(far, Entity) and far.mediator else None


def _fold(link: Link, roles: _Roles) -> list[Triple]:
    """One row for each entity the mediator leads on to; the mediator itself where it leads nowhere."""
    triple, direction, mediator = link.triple, link.direction, _mediator(link)
    if mediator is None:
        return [triple]
    own = roles.outgoing.get(mediator.id, [])
    anchor = link.anchor
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
