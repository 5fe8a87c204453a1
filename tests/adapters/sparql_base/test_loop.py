"""Thousands of entities leave the event loop to other calls: what is read of them is worked on elsewhere, or in slices.

What a callback does is counted in calls of Python functions, which are the same on any machine; 20,000 of them take
some 20 ms.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio import events
from collections.abc import Awaitable, Callable
from types import FrameType
from typing import Any

import pytest

from kgnav_mcp.adapters.generic_sparql.adapter import EndpointAdapter
from kgnav_mcp.adapters.sparql_base.adapter import SparqlAdapter
from kgnav_mcp.adapters.sparql_base.rate_limit import Client
from kgnav_mcp.adapters.sparql_base.results import Answer
from kgnav_mcp.adapters.wikidata.adapter import WikidataAdapter
from kgnav_mcp.model import Direction
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.generic_sparql.inprocess import HERE
from tests.adapters.sparql_base.inprocess import InProcess

pytestmark = pytest.mark.slow

SIZE = 3_000
MAX = 10_000
"""Calls that one callback may make."""
PLAIN = "\n".join(
    [
        "PREFIX ex: <http://ex.example/>",
        "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>",
        *(
            f"ex:n{n} a ex:Node ; rdfs:label 'name {n}'@en ; ex:next ex:n{(n + 1) % SIZE} ; ex:age {n % 90} ."
            for n in range(SIZE)
        ),
    ]
)
BASE = "http://www.wikidata.org"
WIKIBASE = "\n".join(
    [
        "PREFIX wd: <http://www.wikidata.org/entity/>",
        "PREFIX wdt: <http://www.wikidata.org/prop/direct/>",
        "PREFIX p: <http://www.wikidata.org/prop/>",
        "PREFIX ps: <http://www.wikidata.org/prop/statement/>",
        "PREFIX wds: <http://www.wikidata.org/entity/statement/>",
        "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>",
        "PREFIX wikibase: <http://wikiba.se/ontology#>",
        "wd:P1 wikibase:directClaim wdt:P1 ; wikibase:propertyType wikibase:WikibaseItem ; rdfs:label 'next'@en .",
        "wd:P31 wikibase:directClaim wdt:P31 ; wikibase:propertyType wikibase:WikibaseItem ; rdfs:label 'is a'@en .",
        *(
            f"wd:Q{n} rdfs:label 'name {n}'@en ; p:P1 wds:a{n} ; wdt:P31 wd:Q9999 ; p:P31 wds:b{n} . "
            f"wds:a{n} a wikibase:BestRank ; wikibase:rank wikibase:NormalRank ; ps:P1 wd:Q{n % SIZE + 1} . "
            f"wds:b{n} a wikibase:BestRank ; wikibase:rank wikibase:NormalRank ; ps:P31 wd:Q9999 ."
            for n in range(1, SIZE + 1)
        ),
    ]
)
GRAPHS: dict[str, tuple[Callable[[str, AdapterOptions], SparqlAdapter[Any, Any, Any]], str, str, list[str]]] = {
    "endpoint": (EndpointAdapter, HERE, PLAIN, [f"ex:n{n}" for n in range(SIZE)]),
    "wikidata": (
        WikidataAdapter,
        "wikidata+http://127.0.0.1/sparql",
        WIKIBASE,
        [f"wd:Q{n}" for n in range(1, SIZE + 1)],
    ),
}
VERBS: dict[str, Callable[[GraphAdapter, list[str]], Awaitable[object]]] = {
    "describe": lambda graph, ids: graph.describe(ids),
    "relations": lambda graph, ids: graph.relations(ids, None, examples=2, limit=50),
    "neighbours": lambda graph, ids: graph.neighbours(ids, Direction.OUTGOING, limit=SIZE),
    "a few neighbours": lambda graph, ids: graph.neighbours(ids, None, limit=50),
    "edges": lambda graph, ids: graph.edges(ids, ids, limit=SIZE),
}


class InThread(InProcess):
    """Answers in another thread, as a server does."""

    async def select(self, query: str, **_: object) -> Answer:
        def answer() -> Answer:
            try:
                super(InThread, self).select(query).send(None)
            except StopIteration as ended:
                return ended.value
            raise AssertionError("an answer that is waited for")

        return await asyncio.to_thread(answer)

    async def ask(self, query: str) -> bool:
        raise NotImplementedError(query)

    async def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many Python functions each callback of the loop calls."""
    counts: list[int] = []
    run = events.Handle._run

    def count(_: FrameType, event: str, __: object) -> None:
        counts[-1] += event == "call"

    def counted(handle: events.Handle) -> None:
        counts.append(0)
        sys.setprofile(count)
        try:
            run(handle)
        finally:
            sys.setprofile(None)

    monkeypatch.setattr(events.Handle, "_run", counted)
    return counts


@pytest.fixture(scope="module")
def stores() -> dict[str, InThread]:
    return {name: InThread(turtle) for name, (_, _, turtle, _) in GRAPHS.items()}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("store", GRAPHS)
async def test_of_thousands_of_entities_no_callback_holds_the_loop(
    store: str, verb: str, stores: dict[str, InThread], calls: list[int], monkeypatch: pytest.MonkeyPatch
):
    adapter, location, _, ids = GRAPHS[store]

    async def connect(_: object) -> Client:
        return stores[store]

    monkeypatch.setattr(adapter, "_connect", connect)
    async with adapter(location, AdapterOptions(timeout=60.0)) as graph:
        await asyncio.sleep(0)
        begin = len(calls)
        await VERBS[verb](graph, ids)
        await asyncio.sleep(0)
        assert max(calls[begin:]) < MAX
