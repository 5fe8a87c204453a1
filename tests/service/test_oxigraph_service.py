"""`scripts/service oxigraph`: a store that keeps to the standard, installed for itself, loaded while it runs."""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

import pytest
from scripts.services.failure import ServiceError

from tests.services import SCRIPT, Oxigraph, RdfService

GRAPH = "http://example.org/animals"
GOOD = """\
<http://example.org/cat> <http://example.org/eats> <http://example.org/mouse> .
<http://example.org/cat> <http://example.org/says> "meow, quoth the kitten"@en .
"""
QUADS = f"<http://example.org/cat> <http://example.org/eats> <http://example.org/mouse> <{GRAPH}> .\n"
STATEMENTS = (
    "PREFIX : <http://example.org/> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> "
    ":cat :eats :mouse {| :since 2020 |} ."
)


def rows(service: RdfService, query: str, graph: str | None = None) -> int:
    form = {"query": query} | ({} if graph is None else {"default-graph-uri": graph})
    request = urllib.request.Request(  # noqa: S310 - loopback
        service.url, urlencode(form).encode(), {"Accept": "application/sparql-results+json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - as above
        return len(json.load(answer)["results"]["bindings"])


def written(path: Path, text: str) -> Path:
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


EVERYTHING = "SELECT * {?s ?p ?o}"


def test_a_second_start_finds_it_running_at_the_same_address(own_oxigraph: Oxigraph):
    first = own_oxigraph.script("start")
    process = own_oxigraph.process
    second = own_oxigraph.script("start")

    assert first.returncode == second.returncode == 0
    assert first.stdout == second.stdout == f"{own_oxigraph.url}\n"
    assert own_oxigraph.process == process


def test_status_says_with_its_exit_code_whether_it_runs(own_oxigraph: Oxigraph):
    before = own_oxigraph.script("status")
    own_oxigraph.start()
    during = own_oxigraph.script("status")
    own_oxigraph.stop()
    after = own_oxigraph.script("status")

    assert (before.returncode, before.stdout) == (after.returncode, after.stdout) == (3, "stopped\n")
    assert during.returncode == 0
    assert own_oxigraph.url in during.stdout


def test_a_crash_leaves_no_false_status_and_loses_nothing_that_was_loaded(own_oxigraph: Oxigraph, tmp_path: Path):
    own_oxigraph.start()
    own_oxigraph.load(written(tmp_path / "good.nt", GOOD))
    address = own_oxigraph.url
    own_oxigraph.kill()

    assert own_oxigraph.script("status").stdout == "stopped\n"
    own_oxigraph.start()
    assert own_oxigraph.url == address
    assert rows(own_oxigraph, EVERYTHING) == 2


def test_an_environment_variable_names_the_port(own_oxigraph: Oxigraph, monkeypatch: pytest.MonkeyPatch):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("KGNAV_OXIGRAPH_PORT", str(port))
    command = [SCRIPT, "oxigraph", "url", "--home", own_oxigraph.home]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == (
        f"http://127.0.0.1:{port}/query\n"
    )
    monkeypatch.setenv("KGNAV_OXIGRAPH_PORT", "eighty")
    assert "not the number of a port" in subprocess.run(command, capture_output=True, text=True, check=False).stderr


def test_it_listens_on_loopback_only(own_oxigraph: Oxigraph):
    own_oxigraph.start()
    port = f"{json.loads((own_oxigraph.home / 'instance.json').read_text())['port']:04X}"
    lines = Path("/proc/net/tcp").read_text().splitlines() + Path("/proc/net/tcp6").read_text().splitlines()
    rows_ = [line.split() for line in lines]
    assert {row[1] for row in rows_ if row[3] == "0A" and row[1].endswith(f":{port}")} == {f"0100007F:{port}"}


def test_a_port_that_another_program_took_is_named(own_oxigraph: Oxigraph):
    port = int(own_oxigraph.url.rpartition(":")[2].partition("/")[0])
    with socket.create_server(("127.0.0.1", port)), pytest.raises(ServiceError, match=f"port {port}"):
        own_oxigraph.start()


@pytest.mark.parametrize("name", ["good.nt", "good.ttl", "good.nt.gz", "good.ttl.gz"])
def test_a_file_is_loaded_into_the_graph_that_is_named(oxigraph: Oxigraph, tmp_path: Path, name: str):
    oxigraph.clear(GRAPH)
    oxigraph.load(written(tmp_path / name, GOOD), GRAPH)
    assert rows(oxigraph, EVERYTHING, GRAPH) == 2
    oxigraph.clear(GRAPH)
    assert rows(oxigraph, EVERYTHING, GRAPH) == 0


def test_a_file_is_loaded_in_bulk_beside_what_was_there(oxigraph: Oxigraph, tmp_path: Path):
    oxigraph.clear(GRAPH)
    first, second = written(tmp_path / "good.nt", GOOD), written(tmp_path / "more.nt.gz", GOOD.replace("cat>", "dog>"))
    assert oxigraph.script("load", str(first), "--graph-iri", GRAPH).returncode == 0
    assert oxigraph.script("load", str(second), "--bulk", "--graph-iri", GRAPH).returncode == 0
    assert rows(oxigraph, EVERYTHING, GRAPH) == 4
    assert oxigraph.script("clear", "--graph-iri", GRAPH).returncode == 0
    assert rows(oxigraph, EVERYTHING, GRAPH) == 0


@pytest.mark.parametrize("name", ["quads.nq", "quads.nq.gz"])
def test_quads_go_to_the_graphs_that_they_name_themselves(oxigraph: Oxigraph, tmp_path: Path, name: str):
    oxigraph.clear(GRAPH)
    oxigraph.load(written(tmp_path / name, QUADS))
    assert rows(oxigraph, EVERYTHING, GRAPH) == 1
    with pytest.raises(ServiceError, match="without --graph-iri"):
        oxigraph.load(tmp_path / name, GRAPH)


def test_statements_about_statements_are_taken(oxigraph: Oxigraph, tmp_path: Path):
    oxigraph.load(written(tmp_path / "statements.ttl", STATEMENTS), "http://example.org/statements")
    query = "SELECT * { << ?s ?p ?o >> <http://example.org/since> ?year }"
    assert rows(oxigraph, query, "http://example.org/statements") == 1


def test_a_language_tag_that_is_too_long_is_taken_as_it_is(oxigraph: Oxigraph, tmp_path: Path):
    tag = "en-abcdefghijklmnop"
    oxigraph.load(written(tmp_path / "tag.nt", f'<http://x/a> <http://x/b> "c"@{tag} .\n'), GRAPH)
    assert rows(oxigraph, f'SELECT ?s WHERE {{ GRAPH <{GRAPH}> {{ ?s ?p ?o FILTER(LANG(?o) = "{tag}") }} }}') == 1


def test_a_file_with_an_error_is_refused_whole_with_the_line_it_is_in(oxigraph: Oxigraph, tmp_path: Path):
    bad = written(tmp_path / "bad.nt", GOOD + "<http://example.org/cat> <http://example.org/eats .\n")
    with pytest.raises(ServiceError, match=r"bad\.nt could not be loaded: .*line 3"):
        oxigraph.load(bad, "http://example.org/bad")
    assert rows(oxigraph, EVERYTHING, "http://example.org/bad") == 0


@pytest.mark.parametrize(
    ("name", "graph", "reason"),
    [
        ("absent.nt", GRAPH, "there is no file"),
        ("films.csv", GRAPH, "is none of"),
        ("good.nt", "animals", "no full IRI"),
    ],
)
def test_what_cannot_be_loaded_is_said_before_anything_is_done(
    oxigraph: Oxigraph, tmp_path: Path, name: str, graph: str, reason: str
):
    if not name.startswith("absent"):
        written(tmp_path / name, GOOD)
    with pytest.raises(ServiceError, match=reason):
        oxigraph.load(tmp_path / name, graph)


def test_loading_into_one_that_does_not_run_names_the_command_that_starts_it(own_oxigraph: Oxigraph, tmp_path: Path):
    with pytest.raises(ServiceError, match="scripts/service oxigraph start --home"):
        own_oxigraph.load(written(tmp_path / "good.nt", GOOD))


@pytest.mark.slow
def test_where_the_package_cannot_be_had_the_reason_is_given_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("KGNAV_SERVICES", str(tmp_path / "services"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    done = Oxigraph(tmp_path / "own").script("start")
    assert done.returncode == 1
    assert "oxigraph could not be installed" in done.stderr
    assert not (tmp_path / "services" / "programs" / "oxigraph").exists()
