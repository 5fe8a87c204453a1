"""`scripts/service virtuoso`: a store that starts without Docker, keeps what it was given and says what went wrong."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
from scripts.services.failure import ServiceError

from tests.sampling import extended
from tests.services import SCRIPT, Virtuoso

GRAPH = "http://example.org/animals"
GOOD = """\
<http://example.org/cat> <http://example.org/eats> <http://example.org/mouse> .
<http://example.org/cat> <http://example.org/says> "meow, quoth the kitten"@en .
"""


def ask(service: Virtuoso, query: str) -> list[dict[str, str]]:
    form = {"query": query, "default-graph-uri": GRAPH, "format": "application/sparql-results+json"}
    request = urllib.request.Request(service.url, urllib.parse.urlencode(form).encode())  # noqa: S310 - loopback
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - as above
        rows = json.load(answer)["results"]["bindings"]
    return [{name: cell["value"] for name, cell in row.items()} for row in rows]


def written(path: Path, text: str) -> Path:
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def test_a_second_start_finds_it_running_at_the_same_address(virtuoso: Virtuoso) -> None:
    process = virtuoso.process
    second = virtuoso.script("start")

    assert (second.returncode, second.stdout) == (0, f"{virtuoso.url}\n")
    assert virtuoso.process == process


@pytest.mark.extended  # as of Oxigraph
def test_status_says_with_its_exit_code_whether_it_runs(own_virtuoso: Virtuoso) -> None:
    before = own_virtuoso.script("status")
    own_virtuoso.start()
    during = own_virtuoso.script("status")
    own_virtuoso.stop()
    after = own_virtuoso.script("status")

    assert (before.returncode, before.stdout) == (after.returncode, after.stdout) == (3, "stopped\n")
    assert during.returncode == 0
    assert own_virtuoso.url in during.stdout


@pytest.mark.slow
def test_a_crash_leaves_no_false_status_and_loses_nothing_that_was_loaded(
    own_virtuoso: Virtuoso, tmp_path: Path
) -> None:
    own_virtuoso.start()
    own_virtuoso.load(written(tmp_path / "good.nt", GOOD), GRAPH)
    address = own_virtuoso.url
    own_virtuoso.kill()

    assert own_virtuoso.script("status").stdout == "stopped\n"
    own_virtuoso.start()
    assert own_virtuoso.url == address
    assert len(ask(own_virtuoso, "SELECT * {?s ?p ?o}")) == 2


@pytest.mark.slow
def test_a_large_load_forgets_the_query_plans_of_the_empty_graph(own_virtuoso: Virtuoso, tmp_path: Path) -> None:
    own_virtuoso.start()
    first = own_virtuoso.process
    own_virtuoso.load(written(tmp_path / "small.nt", GOOD), GRAPH)
    assert own_virtuoso.process == first

    many = "".join(f'<http://ex.org/n{number}> <http://ex.org/p> "{number}" .\n' for number in range(30_000))
    own_virtuoso.load(written(tmp_path / "large.nt", many), GRAPH)
    assert own_virtuoso.process != first
    assert len(ask(own_virtuoso, "SELECT * {?s <http://ex.org/p> ?o} LIMIT 10000")) == 10_000


OPEN_TOO_EARLY = """
import sys
from pathlib import Path
from scripts.services import virtuoso

virtuoso.answers = lambda _: True
virtuoso.Virtuoso(Path(sys.argv[1])).start()
"""
"""A start in which the endpoint answers at once: Virtuoso opens it before the port by which it is administered."""


@pytest.mark.slow
def test_a_start_waits_for_the_port_by_which_it_is_administered_too(own_virtuoso: Virtuoso) -> None:
    command = [sys.executable, "-c", OPEN_TOO_EARLY, own_virtuoso.home]
    done = subprocess.run(command, cwd=SCRIPT.parents[1], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_administrators_password_is_not_the_common_one_and_only_its_owner_can_read_it(
    virtuoso: Virtuoso,
) -> None:
    file = virtuoso.home / "instance.json"
    kept = json.loads(file.read_text())

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(kept["password"]) > len("dba")
    assert kept["password"].isalnum(), "its client takes what begins with a hyphen for an option"
    assert kept["secured"] is True


def test_it_listens_on_loopback_only(virtuoso: Virtuoso) -> None:
    kept = json.loads((virtuoso.home / "instance.json").read_text())
    wanted = {f"0100007F:{kept[name]:04X}" for name in ("port", "sql_port")}

    lines = Path("/proc/net/tcp").read_text().splitlines() + Path("/proc/net/tcp6").read_text().splitlines()
    rows = [line.split() for line in lines]
    listening = {row[1] for row in rows if row[3] == "0A" and row[1].rpartition(":")[2] in {w[-4:] for w in wanted}}
    assert listening == wanted


def test_a_port_that_another_program_took_is_named(own_virtuoso: Virtuoso) -> None:
    port = int(own_virtuoso.url.rpartition(":")[2].partition("/")[0])
    with socket.create_server(("127.0.0.1", port)), pytest.raises(ServiceError, match=f"port {port}"):
        own_virtuoso.start()


@pytest.mark.parametrize("name", ["good.nt", "good.ttl", "good.nt.gz", "good.ttl.gz"])
def test_a_file_is_loaded_into_the_graph_that_is_named(virtuoso: Virtuoso, tmp_path: Path, name: str) -> None:
    virtuoso.clear(GRAPH)

    virtuoso.load(written(tmp_path / name, GOOD), GRAPH)

    assert {row["p"] for row in ask(virtuoso, "SELECT * {?s ?p ?o}")} == {
        "http://example.org/eats",
        "http://example.org/says",
    }


def test_words_of_every_load_are_searchable_and_gone_when_the_graph_is_cleared(
    virtuoso: Virtuoso, tmp_path: Path
) -> None:
    words = 'SELECT ?o {?s ?p ?o . ?o bif:contains "%s"}'
    virtuoso.clear(GRAPH)
    for name, text in (("one.nt", GOOD), ("two.nt", GOOD.replace("kitten", "tomcat"))):
        file = written(tmp_path / name, text)
        assert virtuoso.script("load", str(file), "--graph-iri", GRAPH).returncode == 0

    assert ask(virtuoso, words % "kitten") == [{"o": "meow, quoth the kitten"}]
    assert ask(virtuoso, words % "tomcat") == [{"o": "meow, quoth the tomcat"}]
    assert virtuoso.script("clear", "--graph-iri", GRAPH).returncode == 0
    assert ask(virtuoso, "SELECT * {?s ?p ?o}") == []


def test_of_dates_that_begin_at_the_same_moment_it_keeps_one_at_a_node(virtuoso: Virtuoso, tmp_path: Path) -> None:
    virtuoso.clear(GRAPH)
    xsd = "http://www.w3.org/2001/XMLSchema#"
    year, month = f'"1993"^^<{xsd}gYear>', f'"1993-01"^^<{xsd}gYearMonth>'
    about = "<http://example.org/cat> <http://example.org/born>"
    virtuoso.load(written(tmp_path / "born.nt", f"{about} {year} .\n{about} {month} .\n"), GRAPH)

    assert ask(virtuoso, "SELECT ?o { ?s ?p ?o }") == [{"o": "1993"}]


def test_a_file_of_the_same_name_is_loaded_again(virtuoso: Virtuoso, tmp_path: Path) -> None:
    virtuoso.clear(GRAPH)
    virtuoso.load(written(tmp_path / "same.nt", GOOD), GRAPH)
    virtuoso.load(written(tmp_path / "same.nt", GOOD.replace("cat>", "dog>")), GRAPH)

    assert len(ask(virtuoso, "SELECT * {?s ?p ?o}")) == 4


def test_a_file_with_an_error_is_refused_with_the_line_it_is_in(virtuoso: Virtuoso, tmp_path: Path) -> None:
    bad = written(tmp_path / "bad.nt", GOOD + "<http://example.org/cat> <http://example.org/eats .\n")

    with pytest.raises(ServiceError, match=r"bad\.nt could not be loaded: .*line 3"):
        virtuoso.load(bad, GRAPH)


@pytest.mark.parametrize(
    ("name", "graph", "reason"),
    [
        ("absent.nt", GRAPH, "there is no file"),
        ("films.csv", GRAPH, "is none of"),
        ("good.nt", "animals", "no full IRI"),
        ("good.nt", "http://example.org/'); shutdown; --", "no full IRI"),
    ],
)
def test_what_cannot_be_loaded_is_said_before_anything_is_done(
    virtuoso: Virtuoso, tmp_path: Path, name: str, graph: str, reason: str
) -> None:
    if not name.startswith("absent"):
        written(tmp_path / name, GOOD)

    with pytest.raises(ServiceError, match=reason):
        virtuoso.load(tmp_path / name, graph)


def test_loading_into_one_that_does_not_run_names_the_command_that_starts_it(
    own_virtuoso: Virtuoso, tmp_path: Path
) -> None:
    with pytest.raises(ServiceError, match="scripts/service virtuoso start --home"):
        own_virtuoso.load(written(tmp_path / "good.nt", GOOD), GRAPH)


APT_GET = """\
#!/bin/sh
echo "$1" >> {folder}/calls
case $1 in
    update) : > {folder}/lists; exit {update} ;;
    *) [ -e {folder}/lists ] || exit 100; for each in {programs}; do /bin/ln -s "$each" {folder}; done ;;
esac
"""
"""Stands in for the real one on a machine without lists of packages: `install` works once they were fetched.

`update` may fail for one of several sources, and give the lists of the others.
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run it as another user")
def test_a_user_without_a_home_is_told_to_name_a_folder() -> None:
    program = "import os, sys; from services.cli import main; os.setuid(54321); sys.exit(main(['virtuoso', 'status']))"

    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=SCRIPT.parent,
        env={"PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert done.stderr == "virtuoso: this user has no home: name a folder with --home, or with KGNAV_SERVICES\n"


@pytest.fixture
def bare_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A search path with nothing but Python on it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "python3").symlink_to(Path(sys.executable).resolve())
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_where_it_cannot_be_installed_the_reason_is_given(tmp_path: Path, bare_path: Path) -> None:
    assert bare_path.is_dir()

    done = Virtuoso(tmp_path / "own").script("start")

    assert done.returncode == 1
    assert "virtuoso-t, isql-vt is not installed and there is no apt-get" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("update", [100, extended(0)])
@pytest.mark.skipif(os.geteuid() != 0, reason="only root installs packages; as root: pytest tests/service")
def test_where_it_is_missing_it_is_installed_with_fresh_lists_of_packages_if_need_be(
    own_virtuoso: Virtuoso, request: pytest.FixtureRequest, update: int
) -> None:
    programs = " ".join(str(shutil.which(name)) for name in ("virtuoso-t", "isql-vt"))
    folder: Path = request.getfixturevalue("bare_path")
    (folder / "apt-get").write_text(APT_GET.format(folder=folder, programs=programs, update=update))
    (folder / "apt-get").chmod(0o755)

    own_virtuoso.start()

    assert (folder / "calls").read_text().split() == ["install", "update", "install"]
    assert own_virtuoso.script("status").returncode == 0
