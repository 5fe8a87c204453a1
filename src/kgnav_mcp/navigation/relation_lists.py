"""Lists of the relations at entities: filtered, ranked and paged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b

from kgnav_mcp.errors import InvalidCursor
from kgnav_mcp.model import AnchoredPage, Direction, Entity, Page, Relation, RelationFacts, Stop
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.pages import page_after, select
from kgnav_mcp.navigation.ranking import Ranker
from kgnav_mcp.port import Capability, FarEndKind, GraphAdapter


def single_relation(facts: Page[RelationFacts]) -> Relation | None:
    """The only relation of a list, or None. None also if it leads to mediators with several two-hop relations."""
    one_hop = [fact.relation for fact in facts.items if len(fact.hops) == 1]
    is_single = len(one_hop) == 1 and len(facts.items) <= 2
    return one_hop[0] if is_single and facts.stop is Stop.COMPLETE else None


async def relation_facts(
    graph: GraphAdapter,
    ids: Sequence[str],
    direction: Direction | None,
    *,
    hops: int = 2,
    examples: int = 0,
    hidden: bool = False,
    far_ends: FarEndKind | None = None,
    limits: Limits,
) -> AnchoredPage[RelationFacts]:
    """The distinct relations of entities; with `hops` 2 also the two-hop ones through mediators.

    Hidden relations, which are shown only when asked for by name, are left out and counted in the page's note. With
    `hidden` they are included. With `far_ends` only rows that lead to such ends count.
    """
    hops = min(hops, hops_of(graph, flatten=limits.flatten))
    page = await graph.relations(
        ids, direction, hops=hops, far_ends=far_ends, examples=examples, limit=limits.relation_limit
    )
    page = without_classes(page, graph)
    return page if hidden else without_hidden(page)


def hops_of(graph: GraphAdapter, *, flatten: bool = True) -> int:
    """The largest number of hops of a relation in this graph: 2 if it has mediators to flatten, otherwise 1."""
    return 2 if flatten and Capability.MEDIATORS in graph.capabilities else 1


def without_classes(page: AnchoredPage[RelationFacts], graph: GraphAdapter) -> AnchoredPage[RelationFacts]:
    """The relations without those that lead through a mediator to its class. A mediator's class is not a role."""
    classes = graph.class_relations
    keep = [
        len(facts.hops) == 1 or facts.direction is Direction.INCOMING or facts.hops[-1].id not in classes
        for facts in page.items
    ]
    return page if all(keep) else select(page, keep)


def without_hidden(page: AnchoredPage[RelationFacts]) -> AnchoredPage[RelationFacts]:
    """The page without hidden relations, which are shown only when asked for by name; the note counts them."""
    left_out = [facts.relation.id for facts in page.items if facts.hidden]
    if not left_out:
        return page
    example = min(left_out, key=lambda name: (len(name), name))
    note = f"{len(left_out):,} relations to external identifiers are hidden. Name one to show it, such as {example}."
    shown = select(page, [not facts.hidden for facts in page.items])
    return replace(shown, note=" ".join(filter(None, (page.note, note))))


async def ranked(
    facts: Page[RelationFacts], question: str | None, anchor: Entity | None, ranker: Ranker, after: str | None
) -> Page[RelationFacts]:
    """The relations after the position `after`, ranked by the question; in their own order without a question.

    `anchor` is the entity of the relations, if there is only one. Relations that match the question equally well, or
    not at all, are ordered by their number of rows, largest first.

    A position includes a fingerprint of the order. If the order has changed, the next page could repeat some relations
    and omit others.

    Raises:
        InvalidCursor: the relations are no longer in that order.
    """
    if not question:
        return replace(page_after(facts.items, after, facts.stop), note=facts.note)
    most_rows_first = sorted(facts.items, key=lambda fact: -fact.count.value)
    ranking = await ranker(question, anchor, most_rows_first)
    matching = [replace(fact, matches=True) for fact in ranking.relations[: ranking.matching]]
    relations = (*matching, *ranking.relations[ranking.matching :])
    order = _fingerprint(relations)
    start, _, cursor_order = (after or f"0@{order}").partition("@")
    if cursor_order != order:
        raise InvalidCursor(
            "the order of the relations has changed since this cursor was made",
            next_step="Repeat the call without the cursor to start again.",
        )
    page = page_after(relations, start, facts.stop)
    note = " ".join(filter(None, (ranking.note, facts.note)))
    return replace(page, positions=tuple(f"{place}@{order}" for place in page.positions), note=note)


def _fingerprint(relations: Sequence[RelationFacts]) -> str:
    listed = "\n".join(f"{facts.direction} {facts.relation.id}" for facts in relations)
    return blake2b(listed.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
