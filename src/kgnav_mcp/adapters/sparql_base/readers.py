"""The readers of an open graph, one for each kind of verb."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kgnav_mcp.adapters.paging.directions import RelationRequest, RowRequest
from kgnav_mcp.adapters.paging.neighbours import EdgeSource
from kgnav_mcp.adapters.sparql_base.entity_finder import EntityFinder
from kgnav_mcp.adapters.sparql_base.lists import ListReader
from kgnav_mcp.adapters.sparql_base.matching import RowSearch, SearchRequest
from kgnav_mcp.adapters.sparql_base.plans.reader import MatchReader
from kgnav_mcp.adapters.sparql_base.rate_limit import Client
from kgnav_mcp.model import Page, RelationFacts, Schema, Triple


class SchemaReader(Protocol):
    """Answers the verb `schema`."""

    async def overview(self, limit: int) -> Schema: ...

    async def around(self, name: str, limit: int) -> Schema: ...


class RelationReader(Protocol):
    """Answers the verb `relations` in one direction."""

    async def page(self, anchors: Sequence[Any], asked: RelationRequest) -> Page[RelationFacts]: ...


class RowReader(Protocol):
    """Answers the verb `neighbours` in one direction."""

    async def page(self, paths: Sequence[Any] | None, asked: RowRequest) -> Page[Triple]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """The readers of an open graph, one for each kind of verb."""

    client: Client
    linker: EntityFinder
    relations: RelationReader
    rows: Callable[[Sequence[Any], RowRequest], RowReader]
    """Creates the reader of rows at some anchors (see `SparqlAdapter._anchors`)."""
    search: Callable[[SearchRequest], RowSearch[Any, Any]]
    """Creates the search of rows at some anchors by their far ends."""
    hops_searched: int = 1
    """The longest relations, in hops, whose rows can be searched."""
    edges: Callable[[Sequence[Any], Sequence[Any], Sequence[Any] | None, bool], EdgeSource[Any, Any] | None]
    """Creates the reader of the edges between heads and tails by some relations (None: by all).

    The last argument says whether only ids are needed, as in `edge_ids`. Returns None where it cannot look up edges:
    rows are then read and compared.
    """
    lists: ListReader
    schema: SchemaReader
    matches: MatchReader | None = None
