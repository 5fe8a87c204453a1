"""Over HTTP only those are let in who name this server by a name of its own, and a signal ends it in good order."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx2
import pytest

from kgnav_bench.client import ToolFailedError
from kgnav_bench.http_client import BareHttpClient, Era
from kgnav_mcp.config import HttpSettings
from kgnav_mcp.server.transport import listening_sockets, transport_security
from tests.server.processes import (
    INITIALIZE,
    KGNAV,
    PATIENCE_S,
    HttpServer,
    Json,
    environment,
    missing_graph,
    modern,
    on_http,
    python,
    request,
)

_EVERY_ADDRESS = "0.0.0.0"  # noqa: S104 - what is tested is that this is no way around the checks

ACCEPTED = {"Accept": "application/json, text/event-stream"}
STATELESS = {**ACCEPTED, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")


@pytest.fixture(scope="module", params=["127.0.0.1:0", f"{_EVERY_ADDRESS}:0"], ids=["on loopback", "on every address"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[HttpServer]:
    allowed = ("--http-allowed-hosts", "kg.example.org,10.1.2.3:80", "--http-allowed-origins", "https://app.example")
    folder = tmp_path_factory.mktemp("http")
    with on_http(folder, *missing_graph(folder), *allowed, address=str(request.param)) as listening:
        yield listening


@pytest.fixture(params=["handshake", "stateless"])
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def post(server: HttpServer, era: str, path: str = "", **headers: str) -> httpx2.Response:
    """The first thing a client of this era sends, under these names."""
    url = server.url.replace(_EVERY_ADDRESS, "127.0.0.1") + path
    message = INITIALIZE if era == "handshake" else modern(1, "tools/list")
    return httpx2.post(url, json=message, headers={**(ACCEPTED if era == "handshake" else STATELESS), **headers})


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8365", "127.0.0.1.evil.example", "kg.example.org.evil.example", "10.1.2.3"]
)
def test_a_request_for_another_host_is_turned_away(server: HttpServer, era: str, host: str) -> None:
    assert post(server, era, Host=host).status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "https://127.0.0.1.evil.example", "null"])
def test_a_page_of_another_origin_is_turned_away(server: HttpServer, era: str, origin: str) -> None:
    assert post(server, era, Origin=origin).status_code == 403


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [("Host", "evil.example", 421), ("Origin", "http://evil.example", 403), ("Origin", "https://app.example", 200)],
)
def test_the_structured_path_has_the_same_checks(
    server: HttpServer, era: str, header: str, value: str, status: int
) -> None:
    assert post(server, era, "/structured", **{header: value}).status_code == status


@pytest.mark.parametrize("origin", ["https://app.example", "http://localhost:6274"])
def test_a_browser_is_told_what_pages_of_an_allowed_origin_may_send(server: HttpServer, origin: str) -> None:
    answer = preflight(server, origin)
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == origin
    assert {"GET", "POST", "DELETE"} <= words(answer, "access-control-allow-methods")
    assert {"mcp-session-id", "mcp-protocol-version", "authorization", "last-event-id", "mcp-method"} <= {
        name.lower() for name in words(answer, "access-control-allow-headers")
    }


@pytest.mark.parametrize("origin", ["https://evil.example", "https://app.example.evil.example"])
def test_a_browser_is_told_nothing_about_pages_of_another_origin(server: HttpServer, origin: str) -> None:
    for answer in (preflight(server, origin), post(server, "handshake", Origin="https://evil.example")):
        assert answer.status_code == 403
        assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_a_page_of_an_allowed_origin_may_read_its_answer_and_its_session(server: HttpServer, era: str) -> None:
    answer = post(server, era, Origin="https://app.example")
    assert answer.headers["access-control-allow-origin"] == "https://app.example"
    assert words(answer, "access-control-expose-headers") == {"mcp-session-id"}


def preflight(server: HttpServer, origin: str) -> httpx2.Response:
    """What a browser asks before it lets a page of this origin send an MCP request."""
    preflight = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type,mcp-session-id",
    }
    return httpx2.options(server.url.replace(_EVERY_ADDRESS, "127.0.0.1"), headers={"Origin": origin, **preflight})


def words(answer: httpx2.Response, header: str) -> set[str]:
    return {word.strip() for word in answer.headers[header].split(",")}


@pytest.mark.parametrize("host", ["localhost:1234", "127.0.0.1", "[::1]:8365", "kg.example.org", "kg.example.org:8443"])
def test_names_of_this_machine_and_configured_ones_are_let_in(server: HttpServer, era: str, host: str) -> None:
    assert post(server, era, Host=host).status_code == 200


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1", "https://app.example"])
def test_pages_of_this_machine_and_configured_ones_are_let_in(server: HttpServer, era: str, origin: str) -> None:
    assert post(server, era, Origin=origin).status_code == 200


def test_a_configured_host_with_a_port_is_that_port_only(server: HttpServer, era: str) -> None:
    assert post(server, era, Host="10.1.2.3:80").status_code == 200
    assert post(server, era, Host="10.1.2.3:81").status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1", _EVERY_ADDRESS, "::", "192.168.1.5", "fe80::1", "kg.example.org"])
def test_host_and_origin_are_checked_whatever_the_address(host: str) -> None:
    security = transport_security(HttpSettings(host=host))
    assert security.enable_dns_rebinding_protection
    assert not {"*", _EVERY_ADDRESS, f"{_EVERY_ADDRESS}:*", "[::]"} & set(security.allowed_hosts)


@pytest.mark.parametrize(
    ("host", "name"),
    [("192.168.1.5", "192.168.1.5:*"), ("fe80::1", "[fe80::1]:*"), ("kg.example.org", "kg.example.org")],
)
def test_the_address_a_server_is_bound_to_is_a_name_of_its_own(host: str, name: str) -> None:
    security = transport_security(HttpSettings(host=host))
    assert name in security.allowed_hosts
    assert f"https://{name}" in security.allowed_origins


def test_the_stateless_era_answers_without_a_session(server: HttpServer) -> None:
    answer = post(server, "stateless")
    assert "mcp-session-id" not in answer.headers
    assert answer.json()["result"]["cacheScope"] == "public"


@pytest.mark.parametrize("spoken", ["handshake", "stateless"])
def test_the_client_that_measures_is_answered_in_both_eras(server: HttpServer, spoken: Era) -> None:
    with BareHttpClient(server.url.replace(_EVERY_ADDRESS, "127.0.0.1"), spoken) as client:
        for thought in ("one", "two"):
            with pytest.raises(ToolFailedError, match=r"missing\.kg"):
                client.call("think", {"thought": thought})


async def test_an_answer_in_two_packets_does_not_wait_for_the_first_to_be_acknowledged() -> None:
    accepted = asyncio.Queue[int]()

    def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.put_nowait(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    [listening] = listening_sockets(HttpSettings(port=0))
    async with await asyncio.start_server(accept, sock=listening):
        _, writer = await asyncio.open_connection(*listening.getsockname())
        assert await asyncio.wait_for(accepted.get(), PATIENCE_S)
        writer.close()


@pytest.mark.slow
@on_posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_even_while_a_client_listens(number: signal.Signals, tmp_path: Path) -> None:
    with on_http(tmp_path, *missing_graph(tmp_path)) as server, listening(server):
        code, said = server.ended_by(number)
    assert code in (-number, 128 + number)
    assert "Traceback" not in said


@contextmanager
def listening(server: HttpServer) -> Generator[None]:
    """A client of the handshake era whose event stream is open."""
    with httpx2.Client(headers=ACCEPTED, timeout=PATIENCE_S) as client:
        session = client.post(server.url, json=INITIALIZE).headers["mcp-session-id"]
        headers = {"mcp-session-id": session, "mcp-protocol-version": "2025-11-25"}
        with client.stream("GET", server.url, headers=headers) as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            yield


@pytest.mark.slow
def test_a_method_that_nobody_knows_is_repeated_only_in_part(tmp_path: Path) -> None:
    with (
        on_http(tmp_path, *missing_graph(tmp_path)) as server,
        httpx2.Client(headers=ACCEPTED, timeout=PATIENCE_S) as client,
    ):
        session = client.post(server.url, json=INITIALIZE).headers["mcp-session-id"]
        client.headers |= {"mcp-session-id": session, "mcp-protocol-version": "2025-11-25"}
        answer = client.post(server.url, json=request(1, "sing" * 250_000)).text
    assert "Method not found" in answer
    assert len(answer) < 500


@pytest.mark.slow
async def test_a_client_that_leaves_in_the_middle_of_a_call_stops_it(tmp_path: Path) -> None:
    with stuck_server(tmp_path) as server:
        async with calling(server):
            assert await asyncio.to_thread(server.said) == "the call has begun\n"
        assert await asyncio.to_thread(server.said) == "the call has stopped\n"


@pytest.mark.slow
@on_posix
async def test_a_signal_ends_the_server_in_the_middle_of_a_call(tmp_path: Path) -> None:
    with stuck_server(tmp_path) as server:
        async with calling(server):
            assert await asyncio.to_thread(server.said) == "the call has begun\n"
            code, said = await asyncio.to_thread(server.ended_by, signal.SIGTERM)
    assert code == -signal.SIGTERM
    assert "the call has stopped" in said
    assert "Traceback" not in said


@asynccontextmanager
async def calling(server: HttpServer) -> AsyncGenerator[None]:
    """A client of the stateless era in the middle of a call, that leaves at the end of this block."""
    headers = {**STATELESS, "Mcp-Method": "tools/call", "Mcp-Name": "describe_graph"}
    message = modern(1, "tools/call", name="describe_graph", arguments={})
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S) as client:
        call = asyncio.create_task(client.post(server.url, json=message))
        try:
            yield
        finally:
            call.cancel()
            await asyncio.wait([call])


@pytest.mark.slow
def test_a_call_cancelled_by_a_notification_stops(tmp_path: Path) -> None:
    with stuck_server(tmp_path) as server, httpx2.Client(headers=ACCEPTED, timeout=PATIENCE_S) as client:
        session = client.post(server.url, json=INITIALIZE).headers["mcp-session-id"]
        client.headers |= {"mcp-session-id": session, "mcp-protocol-version": "2025-11-25"}
        client.post(server.url, json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        with client.stream("POST", server.url, json=request(1, "tools/call", name="describe_graph", arguments={})):
            assert server.said() == "the call has begun\n"
            cancelled: Json = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
            assert client.post(server.url, json=cancelled).status_code == 202
            assert server.said() == "the call has stopped\n"


@contextmanager
def stuck_server(folder: Path) -> Generator[HttpServer]:
    """A server over HTTP whose graph never opens."""
    with on_http(folder, command=(*python("stuck_graph.py"), "http")) as server:
        yield server


@pytest.mark.slow
def test_a_server_on_every_address_without_a_public_name_says_that_it_needs_one(tmp_path: Path) -> None:
    with on_http(tmp_path, *missing_graph(tmp_path), address=f"{_EVERY_ADDRESS}:0") as server:
        said = server.said()
    assert said == "Only requests for 127.0.0.1, localhost, [::1] are accepted: add hosts by --http-allowed-hosts.\n"


@pytest.mark.slow
def test_a_port_that_is_taken_is_said_so(server: HttpServer, tmp_path: Path) -> None:
    port = server.url.rpartition(":")[2].removesuffix("/mcp")
    done = subprocess.run(
        [KGNAV, "serve", "--http", f"127.0.0.1:{port}"],
        env=environment(tmp_path),
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert f"cannot listen on 127.0.0.1:{port}: {os.strerror(errno.EADDRINUSE)}" in done.stderr
    assert "--http HOST:PORT" in done.stderr
