"""Mediators folded away: one triple through a mediator, its sibling roles kept together as qualifiers.

A marriage in Freebase is a node without a name (a CVT) that ties two people, a place and two dates. Seen from one of
the two it becomes one triple, (person, spouse_s.spouse, other person), with place and dates as qualifiers. GraphWalker
names such a relation `rel1.rel2`; it does not keep the siblings together, which this does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kgnav_mcp.model import Count, Direction, Entity, Page, Qualifier, Relation, Stop, Triple
from kgnav_mcp.port import GraphAdapter, TailKind

_ROLES = 200
"""Triples read of each mediator: no event ties more together in known data; a larger one is shown as it stands."""


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

    def write(self) -> str:
        return f"{self.skip or ''}~{self.after or ''}"


async def flattened(
    graph: GraphAdapter,
    ids: Sequence[str],
    direction: Direction,
    *,
    paths: Sequence[tuple[str, ...]] | None = None,
    far_ends: TailKind | None = None,
    limit: int,
    after: str | None = None,
    met: set[str] | None = None,
) -> Page[Triple]:
    """The triples at the entities in one direction, with every mediator folded away.

    Positions are this function's own (they may point between the rows of one mediator); `after` takes them back.
    The total is exact where the store's is and each edge gave one row, or where the whole list was read.
    `met` is given the ids of the relations as they are in the store's own rows.
    """
    start = Resume.read(after)
    page = await graph.neighbours(ids, direction, paths=paths, far_ends=far_ends, limit=limit, after=start.after)
    if met is not None:
        met.update(triple.relation.id for triple in page.items)
    return await folded(graph, page, direction, start)


async def folded(
    graph: GraphAdapter, page: Page[Triple], direction: Direction, start: Resume | None = None
) -> Page[Triple]:
    """A page that was already read, from the place `start` on, with every mediator folded away."""
    start = start or Resume()
    mediators = [entity.id for triple in page.items if (entity := _mediator(triple, direction))]
    if not mediators:
        return Page(page.items, tuple(Resume(position).write() for position in page.positions), page.total, page.stop)
    roles = await _roles(graph, list(dict.fromkeys(mediators)), direction)
    rows: list[Triple] = []
    positions: list[str] = []
    behind = start.after
    unfolded = True
    for n, (triple, position) in enumerate(zip(page.items, page.positions, strict=True)):
        parts = _fold(triple, direction, roles)
        unfolded &= len(parts) == 1
        for i in range(start.skip if n == 0 else 0, len(parts)):
            rows.append(parts[i])
            last = i == len(parts) - 1
            positions.append((Resume(position) if last else Resume(behind, i + 1)).write())
        behind = position
    return Page(
        tuple(rows), tuple(positions), _total(page, len(rows), whole=start == Resume(), unfolded=unfolded), page.stop
    )


def _total(page: Page[Triple], shown: int, *, whole: bool, unfolded: bool) -> Count:
    if unfolded:
        return page.total
    if page.stop is Stop.COMPLETE and whole:
        return Count(shown)
    return Count.at_least(max(page.total.value, shown))


@dataclass(frozen=True, slots=True)
class _Roles:
    """What is known of the mediators of a page: their triples in either direction, by mediator id."""

    outgoing: dict[str, list[Triple]]
    incoming: dict[str, list[Triple]]


async def _roles(graph: GraphAdapter, ids: Sequence[str], direction: Direction) -> _Roles:
    known = _Roles(defaultdict(list), defaultdict(list))
    for triple in (await graph.neighbours(ids, Direction.OUTGOING, limit=_ROLES * len(ids))).items:
        known.outgoing[triple.head.id].append(triple)
    if direction is Direction.INCOMING:
        for triple in (await graph.neighbours(ids, Direction.INCOMING, limit=_ROLES * len(ids))).items:
            if isinstance(triple.tail, Entity):
                known.incoming[triple.tail.id].append(triple)
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
