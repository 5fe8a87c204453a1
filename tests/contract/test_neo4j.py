"""Neo4j passes the contract on a live store: with APOC and a full-text index, and with neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import pytest
from neo4j import GraphDatabase

from tests.contract import toy, toy_files, toy_views
from tests.contract.suite import GraphAdapterContract, NameAndCountContract
from tests.neo4j_service import Neo4j


@dataclass(frozen=True)
class Keyed(toy_views.Style):
    """Ids by the unique constraint of a node's first label. Nodes without a label have the store's own ids."""

    ids: Mapping[str, str] = field(default_factory=dict[str, str])
    """The printed ids of the nodes."""

    def node_id(self, local: str) -> str:
        return self.ids.get(local, f"Person:id={local}")

    def bare(self, local: str) -> str:
        return local


def loaded(
    service: Neo4j,
    folder: Path,
    nodes: Sequence[toy.Node] = toy.NODES,
    edges: Sequence[toy.Edge] = toy.EDGES,
    *,
    full_text: bool,
) -> tuple[str, toy_views.View]:
    """The toy graph or another one in a store, and its view: the ids of the files are properties, too."""
    service.load(toy_files.write_property_graph(folder, nodes, edges), full_text=full_text)
    bare = [node.id for node in nodes if not node.types]
    with GraphDatabase.driver(service.url) as driver:  # pyright: ignore[reportUnknownMemberType]
        found = driver.execute_query("MATCH (n) WHERE n.id IN $bare RETURN n.id, elementId(n)", bare=bare)
    ids = {node.id: f"{min(node.types)}:id={node.id}" for node in nodes if node.types}
    ids |= {record[0]: record[1] for record in found.records}
    plain = toy_views.PROPERTY_GRAPH
    style = Keyed(
        node="",
        relation="",
        label="",
        escaped=False,
        datatypes=plain.datatypes,
        name=plain.name,
        alias=plain.alias,
        description=plain.description,
        ids=ids,
    )
    view = toy_views.view(style, nodes, edges)
    view.rows += [(style.node_id(node.id), "id", (node.id, None, None), ()) for node in nodes]
    return service.url, view


@pytest.fixture(scope="module")
def with_apoc(neo4j_with_apoc: Neo4j, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, toy_views.View]:
    return loaded(neo4j_with_apoc, tmp_path_factory.mktemp("toy"), full_text=True)


@pytest.fixture(scope="module")
def bare(neo4j: Neo4j, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, toy_views.View]:
    return loaded(neo4j, tmp_path_factory.mktemp("toy"), full_text=False)


class TestNeo4jWithApocAndFullText(NameAndCountContract):
    """APOC counts relationships, and an index finds names. All other queries are the same as without them."""

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, with_apoc: tuple[str, toy_views.View]) -> str:
        return with_apoc[0]

    @pytest.fixture(scope="class")
    @classmethod
    def view(cls, with_apoc: tuple[str, toy_views.View]) -> toy_views.View:
        return with_apoc[1]


@pytest.mark.one_in(3, of="test_a_step_without_a_direction_is_outgoing_and_counts_the_incoming_matches_left_out")
@pytest.mark.one_in(3, of="test_a_list_that_is_too_long_to_be_read_is_searched_for_the_same_rows")
@pytest.mark.one_in(3, of="test_pages_of_any_size_lose_nothing_and_show_nothing_twice")
@pytest.mark.one_in(3, of="test_what_left_nothing_of_an_answer_is_named")
@pytest.mark.one_in(3, of="test_a_comparison_with_an_alias_is_null_for_a_node_without_a_name")
@pytest.mark.one_in(3, of="test_an_unknown_name_is_refused_unless_it_is_an_alternative_which_matches_nothing")
class TestNeo4jAlone(GraphAdapterContract):
    """Without plugins and without an index of names, over the routing protocol, as a cluster."""

    schemes: ClassVar[frozenset[str]] = frozenset({"bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"})

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, bare: tuple[str, toy_views.View]) -> str:
        return bare[0].replace("bolt:", "neo4j:")

    @pytest.fixture(scope="class")
    @classmethod
    def view(cls, bare: tuple[str, toy_views.View]) -> toy_views.View:
        return bare[1]
