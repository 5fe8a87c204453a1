"""SQLite and DuckDB databases by their foreign keys, beside SQL on the same file."""

from __future__ import annotations

import importlib
import re
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.config import GraphSettings, Settings
from kgnav_mcp.errors import LoadError
from tests.adapters.embedded.loaded import Loaded
from tests.server.clients import call

SCHEMA = """
CREATE TABLE Artist (ArtistId INTEGER PRIMARY KEY, Name TEXT);
CREATE TABLE Album (AlbumId INTEGER PRIMARY KEY, Title TEXT, ArtistId INTEGER REFERENCES Artist (ArtistId));
CREATE TABLE Playlist (PlaylistId INTEGER PRIMARY KEY, Name TEXT);
CREATE TABLE PlaylistAlbum (
    PlaylistId INTEGER REFERENCES Playlist (PlaylistId), AlbumId INTEGER REFERENCES Album (AlbumId), Position INTEGER,
    PRIMARY KEY (PlaylistId, AlbumId)
);
CREATE TABLE Employee (
    EmployeeId INTEGER PRIMARY KEY, FirstName TEXT, LastName TEXT, Title TEXT, Salary DOUBLE, Photo BLOB,
    ReportsTo INTEGER REFERENCES Employee (EmployeeId)
);
CREATE TABLE Note (Body TEXT);
CREATE VIEW Names AS SELECT Name FROM Artist;
INSERT INTO Artist VALUES (1, 'AC/DC'), (2, 'Accept'), (3, NULL);
INSERT INTO Album VALUES (1, 'For Those About To Rock', 1), (2, 'Balls to the Wall', 2), (3, 'Unknown', NULL);
INSERT INTO Playlist VALUES (1, 'Rock'), (2, 'Empty');
INSERT INTO PlaylistAlbum VALUES (1, 1, 5), (1, 2, 6);
INSERT INTO Employee VALUES (1, 'Nancy', 'Edwards', 'Manager', 2.0, NULL, NULL);
INSERT INTO Employee VALUES (2, 'Jane', 'Peacock', 'Agent', 1.5, 'x'::BLOB, 1);
INSERT INTO Note VALUES ('first'), ('second');
"""


def sqlite(folder: Path) -> Path:
    path = folder / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA.replace("'x'::BLOB", "x'78'"))
    return path


def duckdb(folder: Path) -> Path:
    path = folder / "shop.duckdb"
    connection = cast("Any", importlib.import_module("duckdb")).connect(str(path))
    connection.execute(SCHEMA)
    connection.close()
    return path


@pytest.mark.parametrize("make", [sqlite, duckdb])
def test_tables_are_labels_rows_nodes_and_references_edges(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    source = make(tmp_path)
    graph = Loaded(tmp_path / "g.kg", load([source], tmp_path / "g.kg"))
    assert Counter(graph.edges()) == Counter(
        [
            ("Album:1", "Artist", "Artist:1"),
            ("Album:2", "Artist", "Artist:2"),
            ("Playlist:1", "PlaylistAlbum", "Album:1"),
            ("Playlist:1", "PlaylistAlbum", "Album:2"),
            ("Employee:2", "ReportsTo", "Employee:1"),
        ]
    )
    (position,) = [q for _, p, o, _, q in graph.qualified_edges() if (p, o) == ("PlaylistAlbum", "Album:2")]
    assert position == {"Position": [["6", "integer", None]]}
    nodes = graph.nodes()
    assert nodes["Artist:1"][0] == "AC/DC"
    assert nodes["Employee:2"][0] == "Jane Peacock"
    assert graph.node_labels("Album:3") == ["Album"]
    assert ("Salary", "1.5", "float", None) in graph.attributes("Employee:2")
    assert not [name for name, *_ in graph.attributes("Employee:2") if name in {"Photo", "ReportsTo"}]
    assert sum(key.startswith("Note:") for key in nodes) == 2
    assert len(nodes) == 3 + 3 + 2 + 2 + 2
    notes = " ".join(graph.report.notes)
    assert "Employee 2 named by FirstName LastName" in notes
    assert "omitted 1 binary values" in notes


def test_binary_values_of_joins_and_in_lists_are_omitted_and_counted(tmp_path: Path) -> None:
    connection = cast("Any", importlib.import_module("duckdb")).connect(str(tmp_path / "t.duckdb"))
    connection.execute("CREATE TABLE a (id INTEGER PRIMARY KEY, scans BLOB[])")
    connection.execute("CREATE TABLE b (x INTEGER REFERENCES a (id), y INTEGER REFERENCES a (id), stamp BLOB)")
    connection.execute("INSERT INTO a VALUES (1, ['p'::BLOB, 'q'::BLOB]), (2, NULL)")
    connection.execute("INSERT INTO b VALUES (1, 2, 'r'::BLOB)")
    connection.close()
    graph = Loaded(tmp_path / "g.kg", load([tmp_path / "t.duckdb"], tmp_path / "g.kg"))
    assert "b'" not in str(graph.attributes("a:1"))
    assert [qualifiers for *_, qualifiers in graph.qualified_edges()] == [None]
    assert [note for note in graph.report.notes if "omitted" in note] == [
        "t.duckdb: omitted 2 binary values",
        "t.duckdb: omitted 1 binary values",
    ]


BINARY_KEYS = """
CREATE TABLE t (k BLOB, n INTEGER, up BLOB, photo BLOB, PRIMARY KEY (k, n));
CREATE TABLE u (id BLOB PRIMARY KEY, photo BLOB);
CREATE TABLE v (id INTEGER PRIMARY KEY, u BLOB REFERENCES u (id));
INSERT INTO t VALUES (x'01AF', 1, NULL, x'FF'), (x'', 2, NULL, NULL);
INSERT INTO u VALUES (x'62', NULL), (x'C3A9', x'00');
INSERT INTO v VALUES (7, x'C3A9')
"""


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_binary_primary_keys_are_hexadecimal_ids(tmp_path: Path, kind: str) -> None:
    source = tmp_path / f"b.{kind}"
    module = cast("Any", importlib.import_module("sqlite3" if kind == "sqlite" else "duckdb"))
    with closing(module.connect(str(source))) as connection:
        for statement in BINARY_KEYS.split(";"):
            connection.execute(statement if kind == "sqlite" else re.sub(r"x('\w*')", r"unhex(\1)", statement))
        connection.commit()
    graph = Loaded(tmp_path / "g.kg", load([source], tmp_path / "g.kg"))
    assert set(graph.nodes()) == {"t:0x01af/1", "t:0x/2", "u:0x62", "u:0xc3a9", "v:7"}
    assert graph.edges() == [("v:7", "u", "u:0xc3a9")]
    assert [row[:2] for row in graph.attributes("t:0x01af/1")] == [("k", "0x01af"), ("n", "1")]
    assert f"b.{kind}: omitted 2 binary values" in graph.report.notes


def test_a_database_is_read_only_and_stays_as_it_is(tmp_path: Path) -> None:
    source = sqlite(tmp_path)
    before = source.read_bytes()
    source.chmod(0o444)
    load([source], tmp_path / "g.kg")
    assert source.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"shop.db", "g.kg"}


def test_a_graph_file_is_no_source(tmp_path: Path) -> None:
    load([sqlite(tmp_path)], tmp_path / "g.kg")
    (tmp_path / "copy.db").write_bytes((tmp_path / "g.kg").read_bytes())
    with pytest.raises(LoadError, match=r"copy\.db: it is a graph file already") as caught:
        load([tmp_path / "copy.db"], tmp_path / "h.kg")
    assert "kgnav-mcp --graph" in caught.value.next_step


def test_a_reference_to_what_is_no_primary_key_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.executescript(
            "CREATE TABLE a (id INTEGER PRIMARY KEY, code TEXT UNIQUE);"
            "CREATE TABLE b (id INTEGER PRIMARY KEY, code TEXT REFERENCES a (code));"
            "INSERT INTO a VALUES (1, 'x'); INSERT INTO b VALUES (1, 'x');"
        )
    with pytest.raises(LoadError, match="b refers to a by code, which is not its primary key"):
        load([tmp_path / "a.db"], tmp_path / "g.kg")


def test_a_broken_database_is_refused(tmp_path: Path) -> None:
    whole = sqlite(tmp_path).read_bytes()
    (tmp_path / "broken.db").write_bytes(whole[:5000])
    with pytest.raises(LoadError, match=r"broken\.db looks like a SQLite database that cannot be read"):
        load([tmp_path / "broken.db"], tmp_path / "g.kg")


async def test_decimals_of_a_database_are_numbers(tmp_path: Path) -> None:
    connection = cast("Any", importlib.import_module("duckdb")).connect(str(tmp_path / "t.duckdb"))
    connection.execute("CREATE TABLE item (id TEXT PRIMARY KEY, price DECIMAL(10, 2))")
    connection.execute("INSERT INTO item VALUES ('a', 9.5), ('b', 10)")
    connection.close()
    load([tmp_path / "t.duckdb"], tmp_path / "g.kg")
    settings = Settings(graphs={"shop": GraphSettings(location=str(tmp_path / "g.kg"))})
    text = await call("run_plan", {"plan": "MATCH (n:item) RETURN n.id, n.price ORDER BY n.price DESC"}, settings)
    assert text.splitlines()[-2:] == ["b|10.0", "a|9.5"]


def test_a_time_at_midnight_of_a_database_stays_a_time_and_a_date_a_date(tmp_path: Path) -> None:
    connection = cast("Any", importlib.import_module("duckdb")).connect(str(tmp_path / "t.duckdb"))
    connection.execute("CREATE TABLE t (id TEXT PRIMARY KEY, begun TIMESTAMP, born DATE)")
    connection.execute("INSERT INTO t VALUES ('a', '1999-01-01 00:00:00', '1999-01-01')")
    connection.close()
    graph = Loaded(tmp_path / "g.kg", load([tmp_path / "t.duckdb"], tmp_path / "g.kg"))
    assert [row[:3] for row in graph.attributes("t:a") if row[0] != "id"] == [
        ("begun", "1999-01-01T00:00:00", "localdatetime"),
        ("born", "1999-01-01", "date"),
    ]


def test_an_infinite_number_of_a_database_is_written_as_from_other_sources(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.executescript("CREATE TABLE T (id INTEGER PRIMARY KEY, x REAL); INSERT INTO T VALUES (1, 9e999)")
    graph = Loaded(tmp_path / "g.kg", load([tmp_path / "a.db"], tmp_path / "g.kg"))
    assert ("x", "Infinity", "float", None) in graph.attributes("T:1")
