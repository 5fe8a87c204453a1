"""Cursors: where a list goes on, bound to the call that made them.

A cursor is stateless text. It names the call (a digest of tool, graph, revision and arguments), the position behind
which the list goes on, and how many rows have been shown so far. It is no secret and grants nothing: a cursor that
was tampered with is refused or reads the same public list from another place.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

from kgnav_mcp.errors import InvalidCursor

_DIGEST_BYTES = 6


@dataclass(frozen=True, slots=True)
class Cursor:
    """`after`: the position of the last row shown. `seen`: rows shown before the next one."""

    after: str | None = None
    seen: int = 0


@dataclass(frozen=True, slots=True)
class Paging:
    """Reads and writes the cursors of one call."""

    call: str

    @classmethod
    def of(cls, tool: str, graph: str, revision: str, arguments: Mapping[str, object]) -> Paging:
        """The paging of a call: every argument but the cursor itself binds its cursors."""
        bound = json.dumps([tool, graph, revision, sorted(arguments.items())], ensure_ascii=False, default=str)
        return cls(urlsafe_b64encode(blake2b(bound.encode(), digest_size=_DIGEST_BYTES).digest()).decode())

    def write(self, cursor: Cursor) -> str:
        """The text a client passes back."""
        body = f"{cursor.seen}:{cursor.after or ''}".encode()
        return self.call + urlsafe_b64encode(body).decode().rstrip("=")

    def read(self, text: str | None) -> Cursor:
        """The place a client's cursor names; the start of the list where there is none.

        Raises:
            InvalidCursor: the text is no cursor, or one of another call or of another version of the graph.
        """
        if not text:
            return Cursor()
        text = text.strip()
        if not text.startswith(self.call):
            raise InvalidCursor(
                "this cursor does not belong to this call",
                next_step="Repeat the call that gave the cursor with the very same arguments, or leave the cursor out "
                "to start anew (the graph may have changed since).",
            )
        body = text[len(self.call) :]
        try:
            seen, _, after = urlsafe_b64decode(body + "=" * (-len(body) % 4)).decode().partition(":")
            return Cursor(after or None, int(seen))
        except ValueError as error:
            raise InvalidCursor(
                "this cursor is cut or altered", next_step="Copy the cursor exactly, or leave it out to start anew."
            ) from error
