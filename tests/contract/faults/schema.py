"""A schema of which not all was read in time says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import pytest

from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Count
from kgnav_mcp.port import ValueOwner
from tests.adapters.sparql_base.inprocess import ALL_ROWS
from tests.contract.faults.people import PEOPLE
from tests.contract.faults.spoilt import SpoiltStore

AT_TYPE = r"\{ SELECT \?s WHERE \{ \?s <"
"""The relations at the entities of a type."""
HEADS, TAILS = r"\?x <\S+> \?y", r"\?y <\S+> \?x"
"""The types at the ends of relations."""


class SchemaInPart(SpoiltStore):
    """The schema."""

    details: ClassVar[Sequence[str]] = (HEADS, TAILS)
    """What is read of each relation."""
    datatype: ClassVar[tuple[str, ...]] = ("xsd:integer",)
    """Those of an age."""

    @pytest.mark.parametrize("slow", [False, True])
    async def test_parts_of_a_schema_that_were_not_read_in_time_are_said_to_be_missing_and_read_again(self, slow: bool):
        for cut in self.details:
            async with self.opened(PEOPLE) as (graph, store):
                await graph.values(self.notation.age, None, ValueOwner.NODE, limit=1)  # reads the catalogue
                store.slow, store.cut = ([cut], {}) if slow else ([], {cut: 0})
                if slow and not self.does_without:
                    with pytest.raises(StoreTimeout):
                        await graph.schema(limit=9)
                else:
                    assert "timed out before everything was read" in ((await graph.schema(limit=9)).sampled or "")
                store.mend()
                schema = await graph.schema(limit=9)
            assert "timed out before everything was read" not in (schema.sampled or "")
            (knows,) = (one for one in schema.relations if one.relation.id == self.notation.knows)
            assert (knows.heads, knows.tails) == (("Person",), ("Person",))
            (age,) = (one for one in schema.properties if one.relation.id == self.notation.age)
            assert age.datatypes == self.datatype

    async def test_the_values_at_a_type_that_were_not_all_read_in_time_are_lower_bounds(self):
        for cut, count in ((None, Count(3)), (AT_TYPE, Count.at_least(3)), (self.type_counts, Count.at_least(3))):
            async with self.opened(PEOPLE, cut={} if cut is None else {cut: ALL_ROWS}) as (graph, _):
                schema = await graph.schema(self.person, limit=9)
            assert {one.count for one in schema.properties} == {count}
            assert ("timed out before everything was read" in (schema.sampled or "")) is (cut == AT_TYPE)
