"""Translation of the Neo4j driver's errors into this product's errors. It happens nowhere else."""

from __future__ import annotations

import ssl
from collections.abc import Generator
from contextlib import contextmanager

from neo4j.exceptions import (
    AuthError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    UnsupportedServerProduct,
)
from neo4j.exceptions import (
    ConfigurationError as DriverConfigurationError,
)

from kgnav_mcp.errors import (
    ConfigurationError,
    InvalidStore,
    RateLimited,
    StoreError,
    StoreTimeout,
    StoreUnavailable,
    Unsupported,
)

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
