"""Triples and relations as tables: SoG's columns for `search`, GraphWalker's for its two tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgnav_mcp.model import Count, Direction, Entity, Link, Neighbourhood, Page, RelationFacts, Triple
from kgnav_mcp.render.calls import next_call
from kgnav_mcp.render.table import RenderOptions, Table, count_text
from kgnav_mcp.render.text import id_and_label, name_and_id, node_text, printable_id, qualifiers_text, value_and_label

_CELL_LIMIT = 60
"""Characters of a literal that stands as an example beside others."""

_NAMESAKES = 5
"""Most entities of the same name that are mentioned."""


def neighbourhood_table(found: Neighbourhood, options: RenderOptions, offset: int, *, ranked: bool = False) -> Table:
    """SoG's answer: the rows, or the relations of a hub. `ranked`: a question ranked them."""
    if found.rows is not None:
        return _rows(found, found.rows, options, offset)
    assert found.relations is not None, "a neighbourhood has rows or relations"  # noqa: S101 - the model's invariant
    return _hub(found, found.relations, options, offset, ranked=ranked)


def _rows(found: Neighbourhood, page: Page[Triple], options: RenderOptions, offset: int) -> Table:
    def cells() -> Iterator[Sequence[str]]:
        for triple in page.items:
            value, label = value_and_label(triple.far_end(found.direction), options.literal_limit)
            own = id_and_label(triple.relation, options.literal_limit)
            yield *own, value, label, qualifiers_text(triple.qualifiers, _CELL_LIMIT)

    return Table(
        "rows",
        ("property", "propertyLabel", "value", "valueLabel", "qualifiers"),
        cells(),
        page.total,
        page.stop,
        offset,
        empty=_nothing(found),
        intro=_merged(found.entity),
        notes=(page.note,) if page.note else (),
        optional=frozenset({"qualifiers"}),
    )


def _nothing(found: Neighbourhood) -> str:
    """Where else an entity occurs that has no rows in this direction."""
    who, direction, there = name_and_id(found.entity), found.direction, found.opposite
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
    parts = name_and_id(triple.head), name_and_id(triple.relation), node_text(triple.tail, _CELL_LIMIT)
    return f"{', '.join(map(name_and_id, dict.fromkeys(relations)))} of [{', '.join(parts)}]"


def _hub(
    found: Neighbourhood, page: Page[RelationFacts], options: RenderOptions, offset: int, *, ranked: bool
) -> Table:
    entity, direction = found.entity, found.direction

    def cells() -> Iterator[Sequence[str]]:
        for facts in page.items:
            yield *id_and_label(facts.relation, options.literal_limit), count_text(facts.count), _examples(facts)

    rows = Count.sum(facts.count for facts in page.items if len(facts.hops) == 1)
    intro = [*_merged(entity)]
    intro.append(
        f"{name_and_id(entity)} is a hub: {count_text(rows)} {direction} rows, so its relations are listed instead."
    )
    intro += _order(page, ranked=ranked)
    if page.items:
        most = max(page.items, key=lambda facts: facts.count.value)
        chosen = page.items[0] if page.items[0].matches else most
        arguments = {"entity": entity, "direction": direction, "properties_to_filter_for": [chosen.relation]}
        intro.append(next_call("search", arguments))
    return Table(
        "relations",
        ("property", "propertyLabel", "rows", "examples"),
        cells(),
        page.total,
        page.stop,
        offset,
        intro=tuple(filter(None, intro)) if not offset else (),
        notes=(page.note,) if page.note else (),
    )


def _merged(entity: Entity) -> tuple[str, ...]:
    """What to know of an entity that has another id now, or shares its name with others."""
    merged = () if entity.asked_as is None else (f"{printable_id(entity.asked_as)} is now {name_and_id(entity)}.",)
    others = [name_and_id(one) for one in entity.namesakes]
    if not others:
        return merged
    more = f" and {len(others) - _NAMESAKES} more" if len(others) > _NAMESAKES else ""
    return (*merged, f"Named alike but for letter case: {', '.join(others[:_NAMESAKES])}{more}.")


def _order(page: Page[RelationFacts], *, ranked: bool) -> tuple[str, ...]:
    """How a question ordered the relations; nothing where none was asked."""
    if not ranked or not page.items:
        return ()
    matching = sum(facts.matches for facts in page.items)
    if not matching:
        return ("No relation matches the question: those with the most rows come first.",)
    if matching == len(page.items):
        return ("Best match for the question first.",)
    return (f"Best match for the question first (matching: {matching:,}); the others follow, most rows first.",)


def _examples(facts: RelationFacts) -> str:
    return "; ".join([node_text(node, _CELL_LIMIT) for node in facts.examples])


def relations_table(
    entity: Entity, page: Page[RelationFacts], options: RenderOptions, offset: int, *, ranked: bool
) -> Table:
    """GraphWalker's list of relations, each with its direction. `ranked`: a question ranked them."""
    first = [facts.relation for facts in page.items[:1]]
    step = next_call("get_triples", {"entity": entity, "relations": first}) if first else ""
    return Table(
        "relations",
        ("relation", "relationLabel", "direction", "rows"),
        (
            (*id_and_label(facts.relation, options.literal_limit), facts.direction, count_text(facts.count))
            for facts in page.items
        ),
        page.total,
        page.stop,
        offset,
        empty=f"{name_and_id(entity)} has no relations in either direction.",
        intro=(*_merged(entity), *(_order(page, ranked=ranked) if not offset else ())),
        notes=tuple(filter(None, (page.note, step))),
    )


def triples_table(entity: Entity, page: Page[Link], options: RenderOptions, offset: int) -> Table:
    """GraphWalker's triples `[head, relation, tail]`, with ids and names."""

    def cells() -> Iterator[Sequence[str]]:
        for triple in (link.triple for link in page.items):
            yield (
                *value_and_label(triple.head, options.literal_limit),
                printable_id(triple.relation.id),
                *value_and_label(triple.tail, options.literal_limit),
                qualifiers_text(triple.qualifiers, _CELL_LIMIT),
            )

    return Table(
        "triples",
        ("head", "headLabel", "relation", "tail", "tailLabel", "qualifiers"),
        cells(),
        page.total,
        page.stop,
        offset,
        empty=f"{name_and_id(entity)} has no triples with these relations.",
        intro=_merged(entity),
        notes=(page.note,) if page.note else (),
        optional=frozenset({"qualifiers"}),
    )
