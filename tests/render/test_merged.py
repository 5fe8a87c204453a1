"""What was merged, and what is not shown, is said in every view of an entity."""

from __future__ import annotations

from kgnav_mcp.model import (
    AtEntities,
    Candidate,
    Count,
    Direction,
    Entity,
    Link,
    Neighbourhood,
    Page,
    Relation,
    RelationFacts,
    Triple,
)
from kgnav_mcp.render.nodes import candidates_table
from kgnav_mcp.render.table import RenderOptions, fit_to_budget
from kgnav_mcp.render.triples import neighbourhood_table, relations_table, triples_table

ANN = Entity("wd:Q1", "Ann", asked_as="wd:Q9")
BORN = Relation("wdt:P19", "place of birth")
ROW = Triple(ANN, BORN, Entity("wd:Q2", "Rome"))
FACTS = RelationFacts(BORN, Direction.OUTGOING, Count(1), (BORN,))
MERGED, NOTE = "wd:Q9 is now Ann (wd:Q1).", "2 identifiers are not shown."


def test_every_view_says_what_was_merged_and_what_is_left_out() -> None:
    rows, facts = Page((ROW,), ("1",), Count(1), note=NOTE), Page((FACTS,), ("1",), Count(1), note=NOTE)
    linked = Page((Link(Direction.OUTGOING, ROW),), ("1",), Count(1), note=NOTE)
    for table in (
        neighbourhood_table(Neighbourhood((ANN,), Direction.OUTGOING, rows=rows), 0),
        neighbourhood_table(Neighbourhood((ANN,), Direction.OUTGOING, relations=facts), 0),
        relations_table(AtEntities((ANN,), facts), 0, ranked=False),
        triples_table(AtEntities((ANN,), linked), 0),
    ):
        lines = fit_to_budget(table, RenderOptions()).text.split("\n")
        assert lines[1] == MERGED
        assert NOTE in lines


def test_nothing_is_said_of_an_entity_that_was_not_merged() -> None:
    page = Page((ROW,), ("1",), Count(1))
    table = neighbourhood_table(Neighbourhood((Entity("wd:Q1", "Ann"),), Direction.OUTGOING, rows=page), 0)
    assert "is now" not in fit_to_budget(table, RenderOptions()).text


def test_others_whose_name_differs_by_letter_case_alone_are_mentioned_in_one_line() -> None:
    others = tuple(Entity(f"ex:{number}", "drama") for number in range(7))
    entity, page = Entity("ex:play", "Drama", namesakes=others[:2]), Page((ROW,), ("1",), Count(1))
    text = fit_to_budget(
        neighbourhood_table(Neighbourhood((entity,), Direction.OUTGOING, rows=page), 0),
        RenderOptions(),
    ).text
    assert text.split("\n")[1] == "May also mean: drama (ex:0), drama (ex:1)."
    entity = Entity("ex:play", "Drama", namesakes=others)
    text = fit_to_budget(
        neighbourhood_table(Neighbourhood((entity,), Direction.OUTGOING, rows=page), 0),
        RenderOptions(),
    ).text
    assert text.split("\n")[1].endswith("drama (ex:4) and 2 more.")


def test_candidates_say_what_was_looked_for_where_the_store_says_so() -> None:
    note = "Searched for names with all of these words in exactly this spelling."
    some = Page((Candidate(Entity("ex:1", "Ann"), "Ann", 1.0, Count(3)),), ("1",), Count(1), note=note)
    for page in (some, Page((), (), Count(0), note=note)):
        assert note in fit_to_budget(candidates_table(page, hint="Anne"), RenderOptions()).text


def test_candidates_say_how_many_wikis_know_them_where_that_is_counted() -> None:
    known = Candidate(Entity("wd:Q1", "Ann"), "Ann", 1.0, Count(3), 122)
    unknown = Candidate(Entity("wd:Q2", "Ann"), "Ann", 1.0, Count(3))
    table = fit_to_budget(candidates_table(Page((known, unknown), ("1", "2"), Count(2)), hint="Ann"), RenderOptions())
    assert "entity|name|degree|sitelinks|score" in table.text
    assert "wd:Q1|Ann|3|122|1.00" in table.text
    plain = fit_to_budget(candidates_table(Page((unknown,), ("2",), Count(1)), hint="Ann"), RenderOptions())
    assert "sitelinks" not in plain.text
