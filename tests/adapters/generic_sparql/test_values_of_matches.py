"""Values of properties that are read with the matches of a pattern or group them, on a graph of 150 nodes."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from unittest.mock import patch

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.sparql_base.plans.groups import GroupReader
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions
from tests.services import Virtuoso

EX = "http://e.example/"
GRAPH = EX + "values"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
XSD = "http://www.w3.org/2001/XMLSchema#"

_chance = random.Random(7)  # noqa: S311 - repeatable


def _node(number: int) -> dict[str, object]:
    own: dict[str, object] = {"id": f"n{number}", "labels": _chance.choice(["A", "B", "AB", "C"]), "name": f"N{number}"}
    for name, share, values in (
        ("x", 0.8, (-2, -1, 0, 1, 2, 3, 4)),
        ("f", 0.7, (0.5, 1.0, 2.5, -1.5, 3.0)),
        ("s", 0.8, ("a", "b", "ab", "Ba", "", "é")),
    ):
        if _chance.random() < share:
            own[name] = _chance.choice(values)
    return own


NODES = {str(node["id"]): node for node in map(_node, range(150))}


EDGES = {(_chance.choice([*NODES]), _chance.choice("RRST"), _chance.choice([*NODES])) for _ in range(420)}


def _literal(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return f'"{value}"^^<{XSD}{"integer" if isinstance(value, int) else "double"}>'


def _triples() -> str:
    lines: list[str] = []
    for name, node in NODES.items():
        lines += [f"<{EX}{name}> <{TYPE}> <{EX}{label}> .\n" for label in str(node["labels"])]
        lines += [f"<{EX}{name}> <{EX}{key}> {_literal(node[key])} .\n" for key in node if key != "labels"]
    lines += [f"<{EX}{head}> <{EX}{relation}> <{EX}{tail}> .\n" for head, relation, tail in sorted(EDGES)]
    return "".join(lines)


@pytest.fixture(scope="module")
def location(virtuoso: Virtuoso, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The location of the graph, loaded into Virtuoso."""
    path = tmp_path_factory.mktemp("values") / "values.nt"
    path.write_text(_triples(), encoding="utf-8")
    virtuoso.clear(GRAPH)
    virtuoso.load(path, GRAPH)
    return f"sparql+{virtuoso.url}?default-graph-uri={GRAPH}#prefix.e={EX}"


def _values(relation: str, first: str, second: str, columns: str) -> Counter[tuple[object, ...]]:
    """How often each combination of values belongs to an edge between nodes of two labels."""
    owned = [column.split(".") for column in columns.split(", ")]
    ends = [{"a": NODES[head], "b": NODES[tail]} for head, name, tail in EDGES if name == relation]
    matches = [each for each in ends if first in str(each["a"]["labels"]) and second in str(each["b"]["labels"])]
    return Counter(tuple(each[owner].get(name) for owner, name in owned) for each in matches)


@pytest.mark.parametrize("columns", ["a.x, a.f, b.f", "a.f, a.x, b.f", "a.x, b.x, b.f", "a.x, a.f, b.s, b.x"])
async def test_each_match_has_its_own_values_however_many_are_read(location: str, columns: str):
    async with open_adapter(location, AdapterOptions()) as graph:
        runner = PlanRunner(graph)
        for relation, first, second in product("RST", "ABC", "ABC"):
            cypher = f"MATCH (a:{first})-[:{relation}]->(b:{second}) RETURN {columns}"
            found = await runner.run((await runner.check(parse_plan(cypher).plan)).plan, limit=999)
            assert Counter(row.cells for row in found.items) == _values(relation, first, second, columns), cypher


@pytest.mark.parametrize("columns", ["a.x, a.f, b.f", "a.x, a.f, b.s, b.x", "a.s, a.x, a.f, b.f, b.x, b.s"])
async def test_each_group_has_its_own_values_however_many_are_its_keys(location: str, columns: str):
    async with open_adapter(location, AdapterOptions()) as graph:
        runner = PlanRunner(graph)
        with patch.object(GroupReader, "groups", autospec=True, side_effect=GroupReader.groups) as grouped:
            for relation, first, second in product("RST", "ABC", "ABC"):
                cypher = f"MATCH (a:{first})-[:{relation}]->(b:{second}) RETURN {columns}, count(*)"
                found = await runner.run((await runner.check(parse_plan(cypher).plan)).plan, limit=999)
                groups = {row.cells[:-1]: row.cells[-1] for row in found.items}
                assert (groups, len(groups)) == (_values(relation, first, second, columns), len(found.items)), cypher
        assert grouped.call_count == len([*product("RST", "ABC", "ABC")])
