"""User and password go to the endpoint that asks for them, and into no text of this program."""

from __future__ import annotations

import base64
import hashlib
import logging
import re
import traceback

import pytest

from kgnav_mcp.adapters.sparql_base.client import SparqlClient
from kgnav_mcp.adapters.sparql_base.requests import Address
from kgnav_mcp.errors import ConfigurationError, InvalidStore, KgnavError

from .stub import Exchange, always, rows, serving

QUERY = "SELECT ?v { ?s ?p ?v }"
ONE = rows("1")
USER, PASSWORD = "ann", "s3cret:/@ p"
IN_URL = "ann:s3cret%3A%2F%40%20p@"
BASIC = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


async def wants_basic(exchange: Exchange) -> None:
    if exchange.request.headers.get("authorization") == BASIC:
        await exchange.answer(ONE)
    else:
        await exchange.answer("who?", 'WWW-Authenticate: Basic realm="x"', status="401 X", kind="text/plain")


async def wants_digest(exchange: Exchange) -> None:
    """Digest as Virtuoso asks for it, which closes the connection with the question."""
    given = dict(re.findall(r'(\w+)="?([^",]+)"?', exchange.request.headers.get("authorization", "")))

    def md5(*parts: str) -> str:
        return hashlib.md5(":".join(parts).encode(), usedforsecurity=False).hexdigest()

    if given:
        secret, asked = md5(USER, "SPARQL", PASSWORD), md5("POST", "/sparql")
        if given["response"] == md5(secret, given["nonce"], given["nc"], given["cnonce"], given["qop"], asked):
            await exchange.answer(ONE)
            return
    challenge = 'WWW-Authenticate: Digest realm="SPARQL", nonce="n1", opaque="o1", qop="auth", algorithm="MD5"'
    both = 'WWW-Authenticate: Basic realm="x"'
    await exchange.answer("", both, challenge, "Connection: close", status="401 X", kind="text/html")
    exchange.drop()


@pytest.mark.parametrize("asks", [wants_basic, wants_digest])
async def test_credentials_of_the_address_answer_a_challenge_and_are_remembered(asks: object):
    async with serving(asks) as stub:  # pyright: ignore[reportArgumentType]
        sparql = SparqlClient(stub.url.replace("://", f"://{IN_URL}"), timeout=5)
        for _ in range(3):
            assert (await sparql.select(QUERY)).rows
        await sparql.close()

    with_credentials = ["authorization" in request.headers for request in stub.requests]
    assert with_credentials == [False, True, True, True]


async def test_credentials_may_be_given_apart_from_the_address():
    async with serving(wants_basic) as stub:
        sparql = SparqlClient(stub.url, timeout=5, user=USER, password=PASSWORD)
        assert (await sparql.select(QUERY)).rows
        await sparql.close()


async def test_an_endpoint_that_asks_for_nothing_is_given_nothing():
    async with serving(always(ONE)) as stub:
        sparql = SparqlClient(stub.url, timeout=5, user=USER, password=PASSWORD)
        await sparql.select(QUERY)
        await sparql.close()

    assert "authorization" not in stub.requests[0].headers


async def test_a_redirect_gets_no_credentials():
    async with (
        serving(always(ONE)) as other,
        serving(wants_basic, always("", f"Location: {other.url}", status="307 X", kind="text/plain")) as stub,
    ):
        sparql = SparqlClient(stub.url, timeout=5, user=USER, password=PASSWORD)
        with pytest.raises(InvalidStore, match="another address"):
            await sparql.select(QUERY)
        await sparql.close()

    assert other.requests == []


@pytest.mark.parametrize("asks", [wants_basic, wants_digest])
@pytest.mark.parametrize("address", ["://ann:s3cret-wrong@", "://"])
async def test_a_refused_password_is_an_error_that_does_not_tell_it(
    asks: object, address: str, caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.DEBUG):
        async with serving(asks) as stub:  # pyright: ignore[reportArgumentType]
            sparql = SparqlClient(stub.url.replace("://", address), timeout=5)
            with pytest.raises(ConfigurationError, match="requires a user and a password") as caught:
                await sparql.select(QUERY)
            await sparql.close()

    said = [repr(sparql), str(vars(caught.value)), "".join(traceback.format_exception(caught.value)), caplog.text]
    assert not any("s3cret" in text or "ann:" in text for text in said)


@pytest.mark.parametrize("fault", [always("", status="500 X"), always("<html>", kind="text/html")])
async def test_no_error_tells_the_password_or_a_key_of_the_address(fault: object, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.DEBUG):
        async with serving(fault) as stub:  # pyright: ignore[reportArgumentType]
            sparql = SparqlClient(stub.url.replace("://", f"://{IN_URL}") + "?key=t0ken", timeout=5)
            with pytest.raises(KgnavError) as caught:
                await sparql.select(QUERY)
            await sparql.close()

    assert stub.requests[0].line == "POST /sparql?key=t0ken HTTP/1.1"
    said = [repr(sparql), str(caught.value), caught.value.next_step, "".join(traceback.format_exception(caught.value))]
    assert not any("s3cret" in text or "t0ken" in text for text in said)
    assert "s3cret" not in caplog.text


@pytest.mark.parametrize(
    ("address", "url", "user", "password"),
    [
        ("http://127.0.0.1:8890/sparql", "http://127.0.0.1:8890/sparql", None, None),
        ("https://x.example", "https://x.example/", None, None),
        ("http://a%40b:p%3Aq@x.example/s?k=v#part", "http://x.example/s?k=v", "a@b", "p:q"),
        ("http://ann@[::1]:9/s", "http://[::1]:9/s", "ann", None),
    ],
)
def test_an_address_is_taken_apart(address: str, url: str, user: str | None, password: str | None):
    endpoint = Address.parse(address)

    assert (endpoint.url, endpoint.user, endpoint.password) == (url, user, password)
    assert "p:q" not in repr(endpoint)
    assert "ann" not in repr(endpoint)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "x.kg",
        "ftp://ann:s3cret@x/",
        "http://",
        "http://ann:s3cret@:80/",
        "http://ann:s3cret@x:port/",
        "http://[::1/",
    ],
)
def test_what_is_no_address_is_refused_without_repeating_it(address: str):
    with pytest.raises(ConfigurationError, match="not an http or https URL") as caught:
        SparqlClient(address, timeout=5)

    assert "s3cret" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("localhost", True), ("[::1]", True), ("10.0.0.1", False), ("x.org", False)],
)
def test_this_machine_is_told_from_others(host: str, local: bool):
    assert Address.parse(f"http://{host}/sparql").is_local is local
