"""A page of relations, made from the counts at some entities."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from kgnav_mcp.adapters.paging.counts import E, K, PathCounts, RelationCounts, near_relation
from kgnav_mcp.model import Certainty, Count, Direction, Node, Page, Relation, RelationFacts, Stop


def joined(hops: Sequence[Relation]) -> Relation:
    """A path as one relation: the relation itself for one hop, `rel1.rel2` for two."""
    if len(hops) == 1:
        return hops[0]
    return Relation(".".join(hop.id for hop in hops), " / ".join(hop.label for hop in hops))


def paths_in_order(
    counts: RelationCounts[E, K], ids: Callable[[tuple[K, ...]], tuple[str, ...]]
) -> list[tuple[K, ...]]:
    """The paths that have rows, sorted by their ids."""
    return sorted(counts.by_path(), key=lambda path: ".".join(ids(path)))


def relations_page(
    counts: RelationCounts[E, K] | PathCounts[E, K],
    direction: Direction,
    *,
    paths: Sequence[tuple[K, ...]],
    limit: int,
    names: Mapping[K, Relation],
    printed: Callable[[E], str],
    examples: Mapping[tuple[K, ...], Sequence[Node]],
    stop: Stop,
    hidden: Collection[tuple[K, ...]] = (),
) -> Page[RelationFacts]:
    """One page with the first `limit` of the paths and their counts.

    `names` maps a relation's key to the relation with its label, `printed` gives the id of an entity as answers print
    it, and `hidden` are paths that are marked as hidden. `stop` says whether all examples were read.
    """
    sums, rows = counts.by_path(), counts.by_path_and_entity()
    to_mediators = {(near_relation(path, direction),) for path in sums if len(path) == 2}
    shown = paths[:limit]
    items = tuple(
        RelationFacts(
            relation=joined([names[relation] for relation in path]),
            direction=direction,
            count=sums[path],
            hops=tuple(names[relation] for relation in path),
            examples=tuple(examples.get(path, ())),
            mediators=path in to_mediators,
            hidden=path in hidden,
            per_entity={printed(entity): number for entity, number in rows[path].items()},
        )
        for path in shown
    )
    return Page(
        items=items,
        positions=tuple(facts.relation.id for facts in items),
        total=counts.as_count(len(paths)),
        stop=Stop.first((counts.stop, stop, Stop.LIMIT if len(paths) > limit else Stop.COMPLETE)),
    )


def hidden_note(rows: Count, relations: Iterable[str]) -> str:
    """The note that rows of hidden relations, with these ids, are not shown."""
    example = min(relations, key=lambda name: (len(name), name))
    size = f"{rows.value:,}" if rows.certainty is Certainty.EXACT else f"At least {rows.value:,}"
    return f"{size} identifiers of other databases are not shown; to see one, name its property, such as {example}."
