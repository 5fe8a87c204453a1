"""SoG's table, byte for byte."""

from __future__ import annotations

from kgnav_mcp.model import Count, Direction, Entity, Literal, Neighbourhood, Page, Relation, RelationFacts, Triple
from kgnav_mcp.render.paper import table

VAN_GOGH = Entity("wd:Q5582", "Vincent van Gogh")
BORN = Relation("wdt:P19", "place of birth")
DATE = Relation("wdt:P569", "date of birth")


def test_rows_are_printed_as_in_the_paper() -> None:
    triples = (
        Triple(VAN_GOGH, BORN, Entity("wd:Q9883", "Zundert")),
        Triple(VAN_GOGH, DATE, Literal("1853-03-30", "xsd:date")),
    )
    rows = Page(triples, ("1", "2"), Count(2))
    assert table(Neighbourhood((VAN_GOGH,), Direction.OUTGOING, rows=rows)) == (
        "2 rows:\n"
        "property|propertyLabel|value|valueLabel\n"
        "--|--|--|--\n"
        "wdt:P19|place of birth|wd:Q9883|Zundert\n"
        "wdt:P569|date of birth|1853-03-30|"
    )


def test_incoming_rows_show_the_head() -> None:
    rows = Page((Triple(VAN_GOGH, BORN, Entity("wd:Q9883", "Zundert")),), ("1",), Count(1))
    found = Neighbourhood((Entity("wd:Q9883", "Zundert"),), Direction.INCOMING, rows=rows)
    assert table(found).splitlines()[-1] == "wdt:P19|place of birth|wd:Q5582|Vincent van Gogh"


def test_a_hub_is_printed_as_its_distinct_properties() -> None:
    facts = tuple(RelationFacts(relation, Direction.OUTGOING, Count(60), (relation,)) for relation in (BORN, DATE))
    relations = Page(facts, ("1", "2"), Count(2))
    assert table(Neighbourhood((VAN_GOGH,), Direction.OUTGOING, relations=relations)) == (
        "2 rows:\nproperty|propertyLabel\n--|--\nwdt:P19|place of birth\nwdt:P569|date of birth"
    )


def test_nothing_is_printed_as_no_rows() -> None:
    rows: Page[Triple] = Page((), (), Count(0))
    assert table(Neighbourhood((VAN_GOGH,), Direction.OUTGOING, rows=rows)) == (
        "0 rows:\nproperty|propertyLabel|value|valueLabel\n--|--|--|--"
    )
