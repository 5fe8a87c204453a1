"""Reads the rows of relations chosen by name, at one entity or many."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from kgnav_mcp.model import (
    AtEntities,
    Certainty,
    Direction,
    EntitiesWithout,
    Entity,
    Link,
    Page,
    Relation,
    RelationFacts,
    Stop,
)
from kgnav_mcp.model.ids import local_name
from kgnav_mcp.navigation.flattening import FlattenedPage, read_flattened
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.references import (
    EntityArgument,
    read_at_entities,
    resolve_entities,
)
from kgnav_mcp.navigation.relation_lists import likely_path
from kgnav_mcp.navigation.relation_matching import RelationMatcher
from kgnav_mcp.port import ANY_FAR_END, FarEndFilter, GraphAdapter


@dataclass(frozen=True, slots=True)
class NamedRelationReader:
    """Follows relations in one direction, or in both (None). Relations for which `offers` is false are ignored."""

    graph: GraphAdapter
    direction: Direction | None
    limits: Limits
    far: FarEndFilter = ANY_FAR_END
    offers: Callable[[str], bool] = lambda _: True
    refuse_absent: bool = False
    """Whether a relation that no entity has is an error even if they have others of the list."""

    async def rows(self, anchors: EntityArgument, names: Sequence[str], after: str | None = None) -> AtEntities[Link]:
        """The rows of these relations (of all if there are no names), and which entities lack one of the relations.

        Names are tried as ids first. Only if one of them gives no rows are they matched with the entities' relations.
        Those that match none are in `absent` of the first page. A cursor belongs to the list of the matched relations.

        Raises:
            UnknownRelation: as `RelationMatcher.require`.
            UnknownEntity, AmbiguousEntity, UnresolvedEntities, InvalidArgument: as `resolve_entities`.
        """
        if self.far.is_selective:
            return await self._rows_by_far_ends(anchors, names, after)
        if after is None and all(map(self.offers, names)):
            relation_paths = [likely_path(name) for name in names]
            entities, page = await read_at_entities(self.graph, anchors, partial(self._read, relation_paths))
            if all(_has_rows_of(page, name) for name in names) and not any(map(self._is_class_of_mediator, page.items)):
                return AtEntities(entities, page, await self._entities_without_at(page, entities, names))
            anchors = entities
        matcher = self._matcher()
        entities = await resolve_entities(self.graph, anchors)
        matches = await matcher.require(entities, names, every_name=self.refuse_absent)
        page = await self._read(flattened_paths(matches.facts), [entity.id for entity in entities], after)
        if after is not None:
            return AtEntities(entities, page)
        present = {name: facts for name, facts in matches.by_name.items() if facts}
        absent = await matcher.absent(matches)
        return AtEntities(entities, page, _entities_without(present, entities, matches.offered), absent)

    async def _rows_by_far_ends(
        self, anchors: EntityArgument, names: Sequence[str], after: str | None
    ) -> AtEntities[Link]:
        """The rows whose far ends match the filter, and which entities have none."""
        matcher = self._matcher(hops=2)
        entities = await resolve_entities(self.graph, anchors)
        matches = await matcher.require(entities, names, every_name=self.refuse_absent)
        chosen = matches.facts if names else matches.offered.items
        relation_paths = paths_to_far_ends(chosen, matches.offered.items)
        page = await self._read(relation_paths, [entity.id for entity in entities], after)
        if not page.items and after is None:
            await check_label(self.graph, self.far)
        is_whole = page.stop is Stop.COMPLETE and page.total.certainty is Certainty.EXACT
        complete = is_whole and after is None and bool(page.items)
        without = entities_without({"": _anchors(page)}, entities) if complete else ()
        absent = await matcher.absent(matches) if after is None else ()
        return AtEntities(entities, page, without, absent)

    def _read(
        self, relation_paths: Sequence[tuple[str, ...]], ids: Sequence[str], after: str | None = None
    ) -> Awaitable[FlattenedPage]:
        limits = self.limits
        return read_flattened(
            self.graph,
            ids,
            self.direction,
            relation_paths=relation_paths,
            far=self.far,
            limit=limits.row_limit,
            characters=limits.characters,
            after=after,
            flatten=limits.flatten,
        )

    async def _entities_without_at(
        self, page: FlattenedPage, entities: Sequence[Entity], names: Sequence[str]
    ) -> tuple[EntitiesWithout, ...]:
        """The entities that lack a relation, known from the rows if all were read, otherwise from counts."""
        if len(entities) == 1:
            return ()
        if len(names) == 1 and page.without is not None:
            return (EntitiesWithout(names[0], page.without),) if page.without else ()
        if page.stop is Stop.COMPLETE or page.edges is not None:
            links = page.items if page.stop is Stop.COMPLETE else page.edges or ()
            return entities_without(
                {name: {link.anchor.id for link in links if _is_row_of(link, name)} for name in names}, entities
            )
        matches = await self._matcher().require(entities, names, every_name=self.refuse_absent)
        return _entities_without(matches.by_name, entities, matches.offered)

    def _is_class_of_mediator(self, link: Link) -> bool:
        """Whether a row leads through a mediator to its class, which is not a role and in no list of relations."""
        classes = tuple(f".{relation}" for relation in self.graph.class_relations)
        return link.triple.via is not None and link.triple.relation.id.endswith(classes)

    def _matcher(self, hops: int = 1) -> RelationMatcher:
        return RelationMatcher(self.graph, self.direction, self.limits, hops=hops, offers=self.offers)


def flattened_paths(chosen: Sequence[RelationFacts]) -> list[tuple[str, ...]]:
    """The paths of the chosen relations, each row once.

    Flattening a relation to mediators gives the rows of the two-hop relations through them that lead to entities, so
    these are left out if that relation is chosen, too.
    """
    to_mediators = {(fact.relation, fact.direction) for fact in chosen if len(fact.hops) == 1 and fact.mediators}

    def is_repeated(fact: RelationFacts) -> bool:
        near = fact.hops[0 if fact.direction is Direction.OUTGOING else -1]
        leads_to_entities = all(isinstance(example, Entity) for example in fact.examples)
        return len(fact.hops) == 2 and leads_to_entities and (near, fact.direction) in to_mediators

    return list(dict.fromkeys(tuple(hop.id for hop in fact.hops) for fact in chosen if not is_repeated(fact)))


def paths_to_far_ends(chosen: Sequence[RelationFacts], offered: Sequence[RelationFacts]) -> list[tuple[str, ...]]:
    """The paths of the chosen relations; for those to mediators also the two-hop paths through them."""

    def onward(fact: RelationFacts) -> list[RelationFacts]:
        outgoing = fact.direction is Direction.OUTGOING
        two_hops = (
            candidate for candidate in offered if len(candidate.hops) == 2 and candidate.direction is fact.direction
        )
        return [candidate for candidate in two_hops if candidate.hops[0 if outgoing else 1] == fact.relation]

    facts = [candidate for fact in chosen for candidate in (fact, *(onward(fact) if fact.mediators else ()))]
    return list(dict.fromkeys(tuple(hop.id for hop in fact.hops) for fact in facts))


async def check_label(graph: GraphAdapter, far: FarEndFilter) -> None:
    """Check that the graph has the label by which far ends are filtered.

    Raises:
        UnknownName: the graph has no such label.
    """
    if far.label is not None:
        await graph.nodes(far.label, None, None, limit=0)


def _anchors(page: Page[Link]) -> set[str]:
    return {link.anchor.id for link in page.items}


def entities_without(having: Mapping[str, set[str]], entities: Sequence[Entity]) -> tuple[EntitiesWithout, ...]:
    """For each name the entities that are not in `having`; names without any are left out. Empty for one entity."""
    without = {name: tuple(entity for entity in entities if entity.id not in ids) for name, ids in having.items()}
    return tuple(EntitiesWithout(name, ones) for name, ones in without.items() if ones) if len(entities) > 1 else ()


def entities_without_any(facts: Page[RelationFacts], entities: Sequence[Entity]) -> tuple[EntitiesWithout, ...]:
    """The entities that have none of these relations."""
    return _entities_without({"": facts.items}, entities, facts)


def _entities_without(
    facts_by_name: Mapping[str, Sequence[RelationFacts]], entities: Sequence[Entity], offered: Page[RelationFacts]
) -> tuple[EntitiesWithout, ...]:
    """For each name the entities without rows of its relations; empty if the store's counts are not exact."""
    exact = offered.stop is Stop.COMPLETE and all(
        fact.count.certainty is Certainty.EXACT for group in facts_by_name.values() for fact in group
    )
    entity_ids = {name: {id_ for fact in group for id_ in fact.per_entity} for name, group in facts_by_name.items()}
    return entities_without(entity_ids, entities) if exact else ()


def _has_rows_of(page: Page[Link], relation: str) -> bool:
    return any(_is_row_of(link, relation) or _is_iri_of(link.triple.relation, relation) for link in page.items)


def _is_iri_of(relation: Relation, name: str) -> bool:
    """Whether a name with which a relation was read is its IRI, or the IRIs of its two hops."""
    own, named = ([local_name(hop.strip("<>")) for hop in likely_path(each)] for each in (relation.id, name))
    return "://" in name and own == named


def _is_row_of(link: Link, relation: str) -> bool:
    """Whether a flattened row belongs to a one-hop relation, which may lead to mediators."""
    name = link.triple.relation.id
    if name == relation:
        return True
    if link.triple.via is None:
        return False
    return name.startswith(f"{relation}.") if link.direction is Direction.OUTGOING else name.endswith(f".{relation}")
