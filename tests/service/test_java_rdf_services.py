"""`scripts/service fuseki` and `scripts/service rdf4j`: RDF stores in Java, from Maven, loaded while they run."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripts.services.failure import ServiceError

from tests.service.test_oxigraph_service import EVERYTHING, GOOD, GRAPH, QUADS, rows, written
from tests.services import Fuseki, Rdf4j, RdfService, need_jars, running_jars

pytestmark = pytest.mark.extended

STORES = (Fuseki, Rdf4j)
OTHER = "http://example.org/other"


@pytest.fixture(scope="module", params=STORES, ids=lambda store: store.store)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RdfService]:
    kind: type[RdfService] = request.param
    with running_jars(kind(tmp_path_factory.mktemp(kind.store))) as service:
        yield service


@pytest.mark.parametrize("name", ["good.nt", "good.ttl", "good.nt.gz"])
def test_a_file_is_loaded_into_the_graph_that_is_named_and_cleared_alone(store: RdfService, tmp_path: Path, name: str):
    store.load(written(tmp_path / name, GOOD), GRAPH)
    store.load(written(tmp_path / name, GOOD), OTHER)
    assert rows(store, EVERYTHING, GRAPH) == 2
    store.clear(GRAPH)
    assert (rows(store, EVERYTHING, GRAPH), rows(store, EVERYTHING, OTHER)) == (0, 2)
    store.clear(OTHER)


def test_a_file_without_a_graph_goes_to_the_default_graph(store: RdfService, tmp_path: Path):
    assert store.script("load", str(written(tmp_path / "good.nt", GOOD))).returncode == 0
    assert rows(store, EVERYTHING) == 2
    assert store.script("clear").returncode == 0
    assert rows(store, EVERYTHING) == 0


def test_quads_go_to_the_graphs_that_they_name_themselves(store: RdfService, tmp_path: Path):
    store.load(written(tmp_path / "quads.nq", QUADS))
    assert rows(store, EVERYTHING, GRAPH) == 1
    store.clear(GRAPH)


def test_a_file_with_an_error_is_refused_whole(store: RdfService, tmp_path: Path):
    bad = written(tmp_path / "bad.nt", GOOD + "<http://example.org/cat> <http://example.org/eats .\n")
    with pytest.raises(ServiceError, match=r"bad\.nt could not be loaded"):
        store.load(bad, GRAPH)
    assert rows(store, EVERYTHING, GRAPH) == 0


def test_a_second_start_finds_it_running_and_a_restart_keeps_its_data(store: RdfService, tmp_path: Path):
    store.load(written(tmp_path / "good.nt", GOOD), GRAPH)
    process = store.process
    assert store.script("start").stdout == f"{store.url}\n"
    assert store.process == process
    store.stop()
    assert (store.script("status").returncode, store.script("status").stdout) == (3, "stopped\n")
    with pytest.raises(ServiceError, match=f"scripts/service {store.store} start --home"):
        store.load(tmp_path / "good.nt")
    store.start()
    assert store.url in store.script("status").stdout
    assert rows(store, EVERYTHING, GRAPH) == 2
    store.clear(GRAPH)


def test_it_listens_on_loopback_only(store: RdfService):
    port = f"{json.loads((store.home / 'instance.json').read_text())['port']:04X}"
    lines = Path("/proc/net/tcp").read_text().splitlines() + Path("/proc/net/tcp6").read_text().splitlines()
    sockets = [line.split() for line in lines]
    addresses = {row[1] for row in sockets if row[3] == "0A" and row[1].endswith(f":{port}")}
    assert addresses
    assert {address.partition(":")[0][-8:] for address in addresses} == {"0100007F"}


@pytest.mark.parametrize("kind", STORES, ids=lambda store: store.store)
def test_a_port_that_another_program_took_is_named(kind: type[RdfService], tmp_path: Path):
    need_jars(kind.store)
    service = kind(tmp_path / "own")
    port = int(service.url.rpartition(":")[2].partition("/")[0])
    with socket.create_server(("127.0.0.1", port)), pytest.raises(ServiceError, match=f"port {port}"):
        service.start()
