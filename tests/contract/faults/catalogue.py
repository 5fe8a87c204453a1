"""A catalogue of relations and types of which only a part was read denies nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, ClassVar

import pytest
from rdflib import XSD, Literal

from kgnav_mcp.errors import StoreTimeout, UnknownName, Unsupported
from kgnav_mcp.model import Count, Stop
from kgnav_mcp.port import GraphAdapter, ValueOwner
from tests.adapters.sparql_base.clock import Clock
from tests.adapters.sparql_base.inprocess import ALL_ROWS
from tests.contract.faults.people import BOB, PEOPLE, Person
from tests.contract.faults.spoilt import SpoiltStore

RELATION_COUNTS = r"WHERE \{ \?s \?p \?o BIND"
"""How often each relation of the graph is used."""
DEGREES = r"SELECT \?s \(COUNT"
IN_TIME = r"whether the store has a .*'nothing'"
IN_CAP = r"whether the store has a .*'nothing': its row cap"


class CatalogueInPart(SpoiltStore):
    """For adapters that count the relations and types of their graph, and look names up among them."""

    parts: ClassVar[Sequence[Mapping[str, Any]]]
    """Ways for time to leave a part of the catalogue."""
    capped_parts: ClassVar[Sequence[Mapping[str, Any]]]
    """Ways for the row cap to leave a part of it."""
    read_again: ClassVar[bool]
    """Whether a part that time left is read again after a minute. Otherwise another try would take as long."""
    beside: ClassVar[str] = ""
    """What the graph has beside people."""
    most_compared: ClassVar[int]
    """So many values of a property are compared with a text."""

    def denied(self, graph: GraphAdapter) -> Sequence[Awaitable[Any]]:
        """Calls about what the graph has nothing of."""
        return (
            graph.values("nothing", None, ValueOwner.NODE, limit=5),
            graph.nodes(None, "nothing", None, limit=5),
            graph.nodes("nothing", None, None, limit=5),
            graph.schema("nothing", limit=5),
        )

    async def test_a_catalogue_of_a_part_denies_nothing(self, clock: Clock):
        for part in self.parts:
            async with self.opened(PEOPLE, self.beside, **part) as (graph, store):
                for ask in self.denied(graph):
                    with pytest.raises(StoreTimeout, match=IN_TIME):
                        await ask
                store.mend()
                for seconds, is_whole in ((59, False), (2, self.read_again)):
                    clock.now += seconds
                    with pytest.raises(UnknownName if is_whole else StoreTimeout):
                        await graph.nodes("nothing", None, None, limit=5)
        async with self.opened(PEOPLE, self.beside) as (graph, _):
            for ask in self.denied(graph):
                with pytest.raises(UnknownName):
                    await ask

    async def test_a_catalogue_that_the_row_cap_cut_denies_nothing_and_is_no_time_out(self, clock: Clock):
        for part in self.capped_parts:
            async with self.opened(PEOPLE, self.beside, **part) as (graph, store):
                for ask in self.denied(graph):
                    with pytest.raises(Unsupported, match=IN_CAP) as caught:
                        await ask
                    assert "in time" not in caught.value.message
                sampled = (await graph.schema(limit=5)).sampled or ""
                assert "missing" in sampled
                assert "the endpoint's row cap cut them" in sampled
                store.queries.clear()
                clock.now += 61
                with pytest.raises(Unsupported):
                    await graph.nodes("nothing", None, None, limit=5)
                assert not [query for query in store.queries if "GROUP BY" in query]  # the row cap would cut it again

    async def test_a_catalogue_that_time_and_the_row_cap_cut_may_be_whole_at_another_try(self):
        capped, cut = {RELATION_COUNTS: 1}, {self.type_counts: 0}
        async with self.opened(PEOPLE, capped=capped, cut=cut) as (graph, _):
            with pytest.raises(StoreTimeout, match="whether the store has a property 'nothing'"):
                await graph.values("nothing", None, ValueOwner.NODE, limit=5)

    async def test_a_degree_that_was_not_all_counted_is_a_lower_bound(self):
        async with self.opened(PEOPLE) as (graph, store):
            for cut, degree in (({}, Count(5)), ({DEGREES: ALL_ROWS}, Count.at_least(5))):
                store.cut = cut
                (found,) = (await graph.find("Bob", limit=5)).items
                assert (found.entity.id, found.degree) == (self.notation.node(BOB), degree)

    @pytest.mark.parametrize("more", [0, 1])
    async def test_where_a_value_is_looked_up_in_usual_forms_only_the_list_says_so(self, more: int):
        texts = [Literal("1994", lang="fr"), Literal("1994", lang="en"), *map(Literal, ("1994", 1994, 2000))]
        forms = [*texts, Literal("1994", datatype=XSD.gYear)]
        people = [Person(n, f"Person {n}", (), form) for n, form in enumerate(forms)]
        age = {"p": self.notation.iri(self.notation.age), "l": Literal(True)}
        counted = (RELATION_COUNTS, [age | {"n": Literal(self.most_compared + more)}])
        async with self.opened(people, answers=[counted]) as (graph, store):
            for year, numbers in (("1994", [1, 2, 3, 5] if more else [0, 1, 2, 3, 5]), ("1995", [])):
                store.queries.clear()
                page = await graph.nodes(None, self.notation.age, year, limit=9)
                assert ([one.id for one in page.items], page.stop) == (self.ids(numbers), Stop.COMPLETE)
                assert page.total == (Count.at_least(len(numbers)) if more else Count(len(numbers)))
                assert ("texts in other languages than en" in page.note) is bool(more)
                assert ("were not searched" in page.note) is bool(more)
                assert any(f'STR(?o) = "{year}"' in query for query in store.queries) is not bool(more)
