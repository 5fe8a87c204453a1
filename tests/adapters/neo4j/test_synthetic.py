"""GraphWalk's primitives on a generated graph in a live Neo4j give what the paper's own Cypher gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from typing import LiteralString, cast

import pytest

from kgnav_bench.plans.synthetic import Graph, Shape, generate, write
from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.cypher.session import quoted
from kgnav_mcp.model import Direction, Entity
from kgnav_mcp.navigation.graphwalk import (
    get_all_nearest_neighbors,
    get_node_by_property,
    get_unique_property_values,
)
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.port import AdapterOptions, GraphAdapter, ValueOwner
from tests.adapters.neo4j.graphs import write as ask
from tests.neo4j_service import Neo4j
from tests.sampling import extended

ALL = Limits(hub_threshold=10_000, row_limit=10_000)


@pytest.fixture(scope="module")
def synthetic() -> Graph:
    """100 nodes, 4 classes, 2 classes of relationships, 3 properties of 5 values each."""
    return generate(Shape.of(100))


@pytest.fixture(scope="module")
def loaded(neo4j: Neo4j, synthetic: Graph, tmp_path_factory: pytest.TempPathFactory) -> Neo4j:
    neo4j.load(write(synthetic, tmp_path_factory.mktemp("synthetic")))
    return neo4j


@pytest.fixture
async def graph(loaded: Neo4j) -> AsyncGenerator[GraphAdapter]:
    async with open_adapter(loaded.url, AdapterOptions()) as opened:
        yield opened


Condition = tuple[str, str, str | float]


def _conditions(graph: Graph) -> list[Condition]:
    """Every label, property and value there is."""
    return [
        (each.label, pool.name, pool.values[place])
        for each in graph.classes
        for pool, column in zip(each.pools, each.columns, strict=True)
        for place in sorted(set(column))
    ]


def _cypher(text: str) -> LiteralString:
    return cast("LiteralString", text)


@pytest.fixture(params=[4, extended(1)])
def conditions(synthetic: Graph, request: pytest.FixtureRequest) -> list[Condition]:
    """Some conditions, or all."""
    return _conditions(synthetic)[:: request.param]


async def test_nodes_by_property_are_those_of_the_papers_query(
    graph: GraphAdapter, loaded: Neo4j, synthetic: Graph, conditions: list[Condition]
):
    for label, key, value in conditions:
        page = (await get_node_by_property(graph, label, key, str(value))).page
        rows = ask(loaded, _cypher(f"MATCH (n:{quoted(label)} {{{quoted(key)}: $value}}) RETURN n.id"), value=value)
        assert sorted(node.entity.id for node in page.items) == sorted(f"{label}:id={row[0]}" for row in rows)
        for node in page.items:
            own = {triple.relation.id: getattr(triple.tail, "text", None) for triple in node.properties}
            number = int(str(own.pop("id")).removeprefix("n"))
            of = synthetic.classes[number % len(synthetic.classes)]
            values = {pool.name: str(of.value(number, place)) for place, pool in enumerate(of.pools)}
            assert own == {"name": synthetic.name(number), **values}


async def test_nearest_neighbours_are_those_of_the_papers_query(
    graph: GraphAdapter, loaded: Neo4j, conditions: list[Condition]
):
    for label, key, value in conditions:
        found = await get_all_nearest_neighbors(graph, label, key, str(value), limits=ALL)
        assert found.links is not None
        seen = Counter(
            (
                str(link.direction),
                link.triple.relation.id,
                far.id.partition("=")[2],
                tuple((one.relation.id, getattr(one.value, "text", None)) for one in link.triple.qualifiers),
            )
            for link in found.links.items
            if isinstance(far := link.triple.far_end(link.direction), Entity)
        )
        rows = ask(
            loaded,
            _cypher(
                f"MATCH (n:{quoted(label)} {{{quoted(key)}: $value}})-[r]-(m) "
                "RETURN startNode(r) = n, type(r), m.id, properties(r)"
            ),
            value=value,
        )
        expected = Counter(
            (
                str(Direction.OUTGOING if outgoing else Direction.INCOMING),
                str(kind),
                str(far),
                tuple(sorted((name, str(value)) for name, value in cast("dict[str, object]", own).items())),
            )
            for outgoing, kind, far, own in rows
        )
        assert seen == expected


def _in_order(rows: Sequence[Sequence[object]]) -> list[str]:
    """The values as they are listed: all words in the order of letters, all numbers by their size."""
    texts = [str(value) for (value,) in rows]
    return sorted(texts, key=float) if all(text[0].isdigit() for text in texts) else sorted(texts)


async def test_unique_values_are_those_of_the_papers_query(graph: GraphAdapter, loaded: Neo4j, synthetic: Graph):
    for label, key in sorted({(label, key) for label, key, _ in _conditions(synthetic)}):
        page = await get_unique_property_values(graph, key, label, ValueOwner.NODE, limits=ALL)
        rows = ask(loaded, _cypher(f"MATCH (n:{quoted(label)}) RETURN DISTINCT n.{quoted(key)}"))
        assert [literal.value.text for literal in page.items] == _in_order(rows)
    for kind, key in sorted((each.type, each.pool.name) for each in synthetic.relations):
        page = await get_unique_property_values(graph, key, kind, ValueOwner.RELATIONSHIP, limits=ALL)
        rows = ask(loaded, _cypher(f"MATCH ()-[r:{quoted(kind)}]->() RETURN DISTINCT r.{quoted(key)}"))
        assert [literal.value.text for literal in page.items] == _in_order(rows)
