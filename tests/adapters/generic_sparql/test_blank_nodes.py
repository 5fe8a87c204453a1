"""Blank nodes: known by the way that leads to them, in any process, by every tool."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path

import pytest
from rdflib import BNode, URIRef
from rdflib import Literal as RdfLiteral

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.generic_sparql.blanks import Blank, BlankGraph
from kgnav_mcp.adapters.sparql_base import lists as floor
from kgnav_mcp.errors import InvalidArgument, Unsupported
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Count, Direction, Entity, Literal, Page, Stop, Triple
from kgnav_mcp.navigation.flattening import read_flattened
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.generic_sparql.conftest import Load
from tests.adapters.generic_sparql.graph import BLANKS
from tests.adapters.generic_sparql.inprocess import HERE, lists_of, relations_of
from tests.adapters.sparql_base.inprocess import InProcess, opened_over
from tests.rows import triples_at
from tests.services import Oxigraph

_OTHER_PROCESS = """
import asyncio, json, sys
from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.model import Direction
from kgnav_mcp.port import AdapterOptions

async def main():
    async with open_adapter(sys.argv[1], AdapterOptions()) as adapter:
        found = await adapter.describe([sys.argv[2]])
        page = await adapter.neighbours([sys.argv[2]], Direction.OUTGOING, limit=20)
        print(json.dumps([[entity.id for entity in found.values()], [link.triple.relation.id for link in page.items]]))

asyncio.run(main())
"""


def _graph(loaded: Load) -> GraphAdapter:
    return open_adapter(loaded("blanks", BLANKS), AdapterOptions())


def _far(page: Page[Triple], relation: str, direction: Direction = Direction.OUTGOING) -> list[Entity]:
    ends = [triple.far_end(direction) for triple in page.items if triple.relation.id == relation]
    return [end for end in ends if isinstance(end, Entity)]


async def _geo(adapter: GraphAdapter) -> Entity:
    """The blank node behind a blank node."""
    addresses = _far(await triples_at(adapter, ["ex:ada"], Direction.OUTGOING, limit=50), "ex:address")
    page = await triples_at(adapter, [one.id for one in addresses], Direction.OUTGOING, limit=50)
    (geo,) = _far(page, "ex:geo")
    return geo


async def test_an_id_is_the_way_from_a_node_with_an_iri(loaded: Load):
    async with _graph(loaded) as adapter:
        addresses = _far(await triples_at(adapter, ["ex:ada"], Direction.OUTGOING, limit=50), "ex:address")
        assert len({one.id for one in addresses}) == 3
        assert all(one.id.startswith("_:ex:ada>ex:address>") for one in addresses)
        assert [one.mediator for one in addresses if one.label == "The Attic"] == [False]
        assert [one.mediator for one in addresses if one.label is None] == [True, True]


async def test_every_verb_takes_the_id_of_a_blank_node_and_of_one_behind_it(loaded: Load):
    async with _graph(loaded) as adapter:
        geo = await _geo(adapter)
        assert (await adapter.describe([geo.id]))[geo.id].id == geo.id
        page = await triples_at(adapter, [geo.id], Direction.OUTGOING, limit=50)
        assert [(triple.relation.id, triple.tail) for triple in page.items] == [
            ("ex:lat", Literal("53.9", "xsd:decimal")),
            ("ex:long", Literal("-1.1", "xsd:decimal")),
        ]
        (parent,) = _far(
            await triples_at(adapter, [geo.id], Direction.INCOMING, limit=50), "ex:geo", Direction.INCOMING
        )
        assert geo.id.startswith(f"{parent.id}>ex:geo>")
        facts = await adapter.relations([parent.id], Direction.OUTGOING, examples=2, limit=50)
        assert [(one.relation.id, one.count.value) for one in facts.items] == [
            ("ex:city", 1),
            ("ex:geo", 1),
            ("ex:street", 1),
        ]
        assert facts.items[1].examples == (geo,)
        narrowed = await triples_at(adapter, [parent.id], Direction.OUTGOING, relation_paths=[("ex:city",)], limit=50)
        assert [tail.id for triple in narrowed.items if isinstance(tail := triple.tail, Entity)] == ["ex:york"]


async def test_one_node_has_one_id_from_wherever_it_is_reached(loaded: Load):
    async with _graph(loaded) as adapter:
        by_person = [
            _far(await triples_at(adapter, [person], Direction.OUTGOING, limit=50), "ex:wedding")
            for person in ("ex:ada", "ex:ben")
        ]
        by_spouse = _far(
            await triples_at(adapter, ["ex:ben"], Direction.INCOMING, limit=50), "ex:spouse", Direction.INCOMING
        )
        assert by_person[0] == by_person[1] == by_spouse
        assert len(by_spouse) == 1


async def test_nodes_that_nothing_tells_apart_are_numbered(loaded: Load):
    async with _graph(loaded) as adapter:
        first, second = _far(await triples_at(adapter, ["ex:ben"], Direction.OUTGOING, limit=50), "ex:twin")
        assert second.id == f"{first.id}.2"
        assert list(await adapter.describe([first.id, second.id])) == [first.id, second.id]


async def test_pages_over_blank_nodes_lose_nothing_and_show_nothing_twice(loaded: Load):
    async with _graph(loaded) as adapter:
        whole = await triples_at(adapter, ["ex:ada", "ex:ben"], Direction.OUTGOING, limit=50)
        for place, position in enumerate(whole.positions):
            rest = await triples_at(adapter, ["ex:ada", "ex:ben"], Direction.OUTGOING, limit=50, after=position)
            assert rest.items == whole.items[place + 1 :]


async def test_a_list_of_rdf_can_be_walked_to_its_end(loaded: Load):
    async with _graph(loaded) as adapter:
        (node,) = _far(await triples_at(adapter, ["ex:list"], Direction.OUTGOING, limit=5), "ex:items")
        texts: list[str] = []
        while True:
            page = await triples_at(adapter, [node.id], Direction.OUTGOING, limit=5)
            texts += [triple.tail.text for triple in page.items if isinstance(triple.tail, Literal)]
            (node,) = _far(page, "rdf:rest")
            if not node.mediator:
                break
        assert (texts, node.id) == (["one", "two"], "rdf:nil")


async def test_an_address_is_folded_into_one_triple_with_its_other_roles(loaded: Load):
    async with _graph(loaded) as adapter:
        page = await read_flattened(adapter, ["ex:ada"], Direction.OUTGOING, relation_paths=[("ex:wedding",)], limit=50)
        (link,) = page.items
        triple = link.triple
        assert (triple.relation.id, triple.tail) == ("ex:wedding.ex:spouse", Entity("ex:ben", "Ben"))
        assert [(one.relation.id, one.value) for one in triple.qualifiers] == [
            ("ex:year", Literal("1835", "xsd:integer"))
        ]


async def test_ids_that_lead_nowhere_are_absent(loaded: Load):
    async with _graph(loaded) as adapter:
        geo = await _geo(adapter)
        wrong = [
            "_:b0",
            "_:",
            "_:ex:ada>ex:address",
            "_:ex:ada>ex:address>00000000",
            geo.id.replace("ex:geo", "ex:city"),
            f"{geo.id}.7",
            f"{geo.id}>",
            "_:ex:nobody>ex:address>" + geo.id[-8:],
        ]
        assert await adapter.describe(wrong) == {}
        assert (await triples_at(adapter, wrong, Direction.OUTGOING, limit=5)).items == ()


async def test_another_process_takes_an_id_after_the_server_was_killed(own_oxigraph: Oxigraph, tmp_path: Path):
    path = tmp_path / "blanks.ttl"
    path.write_text(BLANKS, encoding="utf-8")
    own_oxigraph.start()
    own_oxigraph.load(path)
    location = f"sparql+{own_oxigraph.url}#prefix.ex=http://ex.example/"
    async with open_adapter(location, AdapterOptions()) as adapter:
        geo = await _geo(adapter)
    own_oxigraph.kill()
    own_oxigraph.start()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _OTHER_PROCESS, location, geo.id, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    assert json.loads(output) == [[geo.id], ["ex:lat", "ex:long"]]


async def test_far_ends_beside_blank_nodes_that_were_not_read_in_time_are_said_to_be_missing():
    pairs = r"SELECT \?s \?p \?o WHERE { VALUES \(\?s \?p\)"
    turtle = "PREFIX ex: <http://ex.example/> ex:ann ex:knows ex:bob, [ ex:age 3 ] ; ex:likes ex:bob ."
    client = InProcess(turtle)
    whole = await relations_of(client, "ex:ann", Direction.OUTGOING)
    assert (len(whole.items[0].examples), whole.stop) == (2, Stop.COMPLETE)
    assert any(re.search(pairs, query) for query in client.queries)
    part = await relations_of(InProcess(turtle, cut={pairs: 1}), "ex:ann", Direction.OUTGOING)
    assert (len(part.items[0].examples), part.stop) == (0, Stop.TIME_OUT)


LONELY = """\
PREFIX ex: <http://ex.example/>
ex:home a ex:Spot ; ex:lat 1 .
[] a ex:Spot ; ex:lat 2 ; ex:near [ ex:lat 3 ] .
[ ex:lat 4 ] ex:near [ ex:lat 5 ] .
"""


async def test_a_node_without_neighbours_with_an_iri_is_identified_by_its_type():
    async with opened_over(InProcess(LONELY), HERE) as graph:
        found = await graph.nodes("Spot", None, None, limit=9)
        home, spot = (node.id for node in found.items)
        assert home == "ex:home"
        assert spot.startswith("_:ex:Spot>^rdf:type>")
        assert list(await graph.describe([spot])) == [spot]


@pytest.mark.parametrize("cypher", ["MATCH (a)-[:near]->(b) RETURN a, b", "MATCH (a)-[r:near]->(b) RETURN r, b.lat"])
async def test_rows_with_nodes_that_nothing_identifies_are_refused_and_can_be_counted(cypher: str):
    async with opened_over(InProcess(LONELY), HERE) as graph:
        runner = PlanRunner(graph)
        checked = await runner.check(parse_plan(cypher).plan)
        with pytest.raises(InvalidArgument, match="blank nodes that no path"):
            await runner.run(checked.plan, limit=9)
        checked = await runner.check(parse_plan("MATCH (a)-[:near]->(b) RETURN count(*)").plan)
        assert [row.cells for row in (await runner.run(checked.plan, limit=9)).items] == [(2,)]


async def test_a_list_of_nodes_that_nothing_identifies_is_not_empty():
    async with opened_over(InProcess(LONELY), HERE) as graph:
        with pytest.raises(Unsupported, match="blank nodes without an id"):
            await graph.nodes(None, "lat", "5", limit=9)
        part = await graph.nodes(None, "lat", None, limit=9)
        assert "3 blank nodes are omitted" in part.note
        assert part.total == Count.at_least(2)


async def test_blank_nodes_in_a_long_list_neither_repeat_nor_hide_a_node(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(floor, "MAX_SORTED", 2)
    mixed = " ".join(f"ex:n{n} ex:age {n} . [] ex:age {n} ." for n in range(6))
    lists = await lists_of(InProcess(f"PREFIX ex: <http://ex.example/> {mixed}"))
    seen: list[str] = []
    after: str | None = None
    for _ in range(20):
        page = await lists.nodes(None, "age", None, 2, after)
        seen += [entity.id for entity in page.items]
        after = page.positions[-1] if page.positions else after
        if page.stop is Stop.COMPLETE:
            break
    assert sorted(seen) == [f"ex:n{n}" for n in range(6)]


async def test_a_plan_over_a_relation_to_blank_nodes_reads_the_graph_by_that_relation_only():
    addresses = " ".join(f"ex:p{n} ex:address [ ex:street {n} ] ." for n in range(300))
    client = InProcess(f"PREFIX ex: <http://ex.example/> {addresses}")
    async with opened_over(client, HERE) as graph:
        runner = PlanRunner(graph)
        checked = await runner.check(parse_plan("MATCH (p)-[:address]->(a) RETURN p, a").plan)
        client.queries.clear()
        page = await runner.run(checked.plan, limit=1_000)
        assert len({row.cells for row in page.items}) == 300
        matching = [query for query in client.queries if "<http://ex.example/address>" in query]
        others = [query for query in client.queries if query not in matching]
        assert len(matching) <= 8, "the match, the match with its blank nodes, and these in batches"
        assert all("VALUES ?s {" in query for query in others), "only names are looked up"


def test_the_ids_of_many_nodes_at_one_node_take_work_in_proportion_to_them():
    def work(size: int) -> int:
        nodes = {BNode(f"b{n:05}"): Blank(BNode(f"b{n:05}")) for n in range(size)}
        for n, blank in enumerate(nodes.values()):
            blank.outgoing[URIRef("http://ex.example/unit"), URIRef("http://ex.example/kg")] = None
            blank.outgoing[URIRef("http://ex.example/number"), RdfLiteral(str(n))] = None
        graph = BlankGraph(nodes, list(nodes), levels=1)
        lines = 0

        def count(*_: object) -> None:
            nonlocal lines
            lines += 1

        sys.setprofile(count)
        try:
            found = graph.pointing(graph.within(0))
            numbers = [graph.number_with(wanted) for wanted in found.values()]
        finally:
            sys.setprofile(None)
        assert numbers == [1] * size
        assert len({graph.path(blank) for blank in nodes.values()}) == size
        return lines

    assert work(800) < 6 * work(200)
