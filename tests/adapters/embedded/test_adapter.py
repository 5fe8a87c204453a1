"""What the graph file does beyond the contract: its order of rows, forms of ids, names read from ids, and costs."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.adapters.embedded.queries.around import FarEndCondition, narrowed
from kgnav_mcp.errors import InvalidCursor, UnknownName
from kgnav_mcp.model import Direction, Entity
from kgnav_mcp.port import AdapterOptions, GraphAdapter, ValueOwner
from tests.contract import toy
from tests.rows import triples_at

TURTLE = """
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
wd:Q42 rdfs:label "Douglas Adams"@en , "Дуглас Адамс"@ru ; a wd:Q5 ; wdt:P800 <http://x.example/Last_Chance> .
wd:Q42 wdt:P19 wd:Q350 ; wdt:P569 "1952-03-11" ; wdt:P26 [ wdt:P2 wd:Q7 ] .
wd:Q5 rdfs:label "human"@en . wd:Q6 rdfs:label "human"@en . wd:Q9 a wd:Q6 . wd:Q350 rdfs:label "Cambridge"@en .
wdt:P19 rdfs:label "place of birth"@en .
<http://x.example/Last_Chance> a <http://x.example/class/AudioBook> .
"""


@pytest.fixture
async def wiki(tmp_path: Path) -> AsyncGenerator[GraphAdapter]:
    """A few RDF triples with prefixes, a blank node and classes of one name."""
    (tmp_path / "wiki.ttl").write_text(TURTLE, encoding="utf-8")
    load([tmp_path / "wiki.ttl"], tmp_path / "wiki.kg")
    async with open_adapter(str(tmp_path / "wiki.kg"), AdapterOptions()) as adapter:
        yield adapter


@pytest.fixture
async def adapter(toy_file: Path) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(str(toy_file), AdapterOptions()) as opened:
        yield opened


@pytest.mark.parametrize(
    "form", ["wd:Q42", "http://www.wikidata.org/entity/Q42", "<http://www.wikidata.org/entity/Q42>"]
)
async def test_an_id_is_taken_in_any_form_and_printed_short(wiki: GraphAdapter, form: str):
    found = await wiki.describe([form])
    assert found[form].id == "wd:Q42"
    assert (await wiki.find(form, limit=1)).items[0].entity.id == "wd:Q42"


@pytest.mark.usefixtures("wiki")
@pytest.mark.parametrize(
    ("prefixes", "printed"),
    [
        ({"x": "http://x.example/"}, "x:Last_Chance"),
        ({"last": "http://x.example/Last_"}, "last:Chance"),
        ({"wd": "http://x.example/"}, "wd:Last_Chance"),
    ],
)
async def test_configured_prefixes_shorten_ids_and_are_taken(tmp_path: Path, prefixes: dict[str, str], printed: str):
    options = AdapterOptions(extra={"prefixes": prefixes})
    async with open_adapter(str(tmp_path / "wiki.kg"), options) as adapter:
        for form in (printed, "http://x.example/Last_Chance"):
            assert (await adapter.describe([form]))[form].id == printed
        (page,) = (await adapter.find("Cambridge", limit=1)).items
        assert page.entity.id == ("wd:Q350" if "wd" not in prefixes else "http://www.wikidata.org/entity/Q350")


@pytest.mark.parametrize("form", ["wdt:P19", "http://www.wikidata.org/prop/direct/P19"])
async def test_a_relation_is_taken_in_any_form_and_printed_with_its_name(wiki: GraphAdapter, form: str):
    (triple,) = (await triples_at(wiki, ["wd:Q42"], Direction.OUTGOING, relation_paths=[(form,)], limit=5)).items
    assert (triple.relation.id, triple.relation.label) == ("wdt:P19", "place of birth")
    assert isinstance(triple.tail, Entity)
    assert (triple.tail.id, triple.tail.label) == ("wd:Q350", "Cambridge")


async def test_an_iri_without_a_label_is_read_and_a_blank_node_is_a_mediator_without_a_name(wiki: GraphAdapter):
    page = await triples_at(wiki, ["wd:Q42"], Direction.OUTGOING, limit=50)
    ends = {triple.relation.id: triple.tail for triple in page.items}
    assert ends["wdt:P800"] == Entity("http://x.example/Last_Chance", "Last Chance")
    blank = ends["wdt:P26"]
    assert isinstance(blank, Entity)
    assert (blank.label, blank.mediator) == (None, True)
    assert (await wiki.describe([blank.id]))[blank.id] == blank


async def test_a_type_is_printed_by_its_name_unless_that_means_two_things(wiki: GraphAdapter):
    found = await wiki.describe(["wd:Q42", "wd:Q9", "http://x.example/Last_Chance"])
    assert [entity.types for entity in found.values()] == [
        ("wd:Q5",),
        ("wd:Q6",),
        ("http://x.example/class/AudioBook",),
    ]
    for label, node in (("wd:Q6", "wd:Q9"), ("audio book", "http://x.example/Last_Chance")):
        assert [entity.id for entity in (await wiki.nodes(label, None, None, limit=5)).items] == [node]


async def test_a_property_that_leads_to_nodes_takes_their_ids_and_their_names(wiki: GraphAdapter):
    for value in ("wd:Q350", "Cambridge"):
        page = await wiki.nodes(None, "place of birth", value, limit=5)
        assert ([entity.id for entity in page.items], page.total.value) == (["wd:Q42"], 1)
    assert (await wiki.nodes(None, "wdt:P19", None, limit=5)).items[0].id == "wd:Q42"
    assert (await wiki.nodes(None, "wdt:P569", None, limit=5)).items[0].id == "wd:Q42"


async def test_a_name_with_letter_case_aside_must_mean_one_property(tmp_path: Path):
    (tmp_path / "n.csv").write_text(":ID,Size,SIZE,weight:int\na,1,2,3\n", encoding="utf-8")
    load([tmp_path / "n.csv"], tmp_path / "n.kg")
    async with open_adapter(str(tmp_path / "n.kg"), AdapterOptions()) as adapter:
        assert (await adapter.nodes(None, "Weight", "3", limit=1)).items
        assert (await adapter.nodes(None, "SIZE", "2", limit=1)).items
        with pytest.raises(UnknownName) as caught:
            await adapter.nodes(None, "size", "2", limit=1)
        assert {"Size", "SIZE"} <= set(caught.value.nearest)


async def test_literals_come_before_nodes_and_either_by_relation(adapter: GraphAdapter):
    page = await triples_at(adapter, ["ada"], Direction.OUTGOING, limit=100)
    order = [(isinstance(triple.tail, Entity), triple.relation.id) for triple in page.items]
    assert order == sorted(order)


async def test_a_deep_page_of_a_hub_seeks_and_does_not_count(adapter: GraphAdapter):
    whole = await triples_at(adapter, [toy.HUB], Direction.INCOMING, limit=1000)
    for place in (0, len(whole.items) // 2, len(whole.items) - 2):
        rest = await triples_at(adapter, [toy.HUB], Direction.INCOMING, limit=1, after=whole.positions[place])
        assert rest.items == (whole.items[place + 1],)


async def test_a_position_of_another_node_or_relation_is_refused(adapter: GraphAdapter):
    page = await triples_at(adapter, ["boat01"], Direction.OUTGOING, limit=1)
    for position in (page.positions[0].replace("0.", "9.", 1), "0.t.99999.1.0", "0.h.1.2.3", "0.tt.1.2.3.4.5.6"):
        with pytest.raises(InvalidCursor):
            await triples_at(adapter, ["boat01"], Direction.OUTGOING, limit=1, after=position)
    with pytest.raises(InvalidCursor):
        await adapter.values("tag", None, ValueOwner.NODE, limit=1, after="99999.0")
    with pytest.raises(InvalidCursor):
        await adapter.values("since", "knows", ValueOwner.RELATIONSHIP, limit=1, after="x")


async def test_a_label_that_all_values_belong_to_and_one_that_shares_them_list_the_same(adapter: GraphAdapter):
    everywhere = await adapter.values("length", None, ValueOwner.NODE, limit=100)
    assert (await adapter.values("length", "Boat", ValueOwner.NODE, limit=100)) == everywhere
    ages = await adapter.values("age", "Sailor", ValueOwner.NODE, limit=100)
    assert ([value.value.text for value in ages.items], ages.total.value) == (["41"], 1)


async def test_health_advises_where_names_or_labels_are_missing(tmp_path: Path, adapter: GraphAdapter):
    assert (await adapter.health()).advice == ()
    (tmp_path / "n.csv").write_text(":ID,size\na,1\n", encoding="utf-8")
    load([tmp_path / "n.csv"], tmp_path / "bare.kg", LoadOptions(mediators="none"))
    async with open_adapter(str(tmp_path / "bare.kg"), AdapterOptions()) as bare:
        advice = (await bare.health()).advice
    assert [("name" in line, "label" in line) for line in advice] == [(True, True), (False, True)]


LARGE = "edge|e1|e2|e|b|attribute|a|node|v|m|name|n|node_label|l"
SCANS = {"HAS_NAMES", "HAS_MEDIATORS", "NUMBER_OF_TEXTS", "QUALIFIED", "SETS_OF_LABELS", "UNREAD"}
"""Queries that stop at the first row of a table or of a partial index, or after so many of them, as their cost says.

NUMBER_OF_TEXTS counts the nodes that are then all read, for an index of meanings. SETS_OF_LABELS reads the labels of
all nodes once for an open file, for plans that group by them.
"""


def test_no_query_scans_a_large_table_unless_it_says_so(toy_file: Path):
    with closing(sqlite3.connect(toy_file)) as connection:
        for module in (queries.around, queries.entities, queries.lists, queries.entities):
            for name, query in texts(module):
                plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", values_for(query))]
                scans = [step for step in plan if re.match(rf"SCAN ({LARGE})\b(?! VIRTUAL)", step)]
                assert not scans or name in SCANS, (name, plan)


@pytest.mark.parametrize("name", ["TAILS_BY", "HEADS_BY", "ATTRIBUTES_BY"])
def test_pages_of_a_hub_are_read_in_order_without_sorting(toy_file: Path, name: str):
    query = getattr(queries.around, name)
    with closing(sqlite3.connect(toy_file)) as connection:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", values_for(query))]
    assert not any("TEMP B-TREE" in step for step in plan), plan


@pytest.mark.parametrize("name", ["TAILS_BY", "HEADS_BY"])
def test_rows_of_a_hub_at_nodes_that_were_found_are_sought_and_come_in_order(toy_file: Path, name: str):
    query = narrowed(getattr(queries.around, name), (FarEndCondition.AMONG_FOUND,))
    with closing(sqlite3.connect(toy_file)) as connection:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", values_for(query))]
    assert re.fullmatch(r"SEARCH e USING .* \((s=\? AND p=\? AND o|o=\? AND p=\? AND s)=\?\)", plan[0])
    assert not any("TEMP B-TREE" in step for step in plan), plan


def test_nodes_with_a_value_are_sought_by_the_value(toy_file: Path):
    query = queries.lists.NODES_WITH_VALUE
    with closing(sqlite3.connect(toy_file)) as connection:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", values_for(query))]
    assert "SEARCH a USING INDEX attribute_value (p=? AND <expr>=? AND node>?)" in plan


def texts(module: ModuleType) -> list[tuple[str, str]]:
    return [(name, value) for name, value in vars(module).items() if name.isupper() and isinstance(value, str)]


def values_for(query: str) -> list[int] | dict[str, int]:
    """As many parameters as a query asks for."""
    if named := re.findall(r":([a-z]+)", query):
        return dict.fromkeys(named, 1)
    numbered = [int(number) for number in re.findall(r"\?(\d+)", query)]
    return [1] * (max(numbered) if numbered else query.count("?"))
