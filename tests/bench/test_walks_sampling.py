"""How hops are drawn, and walks made side by side: on graphs inside the test."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from itertools import count

import pytest

from kgnav_bench.client import ToolFailedError
from kgnav_bench.walks.order import in_order
from kgnav_bench.walks.sampling import DroppedError, Limits, Sampler
from kgnav_bench.walks.session import (
    RelationRow,
    Relations,
    Session,
    TripleRow,
    Triples,
    UnusableServerError,
)
from kgnav_bench.walks.sharegpt import (
    NamedEntity,
    Shape,
)
from kgnav_bench.walks.topics import sampled_topics


def test_relations_to_mediators_are_not_followed():
    rows = {
        "film.film.awards": 1,
        "film.film.awards.award.honor.winner": 1,
        "film.film.genre": 1,
    }
    chance = random.Random(1)  # noqa: S311 - not a secret
    graph = FakeGraph(tuple(RelationRow(name, name, "outgoing", count) for name, count in rows.items()))
    sampler = Sampler(graph, Limits(), chance)
    with pytest.raises(DroppedError):
        asyncio.run(sampler.walk(Shape.CHAIN_2, NamedEntity(id="m.1", name="Up")))
    assert sorted(graph.followed) == ["film.film.awards.award.honor.winner", "film.film.genre"]


def test_relations_with_more_triples_than_a_hop_may_have_are_not_read():
    rows = {"few": 20, "twice": 40, "many": 41}
    graph = FakeGraph(tuple(RelationRow(name, name, "outgoing", count) for name, count in rows.items()))
    sampler = Sampler(graph, Limits(d_max=20), random.Random(1))  # noqa: S311 - not a secret
    with pytest.raises(DroppedError):
        asyncio.run(sampler.walk(Shape.CHAIN_2, NamedEntity(id="m.1", name="Up")))
    assert sorted(graph.followed) == ["few", "twice"]


def test_a_conjunction_does_not_begin_with_a_relation_to_a_single_entity():
    graph = FakeGraph((RelationRow("one", "one", "outgoing", 1), RelationRow("two", "two", "outgoing", 2)))
    for shape, followed in ((Shape.INTERSECTION, ["two"]), (Shape.CHAIN_2, ["one", "two"])):
        graph.followed.clear()
        sampler = Sampler(graph, Limits(), random.Random(1))  # noqa: S311 - not a secret
        with pytest.raises(DroppedError):
            asyncio.run(sampler.walk(shape, NamedEntity(id="m.1", name="Up")))
        assert sorted(graph.followed) == followed


def test_a_last_hop_reaches_no_more_entities_than_answers_are_allowed():
    sampler = Sampler(TwoEnds(), Limits(answers=1), random.Random(1))  # noqa: S311 - not a secret
    with pytest.raises(DroppedError, match="dead end"):
        asyncio.run(sampler.walk(Shape.CHAIN_2, NamedEntity(id="m.1", name="Up")))


def test_a_hop_is_drawn_from_the_relations_of_the_paths_entity():
    graph = TwoEnds()
    for seed in range(20):
        sampler = Sampler(graph, Limits(), random.Random(seed))  # noqa: S311 - not a secret
        path = asyncio.run(sampler.walk(Shape.CHAIN_2, NamedEntity(id="m.1", name="Up")))
        assert (path[0].end, path[1].relation) in {("a", "of a"), ("b", "of b")}
    assert set(graph.followed) == {"ends", "of a", "of b"}
    assert len(graph.followed) == 40


def test_a_relation_whose_triples_cannot_be_listed_gives_no_topics_and_stops_nothing():
    class OneTooLarge(Session):
        def __init__(self) -> None:
            pass

        async def relation_counts(self) -> list[tuple[str, int]]:
            return [("type", 900_000), ("made_by", 2)]

        async def rows(self, plan: str) -> list[tuple[str, ...]]:
            if "`type`" in plan:
                raise ToolFailedError("Too large: this plan needs more than 100,000 rows at once")
            return [("f1", "A Film")] if "WITH DISTINCT a" in plan else [("p1", "A Person")]

    found = asyncio.run(sampled_topics(OneTooLarge(), Limits(), 1))
    assert [each.id for each in found] == ["f1", "p1"]
    with pytest.raises(UnusableServerError, match="The last answer was: Too large"):
        asyncio.run(sampled_topics(OneTooLarge(), Limits(allow=("type",)), 1))


class TwoEnds:
    """An entity with two neighbours, of which each has a relation of its own."""

    def __init__(self) -> None:
        self.followed: list[str] = []

    async def relations(self, entities: Sequence[str], question: str | None = None) -> Relations:
        del question
        names = ["ends"] if entities == ["m.1"] else [f"of {each}" for each in entities]
        return Relations(tuple(RelationRow(name, name, "outgoing", 2) for name in names))

    async def triples(self, entities: Sequence[str], relation: str) -> Triples:
        del entities
        self.followed.append(relation)
        ends = [("m.1", "a"), ("m.1", "b")] if relation == "ends" else [(relation[-1], f"z{n}") for n in range(2)]
        rows = (
            TripleRow(NamedEntity(id=head, name=head), relation, NamedEntity(id=tail, name=tail)) for head, tail in ends
        )
        return Triples(tuple(rows), complete=True)


def test_the_relations_of_one_entity_are_not_listed_where_all_reached_ones_have_them():
    class Listed(TwoEnds):
        def __init__(self) -> None:
            super().__init__()
            self.lists: list[list[str]] = []

        async def relations(self, entities: Sequence[str], question: str | None = None) -> Relations:
            self.lists.append(list(entities))
            listed = await super().relations(entities, question)
            if len(entities) == 1:
                return listed
            return Relations((replace(listed.rows[0], relation="shared", entities=shared),))

        async def triples(self, entities: Sequence[str], relation: str) -> Triples:
            if relation != "shared":
                return await super().triples(entities, relation)
            ends = [NamedEntity(id=each, name=each) for each in entities]
            rows = tuple(TripleRow(end, relation, NamedEntity(id=f"z{n}", name=f"z{n}")) for n, end in enumerate(ends))
            return Triples(rows, complete=True)

    for shared, lists in ((2, [["m.1"], ["a", "b"]]), (1, [["m.1"], ["a", "b"], ["a"]])):
        graph = Listed()
        sampler = Sampler(graph, Limits(), random.Random(1))  # noqa: S311 - not a secret
        walk = sampler.walk(Shape.CHAIN_2, NamedEntity(id="m.1", name="Up"))
        if shared == 2:
            assert [hop.relation for hop in asyncio.run(walk)] == ["ends", "shared"]
        else:
            with pytest.raises(DroppedError):  # the entity has another relation
                asyncio.run(walk)
        assert graph.lists in (lists, [*lists[:2], *([["b"]] if shared == 1 else [])])


class Ways(TwoEnds):
    """An entity with two relations, of which one leads to an entity without any."""

    def __init__(self, characters: int = 0) -> None:
        super().__init__()
        self.characters = characters

    async def relations(self, entities: Sequence[str], question: str | None = None) -> Relations:
        del question
        names = {"m.1": ["blind", "open"], "end of open": ["last"], "m.2": ["last"]}.get(entities[0], [])
        return Relations(tuple(RelationRow(name, name, "outgoing", 1) for name in names), self.characters)

    async def triples(self, entities: Sequence[str], relation: str) -> Triples:
        self.followed.append(relation)
        head, tail = (NamedEntity(id=each, name=each) for each in (entities[0], f"end of {relation}"))
        return Triples((TripleRow(head, relation, tail),), complete=True, characters=self.characters)


def test_a_walk_that_comes_to_a_dead_end_goes_back_a_hop():
    followed: set[tuple[str, ...]] = set()
    for seed in range(10):
        graph = Ways()
        sampler = Sampler(graph, Limits(), random.Random(seed))  # noqa: S311 - not a secret
        path = asyncio.run(sampler.walk(Shape.CHAIN_2, NamedEntity(id="m.1", name="Up")))
        assert [hop.relation for hop in path] == ["open", "last"]
        followed.add(tuple(graph.followed))
    assert followed == {("open", "last"), ("blind", "open", "last")}


@pytest.mark.parametrize(("limit", "read"), [(6_000, ["last", "open"]), (4_500, ["open"]), (2_000, [])])
def test_a_hop_that_would_make_the_conversation_too_long_is_not_made(limit: int, read: list[str]):
    graph = Ways(characters=900)
    sampler = Sampler(graph, Limits(characters=limit), random.Random(3))  # noqa: S311 - not a secret
    walk = sampler.walk(Shape.CHAIN_2, NamedEntity(id="m.1", name="Up"))
    if len(read) == 2:
        asyncio.run(walk)
    else:
        with pytest.raises(DroppedError, match="dead end"):
            asyncio.run(walk)
    assert sorted({*graph.followed} - {"blind"}) == read


@dataclass
class FakeGraph:
    """A graph that lists relations, and has no triples."""

    listed: tuple[RelationRow, ...]
    followed: list[str] = field(default_factory=list[str])

    async def relations(self, entities: Sequence[str], question: str | None = None) -> Relations:
        del entities, question
        return Relations(self.listed)

    async def triples(self, entities: Sequence[str], relation: str) -> Triples:
        del entities
        self.followed.append(relation)
        return Triples((), complete=True)


def test_a_slow_walk_holds_up_no_other():
    async def run_all() -> tuple[list[int], int]:
        begun: list[int] = []
        slow_may_end = asyncio.Event()

        async def walk(number: int) -> int:
            begun.append(number)
            if number == 0:
                await slow_may_end.wait()
            elif number == 6:
                slow_may_end.set()
            return number

        async with aclosing(in_order(map(walk, range(10)), 2)) as results:
            return [each async for each in results], len(begun)

    assert asyncio.run(asyncio.wait_for(run_all(), 5)) == (list(range(10)), 10)


def test_no_more_walks_than_allowed_are_made_at_a_time():
    async def run_all() -> int:
        now, most = 0, 0

        async def walk(number: int) -> int:
            nonlocal now, most
            now += 1
            most = max(most, now)
            await asyncio.sleep(0)
            now -= 1
            return number

        async with aclosing(in_order(map(walk, range(40)), 3)) as results:
            assert [each async for each in results] == list(range(40))
        return most

    assert asyncio.run(run_all()) == 3


def test_walks_that_are_not_needed_are_cancelled():
    async def run_some() -> list[int]:
        cancelled: list[int] = []

        async def walk(number: int) -> int:
            try:
                await asyncio.sleep(60 if number else 0)
            except asyncio.CancelledError:
                cancelled.append(number)
                raise
            return number

        async with aclosing(in_order(map(walk, count()), 3)) as results:
            assert await anext(results) == 0
        return cancelled

    assert asyncio.run(run_some()) == [1, 2]
