"""An answer spoilt on its way is never reported as complete, nor cached."""

# ruff: noqa: ARG005 - all calls have the same signature, even if they need no view or no limit

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.errors import StoreTimeout, Unsupported
from kgnav_mcp.model import (
    Candidate,
    Certainty,
    Count,
    Direction,
    EdgeFacts,
    Entity,
    Health,
    LabelFacts,
    Link,
    Namesake,
    Page,
    PropertyFacts,
    RelationFacts,
    Schema,
    Stop,
    ValueFacts,
)
from kgnav_mcp.navigation.nodes_by_value import nodes_by_value
from kgnav_mcp.port import AdapterOptions, GraphAdapter, ValueOwner
from tests.contract import toy
from tests.contract.faults.relay import Fault, Relay, Source
from tests.contract.suite.base import ALL, ToyContract
from tests.contract.toy_views import View

Ask = Callable[[GraphAdapter, View, int], Awaitable[Any]]

HUB = toy.HUB
OUT, IN = Direction.OUTGOING, Direction.INCOMING

ASKS: dict[str, Ask] = {
    "entities": lambda g, v, n: g.describe([v.node(HUB), v.node("marriage1"), f"{v.node('ada')}0"]),
    "a name": lambda g, v, n: g.find_by_name("Mercury", limit=n),
    "a name in small": lambda g, v, n: g.find_by_name("MERCURY", limit=n),
    "candidates": lambda g, v, n: g.find("Harbour", limit=n),
    "candidates of a label": lambda g, v, n: g.find("Mercury", label="Planet", limit=n),
    "relations": lambda g, v, n: g.relations([v.node("ada"), v.node("ben")], OUT, examples=2, limit=n),
    "relations of a hub": lambda g, v, n: g.relations([v.node(HUB)], IN, examples=2, limit=n),
    "rows": lambda g, v, n: g.neighbours([v.node("ada")], OUT, limit=n),
    "rows of a hub": lambda g, v, n: g.neighbours([v.node(HUB)], IN, limit=n),
    "edges": lambda g, v, n: g.edges([v.node("ada")], [v.node("ben"), v.node(HUB)], limit=n),
    "nodes of a label": lambda g, v, n: g.nodes("Boat", None, None, limit=n),
    "nodes by the name of another": lambda g, v, n: g.nodes(None, v.relation("knows"), "ADA STONE", limit=n),
    "a node of a label by its id": lambda g, v, n: nodes_by_value(g, "Person", "id", v.node("ada"), limit=n),
    "values": lambda g, v, n: g.values(v.relation("code"), None, ValueOwner.NODE, limit=n),
    "values at a label": lambda g, v, n: g.values(v.relation("length"), "Boat", ValueOwner.NODE, limit=n),
    "the schema": lambda g, v, n: g.schema(limit=n),
    "a label of the schema": lambda g, v, n: g.schema("Boat", limit=n),
    "the health": lambda g, v, n: g.health(),
}
"""One call of every verb, with a limit if the verb has one."""

FEW = 7


@dataclass(frozen=True)
class Endpoint:
    """A store behind a relay."""

    relay: Relay
    location: str
    view: View
    _true: dict[tuple[Ask, int], tuple[Any, int]] = field(default_factory=dict[tuple[Ask, int], tuple[Any, int]])

    async def asked(self, ask: Ask, limit: int) -> tuple[Any, int]:
        """A correct answer, and the number of queries that it takes on an open adapter. Asked only once."""
        if (ask, limit) not in self._true:
            async with open_adapter(self.location, AdapterOptions()) as graph:
                before = self.relay.queries
                answer = await ask(graph, self.view, limit)
                self._true[ask, limit] = answer, self.relay.queries - before
        return self._true[ask, limit]


class FaultContract(ToyContract):
    """Base of the concrete classes, each of which defines the source and the view of its toy graph.

    A location has {url} for the endpoint's address.
    """

    @pytest.fixture(scope="class")
    @classmethod
    def source(cls) -> Source:
        raise NotImplementedError

    @pytest.mark.parametrize("asked", ASKS)
    async def test_whichever_query_of_a_call_is_spoilt_nothing_untrue_is_said(self, endpoint: Endpoint, asked: str):
        ask, relay = ASKS[asked], endpoint.relay
        every, _ = await endpoint.asked(ask, ALL)
        whole, queries = await endpoint.asked(ask, FEW)
        assert queries
        for place, fault in [
            *((n, Fault.CUT) for n in range(queries)),
            *((n, Fault.LATE) for n in range(0, queries, 2)),
        ]:
            async with open_adapter(endpoint.location, AdapterOptions()) as graph:
                relay.spoil(place, fault)
                for _ in range(2):
                    with suppress(StoreTimeout):  # even while a truncated catalogue is cached for a moment
                        _is_true(await ask(graph, endpoint.view, FEW), whole, every)
                    relay.mend()

    @pytest.mark.parametrize("asked", ["the schema", "a label of the schema"])
    async def test_whichever_query_of_a_schema_the_row_cap_cuts_the_schema_says_so(
        self, endpoint: Endpoint, asked: str
    ):
        ask, relay = ASKS[asked], endpoint.relay
        every, _ = await endpoint.asked(ask, ALL)
        whole, queries = await endpoint.asked(ask, FEW)
        for place in range(queries):
            async with open_adapter(endpoint.location, AdapterOptions()) as graph:
                relay.spoil(place, Fault.CAPPED)
                with suppress(Unsupported):  # the requested name may be beyond the row cap
                    _is_true(await ask(graph, endpoint.view, FEW), whole, every)
                relay.mend()

    @pytest.mark.parametrize("asked", ASKS)
    @pytest.mark.parametrize(("rows", "refusal"), [(1, "row cap"), (12, "the list of its names")])
    async def test_under_a_row_cap_nothing_untrue_is_said(
        self, endpoint: Endpoint, asked: str, rows: int, refusal: str
    ):
        ask, relay, refused = ASKS[asked], endpoint.relay, refusal
        every, _ = await endpoint.asked(ask, ALL)
        whole, _ = await endpoint.asked(ask, FEW)
        async with open_adapter(endpoint.location, AdapterOptions()) as graph:
            relay.row_cap = rows
            try:
                _is_true(await ask(graph, endpoint.view, FEW), whole, every)
            except Unsupported as error:
                refused = error.message
            finally:
                relay.mend()
        assert refusal in refused


def _is_true(said: Any, whole: Any, every: Any) -> None:
    """Check that an answer is complete, or says that it is partial and has only true items. `every`: without limit."""
    if said == whole:
        return
    assert type(said) is type(whole)
    if isinstance(said, Page):
        page = cast("Page[Any]", said)
        _is_part(page.items, every.items)
        _bounds(page.total, every.total)
        if page.stop is Stop.COMPLETE and page.total.certainty is Certainty.EXACT:
            assert _keys(page.items) == _keys(every.items)
    elif isinstance(said, Schema):
        _is_part(said.labels, every.labels)
        qualifiers = {qualifier.id for facts in every.relations for qualifier in facts.qualifiers}
        used = [
            facts
            for facts in (*said.relations, *said.properties)  # one without a count may occur only in statements
            if facts.count.certainty is not Certainty.UNKNOWN or facts.relation.id not in qualifiers
        ]
        _is_part(used, (*every.relations, *every.properties))
        _bounds(said.entities, every.entities)
        _bounds(said.triples, every.triples)
        if said.sampled == whole.sampled:
            for part in ("labels", "relations", "properties"):
                assert len(getattr(said, part)) == len(getattr(whole, part))
    elif isinstance(said, Health):
        assert said.reachable
        _bounds(said.entities, every.entities)
        _bounds(said.triples, every.triples)
    else:
        pytest.fail(f"{said} is said for {whole}")


def _is_part(items: Sequence[Any], every: Sequence[Any]) -> None:
    there: Mapping[object, Any] = {_key(item): item for item in every}
    for item in items:
        assert _key(item) in there
        if isinstance(item, RelationFacts | EdgeFacts | PropertyFacts | LabelFacts | ValueFacts):
            _bounds(item.count, there[_key(item)].count)


def _bounds(said: Count, true: Count) -> None:
    """Check that an exact count is the true one, and that a lower bound is not above it."""
    if said.certainty is Certainty.EXACT:
        assert said == true
    elif said.certainty is Certainty.AT_LEAST and true.certainty is Certainty.EXACT:
        assert said.value <= true.value


def _keys(items: Sequence[Any]) -> set[object]:
    return {_key(item) for item in items}


def _key(item: Any) -> object:
    """The key that identifies an item."""
    match item:
        case Entity() | LabelFacts():
            key = item.id
        case Candidate() | Namesake():
            key = item.entity.id
        case ValueFacts():
            key = item.value
        case RelationFacts():
            key = item.direction, item.relation.id
        case EdgeFacts() | PropertyFacts():
            key = item.relation.id
        case Link():
            key = item.direction, _key(item.triple)
        case _:
            key = item
    return key
