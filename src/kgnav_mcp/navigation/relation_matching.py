"""Matches a user's names, ids or labels, with the relations that entities have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from kgnav_mcp.concurrency import gathered_for
from kgnav_mcp.errors import UnknownRelation
from kgnav_mcp.model import (
    AbsentRelation,
    AnchoredPage,
    Count,
    Direction,
    Entity,
    Link,
    Page,
    Relation,
    RelationFacts,
    Stop,
)
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.pages import select
from kgnav_mcp.navigation.references import MAX_ADVISED, NameIndex, nearest_names
from kgnav_mcp.navigation.relation_lists import likely_path, relation_facts
from kgnav_mcp.port import FarEndKind, GraphAdapter

_MAX_LOOKED_UP = 20
"""Relations of one call that are looked up by id because the list of relations lacks them."""


@dataclass(frozen=True, slots=True)
class RelationMatches:
    """The relations of entities that a user's names mean."""

    entities: tuple[Entity, ...]
    by_name: Mapping[str, Sequence[RelationFacts]]
    """The relations that each name matches; empty for an unknown name."""
    offered: Page[RelationFacts]
    """All relations of the entities in the direction."""

    @property
    def facts(self) -> list[RelationFacts]:
        """The relations that were named."""
        return [fact for matches in self.by_name.values() for fact in matches]


@dataclass(frozen=True, slots=True)
class RelationMatcher:
    """Matches names with the relations of entities in one direction, or in both (None)."""

    graph: GraphAdapter
    direction: Direction | None
    limits: Limits
    hops: int = 1
    """With 1, two-hop relations are read only if a name means no one-hop relation; with 2 always."""
    far_end_kind: FarEndKind | None = None
    """Only rows that lead to such ends count."""
    offers: Callable[[str], bool] = lambda _: True
    """Whether a relation counts, by its id."""

    async def require(
        self, entities: Sequence[Entity], names: Sequence[str], *, every_name: bool = False
    ) -> RelationMatches:
        """As `match`, if at least one name means a relation, or there are no names.

        Raises:
            UnknownRelation: no name means a relation of any of the entities; with `every_name`, one does not. The error
                has the nearest relations that there are, or says that it exists in the other direction.
        """
        matches = await self.match(entities, names)
        if names and not (all if every_name else any)(matches.by_name.values()):
            absent = await self.absent(matches)
            raise _unknown_relation(absent[0], entities, self.direction, matches.offered)
        return matches

    async def match(self, entities: Sequence[Entity], names: Sequence[str]) -> RelationMatches:
        """The relations that the names mean at the entities, together with all that they have.

        Names that a part of the relations lacks are looked up as ids.
        """
        offered = await self._offered(entities, self.hops)
        by_name = matching_relations(names, offered.items)
        if self.hops == 1 and not all(by_name.values()):
            offered = await self._offered(entities, 2)
            by_name = matching_relations(names, offered.items)
        if offered.stop is not Stop.COMPLETE and not all(by_name.values()):
            missing = [name for name, facts in by_name.items() if not facts and self.offers(name)][:_MAX_LOOKED_UP]
            ids = [entity.id for entity in entities]
            by_name |= zip(missing, await gathered_for(missing, lambda name: self._with_id(ids, name)), strict=True)
            unlisted = [facts for name in missing for facts in by_name[name]]
            items, positions = (*offered.items, *unlisted), (*offered.positions, *("" for _ in unlisted))
            offered = replace(offered, items=items, positions=positions)
        return RelationMatches(tuple(entities), by_name, offered)

    async def absent(self, matches: RelationMatches) -> tuple[AbsentRelation, ...]:
        """The names without a match, with the nearest relations, or with the note that the other direction has it."""
        missing = [name for name, found in matches.by_name.items() if not found]
        opposite: Sequence[RelationFacts] = ()
        if missing and self.direction is not None:
            opposite = (await self._relations(matches.entities, self.direction.opposite, hops=2)).items
        absent = _absent_relations(missing, matches.offered.items, opposite)
        is_partial = matches.offered.stop is not Stop.COMPLETE
        return tuple(replace(each, is_partial=True) for each in absent) if is_partial else absent

    async def _with_id(self, ids: Sequence[str], relation: str) -> list[RelationFacts]:
        """The relation with this id at the entities, in each direction in which they have it."""
        paths = list(dict.fromkeys([(relation,), likely_path(relation)]))
        directions = list(Direction) if self.direction is None else [self.direction]
        pages = await gathered_for(
            directions,
            lambda direction: self.graph.neighbours(
                ids, direction, relation_paths=paths, far_end_kind=self.far_end_kind, limit=1
            ),
        )
        return [_facts_of_row(link, paths[-1], page.total) for page in pages for link in page.items]

    async def _offered(self, entities: Sequence[Entity], hops: int) -> Page[RelationFacts]:
        page = await self._relations(entities, self.direction, hops=hops)
        return select(page, [self.offers(fact.relation.id) for fact in page.items])

    async def _relations(
        self, entities: Sequence[Entity], direction: Direction | None, *, hops: int
    ) -> AnchoredPage[RelationFacts]:
        return await relation_facts(
            self.graph,
            [entity.id for entity in entities],
            direction,
            hops=hops,
            hidden=True,
            far_end_kind=self.far_end_kind,
            limits=self.limits,
        )


def _facts_of_row(link: Link, path: tuple[str, ...], total: Count) -> RelationFacts:
    """The facts of a relation of which one row was read."""
    relation, number = link.triple.relation, max(total.value, 1)
    return RelationFacts(
        relation,
        link.direction,
        Count.at_least(number),
        (relation,) if link.triple.via is None else tuple(Relation(each, each) for each in path),
        (link.far_end,),
        mediators=link.triple.via is None and isinstance(link.far_end, Entity) and link.far_end.mediator,
        per_entity={link.anchor.id: 1},
    )


def matching_relations(names: Sequence[str], facts: Sequence[RelationFacts]) -> dict[str, list[RelationFacts]]:
    """The relations that each of the names matches; an empty list for a name without a match.

    A name is an id, or an id or label in any letter case, or an id with another prefix or none (`P31` for `wdt:P31`).
    A name that several relations share matches all of them. A two-hop relation is matched only by its whole id, or
    by ids of both of its relations with a dot between: the part after the dot may be another relation's id.
    """
    index = _index(facts)
    return {name: index.find(name) or _of_two_hops(name, facts) for name in names}


def _of_two_hops(name: str, facts: Sequence[RelationFacts]) -> list[RelationFacts]:
    """The two-hop relations of which each half has its half of a name, such as `<IRI>.<IRI>` for `ex:wed.ex:spouse`."""
    halves = likely_path(name)
    found = [fact for fact in facts if len(fact.hops) == len(halves) == 2]
    for place, half in enumerate(halves):
        index = NameIndex({fact.hops[place] for fact in found}, lambda hop: (hop.id, hop.label))
        named = index.find(half)
        found = [fact for fact in found if fact.hops[place] in named]
    return found


def _index(facts: Sequence[RelationFacts]) -> NameIndex[RelationFacts]:
    return NameIndex(facts, lambda fact: (fact.relation.id, fact.relation.label))


def _absent_relations(
    names: Sequence[str], facts: Sequence[RelationFacts], opposite: Sequence[RelationFacts] = ()
) -> tuple[AbsentRelation, ...]:
    """Names that match none of the relations `facts`, the first few with the nearest that do.

    `opposite` are the relations in the other direction. A name that matches one of these has no nearest.
    """
    index = _index(opposite)
    known = list(dict.fromkeys(fact.relation.id for fact in facts))

    def absent(place: int, name: str) -> AbsentRelation:
        if index.find(name):
            return AbsentRelation(name, opposite=True)
        return AbsentRelation(name, tuple(nearest_names(name, known)) if place < MAX_ADVISED else ())

    return tuple(absent(place, name) for place, name in enumerate(names))


def _unknown_relation(
    absent: AbsentRelation, entities: Sequence[Entity], direction: Direction | None, offered: Page[RelationFacts]
) -> UnknownRelation:
    """The error for a relation that none of the entities has. `offered` are their relations in this direction."""
    is_partial = offered.stop is not Stop.COMPLETE
    if direction is not None and absent.opposite:
        step = f"It exists in the other direction: repeat the call with direction={direction.opposite}."
    elif is_partial and not offered.items:
        step = "Try again, or pass the relation's id."
    elif is_partial:
        step = "Use one of the nearest, or the relation's id if this is its label."
    elif offered.items:
        step = "Use one of the nearest. get_relations, or search without a filter, lists all relations."
    elif len(entities) == 1:
        step = "This entity has no relations in this direction: try the other one."
    else:
        step = "These entities have no relations in this direction: try the other one."
    return UnknownRelation(
        entities,
        absent.name,
        direction,
        absent.nearest,
        opposite=absent.opposite,
        is_partial=is_partial,
        next_step=step,
    )
