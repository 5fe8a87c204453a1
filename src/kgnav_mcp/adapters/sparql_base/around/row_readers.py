"""Creates the readers of rows, of their search and of edges, from the one reader of rows that a store has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypedDict

from rdflib import URIRef

from kgnav_mcp.adapters.paging.directions import RowRequest
from kgnav_mcp.adapters.sparql_base.around.counts import Anchor, CountReader, Path
from kgnav_mcp.adapters.sparql_base.around.edges import EdgeReader
from kgnav_mcp.adapters.sparql_base.around.matching import RowSearch
from kgnav_mcp.adapters.sparql_base.around.rows import RowReader, to_entities
from kgnav_mcp.adapters.sparql_base.matching import SearchRequest
from kgnav_mcp.adapters.sparql_base.query_reader import Reader
from kgnav_mcp.model import Direction

CreateRows = Callable[[Sequence[Anchor], RowRequest], RowReader]
"""Creates the reader of rows at some entities."""


class RowReaders(TypedDict):
    """The fields of `sparql_base.adapter.Readers` that read rows."""

    rows: CreateRows
    search: Callable[[SearchRequest], RowSearch]
    edges: Callable[[Sequence[Any], Sequence[Any], Sequence[Path] | None, bool], EdgeReader | None]


def row_readers(reader: Reader, counts: CountReader, create_rows: CreateRows) -> RowReaders:
    """All readers of rows of one graph."""

    def search(asked: SearchRequest) -> RowSearch:
        return RowSearch(reader, create_rows((), to_entities(asked.direction)), counts, asked)

    def edges(
        heads: Sequence[Anchor], tails: Sequence[Anchor], paths: Sequence[Path] | None, bare: bool
    ) -> EdgeReader | None:
        iris = [one for one in tails if isinstance(one, URIRef)]
        if len(iris) < len(tails) or not all(isinstance(one, URIRef) for one in heads):
            return None  # the edges of a blank node are read with it
        return EdgeReader(create_rows(heads, to_entities(Direction.OUTGOING, bare=bare)), counts, iris, paths)

    return {"rows": create_rows, "search": search, "edges": edges}
