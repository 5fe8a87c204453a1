"""No request over stdio stays without an answer, however broken: who sent it would wait for ever."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kgnav_mcp.server.stdio import InvalidMessage, parse_message
from tests.server.processes import INITIALIZE, KGNAV_MCP, PATIENCE_S, Wire, environment, on_wire, request

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601

NO_JSON = {
    "no JSON": (b"this is no JSON", None),
    "no UTF-8": (b"\xff\xfe", None),
    "cut off": (b'{"jsonrpc": "2.0", "id": 7, "method": "pi', 7),
    "cut off in the id": (b'{"jsonrpc": "2.0", "id": 7', None),
    "a lone surrogate": (rb'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"a": "\ud800"}}', 7),
    "a lone surrogate, the id last": (rb'{"params": {"id": 1, "a": "\ud800 \"id\": 2"}, "id" : "b"}', "b"),
    "a lone surrogate for an id": (rb'{"jsonrpc": "2.0", "id": "\ud800", "method": "ping"}', None),
    "deep nesting": (b'{"id": 7, "params": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 7),
    "deep nesting before the id": (b'{"params": ' + b"[" * 100_000 + b"]" * 100_000 + b', "id": 7}', 7),
    "nothing but brackets": (b"[" * 100_000, None),
    "a number of 5,000 digits": (b'{"id": "a", "params": {"n": ' + b"9" * 5_000 + b"}}", "a"),
    "an id of 5,000 digits": (b'{"jsonrpc": "2.0", "method": "ping", "id": ' + b"9" * 5_000 + b"}", None),
    "quotes without an end": (b'{"id": 7, "a": "' + rb"\"" * 100_000, 7),
}

NO_REQUEST = {
    "no method": (b'{"jsonrpc": "2.0", "id": 7}', 7),
    "another version": (b'{"jsonrpc": "1.0", "id": 7, "method": "ping"}', 7),
    "no version": (b'{"id": 7, "method": "ping"}', 7),
    "parameters in a row": (b'{"jsonrpc": "2.0", "id": "a", "method": "ping", "params": [1]}', "a"),
    "a method that is a number": (b'{"jsonrpc": "2.0", "id": 7, "method": 1}', 7),
    "null for an id": (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', None),
    "a fraction for an id": (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', None),
    "a truth for an id": (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', None),
    "an answer to nothing": (b'{"jsonrpc": "2.0", "id": 7, "result": "done"}', None),
    "a batch": (b'[{"jsonrpc": "2.0", "id": 7, "method": "ping"}]', None),
    "text": (b'"ping"', None),
}


def each(cases: Mapping[str, tuple[bytes, int | str | None]], code: int) -> list[Any]:
    return [pytest.param(line, code, known, id=name) for name, (line, known) in cases.items()]


@pytest.mark.parametrize(("line", "code", "known"), [*each(NO_JSON, PARSE_ERROR), *each(NO_REQUEST, INVALID_REQUEST)])
def test_a_line_that_is_no_message_is_answered_under_its_id_where_that_can_be_read(
    line: bytes, code: int, known: int | str | None
) -> None:
    with pytest.raises(InvalidMessage) as unreadable:
        parse_message(line)
    answer = unreadable.value.answer
    assert (answer.error.code, answer.id) == (code, known)
    assert len(answer.error.message) < 300
    assert "http" not in answer.error.message


@pytest.mark.slow
async def test_the_server_answers_them_and_goes_on(tmp_path: Path) -> None:
    async with on_wire(tmp_path) as server:
        await server.shake_hands()
        for cases, code in ((NO_JSON, PARSE_ERROR), (NO_REQUEST, INVALID_REQUEST)):
            for name, (line, known) in cases.items():
                await write(server, line)
                received = await server.receive()
                assert (received["error"]["code"], received["id"]) == (code, known), name
        assert (await server.answer(request(1, "ping")))["result"] == {}


@pytest.mark.slow
async def test_a_method_that_nobody_knows_is_repeated_only_in_part(tmp_path: Path) -> None:
    async with on_wire(tmp_path) as server:
        await server.shake_hands()
        for method in ("sing", "sing" * 250_000):
            answer = await server.answer(request(1, method))
            assert answer["error"]["code"] == METHOD_NOT_FOUND
            assert len(json.dumps(answer)) < 400
            assert method[:100] in answer["error"]["data"]


@pytest.mark.slow
async def test_lines_without_a_word_are_no_messages(tmp_path: Path) -> None:
    async with on_wire(tmp_path) as server:
        for blank in (b"", b"  ", b"\r"):
            await write(server, blank)
        await server.shake_hands()


@pytest.mark.slow
def test_they_are_answered_in_a_file_as_well(tmp_path: Path) -> None:
    requests, received = tmp_path / "requests.jsonl", tmp_path / "received.jsonl"
    lines = [json.dumps(INITIALIZE).encode(), *(line for line, _ in (*NO_JSON.values(), *NO_REQUEST.values()))]
    requests.write_bytes(b"\n".join(lines))
    with requests.open("rb") as stdin, received.open("wb") as stdout:
        subprocess.run(
            [KGNAV_MCP], env=environment(tmp_path), stdin=stdin, stdout=stdout, timeout=PATIENCE_S, check=True
        )
    answers = [json.loads(line) for line in received.read_text().splitlines()]
    assert len(answers) == len(lines)
    assert [answer["error"]["code"] for answer in answers if "error" in answer] == (
        [PARSE_ERROR] * len(NO_JSON) + [INVALID_REQUEST] * len(NO_REQUEST)
    )


@pytest.mark.slow
async def test_of_some_hundred_damaged_requests_none_waits_for_ever(tmp_path: Path) -> None:
    async with on_wire(tmp_path) as server:
        await server.shake_hands()
        for number, line in enumerate(damaged(random.Random(22), 400)):  # noqa: S311 - a test, the same every time
            await write(server, line)
            await server.send(request(number, "ping"))
            owed = {number, id_of(line)} - {None}
            while owed:
                owed.discard((await server.receive())["id"])
        assert (await server.answer(request(0, "tools/list")))["result"]["tools"]


def damaged(chance: random.Random, many: int) -> Iterator[bytes]:
    """Requests, each with a few bytes changed, left out, doubled or put in."""
    arguments = {
        "entity": "zundert",
        "direction": "outgoing",
        "properties_to_filter_for": ["named_after", "\U0001f30d"],
    }
    pieces = (
        b'"',
        b"\\",
        b"\\ud83d",
        b"{",
        b"}",
        b"[[",
        b"]",
        b",",
        b":",
        b"null",
        b"1e999",
        b"\xff",
        b"\x00",
        b"9" * 50,
    )
    for number in range(many):
        line = json.dumps(
            {**request(0, "tools/call", name="search", arguments=arguments), "id": f"no. {number}"}
        ).encode()
        for _ in range(chance.randint(1, 4)):
            start, length = chance.randrange(len(line)), chance.choice((0, 0, 1, 1, 2, 8))
            line = (
                line[:start] + chance.choice((b"", line[start : start + length] * 2, *pieces)) + line[start + length :]
            )
        yield line


def id_of(line: bytes) -> int | str | None:
    """The id of a line that another reader than the server's takes for a request."""
    try:
        message: Any = json.loads(line)
        str(message["id"]).encode()  # a lone surrogate cannot be sent back
    except (ValueError, TypeError, KeyError):
        return None
    known = message["id"]
    return known if isinstance(known, int | str) and not isinstance(known, bool) else None


async def write(server: Wire, line: bytes) -> None:
    assert server.process.stdin is not None
    server.process.stdin.write(line + b"\n")
    await server.process.stdin.drain()
