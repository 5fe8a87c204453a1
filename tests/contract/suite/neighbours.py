"""Rows around entities, page by page."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from kgnav_mcp.errors import InvalidCursor, Unsupported
from kgnav_mcp.model import Certainty, Direction, Triple
from kgnav_mcp.port import Capability, FarEndKind, GraphAdapter
from tests.contract import toy
from tests.contract.suite.base import ALL, AdapterContract, has, without_examples
from tests.contract.toy_views import View, as_row, as_rows, tally
from tests.rows import triples_at


class NeighbourContract(AdapterContract):
    @pytest.mark.parametrize("direction", Direction)
    @pytest.mark.parametrize(
        ("nodes", "size"),
        [
            *((["ada"], size) for size in (1, 7, ALL)),
            *((["ouroboros"], size) for size in (1, 7, ALL)),
            *(([toy.HUB], size) for size in (13, ALL)),
            *((["ada", "hermit", toy.REGISTRY, "ben"], size) for size in (13, ALL)),
        ],
    )
    async def test_pages_of_any_size_lose_nothing_and_show_nothing_twice(
        self, adapter: GraphAdapter, view: View, nodes: list[str], direction: Direction, size: int
    ):
        ids = [view.node(node) for node in nodes]
        read = await self.walked(
            lambda limit, after: triples_at(adapter, ids, direction, limit=limit, after=after), size
        )
        expected = view.around(ids, direction)
        assert tally(as_rows(read)) == tally(expected)
        anchors = [(triple.head if direction is Direction.OUTGOING else triple.tail) for triple in read]
        order = [ids.index(as_row(triple)[0 if direction is Direction.OUTGOING else 2]) for triple in read]  # pyright: ignore[reportArgumentType]
        assert order == sorted(order), "rows come entity by entity, in the order asked for"
        assert all(anchor is not None for anchor in anchors)

    @pytest.mark.parametrize("direction", Direction)
    async def test_totals_count_the_whole_list_on_every_page(
        self, adapter: GraphAdapter, view: View, direction: Direction
    ):
        ids = [view.node(toy.HUB), view.node(toy.REGISTRY)]
        first = await triples_at(adapter, ids, direction, limit=5)
        second = await triples_at(adapter, ids, direction, limit=5, after=first.positions[-1])
        for page in (first, second):
            assert page.stop == "limit"
            if has(adapter, Capability.EXACT_COUNTS):
                assert page.total.certainty is Certainty.EXACT
            if page.total.certainty is Certainty.EXACT:
                assert page.total.value == len(view.around(ids, direction))

    async def test_a_page_goes_on_behind_any_of_its_rows(self, adapter: GraphAdapter, view: View):
        ids = [view.node("ada")]
        whole = await triples_at(adapter, ids, Direction.OUTGOING, limit=ALL)
        for place, position in enumerate(whole.positions):
            rest = await triples_at(adapter, ids, Direction.OUTGOING, limit=ALL, after=position)
            assert rest.items == whole.items[place + 1 :]

    @pytest.mark.parametrize("direction", Direction)
    async def test_a_page_goes_on_across_every_border(self, adapter: GraphAdapter, view: View, direction: Direction):
        ids = [view.node(node) for node in (toy.HUB, "ada", "hermit", toy.REGISTRY, "ben")]
        whole = await triples_at(adapter, ids, direction, limit=ALL)
        groups = [(row.far_end(direction.opposite), row.relation) for row in whole.items]
        borders = [place for place, (group, following) in enumerate(pairwise(groups)) if group != following]
        assert len(borders) > 2
        for place in {near for border in borders for near in (border - 1, border, border + 1) if near >= 0}:
            page = await triples_at(adapter, ids, direction, limit=2, after=whole.positions[place])
            assert page.items == whole.items[place + 1 : place + 3]

    @pytest.mark.parametrize("direction", Direction)
    @pytest.mark.parametrize("node", ["ada", toy.HUB, "ouroboros"])
    async def test_a_list_that_is_wanted_whole_comes_whole_or_without_rows(
        self, adapter: GraphAdapter, view: View, node: str, direction: Direction
    ):
        ids = [view.node(node)]
        everything = await triples_at(adapter, ids, direction, limit=ALL)
        size = len(everything.items)
        assert await triples_at(adapter, ids, direction, limit=max(size, 1), all_or_none=True) == everything
        if size > 1:
            page = await triples_at(adapter, ids, direction, limit=size - 1, all_or_none=True)
            assert (page.items, page.positions, page.stop) == ((), (), "limit")
            assert page.total.value > size - 1
            assert (await triples_at(adapter, ids, direction, limit=1, all_or_none=True)).items == ()
            rest = await triples_at(
                adapter, ids, direction, limit=size - 1, after=everything.positions[0], all_or_none=True
            )
            assert rest.items == everything.items[1:]

    @pytest.mark.parametrize("direction", Direction)
    @pytest.mark.parametrize("nodes", [["ada"], ["ada", toy.REGISTRY, "hermit"]])
    async def test_a_walk_gets_all_rows_of_a_short_list_and_the_relations_of_a_longer_one(
        self, adapter: GraphAdapter, view: View, nodes: list[str], direction: Direction
    ):
        ids = [view.node(node) for node in nodes]
        everything = await adapter.neighbours(ids, direction, limit=ALL)
        size = len(everything.items)
        short = await adapter.rows_or_relations(ids, direction, rows=size, relations=ALL, examples=2)
        assert (short.rows, short.relations) == (everything, None)
        hub = await adapter.rows_or_relations(ids, direction, rows=size - 1, relations=ALL, examples=2)
        assert hub.rows.items == ()
        assert hub.relations is not None
        relations = await adapter.relations(ids, direction, limit=ALL, examples=2)
        assert without_examples(hub.relations.items) == without_examples(relations.items)
        assert replace(hub.relations, items=()) == replace(relations, items=())

    async def test_a_narrowed_list_that_is_wanted_whole_is_counted_as_narrowed(self, adapter: GraphAdapter, view: View):
        ids = [view.node(toy.HUB)]
        for kind in FarEndKind:
            narrowed = await triples_at(adapter, ids, Direction.OUTGOING, far_end_kind=kind, limit=ALL)
            size = max(len(narrowed.items), 1)
            page = await triples_at(adapter, ids, Direction.OUTGOING, far_end_kind=kind, limit=size, all_or_none=True)
            assert page == narrowed

    @pytest.mark.parametrize("direction", Direction)
    async def test_rows_of_one_relation_are_adjacent(self, adapter: GraphAdapter, view: View, direction: Direction):
        for node in map(view.node, ("ada", toy.HUB, toy.REGISTRY)):
            page = await triples_at(adapter, [node], direction, limit=ALL)
            relations = [triple.relation.id for triple in page.items]
            changes = sum(before != after for before, after in pairwise(relations))
            assert changes == max(len(set(relations)) - 1, 0)

    async def test_far_ends_carry_their_names(self, adapter: GraphAdapter, view: View):
        page = await triples_at(
            adapter, [view.node("ada")], Direction.OUTGOING, relation_paths=[(view.relation("knows"),)], limit=ALL
        )
        assert {(triple.far_end(Direction.OUTGOING).label) for triple in page.items} == {"Ben Waters", "Cyd Marsh"}  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]

    async def test_a_self_loop_is_seen_once_in_either_direction(self, adapter: GraphAdapter, view: View):
        loop = view.node("ouroboros")
        for direction in Direction:
            page = await triples_at(adapter, [loop], direction, relation_paths=[(view.relation("eats"),)], limit=ALL)
            assert sum(as_row(triple)[0] == as_row(triple)[2] for triple in page.items) == 1

    async def test_parallel_edges_stay_apart_with_their_own_qualifiers(self, adapter: GraphAdapter, view: View):
        page = await triples_at(
            adapter, [view.node("ada")], Direction.OUTGOING, relation_paths=[(view.relation("knows"),)], limit=ALL
        )
        to_ben = [row for row in as_rows(page.items) if row[2] == view.node("ben")]
        if not has(adapter, Capability.QUALIFIERS):
            assert {row[3] for row in to_ben} == {()}
            return
        assert len(to_ben) == 2
        assert to_ben[0][3] != to_ben[1][3]
        for triple in page.items:
            keys = [qualifier.relation.id for qualifier in triple.qualifiers]
            assert keys == sorted(keys)

    @pytest.mark.parametrize("direction", Direction)
    async def test_relations_asked_for_are_the_only_ones_shown(
        self, adapter: GraphAdapter, view: View, direction: Direction
    ):
        wanted = {view.relation(name) for name in ("knows", "visited", "lists", "tag")}
        ids = [view.node(node) for node in ("ada", "ben", toy.HUB, toy.REGISTRY)]
        paths = [*((relation,) for relation in wanted), (view.relation("no_such_relation"),)]
        page = await triples_at(adapter, ids, direction, relation_paths=paths, limit=ALL)
        expected = [row for row in view.around(ids, direction) if row[1] in wanted]
        assert tally(as_rows(page.items)) == tally(expected)
        if page.total.certainty is Certainty.EXACT:
            assert page.total.value == len(expected)

    async def test_no_relations_asked_for_give_no_rows(self, adapter: GraphAdapter, view: View):
        page = await triples_at(adapter, [view.node("ada")], Direction.OUTGOING, relation_paths=[], limit=ALL)
        assert (page.items, page.stop) == ((), "complete")

    @pytest.mark.parametrize("kind", FarEndKind)
    @pytest.mark.parametrize("nodes", [["ada", "ben"], [toy.REGISTRY], [toy.HUB]])
    async def test_far_ends_narrow_to_literals_or_to_entities(
        self, adapter: GraphAdapter, view: View, nodes: list[str], kind: FarEndKind
    ):
        ids = [view.node(node) for node in nodes]
        for direction in Direction:
            page = await triples_at(adapter, ids, direction, far_end_kind=kind, limit=ALL)
            literal = kind is FarEndKind.LITERAL
            expected = [
                row
                for row in view.around(ids, direction)
                if (direction is Direction.OUTGOING and not isinstance(row[2], str)) is literal
            ]
            assert tally(as_rows(page.items)) == tally(expected)
            if page.total.certainty is Certainty.EXACT:
                assert page.total.value == len(expected)

    @pytest.mark.parametrize("size", [1, 7, ALL])
    @pytest.mark.parametrize("direction", Direction)
    @pytest.mark.parametrize(
        "around",
        [
            (["ada", "ben", "cyd"], ("marriage", "spouse")),
            (["ada", "ben"], ("marriage", "rite")),
            ([toy.REGISTRY], ("assigned", "part_of")),
            ([toy.HUB], ("rented", "part_of")),
            ([toy.REGISTRY], ("assigned", "year")),
        ],
    )
    async def test_a_two_hop_relation_shows_what_lies_behind_its_mediators(
        self,
        adapter: GraphAdapter,
        view: View,
        around: tuple[list[str], tuple[str, str]],
        direction: Direction,
        size: int,
    ):
        nodes, path = around
        ids = [view.node(node) for node in nodes]
        paths = [(view.relation(path[0]), view.relation(path[1]))]
        if not has(adapter, Capability.MEDIATORS):
            with pytest.raises(Unsupported):
                await triples_at(adapter, ids, direction, relation_paths=paths, limit=size)
            return
        read = await self.walked(
            lambda limit, after: triples_at(adapter, ids, direction, relation_paths=paths, limit=limit, after=after),
            size,
        )
        pairs = [pair for pair in view.through(ids, direction) if (pair[0][1], pair[1][1]) == paths[0]]
        expected = tally((first[0], ".".join(paths[0]), second[2], ()) for first, second in pairs)
        assert tally((*as_row(triple)[:3], ()) for triple in read) == expected
        assert {_via(triple) for triple in read} == {str(first[2]) for first, _ in pairs}

    async def test_what_is_the_value_of_no_qualifier_is_known_to_be_none(self, adapter: GraphAdapter, view: View):
        for node in ("hermit", "ada", toy.HOSTILE_ID, "nobody"):
            assert await adapter.triples_by_qualifier(view.node(node), limit=2) == ()

    async def test_a_position_that_no_page_gave_is_refused(self, adapter: GraphAdapter, view: View):
        for position in ("nonsense", "", "a b c", "\ud800"):
            with pytest.raises(InvalidCursor):
                await triples_at(adapter, [view.node("ada")], Direction.OUTGOING, limit=1, after=position)


def _via(triple: Triple) -> str:
    assert triple.via is not None
    return triple.via.id
