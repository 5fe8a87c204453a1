"""The rows of relations that were chosen by name, at one entity or at many."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from kgnav_mcp.model import (
    AnchoredPage,
    AtEntities,
    Certainty,
    Direction,
    Entity,
    Lacking,
    Link,
    Page,
    RelationFacts,
    Stop,
)
from kgnav_mcp.navigation.flattening import FlattenedPage, flattened
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.listing import relation_facts
from kgnav_mcp.navigation.pages import select
from kgnav_mcp.navigation.resolving import (
    Given,
    matching_relations,
    read_at_entities,
    resolve_entities,
    unknown_relation,
)
from kgnav_mcp.port import ANY_FAR_ENDS, FarEnds, GraphAdapter


@dataclass(frozen=True, slots=True)
class Follower:
    """Follows relations in one direction, or in both (None). Those that `offers` refuses are not there."""

    graph: GraphAdapter
    direction: Direction | None
    limits: Limits
    far: FarEnds = ANY_FAR_ENDS
    offers: Callable[[str], bool] = lambda _: True

    async def rows(self, given: Given, names: Sequence[str], after: str | None = None) -> AtEntities[Link]:
        """The rows of these relations (without names: of all), and which of several entities have none of one of them.

        Names are tried as ids first. Only where one of them gives no row are they matched to the entities' relations.
        A cursor belongs to the list of the matched relations.

        Raises:
            UnknownRelation: a name means no relation of any of these entities.
            UnknownEntity, AmbiguousEntity, UnresolvedEntities, InvalidArgument: as `resolve_entities`.
        """
        if self.far.narrow:
            return await self._narrowed(given, names, after)
        if after is None and all(map(self.offers, names)):
            entities, page = await read_at_entities(self.graph, given, partial(self._read, [(name,) for name in names]))
            if all(_has_rows_of(page, name) for name in names):
                return AtEntities(entities, page, await self._lacking_in(page, entities, names))
        else:
            entities = await resolve_entities(self.graph, given)
        ids = [entity.id for entity in entities]
        meant, offered = await self._matching(entities, names)
        facts = [fact for found in meant.values() for fact in found]
        paths = list(dict.fromkeys(tuple(hop.id for hop in fact.hops) for fact in facts))
        page = await self._read(paths, ids, after)
        return AtEntities(entities, page, () if after else _lacking(meant, entities, offered))

    async def _narrowed(self, given: Given, names: Sequence[str], after: str | None) -> AtEntities[Link]:
        """The rows with the far ends that are asked for, and which entities have none."""
        entities = await resolve_entities(self.graph, given)
        ids = [entity.id for entity in entities]
        meant, offered = await self._matching(entities, names, hops=2)
        chosen = [fact for found in meant.values() for fact in found] if names else offered.items
        page = await self._read(paths_to_far_ends(chosen, offered.items), ids, after)
        if not page.items and after is None:
            await check_label(self.graph, self.far)
        whole = page.stop is Stop.COMPLETE and after is None and bool(page.items)
        return AtEntities(entities, page, lacking({"": _anchors(page)}, entities) if whole else ())

    def _read(
        self, paths: Sequence[tuple[str, ...]], ids: Sequence[str], after: str | None = None
    ) -> Awaitable[FlattenedPage]:
        limits = self.limits
        return flattened(
            self.graph,
            ids,
            self.direction,
            paths=paths,
            far=self.far,
            limit=limits.row_limit,
            characters=limits.characters,
            after=after,
        )

    async def _lacking_in(
        self, page: FlattenedPage, entities: Sequence[Entity], names: Sequence[str]
    ) -> tuple[Lacking, ...]:
        """The entities without rows of a relation: told by the rows where all were read, else by the counts."""
        if len(entities) == 1:
            return ()
        if len(names) == 1 and page.without is not None:
            return (Lacking(names[0], page.without),) if page.without else ()
        if page.stop is Stop.COMPLETE or page.edges is not None:
            links = page.items if page.stop is Stop.COMPLETE else page.edges or ()
            return lacking({name: {link.anchor.id for link in links if _is_of(link, name)} for name in names}, entities)
        offered = await self._offered([entity.id for entity in entities], hops=1)
        return _lacking(matching_relations(names, offered.items), entities, offered)

    async def _matching(
        self, entities: Sequence[Entity], names: Sequence[str], *, hops: int = 1
    ) -> tuple[Mapping[str, Sequence[RelationFacts]], Page[RelationFacts]]:
        """What each name means at these entities, and all that it was looked for in: two hops where one is not enough.

        What a name means wrongly is said, with where it is instead.
        """
        ids = [entity.id for entity in entities]
        offered = await self._offered(ids, hops)
        meant = matching_relations(names, offered.items)
        if hops == 1 and not all(meant.values()):
            return await self._matching(entities, names, hops=2)
        for name, found in meant.items():
            if not found:
                turned = self.direction and self.direction.opposite
                there = await relation_facts(self.graph, ids, turned, limits=self.limits) if turned else None
                opposite = there.items if there is not None else ()
                raise unknown_relation(name, entities, self.direction, offered.items, opposite)
        return meant, offered

    async def _offered(self, ids: Sequence[str], hops: int) -> AnchoredPage[RelationFacts]:
        page = await relation_facts(self.graph, ids, self.direction, hops=hops, hidden=True, limits=self.limits)
        return select(page, [self.offers(fact.relation.id) for fact in page.items])


def paths_to_far_ends(chosen: Sequence[RelationFacts], offered: Sequence[RelationFacts]) -> list[tuple[str, ...]]:
    """The paths of relations, and of those to mediators also the two-hop ones that lead on from there."""

    def onward(fact: RelationFacts) -> list[RelationFacts]:
        outgoing = fact.direction is Direction.OUTGOING
        two_hops = (one for one in offered if len(one.hops) == 2 and one.direction is fact.direction)
        return [one for one in two_hops if one.hops[0 if outgoing else 1] == fact.relation]

    facts = [one for fact in chosen for one in (fact, *(onward(fact) if fact.mediators else ()))]
    return list(dict.fromkeys(tuple(hop.id for hop in fact.hops) for fact in facts))


async def check_label(graph: GraphAdapter, far: FarEnds) -> None:
    """Say so where far ends are asked for by a label that no node has.

    Raises:
        UnknownName: the graph has no such label.
    """
    if far.label is not None:
        await graph.nodes(far.label, None, None, limit=0)


def _anchors(page: Page[Link]) -> set[str]:
    return {link.anchor.id for link in page.items}


def lacking(having: Mapping[str, set[str]], entities: Sequence[Entity]) -> tuple[Lacking, ...]:
    """For each name the entities that are not among those having it, where there are several and some are not."""
    without = {name: tuple(one for one in entities if one.id not in ids) for name, ids in having.items()}
    return tuple(Lacking(name, some) for name, some in without.items() if some) if len(entities) > 1 else ()


def lacking_all(facts: Page[RelationFacts], entities: Sequence[Entity]) -> tuple[Lacking, ...]:
    """The entities that have none of the relations."""
    return _lacking({"": facts.items}, entities, facts)


def _lacking(
    meant: Mapping[str, Sequence[RelationFacts]], entities: Sequence[Entity], offered: Page[RelationFacts]
) -> tuple[Lacking, ...]:
    """The entities without rows of what a name means; none where the store did not count all."""
    sure = offered.stop is Stop.COMPLETE and all(
        fact.count.certainty is Certainty.EXACT for found in meant.values() for fact in found
    )
    having = {name: {one for fact in found for one in fact.per_entity} for name, found in meant.items()}
    return lacking(having, entities) if sure else ()


def _has_rows_of(page: Page[Link], relation: str) -> bool:
    return any(_is_of(link, relation) for link in page.items)


def _is_of(link: Link, relation: str) -> bool:
    """Whether a flattened row is of a one-hop relation, which may lead to mediators."""
    name = link.triple.relation.id
    if name == relation:
        return True
    if link.triple.via is None:
        return False
    return name.startswith(f"{relation}.") if link.direction is Direction.OUTGOING else name.endswith(f".{relation}")
