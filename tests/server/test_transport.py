"""What is on the wire of a server over stdio: the protocol alone, until the client or a signal ends it."""

from __future__ import annotations

import gc
import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from kgnav_mcp.config import Settings
from kgnav_mcp.server import transport
from tests.server.processes import (
    INITIALIZE,
    KGNAV_MCP,
    PATIENCE_S,
    Json,
    Wire,
    environment,
    modern,
    on_wire,
    python,
    request,
)

pytestmark = pytest.mark.slow

ZUNDERT: Json = {"name": "search", "arguments": {"entity": "zundert", "direction": "outgoing"}}
DESCRIBE: Json = {"name": "describe_graph", "arguments": {}}

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")


async def test_at_the_chattiest_log_level_stdout_carries_the_protocol_alone(tmp_path: Path) -> None:
    async with on_wire(tmp_path, KGNAV_MCP, "--log-level", "DEBUG") as server:
        await server.shake_hands()
        assert "result" in await server.answer(request(1, "tools/list"))
        assert not (await server.answer(request(2, "tools/call", **ZUNDERT)))["result"].get("isError", False)
        assert (await server.answer(request(3, "tools/call", name="search", arguments={})))["result"]["isError"]
        assert "error" in await server.answer(request(4, "no/such/method"))
        code, rest, said = await server.closed()
    assert code == 0
    assert rest == ""
    assert "Using selector" in said  # asyncio says so at this level alone; how lines are laid out depends on packages


async def test_the_stateless_era_needs_no_handshake_and_tells_how_long_lists_stay_fresh(tmp_path: Path) -> None:
    async with on_wire(tmp_path) as server:
        for number, method in enumerate(
            ("tools/list", "prompts/list", "resources/list", "resources/templates/list"), start=1
        ):
            result = (await server.answer(modern(number, method)))["result"]
            assert result["ttlMs"] > 0, method
            assert result["cacheScope"] == "public", method


async def test_closing_stdin_ends_the_server_in_silence(tmp_path: Path) -> None:
    async with on_wire(tmp_path) as server:
        await server.shake_hands()
        assert not (await server.answer(request(1, "tools/call", **ZUNDERT)))["result"].get("isError", False)
        assert await server.closed() == (0, "", "")


async def test_closing_stdin_before_the_first_word_ends_it_as_well(tmp_path: Path) -> None:
    async with on_wire(tmp_path) as server:
        assert await server.closed() == (0, "", "")


@on_posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_server_at_once_and_in_silence(number: signal.Signals, tmp_path: Path) -> None:
    async with on_wire(tmp_path) as server:
        await server.shake_hands()
        assert await server.ended_by(number) == (-number, "")


async def test_a_line_that_is_no_message_does_not_end_the_server(tmp_path: Path) -> None:
    async with on_wire(tmp_path) as server:
        assert server.process.stdin is not None
        server.process.stdin.write(b"this is no JSON\n")
        await server.send(INITIALIZE)
        received = await server.receive()
        assert (received if "result" in received else await server.receive())["id"] == INITIALIZE["id"]


async def begin(server: Wire) -> None:
    """Make a call that never ends."""
    await server.shake_hands()
    await server.send(request(1, "tools/call", **DESCRIBE))
    await server.said("the call has begun")


async def test_a_cancelled_call_stops_and_the_server_goes_on(tmp_path: Path) -> None:
    async with on_wire(tmp_path, *python("stuck_graph.py")) as server:
        await begin(server)
        await server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        await server.said("the call has stopped")
        await server.send(request(2, "ping"))
        answers: dict[int, Json] = {}
        while 2 not in answers:
            received = await server.receive()
            answers[received["id"]] = received
        assert "result" in answers[2]
        assert "result" not in answers.get(1, {})


async def test_a_slow_call_does_not_hold_up_the_next(tmp_path: Path) -> None:
    async with on_wire(tmp_path, *python("stuck_graph.py")) as server:
        await begin(server)
        assert (await server.answer(request(2, "tools/list")))["result"]["tools"]


async def test_a_client_that_leaves_in_the_middle_of_a_call_leaves_no_process_behind(tmp_path: Path) -> None:
    async with on_wire(tmp_path, *python("stuck_graph.py")) as server:
        await begin(server)
        code, rest, said = await server.closed()
    assert code == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
    assert "the call has stopped" in said
    assert "Traceback" not in said


async def test_a_stray_print_does_not_reach_the_client(tmp_path: Path) -> None:
    async with on_wire(tmp_path, *python("stuck_graph.py")) as server:
        await server.shake_hands()
        await server.send(request(1, "tools/call", **DESCRIBE))
        await server.said("a stray print")
        assert (await server.answer(request(2, "ping")))["result"] == {}


async def test_a_client_that_does_not_read_for_a_while_loses_nothing(tmp_path: Path) -> None:
    calls = 100
    async with on_wire(tmp_path) as server:
        await server.shake_hands()
        for number in range(1, calls + 1):
            await server.send(request(number, "tools/list"))  # some 9 kB each: more than any pipe holds
        answers = [await server.receive() for _ in range(calls)]
    assert {answer["id"] for answer in answers} == set(range(1, calls + 1))
    assert all(answer["result"]["tools"] for answer in answers)


async def test_a_message_of_a_megabyte_is_read_whole(tmp_path: Path) -> None:
    async with on_wire(tmp_path) as server:
        await server.shake_hands()
        answer = await server.answer(request(1, "tools/call", name="think", arguments={"thought": "so " * 2**20}))
        assert "so so" in answer["result"]["content"][0]["text"]


def test_a_client_may_come_by_files_instead_of_pipes(tmp_path: Path) -> None:
    requests, received = tmp_path / "requests.jsonl", tmp_path / "received.jsonl"
    requests.write_text(json.dumps(INITIALIZE) + "\n")
    with requests.open("rb") as stdin, received.open("wb") as stdout:
        subprocess.run(
            [KGNAV_MCP], env=environment(tmp_path), stdin=stdin, stdout=stdout, timeout=PATIENCE_S, check=True
        )
    assert json.loads(received.read_text())["id"] == INITIALIZE["id"]


@on_posix
def test_one_socket_for_both_ways_serves_as_well(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(PATIENCE_S)
        with subprocess.Popen(
            [KGNAV_MCP], env=environment(tmp_path), stdin=theirs.fileno(), stdout=theirs.fileno()
        ) as process:
            theirs.close()
            ours.sendall(json.dumps(INITIALIZE).encode() + b"\n")
            with ours.makefile("rb") as lines:
                assert json.loads(lines.readline())["id"] == INITIALIZE["id"]
                ours.sendall(json.dumps(request(1, "ping")).encode() + b"\n")
                assert json.loads(lines.readline())["id"] == 1
            ours.shutdown(socket.SHUT_WR)
            assert process.wait(PATIENCE_S) == 0


def test_a_client_that_stops_reading_for_good_does_not_crash_the_server(tmp_path: Path) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([KGNAV_MCP], env=environment(tmp_path), stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write(json.dumps(request(1, "tools/list")).encode() + b"\n")
        process.stdin.close()
        assert process.wait(PATIENCE_S) == 0
        assert process.stderr.read() == b""


def test_what_stays_is_spared_from_garbage_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    spared: list[int] = []

    def run(*_: object) -> None:
        spared.append(gc.get_freeze_count())

    monkeypatch.setattr(signal, "signal", run)
    monkeypatch.setattr(anyio, "run", run)
    try:
        transport.serve_stdio(Settings())
    finally:
        gc.unfreeze()

    assert spared[-1] > 10_000
