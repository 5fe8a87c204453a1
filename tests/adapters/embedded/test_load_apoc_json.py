"""APOC's JSON exports that are one document give what its JSON lines give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.errors import BadLine
from tests.adapters.embedded.loaded import loaded, write

NODES = [
    {"type": "node", "id": "0", "labels": ["Person", "Actor"], "properties": {"name": "Keanu", "born": 1964}},
    {"type": "node", "id": "1", "labels": ["Movie"], "properties": {"name": "The Matrix", "tags": ["a", "b"]}},
    {"type": "node", "id": "2"},
]
RELS = [
    {
        "id": "0",
        "type": "relationship",
        "label": "ACTED_IN",
        "properties": {"roles": ["Neo"]},
        "start": {"id": "0", "labels": ["Person"]},
        "end": {"id": "1", "labels": ["Movie"]},
    },
    {"id": "1", "type": "relationship", "label": "LIKES", "start": {"id": "0"}, "end": {"id": "1"}},
]
FORMS = {
    "an array": [*NODES, *RELS],
    "an object of arrays": {"nodes": NODES, "rels": RELS},
    "an object of objects": {key: {one["id"]: one for one in some} for key, some in (("nodes", NODES), ("rels", RELS))},
}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_each_form_gives_what_json_lines_give(tmp_path: Path, form: object, indent: int | None) -> None:
    lines = tmp_path / "lines"
    lines.mkdir()
    expected = loaded(lines, {"export.jsonl": "".join(f"{json.dumps(one)}\n" for one in (*NODES, *RELS))})
    found = loaded(tmp_path, {"export.json": json.dumps(form, indent=indent)})
    assert found.qualified_edges() == expected.qualified_edges()
    assert len(found.edges()) == len(RELS)
    for key in ("0", "1", "2"):
        assert found.node_labels(key) == expected.node_labels(key)
        assert found.attributes(key) == expected.attributes(key)
        assert found.names(key) == expected.names(key)
    assert found.nodes() == expected.nodes()


def test_a_value_that_is_neither_is_a_bad_line(tmp_path: Path) -> None:
    source = write(tmp_path, "export.json", json.dumps([*NODES, {"type": "path"}]))
    with pytest.raises(BadLine, match="not a JSON object with a type of node or relationship"):
        load([source], tmp_path / "g.kg")
