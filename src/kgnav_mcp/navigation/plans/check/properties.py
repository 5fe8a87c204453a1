"""Checks that nodes of a label have a property at all: one that they never have would silently give no rows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product

from kgnav_mcp.errors import StoreTimeout, UnknownName, Unsupported
from kgnav_mcp.languages.cypher import write_part
from kgnav_mcp.model import Certainty
from kgnav_mcp.navigation.plans.check.plan_problems import PlanProblems, closest_alternative
from kgnav_mcp.navigation.plans.check.schema_names import SchemaNames
from kgnav_mcp.navigation.plans.check.scopes import Node
from kgnav_mcp.plan import (
    UNNAMED,
    Column,
    Constant,
    IsNull,
    Match,
    NodePattern,
    Not,
    Pipeline,
    Plan,
    Project,
    Property,
)

HasRows = Callable[[Plan], Awaitable[bool | None]]
"""Whether a plan with the graph's own ids has any row; None if finding out costs too much."""
ANY_ROW = Project((Column("found", Constant(value=True)),), limit=1)
_MAX_READ = 5_000
"""Nodes of a label that are read at most if the schema is a sample without the property."""
_MAX_LISTED = 1_000_000
"""Nodes of a label among which the store is asked for one with the property: this takes it up to a second."""


@dataclass(frozen=True, slots=True)
class PropertyChecker:
    """Checks which properties the nodes of a pattern have."""

    vocabulary: SchemaNames
    findings: PlanProblems
    has_rows: HasRows

    async def has(self, node: Node, prop: Property, ids: Sequence[str]) -> bool:
        """Whether nodes that match a pattern may have one of these properties. Uncertainty is added to the notes."""
        if not ids or node.subclasses:
            return True
        for labels in filter(None, node.labels):
            found, complete = await self.vocabulary.properties_at(labels)
            if not found.isdisjoint(ids):
                continue
            any_node = False if complete else await self._any_node_has(labels, ids)
            if any_node is False:
                return False
            if any_node:
                continue
            named = write_part(NodePattern(UNNAMED, (tuple(labels),)))
            self.findings.notes.append(
                f"None of the nodes {named} in the schema's sample has {prop.name}; others may have it."
            )
        return True

    async def report_missing(self, node: Node, prop: Property, ids: Sequence[str]) -> None:
        """Report a property that no node of the pattern has, with the most similar ones that they have."""
        if await self.has(node, prop, ids):
            return
        labels = [label for group in node.labels for label in group]
        nearest = await self.vocabulary.nearest_property(prop.name, labels, only_there=True)
        named = write_part(NodePattern(UNNAMED, node.labels))
        offered = [write_part(Property(prop.owner, one)) for one in nearest]
        self.findings.problem(write_part(prop), f"no node {named} has this property", offered)
        name = closest_alternative(prop.name, nearest)
        self.findings.correct(prop, Property(prop.owner, name) if name is not None else None)

    async def _any_node_has(self, labels: Sequence[str], ids: Sequence[str]) -> bool | None:
        size = self.vocabulary.nodes_of(labels)
        if size.certainty is not Certainty.EXACT or size.value > _MAX_READ:
            return await self._any_node_is_listed(labels, ids) if 0 < size.value <= _MAX_LISTED else None
        owned = Not(IsNull(Property("n", ids[0], tuple(ids))))
        pattern = Match((NodePattern("n", (tuple(labels),)),), where=owned)
        return await self.has_rows(Plan((Pipeline((pattern, ANY_ROW)),), only_exists=True))

    async def _any_node_is_listed(self, labels: Sequence[str], ids: Sequence[str]) -> bool | None:
        """True if the store lists a node with one of the labels and properties; None if it does not, or not in time."""
        for label, relation in product(labels, ids):
            with suppress(UnknownName, Unsupported, StoreTimeout):
                if (await self.vocabulary.graph.nodes(label, relation, None, limit=1)).items:
                    return True
        return None
