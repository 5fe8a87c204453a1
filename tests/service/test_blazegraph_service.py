"""`scripts/service blazegraph`: a store that starts without a container, and is loaded while it runs."""

from __future__ import annotations

import gzip
import json
import socket
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

import pytest
from scripts.services.failure import ServiceError

from tests.services import Blazegraph

GRAPH = "http://example.org/animals"
GOOD = """\
<http://example.org/cat> <http://example.org/eats> <http://example.org/mouse> .
<http://example.org/cat> <http://example.org/says> "miau, sagte das K\u00e4tzchen"@de . # as a comment
"""
EVERYTHING = "SELECT * {?s ?p ?o}"


def rows(service: Blazegraph, query: str, graph: str | None = None) -> list[dict[str, str]]:
    form = {"query": query} | ({} if graph is None else {"default-graph-uri": graph})
    request = urllib.request.Request(  # noqa: S310 - loopback
        service.url, urlencode(form).encode(), {"Accept": "application/sparql-results+json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - as above
        bindings = json.load(answer)["results"]["bindings"]
    return [{name: term["value"] for name, term in binding.items()} for binding in bindings]


def written(path: Path, text: str) -> Path:
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def test_a_second_start_finds_it_running_and_status_says_so(blazegraph: Blazegraph):
    process = blazegraph.process
    second = blazegraph.script("start")
    status = blazegraph.script("status")

    assert second.stdout == f"{blazegraph.url}\n"
    assert blazegraph.process == process
    assert (status.returncode, status.stdout) == (0, f"running at {blazegraph.url}, process {process}\n")


def test_a_crash_loses_nothing_that_was_loaded(own_blazegraph: Blazegraph, tmp_path: Path):
    own_blazegraph.start()
    own_blazegraph.load(written(tmp_path / "good.nt", GOOD))
    address = own_blazegraph.url
    own_blazegraph.kill()

    assert own_blazegraph.script("status").stdout == "stopped\n"
    own_blazegraph.start()
    assert own_blazegraph.url == address
    assert len(rows(own_blazegraph, EVERYTHING)) == 2
    own_blazegraph.stop()
    assert own_blazegraph.script("status").returncode == 3


def test_it_listens_on_loopback_only(blazegraph: Blazegraph):
    port = f"{json.loads((blazegraph.home / 'instance.json').read_text())['port']:04X}"
    lines = Path("/proc/net/tcp").read_text().splitlines() + Path("/proc/net/tcp6").read_text().splitlines()
    listening = {row[1] for row in map(str.split, lines) if row[3] == "0A" and row[1].endswith(f":{port}")}
    assert {address.rpartition(":")[0] for address in listening} <= {"0100007F", "0000000000000000FFFF00000100007F"}
    assert listening


def test_a_port_that_another_program_took_is_named(own_blazegraph: Blazegraph):
    port = int(own_blazegraph.url.rpartition(":")[2].partition("/")[0])
    with socket.create_server(("127.0.0.1", port)), pytest.raises(ServiceError, match=f"port {port}"):
        own_blazegraph.start()


@pytest.mark.parametrize("name", ["good.nt", "good.ttl", "good.nt.gz", "good.ttl.gz"])
def test_a_file_is_loaded_into_the_graph_that_is_named(blazegraph: Blazegraph, tmp_path: Path, name: str):
    blazegraph.clear(GRAPH)
    blazegraph.load(written(tmp_path / name, GOOD), GRAPH)
    assert {row["o"] for row in rows(blazegraph, EVERYTHING, GRAPH)} == {
        "http://example.org/mouse",
        "miau, sagte das K\u00e4tzchen",
    }
    assert blazegraph.script("clear", "--graph-iri", GRAPH).returncode == 0
    assert rows(blazegraph, EVERYTHING, GRAPH) == []


def test_the_default_graph_is_emptied_without_the_named_ones(blazegraph: Blazegraph, tmp_path: Path):
    blazegraph.load(written(tmp_path / "good.nt", GOOD), GRAPH)
    assert blazegraph.script("load", str(written(tmp_path / "more.ttl", GOOD.replace("cat>", "dog>")))).returncode == 0
    query = "SELECT ?o { <http://example.org/dog> ?p ?o }"
    assert len(rows(blazegraph, query)) == 2
    assert blazegraph.script("clear").returncode == 0
    assert rows(blazegraph, query) == []
    assert len(rows(blazegraph, EVERYTHING, GRAPH)) == 2


def test_a_file_with_an_error_is_refused_whole_with_the_line_it_is_in(blazegraph: Blazegraph, tmp_path: Path):
    bad = written(tmp_path / "bad.nt", GOOD + "<http://example.org/cat> <http://example.org/eats .\n")
    with pytest.raises(ServiceError, match=r"bad\.nt could not be loaded: .*line 3"):
        blazegraph.load(bad, "http://example.org/bad")
    assert rows(blazegraph, EVERYTHING, "http://example.org/bad") == []


@pytest.mark.parametrize(
    ("name", "graph", "reason"),
    [
        ("absent.nt", GRAPH, "there is no file"),
        ("films.csv", GRAPH, "is none of"),
        ("good.nt", "animals", "no full IRI"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_refused_before_anything_is_done(
    blazegraph: Blazegraph, tmp_path: Path, name: str, graph: str, reason: str
):
    if not name.startswith("absent"):
        written(tmp_path / name, GOOD)
    with pytest.raises(ServiceError, match=reason):
        blazegraph.load(tmp_path / name, graph)


def test_loading_into_one_that_does_not_run_names_the_command_that_starts_it(
    own_blazegraph: Blazegraph, tmp_path: Path
):
    with pytest.raises(ServiceError, match="scripts/service blazegraph start --home"):
        own_blazegraph.load(written(tmp_path / "good.nt", GOOD))
