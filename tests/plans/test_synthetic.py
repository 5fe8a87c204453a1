"""The synthetic graphs that plans are timed on have the shape that was asked for."""

from __future__ import annotations

import pytest

from kgnav_bench.plans.synthetic import Graph, Shape, generate

SHAPE = Shape.of(100)


@pytest.fixture(scope="module")
def synthetic() -> Graph:
    return generate(SHAPE)


def test_a_seed_makes_the_same_graph(synthetic: Graph):
    assert generate(SHAPE) == synthetic
    assert generate(SHAPE, seed=2) != synthetic


def test_the_graph_has_the_shape_that_was_asked_for(synthetic: Graph):
    assert sum(len(each.members) for each in synthetic.classes) == SHAPE.nodes
    assert len(synthetic.classes) == SHAPE.classes
    assert len(synthetic.relations) == SHAPE.relations
    assert {len(each.pools) for each in synthetic.classes} == {SHAPE.properties}
    assert {len(set(pool.values)) for each in synthetic.classes for pool in each.pools} == {SHAPE.pool}
    for each in synthetic.relations:
        ends = set(zip(each.heads, each.tails, strict=True))
        assert len(ends) == len(each.heads) == SHAPE.degree * len(each.source.members)
