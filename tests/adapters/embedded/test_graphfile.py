"""What is no graph file, or no longer one, is refused with the way to mend it."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded import path_of, queries
from kgnav_mcp.adapters.embedded.fileformat import APPLICATION_ID, FORMAT_VERSION, SCHEMA
from kgnav_mcp.adapters.embedded.graphfile import GREATEST_LENGTH
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.errors import InvalidStore, StoreError, StoreUnavailable
from kgnav_mcp.model import Direction
from kgnav_mcp.port import AdapterOptions
from tests.contract import toy
from tests.rows import triples_at

READER = """
import asyncio, sys
from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.model import Direction
from kgnav_mcp.port import AdapterOptions

async def main():
    async with open_adapter(sys.argv[1], AdapterOptions()) as adapter:
        for _ in range(20):
            page = await adapter.neighbours([sys.argv[2]], Direction.INCOMING, limit=1000)
        print(len(page.items))

asyncio.run(main())
"""

LONG_WRITER = """
import sqlite3, sys
path, length = sys.argv[1:]
connection = sqlite3.connect(path, isolation_level=None)
connection.execute("PRAGMA journal_mode = OFF")
connection.execute("UPDATE node SET description = CAST(zeroblob(?) AS TEXT) WHERE key = 'ada'", (int(length),))
"""
LIMITED_READER = """
import asyncio, resource, sys
from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.errors import StoreError
from kgnav_mcp.port import AdapterOptions

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

async def main():
    async with open_adapter(sys.argv[1], AdapterOptions()) as adapter:
        await adapter.describe(["grace"])
        resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
        before = peak()
        try:
            await adapter.describe([sys.argv[2]])
        except StoreError as error:
            print(f"{type(error).__name__}, {'under' if peak() - before < 65_536 else 'over'} 64 MiB more")

asyncio.run(main())
"""


async def refusal(path: Path | str, target: Path | None = None) -> StoreError:
    """The error for a path, whose hint must make `target`: the path itself unless something else is there."""
    adapter = open_adapter(str(path), AdapterOptions())
    with pytest.raises(StoreError) as caught:
        await adapter.open()
    await adapter.close()
    assert caught.value.next_step.endswith(f"kgnav load SOURCES... -o {target or path}")
    return caught.value


async def test_a_missing_file_is_refused_with_the_way_to_make_it(tmp_path: Path):
    error = await refusal(tmp_path / "films.kg")
    assert isinstance(error, StoreUnavailable)
    assert "does not exist" in error.message


async def test_a_folder_is_no_graph_file(tmp_path: Path):
    assert isinstance(await refusal(tmp_path, tmp_path.with_suffix(".kg")), InvalidStore)


@pytest.mark.parametrize("content", [b"", b"head,relation,tail\n", b"SQLite format 3\x00", b"\x00" * 5000])
async def test_a_file_of_another_kind_is_no_graph_file(tmp_path: Path, content: bytes):
    (tmp_path / "other.kg").write_bytes(content)
    error = await refusal(tmp_path / "other.kg", tmp_path / "other-2.kg")
    assert isinstance(error, InvalidStore)
    assert "is not a graph file" in error.message


async def test_the_hint_never_names_a_file_that_is_not_ours(toy_file: Path, tmp_path: Path):
    (tmp_path / "my.tsv").write_text("a\tp\tb\n", encoding="utf-8")
    await refusal(tmp_path / "my.tsv", tmp_path / "my.kg")
    (tmp_path / "my.kg").write_text("notes", encoding="utf-8")
    await refusal(tmp_path / "my.tsv", tmp_path / "my-2.kg")
    shutil.copy(toy_file, tmp_path / "my.kg")
    await refusal(tmp_path / "my.tsv", tmp_path / "my.kg")


async def test_a_database_of_somebody_else_is_no_graph_file(tmp_path: Path):
    with closing(sqlite3.connect(tmp_path / "other.kg")) as connection:
        connection.execute("CREATE TABLE meta (key TEXT, value TEXT)")
    assert "is not a graph file" in (await refusal(tmp_path / "other.kg", tmp_path / "other-2.kg")).message


@pytest.mark.parametrize("version", [FORMAT_VERSION - 1, FORMAT_VERSION + 1])
async def test_a_file_of_another_version_is_refused_with_the_command_to_load_it_again(
    version: int, toy_file: Path, tmp_path: Path
):
    path = shutil.copy(toy_file, tmp_path / "other.kg")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    error = await refusal(path)
    assert isinstance(error, InvalidStore)
    assert f"has format {version}; this version of kgnav reads format {FORMAT_VERSION}" in error.message


@pytest.mark.parametrize("part", [0.9, 0.5, 0.1])
async def test_a_file_cut_short_is_refused(toy_file: Path, tmp_path: Path, part: float):
    content = toy_file.read_bytes()
    (tmp_path / "cut.kg").write_bytes(content[: int(len(content) * part)])
    error = await refusal(tmp_path / "cut.kg")
    assert isinstance(error, InvalidStore)
    assert "truncated" in error.message


async def test_a_graph_file_without_its_tables_is_refused(tmp_path: Path):
    with closing(sqlite3.connect(tmp_path / "empty.kg")) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
        connection.execute("CREATE TABLE meta (key TEXT, value TEXT)")
    assert "does not have the tables" in (await refusal(tmp_path / "empty.kg")).message


ENDLESS_VIEW = """
    DROP TABLE relation;
    CREATE VIEW relation (id, key, label, edges, attributes) AS
    WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x, 'r' || x, 'r', 1, 1 FROM c
"""


@pytest.mark.parametrize(
    "script",
    [
        ENDLESS_VIEW,
        "CREATE VIEW more AS SELECT 1",
        "CREATE TABLE more (x)",
        "CREATE INDEX more ON edge (n)",
        "CREATE TRIGGER more AFTER INSERT ON node BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE more USING fts5 (x)",
        "DROP INDEX edge_incoming",
        "ALTER TABLE node ADD COLUMN more AS (label || label)",
    ],
)
async def test_a_file_made_of_anything_but_what_the_loader_makes_is_refused(
    toy_file: Path, tmp_path: Path, script: str
):
    path = Path(shutil.copy(toy_file, tmp_path / "crafted.kg"))
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    error = await refusal(path)
    assert isinstance(error, InvalidStore)
    assert "does not have the tables" in error.message


@pytest.mark.parametrize("source", ["a\tb\tc\n", "<http://x/a> <http://x/b> <http://x/c> .\n"])
async def test_a_load_makes_the_tables_that_are_looked_for(tmp_path: Path, source: str):
    (tmp_path / ("t.nt" if source.startswith("<") else "t.tsv")).write_text(source, encoding="utf-8")
    load(list(tmp_path.glob("t.*")), tmp_path / "t.kg")
    with closing(sqlite3.connect(tmp_path / "t.kg")) as connection:
        made = {text for (text,) in connection.execute(queries.entities.SCHEMA)}
    assert made == SCHEMA


@pytest.mark.slow
async def test_a_text_of_a_length_that_no_load_writes_is_refused_before_it_takes_memory(toy_file: Path, tmp_path: Path):
    path = Path(shutil.copy(toy_file, tmp_path / "long.kg"))
    # In another process: SQLite's memory in this one is limited as soon as a graph file is open.
    length = str(GREATEST_LENGTH + 1)
    writer = await asyncio.create_subprocess_exec(sys.executable, "-c", LONG_WRITER, str(path), length)
    assert not await writer.wait()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", LIMITED_READER, str(path), "ada", stdout=asyncio.subprocess.PIPE
    )
    said = (await process.communicate())[0].decode()
    path.unlink()
    assert said == "InvalidStore, under 64 MiB more\n"


async def test_a_damaged_file_is_refused_with_the_way_to_mend_it(toy_file: Path, tmp_path: Path):
    content = bytearray(toy_file.read_bytes())
    content[8192:] = b"\xa5" * (len(content) - 8192)
    path = tmp_path / "damaged.kg"
    path.write_bytes(content)
    adapter = open_adapter(str(path), AdapterOptions())

    async def read() -> None:
        await adapter.open()
        await triples_at(adapter, [toy.HUB], Direction.INCOMING, limit=10)

    with pytest.raises(InvalidStore) as caught:
        await read()
    assert f"kgnav load SOURCES... -o {path}" in caught.value.next_step
    assert isinstance(caught.value.__cause__, sqlite3.DatabaseError)
    await adapter.close()


@pytest.mark.parametrize("name", ["a?b.kg", "a#b.kg", "a%20b.kg", "a b.kg", "ä'\"🜚.kg", "mode=rw&x?.kg", "c:d.kg"])
async def test_a_file_may_have_any_name(toy_file: Path, tmp_path: Path, name: str):
    path = shutil.copy(toy_file, tmp_path / name)
    async with open_adapter(str(path), AdapterOptions()) as adapter:
        assert (await adapter.health()).store.endswith(name)
    async with open_adapter(Path(path).as_uri(), AdapterOptions()) as adapter:
        assert (await adapter.health()).store.endswith(name)


async def test_a_file_that_may_only_be_read_is_enough(toy_file: Path, tmp_path: Path):
    path = Path(shutil.copy(toy_file, tmp_path / "locked.kg"))
    path.chmod(0o444)
    async with open_adapter(str(path), AdapterOptions()) as adapter:
        assert (await adapter.health()).reachable
    assert [file.name for file in tmp_path.iterdir()] == ["locked.kg"], "reading leaves nothing beside the file"


@pytest.mark.slow
async def test_four_processes_read_one_file_at_once(toy_file: Path):
    async def read() -> bytes:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", READER, str(toy_file), toy.HUB, stdout=asyncio.subprocess.PIPE
        )
        return (await process.communicate())[0]

    counts = {int(output) for output in await asyncio.gather(*(read() for _ in range(4)))}
    assert counts == {sum(edge.tail == toy.HUB for edge in toy.EDGES)}


async def test_before_opening_and_after_closing_a_graph_says_so(toy_file: Path):
    adapter = open_adapter(str(toy_file), AdapterOptions())
    with pytest.raises(StoreUnavailable, match="not open"):
        await adapter.describe(["ada"])
    await adapter.close()


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ("films.kg", "films.kg"),
        ("/data/a?b#c.kg", "/data/a?b#c.kg"),
        ("file:films.kg", "films.kg"),
        ("file:///data/a%20b.kg", "/data/a b.kg"),
        ("FILE:/data/x.kg", "/data/x.kg"),
    ],
)
def test_a_location_is_a_path_or_a_file_url(location: str, path: str):
    assert path_of(location) == path
