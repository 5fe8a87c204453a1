"""Rows around entities, filtered by their far ends: by words in names and values, or by labels."""

from __future__ import annotations

import pytest

from kgnav_mcp.model import Direction, Entity, Link, Literal, Page
from kgnav_mcp.port import Capability, FarEndFilter, FarEndKind, GraphAdapter, far_end_filters
from tests.contract import toy
from tests.contract.suite.base import ALL, AdapterContract, has
from tests.contract.toy_views import View, as_rows, tally

_SEARCHED = (toy.HUB, "ada", "ben")


class MatchingContract(AdapterContract):
    @pytest.mark.parametrize("size", [2, ALL])
    @pytest.mark.parametrize(
        "asked",
        [(Direction.INCOMING, "BOAT 11", "boat11"), (Direction.OUTGOING, "marsh", "cyd"), (None, "ben waters", "ben")],
    )
    async def test_rows_are_found_by_the_words_in_the_names_of_their_far_ends(
        self, adapter: GraphAdapter, view: View, asked: tuple[Direction | None, str, str], size: int
    ):
        direction, words, node = asked
        far = FarEndFilter(FarEndKind.ENTITY, words=words)
        read = await self._matching(adapter, view, direction, far, size)
        assert {link.far_end.id for link in read if isinstance(link.far_end, Entity)} == {view.node(node)}

    @pytest.mark.parametrize("size", [2, ALL])
    async def test_rows_are_found_by_the_words_of_their_values(self, adapter: GraphAdapter, view: View, size: int):
        read = await self._matching(
            adapter, view, Direction.OUTGOING, FarEndFilter(FarEndKind.LITERAL, words="NIGHT"), size
        )
        assert view.relation("tag") in {link.triple.relation.id for link in read}
        assert all("night" in link.far_end.text.casefold() for link in read if isinstance(link.far_end, Literal))
        nothing = await self._matching(adapter, view, None, FarEndFilter(words="nothing like it"), size)
        assert nothing == []

    @pytest.mark.parametrize("size", [2, ALL])
    async def test_rows_are_found_by_the_labels_of_their_far_ends(self, adapter: GraphAdapter, view: View, size: int):
        if not has(adapter, Capability.LABELS):
            return
        ids = [view.node(node) for node in _SEARCHED]
        people = {node for node, types in view.types.items() if "Person" in types}
        for direction in Direction:
            read = await self._matching(adapter, view, direction, FarEndFilter(label="Person"), size)
            ends = sorted(link.far_end.id for link in read if isinstance(link.far_end, Entity))
            far = 2 if direction is Direction.OUTGOING else 0
            assert ends == sorted(str(row[far]) for row in view.around(ids, direction) if row[far] in people)

    @pytest.mark.parametrize(
        "far",
        [
            FarEndFilter(FarEndKind.ENTITY, words="VISITOR 1"),
            FarEndFilter(FarEndKind.ENTITY, label="Person"),
            FarEndFilter(FarEndKind.ENTITY, label="Person", words="marsh"),
            FarEndFilter(words="night"),
            FarEndFilter(words="visitor 2"),
        ],
    )
    async def test_a_list_that_is_too_long_to_be_read_is_searched_for_the_same_rows(
        self, adapter: GraphAdapter, view: View, far: FarEndFilter, monkeypatch: pytest.MonkeyPatch
    ):
        if type(adapter).matching is GraphAdapter.matching:
            return  # always reads the list, so that there is nothing to compare
        if far.label and not has(adapter, Capability.LABELS):
            return
        two_hops = has(adapter, Capability.MEDIATORS) and far.words == "visitor 2"
        paths = [tuple(map(view.relation, path)) for path in (("rented", "part_of"), ("visited",), ("part_of",))]
        ids, both = [view.node(node) for node in _SEARCHED], list[Link]()
        for direction in (None, *Direction):

            async def matched(limit: int, after: str | None, direction: Direction | None = direction) -> Page[Link]:
                asked = paths if two_hops else None
                return await adapter.matching(ids, direction, relation_paths=asked, far=far, limit=limit, after=after)

            read = await self.walked(matched, ALL)
            with monkeypatch.context() as patch:
                patch.setattr(far_end_filters, "_ROWS", 5)
                if far.kind is FarEndKind.ENTITY:  # no list is short enough to be read
                    patch.setattr(far_end_filters, "MAX_READ", 5)
                found = await self.walked(matched, 7)
            assert tally(as_rows([link.triple for link in found])) == tally(as_rows([link.triple for link in read]))
            both += found
        assert both

    async def _matching(
        self, adapter: GraphAdapter, view: View, direction: Direction | None, far: FarEndFilter, size: int
    ) -> list[Link]:
        """All matching rows around a few nodes, in pages of this size."""
        ids = [view.node(node) for node in _SEARCHED]
        return await self.walked(
            lambda limit, after: adapter.matching(ids, direction, far=far, limit=limit, after=after), size
        )
