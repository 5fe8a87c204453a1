"""Encrypted connections: trusted by the system, by a file of one's own, or by nobody."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import trustme

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.port import AdapterOptions
from tests.neo4j_service import Neo4j


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
async def encrypted(neo4j: Neo4j, authority: trustme.CA) -> AsyncGenerator[str]:
    """The place of a server that decrypts and hands on to the live one."""
    host, _, port = neo4j.url.removeprefix("bolt://").partition(":")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)  # pyright: ignore[reportUnknownMemberType]

    relayed: set[asyncio.Task[None]] = set()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(host, int(port))
        await asyncio.gather(_pipe(reader, far_writer), _pipe(far_reader, writer))

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        relayed.add(asyncio.ensure_future(relay(reader, writer)))

    server = await asyncio.start_server(begin, "127.0.0.1", 0, ssl=context)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    await asyncio.gather(*relayed)


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError, ssl.SSLError):  # the other side has gone
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()
    with contextlib.suppress(ConnectionError, ssl.SSLError):
        await writer.wait_closed()


async def test_a_certificate_that_nobody_known_vouches_for_is_refused_with_what_to_do(encrypted: str):
    graph = open_adapter(f"bolt+s://{encrypted}", AdapterOptions())
    with pytest.raises(ConfigurationError, match="TLS fails") as caught:
        await graph.open()
    assert "ca_file" in caught.value.next_step
    await graph.close()


async def test_an_authority_of_ones_own_is_trusted_by_its_file(encrypted: str, authority: trustme.CA, tmp_path: Path):
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(file))

    async with open_adapter(f"bolt+s://{encrypted}", AdapterOptions(extra={"ca_file": str(file)})) as graph:
        assert (await graph.health()).reachable


async def test_a_certificate_of_its_own_is_taken_where_that_is_requested(encrypted: str):
    async with open_adapter(f"bolt+ssc://{encrypted}", AdapterOptions()) as graph:
        assert (await graph.health()).reachable


async def test_a_server_without_tls_is_told_from_one_that_is_down(neo4j: Neo4j):
    graph = open_adapter(neo4j.url.replace("bolt:", "bolt+s:"), AdapterOptions())
    with pytest.raises(ConfigurationError, match="TLS fails"):
        await graph.open()
    await graph.close()
