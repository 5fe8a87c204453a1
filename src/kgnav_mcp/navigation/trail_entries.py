"""The entities and triples in an answer, as a trail records them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from kgnav_mcp.model import (
    Candidate,
    Direction,
    Entity,
    Link,
    Literal,
    NodeProperties,
    Path,
    PlanRow,
    Relation,
    RelationFacts,
    Triple,
)


def entities_and_triples(
    shown: Iterable[object], about: Sequence[Entity] = ()
) -> tuple[tuple[Entity, ...], tuple[Triple, ...]]:
    """The distinct entities and triples in an answer, in their order. `about` are the entities of the call.

    The examples of a relation are recorded as triples if the call is about a single entity and the relation has one
    hop, otherwise as entities.
    """
    parts = dict.fromkeys(part for item in shown for part in _parts(item, about))
    entities = tuple(part for part in parts if isinstance(part, Entity))
    return entities, tuple(part for part in parts if isinstance(part, Triple))


def _parts(item: object, about: Sequence[Entity]) -> Iterator[Entity | Triple]:
    match item:
        case Entity() | Triple():
            yield item
        case Link():
            yield item.triple
        case Candidate():
            yield item.entity
        case NodeProperties():
            yield item.entity
            yield from item.properties
        case RelationFacts():
            yield from _examples(item, about)
        case Path():
            yield from item.nodes
            yield from item.edges
        case PlanRow():
            yield from _each((*item.cells, *item.proof), about)
        case tuple():
            yield from _each(cast("tuple[object, ...]", item), about)
        case _:
            pass  # numbers, texts and counts are not nodes or edges


def _each(items: Iterable[object], about: Sequence[Entity]) -> Iterator[Entity | Triple]:
    for item in items:
        yield from _parts(item, about)


def _examples(facts: RelationFacts, about: Sequence[Entity]) -> Iterator[Entity | Triple]:
    relation = Relation(facts.relation.id, facts.relation.label)
    for example in facts.examples:
        if len(about) != 1 or len(facts.hops) != 1:
            if isinstance(example, Entity):
                yield example
        elif facts.direction is Direction.OUTGOING:
            yield Triple(about[0], relation, example)
        elif not isinstance(example, Literal):
            yield Triple(example, relation, about[0])
