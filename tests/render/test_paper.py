"""The papers' formats, byte for byte."""

from __future__ import annotations

import pytest

from kgnav_mcp.errors import AnswerTooLarge
from kgnav_mcp.model import (
    Count,
    Direction,
    Entity,
    Link,
    Literal,
    Neighbourhood,
    NodeProperties,
    Page,
    Qualifier,
    Relation,
    RelationFacts,
    Triple,
)
from kgnav_mcp.render import paper
from kgnav_mcp.render.paper import MAX_BYTES, ObjectList, neighbourhood

VAN_GOGH = Entity("wd:Q5582", "Vincent van Gogh")
ZUNDERT = Entity("wd:Q9883", "Zundert")
BORN = Relation("wdt:P19", "place of birth")
DATE = Relation("wdt:P569", "date of birth")
HEADINGS = "property|propertyLabel|value|valueLabel\n--|--|--|--"


def outgoing(*triples: Triple) -> Neighbourhood:
    """The neighbourhood of van Gogh with these triples."""
    rows = Page(triples, tuple(map(str, range(len(triples)))), Count(len(triples)))
    return Neighbourhood((VAN_GOGH,), Direction.OUTGOING, rows=rows)


def test_rows_are_printed_as_in_the_paper() -> None:
    date = Triple(VAN_GOGH, DATE, Literal("1853-03-30", "xsd:date"))
    assert neighbourhood(outgoing(Triple(VAN_GOGH, BORN, ZUNDERT), date)).text == (
        f"2 rows:\n{HEADINGS}\nwdt:P19|place of birth|wd:Q9883|Zundert\nwdt:P569|date of birth|1853-03-30|"
    )


def test_what_the_graph_does_not_name_has_empty_cells_and_literals_have_no_language() -> None:
    unstated = Relation("kg.prominent_type", "prominent type", label_from_id=True)
    ends = Entity("m.1"), Entity("m.2", "m 2", label_from_id=True), Literal("Ann", language="en")
    text = neighbourhood(outgoing(*(Triple(VAN_GOGH, unstated, end) for end in ends))).text
    assert text.splitlines()[3:] == ["kg.prominent_type||m.1|", "kg.prominent_type||m.2|", "kg.prominent_type||Ann|"]


def test_a_long_literal_is_not_clipped_and_a_bar_is_escaped() -> None:
    text = "a|" * 5_000
    printed = neighbourhood(outgoing(Triple(VAN_GOGH, DATE, Literal(text)))).text
    assert printed.endswith(f"|{text.replace('|', chr(92) + '|')}|")


def test_incoming_rows_show_the_head() -> None:
    rows = Page((Triple(VAN_GOGH, BORN, ZUNDERT),), ("1",), Count(1))
    found = Neighbourhood((ZUNDERT,), Direction.INCOMING, rows=rows)
    assert neighbourhood(found).text.splitlines()[-1] == "wdt:P19|place of birth|wd:Q5582|Vincent van Gogh"


def test_rows_of_several_entities_begin_with_their_entity() -> None:
    rows = Page((Triple(VAN_GOGH, BORN, ZUNDERT),), ("1",), Count(1))
    found = Neighbourhood((VAN_GOGH, ZUNDERT), Direction.OUTGOING, rows=rows)
    assert neighbourhood(found).text.splitlines()[1:] == [
        "entity|property|propertyLabel|value|valueLabel",
        "--|--|--|--|--",
        "wd:Q5582|wdt:P19|place of birth|wd:Q9883|Zundert",
    ]


def test_a_hub_is_printed_as_its_distinct_properties() -> None:
    facts = tuple(RelationFacts(relation, Direction.OUTGOING, Count(60), (relation,)) for relation in (BORN, DATE))
    relations = Page(facts, ("1", "2"), Count(2))
    assert neighbourhood(Neighbourhood((VAN_GOGH,), Direction.OUTGOING, relations=relations)).text == (
        "2 rows:\nproperty|propertyLabel\n--|--\nwdt:P19|place of birth\nwdt:P569|date of birth"
    )


def test_nothing_is_printed_as_no_rows() -> None:
    assert neighbourhood(outgoing()).text == f"0 rows:\n{HEADINGS}"


def test_triples_have_names_and_ids_where_there_are_none() -> None:
    found = [Triple(VAN_GOGH, BORN, ZUNDERT), Triple(VAN_GOGH, DATE, Literal("Ann", language="en"))]
    found.append(Triple(Entity("m.1"), BORN, Entity("m.2", "m 2", label_from_id=True)))
    assert paper.triples(found, ()).text == (
        "[Vincent van Gogh, wdt:P19, Zundert],\n[Vincent van Gogh, wdt:P569, Ann],\n[m.1, wdt:P19, m.2]"
    )


def test_a_relation_of_both_directions_is_listed_once() -> None:
    facts = [RelationFacts(BORN, direction, Count(1), (BORN,)) for direction in Direction]
    facts.append(RelationFacts(DATE, Direction.INCOMING, Count(1), (DATE,)))
    assert paper.relation_ids(facts, ()).text == "wdt:P19, wdt:P569"


def _property(name: str, text: str, datatype: str | None = None, **more: object) -> Triple:
    return Triple(VAN_GOGH, Relation(name, name), Literal(text, datatype, **more))  # pyright: ignore[reportArgumentType]


def test_the_properties_of_a_node_have_their_types_and_several_values_are_a_list() -> None:
    properties = (
        _property("age", "30", "integer"),
        _property("height", "1.5", "float"),
        _property("alive", "true", "boolean"),
        _property("name", "Ann", language="en"),
        _property("name", "Ann", language="de"),
        _property("called", "A"),
        _property("called", "B"),
        _property("tags", "a", index=0),
        _property("pair", "a", index=0),
        _property("pair", "a", index=1),
    )
    assert paper.node_object(NodeProperties(VAN_GOGH, properties)) == {
        "age": 30,
        "height": 1.5,
        "alive": True,
        "name": "Ann",
        "called": ["A", "B"],
        "tags": ["a"],
        "pair": ["a", "a"],
    }


def test_a_neighbour_comes_with_the_relationship_and_its_properties() -> None:
    since = Qualifier(Relation("since", "since"), Literal("2001", "integer"))
    link = Link(Direction.INCOMING, Triple(VAN_GOGH, BORN, ZUNDERT, (since,)))
    node = NodeProperties(Entity("wd:Q5582", "Vincent", ("Person",)), (_property("age", "30", "integer"),))
    assert paper.neighbour_object(link, node) == {
        "neighbor": {"age": 30},
        "labels": ["Person"],
        "relationship": {"type": "wdt:P19", "direction": "incoming", "properties": {"since": 2001}},
    }


def test_a_list_of_objects_ends_in_an_error_at_a_megabyte() -> None:
    objects = ObjectList("Ask for less.")
    objects.add({"values": "é" * (MAX_BYTES // 2 - 100)}, ())
    assert len(objects.answer().text.encode()) > MAX_BYTES - 300
    with pytest.raises(AnswerTooLarge) as caught:
        objects.add({"values": "x" * 300}, ())
    assert caught.value.next_step == "Ask for less."
