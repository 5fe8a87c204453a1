"""A number is found in any spelling and datatype, and nothing else is, on every store that is tested.

The expected nodes are found here, in Python, by the values of the literals as they are written.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Literal
from kgnav_mcp.navigation.graphwalk import get_node_by_property
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import GraphAdapter
from kgnav_mcp.values.scalars import scalar
from tests.services import Blazegraph, Fuseki, Oxigraph, Rdf4j, RdfService, Virtuoso

EX, RDF = "http://ex.example/", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"
USUAL = [
    *(
        (text, kind)
        for text in ("42", "042", "+42")
        for kind in ("integer", "int", "unsignedByte", "nonNegativeInteger")
    ),
    *((text, "decimal") for text in ("42", "42.0", "0042.000", "41.999", "0.1", "0.10", "-0.0", "670.73")),
    *((text, kind) for text in ("42", "4.2E1", "420e-1", "0.1", "-0.0", "670.73") for kind in ("double", "float")),
    *(
        (text, "integer")
        for text in ("-42", "43", "0", "-0", "900719925474099", "900719925474098", "12345678901234567890")
    ),
    *((text, "double") for text in ("42.0000000000001", "0.123456789", "0.123457", "INF", "1e300")),
    *((text, "string") for text in ("42", "42.0", "0.1", "forty-two")),
    *(("1", kind) for kind in ("integer", "decimal", "double", "boolean")),
    *((text, "boolean") for text in ("true", "false")),
]
UNUSUAL = [
    *USUAL[:6],
    *((text, "double") for text in ("42", "abc", "NaN", "41")),
    *((text, "decimal") for text in ("4.2e1", "42.00000000000000000000000001", "43.00000000000000000000000001")),
]
"""With literals that are not of their datatype, and numbers that a store may not hold exactly."""
GROUPS = {"usual": USUAL, "unusual": UNUSUAL}
NUMBERS = {
    "usual": (42, -42, 0, 0.1, 670.73, 900719925474099, 0.123456789, 0.123457, 1e300, 7, 1),
    "unusual": (42, 43, 41, 7),
}
CASES = [(group, number) for group, numbers in NUMBERS.items() for number in numbers]


def _having(group: str, *numbers: float) -> list[str]:
    values = [scalar(Literal(text, XSD + kind)) for text, kind in GROUPS[group]]
    return sorted(
        f"ex:{group}{n}" for n, value in enumerate(values) if not isinstance(value, str | bool) and value in numbers
    )


@pytest.fixture(scope="module")
def graph_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each node has one of the literals; `ex:several` has two equal ones."""
    path, lines = tmp_path_factory.mktemp("numbers") / "numbers.nt", list[str]()
    for group, literals in GROUPS.items():
        for n, (text, kind) in enumerate(literals):
            literal = f'"{text}"' if kind == "string" else f'"{text}"^^<{XSD}{kind}>'
            lines.append(f"<{EX}{group}{n}> <{EX}{group}> {literal} .")
            lines.append(f"<{EX}{group}{n}> <{RDF}type> <{EX}{group.title()}> .")
            lines.append(f"<{EX}all> <{EX}has> <{EX}{group}{n}> .")
    for text, kind in (("42", "integer"), ("42.0", "decimal"), ("7", "integer")):
        lines.append(f'<{EX}several> <{EX}size> "{text}"^^<{XSD}{kind}> .')
    lines.append(f"<{EX}several> <{RDF}type> <{EX}Several> .")
    lines.append(f"<{EX}all> <{EX}has> <{EX}several> .")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _loaded(store: RdfService, path: Path) -> str:
    """The location of the graph, loaded into a store."""
    graph = f"{EX}numbers"
    store.load(path, graph)
    return f"sparql+{store.url}?default-graph-uri={graph}#prefix.ex={EX}"


async def _ids(adapter: GraphAdapter, cypher: str) -> list[object]:
    runner = PlanRunner(adapter)
    checked = await runner.check(parse_plan(cypher).plan)
    assert not checked.problems
    page = await runner.run(checked.plan, limit=1_000)
    return [getattr(row.cells[0], "id", row.cells[0]) for row in page.items]


class EqualNumbers:
    """What holds on each store."""

    pytestmark = pytest.mark.asyncio(loop_scope="class")

    @pytest.mark.parametrize(("group", "number"), CASES)
    @pytest.mark.parametrize("condition", ["n.$ = {}", "{} = n.$", "n.$ IN [{}, 4711]", "n.$ = {} OR n.$ = 4711"])
    async def test_a_number_is_found_in_any_spelling(
        self, adapter: GraphAdapter, group: str, number: float, condition: str
    ):
        where = condition.replace("$", group).format(number)
        found = await _ids(adapter, f"MATCH (n:{group.title()}) WHERE {where} RETURN n")
        assert sorted(map(str, found)) == _having(group, number)

    @pytest.mark.parametrize(("group", "number"), CASES)
    async def test_a_number_is_found_near_a_known_node(self, adapter: GraphAdapter, group: str, number: float):
        found = await _ids(adapter, f"MATCH ({{id: 'ex:all'}})-[:has]->(n {{{group}: {number}}}) RETURN n")
        assert sorted(map(str, found)) == _having(group, number)

    @pytest.mark.parametrize(
        ("text", "equal"),
        [
            ("1e300", {"1e300"}),
            ("12345678901234567890", {"12345678901234567890"}),
            ("9223372036854775808", set[str]()),
            ("900719925474099", {"900719925474099"}),
        ],
    )
    async def test_a_number_of_any_size_is_compared_as_a_text(self, adapter: GraphAdapter, text: str, equal: set[str]):
        page = await adapter.nodes("Usual", "usual", text, limit=9)
        assert {USUAL[int(one.id.removeprefix("ex:usual"))][0] for one in page.items} == equal

    @pytest.mark.parametrize("comparison", ["<=", ">="])
    async def test_what_is_no_number_is_neither_less_nor_more_than_one(self, adapter: GraphAdapter, comparison: str):
        found = await _ids(adapter, f"MATCH (n:Unusual) WHERE n.unusual {comparison} 42 RETURN n")
        ends = _having("unusual", 41, 42) if comparison == "<=" else _having("unusual", 42, 43)
        assert sorted(map(str, found)) == ends

    @pytest.mark.parametrize("number", [42, 0.1, 7])
    async def test_a_number_is_found_within_a_condition_on_a_pattern(self, adapter: GraphAdapter, number: float):
        for condition, expected in (("EXISTS", bool(_having("usual", number))), ("NOT EXISTS", number == 7)):
            found = await _ids(
                adapter,
                f"MATCH (a)-[:has]->(:Several) WHERE {condition} {{ (a)-[:has]->({{usual: {number}}}) }} RETURN a",
            )
            assert found == (["ex:all"] if expected else [])

    async def test_a_node_with_two_equal_values_matches_once(self, adapter: GraphAdapter):
        assert await _ids(adapter, "MATCH (n:Several {size: 42}) RETURN count(*)") == [1]
        assert await _ids(adapter, "MATCH (n:Several) WHERE n.size IN [42, 7] RETURN count(*)") == [1]

    @pytest.mark.parametrize("number", ["42", "0.123457"])
    async def test_a_value_that_is_no_number_is_none_in_a_list_of_nodes(self, adapter: GraphAdapter, number: str):
        found = await get_node_by_property(adapter, "Unusual", "unusual", number)
        assert [item.entity.id for item in found.page.items] == _having("unusual", float(number))


class TestOnOxigraph(EqualNumbers):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, oxigraph: Oxigraph, graph_file: Path) -> str:
        return _loaded(oxigraph, graph_file)


class TestOnVirtuoso(EqualNumbers):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, virtuoso: Virtuoso, graph_file: Path) -> str:
        return _loaded(virtuoso, graph_file)


class TestOnFuseki(EqualNumbers):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, fuseki: Fuseki, graph_file: Path) -> str:
        return _loaded(fuseki, graph_file)


class TestOnRdf4j(EqualNumbers):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, rdf4j: Rdf4j, graph_file: Path) -> str:
        return _loaded(rdf4j, graph_file)


class TestOnBlazegraph(EqualNumbers):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, blazegraph: Blazegraph, graph_file: Path) -> str:
        return _loaded(blazegraph, graph_file)
