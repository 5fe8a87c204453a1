"""`scripts/service neo4j`: a store that starts without Docker, keeps what it was given and says what went wrong.

What it says after a crash is in `adapters/neo4j/test_faults`, where a server is killed: each start takes ten seconds.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import cast

import pytest
from scripts.services.failure import ServiceError

from tests.adapters.neo4j.graphs import write
from tests.neo4j_service import Neo4j

NODES = """\
id:ID(Person),:LABEL,name,name@nl,born:date,height:double,tags:string[],at:point,note:IGNORE
ann,Person;Guest,Ann,Anna,1990-01-02,1.71,a;b,"{latitude: 52.5, longitude: 4.75}",x
bob,,Bob,,,,,,
"""
EDGES = """\
:START_ID(Person)\t:TYPE\t:END_ID(Person)\tsince:int
ann\tKNOWS WELL\tbob\t1999
ann\tKNOWS WELL\tbob\t2001
"""


def files(folder: Path, nodes: str = NODES, edges: str = EDGES) -> list[Path]:
    (folder / "nodes.csv").write_text(nodes, encoding="utf-8")
    (folder / "edges.tsv").write_text(edges, encoding="utf-8")
    return [folder / "nodes.csv", folder / "edges.tsv"]


def test_a_second_start_finds_it_running_and_status_says_so(neo4j: Neo4j) -> None:
    process = neo4j.process
    second = neo4j.script("start")
    status = neo4j.script("status")

    assert second.stdout == f"{neo4j.url}\n"
    assert neo4j.process == process
    assert (status.returncode, status.stdout) == (0, f"running at {neo4j.url}, process {process}\n")


def test_it_listens_on_loopback_only(neo4j: Neo4j) -> None:
    port = f":{int(neo4j.url.rpartition(':')[2]):04X}"
    lines = Path("/proc/net/tcp").read_text().splitlines() + Path("/proc/net/tcp6").read_text().splitlines()
    listening = {row[1] for row in (line.split() for line in lines) if row[3] == "0A" and row[1].endswith(port)}

    assert {address.rpartition(":")[0].lstrip("0") for address in listening} <= {
        "100007F",
        "FFFF00000100007F",
    }


def test_node_and_edge_files_are_loaded_with_their_types_constraints_and_index(neo4j: Neo4j, tmp_path: Path) -> None:
    neo4j.clear()
    assert neo4j.script("load", *map(str, files(tmp_path))).returncode == 0

    (ann,) = write(neo4j, "MATCH (n:Person:Guest {id: 'ann'}) RETURN properties(n)")
    own = cast("dict[str, object]", ann[0])
    assert {key: str(value) for key, value in own.items() if key != "at"} == {
        "id": "ann",
        "name": "Ann",
        "name@nl": "Anna",
        "born": "1990-01-02",
        "height": "1.71",
        "tags": "['a', 'b']",
    }
    assert write(neo4j, "MATCH ()-[r:`KNOWS WELL`]->({id: 'bob'}) RETURN r.since ORDER BY r.since") == [
        [1999],
        [2001],
    ]
    constraints = write(neo4j, "SHOW CONSTRAINTS YIELD labelsOrTypes, properties RETURN labelsOrTypes[0], properties")
    assert sorted(constraints, key=str) == [["Guest", ["id"]], ["Person", ["id"]]]
    found = write(neo4j, "CALL db.index.fulltext.queryNodes('kgnav_names', 'anna') YIELD node RETURN node.id")
    assert found == [["ann"]]


def test_what_was_there_before_is_gone_after_it_is_emptied(neo4j: Neo4j, tmp_path: Path) -> None:
    neo4j.clear()
    assert neo4j.script("load", "--no-full-text", *map(str, files(tmp_path))).returncode == 0
    assert write(neo4j, "SHOW FULLTEXT INDEXES YIELD name RETURN name") == []
    assert neo4j.script("clear").returncode == 0

    assert write(neo4j, "MATCH (n) RETURN count(n)") == [[0]]
    assert write(neo4j, "SHOW CONSTRAINTS YIELD name RETURN name") == []


@pytest.mark.parametrize(
    ("nodes", "edges", "reason"),
    [
        (NODES + "ann,Person,Twice,,,,,,\n", EDGES, "already exists"),
        (NODES.replace("1.71", "tall"), EDGES, "height is 'tall', which is not a number"),
        (NODES + "cyd,Person\n", EDGES, r"nodes.csv:4: 9 fields expected"),
        (NODES, EDGES + "ann\tKNOWS\tnobody\t1\n", "the end 'nobody', which no node file has"),
        (NODES, "a,b\n1,2\n", "neither that of a node file nor that of an edge file"),
    ],
)
def test_a_wrong_file_is_refused_with_what_is_wrong(
    neo4j: Neo4j, tmp_path: Path, nodes: str, edges: str, reason: str
) -> None:
    with pytest.raises(ServiceError, match=reason):
        neo4j.load(files(tmp_path, nodes, edges))


def test_a_file_that_is_not_there_is_said_before_anything_is_done(neo4j: Neo4j, tmp_path: Path) -> None:
    done = neo4j.script("load", str(tmp_path / "absent.csv"))

    assert done.returncode == 1
    assert "there is no file" in done.stderr


def test_where_java_cannot_be_installed_the_reason_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "python3").symlink_to(Path(sys.executable).resolve())
    monkeypatch.setenv("PATH", str(folder))
    assert shutil.which("java") is None

    done = Neo4j(tmp_path / "own").script("start")

    assert done.returncode == 1
    assert "java, javac is not installed and there is no apt-get" in done.stderr
