"""Rows of another shape than a load writes: a verb answers, or says that the file is damaged."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.errors import InvalidStore, StoreUnavailable, UnknownName
from kgnav_mcp.port import AdapterOptions, FarEndKind, GraphAdapter, ValueOwner
from tests.contract import toy

IDS = ["ada", "ben", toy.HUB, toy.REGISTRY]
CALLS: tuple[Callable[[GraphAdapter], Coroutine[Any, Any, object]], ...] = (
    lambda graph: graph.describe(IDS),
    lambda graph: graph.find("ada lovelase", limit=5),
    lambda graph: graph.triples_by_qualifier("ada", limit=2),
    lambda graph: graph.schema(limit=10),
    lambda graph: graph.schema("Boat", limit=10),
    lambda graph: graph.nodes("Boat", None, None, limit=5),
    lambda graph: graph.values("length", None, ValueOwner.NODE, limit=5),
    lambda graph: graph.values("since", "knows", ValueOwner.RELATIONSHIP, limit=5),
    lambda graph: graph.edges(IDS, IDS, limit=3),
    lambda graph: graph.neighbours(IDS, None, limit=500),
    lambda graph: graph.neighbours(
        ["ada"], None, relation_paths=[("marriage", "spouse"), ("marriage", "rite")], limit=50
    ),
    lambda graph: graph.relations(IDS, None, hops=2, examples=2, limit=50),
    lambda graph: graph.relations(IDS, None, far_end_kind=FarEndKind.LITERAL, limit=50),
)
CELLS = {
    "node": "key label description mediator",
    "relation": "key label edges attributes",
    "edge": "p o n qualifiers",
    "attribute": "p n text datatype language qualifiers",
    "label": "key name nodes",
    "node_label": "label",
    "degree": "direction p n",
    "through": "p1 p2 n",
    "name": "node kind language text",
    "edge_end": "label",
    "edge_join": "head tail n",
    "edge_qualifier": "key",
    "label_property": "datatype n",
    "meta": "value",
}
WRONG = [
    *((table, column, "x'ff'") for table, columns in CELLS.items() for column in columns.split()),
    *(("edge", "qualifiers", json) for json in ("'x'", "'[1]'", """'{"a":1}'""", """'{"a":[1]}'""")),
    *(("meta", "value", json) for json in ("'1'", "'[1]'", """'{"a":1}'""")),
]


@pytest.mark.parametrize(("table", "column", "value"), WRONG)
async def test_values_that_no_load_writes_break_no_verb(
    toy_file: Path, tmp_path: Path, table: str, column: str, value: str
):
    path = Path(shutil.copy(toy_file, tmp_path / "damaged.kg"))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE OR IGNORE {table} SET {column} = {value}")  # noqa: S608 - names and values from above
    graph = open_adapter(str(path), AdapterOptions())
    async with AsyncExitStack() as stack:
        stack.push_async_callback(graph.close)
        for call in (GraphAdapter.open, *CALLS):
            with suppress(InvalidStore, UnknownName, StoreUnavailable):
                await call(graph)


async def test_a_value_of_another_type_is_told_as_damage(toy_file: Path, tmp_path: Path):
    path = Path(shutil.copy(toy_file, tmp_path / "damaged.kg"))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE node SET key = x'ff' WHERE key = 'boat03'")
    async with open_adapter(str(path), AdapterOptions()) as graph:
        with pytest.raises(InvalidStore, match="is damaged"):
            await graph.neighbours([toy.HUB], None, limit=500)
