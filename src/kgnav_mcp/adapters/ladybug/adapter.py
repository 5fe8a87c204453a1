"""The LadybugDB adapter: opens the file, and reads it table by table with the readers of `adapters.cypher`."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

import ladybug

from kgnav_mcp.adapters.cypher.adapter import CypherAdapter, Readers
from kgnav_mcp.adapters.cypher.catalogue import OPTIONS, PropertyOptions
from kgnav_mcp.adapters.cypher.counts import RowFilter
from kgnav_mcp.adapters.cypher.neighbours import NeighbourReader, RelationReader
from kgnav_mcp.adapters.cypher.plans.reader import PlanReader
from kgnav_mcp.adapters.cypher.session import Session, closed
from kgnav_mcp.adapters.ladybug.lists import TableLinker, TableLists, TableNames
from kgnav_mcp.adapters.ladybug.patterns import PatternReader
from kgnav_mcp.adapters.ladybug.rows import BareRowReader, TableEdges, TableEdgeSearch, TableEntities, TableRows
from kgnav_mcp.adapters.ladybug.store import Store
from kgnav_mcp.adapters.ladybug.tables import LADYBUG, TableCatalogueCache, TableSchemaReader
from kgnav_mcp.adapters.options import refuse_unknown
from kgnav_mcp.model import Direction, Health, Link, Page, PlanPage
from kgnav_mcp.plan import Plan
from kgnav_mcp.port import AdapterOptions, FarEndKind

T = TypeVar("T")


class LadybugAdapter(CypherAdapter):
    """One LadybugDB file, opened read-only in this process.

    A table of nodes is their label, and each node has one. Of plans it matches single patterns.
    """

    capabilities = LADYBUG.capabilities

    def __init__(self, path: str, options: AdapterOptions) -> None:
        super().__init__()
        refuse_unknown("a LadybugDB graph", options.extra, OPTIONS)
        self._properties = PropertyOptions.read(options.extra)
        self._options = options
        self._store = Store(path, options.timeout)
        self._revision = ""
        self._patterns: PatternReader | None = None
        self._bare_rows: BareRowReader | None = None

    async def open(self) -> None:
        if self._opened is not None:
            return
        try:
            self._revision = self._store.revision
            self._opened = await self.in_time(self._open())
        except BaseException:
            await self._store.close()
            raise

    async def close(self) -> None:
        self._opened = self._patterns = self._bare_rows = None
        await self._store.close()

    @property
    def revision(self) -> str:
        return self._revision

    @property
    def stale(self) -> bool:
        return self._opened is not None and self._store.revision != self._revision

    async def in_time(self, work: Coroutine[Any, Any, T]) -> T:
        return await self._store.in_time(work)

    async def neighbour_ids(
        self,
        ids: Sequence[str],
        direction: Direction | None,
        *,
        relation_paths: Sequence[tuple[str, ...]] | None = None,
        far_end_kind: FarEndKind | None = None,
        limit: int,
        after: str | None = None,
    ) -> Page[Link]:
        if self._bare_rows is not None and after is None and all(len(path) == 1 for path in relation_paths or ()):
            relations = None if relation_paths is None else frozenset(path[0] for path in relation_paths)
            wanted = RowFilter(tuple(Direction) if direction is None else (direction,), relations, far_end_kind)
            page = await self.in_time(self._bare_rows.page(ids, wanted, limit))
            if page is not None:
                return page
        return await self.neighbours(
            ids, direction, relation_paths=relation_paths, far_end_kind=far_end_kind, limit=limit, after=after
        )

    async def run(self, plan: Plan, *, limit: int, after: str | None = None) -> PlanPage:
        if self._patterns is None:
            raise closed()
        return await self.in_time(self._patterns.page(plan, limit, after))

    async def health(self) -> Health:
        entities, triples = await self.in_time(self.readers.schema.size())
        return Health(True, f"LadybugDB {ladybug.Database.get_version()} at {self._store.path}", entities, triples)

    async def _open(self) -> Readers:
        await self._store.open()
        session = Session(self._store, LADYBUG)
        catalogue = TableCatalogueCache(session, self._store, self._properties)
        (await catalogue.refreshed()).check_options()
        entities = TableEntities(session, catalogue, self._store, self._options.languages)
        self._patterns = PatternReader(entities)
        rows, names = TableRows(entities), TableNames(entities)
        self._bare_rows = BareRowReader(entities, rows)
        relations = RelationReader(entities, rows)
        return Readers(
            catalogue,
            entities,
            names,
            TableLinker(entities, names),
            relations,
            NeighbourReader(entities, rows, relations),
            TableEdges(entities, rows),
            TableEdgeSearch(entities, rows),
            TableLists(entities),
            TableSchemaReader(entities, catalogue, self._store),
            PlanReader(entities),
        )
