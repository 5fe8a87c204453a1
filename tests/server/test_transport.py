"""What is on the wire of a server over stdio: the protocol alone, until the client or a signal ends it."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest

from tests.server.processes import INITIALIZE, KGNAV_MCP, Json, Wire, modern, on_wire, python, request

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
    assert "DEBUG" in said


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
