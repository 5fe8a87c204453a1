"""Triples and relations as sheets: SoG's columns for `search`, GraphWalker's for its two tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgnav_mcp.model import Count, Direction, Entity, Link, Neighbourhood, Page, RelationFacts, Triple
from kgnav_mcp.render.calls import next_call
from kgnav_mcp.render.sheet import Sheet, Style, count_text
from kgnav_mcp.render.text import id_and_label, identifier, named, qualifiers, shown, value_and_label

_CELL_LIMIT = 60
"""Characters of a literal that stands as an example beside others."""

_NAMESAKES = 5
"""Others of the same name that are mentioned."""


def neighbourhood(found: Neighbourhood, style: Style, seen: int, *, asked: bool = False) -> Sheet:
    """SoG's answer: the rows, or the relations of a hub; `asked` says that a question ranked them."""
    if found.rows is not None:
        return _rows(found, found.rows, style, seen)
    assert found.relations is not None, "a neighbourhood has rows or relations"  # noqa: S101 - the model's invariant
    return _hub(found, found.relations, style, seen, asked=asked)


def _rows(found: Neighbourhood, page: Page[Triple], style: Style, seen: int) -> Sheet:
    def cells() -> Iterator[Sequence[str]]:
        for triple in page.items:
            value, label = value_and_label(triple.far_end(found.direction), style.literal_limit)
            own = id_and_label(triple.relation, style.literal_limit)
            yield *own, value, label, qualifiers(triple.qualifiers, _CELL_LIMIT)

    return Sheet(
        "rows",
        ("property", "propertyLabel", "value", "valueLabel", "qualifiers"),
        cells(),
        page.total,
        page.stop,
        seen,
        empty=_nothing(found),
        intro=_merged(found.entity),
        notes=(page.note,) if page.note else (),
        optional=frozenset({"qualifiers"}),
    )


def _nothing(found: Neighbourhood) -> str:
    """Where an entity without rows in one direction does occur."""
    who, direction, there = named(found.entity), found.direction, found.opposite
    if there is None:
        return f"{who} has no {direction} rows."
    if there.value:
        step = next_call("search", {"entity": found.entity, "direction": direction.opposite})
        return f"{who} has no {direction} rows, but {count_text(there)} {direction.opposite}. {step}"
    nowhere = f"{who} has no rows in either direction: no triple has it as head or tail"
    if found.qualified is None:
        return f"{nowhere}; it may be the value of a qualifier."
    if not found.qualified:
        return f"{nowhere}, and no qualifier has it as its value."
    first, texts = found.qualified[0], [_qualified(triple, found.entity) for triple in found.qualified]
    arguments = {"entity": first.head, "direction": Direction.OUTGOING, "properties_to_filter_for": [first.relation]}
    step = next_call("search", arguments)
    return f"{who} is only the value of a qualifier: {'; '.join(texts)}. {step}".rstrip()


def _qualified(triple: Triple, value: Entity) -> str:
    """Which qualifier of a triple has this value: `witness (ex:witness) of [Ada (ex:ada), ...]`."""
    relations = [
        one.relation for one in triple.qualifiers if isinstance(one.value, Entity) and one.value.id == value.id
    ]
    parts = named(triple.head), named(triple.relation), shown(triple.tail, _CELL_LIMIT)
    return f"{', '.join(map(named, dict.fromkeys(relations)))} of [{', '.join(parts)}]"


def _hub(found: Neighbourhood, page: Page[RelationFacts], style: Style, seen: int, *, asked: bool) -> Sheet:
    entity, direction = found.entity, found.direction

    def cells() -> Iterator[Sequence[str]]:
        for facts in page.items:
            yield *id_and_label(facts.relation, style.literal_limit), count_text(facts.count), _examples(facts)

    rows = Count.sum(facts.count for facts in page.items if len(facts.hops) == 1)
    intro = [*_merged(entity)]
    intro.append(f"{named(entity)} is a hub: {count_text(rows)} {direction} rows, so its relations are listed instead.")
    intro += _order(page, asked=asked)
    if page.items:
        most = max(page.items, key=lambda facts: facts.count.value)
        chosen = page.items[0] if page.items[0].matches else most
        arguments = {"entity": entity, "direction": direction, "properties_to_filter_for": [chosen.relation]}
        intro.append(next_call("search", arguments))
    return Sheet(
        "relations",
        ("property", "propertyLabel", "rows", "examples"),
        cells(),
        page.total,
        page.stop,
        seen,
        intro=tuple(filter(None, intro)) if not seen else (),
        notes=(page.note,) if page.note else (),
    )


def _merged(entity: Entity) -> tuple[str, ...]:
    """The sentences on an entity that was asked for by the id of one merged into it, or by a name like others'."""
    merged = () if entity.asked_as is None else (f"{identifier(entity.asked_as)} is now {named(entity)}.",)
    others = [named(one) for one in entity.namesakes]
    if not others:
        return merged
    more = f" and {len(others) - _NAMESAKES} more" if len(others) > _NAMESAKES else ""
    return (*merged, f"Named alike but for letter case: {', '.join(others[:_NAMESAKES])}{more}.")


def _order(page: Page[RelationFacts], *, asked: bool) -> tuple[str, ...]:
    """How the first page of relations is ordered by a question, where one was asked."""
    if not asked or not page.items:
        return ()
    matching = sum(facts.matches for facts in page.items)
    if not matching:
        return ("No relation matches the question: those with the most rows come first.",)
    if matching == len(page.items):
        return ("Best match for the question first.",)
    return (f"Best match for the question first (matching: {matching:,}); the others follow, most rows first.",)


def _examples(facts: RelationFacts) -> str:
    return "; ".join([shown(node, _CELL_LIMIT) for node in facts.examples])


def relations(entity: Entity, page: Page[RelationFacts], style: Style, seen: int, *, asked: bool) -> Sheet:
    """GraphWalker's list of relations, each with its direction; `asked` says that a question ranked them."""
    first = [facts.relation for facts in page.items[:1]]
    step = next_call("get_triples", {"entity": entity, "relations": first}) if first else ""
    return Sheet(
        "relations",
        ("relation", "relationLabel", "direction", "rows"),
        (
            (*id_and_label(facts.relation, style.literal_limit), facts.direction, count_text(facts.count))
            for facts in page.items
        ),
        page.total,
        page.stop,
        seen,
        empty=f"{named(entity)} has no relations in either direction.",
        intro=(*_merged(entity), *(_order(page, asked=asked) if not seen else ())),
        notes=tuple(filter(None, (page.note, step))),
    )


def triples(entity: Entity, page: Page[Link], style: Style, seen: int) -> Sheet:
    """GraphWalker's `[head, relation, tail]` with ids and names."""

    def cells() -> Iterator[Sequence[str]]:
        for triple in (link.triple for link in page.items):
            yield (
                *value_and_label(triple.head, style.literal_limit),
                identifier(triple.relation.id),
                *value_and_label(triple.tail, style.literal_limit),
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
