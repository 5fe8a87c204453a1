"""Relations to rank, in the shape Freebase has them."""

from __future__ import annotations

from kgnav_mcp.model import Count, Direction, Entity, Relation, RelationFacts

IDS = (
    "film.actor.film",
    "people.person.children",
    "people.person.place_of_birth",
    "people.person.profession",
    "people.person.spouse_s.people.marriage.spouse",
)

ANCHOR = Entity("m.02mjmr", "Barack Obama")


def facts(relation: str, label: str | None = None, direction: Direction = Direction.OUTGOING) -> RelationFacts:
    named = Relation(relation, label or relation.rpartition(".")[2].replace("_", " "))
    return RelationFacts(named, direction, Count(1), (named,))


RELATIONS = [facts(relation) for relation in IDS]
