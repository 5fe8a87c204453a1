"""Pages of a list that was read, and the cursors that continue one."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import compress

from kgnav_mcp.errors import InvalidCursor, StoreTimeout, Unsupported
from kgnav_mcp.model import AnchoredPage, Count, Page, Stop, T
from kgnav_mcp.port.lists import PageT, all_pages, page_of


def select(page: AnchoredPage[T], selected: Sequence[bool]) -> AnchoredPage[T]:
    """The page with only the wanted items; the others are subtracted from its total."""
    return replace(
        page,
        items=tuple(compress(page.items, selected)),
        positions=tuple(compress(page.positions, selected)),
        total=replace(page.total, value=max(page.total.value - selected.count(False), 0)),
    )


def page_after(items: Sequence[T], after: str | None, stop: Stop = Stop.COMPLETE) -> Page[T]:
    """The rest of a list in memory after the position `after`, which is a number of items."""
    total = Count(len(items)) if stop is Stop.COMPLETE else Count.at_least(len(items))
    return replace(page_of(items, len(items), after), total=total, stop=stop)


_PAPER_MESSAGE = "the store did not return the whole list, and an answer in a paper's format must be complete"
_PAPER_STEP = (
    "Query fewer entities or one relation. Without --paper-format, the server returns the rows that it has read."
)


def refuse_partial(stop: Stop, message: str = _PAPER_MESSAGE, *, next_step: str = _PAPER_STEP) -> None:
    """Check that a list is complete. By default the error is that of an answer in a paper's format.

    Raises:
        StoreTimeout: the store ran out of time.
        Unsupported: the store gave no more rows, or could not sort them.
    """
    if stop is Stop.TIME_OUT:
        raise StoreTimeout(None, "the store ran out of time before the list was complete", next_step=next_step)
    if stop is not Stop.COMPLETE:
        raise Unsupported(message, next_step=next_step)


async def pages_of_whole_list(
    read: Callable[[str | None], Awaitable[PageT]], refuse: Callable[[Stop], None] = refuse_partial
) -> AsyncGenerator[PageT]:
    """All pages of a list; `read` is as for `all_pages`.

    Raises:
        StoreTimeout, Unsupported: by `refuse`: the store does not give the whole list.
    """
    async for page in all_pages(read):
        if page.stop is not Stop.LIMIT or not page.positions:
            refuse(page.stop)
        yield page


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
                "this cursor does not belong to this call, or was not copied completely",
                next_step="Repeat the call that returned the cursor with exactly the same arguments, or omit the "
                "cursor to start again (the graph may have changed).",
            )
        offset, _, after = body.decode().partition(":")
        return Cursor(after or None, int(offset))

    def _tag(self, body: bytes) -> str:
        return urlsafe_b64encode(
            blake2b(body, digest_size=_TAG_BYTES, key=blake2b(self.call).digest()).digest()
        ).decode()
