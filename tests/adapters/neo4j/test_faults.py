"""What goes wrong between this product and a live server is said once, soon and clearly, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
import stat
from collections.abc import Generator
from pathlib import Path

import pytest
from neo4j import WRITE_ACCESS
from scripts.services.failure import ServiceError
from scripts.services.process import thread_states

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.neo4j import store as store_module
from kgnav_mcp.adapters.neo4j.adapter import Neo4jAdapter
from kgnav_mcp.adapters.neo4j.store import Neo4jOptions, Store
from kgnav_mcp.config import GraphSettings, Settings
from kgnav_mcp.errors import ConfigurationError, KgnavError, StoreTimeout, StoreUnavailable
from kgnav_mcp.port import AdapterOptions
from tests.adapters.neo4j.graphs import write
from tests.neo4j_service import Neo4j
from tests.server.clients import client, text_of

SLOW = "UNWIND range(1, 1000000000) AS n WITH n WHERE n % 7 = 8 RETURN count(n)"
TOLD_S = 20
"""Seconds within which a store that is down is said to be: the driver alone would try again for 30 or 60."""


@contextlib.contextmanager
def _silent() -> Generator[int]:
    """A port that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


@contextlib.contextmanager
def _closed() -> Generator[int]:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        yield int(probe.getsockname()[1])


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
@pytest.mark.parametrize("kind", [_closed, _silent])
async def test_a_store_that_is_down_is_said_to_be_before_the_driver_tires_of_it(
    scheme: str, kind: contextlib.AbstractContextManager[int]
):
    with kind() as port:  # pyright: ignore[reportCallIssue, reportUnknownVariableType]
        graph = open_adapter(f"{scheme}://127.0.0.1:{port}", AdapterOptions())
        with pytest.raises(StoreUnavailable, match=f"does not answer at 127.0.0.1:{port}") as caught:
            async with asyncio.timeout(TOLD_S):
                await graph.open()
    assert caught.value.next_step


def _store(url: str, seconds: float = 30.0) -> Store:
    store = Store(Neo4jOptions.read(url, AdapterOptions()), seconds)
    store.connect()
    return store


def _running(service: Neo4j) -> int:
    (row,) = write(
        service, "SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery STARTS WITH 'UNWIND range' RETURN count(*)"
    )
    return int(str(row[0]))


async def _begun(service: Neo4j) -> None:
    async with asyncio.timeout(30):
        while not await asyncio.to_thread(_running, service):  # noqa: ASYNC110 - the event is in the server
            await asyncio.sleep(0.01)


async def _ended(service: Neo4j) -> bool:
    for _ in range(100):
        if not await asyncio.to_thread(_running, service):
            return True
        await asyncio.sleep(0.05)
    return False


async def test_a_query_that_takes_too_long_is_ended_in_the_server(neo4j: Neo4j):
    store = _store(neo4j.url, seconds=1.0)
    with pytest.raises(StoreTimeout, match="within 1 s") as caught:
        await store.rows(SLOW)
    assert caught.value.next_step
    assert await _ended(neo4j)
    assert await store.rows("RETURN 1") == [[1]]
    await store.close()


async def test_a_cancelled_call_ends_its_query_in_the_server(neo4j: Neo4j):
    store = _store(neo4j.url)
    call = asyncio.ensure_future(store.rows(SLOW))
    await _begun(neo4j)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await _ended(neo4j)
    assert await store.rows("RETURN 1") == [[1]]
    await store.close()


async def test_what_the_server_refuses_is_told_without_its_text(neo4j: Neo4j):
    store = _store(neo4j.url)
    with pytest.raises(KgnavError, match=r"Neo\.ClientError.Statement\.SyntaxError") as caught:
        await store.rows("MATCH (secret {")
    assert "secret" not in caught.value.message
    assert caught.value.__cause__ is not None
    await store.close()


async def test_a_server_that_takes_writes_in_read_mode_is_found_out_and_nothing_is_written(
    neo4j: Neo4j, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    before = write(neo4j, "MATCH (n) RETURN count(n)")
    async with open_adapter(neo4j.url, AdapterOptions()) as graph:
        assert not any("read mode" in step for step in (await graph.health()).advice)
    assert caplog.records == []

    monkeypatch.setattr(store_module, "READ_ACCESS", WRITE_ACCESS)  # as a server does that ignores the mode
    with caplog.at_level(logging.WARNING):
        async with open_adapter(neo4j.url, AdapterOptions()) as graph:
            assert any("accepts writes in read mode" in step for step in (await graph.health()).advice)
    assert "accepts writes in read mode" in caplog.text
    assert write(neo4j, "MATCH (n) RETURN count(n)") == before


@pytest.mark.slow
async def test_a_server_killed_in_the_middle_of_a_call_gives_one_error_and_nothing_is_lost_once_it_is_back(
    own_neo4j: Neo4j, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    password = "a long Secret"  # noqa: S105 - of this test's own server
    own_neo4j.start(KGNAV_NEO4J_PASSWORD=password)
    nodes = tmp_path / "nodes.csv"
    nodes.write_text("id:ID,:LABEL,name\nann,Person,Ann\n", encoding="utf-8")
    own_neo4j.load([nodes])
    address = own_neo4j.url
    settings = _settings(address, password)
    asked = {"hint": "Ann"}
    async with client(settings) as connected:
        first = await connected.call_tool("find_node", asked)
        assert "ann" in text_of(first)

        await _pause(own_neo4j.process)  # so that the call is surely in the middle
        call = asyncio.ensure_future(connected.call_tool("find_node", asked))
        await asyncio.sleep(0.3)
        assert not call.done()
        own_neo4j.kill()
        lost = await call
        many = await asyncio.gather(*(connected.call_tool("find_node", asked) for _ in range(8)))

        assert lost.is_error
        assert f"Neo4j does not answer at {own_neo4j.url.removeprefix('bolt://')}" in text_of(lost)
        async with asyncio.timeout(TOLD_S):
            assert (await connected.call_tool("find_node", asked)).is_error
        assert all(text_of(one) == text_of(lost) for one in many)
        assert caplog.messages == []  # the answers say it; the driver's log would say it hundreds of times

        _the_script_says_that_it_does_not_run(own_neo4j, nodes)
        own_neo4j.start()
        assert own_neo4j.url == address
        again = await connected.call_tool("find_node", asked)
        assert not again.is_error, text_of(again)
        assert text_of(again) == text_of(first)
    await _the_password_is_needed_and_never_told(address, password)
    own_neo4j.stop()
    status = own_neo4j.script("status")
    assert (status.returncode, status.stdout) == (3, "stopped\n")


async def _pause(pid: int) -> None:
    """Stop all threads of a process: until the first of them takes the signal, the others go on."""
    os.kill(pid, signal.SIGSTOP)
    async with asyncio.timeout(TOLD_S):
        while thread_states(pid) != {"T"}:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)


def _the_script_says_that_it_does_not_run(service: Neo4j, file: Path) -> None:
    assert service.script("status").stdout == "stopped\n"
    instance = service.home / "instance.json"
    assert stat.S_IMODE(instance.stat().st_mode) == 0o600
    port = json.loads(instance.read_text())["port"]
    assert service.url.endswith(f":{port}")
    with socket.create_server(("127.0.0.1", port)), pytest.raises(ServiceError, match=f"port {port}"):
        service.start()
    assert "scripts/service neo4j start --home" in service.script("load", str(file)).stderr


async def _the_password_is_needed_and_never_told(url: str, password: str) -> None:
    """On the same server: starting one takes long."""
    place = url.removeprefix("bolt://")
    for settings in (_settings(url, "Wrong Secret"), _settings(url, None)):
        async with client(settings) as connected:
            refused = await connected.call_tool("find_node", {"hint": "x"})
        assert refused.is_error
        assert f"{place} rejects the user or the password" in text_of(refused)
        assert "Secret" not in text_of(refused)
    adapter = Neo4jAdapter(f"bolt://neo4j:{password.replace(' ', '%20')}@{place}", AdapterOptions())
    async with adapter:
        assert password not in repr(await adapter.health()) + repr(adapter) + adapter.revision


def _settings(url: str, password: str | None) -> Settings:
    options = {"user": "neo4j", "password": password} if password else {}
    return Settings(graphs={"own": GraphSettings(location=url, options=options)})


async def test_an_unknown_user_is_told_apart_from_a_missing_server():
    with _closed() as port:
        graph = open_adapter(f"bolt://ann:Secret1@127.0.0.1:{port}", AdapterOptions())
        with pytest.raises(StoreUnavailable) as caught:
            await graph.open()
    assert "Secret1" not in caught.value.message + caught.value.next_step
    with pytest.raises(ConfigurationError):
        open_adapter("bolt://", AdapterOptions())
