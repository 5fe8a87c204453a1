from __future__ import annotations

import gc
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.fileformat import APPLICATION_ID, FORMAT_VERSION
from kgnav_mcp.adapters.embedded.loading import LoadOptions, Progress, load
from kgnav_mcp.errors import BadLine
from tests.adapters.embedded.loaded import Loaded, loaded, write

OLD = "a\tp\tb\n"

CHILD = """
import sys
from pathlib import Path
from kgnav_mcp.adapters.embedded.loading import load

def told(progress):
    print(progress.phase, flush=True)
    if progress.phase == sys.argv[3]:
        sys.stdin.readline()

load([Path(sys.argv[1])], Path(sys.argv[2]), progress=told)
"""


def old_graph(folder: Path) -> Loaded:
    return loaded(folder, {"old.tsv": OLD})


def unfinished(folder: Path, phase: str) -> subprocess.Popen[str]:
    """A load of another source into the same file, waiting in the middle of its work."""
    source = write(folder, "new.tsv", "".join(f"x{n}\tp\ty{n}\n" for n in range(60_000)))
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(source), str(folder / "graph.kg"), phase],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    while child.stdout.readline().strip() != phase:
        assert child.poll() is None
    return child


def parts(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if ".part-" in path.name]


def test_a_failed_load_leaves_the_old_file_as_it_was_and_no_other(tmp_path: Path) -> None:
    graph = old_graph(tmp_path)
    before = graph.path.read_bytes()
    with pytest.raises(BadLine):
        load([write(tmp_path, "bad.tsv", "a\tp\tb\nbroken\n")], graph.path)
    assert graph.path.read_bytes() == before
    assert parts(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["reading", "indexing"])
def test_a_killed_load_leaves_the_old_file_readable_and_the_next_load_clears_up(tmp_path: Path, phase: str) -> None:
    graph = old_graph(tmp_path)
    child = unfinished(tmp_path, phase)
    assert parts(tmp_path)
    child.kill()
    child.communicate()
    assert graph.edges() == [("a", "p", "b")]
    assert parts(tmp_path)
    load([write(tmp_path, "next.tsv", "c\tp\td\n")], graph.path)
    assert graph.edges() == [("c", "p", "d")]
    assert parts(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_load_that_is_told_to_stop_removes_what_it_began(tmp_path: Path, number: signal.Signals) -> None:
    graph = old_graph(tmp_path)
    child = unfinished(tmp_path, "reading")
    child.send_signal(number)
    _, errors = child.communicate("\n")
    assert child.returncode != 0
    assert "KeyboardInterrupt" in errors
    assert graph.edges() == [("a", "p", "b")]
    assert parts(tmp_path) == []


@pytest.mark.slow
def test_a_signal_in_the_middle_of_a_statement_stops_it_as_its_own_handler_says(tmp_path: Path) -> None:
    class Stopped(KeyboardInterrupt):
        pass

    def stop(_number: int, _frame: object) -> None:
        raise Stopped

    def terminate(_number: int, _frame: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    def told(progress: Progress) -> None:
        if progress.phase == "sorting":
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            signal.signal(signal.SIGALRM, terminate)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        source = write(tmp_path, "new.tsv", "".join(f"x{n * 7919 % 100_003}\tp\ty{n}\n" for n in range(200_000)))
        with pytest.raises(Stopped):
            load([source], tmp_path / "graph.kg", progress=told)
        assert signal.getsignal(signal.SIGTERM) is stop
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    assert [path.name for path in tmp_path.iterdir()] == ["new.tsv"]


def test_the_part_file_of_a_living_process_is_left_alone(tmp_path: Path) -> None:
    other = write(tmp_path, f"graph.kg.part-{os.getppid()}", "another load is at work")
    old_graph(tmp_path)
    assert other.exists()


def test_a_disk_that_takes_no_more_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    source = write(tmp_path, "g.tsv", "".join(f"entity number {n}\tp\tentity number {n + 1}\n" for n in range(60_000)))
    script = """
import resource, sys
from pathlib import Path
from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.errors import LoadError
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
try:
    load([Path(sys.argv[1])], Path(sys.argv[2]))
except LoadError as error:
    print(error.message, error.next_step)
"""
    arguments = [sys.executable, "-c", script, str(source), str(tmp_path / "g.kg")]
    child = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert "the disk is full or fails" in child.stdout
    assert child.stderr == ""
    assert [path.name for path in tmp_path.iterdir()] == ["g.tsv"]


def test_the_file_tells_its_format_and_opens_read_only_without_a_journal(tmp_path: Path) -> None:
    graph = old_graph(tmp_path)
    assert graph.rows("PRAGMA application_id") == [(APPLICATION_ID,)]
    assert graph.rows("PRAGMA user_version") == [(FORMAT_VERSION,)]
    assert graph.rows("PRAGMA journal_mode") == [("delete",)]
    assert graph.rows("PRAGMA integrity_check") == [("ok",)]
    graph.path.chmod(0o444)
    assert graph.edges() == [("a", "p", "b")]


def test_the_full_text_index_agrees_with_the_names_it_was_built_beside(tmp_path: Path) -> None:
    path = loaded(tmp_path, {"g.tsv": "".join(f"Entity {n}\tp\tOther {n}\n" for n in range(3000))}).path
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO name_words (name_words, rank) VALUES ('integrity-check', 1)")
        assert connection.execute("SELECT count(*) FROM name_words('entity')").fetchall() == [(3000,)]
        assert connection.execute("SELECT doc FROM name_vocabulary WHERE term = '2999'").fetchall() == [(2,)]


def test_the_file_says_what_it_was_made_from_without_naming_folders(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.ttl": ":a :p :b, :c ; :q 1 ."}, LoadOptions(mediators="unnamed"))
    assert (graph.meta("kind"), graph.meta("sources"), graph.meta("mediators")) == ("rdf", '["g.ttl"]', "unnamed")
    assert (graph.meta("entities"), graph.meta("triples"), graph.meta("sampled")) == ("3", "3", "no")
    assert graph.meta("created").endswith("+00:00")
    assert str(tmp_path) not in graph.path.read_bytes().decode("latin-1")
    assert graph.report.sources == ("g.ttl",)


def test_equal_sources_give_equal_rows_and_another_revision(tmp_path: Path) -> None:
    files = {"g.ttl": ":a :p [ :q :b ], _:x ; a :T . _:x :r 1, 2 {| :s :t |} .", "t.tsv": "u\tp\tv\nw\tp\tu\n"}
    dumps: list[list[str]] = []
    revisions: set[str] = set()
    for _ in range(2):
        graph = loaded(tmp_path, files)
        revisions.add(graph.meta("revision"))
        with closing(sqlite3.connect(graph.path)) as connection:
            connection.execute("DELETE FROM meta WHERE key IN ('revision', 'created')")
            dumps.append(list(connection.iterdump()))
    assert dumps[0] == dumps[1]
    assert len(revisions) == 2


@pytest.mark.slow
def test_progress_rises_to_all_bytes_and_names_the_phases(tmp_path: Path) -> None:
    told: list[Progress] = []
    sources = [
        write(tmp_path, "one.tsv.gz", "".join(f"x{n}\tp\ty{n}\n" for n in range(120_000))),
        write(tmp_path, "two.jsonl", '{"type":"node","id":"1","properties":{"a":1}}\n'),
    ]
    load(sources, tmp_path / "g.kg", progress=told.append)
    read = [step.bytes_read for step in told]
    assert read == sorted(read)
    assert read[-1] == told[-1].bytes_total
    assert told[-1].triples == 120_001
    assert [step.phase for step in told][-3:] == ["sorting", "indexing", "counting"]
    assert len([step for step in told if step.source == "one.tsv.gz"]) >= 3


def test_a_load_switches_the_collector_of_cycles_back_on(tmp_path: Path) -> None:
    old_graph(tmp_path)
    assert gc.isenabled()


@pytest.mark.slow
def test_loads_into_different_files_can_run_at_once(tmp_path: Path) -> None:
    child = unfinished(tmp_path, "reading")
    report = load([write(tmp_path, "other.tsv", OLD)], tmp_path / "other.kg")
    assert report.triples == 1
    child.communicate("\n" * 20)
    assert child.returncode == 0
    deadline = time.monotonic() + 5
    while parts(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert sorted(path.name for path in tmp_path.glob("*.kg*")) == ["graph.kg", "other.kg"]
