"""Several graphs that are read as one, on a store that matches a triple once for each of them, such as Virtuoso.

SPARQL merges these graphs: a triple matches once, however many of them have it. `Reader.match_each_once` does that.
"""

from __future__ import annotations

from collections.abc import Sequence

from rdflib import URIRef

from kgnav_mcp.adapters.generic_sparql import queries
from kgnav_mcp.adapters.sparql_base.queries import SIZE
from kgnav_mcp.adapters.sparql_base.query_reader import Read, Reader, Row, is_at_most, number_in
from kgnav_mcp.adapters.sparql_base.requests import GRAPH
from kgnav_mcp.adapters.sparql_base.terms import Fragment, comma_separated
from kgnav_mcp.errors import StoreTimeout, Unsupported

_SAMPLE = 20_000
"""Number of triples that are read to find out whether several graphs have data: 3 ms on Virtuoso."""
_SHARE = 0.1
"""The fraction of a call's time for that."""
_MAX_MERGED = 200_000
"""Number of triples up to which each is counted once when all are counted: 0.4 s on Virtuoso."""
_MAX_LISTED = 5
TAKES_TOO_LONG = "counting the triples of several graphs once takes too long"


async def repeats_triples(reader: Reader, graphs: Sequence[str]) -> bool:
    """Whether a triple may match several times, because the named `graphs` are several.

    If none is named and the store reads all of its graphs, only some triples are read to see whether several have data.
    """
    if reader.dialect.merges_graphs:
        return False
    if graphs or not reader.dialect.reads_all_graphs:
        return len({*graphs}) > 1
    try:
        read = await reader.select(queries.SOME_GRAPHS, share=_SHARE, sample=_SAMPLE)
    except (StoreTimeout, Unsupported):
        return False
    return len(_with_data(reader, read.rows)) > 1


def _with_data(reader: Reader, rows: Sequence[Row]) -> list[str]:
    """The graphs ?g that are not the store's own."""
    return [graph for row in rows if "g" in row and not reader.dialect.is_system_graph(graph := str(row["g"]))]


async def advice_on_graphs(reader: Reader, share: float) -> str:
    """Advice where no graph is named and several have data; empty if one has, or if they are not read in time."""
    try:
        read = await reader.select(queries.GRAPH_SIZES, share=share)
    except StoreTimeout:
        return ""
    graphs = _with_data(reader, sorted(read.rows, key=lambda row: (-number_in(row, "n"), str(row.get("g")))))
    if len(graphs) < 2:
        return ""
    listed = ", ".join(graphs[:_MAX_LISTED]) + (", ..." if len(graphs) > _MAX_LISTED else "")
    repeats = "" if reader.repeats_triples else ", and a triple that several of them have is counted several times"
    return (
        f"No graph is named, so {len(graphs):,} graphs are read as one{repeats}: {listed}. "
        f"Name those you need: ?{GRAPH}={graphs[0]} after the address."
    )


class CountsByGraph:
    """Whether relations and labels are counted in each of several graphs, because counting all once takes too long."""

    def __init__(self, reader: Reader, graphs: Sequence[str]) -> None:
        """`graphs` are the named ones; empty: all are read."""
        self._reader = reader
        self._graphs = graphs
        self._needed: bool | None = None

    async def are_needed(self) -> bool:
        """Whether the triples of the graphs are too many to count each once."""
        if self._needed is None:
            self._needed = self._reader.repeats_triples and not is_at_most(
                await self._reader.count(SIZE, most=_MAX_MERGED + 1), _MAX_MERGED
            )
        return self._needed

    async def read(self, exact: str, by_graph: str, *, share: float) -> Read:
        """Count by the query `exact`, or else by the one for each graph.

        Raises:
            StoreTimeout: that took more than `share` of the call's time.
        """
        if not await self.are_needed():
            return await self._reader.select(exact, share=share)
        graphs, among = [URIRef(graph) for graph in self._graphs], Fragment("")
        if graphs:
            among = self._reader.part(queries.ONE_OF_GRAPHS, graphs=comma_separated(*graphs))
        return await self._reader.select(by_graph, share=share, among=among)

    @staticmethod
    def notes(what: str, read: Read) -> Sequence[str]:
        """Which of the counts that were read are lower bounds, if any."""
        any_is_bound = any(map(is_of_largest, read.rows))
        return [f"{what} of several graphs have the count of one as a lower bound: {TAKES_TOO_LONG}"] * any_is_bound


def is_of_largest(row: Row) -> bool:
    """Whether a count is that of the largest of several graphs, so that it is a lower bound for all of them."""
    return number_in(row, "graphs") > 1
