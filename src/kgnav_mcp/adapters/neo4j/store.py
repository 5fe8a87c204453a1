"""One database of one server: read transactions over the driver's pool of connections."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, LiteralString, cast

from neo4j import READ_ACCESS, AsyncDriver, AsyncGraphDatabase, AsyncSession, Query, ServerInfo, TrustCustomCAs
from neo4j.exceptions import ClientError

from kgnav_mcp.adapters.neo4j import queries
from kgnav_mcp.adapters.neo4j.errors import LOST, REFUSED_WRITE, too_late, translated
from kgnav_mcp.adapters.neo4j.options import Neo4j
from kgnav_mcp.errors import StoreError

Row = list[Any]

_CONNECTS = 2.0
"""Seconds a server may take to accept a connection."""
_JOINS = 2.5
"""Seconds it may take to get a connection that is ready: a store that is down is said within three."""
_AT_ONCE = 0.5
"""A connection that broke so soon was an old one: the server was restarted meanwhile, and a new one may do."""
_QUIET = "OFF"


class Store:
    """Runs queries. `database` is the home database of the user until it is known by name."""

    def __init__(self, graph: Neo4j, timeout: float) -> None:
        self._graph = graph
        self._timeout = timeout
        self._driver: AsyncDriver | None = None
        self.database = graph.database

    @property
    def place(self) -> str:
        """Host and port."""
        return self._graph.place

    def connect(self) -> None:
        """Make the driver. Nothing is sent.

        Raises:
            ConfigurationError: it does not take the location.
        """
        trust: dict[str, object] = {}
        if self._graph.encrypted_by is not None:
            trust = {"encrypted": True, "trusted_certificates": TrustCustomCAs(self._graph.encrypted_by)}
        with translated(self.place, self.database, self._timeout):
            self._driver = AsyncGraphDatabase.driver(  # pyright: ignore[reportUnknownMemberType] - its own keywords
                self._graph.uri,
                auth=self._graph.auth,
                connection_timeout=_CONNECTS,
                connection_acquisition_timeout=_JOINS,
                notifications_min_severity=_QUIET,
                telemetry_disabled=True,
                **trust,
            )

    async def close(self) -> None:
        """Close every connection. Safe to call twice."""
        driver, self._driver = self._driver, None
        if driver is not None:
            await driver.close()

    @asynccontextmanager
    async def within_time(self) -> AsyncGenerator[None]:
        """Give up what is done inside after the time-out; the server is told to end it.

        Raises:
            StoreTimeout: it took longer.
        """
        try:
            async with asyncio.timeout(self._timeout):
                yield
        except TimeoutError as error:
            raise too_late(self._timeout) from error

    async def rows(self, query: str, **parameters: object) -> list[Row]:
        """All rows of a query of ours, as lists of values.

        Raises:
            StoreError: as `errors.translated` says.
        """
        with translated(self.place, self.database, self._timeout):
            begin = time.monotonic()
            try:
                return await self._read(query, parameters)
            except LOST:
                if time.monotonic() - begin > _AT_ONCE:
                    raise
            return await self._read(query, parameters)

    async def row(self, query: str, **parameters: object) -> Row:
        """The only row of a query."""
        (row,) = await self.rows(query, **parameters)
        return row

    async def refuses_writes(self) -> bool:
        """Whether the server refuses a write in read mode. One that it takes is rolled back."""
        with translated(self.place, self.database, self._timeout):
            async with self._session() as session:
                transaction = await session.begin_transaction(timeout=self._timeout)
                try:
                    result = await transaction.run(queries.WRITE)
                    await result.consume()
                except ClientError as error:
                    if error.code == REFUSED_WRITE or (error.code or "").startswith("Neo.ClientError.Security"):
                        return True
                    raise
                finally:
                    await transaction.close()
        return False

    async def agent(self) -> str:
        """What the server calls itself: `Neo4j/5.26.30`."""
        with translated(self.place, self.database, self._timeout):
            server: ServerInfo = await self._connected().get_server_info()  # pyright: ignore[reportUnknownMemberType]
            return server.agent

    async def _read(self, query: str, parameters: dict[str, object]) -> list[Row]:
        async with self._session() as session:
            result = await session.run(
                Query(cast("LiteralString", query), timeout=self._timeout),  # made of constants and quoted names alone
                parameters,
            )
            return [record.values() async for record in result]

    def _session(self) -> AsyncSession:
        return self._connected().session(  # pyright: ignore[reportUnknownMemberType] - its own keywords
            database=self.database, default_access_mode=READ_ACCESS, fetch_size=-1
        )

    def _connected(self) -> AsyncDriver:
        if self._driver is None:
            raise StoreError("this graph is closed")
        return self._driver
