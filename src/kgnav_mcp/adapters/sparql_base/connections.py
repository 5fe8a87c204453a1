"""Creates clients of endpoints."""

from __future__ import annotations

from collections.abc import Sequence

import httpx2

from kgnav_mcp.adapters.sparql_base.client import USER_AGENT, SparqlClient
from kgnav_mcp.adapters.sparql_base.dialect import PLAIN, Dialect
from kgnav_mcp.adapters.sparql_base.rate_limit import MAX_CONCURRENT, Client, RateLimitedClient, limiter_of, user_agent
from kgnav_mcp.adapters.sparql_base.requests import Address

LIBRARY = f"httpx2/{httpx2.__version__}"


def create_client(
    address: str,
    *,
    contact: str,
    timeout: float,
    graphs: Sequence[str],
    local_limit: int | None,
    dialect: Dialect = PLAIN,
) -> Client:
    """Create a client that names its operator in the User-Agent and keeps to the host's rate limits.

    A store on this machine gets at most `local_limit` queries at a time; None: no limit. Without a `dialect`, it is
    detected from the answers.
    """
    agent = user_agent(USER_AGENT, contact, LIBRARY)
    client = SparqlClient(address, timeout=timeout, default_graph=graphs or None, user_agent=agent, dialect=dialect)
    parsed = Address.parse(address)
    limit = local_limit if parsed.is_local else MAX_CONCURRENT
    return (
        client if limit is None else RateLimitedClient(client, limiter_of(parsed.host, limit=limit), patience=timeout)
    )
