"""Sessions of the handshake era over HTTP end when they are not used, and are so many at most."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx2
import pytest
from starlette.types import ASGIApp

from kgnav_mcp.app import App
from kgnav_mcp.config import GraphSettings, HttpSettings, Settings
from kgnav_mcp.server import build_server
from kgnav_mcp.server.sessions import BoundedSessions
from kgnav_mcp.server.transport import application, transport_security
from tests.server.processes import INITIALIZE, PATIENCE_S, request

SETTINGS = Settings(graphs={"films": GraphSettings(location="missing.kg")})
ACCEPTED = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
STRUCTURED = "/mcp/structured"
IDLE_S = 1.0
"""Longer than a busy machine takes from one request to the next."""


class Visitor:
    """A client of the handshake era, without a connection that could hold its session."""

    def __init__(self, app: ASGIApp) -> None:
        self._client = httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app), base_url="http://localhost", headers=ACCEPTED, timeout=PATIENCE_S
        )

    async def shakes_hands(self, path: str = "/mcp") -> str:
        """The new session."""
        answer = await self._client.post(path, json=INITIALIZE)
        assert answer.status_code == 200
        return answer.headers["mcp-session-id"]

    async def uses(self, session: str, path: str = "/mcp") -> int:
        """The status of a request in this session."""
        answer = await self._client.post(path, json=request(1, "ping"), headers={"mcp-session-id": session})
        return answer.status_code

    async def listens(self, session: str) -> None:
        """Hold the event stream of this session open."""
        await self._client.get("/mcp", headers={"mcp-session-id": session})


@asynccontextmanager
async def running(app: ASGIApp) -> AsyncGenerator[Visitor]:
    """A client of an application between its start and its end."""
    begun, end = asyncio.Event(), asyncio.Event()
    messages = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

    async def receive() -> dict[str, str]:
        if begun.is_set():
            await end.wait()
        return next(messages)

    async def send(_: object) -> None:
        begun.set()

    async def run() -> None:
        await app({"type": "lifespan", "state": {}}, receive, send)

    async with asyncio.TaskGroup() as group:
        group.create_task(run())
        await begun.wait()
        yield Visitor(app)
        end.set()


async def test_a_session_that_nobody_uses_ends_and_its_client_is_told_to_shake_hands_again() -> None:
    async with running(application(App(SETTINGS), session_idle_s=IDLE_S)) as visitor:
        session = await visitor.shakes_hands()
        assert await visitor.uses(session) == 200
        await asyncio.sleep(2 * IDLE_S)
        assert await visitor.uses(session) == 404
        assert await visitor.uses(await visitor.shakes_hands()) == 200


async def test_the_session_unused_for_longest_makes_room_for_a_new_one() -> None:
    async with running(bounded(3)) as visitor:
        first, second, third = [await visitor.shakes_hands() for _ in range(3)]
        assert await visitor.uses(first) == 200
        fourth = await visitor.shakes_hands()
        assert [await visitor.uses(session) for session in (first, second, third, fourth)] == [200, 404, 200, 200]


async def test_however_many_clients_shake_hands_each_is_let_in_and_few_sessions_are_kept() -> None:
    async with running(bounded(5)) as visitor:
        sessions = [await visitor.shakes_hands() for _ in range(50)]
        assert [await visitor.uses(session) for session in sessions] == [404] * 45 + [200] * 5


async def test_both_paths_share_one_limit_and_a_session_is_good_for_its_own_path_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kgnav_mcp.server.sessions.MAX_SESSIONS", 2)
    async with running(application(App(SETTINGS))) as visitor:
        structured = await visitor.shakes_hands(STRUCTURED)
        markdown = await visitor.shakes_hands()
        assert [await visitor.uses(structured), await visitor.uses(markdown, STRUCTURED)] == [404, 404]
        assert await visitor.uses(markdown) == 200
        assert await visitor.uses(structured, STRUCTURED) == 200
        await visitor.shakes_hands()
        await visitor.shakes_hands()
        assert await visitor.uses(structured, STRUCTURED) == 404


async def test_a_session_whose_client_listens_stays_however_long_ago_it_began() -> None:
    async with running(bounded(2)) as visitor:
        listening = await visitor.shakes_hands()
        stream = asyncio.create_task(visitor.listens(listening))
        others = [await visitor.shakes_hands() for _ in range(4)]
        assert await visitor.uses(listening) == 200
        assert [await visitor.uses(session) for session in others] == [404, 404, 404, 200]
        assert not stream.done()
        stream.cancel()


def bounded(most: int) -> ASGIApp:
    http = HttpSettings()
    server = build_server(App(SETTINGS))
    return BoundedSessions(server.streamable_http_app(transport_security=transport_security(http)), most)
