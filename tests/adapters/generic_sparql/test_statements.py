"""Statements about triples in three notations are qualifiers of the triples, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import rdflib
from rdflib import URIRef

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.adapters.generic_sparql.reification import REIFIES, Notation, Reification, detect_notations
from kgnav_mcp.adapters.sparql_base.query_reader import Reader
from kgnav_mcp.adapters.sparql_base.virtuoso import VIRTUOSO
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.model import Certainty, Count, Direction, Entity, Literal
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.neighbourhood import search
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, ValueOwner
from tests.adapters.generic_sparql.conftest import Load
from tests.adapters.generic_sparql.graph import NAMED_STATEMENTS, NS, REIFIERS, STATEMENTS
from tests.adapters.generic_sparql.inprocess import catalogue_of, counts_of, entity
from tests.adapters.sparql_base.inprocess import InProcess
from tests.contract.faults.catalogue import RELATION_COUNTS
from tests.rows import triples_at

GRAPHS = [("statements", STATEMENTS), ("named-statements", NAMED_STATEMENTS), ("reifiers", REIFIERS)]
LIVES_IN = [("ex:livesIn",)]


@pytest.mark.parametrize(("name", "turtle"), GRAPHS)
@pytest.mark.parametrize("direction", Direction)
async def test_what_is_said_of_a_triple_are_its_qualifiers(loaded: Load, name: str, turtle: str, direction: Direction):
    async with open_adapter(loaded(name, turtle), AdapterOptions()) as adapter:
        anchor = "ex:cyd" if direction is Direction.OUTGOING else "ex:york"
        page = await triples_at(adapter, [anchor], direction, relation_paths=[("ex:livesIn",)], limit=50)
        (triple,) = page.items
        assert (triple.head.id, triple.tail) == ("ex:cyd", Entity("ex:york", "York"))
        assert [(one.relation.id, one.value) for one in triple.qualifiers] == [
            ("ex:since", Literal("1840", "xsd:integer")),
            ("ex:source", Entity("ex:dan", "Dan")),
        ]


@pytest.mark.parametrize(("name", "turtle"), GRAPHS)
async def test_what_statements_hang_on_is_no_neighbour_and_no_part_of_the_schema(loaded: Load, name: str, turtle: str):
    async with open_adapter(loaded(name, turtle), AdapterOptions()) as adapter:
        for node in ("ex:dan", "ex:york", "ex:cyd"):
            page = await triples_at(adapter, [node], Direction.INCOMING, limit=50)
            facts = await adapter.relations([node], Direction.INCOMING, limit=50)
            assert {triple.relation.id for triple in page.items} <= {"ex:livesIn", "ex:knows"}
            assert {one.relation.id for one in facts.items} == {triple.relation.id for triple in page.items}
        schema = await adapter.schema(limit=50)
        assert {one.relation.id for one in schema.relations} <= {"ex:livesIn", "ex:knows"}
        assert {one.relation.id for one in schema.properties} == {"rdfs:label"}
        assert schema.labels == ()
        (lives,) = (one for one in schema.relations if one.relation.id == "ex:livesIn")
        assert [one.id for one in lives.qualifiers] == ["ex:since", "ex:source"]


@pytest.mark.parametrize(("name", "turtle"), GRAPHS)
async def test_statements_are_no_nodes_and_their_facts_no_edges_of_a_pattern(loaded: Load, name: str, turtle: str):
    typed = loaded(f"{name}-typed", f"{turtle} ex:cyd a ex:Person .")
    async with open_adapter(typed, AdapterOptions()) as adapter:
        facts = await adapter.schema(limit=50)
        runner = PlanRunner(adapter)
        checked = await runner.check(parse_cypher("MATCH (a)-[r]->(b) RETURN type(r), count(*)"))
        page = await runner.run(checked.plan, limit=50)
        nodes = await adapter.nodes(None, None, None, limit=50)
    counts = {each.relation.id: each.count.value for each in facts.relations}
    assert {row.cells for row in page.items} == set(counts.items())
    assert counts["rdf:type"] == 1
    assert {node.id for node in nodes.items} >= {"ex:cyd", "ex:york", "ex:Person"}
    assert "ex:statement" not in {node.id for node in nodes.items}


@pytest.mark.parametrize(("name", "turtle"), GRAPHS)
async def test_what_is_only_the_value_of_a_qualifier_leads_to_its_triples(loaded: Load, name: str, turtle: str):
    async with open_adapter(loaded(name, turtle), AdapterOptions()) as adapter:
        triples = await adapter.triples_by_qualifier("ex:dan", limit=2)
        assert (
            triples
            == (await triples_at(adapter, ["ex:cyd"], Direction.OUTGOING, relation_paths=LIVES_IN, limit=2)).items
        )
        for node in ("ex:cyd", "ex:york", "rdf:Statement"):
            assert not await adapter.triples_by_qualifier(node, limit=2)
    alone = loaded(f"{name}-alone", turtle.replace("ex:source ex:dan", "ex:source ex:zoe"))
    async with open_adapter(alone, AdapterOptions()) as adapter:
        found = await search(adapter, "ex:zoe", Direction.INCOMING, limits=Limits())
        assert [triple.head.id for triple in found.qualified or ()] == ["ex:cyd"]


async def test_statements_of_which_nothing_is_shown_leave_it_open_what_they_qualify():
    blank = f"{REIFIERS} _:b <{NS}of> <{NS}eve> . _:r <{REIFIES}> <<( _:b <{NS}of> <{NS}eve> )>> ; <{NS}by> <{NS}fay> ."
    unstated = f"{REIFIERS} _:r <{REIFIES}> <<( <{NS}a> <{NS}of> <{NS}b> )>> ; <{NS}by> <{NS}fay> ."
    for turtle, known in ((blank, False), (unstated, True), (REIFIERS, True)):
        reification = Reification(Reader(InProcess(turtle), {}, 30), frozenset({Notation.REIFIES}), frozenset())
        assert await reification.qualified(URIRef(f"{NS}fay"), 2) == ({} if known else None)
    unsure = Reification(Reader(InProcess(""), {}, 30), frozenset(), frozenset({Notation.QUOTED}))
    assert await unsure.qualified(URIRef(f"{NS}fay"), 2) is None


@pytest.mark.parametrize(("name", "turtle"), GRAPHS)
async def test_values_of_edges_are_those_that_statements_give(loaded: Load, name: str, turtle: str):
    async with open_adapter(loaded(name, turtle), AdapterOptions()) as adapter:
        for owner in ("ex:livesIn", "lives in", None):
            page = await adapter.values("since", owner, ValueOwner.RELATIONSHIP, limit=5)
            assert [literal.value.text for literal in page.items] == ["1840"]


SYNTAXES: list[tuple[str, list[str], set[Notation]]] = [
    (STATEMENTS, [], {Notation.STATEMENT}),
    (STATEMENTS, ["<<"], {Notation.STATEMENT}),
    (REIFIERS, [], {Notation.REIFIES}),
    (REIFIERS, ["<<("], {Notation.QUOTED}),
    (REIFIERS, ["<<"], set()),
    (f"<{NS}a> <{NS}b> <{NS}c> .", [], set()),
]


@pytest.mark.parametrize(("turtle", "refused", "notations"), SYNTAXES)
async def test_the_notations_of_a_graph_are_found_and_a_syntax_that_is_refused_is_not_used(
    turtle: str, refused: list[str], notations: set[Notation]
):
    found = await detect_notations(Reader(InProcess(turtle, refused=refused), {}, 30))
    assert found.notations == notations
    assert not found.unsure


async def test_a_notation_that_is_not_found_in_time_is_said_to_be_unsure():
    found = await detect_notations(Reader(InProcess(STATEMENTS, slow=[r"<< \?x"]), {}, 30))
    assert (found.notations, found.unsure) == ({Notation.STATEMENT}, {Notation.QUOTED})


async def test_quoted_triples_say_what_reifiers_say():
    reader = Reader(InProcess(REIFIERS), {}, 30)
    triple = (URIRef(f"{NS}cyd"), URIRef(f"{NS}livesIn"), URIRef(f"{NS}york"))
    said = [
        await Reification(reader, frozenset({notation}), frozenset()).of_triples([triple], Direction.OUTGOING)
        for notation in (Notation.QUOTED, Notation.REIFIES)
    ]
    assert said[0] == said[1]
    value = URIRef(f"{NS}dan")
    for notation in (Notation.QUOTED, Notation.REIFIES):
        found = await Reification(reader, frozenset({notation}), frozenset()).qualified(value, 2)
        assert found == {triple: said[0][triple][0]}
    assert [str(relation) for relation, _ in said[0][triple][0]] == [f"{NS}since", f"{NS}source"]


async def test_virtuoso_joins_the_statements_of_known_triples_in_the_order_written():
    """With its statistics of an empty graph it began with all statements: 30 s for 5,000 edges."""
    client = InProcess(STATEMENTS, answers=[("rdf-syntax-ns#subject", ())], dialect=VIRTUOSO)
    reader = Reader(client, {}, 30)
    triple = (URIRef(f"{NS}cyd"), URIRef(f"{NS}livesIn"), URIRef(f"{NS}york"))
    await Reification(reader, frozenset({Notation.STATEMENT}), frozenset()).of_triples([triple], Direction.OUTGOING)
    (query,) = client.queries
    assert query.startswith('DEFINE sql:select-option "order" SELECT')
    assert query.index("VALUES") < query.index("rdf-syntax-ns#subject")


async def test_virtuoso_joins_statements_of_long_values_in_its_own_order():
    """In the order written it refuses a value of 12,000 characters: SR342."""
    client = InProcess(STATEMENTS, answers=[("rdf-syntax-ns#subject", ())], dialect=VIRTUOSO)
    reader = Reader(client, {}, 30)
    triple = (URIRef(f"{NS}cyd"), URIRef(f"{NS}note"), rdflib.Literal("é" * 2_500))
    await Reification(reader, frozenset({Notation.STATEMENT}), frozenset()).of_triples([triple], Direction.OUTGOING)
    (query,) = client.queries
    assert query.startswith("SELECT")


@pytest.mark.parametrize(("fault", "why"), [("cut", "takes too long"), ("capped", "row cap is too low")])
async def test_statements_that_were_not_all_counted_make_no_exact_catalogue(fault: str, why: str):
    client = InProcess(STATEMENTS)
    assert (await catalogue_of(client)).sampled is None
    asked = [query for query in client.queries if "GROUP BY" in query and not re.search(RELATION_COUNTS, query)]
    facts = [query for query in asked if "Statement" in query or "subject" in query]
    assert facts
    for query in facts:
        client = InProcess(STATEMENTS)
        setattr(client, fault, {re.escape(query): 0})
        catalogue = await catalogue_of(client)
        if "HAVING" in query:  # only the rows of parallel statements are missing
            counts = [use.edges for use in catalogue.relations.values() if use.has_edges]
            assert {count.certainty for count in (*counts, catalogue.triples)} == {Certainty.AT_LEAST}
            continue
        assert all(use.edges in (Count.unknown(), Count.at_least(0)) for use in catalogue.relations.values())
        assert catalogue.triples == Count.at_least(0)
        assert why in (catalogue.sampled or "")


async def test_rows_of_parallel_statements_that_were_not_all_counted_leave_lower_bounds():
    client = InProcess(STATEMENTS)
    store, _, counts = await counts_of(client)
    cyd = entity(store, "ex:cyd")
    assert (await counts.one_hop([cyd], Direction.OUTGOING, None)).total.certainty is Certainty.EXACT
    client.cut = {re.escape(client.queries[-1]): 0}
    _, _, counts = await counts_of(client)
    assert (await counts.one_hop([cyd], Direction.OUTGOING, None)).total.certainty is Certainty.AT_LEAST


async def test_a_notation_that_was_not_found_in_time_is_not_known_to_be_missing():
    found = await detect_notations(Reader(InProcess(STATEMENTS, cut={"LIMIT 1": 0}), {}, 30.0))
    assert (found.notations, found.unsure) == (frozenset(), frozenset(Notation))


CLAIM = f"""\
PREFIX ex: <{NS}> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
ex:cyd rdfs:label "Cyd"@en . ex:york rdfs:label "York"@en . ex:dan rdfs:label "Dan"@en .
NODE rdf:type rdf:Statement ; rdfs:label "the claim" ; rdf:subject ex:cyd ; rdf:predicate ex:livesIn ;
    rdf:object ex:york ; ex:source ex:dan .
"""


@pytest.mark.parametrize("node", ["ex:claim", "[]"], ids=["named", "blank"])
async def test_statements_are_nodes_if_the_graph_has_none_of_their_triples(loaded: Load, tmp_path: Path, node: str):
    turtle = CLAIM.replace("NODE", node)
    (tmp_path / "claim.ttl").write_text(turtle)
    load([tmp_path / "claim.ttl"], tmp_path / "claim.kg", LoadOptions(mediators="none"))
    answers: list[tuple[set[object], ...]] = []
    for location in (loaded(f"claim-{len(node)}", turtle), str(tmp_path / "claim.kg")):
        async with open_adapter(location, AdapterOptions()) as adapter:
            schema = await adapter.schema(limit=50)
            around = await adapter.relations([f"{NS}cyd"], Direction.INCOMING, limit=50)
            runner = PlanRunner(adapter)
            checked = await runner.check(parse_cypher("MATCH (a)-[r]->(b) RETURN type(r), count(*)"))
            page = await runner.run(checked.plan, limit=50)
            answers.append(
                (
                    {one.relation.id for one in schema.relations},
                    {one.label for one in schema.labels},
                    {one.relation.id for one in around.items},
                    {row.cells for row in page.items},
                )
            )
            assert not schema.remarks
    assert answers[0] == answers[1]
    assert ("rdf:subject", 1) in answers[0][-1]


@pytest.mark.parametrize(("name", "turtle"), GRAPHS[:2])
async def test_statements_about_triples_that_are_missing_beside_others_are_counted(
    loaded: Load, name: str, turtle: str
):
    claims = CLAIM.replace("NODE", "ex:claim").replace("ex:york ;", "ex:leeds ;")
    async with open_adapter(loaded(f"{name}-claims", f"{turtle} {claims}"), AdapterOptions()) as adapter:
        (remark,) = (await adapter.schema(limit=50)).remarks
        assert "does not have: 1," in remark
        page = await adapter.find("the claim", limit=5)
        assert [one.entity.id for one in page.items] == ["ex:claim"]
    async with open_adapter(loaded(name, turtle), AdapterOptions()) as adapter:
        assert not (await adapter.schema(limit=50)).remarks
