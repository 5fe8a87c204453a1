"""The relations of entities with a few far ends as examples, which may be blank nodes."""

from __future__ import annotations

from collections.abc import Sequence

from rdflib import BNode

from kgnav_mcp.adapters.generic_sparql.counts import CountReader
from kgnav_mcp.adapters.generic_sparql.names import Names
from kgnav_mcp.adapters.generic_sparql.rows import RowReader
from kgnav_mcp.adapters.generic_sparql.store import Store
from kgnav_mcp.adapters.paging.directions import RelationRequest, RowRequest
from kgnav_mcp.adapters.paging.neighbours import read_rows
from kgnav_mcp.adapters.paging.positions import Place, Segment
from kgnav_mcp.adapters.sparql_base.around import relations
from kgnav_mcp.adapters.sparql_base.around.counts import Anchor, Counts, Path
from kgnav_mcp.adapters.sparql_base.around.far_ends import End
from kgnav_mcp.adapters.sparql_base.around.relations import Ends
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Entity, Stop


class RelationReader(relations.RelationReader):
    """Reads far ends for all paths at once. Paths that lead to blank nodes are read one by one."""

    def __init__(self, store: Store, names: Names, counts: CountReader) -> None:
        super().__init__(store, names, counts)
        self._store = store
        self._entities = names
        self._count_reader = counts
        self.mediator = store.reader.part("$mediator")

    def printed(self, anchor: Anchor) -> str:
        return self._store.written(anchor)

    async def _examples(self, counts: Counts, paths: Sequence[Path], question: RelationRequest) -> Ends:
        """Read the first far ends. After a time-out, the relations have no examples."""
        try:
            ends = await self._of_some(counts, paths, question)
        except StoreTimeout:
            return Ends(dict.fromkeys(paths, ()), Stop.TIME_OUT)
        for path in paths:
            found = ends.found.get(path, ())
            if not found or any(isinstance(end, BNode) for end in found):
                ends |= await self._of_rows(counts, path, question)
        return ends

    async def _of_rows(self, counts: Counts, path: Path, asked: RelationRequest) -> Ends:
        """Read the first far ends of one path from its rows."""
        question = RowRequest((), asked.direction, None, asked.far_ends, asked.examples, None, all_or_none=False)
        reader = RowReader(self._store, self._entities, self._count_reader, (), question)
        found: dict[End, None] = {}
        stops: list[Stop] = []
        for anchor, size in counts.by_entity(path).items():
            segment = Segment(0, anchor, path, size)
            parts, _ = await read_rows(reader, iter([segment]), Place(), asked.examples)
            found |= dict.fromkeys(row.far for _, part in parts for row, _ in part.items)
            stops += [part.stop for _, part in parts if part.stop is not Stop.LIMIT]
            if len(found) >= asked.examples:
                break
        entities = {end.id if isinstance(end, Entity) else end: end for end in found}
        return Ends({path: list(entities.values())[: asked.examples]}, Stop.first(stops))
