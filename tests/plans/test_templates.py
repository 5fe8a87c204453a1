"""GraphWalk's templates: the truth of each question is what Neo4j and the oracle answer, in every spelling."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import LiteralString, cast

import pytest
from neo4j import GraphDatabase

from kgnav_bench.templates import INSTANCES, TEMPLATES, Graph, Question, Shape, generate, questions, write
from kgnav_mcp.adapters.embedded import open_adapter
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.navigation.plans.checking import check
from kgnav_mcp.plan import Plan
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from kgnav_mcp.spelling.patterns import parse_pattern
from tests.neo4j_service import Neo4j
from tests.plans.graph import Graph as Plain
from tests.plans.graph import Node, graph
from tests.plans.oracle import answer

SHAPE = Shape.of(100)


@pytest.fixture(scope="module")
def synthetic() -> Graph:
    """The paper's smallest size."""
    return generate(SHAPE)


@pytest.fixture(scope="module")
def asked(synthetic: Graph) -> tuple[Question, ...]:
    return tuple(questions(synthetic))


@pytest.fixture(scope="module")
def plain(synthetic: Graph) -> Plain:
    """The graph as the oracle reads it."""
    nodes = [
        Node(
            f"n{node}",
            frozenset({each.label}),
            (("name", synthetic.name(node)), *((own.name, each.value(node, k)) for k, own in enumerate(each.pools))),
            synthetic.name(node),
        )
        for each in synthetic.classes
        for node in each.members
    ]
    edges = [
        (f"n{head}", each.type, f"n{tail}", ((each.pool.name, each.pool.values[place]),))
        for each in synthetic.relations
        for head, tail, place in zip(each.heads, each.tails, each.column, strict=True)
    ]
    return graph(nodes, edges)


@pytest.fixture(scope="module")
def files(synthetic: Graph, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write(synthetic, tmp_path_factory.mktemp("synthetic"))


def test_a_seed_makes_the_same_graph_and_the_same_questions(synthetic: Graph, asked: Sequence[Question]):
    assert generate(SHAPE) == synthetic
    assert tuple(questions(synthetic)) == asked
    assert generate(SHAPE, seed=2) != synthetic


def test_each_template_asks_ten_different_questions_that_have_answers(asked: Sequence[Question]):
    assert len({question.cypher for question in asked}) == len(asked) == INSTANCES * len(TEMPLATES)
    assert len({question.template for question in asked}) == len(TEMPLATES)
    assert all(question.truth for question in asked)


def test_the_graph_has_the_shape_that_was_asked_for(synthetic: Graph):
    assert sum(len(each.members) for each in synthetic.classes) == SHAPE.nodes
    assert len(synthetic.classes) == SHAPE.classes
    assert len(synthetic.relations) == SHAPE.relations
    assert {len(each.pools) for each in synthetic.classes} == {SHAPE.properties}
    assert {len(set(pool.values)) for each in synthetic.classes for pool in each.pools} == {SHAPE.pool}
    for each in synthetic.relations:
        ends = set(zip(each.heads, each.tails, strict=True))
        assert len(ends) == len(each.heads) == SHAPE.degree * len(each.source.members)


def test_neo4j_answers_the_truth_to_every_question(neo4j: Neo4j, files: tuple[Path, Path], asked: Sequence[Question]):
    neo4j.load(files)
    with GraphDatabase.driver(neo4j.url) as driver:  # pyright: ignore[reportUnknownMemberType]
        for question in asked:
            found = driver.execute_query(cast("LiteralString", question.cypher)).records
            assert tuple(tuple(record.values()) for record in found) == question.truth, question.cypher


async def test_patterns_mean_the_same(
    plain: Plain, files: tuple[Path, Path], asked: Sequence[Question], tmp_path: Path
):
    load(list(files), tmp_path / "synthetic.kg", LoadOptions())
    async with open_adapter(str(tmp_path / "synthetic.kg"), AdapterOptions()) as adapter:
        for question in asked:
            plan = await _checked(adapter, parse_pattern(question.pattern))
            assert tuple(answer(plain, plan)) == question.truth, question.pattern


async def _checked(adapter: GraphAdapter, plan: Plan) -> Plan:
    """The plan in the graph's own ids; nothing may be wrong with it."""

    async def unknown(_: Plan) -> None:
        return None

    found = await check(adapter, plan, unknown)
    assert not found.problems, plan
    return found.plan
