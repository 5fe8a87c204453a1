"""A stream of protocol version 2025-11-25 can be continued after its connection was cut off, in its session only."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import httpx2
import pytest
from mcp.server.streamable_http import EventMessage
from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCResponse

from kgnav_mcp.server.sessions import RETRY_MS, RecentEvents, events_of
from tests.server.processes import INITIALIZE, PATIENCE_S, HttpServer, Json, missing_graph, on_http, request

ACCEPTED = {"Accept": "application/json, text/event-stream"}
PATH = "/mcp"
Event = dict[str, str]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[HttpServer]:
    folder = tmp_path_factory.mktemp("events")
    with on_http(folder, *missing_graph(folder)) as listening:
        yield listening


@pytest.fixture
def session(server: HttpServer) -> Generator[httpx2.Client]:
    with httpx2.Client(base_url=server.url.removesuffix(PATH), headers=ACCEPTED, timeout=PATIENCE_S) as client:
        yield begun(client)


def begun(client: httpx2.Client, version: str = "2025-11-25") -> httpx2.Client:
    """The client, whose further requests are of a new session."""
    initialize: Json = {**INITIALIZE, "params": {**INITIALIZE["params"], "protocolVersion": version}}
    answer = client.post(PATH, json=initialize)
    client.headers |= {"mcp-session-id": answer.headers["mcp-session-id"], "mcp-protocol-version": version}
    return client


def events(lines: Iterator[str]) -> Generator[Event]:
    """Events as they arrive: their fields by name."""
    event = Event()
    for line in lines:
        name, _, value = line.partition(": ")
        if name:
            event[name] = value
        elif event:
            yield event
            event = Event()


def cut_off(client: httpx2.Client, message: Json) -> Event:
    """The first event of the answer; the connection is closed after it."""
    with client.stream("POST", PATH, json=message) as stream:
        return next(events(stream.iter_lines()))


def continued(client: httpx2.Client, last: str) -> Event | None:
    """The first message that follows this event on its stream; None if the server ends the stream without one."""
    with client.stream("GET", PATH, headers={"last-event-id": last}) as stream:
        assert stream.status_code == 200
        return next((event for event in events(stream.iter_lines()) if event["data"]), None)


def test_a_stream_begins_with_an_event_without_data_that_says_when_to_come_back(session: httpx2.Client) -> None:
    first = cut_off(session, request(1, "ping"))
    assert first == {"id": first["id"], "retry": str(RETRY_MS), "data": ""}


def test_a_client_of_an_older_version_gets_only_events_with_data(server: HttpServer) -> None:
    with httpx2.Client(base_url=server.url.removesuffix(PATH), headers=ACCEPTED, timeout=PATIENCE_S) as client:
        first = cut_off(begun(client, "2025-06-18"), request(1, "ping"))
    assert '"result":{}' in first["data"]


def test_a_client_that_was_cut_off_gets_its_answer_when_it_comes_back(session: httpx2.Client) -> None:
    first = cut_off(session, request(7, "tools/call", name="think", arguments={"thought": "one"}))
    answer = continued(session, first["id"])
    assert answer is not None
    assert int(answer["id"]) > int(first["id"])
    assert '"id":7' in answer["data"]
    assert "missing.kg" in answer["data"]
    assert continued(session, answer["id"]) is None


def test_another_session_gets_nothing_even_if_its_requests_have_the_same_numbers(
    session: httpx2.Client, server: HttpServer
) -> None:
    first = cut_off(session, request(1, "ping"))
    with httpx2.Client(base_url=server.url.removesuffix(PATH), headers=ACCEPTED, timeout=PATIENCE_S) as client:
        other = cut_off(begun(client), request(1, "ping"))
        assert continued(client, first["id"]) is None
        theirs = continued(client, other["id"])
    ours = continued(session, first["id"])
    assert ours is not None
    assert theirs is not None
    assert int(first["id"]) < int(ours["id"])
    assert int(other["id"]) < int(theirs["id"])
    assert ours["id"] != theirs["id"]


async def replayed(store: RecentEvents, last: str) -> tuple[str | None, list[JSONRPCMessage]]:
    """The stream that goes on, and the messages that are sent again."""
    sent: list[JSONRPCMessage] = []

    async def send(event: EventMessage) -> None:
        sent.append(event.message)

    return await store.replay_events_after(last, send), sent


def progress(message: str) -> JSONRPCNotification:
    return JSONRPCNotification(jsonrpc="2.0", method="notifications/progress", params={"message": message})


def answer_to(number: int, result: dict[str, Any]) -> JSONRPCResponse:
    return JSONRPCResponse(jsonrpc="2.0", id=number, result=result)


async def test_what_follows_on_a_stream_is_sent_again_until_its_answer() -> None:
    store = RecentEvents()
    note = progress("")
    with events_of("a session"):
        first = await store.store_event("1", None)
        noted = await store.store_event("1", note)
        await store.store_event("2", answer_to(2, {}))
        assert await replayed(store, first) == ("1", [note])
        assert await replayed(store, noted) == ("1", [])
        await store.store_event("1", answer_to(1, {"a": None}))
        assert await replayed(store, first) == (None, [note, answer_to(1, {"a": None})])
    with events_of("another"):
        assert await replayed(store, first) == (None, [])
    assert await replayed(store, "unknown") == (None, [])


async def test_old_events_are_forgotten_so_that_a_bound_of_bytes_is_kept() -> None:
    store = RecentEvents(max_bytes=100_000)
    with events_of("a session"):
        ids = [await store.store_event("1", progress("é" * 5_000)) for _ in range(50)]
        assert 80_000 < store.bytes <= 100_000
        assert await replayed(store, ids[0]) == (None, [])
        assert await replayed(store, ids[-2]) == ("1", [progress("é" * 5_000)])
        await store.store_event("1", progress("é" * 100_000))
        assert store.bytes == 0
