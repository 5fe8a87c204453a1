"""Properties with several values: what a plan answers on every store is what a count over the raw values gives.

The values are written into each store as its users have them: several triples in RDF, lists beside single values in
Neo4j. The expected rows are computed from the same dictionary in plain Python.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest
from neo4j import GraphDatabase

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import PlanPage
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions
from tests.neo4j_service import Neo4j
from tests.plans.stored import ask
from tests.sampling import sampled
from tests.services import Oxigraph

Plain = str | int
Values = dict[str, list[Plain]]
DISEASES: dict[str, Values] = {
    "d1": {"syn": ["Wilms tumor", "Nephroblastoma"], "xref": ["MESH:D1", "UMLS:C1"], "v": [1, 9], "code": [3]},
    "d2": {"syn": ["wilms disease"], "xref": ["MESH:D2"], "v": [4], "code": [1]},
    "d3": {"syn": ["Flu", "Influenza"], "xref": ["UMLS:C3", "OMIM:3"], "v": [4, 20], "code": [2]},
    "d4": {"xref": ["OMIM:4"], "v": [7], "code": [5]},
    "d5": {"syn": ["Cold", "Flu"], "code": [4]},
}
"""`code` has one value everywhere, the others have a list on some nodes only."""
GRAPH = "http://example.org/several"
PREFIX = f"{GRAPH}/"


def turtle() -> str:
    lines = [f"@prefix ex: <{PREFIX}> .", "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."]
    for key, values in DISEASES.items():
        lines.append(f'ex:{key} a ex:Disease ; rdfs:label "{key}" ; ex:key "{key}" .')
        lines += (
            f"ex:{key} ex:{name} {value if isinstance(value, int) else repr(value)} ."
            for name, own in values.items()
            for value in own
        )
    return "\n".join(lines)


@pytest.fixture(scope="module")
def graph_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("several")
    (folder / "diseases.ttl").write_text(turtle(), encoding="utf-8")
    load([folder / "diseases.ttl"], folder / "diseases.kg", LoadOptions())
    return folder / "diseases.kg"


def location_of(store: str, request: pytest.FixtureRequest) -> str:
    match store:
        case "neo4j":
            service: Neo4j = request.getfixturevalue("neo4j")
            service.clear()
            with GraphDatabase.driver(service.url, notifications_min_severity="OFF") as driver:  # pyright: ignore[reportUnknownMemberType]
                for key, values in DISEASES.items():
                    own = {name: found[0] if len(found) == 1 else found for name, found in values.items()}
                    ask(driver, "CREATE (n:Disease) SET n = $own", own={"key": key, "name": key, **own})
            return service.url
        case "oxigraph":
            served: Oxigraph = request.getfixturevalue("oxigraph")
            path = request.getfixturevalue("tmp_path_factory").mktemp("several") / "diseases.ttl"
            path.write_text(turtle(), encoding="utf-8")
            served.load(path, GRAPH)
            return f"sparql+{served.url}#graph={GRAPH}&prefix.ex={PREFIX}"
        case _:
            return str(request.getfixturevalue("graph_file"))


NEO4J = pytest.param("neo4j", marks=pytest.mark.xdist_group("neo4j"))
OXIGRAPH = pytest.param("oxigraph", marks=pytest.mark.xdist_group("oxigraph"))


@pytest.fixture(scope="module", params=["graph file", "evaluated", NEO4J, OXIGRAPH])
def store(request: pytest.FixtureRequest) -> tuple[str, str]:
    """A store, and where its graph is. What is evaluated is a graph file whose plans are not compiled."""
    return request.param, location_of(request.param, request)


@pytest.fixture
async def runner(store: tuple[str, str]) -> AsyncGenerator[PlanRunner]:
    kind, location = store
    async with open_adapter(location, AdapterOptions()) as opened:
        yield PlanRunner(opened, by_store=kind != "evaluated")


async def page_of(runner: PlanRunner, cypher: str) -> tuple[PlanPage, str]:
    """The answer of a plan, and its notes: those of the check and those of the answer."""
    checked = await runner.check(parse_plan(cypher).plan)
    assert not checked.problems, checked.problems
    page = await runner.run(checked.plan, limit=100)
    return page, " ".join((*checked.notes, page.note))


async def keys_where(runner: PlanRunner, condition: str) -> list[str]:
    page, _ = await page_of(runner, f"MATCH (n:Disease) WHERE {condition} RETURN n.key ORDER BY n.key")
    return [str(row.cells[0]) for row in page.items]


def diseases(test: Callable[[list[Plain]], bool], name: str) -> list[str]:
    """The diseases with some value of a property whose values pass a test."""
    return sorted(key for key, values in DISEASES.items() if values.get(name) and test(values[name]))


def texts(values: list[Plain]) -> list[str]:
    return [str(value).lower() for value in values]


def numbers(values: list[Plain]) -> list[int]:
    return [value for value in values if isinstance(value, int)]


CONDITIONS: dict[str, tuple[str, Callable[[list[Plain]], bool]]] = {
    "n.syn = 'Flu'": ("syn", lambda own: "Flu" in own),
    "n.syn <> 'Flu'": ("syn", lambda own: "Flu" not in own),
    "NOT n.syn = 'Flu'": ("syn", lambda own: "Flu" not in own),
    "'Flu' <> n.syn": ("syn", lambda own: "Flu" not in own),
    "n.syn IN ['Flu', 'wilms disease']": ("syn", lambda own: bool({"Flu", "wilms disease"} & {*own})),
    "NOT n.syn IN ['Flu', 'wilms disease']": ("syn", lambda own: not {"Flu", "wilms disease"} & {*own}),
    "'Flu' IN n.syn": ("syn", lambda own: "Flu" in own),
    "n.syn = ['Cold', 'Flu']": ("syn", lambda own: sorted(map(str, own)) == ["Cold", "Flu"]),
    "toLower(n.syn) CONTAINS 'wilms'": ("syn", lambda own: any("wilms" in text for text in texts(own))),
    "NOT toLower(n.syn) CONTAINS 'wilms'": ("syn", lambda own: not any("wilms" in text for text in texts(own))),
    "n.syn =~ '(?i).*flu.*'": ("syn", lambda own: any(re.search("flu", text) for text in texts(own))),
    "NOT toLower(n.xref) STARTS WITH 'mesh:'": (
        "xref",
        lambda own: not any(text.startswith("mesh:") for text in texts(own)),
    ),
    "NOT n.xref STARTS WITH 'MESH:'": ("xref", lambda own: not any(text.startswith("mesh:") for text in texts(own))),
    "3 <= n.v <= 5": ("v", lambda own: any(3 <= one <= 5 for one in numbers(own))),
    "NOT 3 <= n.v <= 5": ("v", lambda own: not any(3 <= one <= 5 for one in numbers(own))),
    "3 <= n.v AND n.v <= 5": (
        "v",
        lambda own: any(one >= 3 for one in numbers(own)) and any(one <= 5 for one in numbers(own)),
    ),
    "n.v > 8": ("v", lambda own: any(one > 8 for one in numbers(own))),
    "n.v <> 4": ("v", lambda own: 4 not in own),
    "toString(n.v) STARTS WITH '2'": ("v", lambda own: any(text.startswith("2") for text in texts(own))),
    "size([] + n.syn) > 1": ("syn", lambda own: len(own) > 1),
    "size(head(n.syn)) > 4": ("syn", lambda own: len(min(map(str, own))) > 4),
    "2 <= n.code < 4": ("code", lambda own: 2 <= numbers(own)[0] < 4),
}


@pytest.mark.parametrize("condition", sampled(CONDITIONS, 2))
async def test_a_condition_is_one_of_the_values(runner: PlanRunner, condition: str):
    name, test = CONDITIONS[condition]
    expected = diseases(test, name)
    assert 0 < len(expected) < len(DISEASES), "a question that tells right from wrong"
    assert await keys_where(runner, condition) == expected


@pytest.mark.parametrize("condition", sampled(CONDITIONS, 2))
async def test_a_condition_on_a_returned_property_is_one_of_its_values(runner: PlanRunner, condition: str):
    name, test = CONDITIONS[condition]
    returned = condition.replace(f"n.{name}", "own")
    plan = f"MATCH (n:Disease) WITH n.key AS key, n.{name} AS own WHERE {returned} RETURN key ORDER BY key"
    page, _ = await page_of(runner, plan)
    assert [row.cells[0] for row in page.items] == diseases(test, name)


ORDERS: dict[str, Callable[[list[Plain]], bool]] = {
    "n.v >= 9": lambda own: any(one >= 9 for one in numbers(own)),
    "n.v <> 9": lambda own: 9 not in own,
    "8 < n.v < 10": lambda own: any(8 < one < 10 for one in numbers(own)),
}


@pytest.mark.parametrize("comparison", ORDERS)
async def test_rows_are_sorted_by_whether_a_condition_is_one_of_the_values(runner: PlanRunner, comparison: str):
    page, _ = await page_of(runner, f"MATCH (n:Disease) WHERE n.v > 0 RETURN n.v, n.key ORDER BY {comparison}, n.key")
    true = diseases(ORDERS[comparison], "v")
    false = [key for key, values in DISEASES.items() if "v" in values and key not in true]
    assert true
    assert [row.cells[1] for row in page.items] == false + true


async def test_two_properties_with_several_values_are_compared_as_lists(runner: PlanRunner):
    """A list with a list as in Cypher; a single value with a list is one of its values."""
    page, _ = await page_of(
        runner, "MATCH (n:Disease), (m:Disease) WHERE n.syn = m.syn AND n.key < m.key RETURN n.key, m.key"
    )
    assert [row.cells for row in page.items] == []
    page, _ = await page_of(
        runner, "MATCH (n:Disease), (m:Disease) WHERE n.v = m.v AND n.key < m.key RETURN n.key, m.key"
    )
    assert [row.cells for row in page.items] == [("d2", "d3")]


AGGREGATES: dict[str, Callable[[list[int]], object]] = {
    "sum(n.v)": sum,
    "count(n.v)": len,
    "min(n.v)": min,
    "max(n.v)": max,
    "avg(n.v)": lambda own: sum(own) / len(own),
    "collect(n.v)": lambda own: tuple(sorted(own)),
    "count(DISTINCT n.v)": lambda own: len({*own}),
}


@pytest.mark.parametrize("aggregate", AGGREGATES)
async def test_an_aggregate_takes_each_value_and_says_so(runner: PlanRunner, aggregate: str):
    own = [value for values in DISEASES.values() for value in numbers(values.get("v", []))]
    page, notes = await page_of(runner, f"MATCH (n:Disease) RETURN {aggregate} AS x")
    assert page.items[0].cells == (AGGREGATES[aggregate](own),)
    assert "n.v" in notes
    assert "several values" in notes


async def test_the_answer_names_a_property_with_several_values(runner: PlanRunner):
    _, notes = await page_of(runner, "MATCH (n:Disease) WHERE toLower(n.syn) CONTAINS 'wilms' RETURN n.key")
    assert "several values (n.syn)" in notes
    _, notes = await page_of(runner, "MATCH (n:Disease) WHERE n.code = 3 RETURN n.key")
    assert "several values" not in notes


async def test_size_counts_values_where_that_is_known_and_is_refused_where_it_would_mix(
    runner: PlanRunner, store: tuple[str, str]
):
    text = "MATCH (n:Disease) WHERE size(n.syn) > 1 RETURN n.key ORDER BY n.key"
    if store[0] != "oxigraph":  # the schema shows that some nodes have several
        page, notes = await page_of(runner, text)
        assert [row.cells[0] for row in page.items] == diseases(lambda own: len(own) > 1, "syn")
        assert "n.syn" in notes
        return
    [problem] = (await runner.check(parse_plan(text).plan)).problems
    assert problem.alternatives == (
        "size([] + n.syn) for its values",
        "size(head(n.syn)) for characters of the first value",
    )


async def test_size_of_a_single_value_counts_no_characters_if_other_nodes_have_several(
    runner: PlanRunner, store: tuple[str, str]
):
    key = next(key for key, own in DISEASES.items() if len(own.get("syn", [])) == 1)
    text = f"MATCH (n:Disease) WHERE n.key = '{key}' RETURN size(n.syn)"
    if store[0] == "oxigraph":
        [problem] = (await runner.check(parse_plan(text).plan)).problems
        assert "may have several values" in problem.reason
        return
    page, _ = await page_of(runner, text)
    assert [row.cells for row in page.items] == [(1,)]


async def test_size_of_a_property_with_one_value_counts_characters(runner: PlanRunner):
    page, notes = await page_of(runner, "MATCH (n:Disease) RETURN DISTINCT size(n.key)")
    assert [row.cells for row in page.items] == [(2,)]
    assert "several" not in notes


@pytest.mark.parametrize("text", ["RETURN n.key ORDER BY n.v", "WHERE n.v * 2 > 3 RETURN n.key", "RETURN n.v - 1"])
async def test_arithmetic_and_an_order_of_several_values_are_refused_with_a_rewrite(runner: PlanRunner, text: str):
    with pytest.raises(InvalidPlan) as refused:
        await page_of(runner, f"MATCH (n:Disease) {text}")
    assert refused.value.problems[0].alternatives == (
        "head(n.v), the first value",
        "UNWIND n.v AS value, a row for each",
    )


async def test_arithmetic_and_an_order_of_single_values_are_computed(runner: PlanRunner):
    page, _ = await page_of(runner, "MATCH (n:Disease) WHERE n.code * 2 > 3 RETURN n.key ORDER BY n.code DESC")
    assert [row.cells[0] for row in page.items] == ["d4", "d5", "d1", "d3"]
    page, _ = await page_of(runner, "MATCH (n:Disease) RETURN n.key ORDER BY head(n.v), n.key")
    assert [row.cells[0] for row in page.items] == ["d1", "d2", "d3", "d4", "d5"]


CITATIONS = {("d1", "d2"): ["1", "2"], ("d3", "d2"): ["3"], ("d2", "d4"): ["4", "5", "6"], ("d4", "d5"): []}
"""Edges with a declared array, which has one item on one of them and none on another."""
NODE_FILE = ":ID,:LABEL,name,roles:string[]\n" + "".join(
    f"{key},Disease,{key},{roles}\n" for key, roles in zip(DISEASES, ("b;a;b", "b", "", "c;a", "a"), strict=True)
)
EDGE_FILE = ":START_ID,:END_ID,:TYPE,pmid:string[]\n" + "".join(
    f"{source},{target},CITES,{';'.join(own)}\n" for (source, target), own in CITATIONS.items()
)


@pytest.fixture(scope="module", params=["graph file", "evaluated", NEO4J])
def array_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A store with declared arrays, and where its graph is."""
    if request.param == "neo4j":
        service: Neo4j = request.getfixturevalue("neo4j")
        service.clear()
        with GraphDatabase.driver(service.url, notifications_min_severity="OFF") as driver:  # pyright: ignore[reportUnknownMemberType]
            for line in NODE_FILE.splitlines()[1:]:
                key, _, name, roles = line.split(",")
                own = {"id": key, "name": name, **({"roles": roles.split(";")} if roles else {})}
                ask(driver, "CREATE (n:Disease) SET n = $own", own=own)
            for (source, target), pmids in CITATIONS.items():
                text = "MATCH (a {id: $a}), (b {id: $b}) CREATE (a)-[r:CITES]->(b) SET r.pmid = $pmid"
                ask(driver, text, a=source, b=target, pmid=pmids or None)
        return "neo4j", service.url
    folder = tmp_path_factory.mktemp("arrays")
    (folder / "nodes.csv").write_text(NODE_FILE, encoding="utf-8")
    (folder / "edges.csv").write_text(EDGE_FILE, encoding="utf-8")
    load([folder / "nodes.csv", folder / "edges.csv"], folder / "arrays.kg", LoadOptions())
    return request.param, str(folder / "arrays.kg")


@pytest.fixture
async def arrays(array_store: tuple[str, str]) -> AsyncGenerator[PlanRunner]:
    kind, location = array_store
    async with open_adapter(location, AdapterOptions()) as opened:
        yield PlanRunner(opened, by_store=kind != "evaluated")


CITED: dict[str, Callable[[list[str]], bool]] = {
    "size(r.pmid) > 1": lambda own: len(own) > 1,
    "size(r.pmid) = 1": lambda own: len(own) == 1,
    "r.pmid = '3'": lambda own: "3" in own,
    "r.pmid <> '3'": lambda own: bool(own) and "3" not in own,
    "NOT r.pmid = '3'": lambda own: bool(own) and "3" not in own,
    "r.pmid = ['3']": lambda own: own == ["3"],
    "r.pmid = ['4', '5', '6']": lambda own: own == ["4", "5", "6"],
    "3 <= toInteger(r.pmid) < 5": lambda own: any(3 <= int(one) < 5 for one in own),
    "'5' IN r.pmid": lambda own: "5" in own,
    "r.pmid IS NULL": lambda own: not own,
}


@pytest.mark.parametrize("condition", CITED)
async def test_a_condition_on_an_array_of_an_edge_is_one_of_its_items(arrays: PlanRunner, condition: str):
    page, notes = await page_of(
        arrays, f"MATCH (a)-[r:CITES]->(b) WHERE {condition} RETURN a.name, b.name ORDER BY a.name"
    )
    assert [row.cells for row in page.items] == sorted(pair for pair, own in CITATIONS.items() if CITED[condition](own))
    assert ("several values (r.pmid)" in notes) is (
        "[" not in condition and " IN " not in condition and "NULL" not in condition
    )


async def test_arrays_are_shown_in_their_order_and_summed_by_item(arrays: PlanRunner):
    page, _ = await page_of(arrays, "MATCH (n:Disease) RETURN n.name, n.roles, size(n.roles) ORDER BY n.name")
    assert [row.cells for row in page.items] == [
        ("d1", ("b", "a", "b"), 3),
        ("d2", ("b",), 1),
        ("d3", None, None),
        ("d4", ("c", "a"), 2),
        ("d5", ("a",), 1),
    ]
    page, notes = await page_of(arrays, "MATCH (n:Disease) RETURN count(n.roles), collect(DISTINCT n.roles)")
    assert page.items[0].cells == (7, ("a", "b", "c"))
    assert "several values (n.roles)" in notes


@pytest.mark.parametrize("text", ["RETURN n.name ORDER BY n.roles", "RETURN n.roles * 2"])
async def test_arithmetic_and_an_order_of_a_declared_array_are_refused_by_the_check(arrays: PlanRunner, text: str):
    checked = await arrays.check(parse_plan(f"MATCH (n:Disease) {text}").plan)
    assert [problem.alternatives[0] for problem in checked.problems] == ["head(n.roles), the first value"]
