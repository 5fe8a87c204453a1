"""Runs queries in a Neo4j database: its settings, its connections, and the translation of the driver's errors."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Coroutine, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, LiteralString, TypeVar, cast
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from neo4j import (
    READ_ACCESS,
    AsyncDriver,
    AsyncGraphDatabase,
    AsyncSession,
    Auth,
    Query,
    ServerInfo,
    TrustCustomCAs,
    basic_auth,
    bearer_auth,
)
from neo4j.exceptions import (
    AuthError,
    ClientError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    UnsupportedServerProduct,
)
from neo4j.exceptions import (
    ConfigurationError as DriverConfigurationError,
)

from kgnav_mcp.adapters.cypher.catalogue import OPTIONS, PropertyOptions
from kgnav_mcp.adapters.cypher.session import Row, closed
from kgnav_mcp.adapters.neo4j.dialect import WRITE
from kgnav_mcp.adapters.options import refuse_unknown
from kgnav_mcp.errors import (
    ConfigurationError,
    InvalidStore,
    RateLimited,
    StoreError,
    StoreTimeout,
    StoreUnavailable,
    Unsupported,
)
from kgnav_mcp.port import AdapterOptions

_TEXT_OPTIONS = ("database", "user", "password", "password_file", "token", "token_file", "ca_file")


@dataclass(frozen=True, slots=True)
class Neo4jOptions:
    """Settings of a Neo4j graph: its address, its credentials, and which properties are ids, names and so on.

    `ca_file` is a file of certificates to trust instead of the system's.
    """

    uri: str
    place: str
    """Host and port, for error messages."""
    database: str | None
    auth: Auth | None = field(repr=False)
    ca_file: str | None
    properties: PropertyOptions

    @classmethod
    def read(cls, location: str, options: AdapterOptions) -> Neo4jOptions:
        """Read the settings from a location and its options.

        Options: `database`; `user` with `password` or `password_file`, or a bearer `token` or `token_file`; `ca_file`
        (certificates to trust, PEM); and those of `PropertyOptions`. User and password may also be in the location, and
        the database as its path or as `?database=`.

        Raises:
            ConfigurationError: the location has no host, or an option is unknown, of the wrong type or names a missing
                file.
        """
        extra = dict(options.extra)
        refuse_unknown("a Neo4j graph", extra, (*_TEXT_OPTIONS, *OPTIONS))
        texts = {key: _text(extra, key) for key in _TEXT_OPTIONS}
        try:
            parts = urlsplit(location)
            host, port = parts.hostname, parts.port
        except ValueError as error:
            raise ConfigurationError("the location is not a URL", next_step="Write it as bolt://HOST:7687.") from error
        if not host:
            raise ConfigurationError("the location has no host", next_step="Write it as bolt://HOST:7687.")
        query_parameters = dict(parse_qsl(parts.query))
        database_in_url = query_parameters.pop("database", None) or unquote(parts.path.strip("/"))
        netloc = parts.netloc.rpartition("@")[2]
        scheme = parts.scheme.lower()
        if texts["ca_file"] is not None:
            _read_file(texts["ca_file"], "ca_file")
            scheme = scheme.partition("+")[0]
        return cls(
            uri=urlunsplit((scheme, netloc, "", urlencode(query_parameters), "")),
            place=f"{host}:{port or 7687}",
            database=texts["database"] or database_in_url or None,
            auth=_auth(texts, unquote(parts.username or ""), unquote(parts.password or "")),
            ca_file=texts["ca_file"],
            properties=PropertyOptions.read(extra),
        )


def _auth(texts: Mapping[str, str | None], user: str, password: str) -> Auth | None:
    user = texts["user"] or user
    password = texts["password"] or _secret_from_file(texts, "password_file") or password
    token = texts["token"] or _secret_from_file(texts, "token_file")
    if token:
        return bearer_auth(token)
    if user or password:
        return basic_auth(user or "neo4j", password)
    return None


def _secret_from_file(texts: Mapping[str, str | None], key: str) -> str:
    """The secret in the file that an option names; empty where the option is not given."""
    name = texts[key]
    return _read_file(name, key).strip() if name is not None else ""


def _read_file(name: str, key: str) -> str:
    try:
        return Path(name).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"the file of the option {key!r} cannot be read: {name}",
            next_step="Check its path and permissions.",
        ) from error


def _text(extra: Mapping[str, object], key: str) -> str | None:
    value = extra.get(key)
    if value is not None and not isinstance(value, str):
        raise ConfigurationError(f"the option {key!r} must be a text", next_step=f'Write it as {key} = "...".')
    return value


CONNECTION_ERRORS = (ServiceUnavailable, SessionExpired)
"""The driver's errors for a connection that cannot be made, or breaks."""

_TLS_ERROR_NAME = "BoltSecurityError"
"""The driver's private error class for a failed TLS handshake. It cannot be imported, so it is compared by name."""

REFUSED_WRITE = "Neo.ClientError.Statement.AccessMode"
"""The server's error code for a write in read mode."""

_TOO_LARGE = "Neo.ClientError.Statement.ArithmeticError"
"""The server's error code for an integer overflow."""

_NEXT_TIME_OUT = "Narrow the call (a filter, a label, one relation), or raise --timeout."
_CREDENTIALS = "Set user and password in the options of this graph, by KGNAV_GRAPHS__NAME__OPTIONS__PASSWORD or a file."


@contextmanager
def translated(place: str, database: str | None, seconds: float) -> Generator[None]:
    """Translate the driver's errors inside this context into this product's errors.

    The driver's own messages stay in the cause (`__cause__`).

    Raises:
        StoreTimeout: the server ended the query after `seconds`.
        StoreUnavailable: the server does not answer.
        RateLimited: the server accepts no more log-ins for now.
        ConfigurationError: the server refuses the user, the database does not exist, or TLS fails.
        InvalidStore: the server is not Neo4j, or a version that the driver does not support.
        Unsupported: a plan's number overflows the server's integers.
        StoreError: any other error.
    """
    try:
        yield
    except Neo4jError as error:
        raise _server_error(error, place, database, seconds) from error
    except UnsupportedServerProduct as error:
        raise InvalidStore(f"the server at {place} is not a supported Neo4j") from error
    except DriverConfigurationError as error:
        raise ConfigurationError(
            "the driver does not accept this location", next_step="Write it as bolt://HOST:7687 or neo4j://HOST:7687."
        ) from error
    except (DriverError, OSError, ssl.SSLError) as error:
        raise _connection_error(error, place) from error


def _connection_error(error: BaseException, place: str) -> StoreError | ConfigurationError:
    if any(isinstance(cause, ssl.SSLError) or type(cause).__name__ == _TLS_ERROR_NAME for cause in _causes(error)):
        return ConfigurationError(
            f"no encrypted connection to {place}: TLS fails",
            next_step="Use bolt:// if the server has no TLS, the option ca_file for your own certificate authority, or "
            "bolt+ssc:// for a self-signed certificate.",
        )
    return StoreUnavailable(
        f"Neo4j does not answer at {place}", next_step="Start it, or check the address; then repeat the call."
    )


def _causes(error: BaseException | None) -> Generator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _server_error(
    error: Neo4jError, place: str, database: str | None, seconds: float
) -> StoreError | ConfigurationError | Unsupported:
    code = error.code or ""
    reason = code.rpartition(".")[2]
    if isinstance(error, AuthError) or code.startswith("Neo.ClientError.Security"):
        return _credentials_error(reason, place)
    if "TimedOut" in code or "Timeout" in code:
        return StoreTimeout(seconds, next_step=_NEXT_TIME_OUT)
    if "DatabaseNotFound" in code or code.endswith("Database.Unavailable"):
        return ConfigurationError(
            f"there is no database {database!r} at {place}, or it is stopped",
            next_step=f"Give another one after the address: bolt://{place}/DATABASE.",
        )
    if code.startswith("Neo.TransientError"):
        return StoreUnavailable(f"Neo4j at {place} cannot answer now ({reason})", next_step="Repeat the call.")
    if code == _TOO_LARGE:
        return Unsupported("an integer of this plan exceeds Neo4j's 64 bits")
    return StoreError(f"Neo4j at {place} rejects the query ({code or 'no reason given'})")


def _credentials_error(reason: str, place: str) -> StoreError | ConfigurationError:
    if reason == "AuthenticationRateLimit":
        return RateLimited(f"Neo4j at {place} accepts no log-in now", 5.0)
    if reason == "Forbidden":
        return ConfigurationError(f"this user has no permission to read this data at {place}", next_step=_CREDENTIALS)
    return ConfigurationError(f"Neo4j at {place} rejects the user or the password", next_step=_CREDENTIALS)


def timed_out(seconds: float) -> StoreTimeout:
    """The error for a call of the port that was cancelled after `seconds`."""
    return StoreTimeout(seconds, next_step=_NEXT_TIME_OUT)


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
            StoreTimeout: it took too long. The work is cancelled, and its queries on the server are ended.
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
            StoreError: as in `translated`.
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
