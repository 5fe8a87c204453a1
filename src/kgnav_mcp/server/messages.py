"""Parses a line of text as a JSON-RPC message. An invalid line gets an error answer.

The SDK drops lines that it cannot read, so that the sender waits for an answer for ever. It also takes a request whose
id is neither text nor an integer for a notification, which gets no answer.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, cast

from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCMessage, RequestId
from mcp_types.jsonrpc import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+'
_TOKEN = re.compile(rf'{_STRING}"?|[{{}}\[\]]', re.DOTALL)
_VALUE = re.compile(rf'\s*:\s*({_STRING}"|-?\d+)\s*[,}}]', re.DOTALL)
_MOST_TOKENS = 1_000_000
"""Most tokens of an invalid line that are searched for its id: less than a second's work."""


class InvalidMessage(Exception):
    """A line is not a JSON-RPC message. `answer` is the error to send to the client."""

    def __init__(self, code: int, reason: str, request_id: RequestId | None = None) -> None:
        super().__init__(reason)
        self.answer = JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=reason))


def parse_message(line: bytes) -> JSONRPCMessage:
    """The message on a line.

    Raises:
        InvalidMessage: the line is not JSON, or not a JSON-RPC message.
    """
    text = line.decode("utf-8", "replace")
    try:
        content: object = from_json(text)
    except ValueError as error:
        raise InvalidMessage(PARSE_ERROR, f"Parse error: {error}", _id_in(text)) from error
    if not isinstance(content, dict):
        raise InvalidMessage(INVALID_REQUEST, "Invalid request: a message is one JSON object. Send a batch one by one.")
    fields = cast("dict[str, Any]", content)
    kind = _kind(fields)
    try:
        return cast("JSONRPCMessage", kind.model_validate(fields, by_name=False))
    except ValidationError as error:
        findings = error.errors(include_url=False, include_context=False, include_input=False)
        reasons = "; ".join(dict.fromkeys(f"{finding['loc'][0]}: {finding['msg']}" for finding in findings))
        # The id of a response is one of our requests: under this id the client expects no answer, or another one.
        known = _as_id(fields.get("id")) if kind is JSONRPCRequest else None
        raise InvalidMessage(INVALID_REQUEST, f"Invalid request: {reasons}", known) from error


def _kind(fields: dict[str, Any]) -> type[BaseModel]:
    if "method" not in fields and "result" in fields:
        return JSONRPCResponse
    if "method" not in fields and "error" in fields:
        return JSONRPCError
    return JSONRPCRequest if "id" in fields or "method" not in fields else JSONRPCNotification


def _id_in(text: str) -> RequestId | None:
    """The id of a request that is not valid JSON; None if it cannot be found."""
    depth = 0
    for token in islice(_TOKEN.finditer(text), _MOST_TOKENS):
        part = token[0]
        if part in "{[":
            depth += 1
        elif part in "}]":
            depth -= 1
        elif depth == 1 and part == '"id"' and (value := _VALUE.match(text, token.end())):
            try:
                return _as_id(from_json(value[1]))
            except ValueError:
                return None
    return None


def _as_id(value: object) -> RequestId | None:
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None
