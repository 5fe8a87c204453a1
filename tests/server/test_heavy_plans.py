"""While a plan is at work, the server answers other requests, and it ends as soon as it is told to."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import pytest

from tests.sampling import extended
from tests.server.processes import PATIENCE_S, Wire, on_wire, request

pytestmark = pytest.mark.slow


def evaluated(doublings: int) -> str:
    """A plan that is evaluated outside the store: it compares a number of some fifty rows with many others each."""
    long = " ".join(["MATCH (n) WITH collect(size(n.name) * 1.0) AS c", *["WITH c + c AS c"] * doublings])
    return f"{long} MATCH (m:Museum) WHERE m.name =~ '.*' AND size(m.name) + 0.5 IN c RETURN count(m)"


EVALUATED = evaluated(6)
"""Compares with 40,000 numbers, for several seconds."""
COMPILED = "MATCH (a), (b) RETURN a.name + b.name AS c ORDER BY c LIMIT 5"
MAX_S = 5
"""Seconds that an answer or an end may take on a busy machine. An idle one takes a hundredth."""


async def begin(server: Wire, number: int, plan: str) -> None:
    await server.send(request(number, "tools/call", name="run_plan", arguments={"plan": plan}))


@pytest.mark.parametrize("plan", [evaluated(4), extended(COMPILED)], ids=["evaluated", "compiled"])  # to its end
async def test_other_requests_are_answered_meanwhile(plan: str, tmp_path: Path):
    async with on_wire(tmp_path) as server:
        await server.shake_hands()
        await server.answer(request(1, "tools/call", name="run_plan", arguments={"plan": "MATCH (n) RETURN count(n)"}))
        await begin(server, 2, plan)
        waited: list[float] = []
        received, number = {"id": 1}, 2
        while received["id"] != 2:
            await asyncio.sleep(0.02)
            number, begun = number + 1, perf_counter()
            await server.send(request(number, "ping"))
            received = await server.receive()
            waited.append(perf_counter() - begun)
        assert len(waited) > 10
        assert max(waited) < MAX_S


async def test_a_cancelled_plan_does_not_keep_later_ones_waiting(tmp_path: Path):
    async with on_wire(tmp_path) as server:
        await server.shake_hands()
        await begin(server, 1, f"{EVALUATED} AS n")
        await asyncio.sleep(1)
        await server.send(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        )
        begun = perf_counter()
        await begin(server, 2, "MATCH (n) WHERE n.name =~ 'V.*' RETURN count(n)")
        while (await server.receive())["id"] != 2:
            pass
        assert perf_counter() - begun < MAX_S


@pytest.mark.parametrize("plan", [EVALUATED, extended(COMPILED)], ids=["evaluated", "compiled"])
async def test_the_end_of_its_input_ends_the_server_soon(plan: str, tmp_path: Path):
    async with on_wire(tmp_path) as server:
        await server.shake_hands()
        await begin(server, 1, plan)
        await asyncio.sleep(1)
        begun = perf_counter()
        await server.closed()
        assert perf_counter() - begun < MAX_S


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
@pytest.mark.parametrize("plan", [COMPILED, extended(EVALUATED)], ids=["compiled", "evaluated"])
async def test_a_signal_ends_the_server_soon(plan: str, tmp_path: Path):
    async with on_wire(tmp_path) as server:
        await server.shake_hands()
        await begin(server, 1, plan)
        await asyncio.sleep(1)
        server.process.send_signal(signal.SIGTERM)
        begun = perf_counter()
        async with asyncio.timeout(PATIENCE_S):
            await server.process.wait()
        assert perf_counter() - begun < MAX_S


def test_modules_of_graphs_and_plans_are_not_imported_by_the_thread_of_the_event_loop():
    code = """
import asyncio, sys, threading
from kgnav_mcp.app import App
from kgnav_mcp.config import DEMO_LOCATION, GraphSettings, Settings
from kgnav_mcp.server import build_server
from mcp import Client

by_loop = []

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("kgnav_mcp.") and threading.current_thread() is threading.main_thread():
            by_loop.append(name)

async def call():
    async with Client(build_server(App(Settings(graphs={"demo": GraphSettings(location=DEMO_LOCATION)})))) as client:
        sys.meta_path.insert(0, Watch())
        found = await client.call_tool("run_plan", {"plan": "MATCH (p:Painter) RETURN p.name AS name ORDER BY name"})
        print(by_loop, found.is_error)

asyncio.run(call())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[] False\n"
