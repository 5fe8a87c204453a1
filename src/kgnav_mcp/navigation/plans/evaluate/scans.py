"""Nodes looked up by their label and the value of a property: each look-up is counted and read once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import UnknownName, Unsupported
from kgnav_mcp.model import Certainty, Count, Entity, Stop
from kgnav_mcp.navigation.plans.budget import Budget, Part
from kgnav_mcp.navigation.plans.check.schema_names import SchemaNames
from kgnav_mcp.navigation.plans.evaluate.interning import Interned
from kgnav_mcp.navigation.plans.evaluate.paging import read_list
from kgnav_mcp.navigation.plans.evaluate.values import Node
from kgnav_mcp.navigation.plans.lookups import Lookups
from kgnav_mcp.plan import (
    Column,
    Compare,
    Comparison,
    Constant,
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

_ROWS = 10_000
"""Rows of one page."""


@dataclass(frozen=True, slots=True)
class Scan:
    """A look-up of nodes by label, and by a property's value."""

    label: str | None = None
    relation: str | None = None
    value: str | tuple[float, ...] | None = None
    """A text, or numbers one of which the property equals."""


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
                if isinstance(scan.value, tuple):
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
        if scan not in self._found:
            read = partial(self._graph.node_ids, scan.label, scan.relation, scan.value, limit=_ROWS)
            entities: Sequence[Entity] = ()
            with suppress(UnknownName):
                entities, whole = await read_list(lambda after: read(after=after), self._budget, part)
                if not whole and scan.value is not None:  # a list of the nodes that a name means has a limit
                    return await self.nodes(Scan(scan.label, scan.relation), part)
            self._found[scan] = await in_thread(len(entities), lambda: list(map(self._interned.node, entities)))
        return self._found[scan]

    async def _having_numbers(self, scan: Scan, numbers: tuple[float, ...]) -> list[Node] | None:
        """The nodes with one of some numbers, by a plan; None if the store cannot run it, or they are too many."""
        if scan in self._found or scan.relation is None or Capability.PLANS not in self._graph.capabilities:
            return self._found.get(scan)
        node = NodePattern("n", () if scan.label is None else ((scan.label,),))
        value = Property("n", scan.relation, (scan.relation,))
        match = Match((node,), where=Compare(value, Comparison.IN, ListOf(tuple(map(Constant, numbers)))))
        plan = Plan((Pipeline((match, Project((Column("n", Variable("n")),)))),), in_any_order=True)
        with suppress(Unsupported):
            page = await self._graph.run(plan, limit=self._budget.bound + 1)
            if page.stop is Stop.COMPLETE:
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
