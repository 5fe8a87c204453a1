"""Both protocol eras over both transports show the same server, by the real commands in real processes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent, Tool

from kgnav_mcp.config import GraphSettings, Settings
from tests.server.clients import client
from tests.server.processes import HttpServer, on_http, on_stdio

MISSING = ("--graph", "films=missing.kg")
SAME_MISSING = Settings(graphs={"films": GraphSettings(location="missing.kg")})

Connect = Callable[[], AbstractAsyncContextManager[Client]]


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Generator[HttpServer]:
    """One server over HTTP for the clients of all tests."""
    with on_http(tmp_path_factory.mktemp("http"), *MISSING) as server:
        yield server


@pytest.fixture(params=["stdio, handshake", "stdio, stateless", "HTTP, handshake", "HTTP, stateless"])
def connect(request: pytest.FixtureRequest, http: HttpServer, tmp_path: Path) -> Connect:
    """Connects a client to a server whose graph is missing."""
    transport, era = str(request.param).split(", ")
    mode = "legacy" if era == "handshake" else "auto"

    @asynccontextmanager
    async def connected() -> AsyncGenerator[Client]:
        target = on_stdio(tmp_path, *MISSING) if transport == "stdio" else http.url
        async with Client(target, mode=mode) as client:
            assert client.protocol_version == ("2025-11-25" if era == "handshake" else "2026-07-28")
            yield client

    return connected


def valid_arguments(tool: Tool) -> dict[str, object]:
    """Something for each required argument that its schema lets through."""
    values: dict[str, object] = {}
    for name in tool.input_schema.get("required", []):
        schema = tool.input_schema["properties"][name]
        values[name] = schema["enum"][0] if "enum" in schema else ["x"] if schema.get("type") == "array" else "x"
    return values


def only_text(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


async def test_every_era_and_transport_lists_the_same_tools_in_the_same_order(connect: Connect) -> None:
    async with client(SAME_MISSING) as in_memory:
        expected = [tool.model_dump() for tool in (await in_memory.list_tools()).tools]
    async with connect() as connected:
        first = [tool.model_dump() for tool in (await connected.list_tools()).tools]
        again = [tool.model_dump() for tool in (await connected.list_tools(cache_mode="bypass")).tools]
    assert first == again == expected
    assert [tool["name"] for tool in first] == [
        "find_node",
        "describe_graph",
        "search",
        "get_relations",
        "get_triples",
        "get_node_by_property",
        "get_all_nearest_neighbors",
        "get_unique_property_values",
        "think",
    ]


async def test_without_its_graph_the_server_starts_and_every_tool_says_what_to_do(connect: Connect) -> None:
    async with connect() as connected:
        for tool in (await connected.list_tools()).tools:
            result = await connected.call_tool(tool.name, valid_arguments(tool))
            assert result.is_error, tool.name
            said = only_text(result)
            assert "missing.kg does not exist" in said, tool.name
            assert "kgnav load" in said, tool.name


async def test_an_unknown_argument_is_refused_in_words_a_model_can_use(connect: Connect) -> None:
    async with connect() as connected:
        result = await connected.call_tool("find_node", {"hint": "x", "limits": 3})
    assert result.is_error
    assert "has no argument 'limits'. Did you mean 'limit'?" in only_text(result)
    assert "http" not in only_text(result)


async def test_a_missing_argument_is_named_with_what_it_means(connect: Connect) -> None:
    async with connect() as connected:
        result = await connected.call_tool("search", {"entity": "x"})
    assert result.is_error
    assert "needs the argument 'direction'. outgoing:" in only_text(result)
    assert "http" not in only_text(result)


async def test_both_eras_introduce_the_server_with_the_same_words(connect: Connect) -> None:
    async with client(SAME_MISSING) as in_memory, connect() as connected:
        assert connected.instructions == in_memory.instructions
        assert connected.server_info == in_memory.server_info


async def test_both_eras_say_that_nothing_changes_which_one_could_subscribe_to(connect: Connect) -> None:
    async with connect() as connected:
        resources = connected.server_capabilities.resources
        assert resources is not None
        assert not resources.subscribe
        assert not resources.list_changed


@pytest.mark.parametrize("structured", [False, True], ids=["as text", "as structure"])
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_an_answer_is_sent_once(mode: str, structured: bool, tmp_path: Path) -> None:
    flags = ["--structured"] if structured else []
    async with Client(on_stdio(tmp_path, "--graph", "demo", *flags), mode=mode) as connected:
        result = await connected.call_tool("search", {"entity": "zundert", "direction": "outgoing"})
    lines = only_text(result).splitlines()
    if structured:
        assert result.structured_content is not None
        assert len(result.structured_content["rows"]) > 1
        assert len(lines) == 1
    else:
        assert result.structured_content is None
        assert len(lines) > 3
