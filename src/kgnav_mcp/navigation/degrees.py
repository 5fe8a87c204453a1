"""The number of triples at entities, by direction and, for a relation that is named, by that relation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

from kgnav_mcp.model import AtEntities, Certainty, Count, Direction, Entity, Relation, Stop
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.pages import page_after
from kgnav_mcp.navigation.references import EntityArgument, resolve_entities
from kgnav_mcp.navigation.relation_matching import RelationMatcher, RelationMatches
from kgnav_mcp.port import GraphAdapter


@dataclass(frozen=True, slots=True)
class Degree:
    """The number of triples at an entity in one direction: of one relation, or of all (None)."""

    entity: Entity
    relation: Relation | None
    direction: Direction
    count: Count


async def get_degrees(
    graph: GraphAdapter,
    anchors: EntityArgument,
    relation: str | None = None,
    direction: Direction | None = None,
    *,
    after: str | None = None,
    limits: Limits,
) -> AtEntities[Degree]:
    """The number of triples at each entity in each direction (None: both), those with values included.

    With a relation, only its triples count; if several relations have the name, each is counted. The store counts by
    relation, so that the cost depends on the number of relations, not on the degree.

    Raises:
        UnknownRelation: none of the entities has this relation in the direction.
        UnknownEntity, AmbiguousEntity, UnresolvedEntities, InvalidArgument: as `resolve_entities`.
    """
    names = [] if relation is None else [relation]
    entities = await resolve_entities(graph, anchors)
    matches = await RelationMatcher(graph, direction, limits).require(entities, names)
    relations = list({fact.relation.id: fact.relation for fact in matches.facts}.values()) or [None]
    directions = list(Direction) if direction is None else [direction]
    degrees = [Degree(*each, _count(matches, *each)) for each in product(entities, relations, directions)]
    page = replace(page_after(degrees, after), total=Count(len(degrees)), note=matches.offered.note)
    return AtEntities(entities, page)


def _count(matches: RelationMatches, entity: Entity, relation: Relation | None, direction: Direction) -> Count:
    """The rows of a relation (None: of all) at an entity in a direction; a lower bound if not all were counted."""
    facts = [
        fact
        for fact in matches.offered.items
        if fact.direction is direction and (relation is None or fact.relation.id == relation.id)
    ]
    exact = matches.offered.stop is Stop.COMPLETE and all(fact.count.certainty is Certainty.EXACT for fact in facts)
    value = sum(fact.per_entity.get(entity.id, 0) for fact in facts)
    return Count(value) if exact else Count.at_least(value)
