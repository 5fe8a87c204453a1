"""The first triples of a few relations, as GraphWalker's environment shows them to its agent."""

from __future__ import annotations

from collections.abc import Sequence

from kgnav_mcp.concurrency import gathered_for
from kgnav_mcp.model import Direction, Entity, Link, RelationFacts, Stop, Triple
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.pages import refuse_partial
from kgnav_mcp.navigation.references import Given, resolve_relations
from kgnav_mcp.navigation.relation_reader import paths_to_far_ends
from kgnav_mcp.port import GraphAdapter

RELATIONS = 4
"""Relations that are followed, the first of the list (GraphWalker, appendix H)."""
TRIPLES_PER_RELATION = 5
"""Triples shown of each relation (GraphWalker, 2.2.1)."""
_ROWS_PER_QUERY = 40
"""Rows that are read of each relation in each direction (GraphWalker, F.3)."""


async def relation_triples(
    graph: GraphAdapter, given: Given, names: Sequence[str], *, limits: Limits
) -> tuple[tuple[Entity, ...], Sequence[Triple]]:
    """The entities, and the first triples of the first relations at them, in both directions.

    A relation to mediators gives the triples of the two-hop relations through them. Each triple is given once, outgoing
    ones first.

    Raises:
        UnknownRelation: the entities have none of these relations in either direction.
        StoreTimeout, Unsupported: the store did not give the whole of a list that is shorter than the limit.
        UnknownEntity, AmbiguousEntity, UnresolvedEntities, InvalidArgument: as `resolve_entities`.
    """
    first = list(dict.fromkeys(names))[:RELATIONS]
    found = await resolve_relations(
        graph, given, first, None, limits=limits, hops=2, offers=limits.offers, explain_absent=False
    )
    refuse_partial(found.offered.stop)
    ids = [entity.id for entity in found.entities]
    lists = await gathered_for(
        [(direction, path) for fact in found.facts for direction, path in _paths(fact, found.offered.items)],
        lambda one: _read(graph, ids, *one),
    )
    by_relation: dict[str, dict[Triple, None]] = {}
    for link in (link for links in lists for link in links):
        by_relation.setdefault(link.triple.relation.id, {})[_plain(link.triple)] = None
    triples = [triple for each in by_relation.values() for triple in [*each][:TRIPLES_PER_RELATION]]
    return found.entities, triples


def _paths(fact: RelationFacts, offered: Sequence[RelationFacts]) -> list[tuple[Direction, tuple[str, ...]]]:
    """The relation and, if it leads to mediators, those through them."""
    return [(fact.direction, path) for path in paths_to_far_ends([fact], offered)]


async def _read(graph: GraphAdapter, ids: Sequence[str], direction: Direction, path: tuple[str, ...]) -> Sequence[Link]:
    """The first rows of a relation, without those that end at a mediator."""
    page = await graph.neighbours(ids, direction, paths=[path], limit=_ROWS_PER_QUERY)
    if page.stop is not Stop.LIMIT:
        refuse_partial(page.stop)
    return [link for link in page.items if not (isinstance(link.far_end, Entity) and link.far_end.mediator)]


def _plain(triple: Triple) -> Triple:
    return Triple(triple.head, triple.relation, triple.tail)
