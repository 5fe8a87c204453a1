"""LadybugDB passes the contract, from a file that its own API writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import pytest

from tests.contract import toy, toy_ladybug, toy_views
from tests.contract.suite import GraphAdapterContract


@dataclass(frozen=True)
class Tables(toy_views.Style):
    """Ids by the primary key of a node's table, which is its only label."""

    tables: Mapping[str, str] = field(default_factory=dict[str, str])
    """The tables of the nodes."""

    def types(self, node: toy.Node) -> tuple[str, ...]:
        label = min(node.types, default="Thing")
        return ("Wedding",) if label == "Marriage" else (label,)  # `marriage` is a relation: a table of the same name

    def node_id(self, local: str) -> str:
        return f"{self.tables.get(local, 'Person')}:id={local}"

    def bare(self, local: str) -> str:
        return local


_PLAIN = toy_views.PROPERTY_GRAPH
_STYLE = Tables("", "", "", False, _PLAIN.datatypes, _PLAIN.name, _PLAIN.alias, _PLAIN.description)


def written(path: Path, nodes: Sequence[toy.Node] = toy.NODES, edges: Sequence[toy.Edge] = toy.EDGES) -> toy_views.View:
    """Write the toy graph or another one. Returns its view: the keys of the tables are properties, too."""
    style = replace(_STYLE, tables={node.id: _STYLE.types(node)[0] for node in nodes})
    toy_ladybug.write(path, style, nodes, edges)
    view = toy_views.view(style, nodes, edges)
    view.rows += [(style.node_id(node.id), "id", (node.id, None, None), ()) for node in nodes]
    return view


@pytest.mark.one_in(2)
class TestLadybug(GraphAdapterContract):
    groups_by_values: ClassVar[bool] = False
    schemes: ClassVar[frozenset[str]] = frozenset({"ladybug+file"})

    @pytest.fixture(scope="class")
    @classmethod
    def file(cls, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, toy_views.View]:
        path = tmp_path_factory.mktemp("ladybug") / "toy.lbug"
        view = written(path)
        return f"ladybug+file:{path}", view

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, file: tuple[str, toy_views.View]) -> str:
        return file[0]

    @pytest.fixture(scope="class")
    @classmethod
    def view(cls, file: tuple[str, toy_views.View]) -> toy_views.View:
        return file[1]
