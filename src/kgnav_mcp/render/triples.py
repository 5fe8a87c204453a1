"""Triples and relations as sheets: SoG's columns for `search`, GraphWalker's for its two tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgnav_mcp.model import Count, Direction, Entity, Link, Neighbourhood, Page, Relation, RelationFacts, Triple
from kgnav_mcp.render.sheet import Sheet, Style, count_text
from kgnav_mcp.render.text import identifier, named, qualifiers, quoted, shown, value_and_label

_CELL_LIMIT = 60
"""Characters of a literal that stands as an example beside others."""


def neighbourhood(found: Neighbourhood, style: Style, seen: int) -> Sheet:
    """SoG's answer: the rows, or the relations of a hub."""
    if found.rows is not None:
        return _rows(found.entity, found.direction, found.rows, style, seen)
    assert found.relations is not None, "a neighbourhood has rows or relations"  # noqa: S101 - the model's invariant
    return _hub(found.entity, found.direction, found.relations, seen)


def _rows(entity: Entity, direction: Direction, page: Page[Triple], style: Style, seen: int) -> Sheet:
    def cells() -> Iterator[Sequence[str]]:
        for triple in page.items:
            value, label = value_and_label(triple.far_end(direction), style.literal_limit)
            yield *_named(triple.relation), value, label, qualifiers(triple.qualifiers, _CELL_LIMIT)

    return Sheet(
        "rows",
        ("property", "propertyLabel", "value", "valueLabel", "qualifiers"),
        cells(),
        page.total,
        page.stop,
        seen,
        empty=f"{named(entity)} has no {direction} relations. Next: the same search with "
        f"direction={direction.opposite}.",
        intro=_merged(entity),
        notes=(page.note,) if page.note else (),
        optional=frozenset({"qualifiers"}),
    )


def _hub(entity: Entity, direction: Direction, page: Page[RelationFacts], seen: int) -> Sheet:

    def cells() -> Iterator[Sequence[str]]:
        for facts in page.items:
            relation = facts.relation
            yield identifier(relation.id), relation.label, count_text(facts.count), _examples(facts)

    rows = Count.sum(facts.count for facts in page.items if len(facts.hops) == 1)
    largest = max(page.items, key=lambda facts: facts.count.value, default=None)
    intro = (
        f"{named(entity)} is a hub: {count_text(rows)} {direction} rows, so its relations are listed instead.",
        f"Next: search(entity={quoted(identifier(entity.id))}, direction={quoted(direction)}, "
        f"properties_to_filter_for=[{quoted(identifier(largest.relation.id) if largest else '')}])",
    )
    return Sheet(
        "relations",
        ("property", "propertyLabel", "rows", "examples"),
        cells(),
        page.total,
        page.stop,
        seen,
        intro=(*_merged(entity), *intro) if not seen else (),
        notes=(page.note,) if page.note else (),
    )


def _merged(entity: Entity) -> tuple[str, ...]:
    """The sentence on an entity that was asked for by the id of one that was merged into it."""
    return () if entity.asked_as is None else (f"{identifier(entity.asked_as)} is now {named(entity)}.",)


def _named(relation: Relation) -> tuple[str, str]:
    return identifier(relation.id), relation.label


def _examples(facts: RelationFacts) -> str:
    return "; ".join([shown(node, _CELL_LIMIT) for node in facts.examples])


def relations(entity: Entity, page: Page[RelationFacts], seen: int, *, asked: bool) -> Sheet:
    """GraphWalker's list of relations, each with its direction; `asked` says that a question ranked them."""
    example = identifier(page.items[0].relation.id) if page.items else ""
    step = f"Next: get_triples(entity={quoted(identifier(entity.id))}, relations=[{quoted(example)}])"
    return Sheet(
        "relations",
        ("relation", "relationLabel", "direction", "rows"),
        ((*_named(facts.relation), facts.direction, count_text(facts.count)) for facts in page.items),
        page.total,
        page.stop,
        seen,
        empty=f"{named(entity)} has no relations at all.",
        intro=(
            *_merged(entity),
            *(("Best match for the question first.",) if asked and page.items and not seen else ()),
        ),
        notes=tuple(note for note in (page.note, step) if note) if page.items else (),
    )


def triples(entity: Entity, page: Page[Link], style: Style, seen: int) -> Sheet:
    """GraphWalker's `[head, relation, tail]` with ids and names."""

    def cells() -> Iterator[Sequence[str]]:
        for triple in (link.triple for link in page.items):
            head, head_label = value_and_label(triple.head, style.literal_limit)
            tail, tail_label = value_and_label(triple.tail, style.literal_limit)
            yield (
                head,
                head_label,
                identifier(triple.relation.id),
                tail,
                tail_label,
                qualifiers(triple.qualifiers, _CELL_LIMIT),
            )

    return Sheet(
        "triples",
        ("head", "headLabel", "relation", "tail", "tailLabel", "qualifiers"),
        cells(),
        page.total,
        page.stop,
        seen,
        empty=f"{named(entity)} has no triples with these relations.",
        intro=_merged(entity),
        notes=(page.note,) if page.note else (),
        optional=frozenset({"qualifiers"}),
    )
