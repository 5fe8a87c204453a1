"""LadybugDB passes the contract, from a file that its own API writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from tests.contract import toy, toy_ladybug, toy_views
from tests.contract.suite import GraphAdapterContract


@dataclass(frozen=True)
class Tables(toy_views.Style):
    """Ids by the primary key of a node's table, which is its only label."""

    def types(self, node: toy.Node) -> tuple[str, ...]:
        label = min(node.types, default="Thing")
        return ("Wedding",) if label == "Marriage" else (label,)  # `marriage` is a relation: a table of the same name

    def node_id(self, local: str) -> str:
        return f"{_TABLES.get(local, 'Person')}:id={local}"

    def bare(self, local: str) -> str:
        return local


_PLAIN = toy_views.PROPERTY_GRAPH
STYLE = Tables("", "", "", False, _PLAIN.datatypes, _PLAIN.name, _PLAIN.alias, _PLAIN.description)
_TABLES = {node.id: STYLE.types(node)[0] for node in toy.NODES}


@pytest.mark.one_in(2)
class TestLadybug(GraphAdapterContract):
    groups_by_values: ClassVar[bool] = False
    schemes: ClassVar[frozenset[str]] = frozenset({"ladybug+file"})

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, tmp_path_factory: pytest.TempPathFactory) -> str:
        path = tmp_path_factory.mktemp("ladybug") / "toy.lbug"
        toy_ladybug.write(path, STYLE)
        return f"ladybug+file:{path}"

    @pytest.fixture(scope="class")
    @classmethod
    def view(cls) -> toy_views.View:
        view = toy_views.view(STYLE)
        view.rows += [(STYLE.node_id(node.id), "id", (node.id, None, None), ()) for node in toy.NODES]
        return view
