"""The tables of docs/papers.md: the tools' arguments are the papers', and what a table names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.server.clients import SPECS

ROOT = Path(__file__).parents[2]
ARGUMENTS = {
    "search": ["entity", "direction", "properties_to_filter_for"],
    "get_relations": ["entity"],
    "get_triples": ["entity", "relations"],
    "get_node_by_property": ["label", "property_name", "property_value"],
    "get_all_nearest_neighbors": ["label", "property_name", "property_value"],
    "get_unique_property_values": ["property_name", "entity_name", "entity_type"],
    "think": ["thought"],
    "find_node": ["hint", "node_type"],
    "fetch_neighbors": ["nodes", "edge_type", "node_type"],
    "find_common_nodes": ["pairs"],
}


@pytest.mark.parametrize("tool", ARGUMENTS)
def test_the_papers_arguments_come_first_and_no_other_is_required(tool: str):
    fields = SPECS[tool].arguments.model_fields
    papers = ARGUMENTS[tool]
    assert list(fields)[: len(papers)] == papers
    assert not [name for name, field in fields.items() if field.is_required() and name not in papers]


def test_every_test_that_a_table_names_exists():
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")))
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    text += "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "contract").rglob("*.py"))
    assert len(named) > 30
    assert named <= set(re.findall(r"def (test_\w+)", text))
