"""The Neo4j adapter: connects with the official driver, opens the Cypher readers, and reports health with advice."""

from __future__ import annotations

import logging
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, TypeVar

from kgnav_mcp.adapters.cypher.adapter import CypherAdapter, Readers
from kgnav_mcp.adapters.neo4j import queries
from kgnav_mcp.adapters.neo4j.advice import advice
from kgnav_mcp.adapters.neo4j.dialect import APOC_DEGREES, APOC_FUNCTIONS, NEO4J
from kgnav_mcp.adapters.neo4j.options import Neo4jOptions
from kgnav_mcp.adapters.neo4j.store import Store
from kgnav_mcp.model import Health
from kgnav_mcp.port import AdapterOptions

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Neo4jAdapter(CypherAdapter):
    """One database of a Neo4j server (5.26 or later), queried in read access mode."""

    capabilities = NEO4J.capabilities

    def __init__(self, location: str, options: AdapterOptions) -> None:
        super().__init__()
        self._options = options
        self._graph = Neo4jOptions.read(location, options)
        self._store = Store(self._graph, options.timeout)
        self._revision = ""
        self._refuses_writes = True

    async def open(self) -> None:
        if self._opened is not None:
            return
        try:
            self._store.connect()
            self._opened = await self.in_time(self._open())
        except BaseException:
            await self._store.close()
            raise
        if not self._refuses_writes:
            _log.warning("%s takes writes in read mode: give this graph a user who may only read", self._store.place)

    async def close(self) -> None:
        self._opened = None
        await self._store.close()

    @property
    def revision(self) -> str:
        """The database's name and id. It does not change with writes: positions of pages notice those themselves."""
        return self._revision if self.readers else ""

    async def in_time(self, work: Coroutine[Any, Any, T]) -> T:
        return await self._store.run(work)

    async def health(self) -> Health:
        readers = self.readers
        entities, triples = await self.in_time(readers.schema.size())
        agent = await self.in_time(self._store.agent())
        store = f"{agent} on {self._store.place}, database {self._store.database}"
        suggestions = advice(readers.catalogue.current, refuses_writes=self._refuses_writes)
        return Health(True, store, entities, triples, suggestions)

    async def _open(self) -> Readers:
        ((name, identity),) = await self._store.rows(queries.DATABASE)
        self._store.database = str(name)
        self._revision = f"{name} {identity}"
        ((functions,),) = await self._store.rows(queries.FUNCTIONS, {"names": list(APOC_FUNCTIONS)})
        has_apoc = set(functions) >= APOC_FUNCTIONS
        dialect = replace(NEO4J, own_degrees=APOC_DEGREES) if has_apoc else NEO4J
        readers = await Readers.open(self._store, dialect, self._graph.properties, self._options.languages)
        self._refuses_writes = await self._store.refuses_writes()
        return readers
