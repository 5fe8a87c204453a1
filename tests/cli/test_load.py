from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

from tests.cli.conftest import SCRIPTS, Command, Kgnav


def test_a_load_ends_with_a_summary_and_the_next_command(films: Path, command: Command) -> None:
    result = command("kgnav", "load", str(films), "-o", "films.kg")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("films.kg: 2 entities, 3 triples, ")
    assert result.stdout.endswith("Next: kgnav call describe_graph --graph films.kg\n")
    assert Path("films.kg").is_file()


def test_quiet_says_nothing(films: Path, kgnav: Kgnav) -> None:
    assert kgnav("load", str(films), "-o", "films.kg", "--quiet").output == ""


def test_a_missing_source_is_said_without_a_traceback(kgnav: Kgnav) -> None:
    result = kgnav("load", "nix.nt", "-o", "nix.kg")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: nix.nt does not exist\n")
    assert not Path("nix.kg").exists()


def test_a_bad_line_stops_the_load_and_leaves_no_file(films: Path, kgnav: Kgnav) -> None:
    films.write_text(films.read_text(encoding="utf-8") + "nonsense\n", encoding="utf-8")
    result = kgnav("load", str(films), "-o", "films.kg")
    assert result.exit_code == 1
    assert "films.nt:4: " in result.stderr
    assert "--skip-bad" in result.stderr
    assert [path.name for path in Path().iterdir()] == ["films.nt"]


def test_skipped_lines_are_counted_and_the_first_are_shown(films: Path, kgnav: Kgnav) -> None:
    films.write_text(films.read_text(encoding="utf-8") + "nonsense\n" * 7, encoding="utf-8")
    result = kgnav("load", str(films), "-o", "films.kg", "--skip-bad")
    assert result.exit_code == 0
    assert "7 bad lines were skipped:\n  films.nt:4: " in result.stdout
    assert "  and 2 more\n" in result.stdout


def test_the_options_reach_the_loader(tmp_path: Path, kgnav: Kgnav) -> None:
    (tmp_path / "facts.txt").write_text("Q1\tP31\tQ2\nQ1\tP57\tQ3\n", encoding="utf-8")
    (tmp_path / "names.tsv").write_text("Q1\tAlien\nQ2\tfilm\nQ3\tRidley Scott\n", encoding="utf-8")
    given = ("--format", "triples", "--labels", "names.tsv", "--type-relation", "P31")
    assert kgnav("load", "facts.txt", *given, "-o", "f.kg").exit_code == 0

    shown = kgnav("call", "find_node", "hint=Alien", "node_type=film", "--graph", "f.kg")
    assert shown.exit_code == 0
    assert "Q1|Alien|film" in shown.stdout


def test_an_output_that_would_be_lost_is_refused(films: Path, kgnav: Kgnav) -> None:
    Path("notes.txt").write_text("dear diary", encoding="utf-8")
    before = films.read_bytes()
    for target, hint in (("films.nt", "-o films.kg"), ("notes.txt", "--force"), (".", "-o graph.kg")):
        result = kgnav("load", str(films), "-o", target)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.startswith(f"Error: {target} ")
        assert hint in result.stderr
    assert films.read_bytes() == before
    assert kgnav("load", str(films), "-o", "notes.txt", "--force").exit_code == 0


def test_a_source_taken_for_a_graph_is_told_how_to_become_one(kgnav: Kgnav) -> None:
    Path("my.tsv").write_text("a\tp\tb\n", encoding="utf-8")
    result = kgnav("call", "describe_graph", "--graph", "my.tsv")
    assert result.exit_code == 1
    assert "kgnav load SOURCES... -o my.kg" in result.output


def test_how_a_table_was_read_stands_in_the_summary_and_what_seems_wrong_is_a_warning(kgnav: Kgnav) -> None:
    Path("edges.csv").write_text("from;to;weight\nann;bob;2\n", encoding="utf-8")
    Path("nodes.csv").write_text("id,text\nann,Ann\n", encoding="utf-8")
    given = ("load", "edges.csv", "nodes.csv", "--relation", "knows", "-o", "g.kg")
    result = kgnav(*given)
    assert (
        "  edges.csv: head 'from'; tail 'to'; qualifiers 'weight'; each edge gets the relation 'knows'" in result.stdout
    )
    assert result.stderr.startswith("Warning: no node has a name")
    quiet = kgnav(*given, "--quiet")
    assert (quiet.stdout, quiet.stderr) == ("", result.stderr)
    shown = kgnav("call", "search", "entity=ann", "direction=outgoing", "--graph", "g.kg")
    assert "knows|knows|bob|bob|weight: 2" in shown.stdout


def test_edges_alone_become_nodes_where_that_is_requested(kgnav: Kgnav) -> None:
    Path("edges.csv").write_text(":START_ID,:END_ID,:TYPE\n1,2,KNOWS\n", encoding="utf-8")
    assert "--nodes-from-edges" in kgnav("load", "edges.csv", "-o", "g.kg").stderr
    assert kgnav("load", "edges.csv", "-o", "g.kg", "--nodes-from-edges").exit_code == 0


def test_options_of_a_graph_file_are_its_prefixes_and_no_others(films: Path, kgnav: Kgnav) -> None:
    assert kgnav("load", str(films), "-o", "films.kg").exit_code == 0
    graph = '[graphs.films]\nlocation = "films.kg"\n'
    Path("kgnav.toml").write_text(
        f'{graph}options = {{ prefixes = {{ f = "http://f.example/" }} }}\n', encoding="utf-8"
    )
    shown = kgnav("call", "search", "entity=f:alien", "direction=outgoing", "--graph", "films")
    assert "f:director|director|f:scott|Ridley Scott" in shown.stdout
    Path("kgnav.toml").write_text(f"{graph}options = {{ prefix = 1 }}\n", encoding="utf-8")
    refused = kgnav("call", "search", "entity=f:alien", "direction=outgoing", "--graph", "films")
    assert "a graph file has no option 'prefix'" in refused.output
    assert "Did you mean 'prefixes'?" in refused.output


def test_a_path_with_a_space_is_quoted_in_the_next_command(films: Path, kgnav: Kgnav) -> None:
    assert "--graph 'my films.kg'" in kgnav("load", str(films), "-o", "my films.kg").stdout


def test_progress_in_a_log_is_a_line_now_and_then(films: Path, kgnav: Kgnav, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("kgnav_mcp.cli.load"), "_SECONDS_BETWEEN_LINES", 0.0)
    result = kgnav("load", str(films), "-o", "films.kg", "--progress")
    first, *_ = result.stderr.splitlines()
    assert re.fullmatch(r" *\d+% \w[\w ]* films\.nt: [\d,]+ triples, [\d,]+/s", first)


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal is made by a pseudo-terminal of POSIX")
def test_progress_on_a_terminal_is_a_bar_that_goes_away(films: Path) -> None:
    import pty  # noqa: PLC0415 - POSIX only

    terminal, side = pty.openpty()
    result = subprocess.run(
        [SCRIPTS / "kgnav", "load", str(films), "-o", "films.kg"], stdout=subprocess.PIPE, stderr=side, check=True
    )
    shown = os.read(terminal, 65_536).decode()
    os.close(side)
    os.close(terminal)
    assert "films.nt" in shown
    assert " triples, " in shown
    assert shown.endswith("\r")
    assert b"Next: kgnav call" in result.stdout


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_load_says_so_and_leaves_no_half_file(sent: signal.Signals, code: int, tmp_path: Path) -> None:
    with (tmp_path / "long.nt").open("w", encoding="utf-8") as source:
        source.writelines(
            f"<http://f.example/{n}> <http://f.example/p> <http://f.example/0> .\n" for n in range(400_000)
        )
    with subprocess.Popen(
        [SCRIPTS / "kgnav", "load", "long.nt", "-o", "half.kg"], stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 120
        while not list(tmp_path.glob("half.kg*")):
            assert time.monotonic() < deadline, "the load never began to write"
            time.sleep(0.01)
        process.send_signal(sent)
        _, said = process.communicate(timeout=120)

    assert (process.returncode, said) == (code, "Stopped: half.kg was not written.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["long.nt"]
