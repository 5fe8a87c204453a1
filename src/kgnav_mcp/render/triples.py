"""Triples and relations as tables: SoG's columns for `search`, GraphWalker's for its two tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kgnav_mcp.clipping import clipped, comma_list, echoed
from kgnav_mcp.model import (
    AbsentRelation,
    AtEntities,
    Count,
    Direction,
    EntitiesWithout,
    Entity,
    Link,
    Neighbourhood,
    Page,
    RelationFacts,
    Stop,
    T,
    Triple,
)
from kgnav_mcp.render.columns import COUNT, DIRECTION, ENTITY, QUALIFIERS, RELATION, VALUE, VALUES, Column, Row
from kgnav_mcp.render.table import Table
from kgnav_mcp.render.text import (
    NAME_LIMIT,
    name_and_id,
    next_call,
    next_call_for,
    node_text,
    printable_id,
)

_CELL_LIMIT = 60
"""Maximum characters of a literal in a list of examples."""

_NAMESAKES_SHOWN = 5
"""Maximum other entities of the same name that are mentioned."""

_ENTITY_NOTES = 5
"""Maximum notes on renamed or ambiguous entities."""

_LACKING = 300
"""Maximum characters of the list of entities without a relation."""

_ABSENT_NOTES = 5
"""Maximum relations of a call that are named because no entity has them."""

_NEAREST = 150
"""Maximum characters of the names that are nearest to such a relation."""

_ENTITY = Column("entity", ENTITY, "entityLabel", optional=True)
_ENTITY_COUNT = Column("entities", COUNT, optional=True)
_QUALIFIERS = Column("qualifiers", QUALIFIERS, optional=True, limit=_CELL_LIMIT)

ROW_COLUMNS = (
    _ENTITY,
    Column("property", RELATION, "propertyLabel"),
    Column("value", VALUE, "valueLabel"),
    _QUALIFIERS,
)
HUB_COLUMNS = (
    Column("property", RELATION, "propertyLabel"),
    Column("rows", COUNT),
    _ENTITY_COUNT,
    Column("examples", VALUES, limit=_CELL_LIMIT),
)
RELATION_COLUMNS = (
    Column("relation", RELATION, "relationLabel"),
    DIRECTION,
    Column("rows", COUNT),
    _ENTITY_COUNT,
)
TRIPLE_COLUMNS = (
    replace(_ENTITY, name_heading=""),
    Column("head", ENTITY, "headLabel"),
    Column("relation", RELATION),
    Column("tail", VALUE, "tailLabel"),
    _QUALIFIERS,
)


def neighbourhood_table(
    neighbourhood: Neighbourhood, offset: int, *, ranked: bool = False, condition: str = ""
) -> Table:
    """SoG's answer: the rows of a neighbourhood, or the relations of a hub.

    `ranked`: the relations are ranked by a question. `condition`: the condition on values, in words.
    """
    if neighbourhood.rows is not None:
        return _rows_table(neighbourhood, neighbourhood.rows, offset, condition)
    assert neighbourhood.relations is not None, "a neighbourhood has rows or relations"  # noqa: S101 - the model's invariant
    return _hub_table(neighbourhood, neighbourhood.relations, offset, ranked=ranked)


def _rows_table(neighbourhood: Neighbourhood, page: Page[Triple], offset: int, condition: str) -> Table:
    entities, direction = neighbourhood.entities, neighbourhood.direction

    def cells() -> Iterator[Row]:
        for triple in page.items:
            near = triple.far_end(direction.opposite) if len(entities) > 1 else None
            yield near, triple.relation, triple.far_end(direction), triple.qualifiers

    return Table(
        "rows",
        ROW_COLUMNS,
        cells(),
        page.total,
        page.stop,
        offset,
        empty=f"{_subject_and_verb(entities)} no {direction} rows {condition or 'of these relations'}."
        if condition
        else _explain_empty(neighbourhood),
        intro=(*entity_notes(entities), *absent_notes(neighbourhood.absent, direction)),
        notes=_notes(page, neighbourhood.entities_without, offset),
        items=page.items,
        about=entities,
    )


def _notes(page: Page[T], entities_without: Sequence[EntitiesWithout], offset: int) -> tuple[str, ...]:
    """Notes after a list: the store's note on it, and the entities without rows in it."""
    without = [
        f"Without {clipped(item.relation, NAME_LIMIT) or 'any'}: {comma_list(names, _LACKING)}."
        for item in entities_without
        if (names := [*map(name_and_id, item.entities)])
    ]
    return tuple(filter(None, (page.note, *(without if not offset else ()))))


def absent_notes(
    absent: Sequence[AbsentRelation], direction: Direction | None = None, *, noun: str = "relation"
) -> Iterator[str]:
    """Notes on the relations of a call that none of its entities has. `noun` is "relation" or "property"."""
    side = f"{direction} " if direction else ""
    for relation in absent[:_ABSENT_NOTES]:
        among = " among those that the store could list" if relation.is_partial else ""
        lack = f"No {side}{noun} {echoed(clipped(relation.name, NAME_LIMIT))}{among}"
        if direction is not None and relation.opposite:
            other = direction.opposite
            yield f"{lack}, but an {other} one: search with direction={other}."
        else:
            nearest = comma_list(relation.nearest, _NEAREST)
            yield lack + (f"; nearest: {nearest}." if nearest else ".")
    if len(absent) > _ABSENT_NOTES:
        yield f"{len(absent) - _ABSENT_NOTES:,} more are absent."


def _explain_empty(neighbourhood: Neighbourhood) -> str:
    """The explanation of an empty answer: where else these entities occur."""
    direction, opposite_count = neighbourhood.direction, neighbourhood.opposite
    subject = _subject_and_verb(neighbourhood.entities)
    if opposite_count is None or opposite_count == Count.at_least(0):
        return f"{subject} no {direction} rows."
    if opposite_count.value:
        step = next_call_for("search", neighbourhood.entities, {"direction": direction.opposite})
        return f"{subject} no {direction} rows, but {opposite_count} {direction.opposite}. {step}"
    if len(neighbourhood.entities) != 1:
        return f"{subject} no rows in either direction."
    nowhere = f"{subject} no rows in either direction: no triple has it as head or tail"
    if neighbourhood.qualified is None:
        return f"{nowhere}; it may be the value of a qualifier."
    if not neighbourhood.qualified:
        return f"{nowhere}, and no qualifier has it as its value."
    (entity,), first = neighbourhood.entities, neighbourhood.qualified[0]
    texts = [_qualified(triple, entity) for triple in neighbourhood.qualified]
    arguments = {"entity": first.head, "direction": Direction.OUTGOING, "properties_to_filter_for": [first.relation]}
    step = next_call("search", arguments)
    return f"{name_and_id(entity)} is only the value of a qualifier: {'; '.join(texts)}. {step}".rstrip()


def _subject_and_verb(entities: Sequence[Entity]) -> str:
    """The subject of a sentence with its verb: `Ada (ex:ada) has` or `the 3 entities have`."""
    return f"{name_and_id(entities[0])} has" if len(entities) == 1 else f"the {len(entities):,} entities have"


def _qualified(triple: Triple, value: Entity) -> str:
    """The qualifier of a triple that has this value: `witness (ex:witness) of [Ada (ex:ada), ...]`."""
    relations = [
        qualifier.relation
        for qualifier in triple.qualifiers
        if isinstance(qualifier.value, Entity) and qualifier.value.id == value.id
    ]
    parts = name_and_id(triple.head), name_and_id(triple.relation), node_text(triple.tail, _CELL_LIMIT)
    return f"{', '.join(map(name_and_id, dict.fromkeys(relations)))} of [{', '.join(parts)}]"


def _hub_table(neighbourhood: Neighbourhood, page: Page[RelationFacts], offset: int, *, ranked: bool) -> Table:
    entities, direction = neighbourhood.entities, neighbourhood.direction

    def cells() -> Iterator[Row]:
        for facts in page.items:
            yield facts.relation, facts.count, _entity_count(facts, entities), facts.examples

    number = Count.sum(facts.count for facts in page.items if len(facts.hops) == 1)
    rows = f"{number if page.stop is Stop.COMPLETE else Count.at_least(number.value)} {direction} rows"
    intro = [*entity_notes(entities)]
    if len(entities) == 1:
        intro.append(
            f"{name_and_id(entities[0])} has too many neighbours to list ({rows}): one row per relation instead."
        )
    else:
        intro.append(
            f"The {len(entities):,} entities have too many neighbours to list ({rows}): one row per relation instead."
        )
    intro += _order_note(page, ranked=ranked)
    if page.items:
        most = max(page.items, key=lambda facts: facts.count.value)
        chosen = page.items[0] if page.items[0].matches else most
        arguments = {"direction": direction, "properties_to_filter_for": [chosen.relation]}
        intro.append(next_call_for("search", entities, arguments))
    return Table(
        "relations",
        HUB_COLUMNS,
        cells(),
        page.total,
        page.stop,
        offset,
        intro=tuple(filter(None, intro)) if not offset else (),
        notes=_notes(page, neighbourhood.entities_without, offset),
        items=page.items,
        about=neighbourhood.entities,
    )


def _entity_count(facts: RelationFacts, entities: Sequence[Entity]) -> Count | None:
    """The number of the entities that have a relation; None for a single entity."""
    return replace(facts.count, value=len(facts.per_entity)) if len(entities) > 1 else None


def entity_notes(entities: Sequence[Entity]) -> tuple[str, ...]:
    """Notes on entities whose id was replaced, that were found by a value, or whose name or id others share."""
    notes: list[str] = []
    for entity in entities:
        if entity.asked_as is not None:
            notes.append(f"{printable_id(entity.asked_as)} is now {name_and_id(entity)}.")
        if entity.found_by is not None:
            relation, value = entity.found_by
            notes.append(f"Found by its property {relation} = {echoed(value)}: {name_and_id(entity)}.")
        if entity.namesakes:
            others = [name_and_id(namesake) for namesake in entity.namesakes]
            more = f" and {len(others) - _NAMESAKES_SHOWN} more" if len(others) > _NAMESAKES_SHOWN else ""
            notes.append(f"May also mean: {', '.join(others[:_NAMESAKES_SHOWN])}{more}.")
    return tuple(notes[:_ENTITY_NOTES])


def _order_note(page: Page[RelationFacts], *, ranked: bool) -> tuple[str, ...]:
    """How a question ordered the relations; empty without a question."""
    if not ranked or not page.items:
        return ()
    matching = sum(facts.matches for facts in page.items)
    if not matching:
        return ("No relation matches the question; sorted by number of rows.",)
    if matching == len(page.items):
        return ("Best match for the question first.",)
    return (f"Best match for the question first (matching: {matching:,}); the others by number of rows.",)


def relations_table(relations: AtEntities[RelationFacts], offset: int, *, ranked: bool) -> Table:
    """GraphWalker's list of relations, each with its direction. `ranked`: they are ranked by a question."""
    entities, page = relations.entities, relations.page
    first = [facts.relation for facts in page.items[:1]]
    step = next_call_for("get_triples", entities, {"relations": first}) if first else ""
    return Table(
        "relations",
        RELATION_COLUMNS,
        ((facts.relation, facts.direction, facts.count, _entity_count(facts, entities)) for facts in page.items),
        page.total,
        page.stop,
        offset,
        empty=f"{_subject_and_verb(entities)} no relations in either direction.",
        intro=(*entity_notes(entities), *(_order_note(page, ranked=ranked) if not offset else ())),
        notes=tuple(filter(None, (*_notes(page, relations.entities_without, offset), step))),
        items=page.items,
        about=entities,
    )


def triples_table(links: AtEntities[Link], offset: int) -> Table:
    """GraphWalker's triples `[head, relation, tail]`, with ids and names."""
    several, page = len(links.entities) > 1, links.page

    def cells() -> Iterator[Row]:
        for link in page.items:
            triple = link.triple
            yield link.anchor if several else None, triple.head, triple.relation, triple.tail, triple.qualifiers

    return Table(
        "triples",
        TRIPLE_COLUMNS,
        cells(),
        page.total,
        page.stop,
        offset,
        empty=f"{_subject_and_verb(links.entities)} no triples with these relations.",
        intro=(*entity_notes(links.entities), *absent_notes(links.absent)),
        notes=_notes(page, links.entities_without, offset),
        items=page.items,
        about=links.entities,
    )
