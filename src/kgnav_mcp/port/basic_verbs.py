"""The verbs that every adapter implements, and the life of an open graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Self

from kgnav_mcp.model import AnchoredPage, Candidate, Direction, Entity, Link, Page
from kgnav_mcp.port.terms import FarEndKind


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


class BasicVerbs(OpenableGraph):
    """The four verbs over which all others have defaults."""

    @abstractmethod
    async def describe(self, ids: Sequence[str]) -> Mapping[str, Entity]:
        """Entities by id, with label, types and description. Keys are the ids as given; unknown ids are absent."""

    @abstractmethod
    async def find(self, hint: str, *, label: str | None = None, limit: int) -> Page[Candidate]:
        """Entities that a hint may mean, best first. It may match a name, alias or description in any language.

        Typos are forgiven if the adapter has Capability.FUZZY_NAMES.

        Raises:
            UnknownName: the graph has no such label.
        """

    @abstractmethod
    async def neighbours(
        self,
        ids: Sequence[str],
        direction: Direction | None,
        *,
        relation_paths: Sequence[tuple[str, ...]] | None = None,
        far_end_kind: FarEndKind | None = None,
        limit: int,
        after: str | None = None,
        all_or_none: bool = False,
    ) -> AnchoredPage[Link]:
        """Triples at the entities. Far ends come with their labels; their types are optional.

        `direction` None means both, all outgoing triples first. Within a direction, rows are grouped by entity in the
        order of `ids`, and the rows of one relation of an entity are adjacent. `relation_paths` selects relations by
        id: `(rel,)`, or `(rel1, rel2)` for a two-hop relation through a mediator, whose triples have that mediator as
        `via`. Outgoing triples include those with literal tails; `far_end_kind` selects entities or literals only. If
        the store allows it, a page deep in a hub must not cost more than the first.

        `all_or_none`: all rows or none. Over `limit`, the first page has no items and no anchors, the stop LIMIT and a
        total above the limit. So a hub is recognised without reading its rows or looking up names.
        """

    @abstractmethod
    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, *, limit: int, after: str | None = None
    ) -> Page[Entity]:
        """Nodes with this label whose property has this value. None leaves out a condition.

        The value is compared as `WantedValue.equals` does: numbers as numbers, dates by the precision of both, texts as
        texts; of a list, each item. With a limit of 0 the nodes are only counted.

        Raises:
            UnknownName: the graph has no such label or property.
        """
