"""The random graphs of GraphWalk's benchmark have the shape that was asked for, and mean nothing."""

from __future__ import annotations

import csv
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from kgnav_bench.graphwalk.graphs import Graph, Shape, generate
from kgnav_bench.graphwalk.stores import write_files
from kgnav_bench.graphwalk.words import NonWords, english_words

SMALL = Shape.of(100)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return generate(SMALL, 1)


def test_the_presets_are_the_papers_shapes():
    def shape(nodes: int) -> tuple[int, ...]:
        of = Shape.of(nodes)
        return (
            of.nodes,
            of.node_classes,
            of.relationship_classes,
            of.node_properties,
            of.relationship_properties,
            of.values,
        )

    assert shape(100) == (100, 4, 2, 3, 3, 5)
    assert [shape(nodes) for nodes in (150, 200, 500)] == [(nodes, 8, 4, 6, 6, 10) for nodes in (150, 200, 500)]


def test_a_seed_makes_the_same_graph_and_another_seed_another(graph: Graph):
    assert generate(SMALL, 1) == graph
    assert generate(SMALL, 2).nodes != graph.nodes


def test_a_graph_has_the_numbers_that_were_requested(graph: Graph):
    schema = graph.schema
    assert (len(graph.nodes), len(schema.node_classes), len(schema.relationship_classes)) == (100, 4, 2)
    assert {len(set(each.pairs)) for each in schema.relationship_classes} == {5}
    pools = [pool for each in (*schema.node_classes, *schema.relationship_classes) for pool in each.pools]
    assert {len(set(pool.values)) for pool in pools} == {5}
    assert len({node.key for node in graph.nodes}) == 100


def test_classes_are_drawn_uniformly_and_properties_number_their_mean():
    shape = replace(SMALL, nodes=20, node_classes=2, relationship_classes=1, class_pairs=1)
    graphs = [generate(shape, seed) for seed in range(400)]
    first = sum(node.label == graph.schema.node_classes[0].label for graph in graphs for node in graph.nodes)
    assert first == pytest.approx(4_000, rel=0.05)  # four standard deviations are 179
    counts = [len(each.pools) for graph in graphs for each in graph.schema.node_classes]
    assert (min(counts), max(counts)) == (1, 5)
    assert fmean(counts) == pytest.approx(3, abs=0.2)  # four standard deviations are 0.2


@pytest.mark.parametrize("density", [0.02, 0.3, 1.0])
def test_the_density_is_the_share_of_the_joined_pairs(density: float):
    graph = generate(replace(SMALL, density=density), 3)
    members = Counter(node.label for node in graph.nodes)
    joined = Counter(
        (each.type, graph.nodes[each.source].label, graph.nodes[each.target].label) for each in graph.relationships
    )
    expected = {
        (each.type, source, target): max(1, round(density * members[source] * members[target]))
        for each in graph.schema.relationship_classes
        for source, target in each.pairs
    }
    assert joined == expected
    assert len({(each.type, each.source, each.target) for each in graph.relationships}) == len(graph.relationships)


def test_no_name_and_no_value_is_an_english_word(graph: Graph):
    schema = graph.schema
    classes = (*schema.node_classes, *schema.relationship_classes)
    texts = [each.label for each in schema.node_classes] + [each.type for each in schema.relationship_classes]
    texts += [pool.name for each in classes for pool in each.pools]
    texts += [value for each in classes for pool in each.pools for value in pool.values if isinstance(value, str)]
    texts += [node.key for node in graph.nodes]
    assert all(4 <= len(text) <= 8 and text.isalpha() for text in texts)
    assert not {text.lower() for text in texts} & english_words()


def test_a_random_string_that_is_a_word_is_rejected(monkeypatch: pytest.MonkeyPatch):
    assert {"node", "graph", "walk"} <= english_words()
    first = NonWords(random.Random(5))()  # noqa: S311 - no secret
    monkeypatch.setattr("kgnav_bench.graphwalk.words.english_words", lambda: frozenset({first}))
    assert NonWords(random.Random(5))() != first  # noqa: S311 - as above


@pytest.mark.parametrize(("share", "types"), [(0.0, {float}), (1.0, {str})])
def test_values_are_strings_or_numbers_by_the_share_that_was_requested(share: float, types: set[type]):
    graph = generate(replace(SMALL, text_share=share), 1)
    assert {type(value) for node in graph.nodes for value in node.properties.values()} == types


@pytest.mark.parametrize("wrong", [{"nodes": 0}, {"class_pairs": 17}, {"density": 0.0}, {"text_share": 1.5}])
def test_an_impossible_shape_is_refused(wrong: dict[str, int | float]):
    with pytest.raises(ValueError, match=r"at least 1|at most|above 0"):
        replace(SMALL, **wrong)


def test_the_schema_has_a_row_for_each_property_of_each_pattern(graph: Graph):
    rows = graph.schema.rows()
    classes, relationships = graph.schema.node_classes, graph.schema.relationship_classes
    assert len(rows) == sum(len(each.pools) + 1 for each in classes) + sum(
        5 * len(each.pools) for each in relationships
    )
    assert rows[0] == ("Node", classes[0].label, f"(:{classes[0].label})", "key")
    source, target = relationships[-1].pairs[-1]
    pattern = f"(:{source})-[:{relationships[-1].type}]->(:{target})"
    assert rows[-1] == ("Relationship", relationships[-1].type, pattern, relationships[-1].pools[-1].name)


def test_the_files_have_every_node_and_relationship(graph: Graph, tmp_path: Path):
    nodes, edges = ([*csv.DictReader(path.read_text().splitlines())] for path in write_files(graph, tmp_path))
    assert [(row["key:ID"], row[":LABEL"]) for row in nodes] == [(node.key, node.label) for node in graph.nodes]
    assert [(row[":START_ID"], row[":TYPE"], row[":END_ID"]) for row in edges] == [
        (graph.nodes[each.source].key, each.type, graph.nodes[each.target].key) for each in graph.relationships
    ]
    values = [{name.partition(":")[0]: text for name, text in row.items() if text} for row in nodes]
    assert [{name: row[name] for name in node.properties} for row, node in zip(values, graph.nodes, strict=True)] == [
        {name: str(value) for name, value in node.properties.items()} for node in graph.nodes
    ]
