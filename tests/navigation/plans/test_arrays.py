"""Declared arrays are lists: in their order, with duplicates, also with one item."""

from __future__ import annotations

from kgnav_mcp.model import Entity, Link, Literal, Qualifier, Relation, Triple
from kgnav_mcp.model.facts import Direction
from kgnav_mcp.navigation.plans.evaluate.interning import Interned
from kgnav_mcp.navigation.plans.evaluate.values import PropertyList, joined_values, property_values, value_or_list

ADA = Entity("ada")


def values_of(*literals: Literal) -> object:
    """What a plan reads of a property of one node with these values."""
    interned = Interned()
    links = [Link(Direction.OUTGOING, Triple(ADA, Relation("p", "p"), value)) for value in literals]
    return value_or_list(interned.grouped(links)[interned.node(ADA)])


def test_an_array_keeps_its_order_and_its_duplicates() -> None:
    items = [Literal(text, "integer", index=index) for index, text in enumerate(("2", "-2", "2"))]
    assert values_of(*items) == (2, -2, 2)
    assert values_of(*reversed(items)) == (2, -2, 2), "rows may come in any order"


def test_an_array_of_one_item_is_a_list() -> None:
    assert values_of(Literal("red", index=0)) == ("red",)


def test_values_of_no_array_are_distinct_and_sorted_and_one_is_no_list() -> None:
    assert values_of(Literal("2", "integer"), Literal("-2", "integer"), Literal("2", "integer")) == (-2, 2)
    assert values_of(Literal("red")) == "red"


def test_several_properties_of_which_one_is_an_array_are_an_array() -> None:
    array, others = property_values([("b", 0), ("a", 1)]), property_values([("c", None)])
    assert value_or_list(joined_values([array, others])) == ("b", "a", "c")
    assert isinstance(joined_values([array]), PropertyList)


def test_edges_that_differ_in_the_order_of_an_array_are_two() -> None:
    def edge(*texts: str) -> Triple:
        qualifiers = tuple(
            Qualifier(Relation("roles", "roles"), Literal(text, index=index)) for index, text in enumerate(texts)
        )
        return Triple(ADA, Relation("in", "in"), Entity("film"), qualifiers)

    interned = Interned()
    (_, first, _), (_, second, _) = interned.numbered([edge("x", "a"), edge("a", "x")])
    assert first.id == "ada in film {roles: x, roles: a}"
    assert second.id == "ada in film {roles: a, roles: x}"
