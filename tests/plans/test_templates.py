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
from kgnav_mcp.navigation.plans.running import PlanRunner
from kgnav_mcp.port import AdapterOptions
from kgnav_mcp.spelling import parse_plan
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


@pytest.fixture(scope="module")
def graph_file(files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> str:
    target = tmp_path_factory.mktemp("synthetic") / "synthetic.kg"
    load(list(files), target, LoadOptions())
    return str(target)


@pytest.mark.parametrize("spelling", ["cypher", "pattern", "steps"])
async def test_each_spelling_of_a_question_means_the_same(
    plain: Plain, graph_file: str, asked: Sequence[Question], spelling: str
):
    async with open_adapter(graph_file, AdapterOptions()) as adapter:
        runner = PlanRunner(adapter)
        for question in asked:
            written = getattr(question, spelling)
            read = parse_plan(written)
            checked = await runner.check(read.plan, read.single_node_variables)
            assert not checked.problems, written
            assert tuple(answer(plain, checked.plan)) == question.truth, written
            page = await runner.run(checked.plan, limit=1_000)
            assert tuple(row.cells for row in page.items) == question.truth, written
