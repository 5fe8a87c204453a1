"""The Neo4j adapter: connects with the official driver, opens the Cypher readers, and reports health with advice."""

from __future__ import annotations

import logging
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from kgnav_mcp.adapters.cypher.adapter import CypherAdapter, Readers
from kgnav_mcp.adapters.cypher.catalogue import Catalogue
from kgnav_mcp.adapters.cypher.session import quoted
from kgnav_mcp.adapters.neo4j.dialect import APOC_DEGREES, APOC_FUNCTIONS, DATABASE, FUNCTIONS, NEO4J
from kgnav_mcp.adapters.neo4j.store import Neo4jOptions, Store
from kgnav_mcp.model import Health
from kgnav_mcp.port import AdapterOptions

_MAX_SHOWN = 5


def advice(catalogue: Catalogue, *, refuses_writes: bool) -> tuple[str, ...]:
    """Advice for the operator, one sentence for each problem found."""
    sentences: list[str] = []
    if not refuses_writes:
        sentences.append(
            "This server accepts writes in read mode: use a user with read permission only. (kgnav never writes.)"
        )
    identified = {label for label, _ in catalogue.id_keys}
    without_key = [label for label in catalogue.labels if label not in identified]
    if without_key:
        sentences.append(
            f"No property identifies nodes of {_list(without_key)}: their ids are Neo4j's own and may change. Create a "
            f"constraint, CREATE CONSTRAINT FOR (n:{quoted(without_key[0])}) REQUIRE n.id IS UNIQUE, or set the "
            f"property in the option keys."
        )
    indexed = {label for index in catalogue.full_text for label in index.labels}
    unindexed = [label for label in catalogue.labels if label not in indexed]
    if unindexed and catalogue.name_keys:
        sentences.append(
            f"Names of {_list(unindexed)} are in no full-text index, so they are found by scanning. Create one: CREATE "
            f"FULLTEXT INDEX FOR (n:{'|'.join(map(quoted, unindexed[:_MAX_SHOWN]))}) ON EACH "
            f"[{', '.join(f'n.{quoted(key)}' for key in catalogue.name_keys[:_MAX_SHOWN])}]."
        )
    if not catalogue.name_keys:
        sentences.append("No property looks like a name: set the option names.")
    return tuple(sentences)


def _list(labels: Sequence[str]) -> str:
    more = f" and {len(labels) - _MAX_SHOWN} more labels" if len(labels) > _MAX_SHOWN else ""
    return ", ".join(labels[:_MAX_SHOWN]) + more


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
            _log.warning("%s accepts writes in read mode: use a user with read permission only", self._store.place)

    async def close(self) -> None:
        self._opened = None
        await self._store.close()

    @property
    def revision(self) -> str:
        """The database's name and id. Writes do not change it; the positions of pages detect them."""
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
        ((name, identity),) = await self._store.rows(DATABASE)
        self._store.database = str(name)
        self._revision = f"{name} {identity}"
        ((functions,),) = await self._store.rows(FUNCTIONS, {"names": list(APOC_FUNCTIONS)})
        has_apoc = set(functions) >= APOC_FUNCTIONS
        dialect = replace(NEO4J, own_degrees=APOC_DEGREES) if has_apoc else NEO4J
        readers = await Readers.open(self._store, dialect, self._graph.properties, self._options.languages)
        self._refuses_writes = await self._store.refuses_writes()
        return readers
