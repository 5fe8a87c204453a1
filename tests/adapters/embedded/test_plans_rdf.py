"""Plans that run as one query of a file loaded from RDF answer what the evaluator answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from kgnav_mcp.adapters.embedded import open_adapter
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import Entity
from kgnav_mcp.plan import NAME, Comparison, ComparisonChain, During, Expression, Plan, Property
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.embedded.compiled import same
from tests.plans.comparing import same_by_parts
from tests.plans.graph import Date
from tests.plans.short import all_of, both, cmp, edge, give, matching, no, node, null, of, plan, sum_up, x
from tests.plans.strategies import plans_by_chance
from tests.plans.strategies.words import Words

SHIPS = """
@prefix ex: <http://example.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:Ship rdfs:subClassOf ex:Vessel .
ex:beagle a ex:Ship ; rdfs:label "Beagle"@en, "Biglo"@eo ; ex:motto "Time heals"@en, "Le temps guérit"@fr, "plain" ;
    ex:launched "1820-05-11"^^xsd:date, "1820"^^xsd:gYear ; ex:length 27.5, "2.75e1"^^xsd:double, 28 ; ex:afloat true ;
    ex:built [ a ex:Yard ; rdfs:label "a yard" ; ex:founded "1513"^^xsd:gYear ] ; ex:sister ex:barracouta .
ex:barracouta a ex:Ship ; rdfs:label "Barracouta"@en ; ex:launched "1820-05-13"^^xsd:date ;
    ex:length "27"^^xsd:integer ; ex:sailed_to ex:rio , _:nowhere ; ex:sister ex:beagle .
ex:erebus a ex:Vessel ; ex:launched "unknown" ; ex:length "+31.0"^^xsd:decimal ; ex:sailed_to ex:rio .
_:nowhere ex:note "1825-01-01" .
ex:rio a ex:Port ; rdfs:label "Rio" .
<< ex:beagle ex:sailed_to ex:rio >> ex:since "1832-04-04"^^xsd:date ; ex:crew 74 ; ex:with ex:barracouta .
ex:beagle ex:sailed_to ex:rio .
<< ex:erebus ex:sailed_to ex:rio >> ex:since "1840"^^xsd:gYear ;
    ex:until "1841-01"^^xsd:gYearMonth ; ex:crew "6.7e1"^^xsd:double .
"""
"""Several values of one property, equal numbers of different types, languages, dates of each precision, blank nodes,
statements about triples, one of them with a node as its value."""
WORDS = Words(
    ["ex:Ship", "ex:Vessel", "ex:Port", "ex:Yard"],
    ["ex:sister", "ex:sailed_to", "ex:built"],
    {
        "ex:motto": ["plain", "Time heals"],
        "ex:launched": [Date("1820-05-11"), Date("1820"), "unknown"],
        "ex:length": [27.5, 28, 27, 31.0],
        "ex:afloat": [True],
        "ex:founded": [Date("1513")],
        "ex:note": ["1825-01-01"],
        "rdfs:label": ["Beagle", "Rio"],
    },
    {
        "ex:since": [Date("1832-04-04"), Date("1840")],
        "ex:until": [Date("1841-01")],
        "ex:crew": [74, 67.0],
        "ex:with": ["ex:barracouta", "Barracouta"],
    },
    hubs=False,
)


@pytest.fixture(scope="module")
def ships(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("ships")
    (folder / "ships.ttl").write_text(SHIPS, encoding="utf-8")
    load([folder / "ships.ttl"], folder / "ships.kg", LoadOptions())
    return str(folder / "ships.kg")


@pytest.fixture
async def opened(ships: str) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(ships, AdapterOptions()) as adapter:
        yield adapter


def _where(condition: object) -> Plan:
    return plan(matching(node("n"), where=condition), give({"n": ".n"}))  # pyright: ignore[reportArgumentType]


SAILED = edge("a-r->b", "ex:sailed_to")
CASES = {
    "several values": plan(matching(node("n")), give({"n": ".n", "motto": ".n.ex:motto", "length": ".n.ex:length"})),
    "one of several values": _where(cmp(".n.ex:length", "=", 28)),
    "numbers of any type": _where(both(cmp(".n.ex:length", ">", 27), no(cmp(".n.ex:length", "=", 31)))),
    "a text in any language": _where(cmp(".n.ex:motto", "IN", ("Time heals", "plain"))),
    "a date by its year": _where(cmp(".n.ex:launched", "=", "1820")),
    "dates before a month": _where(cmp(".n.ex:launched", "<", "1820-06")),
    "a date that is none": _where(cmp(".n.ex:launched", "=", "unknown")),
    "years": plan(matching(node("n", "ex:Yard")), give({"n": ".n", "year": of("year", ".n.ex:founded")})),
    "a text that is written as a date": _where(cmp(".n.ex:note", ">", "1824-12-31")),
    "blank nodes": plan(
        matching(edge("a-r->b", "ex:sailed_to", "ex:built"), where=null(".b.rdfs:label")), give({"b": ".b"})
    ),
    "qualifiers": plan(matching(SAILED), give({"a": ".a", "since": ".r.ex:since", "crew": ".r.ex:crew"})),
    "a qualifier by its value": plan(matching(SAILED, where=cmp(".r.ex:crew", "=", 67)), give({"r": ".r"})),
    "when an edge held": plan(
        matching(SAILED, where=During("r", "1840-12", None, ("ex:since",), ("ex:until",))), give({"r": ".r"})
    ),
    "functions of several values": _where(cmp(of("toLower", ".n.ex:motto"), "STARTS WITH", "time")),
    "a range of one of several values": _where(
        ComparisonChain((x(27.5), x(".n.ex:length"), x(31)), (Comparison.LESS, Comparison.AT_MOST))
    ),
}
LISTS = {
    "dates beside dates": plan(
        matching(edge("a-r->b", "ex:sister"), where=cmp(".a.ex:launched", "<=", ".b.ex:launched")),
        give({"a": ".a", "b": ".b"}),
    ),
    "lists of several values": plan(matching(node("n")), give({"all": all_of("collect", ".n.ex:motto")})),
    "an order by several values": plan(matching(node("n")), give({"n": ".n"}, ".n.ex:length")),
    "arithmetic with several values": plan(matching(node("n")), give({"n": sum_up(".n.ex:length", "*", 2)})),
    "the size of several values": plan(matching(node("n")), give({"n": of("size", ".n.ex:motto")})),
}
"""Plans whose rows need a property's list as such."""


@pytest.mark.parametrize("case", CASES)
async def test_what_rdf_has_is_answered_the_same_as_one_query(opened: GraphAdapter, case: str):
    assert await same(opened, CASES[case])


@pytest.mark.parametrize("case", LISTS)
async def test_lists_of_several_values_are_left_to_the_evaluator(opened: GraphAdapter, case: str):
    with pytest.raises(Unsupported):
        await opened.run(LISTS[case], limit=5)


@pytest.mark.slow
async def test_a_plan_by_chance_answers_the_same_as_one_query(opened: GraphAdapter):
    run = [await same(opened, query) for query in plans_by_chance(WORDS, 60)]
    assert sum(run) > len(run) / 4


@pytest.mark.slow
async def test_parts_of_a_plan_by_chance_answer_the_same_as_without_the_store(opened: GraphAdapter):
    for query in plans_by_chance(WORDS, 30):
        await same_by_parts(opened, query)


@pytest.mark.parametrize("comparison", ["=", "<>"])
@pytest.mark.parametrize(
    ("text", "number"),
    [("ex:barracouta", 1), ("Barracouta", 1), ("somewhere", 0), ("http://example.org/barracouta", 0)],
)
async def test_a_qualifier_that_is_a_node_equals_its_id_and_its_name(
    opened: GraphAdapter, comparison: str, text: str, number: int
):
    query = plan(matching(SAILED, where=cmp(".r.ex:with", comparison, text)), give({"a": ".a", "b": ".b"}))
    assert await same(opened, query)
    assert len((await opened.run(query, limit=9)).items) == (number if comparison == "=" else 1 - number)


@pytest.mark.parametrize(
    ("condition", "number"),
    [
        (cmp(".r.ex:with", "IN", ("somewhere", "ex:barracouta")), 1),
        (cmp(".r.ex:with", "IN", ("Barracouta", "ex:barracouta")), 1),
        (cmp(".r.ex:with", "IN", ("somewhere", "1832")), 0),
        (no(cmp(".r.ex:with", "IN", ("somewhere", "http://example.org/barracouta"))), 1),
        (cmp(".r.ex:with", "=", "1832"), 0),
    ],
)
async def test_a_qualifier_that_is_a_node_is_among_texts_by_its_id_or_its_name(
    opened: GraphAdapter, condition: Expression, number: int
):
    query = plan(matching(SAILED, where=condition), give({"a": ".a", "b": ".b"}))
    assert await same(opened, query)
    assert len((await opened.run(query, limit=9)).items) == number


@pytest.mark.parametrize("text", [of("elementId", ".c"), Property("c", NAME)], ids=["id", "name"])
async def test_a_qualifier_that_is_a_node_equals_the_id_and_the_name_of_that_node_only(
    opened: GraphAdapter, text: Expression
):
    query = plan(matching(SAILED, node("c"), where=cmp(".r.ex:with", "=", text)), give({"c": ".c"}))
    assert await same(opened, query)
    (row,) = (await opened.run(query, limit=9)).items
    (found,) = row.cells
    assert isinstance(found, Entity)
    assert found.id == "ex:barracouta"


async def test_other_comparisons_of_a_qualifier_that_is_a_node_are_left_to_the_evaluator(opened: GraphAdapter):
    for comparison in ("CONTAINS", "<"):
        query = plan(matching(SAILED, where=cmp(".r.ex:with", comparison, "a")), give({"a": ".a"}))
        with pytest.raises(Unsupported):
            await opened.run(query, limit=9)
