"""The relations at entities as a list: which of them are offered, in which order, from which place on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b

from kgnav_mcp.errors import InvalidCursor
from kgnav_mcp.model import AnchoredPage, Direction, Entity, Page, Relation, RelationFacts, Stop
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.pages import page_after, select
from kgnav_mcp.navigation.ranking import Ranker
from kgnav_mcp.port import Capability, GraphAdapter


def single_relation(facts: Page[RelationFacts]) -> Relation | None:
    """The only relation, unless it leads to mediators with several two-hop relations to choose from."""
    one_hop = [fact.relation for fact in facts.items if len(fact.hops) == 1]
    chosen_from = len(one_hop) == 1 and len(facts.items) <= 2
    return one_hop[0] if chosen_from and facts.stop is Stop.COMPLETE else None


async def relation_facts(
    graph: GraphAdapter,
    ids: Sequence[str],
    direction: Direction | None,
    *,
    hops: int = 2,
    examples: int = 0,
    hidden: bool = False,
    limits: Limits,
) -> AnchoredPage[RelationFacts]:
    """The distinct relations of entities; with `hops` 2 also the two-hop ones through mediators.

    Those that are shown only when asked for by name are left out, and counted in the page's note, unless `hidden`.
    """
    hops = min(hops, hops_of(graph))
    page = await graph.relations(ids, direction, hops=hops, examples=examples, limit=limits.relation_limit)
    page = without_classes(page, graph)
    return page if hidden else without_hidden(page)


def hops_of(graph: GraphAdapter) -> int:
    """The most hops that a relation has in a graph."""
    return 2 if Capability.MEDIATORS in graph.capabilities else 1


def without_classes(page: AnchoredPage[RelationFacts], graph: GraphAdapter) -> AnchoredPage[RelationFacts]:
    """The relations without those that lead through a mediator to its class: a class is not one of its roles."""
    classes = graph.class_relations
    roles = [
        len(facts.hops) == 1 or facts.direction is Direction.INCOMING or facts.hops[-1].id not in classes
        for facts in page.items
    ]
    return page if all(roles) else select(page, roles)


def without_hidden(page: AnchoredPage[RelationFacts]) -> AnchoredPage[RelationFacts]:
    """The relations without those that are shown only when asked for by name; the note counts them."""
    left_out = [facts.relation.id for facts in page.items if facts.hidden]
    if not left_out:
        return page
    example = min(left_out, key=lambda name: (len(name), name))
    note = f"{len(left_out):,} more relations, to identifiers elsewhere, are shown when named, such as {example}."
    shown = select(page, [not facts.hidden for facts in page.items])
    return replace(shown, note=" ".join(filter(None, (page.note, note))))


async def ranked(
    facts: Page[RelationFacts], question: str | None, anchor: Entity | None, ranker: Ranker, after: str | None
) -> Page[RelationFacts]:
    """The relations ranked by the question, from the position `after` on; in their own order without a question.

    `anchor` is the entity that they are at, if they are at one.

    Among those that fit it equally, or not at all, those with the most rows come first.

    A position names the order it belongs to. Where the order has changed since, the next page would show some
    relations twice and others never.

    Raises:
        InvalidCursor: the relations are not in that order any more.
    """
    if not question:
        return replace(page_after(facts.items, after, facts.stop), note=facts.note)
    most_rows_first = sorted(facts.items, key=lambda fact: -fact.count.value)
    ranking = await ranker(question, anchor, most_rows_first)
    matching = [replace(fact, matches=True) for fact in ranking.relations[: ranking.matching]]
    relations = (*matching, *ranking.relations[ranking.matching :])
    order = _fingerprint(relations)
    start, _, started = (after or f"0@{order}").partition("@")
    if started != order:
        raise InvalidCursor(
            "the relations are not ranked as they were when this cursor was made",
            next_step="Repeat the call without the cursor to start anew.",
        )
    page = page_after(relations, start, facts.stop)
    note = " ".join(filter(None, (ranking.note, facts.note)))
    return replace(page, positions=tuple(f"{place}@{order}" for place in page.positions), note=note)


def _fingerprint(relations: Sequence[RelationFacts]) -> str:
    named = "\n".join(f"{facts.direction} {facts.relation.id}" for facts in relations)
    return blake2b(named.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
