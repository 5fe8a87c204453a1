"""Every function that is read as a call is taken by all that answer plans, with as many values as it is read with."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.cypher.entities import Entities
from kgnav_mcp.adapters.cypher.plans.context import QueryContext
from kgnav_mcp.adapters.cypher.plans.expressions import function_call
from kgnav_mcp.adapters.cypher.plans.kinds import TEXT, Listed, OfEdge, OfNode, OfPath, PropertyTypes, Single, Typed
from kgnav_mcp.adapters.cypher.session import Builder
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.adapters.neo4j.dialect import NEO4J
from kgnav_mcp.errors import InvalidPlan, Unsupported
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.languages.cypher.expressions import accepted_call
from kgnav_mcp.navigation.plans.evaluate.evaluator import evaluate
from kgnav_mcp.plan import Call
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from kgnav_mcp.values.functions import FUNCTION_NAMES, FUNCTIONS
from tests.languages.cypher_plans import value
from tests.plans.short import with_ids

MAX = 4
CALLS = [
    (name, number)
    for name, function in FUNCTION_NAMES.items()
    for number in range(MAX)
    if FUNCTIONS[function].accepts(number)
]
VALUES = ("a", "r", "p", "xs", "a.name", "a.age", "1.5", "null")
"""A node, an edge, a path, a list, values of properties and constants."""
KINDS = (Single(), Single(TEXT), Single(frozenset(("INTEGER",))), OfEdge(), OfPath(), Listed(OfNode()))


@pytest.fixture(scope="module")
def graph_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two nodes and an edge."""
    folder = tmp_path_factory.mktemp("two")
    nodes, edges, loaded = folder / "nodes.csv", folder / "edges.csv", folder / "two.kg"
    nodes.write_text("id:ID,:LABEL,name,age:int\na,A,Ann,36\nb,A,Ben,\n", encoding="utf-8")
    edges.write_text(":START_ID,:END_ID,:TYPE\na,b,knows\n", encoding="utf-8")
    load([nodes, edges], loaded, LoadOptions())
    return loaded


@pytest.fixture
async def graph(graph_file: Path) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(str(graph_file), AdapterOptions()) as opened:
        yield opened


def calls(name: str, number: int) -> list[str]:
    """A call for each of the values, which is given as every argument."""
    return [f"{name}({', '.join([each] * number)})" for each in VALUES]


@pytest.mark.parametrize(("name", "number"), CALLS)
async def test_every_call_that_is_read_is_evaluated_and_compiled_or_refused(
    graph: GraphAdapter, name: str, number: int
):
    for text in calls(name, number):
        read = with_ids(parse_cypher(f"MATCH p = (a)-[r]->(b) WITH *, [1] AS xs RETURN {text} AS value"))
        assert len((await evaluate(graph, read, limit=5)).items) == 1, text
        with suppress(Unsupported):
            assert len((await graph.run(read, limit=5)).items) == 1, text


@pytest.mark.parametrize(("name", "number"), CALLS)
def test_every_call_that_is_read_is_written_in_cypher_or_refused(name: str, number: int):
    catalogue = SimpleNamespace(current=SimpleNamespace(labels=(), types=(), id_keys=()))
    session = SimpleNamespace(builder=Builder(NEO4J))
    entities = SimpleNamespace(session=session, catalogue=catalogue)  # no call reads more of the store
    context = QueryContext(cast("Entities", entities), cast("PropertyTypes", None))
    for kind in KINDS:
        with suppress(Unsupported):
            assert function_call(context, FUNCTION_NAMES[name], [Typed("v", kind)] * number).text


@pytest.mark.parametrize("name", FUNCTION_NAMES)
def test_a_call_with_another_number_of_values_is_refused_and_the_call_that_is_shown_is_accepted(name: str):
    function = FUNCTION_NAMES[name]
    for number in range(MAX):
        if not FUNCTIONS[function].accepts(number):
            with pytest.raises(InvalidPlan, match=f"{function} does not take {number} values"):
                value(f"{name}({', '.join('1' * number)})")
            assert isinstance(value(re.sub(r"\bx\b", "a", accepted_call(function))), Call)
