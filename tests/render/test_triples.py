"""Tables of relations and rows say how they are ordered, and where an entity without rows does occur."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kgnav_mcp.model import (
    AtEntities,
    Count,
    Direction,
    Entity,
    Literal,
    Neighbourhood,
    Page,
    Qualifier,
    Relation,
    RelationFacts,
    Stop,
    Triple,
)
from kgnav_mcp.render.table import RenderOptions, Table, fit_to_budget
from kgnav_mcp.render.triples import neighbourhood_table, relations_table

ANN, BOB, CYD = Entity("ann", "Ann"), Entity("bob", "Bob"), Entity("cyd", "Cyd")
WITNESS, SOURCE = Relation("wit", "witness"), Relation("src", "source")
WEDDING = Triple(BOB, Relation("wed", "married to"), CYD, (Qualifier(WITNESS, ANN), Qualifier(SOURCE, CYD)))
BIRTH = Triple(BOB, Relation("born", "born"), Literal("1815"), (Qualifier(WITNESS, ANN), Qualifier(SOURCE, ANN)))
KNOWS, LIKES = (
    RelationFacts(relation, Direction.OUTGOING, Count(rows), (relation,))
    for relation, rows in ((Relation("knows", "knows"), 90), (Relation("likes", "likes"), 7))
)


def page(*facts: RelationFacts) -> Page[RelationFacts]:
    return Page(facts, tuple(str(n) for n in range(len(facts))), Count(len(facts)))


def text(table: Table) -> str:
    return fit_to_budget(table, RenderOptions()).text


MATCHING = replace(LIKES, matches=True)
ORDERS = [
    (page(KNOWS, LIKES), True, "No relation matches the question; sorted by number of rows."),
    (
        page(MATCHING, KNOWS),
        True,
        "Best match for the question first (matching: 1); the others by number of rows.",
    ),
    (page(MATCHING), True, "Best match for the question first."),
    (page(KNOWS, LIKES), False, "relation|relationLabel|direction|rows"),
]


@pytest.mark.parametrize(("facts", "is_ranked", "line"), ORDERS)
def test_a_ranked_list_says_what_its_order_means(facts: Page[RelationFacts], is_ranked: bool, line: str) -> None:
    assert text(relations_table(AtEntities((ANN,), facts), 0, ranked=is_ranked)).splitlines()[1] == line
    assert "question" not in text(relations_table(AtEntities((ANN,), facts), 2, ranked=True)), (
        "said on the first page only"
    )


def test_a_ranked_hub_says_what_its_order_means_and_goes_on_with_the_best_match() -> None:
    def hub(*facts: RelationFacts, is_ranked: bool) -> list[str]:
        found = Neighbourhood((ANN,), Direction.OUTGOING, relations=page(*facts))
        return text(neighbourhood_table(found, 0, ranked=is_ranked)).splitlines()

    assert ORDERS[0][2] in hub(KNOWS, LIKES, is_ranked=True)
    ranked = hub(MATCHING, KNOWS, is_ranked=True)
    assert ORDERS[1][2] in ranked
    assert any('properties_to_filter_for=["likes"]' in line for line in ranked)
    assert any('properties_to_filter_for=["knows"]' in line for line in hub(KNOWS, LIKES, is_ranked=False))


@pytest.mark.parametrize(
    ("opposite", "qualified", "sentence"),
    [
        (
            Count(12),
            None,
            '0 rows: Ann (ann) has no outgoing rows, but 12 incoming. Next: search(entity="ann", direction="incoming")',
        ),
        (
            Count.at_least(51),
            (),
            "0 rows: Ann (ann) has no outgoing rows, but 51+ incoming. "
            'Next: search(entity="ann", direction="incoming")',
        ),
        (
            Count(0),
            (),
            "0 rows: Ann (ann) has no rows in either direction: no triple has it as head or tail, "
            "and no qualifier has it as its value.",
        ),
        (
            Count(0),
            (WEDDING, BIRTH),
            "0 rows: Ann (ann) is only the value of a qualifier: witness (wit) of [Bob (bob), married to (wed), Cyd "
            '(cyd)]; witness (wit), source (src) of [Bob (bob), born, 1815]. Next: search(entity="bob", '
            'direction="outgoing", properties_to_filter_for=["wed"])',
        ),
        (
            Count(0),
            None,
            "0 rows: Ann (ann) has no rows in either direction: no triple has it as head or tail; "
            "it may be the value of a qualifier.",
        ),
    ],
)
def test_an_entity_without_rows_is_said_to_be_where_it_is(
    opposite: Count, qualified: tuple[Triple, ...] | None, sentence: str
) -> None:
    rows = Page((), (), Count(0))
    found = Neighbourhood((ANN,), Direction.OUTGOING, rows=rows, opposite=opposite, qualified=qualified)
    answer = fit_to_budget(neighbourhood_table(found, 0), RenderOptions())
    assert answer.text == sentence
    assert answer.facts["notes"] == [sentence.removeprefix("0 rows: ")]


def test_an_empty_list_that_was_not_read_to_its_end_is_not_called_empty() -> None:
    late: Page[Triple] = Page((), (), Count.at_least(0), Stop.TIME_OUT)
    table = neighbourhood_table(Neighbourhood((ANN,), Direction.OUTGOING, rows=late, opposite=Count(12)), 0)
    assert "no outgoing rows" not in text(table)
    whole: Page[Triple] = Page((), (), Count(0))
    table = neighbourhood_table(Neighbourhood((ANN,), Direction.OUTGOING, rows=whole, opposite=Count.at_least(0)), 0)
    assert text(table).startswith("0 rows: Ann (ann) has no outgoing rows.")
