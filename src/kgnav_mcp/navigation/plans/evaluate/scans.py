"""Nodes looked up by their label and the value of a property: each look-up is counted and read once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import StoreTimeout, UnknownName, Unsupported
from kgnav_mcp.model import Certainty, Count, Entity, Stop
from kgnav_mcp.navigation.plans.budget import Budget, Part
from kgnav_mcp.navigation.plans.check.schema_names import SchemaNames
from kgnav_mcp.navigation.plans.evaluate.interning import Interned
from kgnav_mcp.navigation.plans.evaluate.paging import read_list
from kgnav_mcp.navigation.plans.evaluate.values import Node
from kgnav_mcp.navigation.plans.lookups import Lookups
from kgnav_mcp.plan import (
    NAME,
    Column,
    Compare,
    Comparison,
    Constant,
    Expression,
    ListOf,
    Match,
    NodePattern,
    Pipeline,
    Plan,
    Project,
    Property,
    Variable,
)
from kgnav_mcp.port import Capability, GraphAdapter
from kgnav_mcp.values.scalars import is_always_text

_FEW_ROWS = 10_000
"""Nodes that are read when a scan by a part of a text is counted."""


@dataclass(frozen=True, slots=True)
class Scan:
    """A look-up of nodes by label, and by a property's value, or by a part of a text."""

    label: str | None = None
    relation: str | None = None
    value: str | tuple[float, ...] | None = None
    """A text, or numbers one of which the property equals."""
    part: str | None = None
    """A text in one of the property's values; in the name that answers show, if there is no property."""

    @property
    def by_value(self) -> bool:
        """Whether it selects nodes by more than their label."""
        return self.relation is not None or self.part is not None


class Scans:
    """The look-ups of one evaluation."""

    def __init__(self, graph: GraphAdapter, budget: Budget, lookups: Lookups, interned: Interned) -> None:
        self._graph, self._budget, self._lookups, self._interned = graph, budget, lookups, interned
        self._counts: dict[Scan, Count] = {}
        self._found: dict[Scan, list[Node]] = {}

    async def count(self, scan: Scan) -> Count:
        """The number of nodes that a scan finds; zero if the graph has no such label."""
        if scan not in self._counts:
            self._counts[scan] = Count(0)
            with suppress(UnknownName):
                if scan.part is not None:
                    self._counts[scan] = await self._count_with_text(scan, scan.part)
                elif isinstance(scan.value, tuple):
                    found = await self._having_numbers(scan, scan.value)
                    self._counts[scan] = await self.count(Scan(scan.label)) if found is None else Count(len(found))
                elif scan.relation is None or scan.value is None:
                    self._counts[scan] = await self._lookups.count(scan.label, scan.relation)
                else:
                    page = await self._lookups.by_value(scan.label, scan.relation, scan.value)
                    self._counts[scan] = page.total
                    if page.stop is Stop.COMPLETE and page.total.certainty is Certainty.EXACT:
                        self._found[scan] = list(map(self._interned.node, page.items))
        return self._counts[scan]

    async def nodes(self, scan: Scan, part: Part) -> list[Node]:
        """The nodes that a scan finds; none if the graph has no such label.

        Raises:
            PlanTooLarge: there are more than may be held.
        """
        if isinstance(scan.value, tuple):
            found = await self._having_numbers(scan, scan.value)
            return await self.nodes(Scan(scan.label), part) if found is None else found
        if scan.part is not None:
            found = await self._with_text(scan, scan.part, self._budget.bound)
            return await self.nodes(Scan(scan.label, scan.relation), part) if found is None else found
        if scan not in self._found:
            read = partial(self._graph.node_ids, scan.label, scan.relation, scan.value, limit=self._budget.bound + 1)
            entities: Sequence[Entity] = ()
            with suppress(UnknownName):
                entities, whole = await read_list(lambda after: read(after=after), self._budget, part)
                if not whole and scan.value is not None:  # a list of the nodes that a name means has a limit
                    return await self.nodes(Scan(scan.label, scan.relation), part)
            self._found[scan] = await in_thread(len(entities), lambda: list(map(self._interned.node, entities)))
        return self._found[scan]

    async def _having_numbers(self, scan: Scan, numbers: tuple[float, ...]) -> list[Node] | None:
        """The nodes with one of some numbers, by a plan; None if the store cannot run it, or they are too many."""
        if scan in self._found or scan.relation is None:
            return self._found.get(scan)
        value = Property("n", scan.relation, (scan.relation,))
        condition = Compare(value, Comparison.IN, ListOf(tuple(map(Constant, numbers))))
        return await self._where(scan, condition, self._budget.bound)

    async def _count_with_text(self, scan: Scan, text: str) -> Count:
        """The number of nodes that may have a part of a text: a lower bound if they are many."""
        found = await self._with_text(scan, text, _FEW_ROWS)
        if found is not None:
            return Count(len(found))
        return await self.count(Scan(scan.label, scan.relation))

    async def _with_text(self, scan: Scan, text: str, most: int) -> list[Node] | None:
        """The nodes that may have a part of a text; None if there are more, or the store cannot find them."""
        if scan in self._found:
            return self._found[scan]
        ids = () if scan.relation is None else (scan.relation,)
        condition = Compare(Property("n", scan.relation or NAME, ids), Comparison.CONTAINS, Constant(text))
        with suppress(StoreTimeout):
            return await self._where(scan, condition, most, prefilter=True)
        return None

    async def _where(
        self, scan: Scan, condition: Expression, most: int, *, prefilter: bool = False
    ) -> list[Node] | None:
        """The nodes for which a condition is true, by a plan; None if the store cannot run it, or they are too many.

        `prefilter`: for others it need not be false.
        """
        if Capability.PLANS not in self._graph.capabilities:
            return None
        match = Match((NodePattern("n", () if scan.label is None else ((scan.label,),)),), where=condition)
        result = Project((Column("n", Variable("n")),), distinct=prefilter)
        plan = Plan((Pipeline((match, result)),), in_any_order=True, prefilter=prefilter)
        with suppress(Unsupported):
            page = await self._graph.run(plan, limit=most + 1)
            if len(page.items) <= most and page.stop is Stop.COMPLETE:
                entities = [row.cells[0] for row in page.items if isinstance(row.cells[0], Entity)]
                self._found[scan] = await in_thread(len(entities), lambda: list(map(self._interned.node, entities)))
        return self._found.get(scan)

    async def have_text(self, nodes: Collection[Node], relations: Collection[str], text: str) -> bool:
        """Whether all of these nodes were found by this text as the value of one of these properties.

        False also if that does not show that they have it: a scan also finds numbers that are written so, and nodes
        that lead to an entity of that name.
        """
        scans = [scan for scan in self._found if scan.relation in relations and scan.value == text]
        if not scans or not is_always_text(text):
            return False
        if not (await SchemaNames.of(self._graph)).have_literals_only(relations):
            return False
        size = len(nodes) + sum(len(self._found[scan]) for scan in scans)
        return await in_thread(size, lambda: {*nodes} <= {node for scan in scans for node in self._found[scan]})
