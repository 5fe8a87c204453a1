"""Runs queries in one database of one server: read transactions over the driver's connection pool."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Mapping
from typing import Any, LiteralString, TypeVar, cast

from neo4j import READ_ACCESS, AsyncDriver, AsyncGraphDatabase, AsyncSession, Query, ServerInfo, TrustCustomCAs
from neo4j.exceptions import ClientError

from kgnav_mcp.adapters.cypher.session import Row, closed
from kgnav_mcp.adapters.neo4j.dialect import WRITE
from kgnav_mcp.adapters.neo4j.errors import CONNECTION_ERRORS, REFUSED_WRITE, timed_out, translated
from kgnav_mcp.adapters.neo4j.options import Neo4jOptions

T = TypeVar("T")

_CONNECT_TIMEOUT = 2.0
"""Seconds a server may take to accept a connection."""
_ACQUIRE_TIMEOUT = 2.5
"""Seconds to wait for a ready connection, so that a store that is down is reported within three seconds."""
_STALE = 0.5
"""Seconds. A query that loses its connection sooner had a stale one, left from before a restart; it is tried again."""
_NO_NOTIFICATIONS = "OFF"


class Store:
    """Runs queries in one database. `database` None means the user's home database, until `open` learns its name."""

    def __init__(self, options: Neo4jOptions, timeout: float) -> None:
        self._options = options
        self._timeout = timeout
        self._driver: AsyncDriver | None = None
        self.database = options.database

    @property
    def place(self) -> str:
        """Host and port."""
        return self._options.place

    def connect(self) -> None:
        """Create the driver, without sending anything.

        Raises:
            ConfigurationError: the driver rejects the location.
        """
        trust: dict[str, object] = {}
        if self._options.ca_file is not None:
            trust = {"encrypted": True, "trusted_certificates": TrustCustomCAs(self._options.ca_file)}
        with translated(self.place, self.database, self._timeout):
            self._driver = AsyncGraphDatabase.driver(  # pyright: ignore[reportUnknownMemberType] - its own keywords
                self._options.uri,
                auth=self._options.auth,
                connection_timeout=_CONNECT_TIMEOUT,
                connection_acquisition_timeout=_ACQUIRE_TIMEOUT,
                notifications_min_severity=_NO_NOTIFICATIONS,
                telemetry_disabled=True,
                **trust,
            )

    async def close(self) -> None:
        """Close every connection. Safe to call twice."""
        driver, self._driver = self._driver, None
        if driver is not None:
            await driver.close()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Await work that queries this store, within the time-out.

        Raises:
            StoreTimeout: it took too long. The work is cancelled, and the server is told to end its queries.
            Whatever the work raises.
        """
        try:
            async with asyncio.timeout(self._timeout):
                return await work
        except TimeoutError as error:
            raise timed_out(self._timeout) from error

    async def rows(self, query: str, parameters: Mapping[str, object] | None = None) -> list[Row]:
        """All rows of a query, as lists of values. Runs the query again once if its connection was stale.

        Raises:
            StoreError: as `errors.translated` says.
        """
        with translated(self.place, self.database, self._timeout):
            begin = time.monotonic()
            try:
                return await self._read(query, parameters or {})
            except CONNECTION_ERRORS:
                if time.monotonic() - begin > _STALE:
                    raise
            return await self._read(query, parameters or {})

    async def refuses_writes(self) -> bool:
        """Whether the server refuses a write in read mode. Tries one write, which is rolled back if it is accepted."""
        with translated(self.place, self.database, self._timeout):
            async with self._session() as session:
                transaction = await session.begin_transaction(timeout=self._timeout)
                try:
                    result = await transaction.run(WRITE)
                    await result.consume()
                except ClientError as error:
                    if error.code == REFUSED_WRITE or (error.code or "").startswith("Neo.ClientError.Security"):
                        return True
                    raise
                finally:
                    await transaction.close()
        return False

    async def agent(self) -> str:
        """The server's name and version: `Neo4j/5.26.30`."""
        with translated(self.place, self.database, self._timeout):
            server: ServerInfo = await self._connected().get_server_info()  # pyright: ignore[reportUnknownMemberType]
            return server.agent

    async def _read(self, query: str, parameters: Mapping[str, object]) -> list[Row]:
        async with self._session() as session:
            result = await session.run(
                Query(cast("LiteralString", query), timeout=self._timeout),  # made only of constants and quoted names
                dict(parameters),
            )
            rows: list[Row] = []
            async for record in result:
                rows.append(record.values())
                await asyncio.sleep(0)  # once all rows have arrived, the driver never yields to other tasks itself
            return rows

    def _session(self) -> AsyncSession:
        return self._connected().session(  # pyright: ignore[reportUnknownMemberType] - its own keywords
            database=self.database, default_access_mode=READ_ACCESS, fetch_size=-1
        )

    def _connected(self) -> AsyncDriver:
        if self._driver is None:
            raise closed()
        return self._driver
