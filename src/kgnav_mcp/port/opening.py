"""Opening and closing a graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class OpenableGraph(ABC):
    """A graph that is opened before its verbs are called, and closed after them."""

    async def open(self) -> None:  # noqa: B027 - a graph in memory has nothing to open
        """Connect, or open the file. Called once before any verb; cheap enough for the first call of a session.

        Raises:
            StoreUnavailable: nothing answers at the location.
            InvalidStore: what is there is damaged, of another version or no graph.
        """

    async def close(self) -> None:  # noqa: B027 - nor to close
        """Release every connection, thread and file. Safe to call twice."""

    @property
    @abstractmethod
    def revision(self) -> str:
        """A short text that changes whenever the graph may have changed. Cursors are bound to it."""

    @property
    def stale(self) -> bool:
        """Whether the store at the location was replaced since it was opened, such as a graph file.

        Read before every call, so it must cost next to nothing. Once it is true, the next call gets a newly opened
        adapter. Running calls finish on this one, which still answers from what it opened; then it is closed.
        A store that is written to in place is never stale: its `revision` changes instead.
        """
        return False

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
