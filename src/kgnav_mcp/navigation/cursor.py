"""Cursors: the place where the next page of a list starts, bound to the call that made them.

A cursor is stateless text: the position after which the next page starts, the number of rows shown so far, and a tag
over both and the call (tool, graph, revision, arguments). The tag detects a cursor that is used with another call or
after the graph has changed, or that was truncated in copying. It is no secret and grants nothing.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

from kgnav_mcp.errors import InvalidCursor

_TAG_BYTES = 6
_TAG_LETTERS = _TAG_BYTES * 4 // 3


@dataclass(frozen=True, slots=True)
class Cursor:
    """`after`: the position of the last row shown. `offset`: how many rows come before the next one."""

    after: str | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Paging:
    """Reads and writes the cursors of one call."""

    call: bytes

    @classmethod
    def of(cls, tool: str, graph: str, revision: str, arguments: Mapping[str, object]) -> Paging:
        """The paging of a call. Its cursors are bound to every argument except the cursor itself."""
        bound = json.dumps([tool, graph, revision, sorted(arguments.items())], ensure_ascii=False, default=str)
        return cls(bound.encode())

    def write(self, cursor: Cursor) -> str:
        """The text that a client passes back."""
        body = f"{cursor.offset}:{cursor.after or ''}".encode()
        return self._tag(body) + urlsafe_b64encode(body).decode().rstrip("=")

    def read(self, text: str | None) -> Cursor:
        """The cursor in a client's text; the start of the list if there is no text.

        Raises:
            InvalidCursor: the text is not a cursor, or it belongs to another call or another version of the graph.
        """
        if not text:
            return Cursor()
        text = text.strip()
        tag, encoded = text[:_TAG_LETTERS], text[_TAG_LETTERS:]
        try:
            body = urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
        except ValueError:
            body = b""
        if not body or tag != self._tag(body):
            raise InvalidCursor(
                "this cursor does not belong to this call, or it was not copied whole",
                next_step="Repeat the call that gave the cursor with the very same arguments, or leave the cursor out "
                "to start anew (the graph may have changed since).",
            )
        offset, _, after = body.decode().partition(":")
        return Cursor(after or None, int(offset))

    def _tag(self, body: bytes) -> str:
        return urlsafe_b64encode(
            blake2b(body, digest_size=_TAG_BYTES, key=blake2b(self.call).digest()).digest()
        ).decode()
