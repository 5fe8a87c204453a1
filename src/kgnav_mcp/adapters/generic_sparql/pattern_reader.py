"""Finds the matches of a pattern, also with blank nodes: one query matches it and reads what identifies these."""

from __future__ import annotations

from collections.abc import Sequence

from kgnav_mcp.adapters.generic_sparql import queries
from kgnav_mcp.adapters.generic_sparql.blanks import Seeds
from kgnav_mcp.adapters.generic_sparql.names import Names
from kgnav_mcp.adapters.generic_sparql.pattern_writer import PatternWriter
from kgnav_mcp.adapters.generic_sparql.store import Store
from kgnav_mcp.adapters.sparql_base.plans.reader import MatchReader
from kgnav_mcp.adapters.sparql_base.terms import Fragment
from kgnav_mcp.errors import InvalidArgument
from kgnav_mcp.port.pattern_queries import PatternMatch


class PatternReader(MatchReader):
    """Answers the verb `match_pattern`."""

    def __init__(self, store: Store, names: Names, writer: PatternWriter) -> None:
        super().__init__(store.reader, names, writer)
        self._store = store

    async def _blank_matches(
        self, matches: Fragment, pattern: Fragment, names: Sequence[str], blanks: Sequence[str]
    ) -> Sequence[PatternMatch]:
        """The matches of a query, some of whose variables, `blanks`, may be blank nodes.

        Raises:
            InvalidArgument: no path identifies one of them.
            Unsupported: there are too many to identify them.
        """
        seeds = [
            Seeds(self._reader.part(queries.BLANKS_OF_PATTERN, node=Fragment(name), pattern=pattern), name[1:])
            for name in blanks
        ]
        read = await self._store.blanks.identified(seeds, [f"{{ {matches.text} }}"])
        if read.unidentified:  # edge by edge they would not be found: no path leads to them
            raise InvalidArgument(
                f"{read.unidentified:,} nodes of the rows are blank nodes that no path from an IRI leads to",
                next_step="Return only the nodes beside them, or count the rows: RETURN count(*).",
            )
        written = self._store.endpoint.ids.written
        return await self._fits(read.rows, names, {label: written(path) for label, path in read.paths.items()})
