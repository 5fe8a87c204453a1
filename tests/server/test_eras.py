"""Both protocol eras over both transports show the same server, by the real commands in real processes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Generator
from dataclasses import dataclass
from pathlib import Path

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import INVALID_PARAMS, CallToolResult, ErrorData, Implementation, ServerCapabilities, TextContent, Tool

from kgnav_mcp.config import GraphSettings, Settings
from kgnav_mcp.config.toolsets import default_toolsets
from kgnav_mcp.server.toolsets import load_toolsets
from tests.server.clients import client, example
from tests.server.processes import HttpServer, missing_graph, on_http, on_stdio

MISSING = Settings(graphs={"films": GraphSettings(location="missing.kg")})


@dataclass(frozen=True)
class Seen:
    """What a client of a server whose graph is missing is shown and told."""

    version: str
    instructions: str | None
    server: Implementation | None
    capabilities: ServerCapabilities
    tools: list[Tool]
    tools_again: list[Tool]
    answers: dict[str, CallToolResult]
    unknown_argument: CallToolResult
    missing_argument: CallToolResult
    unknown_tool: ErrorData
    unknown_resource: ErrorData


async def seen_by(connecting: Client) -> Seen:
    """One session, in which everything is asked once."""
    async with connecting as connected:
        tools = (await connected.list_tools()).tools
        return Seen(
            version=connected.protocol_version,
            instructions=connected.instructions,
            server=connected.server_info,
            capabilities=connected.server_capabilities,
            tools=tools,
            tools_again=(await connected.list_tools(cache_mode="bypass")).tools,
            answers={tool.name: await connected.call_tool(tool.name, example(tool.name)) for tool in tools},
            unknown_argument=await connected.call_tool("find_node", {"hint": "x", "limits": 3}),
            missing_argument=await connected.call_tool("search", {"entity": "x"}),
            unknown_tool=await protocol_error(connected.call_tool("serch", {"entity": "x"})),
            unknown_resource=await protocol_error(connected.read_resource("kg://nowhere/at/all")),
        )


async def protocol_error(request: Awaitable[object]) -> ErrorData:
    """The error of the protocol with which a request fails."""
    with pytest.raises(MCPError) as caught:
        await request
    return caught.value.error


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Generator[HttpServer]:
    """One server over HTTP for the clients of both eras."""
    folder = tmp_path_factory.mktemp("http")
    with on_http(folder, *missing_graph(folder)) as server:
        yield server


@pytest.fixture(scope="module", params=["stdio", "HTTP"])
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> StdioServerParameters | str:
    """What a client is told to connect to."""
    if request.param == "stdio":
        folder = tmp_path_factory.mktemp("stdio")
        return on_stdio(folder, *missing_graph(folder))
    return request.getfixturevalue("http").url


@pytest.fixture(scope="module", params=["handshake", "stateless"])
def seen(request: pytest.FixtureRequest, target: StdioServerParameters | str) -> Seen:
    mode, version = ("legacy", "2025-11-25") if request.param == "handshake" else ("auto", "2026-07-28")
    found = asyncio.run(seen_by(Client(target, mode=mode)))
    assert found.version == version
    return found


@pytest.fixture(scope="module")
def in_memory() -> Seen:
    """The same of a server in this process."""
    return asyncio.run(seen_by(client(MISSING)))


def only_text(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def test_every_era_and_transport_lists_the_same_tools_in_the_same_order(seen: Seen, in_memory: Seen) -> None:
    assert seen.tools == seen.tools_again == in_memory.tools
    offered = [tool.name for toolset in load_toolsets(default_toolsets()).values() for tool in toolset.tools]
    assert [tool.name for tool in seen.tools] == offered
    assert offered[0] == "find_node", "where a walk begins"


def test_without_its_graph_the_server_starts_and_every_tool_says_what_to_do(seen: Seen) -> None:
    assert len(seen.answers) == len(seen.tools)
    for tool, result in seen.answers.items():
        assert result.is_error, tool
        said = only_text(result)
        assert "missing.kg does not exist" in said, tool
        assert "kgnav load" in said, tool


def test_an_unknown_argument_is_refused_in_words_a_model_can_use(seen: Seen) -> None:
    assert seen.unknown_argument.is_error
    assert "has no argument 'limits'. Did you mean 'limit'?" in only_text(seen.unknown_argument)
    assert "http" not in only_text(seen.unknown_argument)


def test_a_missing_argument_is_named_with_what_it_means(seen: Seen) -> None:
    assert seen.missing_argument.is_error
    assert "needs the argument 'direction'. outgoing:" in only_text(seen.missing_argument)
    assert "http" not in only_text(seen.missing_argument)


def test_an_unknown_tool_is_an_error_of_the_protocol_that_names_the_tools(seen: Seen) -> None:
    assert seen.unknown_tool.code == INVALID_PARAMS
    assert seen.unknown_tool.message.startswith(
        "Unknown tool: 'serch'. The tools are: find_node, describe_graph, search"
    )


def test_an_unknown_resource_has_the_code_of_the_protocol_version(seen: Seen) -> None:
    assert seen.unknown_resource.code == {"2025-11-25": -32002, "2026-07-28": INVALID_PARAMS}[seen.version]
    assert seen.unknown_resource.data == {"uri": "kg://nowhere/at/all"}


def test_both_eras_introduce_the_server_with_the_same_words(seen: Seen, in_memory: Seen) -> None:
    assert (seen.instructions, seen.server) == (in_memory.instructions, in_memory.server)


def test_both_eras_say_that_nothing_changes_which_one_could_subscribe_to(seen: Seen) -> None:
    resources = seen.capabilities.resources
    assert resources is not None
    assert not resources.subscribe
    assert not resources.list_changed


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Generator[HttpServer]:
    """One server of the demo graph for the clients of both eras."""
    with on_http(tmp_path_factory.mktemp("demo"), "--graph", "demo") as server:
        yield server


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_one_process_serves_text_at_one_path_and_structure_at_another(mode: str, demo: HttpServer) -> None:
    arguments = {"entity": "zundert", "direction": "outgoing"}
    async with Client(demo.url, mode=mode) as reader, Client(f"{demo.url}/structured", mode=mode) as script:
        text, structure = await reader.call_tool("search", arguments), await script.call_tool("search", arguments)
        schemas = [[tool.output_schema for tool in (await one.list_tools()).tools] for one in (reader, script)]
    assert text.structured_content is None
    assert structure.structured_content is not None
    assert len(structure.structured_content["rows"]) == len(only_text(text).splitlines()) - 3 > 1
    assert only_text(structure) == only_text(text).splitlines()[0]
    assert not any(schemas[0])
    assert all(schemas[1])


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "structured"), [("legacy", False), ("auto", True)])
async def test_an_answer_on_stdio_is_sent_once(mode: str, structured: bool, tmp_path: Path) -> None:
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
