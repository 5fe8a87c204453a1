"""A schema is shown within its budget, whatever its size, and says what it leaves out."""

from __future__ import annotations

from typing import cast

import pytest

from kgnav_mcp.model import Count, EdgeFacts, LabelFacts, Listing, PropertyFacts, QualifierFacts, Relation, Schema
from kgnav_mcp.render.overview import SCHEMA_ROWS, schema_overview
from kgnav_mcp.render.table import RenderOptions
from kgnav_mcp.render.text import count_tokens

OPTIONS = RenderOptions()


def schema(labels: int, relations: int, properties: int, name: str = "a_rather_long_name_of_something") -> Schema:
    ends = tuple(f"{name}_{n}" for n in range(9))
    qualifiers = tuple(QualifierFacts(end, ("xsd:integer", "xsd:string")) for end in ends)
    return Schema(
        Count(10**7),
        Count(10**8),
        tuple(LabelFacts(f"{name}_{n}", f"Name {n}", Count(n), ends, list(Listing)[n % 3]) for n in range(labels)),
        tuple(EdgeFacts(Relation(f"{name}.{n}", name), Count(n), ends, ends, qualifiers) for n in range(relations)),
        tuple(PropertyFacts(Relation(f"{name}:{n}", name), Count(n), ("string",)) for n in range(properties)),
    )


@pytest.mark.parametrize("sizes", [(0, 0, 0), (1, 1, 1), (3, 5000, 2), (5000, 5000, 5000), (0, 0, 9000), (900, 0, 0)])
def test_an_overview_fits_2000_tokens_on_any_graph(sizes: tuple[int, int, int]) -> None:
    assert count_tokens(schema_overview("g", schema(*sizes), None, OPTIONS).text) <= 2000


def test_names_of_any_length_fit_too() -> None:
    long = schema_overview("g", schema(50, 50, 50, name="x" * 300), None, OPTIONS).text
    assert count_tokens(long) <= 2000


def test_relations_take_the_room_that_labels_and_properties_leave() -> None:
    few = schema_overview("g", schema(2, 500, 2), None, OPTIONS).text
    many = schema_overview("g", schema(200, 500, 200), None, OPTIONS).text
    assert few.count("\na_rather_long_name_of_something.") > many.count("\na_rather_long_name_of_something.")


def test_what_is_cut_is_said_and_what_is_whole_is_not() -> None:
    text = schema_overview("g", schema(2, 5000, 1), None, OPTIONS).text
    assert "2 labels\n" in text
    assert "1 property\n" in text
    shown = text.count("\na_rather_long_name_of_something.")
    assert "at least 5,000 relations, the largest first\n" in text
    assert f"\nat least {5000 - shown:,} more relations: describe_graph(name=...)\n" in text


def test_a_list_that_was_read_in_part_has_no_exact_total() -> None:
    for labels, total in ((SCHEMA_ROWS - 1, "999"), (SCHEMA_ROWS, "at least 1,000")):
        text = schema_overview("g", schema(labels, 1, 1), None, OPTIONS).text
        assert f"\n{total} labels, the largest first\n" in text


def test_each_label_lists_its_properties_or_says_that_it_does_not() -> None:
    labels = (
        LabelFacts("Film", "Film", Count(7), ("name", "year"), Listing.SAMPLED),
        LabelFacts("Actor", "Actor", Count(5), ("name",), Listing.COMPLETE),
        LabelFacts("Place", "Place", Count(3)),
    )
    text = schema_overview("g", Schema(Count(1), Count(1), labels, (), ()), None, OPTIONS).text
    head = "label|nodes|properties|propertiesListed\n--|--|--|--\n"
    assert f"{head}Film|7|name, year|sampled\nActor|5|name|complete\nPlace|3||not listed\n" in text
    complete = schema_overview("g", Schema(Count(1), Count(1), labels[1:2], (), ()), None, OPTIONS).text
    assert "label|nodes|properties\n--|--|--\nActor|5|name\n" in complete


def test_each_relation_lists_its_qualifiers_or_says_that_it_does_not() -> None:
    edges = (
        EdgeFacts(Relation("knows", "knows"), Count(9), qualifiers=(QualifierFacts("since"),), listing=Listing.SAMPLED),
        EdgeFacts(Relation("owns", "owns"), Count(8), listing=Listing.ABSENT),
    )
    text = schema_overview("g", Schema(Count(1), Count(1), (), edges, ()), None, OPTIONS).text
    head = "relation|triples|qualifiers|qualifiersListed\n--|--|--|--\n"
    assert f"{head}knows|9|since|sampled\nowns|8||not listed\n" in text


def test_every_property_is_listed_where_there_is_room_and_counted_where_there_is_not() -> None:
    names = tuple(f"property{n}" for n in range(20))
    for labels, shown in ((2, 20), (8, 12), (25, 4)):
        facts = tuple(LabelFacts(f"L{n}", f"L{n}", Count(9), names, Listing.COMPLETE) for n in range(labels))
        text = schema_overview("g", Schema(Count(1), Count(1), facts, (), ()), None, OPTIONS).text
        more = f", and {20 - shown} more" if shown < 20 else ""
        assert f"\nL0|9|{', '.join(names[:shown])}{more}\n" in text


@pytest.mark.parametrize("name", ["KNOWS", "knows"])
def test_a_relation_that_is_asked_about_shows_all_its_qualifiers(name: str) -> None:
    qualifiers = tuple(QualifierFacts(f"q{n}", ("integer",)) for n in range(45))
    edges = tuple(EdgeFacts(Relation(kind, kind), Count(3), qualifiers=qualifiers) for kind in ("knows", "owns"))
    around = Schema(Count(2), Count(9), (), edges, ())
    knows, owns = schema_overview("g", around, name, OPTIONS).text.splitlines()[-5:-3]
    assert knows == f"knows|3|{', '.join(f'q{n} (integer)' for n in range(45))}"
    assert owns == "owns|3|q0 (integer), q1 (integer), q2 (integer), q3 (integer), and 41 more"


def test_qualifiers_beyond_the_budget_or_fifty_are_counted() -> None:
    qualifiers = tuple(QualifierFacts(f"a_long_qualifier_{n}") for n in range(70))
    around = Schema(Count(2), Count(9), (), (EdgeFacts(Relation("P1", "knows"), Count(3), qualifiers=qualifiers),), ())
    for structured in (False, True):
        numbers: list[int] = []
        for budget in (8000, 300):
            answer = schema_overview("g", around, "wdt:P1", RenderOptions(budget=budget, structured=structured))
            (row,) = cast("list[dict[str, object]]", answer.facts["rows"])
            numbers.append(len(cast("list[object]", row["qualifiers"])))
            assert row["qualifiersMore"] == 70 - numbers[-1]
            assert f", and {70 - numbers[-1]} more" in answer.text
        assert numbers[0] == 50 > numbers[1] >= 4


def test_empty_columns_and_sections_are_left_out() -> None:
    bare = Schema(Count(2), Count(1), (), (EdgeFacts(Relation("knows", "knows"), Count(1)),), ())
    text = schema_overview("g", bare, None, OPTIONS).text
    assert "no labels" in text
    assert "1 relation\nrelation|triples\n--|--\nknows|1\nno properties" in text


def test_the_structured_facts_are_the_rows_that_are_shown() -> None:
    answer = schema_overview("g", schema(2, 5000, 1), None, OPTIONS)
    rows = cast("list[dict[str, object]]", answer.facts["rows"])
    shown = [line for line in answer.text.splitlines() if line.startswith("a_rather_long")]
    assert len(rows) == len(shown)
    label = {"kind": "label", "label": "a_rather_long_name_of_something_0", "name": "Name 0", "nodes": 0}
    properties = [f"a_rather_long_name_of_something_{n}" for n in range(9)]
    assert rows[0] == {**label, "properties": properties, "propertiesListed": "complete"}


def test_generated_prefixes_of_an_overview_are_explained_within_its_2000_tokens() -> None:
    edges = tuple(
        EdgeFacts(Relation(f"ns1:relation_{n}", f"relation {n}"), Count(n), ("ns1:Film",), ("ns1:Person",))
        for n in range(500)
    )
    options = RenderOptions(generated_prefixes={"ns1": "http://films.example.org/vocabulary/"})
    said = schema_overview("films", Schema(Count(9), Count(9), (), edges, ()), None, options)
    assert said.text.count("Prefixes: ns1: is http://films.example.org/vocabulary/\nNext:") == 1
    assert count_tokens(said.text) <= 2000
    assert "Prefixes: ns1: is http://films.example.org/vocabulary/" in cast("list[str]", said.facts["notes"])


def test_relations_and_properties_have_their_names_where_their_ids_do_not_say_them() -> None:
    edges = (
        EdgeFacts(Relation("p:P161", "cast member"), Count(2)),
        EdgeFacts(Relation("born_in", "Born in"), Count(1)),
    )
    properties = (PropertyFacts(Relation("p:P569", "date of birth"), Count(3)),)
    text = schema_overview("g", Schema(Count(1), Count(6), (), edges, properties), None, OPTIONS).text
    assert "relation|name|triples\n--|--|--\np:P161|cast member|2\nborn_in||1\n" in text
    assert "property|name|values\n--|--|--\np:P569|date of birth|3\n" in text
    plain = schema_overview("g", Schema(Count(1), Count(6), (), edges[1:], ()), None, OPTIONS).text
    assert "relation|triples\n--|--\nborn_in|1\n" in plain
