"""Damaged graph files: every tool answers, or says that the file is damaged and what to do. Nothing else comes out."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest
from mcp import Client

from kgnav_mcp.adapters.embedded.fileformat import TABLES
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.app import App
from kgnav_mcp.config import GraphSettings, Settings
from kgnav_mcp.config.toolsets import default_toolsets
from kgnav_mcp.demo import demo_graph_path
from kgnav_mcp.server import build_server
from kgnav_mcp.server.toolsets import load_toolsets
from tests.sampling import sampled
from tests.server.clients import text_of

GOGH = {"label": "Painter", "property_name": "name", "property_value": "Vincent van Gogh"}
NETHERLANDS = "the_netherlands"
CALLS: tuple[tuple[str, Mapping[str, object]], ...] = (
    *((spec.name, spec.example) for toolset in load_toolsets(default_toolsets()).values() for spec in toolset.tools),
    ("find_node", {"hint": "Rembrant", "node_type": "Painter"}),
    ("describe_graph", {"name": "Person"}),
    ("describe_graph", {"name": "held_by"}),
    ("search", {"entity": "vincent_van_gogh", "direction": "incoming"}),
    ("search", {"entity": NETHERLANDS, "direction": "incoming"}),
    ("search", {"entity": NETHERLANDS, "direction": "incoming", "properties_to_filter_for": ["located_in"]}),
    ("get_relations", {"entity": NETHERLANDS, "question": "Who ruled it?"}),
    ("get_triples", {"entity": NETHERLANDS, "relations": ["ruler_of", "citizen_of"]}),
    ("get_node_by_property", GOGH),
    ("get_all_nearest_neighbors", GOGH),
    ("get_unique_property_values", {"property_name": "year", "entity_name": "Painting", "entity_type": "node"}),
    ("get_unique_property_values", {"property_name": "from", "entity_name": "held_by", "entity_type": "relationship"}),
)
ERRORS = {"Store unusable", "Store down", "Not found", "Ambiguous", "Invalid plan"}
"""How errors begin that are right here: what a lost row says is that there is nothing."""
PAGE = 4096


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo graph's file, as it should be."""
    return Path(shutil.copy(demo_graph_path(), tmp_path_factory.mktemp("whole") / "demo.kg"))


async def call_everything(paths: Sequence[Path]) -> None:
    """Call every tool on every file, and see that nothing comes out but answers and errors that fit."""
    graphs = {path.stem: GraphSettings(location=str(path)) for path in paths}
    async with Client(build_server(App(Settings(graphs=graphs, timeout=10)))) as client:
        for name, (tool, arguments) in product(graphs, CALLS):
            result = await client.call_tool(tool, {**arguments, "graph": name})
            text = text_of(result)
            assert not result.is_error or text.partition(":")[0] in ERRORS, (name, tool, arguments, text)


def flip_bits(content: bytearray, chance: random.Random) -> None:
    for _ in range(50):
        content[chance.randrange(PAGE, len(content))] ^= 1 << chance.randrange(8)


def flip_bits_anywhere(content: bytearray, chance: random.Random) -> None:
    for _ in range(50):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)


def blank_pages(content: bytearray, chance: random.Random) -> None:
    for page in chance.sample(range(1, len(content) // PAGE), 3):
        content[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)


def swap_pages(content: bytearray, chance: random.Random) -> None:
    for _ in range(3):
        one, other = (
            slice(page * PAGE, (page + 1) * PAGE) for page in chance.sample(range(1, len(content) // PAGE), 2)
        )
        content[one], content[other] = content[other], content[one]


def cut_off(content: bytearray, chance: random.Random) -> None:
    """Cut a file short and have its header say so, that it looks whole."""
    pages = chance.randrange(2, len(content) // PAGE)
    del content[pages * PAGE :]
    content[28:32] = pages.to_bytes(4, "big")


@pytest.mark.parametrize("damage", [flip_bits, flip_bits_anywhere, blank_pages, swap_pages, cut_off])
async def test_of_a_file_with_damaged_pages_every_tool_answers_or_says_that_it_is_damaged(
    whole: Path, tmp_path: Path, damage: Callable[[bytearray, random.Random], None]
):
    paths = [tmp_path / f"seed{seed}.kg" for seed in range(5)]
    for seed, path in enumerate(paths):
        content = bytearray(whole.read_bytes())
        damage(content, random.Random(seed))  # noqa: S311 - nothing secret
        path.write_bytes(content)
    await call_everything(paths)


RANGES = 64
SMALL_CALLS: tuple[tuple[str, Mapping[str, object]], ...] = (
    ("describe_graph", {}),
    ("find_node", {"hint": "ada lovelace"}),
    ("search", {"entity": "ada", "direction": "outgoing"}),
    ("run_plan", {"plan": "MATCH (a)-[r]->(b) RETURN a.name, type(r), b.name ORDER BY a.name, type(r), b.name"}),
)


def ranges_to_flip(content: bytes) -> list[range]:
    """The fields of the header, the beginning of each page, and the whole file in equal parts."""
    step = -(-len(content) // RANGES)
    return [
        *(range(place, place + 4) for place in range(0, 100, 4)),
        *(range(page, page + 16) for page in range(0, len(content), PAGE)),
        *(range(place, min(place + step, len(content))) for place in range(0, len(content), step)),
    ]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of a few dozen pages."""
    folder = tmp_path_factory.mktemp("small")
    names = ("Ada Lovelace", "Charles Babbage", "Mary Somerville")
    nodes = "".join(f"{name.partition(' ')[0].lower()},Person,{name}\n" for name in names)
    (folder / "nodes.csv").write_text(f":ID,:LABEL,name\n{nodes}", encoding="utf-8")
    edges = "ada,charles,knows,1833\nada,mary,taught_by,1832\nmary,charles,knows,1828\n"
    (folder / "edges.csv").write_text(f":START_ID,:END_ID,:TYPE,since:int\n{edges}", encoding="utf-8")
    load([folder / "nodes.csv", folder / "edges.csv"], folder / "small.kg")
    return folder / "small.kg"


@pytest.mark.parametrize("part", sampled(range(4), 4))
async def test_of_a_file_with_any_range_of_bytes_flipped_every_tool_answers_or_says_that_it_is_damaged(
    small: Path, tmp_path: Path, part: int
) -> None:
    content = small.read_bytes()
    paths: list[Path] = []
    for number, flipped in enumerate(ranges_to_flip(content)[part::4]):
        damaged = bytearray(content)
        for place in flipped:
            damaged[place] ^= 0xFF
        paths.append(tmp_path / f"range{number}.kg")
        paths[-1].write_bytes(damaged)
    graphs = {path.stem: GraphSettings(location=str(path)) for path in (small, *paths)}
    refused = 0
    right: list[str] = []
    async with Client(build_server(App(Settings(graphs=graphs, timeout=10)))) as client:
        for name, (place, (tool, arguments)) in product(graphs, enumerate(SMALL_CALLS)):
            result = await client.call_tool(tool, {**arguments, "graph": name})
            text = text_of(result)
            if name == small.stem:
                assert not result.is_error, text
                right.append(text)
            elif result.is_error:
                refused += 1
                assert text.partition(":")[0] in ERRORS, (name, tool, text)
                assert "kgnav load SOURCES" in text, (name, tool, text)
            else:
                assert text.replace(name, small.stem) == right[place], (name, tool, text)
    assert refused > len(paths)


def columns() -> dict[str, list[str]]:
    """The columns of every table of a graph file but the numbers of rows, which can be nothing else."""
    found: dict[str, list[str]] = defaultdict(list)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(TABLES)
        tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'name_*'")
        for (table,) in tables.fetchall():
            for (column,) in connection.execute("SELECT name FROM pragma_table_info(?) WHERE name <> 'id'", (table,)):
                found[table].append(column)
    return found


WRONG: tuple[int | float | str | bytes | None, ...] = (None, 7, 0, -(2**62), 0.5, b"\xff\x00", '{"a": [1]}', "[" * 5000)


def spoil(path: Path, table: str, column: str) -> None:
    """Put values of other kinds into a third of a column's rows, whatever the table allows."""
    chance = random.Random(column)  # noqa: S311 - nothing secret

    def spoilt(value: int | float | str | bytes | None) -> int | float | str | bytes | None:
        return chance.choice(WRONG) if chance.random() < 1 / 3 else value

    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        schema = connection.execute("SELECT sql, name FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
        connection.execute("PRAGMA writable_schema = ON")
        (stated,) = (sql for sql, name in schema if name == table)
        lax = stated.replace(" NOT NULL", "").replace(" TEXT", "").replace(" INTEGER,", ",")
        connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (lax, table))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.create_function("spoilt", 1, spoilt)
        connection.execute(f"UPDATE OR IGNORE {table} SET {column} = spoilt({column})")  # noqa: S608 - of `TABLES`
        connection.execute("PRAGMA writable_schema = ON")
        connection.executemany("UPDATE sqlite_schema SET sql = ? WHERE name = ?", schema)


@pytest.mark.parametrize("table", sampled(columns(), 2))
async def test_of_rows_with_values_of_other_kinds_every_tool_answers_or_says_that_the_file_is_damaged(
    whole: Path, tmp_path: Path, table: str
):
    paths: list[Path] = []
    for column in columns()[table]:
        paths.append(Path(shutil.copy(whole, tmp_path / f"{column}.kg")))
        spoil(paths[-1], table, column)
        assert paths[-1].read_bytes() != whole.read_bytes()
    await call_everything(paths)
